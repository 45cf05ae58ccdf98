# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Named kernels: each name that `ad-runner --list-kernels` prints gives, on the CPU and the emulated GPU, the bits that
the reference interpreter computes of it, and stays within the bound of the table. Where GPUs use tensor cores in
`strict`, the bits are compared in `reproducible`, and the bound holds in both. Shapes are random and partly dynamic;
types are f64, f32, f16 and bf16. Extended precision of NumPy is the exact result."""

import itertools
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402
import split_products  # noqa: E402
from split_products import longest_path  # noqa: E402

TYPES = ["f64", "f32", "f16", "bf16"]
TARGETS = ["reference", "cpu", "gpu-sim"]
EXACT = np.longdouble


def table():
    """{operation: [name]} as the tool prints it."""
    command = [runner.binary("ad-runner"), "--list-kernels"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in text.split("\n\n")[0].splitlines()[1:]]
    summing = re.search(r"\* is each operation that sums: (.*)", text)[1].split(", ")
    running = re.search(r"\*\* are those of them that have one total, all but (.*)", text)[1].split(", ")
    names = {op: [row[1] for row in rows if row[0] == "*" or row[0] == "**" and op not in running] for op in summing}
    for op, name, *_ in rows:
        if not op.startswith("*"):
            names[op].append(name)
    return names


KERNELS = table()


def unit(element):
    return 2.0 ** -53 if element == "f64" else 2.0 ** -24


def path_length(name, n):
    return {"serial": n, "pairwise": np.log2(max(n, 2)) + 2}.get(name, longest_path(n))


def length(draw):
    """Of a sum: shorter and longer than a block of the written order."""
    return draw.randint(1, 90) if draw.random() < 0.5 else draw.randint(513, 700)


# Each case gives arguments {name: array of exact values}, the operation as text, the result's sizes, the exact result
# and, by name, the bound of the error before the result is rounded to its type.
def sum_case(kind, draw, element):
    shape = (length(draw), draw.randint(1, 9)) if draw.random() < 0.5 else (draw.randint(1, 4), length(draw))
    axes = draw.choice([[0], [1], [0, 1]])
    x = values(draw, shape, element)
    if kind == "prod":  # neither overflows nor vanishes
        x = stored(element, 1 + x / 16)
    kept = [size for axis, size in enumerate(shape) if axis not in axes]
    fold = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min}[kind]
    exact = fold(x, axis=tuple(axes))
    scale = np.abs(exact) if kind == "prod" else fold(np.abs(x), axis=tuple(axes))
    # Axes are reduced one after another.
    bound = lambda name: 0 * scale if kind in ("max", "min") else (
        (sum(shape[axis] if kind == "prod" else path_length(name, shape[axis]) for axis in axes) + 2) * unit(element) *
        scale)
    return {"x": x}, f"ad.reduce_{kind} %x axes {axes}", "{x} -> {result}", kept, exact, bound


def sum_to_shape_case(draw, element):
    shape = (length(draw) + 1, draw.randint(1, 9))
    x = values(draw, shape, element)
    exact = np.sum(x, axis=0, keepdims=True)
    bound = lambda name: (path_length(name, shape[0]) + 1) * unit(element) * np.sum(np.abs(x), axis=0, keepdims=True)
    return {"x": x}, "ad.sum_to_shape %x", "{x} -> {result}", [1, shape[1]], exact, bound


def running_case(kind, draw, element):
    shape = (length(draw), draw.randint(1, 9)) if draw.random() < 0.5 else (draw.randint(1, 4), length(draw))
    axis = draw.randint(0, 1)
    x = values(draw, shape, element)
    if kind == "prod":  # neither overflows nor vanishes
        x = stored(element, 1 + x / 16)
    fold = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}[kind].accumulate
    exact = fold(x, axis=axis)
    scale = np.abs(exact) if kind == "prod" else fold(np.abs(x), axis=axis)
    # Of nested chains: a block of 128, the blocks before it in a tile of 128, and the tiles before.
    path = lambda name: shape[axis] if name == "serial" or kind == "prod" else 259 + shape[axis] / 128**2
    bound = lambda name: 0 * scale if kind in ("max", "min") else (path(name) + 2) * unit(element) * scale
    return {"x": x}, f"ad.cum{kind} %x axis {axis}", "{x}", shape, exact, bound


def moments(x):
    mean = np.mean(x, axis=-1, keepdims=True)
    return mean, np.mean((x - mean) ** 2, axis=-1, keepdims=True)


def layer_norm_case(draw, element):
    rows, n = draw.randint(1, 4), draw.randint(2, 90)
    x = values(draw, (rows, 2, n), element) + EXACT(draw.choice([0, 3]))
    x = stored(element, x)
    scale, bias = values(draw, (n,), element), values(draw, (n,), element)
    mean, variance = moments(x)
    u, d = unit(element), longest_path(n)
    inverse = 1 / np.sqrt(variance + EXACT(1e-5))
    exact = (x - mean) * inverse * scale + bias

    def bound(name):
        length = path_length(name, n)
        k = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) / variance)
        chain = {"welford": 2 * n}.get(name, length + 1)
        of_mean = chain * u * np.mean(np.abs(x), axis=-1, keepdims=True)
        of_variance = {"welford": 4 * n * k * u, "one_pass": (2 * d + 6) * k * k * u}.get(
            name, (length + 3) * u + of_mean**2 / variance)
        error = of_mean * inverse + np.abs(x - mean) * inverse * (of_variance + 5 * u)
        return np.abs(scale) * error + 2 * u * (np.abs(exact) + np.abs(bias))

    return ({"x": x, "s": scale, "b": bias}, "ad.layer_norm %x, %s, %b epsilon 1.0e-5", "{x}, {s}", [rows, 2, n], exact,
            bound)


def rms_norm_case(draw, element):
    rows, n = draw.randint(1, 4), length(draw)
    x, scale = values(draw, (rows, n), element), values(draw, (n,), element)
    exact = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EXACT(1e-5)) * scale
    bound = lambda name: (path_length(name, n) + 8) * unit(element) * np.abs(exact)
    return {"x": x, "s": scale}, "ad.rms_norm %x, %s epsilon 1.0e-5", "{x}, {s}", [rows, n], exact, bound


def softmax_case(kind, draw, element):
    shape, axis = (draw.randint(1, 20), draw.randint(1, 40)), draw.randint(0, 1)
    x = stored(element, values(draw, shape, element) * EXACT(5))
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    exact = powers / np.sum(powers, axis=axis, keepdims=True)
    n, u = shape[axis], unit(element)
    spread = np.max(np.abs(x)) * 2
    if kind == "log_softmax":
        exact = np.log(exact)
    scale = 1 + np.abs(exact) if kind == "log_softmax" else exact

    def bound(name):
        d = path_length(name, n)
        if name == "online":
            return (5 * n + 3 * spread + 8) * u * scale
        if name == "unshifted":
            return ((2 * d + 2 * spread + 8) if kind == "log_softmax" else d + 8) * u * scale
        return (d + 2 * spread + 8) * u * scale

    return {"x": x}, f"ad.{kind} %x axis {axis}", "{x}", list(shape), exact, bound


def cross_entropy_case(draw, element):
    shape = (draw.randint(1, 9), draw.randint(1, 70))
    x, labels = values(draw, shape, element), stored(element, np.abs(values(draw, shape, element)))
    logarithm = x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))
    exact = -np.sum(labels * logarithm, axis=1)
    n, u, spread = shape[1], unit(element), 2 * np.max(np.abs(x))
    scale = np.sum(labels * (1 + np.abs(logarithm)), axis=1)
    bound = lambda name: scale * (2 * path_length(name, n) + 2 * spread + 10) * u
    return {"x": x, "l": labels}, "ad.cross_entropy %x, %l", "{x}, {l} -> {result}", [shape[0]], exact, bound


def product_bound(name, n, u, scale):
    """The errors of the split forms, on tensor cores too, and of all other forms those of their orders."""
    if name in split_products.NAMES:
        return split_products.bound(name, max(longest_path(n), split_products.tensor_core_path(n)), scale)
    factor = 2.0**-10 + 2.0**-22 + (longest_path(n) + 1) * u if name == "tf32" else (path_length(name, n) + 1) * u
    return factor * scale


def dot_case(draw, element):
    batch, m, n, k = *(draw.randint(1, size) for size in (3, 9, 9)), length(draw)
    a, b = values(draw, (batch, m, k), element), values(draw, (batch, n, k), element)
    exact, scale = np.einsum("bmk,bnk->bmn", a, b), np.einsum("bmk,bnk->bmn", np.abs(a), np.abs(b))
    return ({"a": a, "b": b}, "ad.dot %a, %b batch [0] x [0] contract [2] x [2]", "({a}, {b}) -> {result}",
            [batch, m, n], exact, lambda name: product_bound(name, k, unit(element), scale))


def conv_case(draw, element):
    places, outputs, taps = draw.randint(2, 9), draw.randint(1, 9), draw.randint(2, 3)
    channels = -(-length(draw) // taps)
    a, b = values(draw, (places + taps - 1, channels), element), values(draw, (taps, channels, outputs), element)
    windows = np.stack([a[tap:tap + places] for tap in range(taps)], 1)
    exact, scale = np.einsum("mkc,kcn->mn", windows, b), np.einsum("mkc,kcn->mn", np.abs(windows), np.abs(b))
    return ({"a": a, "b": b}, 'ad.conv %a, %b dims "0c,0co->0o"', "({a}, {b}) -> {result}", [places, outputs], exact,
            lambda name: product_bound(name, taps * channels, unit(element), scale))


def gemm_case(draw, element):
    m, n, k = *(draw.randint(1, size) for size in (9, 9)), length(draw)
    a, b, c = values(draw, (k, m), element), values(draw, (k, n), element), values(draw, (n,), element)
    exact, scale = EXACT(1.5) * (a.T @ b) + EXACT(0.5) * c, np.abs(a.T) @ np.abs(b)
    u = unit(element)
    return ({"a": a, "b": b, "c": c}, "ad.gemm %a, %b, %c", "({a}, {b}, {c}) -> {result}", [m, n], exact,
            lambda name: 1.5 * product_bound(name, k, u, scale) + 3 * u * (1.5 * scale + np.abs(c)))


def scaled_dot_case(draw, element):
    """Operands are numbers of f8E4M3FN divided by 256, with the largest among them: the scales are 256, and nothing is
    rounded before the sum."""
    m, n, k = *(draw.randint(1, size) for size in (9, 9)), length(draw)

    def operand(*shape):
        rng = np.random.default_rng(draw.getrandbits(32))
        codes = rng.integers(0, 127, shape, np.uint8) | rng.integers(0, 2, shape, np.uint8) << 7
        codes.flat[0] = 126  # 448
        return elements.decode("f8E4M3FN", codes).astype(EXACT) / 256

    a, b = operand(m, k), operand(k, n)
    exact, scale = a @ b, np.abs(a) @ np.abs(b)
    return ({"a": a, "b": b}, "ad.scaled_dot %a, %b", "({a}, {b}) -> {result}", [m, n], exact,
            lambda name: product_bound(name, k, unit(element), scale))


ATTRIBUTES = {"gemm": "transA, alpha = 1.5, beta = 0.5"}
RESULTS = {"scaled_dot": 3}
PRODUCTS = {"conv", "dot", "gemm", "scaled_dot"}
CASES = {
    **{f"reduce_{kind}": (lambda kind: lambda *given: sum_case(kind, *given))(kind)
       for kind in ("sum", "mean", "prod", "max", "min")},
    **{f"cum{kind}": (lambda kind: lambda *given: running_case(kind, *given))(kind) for kind in ("sum", "prod", "max", "min")},
    "sum_to_shape": sum_to_shape_case, "layer_norm": layer_norm_case, "rms_norm": rms_norm_case,
    **{kind: (lambda kind: lambda *given: softmax_case(kind, *given))(kind) for kind in ("softmax", "log_softmax")},
    "cross_entropy": cross_entropy_case, "dot": dot_case, "gemm": gemm_case,
    "scaled_dot": scaled_dot_case, "conv": conv_case,
}


def stored(element, exact):
    """The values that the type has."""
    return elements.decode(element, elements.encode(element, exact.astype(np.float64))).astype(EXACT)


def values(draw, shape, element):
    return stored(element, np.random.default_rng(draw.getrandbits(32)).normal(size=shape).astype(EXACT))


def computes(op, element):
    return op != "scaled_dot" or element != "f64"


def covers(name, element):
    return element == "f32" or name not in ("tf32", "bf16x3", "bf16x6", "bf16x9")


def program(case, names, op, element, draw):
    """One result for each name; the sizes of arguments and results are dynamic at random."""
    arguments, text, types, shape, _, _ = case
    dynamic = draw.random() < 0.5 and op != "sum_to_shape"
    sizes = lambda sizes_: ["?" if dynamic and size > 1 else size for size in sizes_]
    known = {name: elements.tensor(element, sizes(array.shape)) for name, array in arguments.items()}
    result = elements.tensor(element, sizes(shape))
    lines = []
    for i, name in enumerate(names):
        attributes = [f'ad.named_kernel = "{name}"', *([ATTRIBUTES[op]] if op in ATTRIBUTES else [])]
        lines.append(f"  %{i}:{RESULTS.get(op, 1)} = {text} {{{', '.join(attributes)}}} : {types.format(**known, result=result)}\n")
    inputs = ", ".join(f'%{name}: {type_} {{ad.name = "{name}"}}' for name, type_ in known.items())
    results = ", ".join([result] * len(names))
    return (f"func.func @main({inputs}) -> ({results}) {{\n{''.join(lines)}"
            f"  return {', '.join(f'%{i}#0' for i in range(len(names)))} : {results}\n}}\n")


def outside(found, exact, bound, element):
    """Whether an element is further from the exact result than the bound, with the rounding to the type."""
    if element in ("f16", "bf16"):
        step = 2.0 ** -(elements.MANTISSA[element] + 1)
        smallest = 2.0 ** (elements.MIN_EXPONENT[element] - elements.MANTISSA[element])
        bound = bound + (np.abs(exact) + bound) * step + smallest
    return np.abs(found.astype(EXACT) - exact) > bound + np.abs(exact) * EXACT(2.0**-60)


distinct = set()  # (operation, name) that gave other bits than the written implementation


def check(op, element, seed, folder):
    draw = random.Random(f"{op} {element} {seed}")
    case = CASES[op](draw, element)
    arguments, _, _, shape, exact, bound = case
    names = [name for name in KERNELS[op] if covers(name, element)]
    text = program(case, names, op, element, draw)
    given = []
    for name, array in arguments.items():
        elements.save(folder / f"{name}.npy", element, elements.encode(element, array.astype(np.float64)))
        given.append(f"--arg={name}={folder / name}.npy")
    results = [(f"res{i}", element) for i in range(len(names))]
    runs = {target: runner.run(text, given, results, ["--target", target]) for target in TARGETS}
    # In `strict`, GPUs compute products of narrow types in the order of tensor cores, also those of parts of bf16.
    on_tensor_cores = [name for name in names if name in split_products.NAMES]
    if op in PRODUCTS and (op == "scaled_dot" or element in ("f16", "bf16")):
        on_tensor_cores.append("written")
    if on_tensor_cores:
        again = runner.run(text, given, results, ["--target", "gpu-sim", "--numerics", "reproducible"])
        for name in on_tensor_cores:
            result = f"res{names.index(name)}"
            strict, runs["gpu-sim"][result] = runs["gpu-sim"][result], again[result]
            if name != "written" and np.any(outside(strict.reshape(shape), exact, bound(name), element)):
                yield f"{name} on tensor cores is outside of the bound\n{text}"
    for i, name in enumerate(names):
        reference = runs["reference"][f"res{i}"]
        if not np.all(elements.same_bits(element, reference, runs["reference"][f"res{names.index('written')}"])):
            distinct.add((op, name))
        for target in TARGETS[1:]:
            if not np.all(elements.same_bits(element, reference, runs[target][f"res{i}"])):
                yield f"{name}: {target} differs from the reference\n{text}"
        far = outside(elements.decode(element, reference).reshape(shape), exact, bound(name), element)
        if np.any(far):
            yield f"{name}: {np.count_nonzero(far)} of {far.size} elements are outside of the bound\n{text}"


# The names of the written implementation, and operations whose results do not depend on an order.
SAME = {"written", "two_pass", "shifted"}
EXACT_OPERATIONS = {"reduce_max", "reduce_min", "cummax", "cummin"}


def complete():
    """Each operation has a case."""
    yield from (f"{op} has named kernels and no case" for op in sorted(set(KERNELS) - set(CASES)))


def effective():
    """Each name has an effect in one of the cases."""
    yield from (f"{op}={name} never gave other bits than the written implementation"
                for op, names in KERNELS.items() for name in names
                if op not in EXACT_OPERATIONS and name not in SAME and (op, name) not in distinct)


def main():
    cases = [(f"{op} {element} {seed}", lambda folder, given=(op, element, seed): check(*given, folder))
             for op, element in itertools.product(CASES, TYPES) if computes(op, element)
             for seed in range(4 if element == "f32" else 1)]
    cases = checks.sample(cases, 12)
    cases.append(("all operations", lambda folder: complete()))
    if checks.SAMPLE < 0:  # a sample may lack the case that shows it
        cases.append(("all names", lambda folder: effective()))
    return checks.run_checks("named_kernels", cases)


if __name__ == "__main__":
    sys.exit(main())
