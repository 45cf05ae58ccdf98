#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels that another compiler wrote, whose dynamic sizes do not fit: a located error, and no byte
outside of a buffer.

Each kernel runs with sizes that fit, against NumPy, and with each size that may be wrong made larger and smaller, on
the CPU and on the emulated GPU. Sizes are drawn, so that vectors, tiles and what is left over meet each other.
"""

import functools
import pathlib
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import checks
import runner

TARGETS = [["--target=cpu", "--threads=2"], ["--target=gpu-sim"]]


def tensor(shape):
    """Of a rank, or of sizes that the types say."""
    return f"tensor<{shape if isinstance(shape, str) else '?x' * shape}f32>"


def argument(name, shape):
    return f'%{name}: {tensor(shape)} {{ad.name = "{name}"}}'


def module(kernel, arguments, results, sizes):
    """`sizes`: the argument axes whose sizes the launch gives to the results."""
    types = {name: tensor(shape) for name, shape in arguments}
    taken = ", ".join(types.values())
    dims = "".join(f"  %z{i} = arith.constant {axis} : index\n  %n{i} = tensor.dim %{name}, %z{i} : {types[name]}\n"
                   for i, (name, axis) in enumerate(sizes))
    given = ", ".join(f"%n{i}" for i in range(len(sizes)))
    named = ", ".join(f'{t} {{ad.name = "r{i}"}}' for i, t in enumerate(results))
    values = ", ".join(f"%r#{i}" for i in range(len(results)))
    made = f"({', '.join(results)})" if len(results) > 1 else results[0]
    return (f"{kernel}func.func @main({', '.join(argument(*a) for a in arguments)}) -> ({named}) {{\n{dims}"
            f"  %r:{len(results)} = ad.launch @k({', '.join('%' + name for name, _ in arguments)}) sizes({given}) : ({taken}) -> {made}\n"
            f"  return {values} : {', '.join(results)}\n}}\n")


def generic(name, maps, kinds, ins, out, body):
    """One operation on tensors of f32; `ins` and `out` are (name, rank or sizes)."""
    typed = lambda values: f"{', '.join('%' + v for v, _ in values)} : {', '.join(tensor(shape) for _, shape in values)}"
    blocks = ", ".join(f"%x{i}: f32" for i in range(len(ins)))
    return (f"  %{name} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{m}>' for m in maps)}], iterator_types = "
            f"[{', '.join(chr(34) + k + chr(34) for k in kinds)}]}} ins({typed(ins)}) outs({typed([out])}) {{\n"
            f"  ^bb0({blocks}, %o: f32):\n    {body}\n    linalg.yield %s : f32\n  }} -> {tensor(out[1])}\n")


def kernel(arguments, results, body, yielded):
    types = ", ".join(results)
    taken = ", ".join(f"%{name}: {tensor(shape)}" for name, shape in arguments)
    return (f"ad.kernel private @k({taken}) -> ({types}) attributes {{kernel_class = \"generic\"}} {{\n{body}"
            f"  ad.yield {', '.join('%' + y for y in yielded)} : {types}\n}}\n")


P, R = "parallel", "reduction"
VECTOR, MATRIX = "tensor<?xf32>", "tensor<?x?xf32>"
ID, ROWS = "(i) -> (i)", "(i, j) -> (i, j)"
ADD, PRODUCT = "%s = arith.addf %x0, %x1 : f32", "%p = arith.mulf %x0, %x1 : f32\n    %s = arith.addf %p, %o : f32"


def two_results():
    """Each result has the size of its own argument, and both share a loop."""
    taken = [("a", 1), ("b", 1)]
    body = generic("v", [ID, ID], [P], [("a", 1)], ("a", 1), "%s = arith.addf %x0, %x0 : f32")
    body += generic("w", [ID, ID], [P], [("b", 1)], ("b", 1), "%s = arith.mulf %x0, %x0 : f32")
    text = module(kernel(taken, [VECTOR, VECTOR], body, ["v", "w"]), taken, [VECTOR, VECTOR], [("a", 0), ("b", 0)])
    return text, lambda a, b: [a + a, b * b], {"a": "n", "b": "n"}, {("b", 0): "share the loops of their kernel"}


def row_results():
    """A matrix and a value for each of its rows, which come from two arguments."""
    taken = [("a", 2), ("b", 1)]
    body = generic("v", [ROWS, ROWS], [P, P], [("a", 2)], ("a", 2), "%s = arith.negf %x0 : f32")
    body += generic("w", [ID, ID], [P], [("b", 1)], ("b", 1), "%s = arith.mulf %x0, %x0 : f32")
    text = module(kernel(taken, [MATRIX, VECTOR], body, ["v", "w"]), taken, [MATRIX, VECTOR],
                  [("a", 0), ("a", 1), ("b", 0)])
    return text, lambda a, b: [-a, b * b], {"a": "nm", "b": "n"}, {("b", 0): "share the loops of their kernel"}


def operands():
    """A sum of two operands of one loop."""
    taken = [("a", 1), ("b", 1)]
    body = generic("v", [ID, ID, ID], [P], [("a", 1), ("b", 1)], ("a", 1), ADD)
    text = module(kernel(taken, [VECTOR], body, ["v"]), taken, [VECTOR], [("a", 0)])
    return text, lambda a, b: [a + b], {"a": "n", "b": "n"}, {("b", 0): "operand 1 must have size"}


def product():
    """C += A·B: each size belongs to two operands."""
    taken = [("a", 2), ("b", 2), ("c", 2)]
    maps = ["(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"]
    body = generic("v", maps, [P, P, R], [("a", 2), ("b", 2)], ("c", 2), PRODUCT)
    text = module(kernel(taken, [MATRIX], body, ["v"]), taken, [MATRIX], [("c", 0), ("c", 1)])
    wrong = {("b", 0): "operand 1 must have size", ("c", 0): "operand 2 must have size",
             ("c", 1): "operand 2 must have size"}
    return text, lambda a, b, c: [c + a @ b], {"a": "nk", "b": "km", "c": "nm"}, wrong


def launch_sizes():
    """The launch says how large the result is, after another argument than the kernel."""
    taken = [("a", 1), ("b", 1)]
    body = generic("v", [ID, ID], [P], [("a", 1)], ("a", 1), "%s = arith.addf %x0, %x0 : f32")
    text = module(kernel(taken, [VECTOR], body, ["v"]), taken, [VECTOR], [("b", 0)])
    return text, lambda a, b: [a + a], {"a": "n", "b": "n"}, {("b", 0): "result 0 has size"}


def window():
    """A convolution: its input is as long as both loops together, less one. A longer input is allowed."""
    taken = [("a", 1), ("b", 1), ("c", 1)]
    body = generic("v", ["(i, k) -> (i + k)", "(i, k) -> (k)", "(i, k) -> (i)"], [P, R], [("a", 1), ("b", 1)], ("c", 1),
                   PRODUCT)
    text = module(kernel(taken, [VECTOR], body, ["v"]), taken, [VECTOR], [("c", 0)])
    numpy = lambda a, b, c: [c + np.correlate(a[:len(b) + len(c) - 1], b, "valid")]
    return text, numpy, {"a": "w", "b": "k", "c": "n"}, {("b", 0): ("of its map is outside of size", (1, 33))}


def mirrored(sign):
    """A convolution whose maps subtract: indices may be too small as well as too large."""
    taken = [("a", 1), ("b", 1), ("c", 1)]
    expression = "i - k + 39" if sign > 0 else "k - i + 39"
    body = generic("v", [f"(i, k) -> ({expression})", "(i, k) -> (k)", "(i, k) -> (i)"], [P, R], [("a", 1), ("b", 1)],
                   ("c", 1), PRODUCT)
    text = module(kernel(taken, [VECTOR], body, ["v"]), taken, [VECTOR], [("c", 0)])
    flipped = lambda a, b, c: a[39 + sign * (np.arange(len(c))[:, None] - np.arange(len(b)))] @ b
    low = ("index -{} of its map is outside of size", (1, 33))
    letters, wrong = {"a": "u", "b": "q", "c": "n"}, {("b", 0): low}
    if sign <= 0:
        letters, wrong = {"a": "v", "b": "k", "c": "q"}, {("c", 0): low}
    return text, lambda a, b, c: [c + flipped(a, b, c)], letters, {**wrong,
                                                                   ("a",
                                                                    0): ("of its map is outside of size", (-1, -5))}


def tables():
    """Indices that are rests and quotients of a size of static type, next to a dynamic one."""
    taken = [("a", "3x"), ("b", "1x"), ("c", "2x?x")]
    body = generic("v", ["(i, j) -> (i mod 8)", "(i, j) -> (i floordiv 4)", ROWS], [P, P], taken[:2], taken[2], ADD)
    text = module(kernel(taken, [tensor("2x?x")], body, ["v"]), taken, [tensor("2x?x")], [("c", 1)])
    return text, lambda a, b, c: [a[:2, None] + b + 0 * c], {"a": "t", "b": "o", "c": "dn"}, {}


def written_size():
    """One operand has a size that its type says."""
    taken = [("a", "16x"), ("b", 1)]
    body = generic("v", [ID, ID, ID], [P], taken, ("b", 1), ADD)
    text = module(kernel(taken, [VECTOR], body, ["v"]), taken, [VECTOR], [("b", 0)])
    return text, lambda a, b: [a + b], {"a": "s", "b": "s"}, {("b", 0): "must have size"}


def cast():
    """A tensor whose size is known under a type that does not say it."""
    taken = [("a", "16x"), ("b", 1)]
    body = f"  %x = tensor.cast %a : {tensor('16x')} to {VECTOR}\n"
    body += generic("v", [ID, ID, ID], [P], [("x", 1), ("b", 1)], ("b", 1), ADD)
    text = module(kernel(taken, [VECTOR], body, ["v"]), taken, [VECTOR], [("b", 0)])
    return text, lambda a, b: [a + b], {"a": "s", "b": "s"}, {("b", 0): "operand 1 must have size"}


def inserted():
    """The result is a tensor of the kernel that another is written into."""
    taken = [("a", 1), ("b", 1)]
    body = f"{SIZE}{EMPTY}  %x = tensor.insert_slice %a into %e[0] [%n] [1] : {VECTOR} into {VECTOR}\n"
    text = module(kernel(taken, [VECTOR], body, ["x"]), taken, [VECTOR], [("b", 0)])
    return text, lambda a, b: [a], {"a": "n", "b": "n"}, {("b", 0): "result 0 has size"}


def made(lines, value):
    """Adds `b` to a tensor that the kernel makes with the size of `a`."""
    def make():
        taken = [("a", 1), ("b", 1)]
        body = SIZE + lines
        body += generic("v", [ID, ID, ID], [P], [(value, 1), ("b", 1)], (value, 1), ADD)
        text = module(kernel(taken, [VECTOR], body, ["v"]), taken, [VECTOR], [("b", 0)])
        return text, lambda a, b: [a + b], {"a": "n", "b": "n"}, {("b", 0): "operand 1 must have size"}

    return make


SIZE = f"  %z = arith.constant 0 : index\n  %n = tensor.dim %a, %z : {VECTOR}\n"
EMPTY = f"  %e = tensor.empty(%n) : {VECTOR}\n"
COPY = generic("x", [ID, ID], [P], [("a", 1)], ("e", 1), "%s = arith.addf %x0, %f : f32")
copied = made(f"{EMPTY}  %f = arith.constant -0.0 : f32\n{COPY}", "x")
sliced = made(f"  %x = tensor.extract_slice %a[0] [%n] [1] : {VECTOR} to {VECTOR}\n", "x")


KERNELS = {"two results": two_results, "row results": row_results, "operands": operands, "product": product,
           "launch sizes": launch_sizes, "window": window, "mirrored left operand": functools.partial(mirrored, 1),
           "mirrored result": functools.partial(mirrored, -1), "tables": tables, "written size": written_size,
           "cast": cast, "copied": copied,
           "sliced": sliced, "inserted": inserted}


def run(text, shapes, rng, target, results):
    arrays = {name: rng.integers(-4, 5, shape).astype(np.float32) for name, shape in shapes.items()}
    with tempfile.TemporaryDirectory() as folder:
        options = runner.write_arguments(folder, [(types.SimpleNamespace(name=name, element="f32"), array) for name,
                                                  array in arrays.items()])
        return arrays, runner.run(text, options, [(f"r{i}", "f32") for i in range(results)], target)


def fits(text, numpy, shapes, rng, target):
    try:
        arrays, found = run(text, shapes, rng, target, len(numpy(**{name: np.zeros(s, np.float32) for name,
                                                                    s in shapes.items()})))
    except runner.Failure as failure:
        return f"{target[0]} {shapes}: {failure}"
    for i, expected in enumerate(numpy(**arrays)):
        if not np.array_equal(found[f"r{i}"], expected):
            return f"{target[0]} {shapes}: result {i} differs from NumPy"
    return None


def refused(text, shapes, rng, target, message):
    try:
        run(text, shapes, rng, target, 1)
    except runner.Failure as failure:
        text = failure.text
        if failure.code == 1 and message in text and "program.mlir:" in text and "out of bounds" not in text:
            return None
        return f"{target[0]} {shapes}: expected '{message}', found {failure}"
    return f"{target[0]} {shapes}: expected '{message}', but the program ran"


def check(make, number):
    def problems(_folder):
        rng = np.random.default_rng([20, number])
        text, numpy, letters, wrong = make()
        for target in TARGETS:
            sizes = {letter: int(rng.choice([1, 2, 7, 16, 17, 40])) for letter in "nmk"}
            # w, u and v: the inputs of windows. The others: what maps and types say.
            sizes.update(w=sizes["n"] + sizes["k"] - 1, u=sizes["n"] + 39, v=sizes["k"] + 39, q=40, s=16, t=3, d=2, o=1)
            shapes = {name: tuple(sizes[letter] for letter in axes) for name, axes in letters.items()}
            yield from filter(None, [fits(text, numpy, shapes, rng, target)])
            for (name, axis), expected in wrong.items():
                message, changes = (expected, (1, 33, -1)) if isinstance(expected, str) else expected
                for change in changes:
                    other = list(shapes[name])
                    other[axis] = max(other[axis] + change, 0)
                    yield from filter(None, [refused(text, {**shapes, name: tuple(other)}, rng, target,
                                                     message.format(change))])

    return problems


def main():
    return checks.run_checks("kernel_sizes", [(name, check(make, number)) for number,
                                              (name, make) in enumerate(KERNELS.items())])


if __name__ == "__main__":
    sys.exit(main())
