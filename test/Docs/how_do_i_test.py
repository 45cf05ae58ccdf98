# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each program of docs/how-do-i.md gives the numbers of NumPy in f64, with the same bits on the interpreter and on the
CPU, and each command of the page runs. (That the page shows the programs is checked by scripts/generate_docs.py.)
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import random_numbers  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PROGRAMS = ROOT / "examples/how-do-i"
# Of the largest value: sums of a few dozen f32 products and elementary functions.
TOLERANCE = 1e-5


def normal(*shape):
    return lambda generator: generator.standard_normal(shape).astype(np.float32)


def below(limit, *shape):
    return lambda generator: generator.integers(limit, size=shape).astype(np.int32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def to_bf16(x):
    """Rounded to nearest, to even."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32).astype(np.float64)


def dense_layer(x, w, b):
    return {"y": np.maximum(x @ w + b, 0)}


def batch(a, b):
    return {"y": a @ b.transpose(0, 2, 1)}


def keep_dims(x):
    return {"y": x - x.mean(1, keepdims=True)}


def gradient(w, b, x):
    y = x @ w + b
    return {"loss": (y**2).mean(), "dw": 2 * x.T @ y / len(y), "db": 2 * y.mean()}


def cross_entropy(scores, classes):
    wanted = np.eye(scores.shape[1])[classes]
    loss = -np.log((softmax(scores) * wanted).sum(1)).mean()
    accuracy = (scores.argmax(1) == classes).mean()
    return {"loss": loss, "gradient": (softmax(scores) - wanted) / len(scores), "accuracy": accuracy}


def training_step(w, x, y):
    error = x @ w - y
    return {"w": w - 0.1 * 2 * x.T @ error / len(y), "loss": (error**2).mean()}


def accumulated_gradient(w, x, y):
    whole = 2 * x.T @ (x @ w - y) / len(y)
    return {"dw": whole, "whole": whole}


def feeds(w, x):
    losses = []
    for batch_of_step in x:
        y = batch_of_step @ w
        losses.append((y**2).mean())
        w = w - 0.1 * 2 * batch_of_step.T @ y / len(y)
    return {"w": w, "loss": np.array(losses)}


def loop_index(x):
    return {"sum": x + sum(1 / n for n in range(1, 6))}


def adam(w, x, y):
    m = v = np.zeros(3)
    losses = []
    for step in range(1, 11):
        error = x @ w - y
        losses.append((error**2).mean())
        g = 2 * x.T @ error / len(y)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w - 0.1 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return {"w": w, "loss": np.array(losses)}


def causal_mask(q, k, v):
    scores = np.where(np.tri(6, dtype=bool), q @ k.T / 2, -np.inf)
    return {"y": softmax(scores) @ v}


def stacked_layers(weights, x):
    states = [x]
    for w in weights:
        states.append(np.tanh(states[-1] @ w))
    cotangent, found = 2 * states[-1], np.zeros_like(weights)
    for layer in (2, 1, 0):
        inner = cotangent * (1 - states[layer + 1] ** 2)
        found[layer], cotangent = states[layer].T @ inner, inner @ weights[layer].T
    return {"loss": (states[-1] ** 2).sum(), "gradient": found}


def dynamic_sizes(x):
    return {"y": (x - x.mean(0)).ravel()}


def mixed_precision(w, x):
    w16, x16 = to_bf16(w), to_bf16(x)
    y = x16 @ w16
    return {"w": w - 0.01 * to_bf16(x16.T @ (2 * y)), "loss": (y**2).sum()}


def precision_policy(w, x):
    w16, x16 = to_bf16(w), to_bf16(x)
    y = to_bf16(x16 @ w16)
    return {"w": w - 0.01 * to_bf16(x16.T @ (2 * y)), "loss": to_bf16(y**2).sum()}


def parameter_copy(w, x):
    m = v = np.zeros_like(w)
    x16, losses = to_bf16(x), []
    for step in range(1, 11):
        y = x16 @ to_bf16(w)
        losses.append((y**2).mean())
        g = to_bf16(x16.T @ (2 * y / y.size))
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        w = w * (1 - 0.01 * 0.1) - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return {"w": w, "loss": np.array(losses)}


def to_f16(x):
    with np.errstate(over="ignore"):
        return x.astype(np.float32).astype(np.float16).astype(np.float64)


def loss_scaling(w, x):
    scale, good, x16 = 2.0**20, 0, to_f16(x)
    received = {"loss": [], "scale": [], "finite": []}
    for _ in range(20):
        y = to_f16(x16 @ to_f16(w))
        with np.errstate(invalid="ignore"):
            g = to_f16(x16.T @ to_f16(scale * 2 * y / y.size))
        finite = bool(np.isfinite(g).all())
        for name, value in (("loss", (y**2).mean()), ("scale", scale), ("finite", finite)):
            received[name].append(value)
        good = good + 1 if finite else 0
        w = w - 0.05 * g / scale if finite else w
        scale, good = (scale * 2, 0) if good == 3 else (scale if finite else scale / 2, good)
    return {"w": w, **{name: np.array(values) for name, values in received.items()}}


def to_f8(x, kind, scale):
    """Scaled and rounded to nearest, to even, then without the scale. Larger numbers saturate."""
    largest = float(ml_dtypes.finfo(kind).max)
    return np.clip(x * scale, -largest, largest).astype(np.float32).astype(kind).astype(np.float64) / scale


def eight_bits(w, x):
    history, losses, used = np.zeros((4, 1, 3)), [], []
    for _ in range(10):
        largest = history.max(0)
        with np.errstate(divide="ignore"):
            scales = np.where(largest > 0, 2.0 ** np.floor(np.log2(np.array([224, 224, 28672]) / largest)), 1)
        x8, w8 = (to_f8(value, ml_dtypes.float8_e4m3fn, scales[0, i]) for i, value in enumerate((x, w)))
        y = to_bf16(x8 @ w8)
        losses.append(to_bf16(y**2).sum())
        used.append(scales)
        magnitudes = [np.abs(value).max() for value in (x, w, 2 * y)]
        history = np.concatenate([np.reshape(magnitudes, (1, 1, 3)), history[:3]])
        w = w - 0.01 * (x8.T @ to_f8(2 * y, ml_dtypes.float8_e5m2, scales[0, 2]))
    return {"w": w, "loss": np.array(losses), "scales": np.array(used)}


def embedding(table, ids):
    gradient = np.zeros_like(table)
    np.add.at(gradient, ids[ids > 0], 2 * table[ids[ids > 0]] / (len(ids) * 4))
    return {"rows": table[ids], "gradient": gradient}


def convolution(x, w, b):
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, i:i + 6, j:j + 8] @ w[i, j] for i in range(3) for j in range(3)]
    y = np.maximum(sum(taps) + b, 0)
    return {"y": y.reshape(2, 3, 2, 4, 2, 4).max((2, 4))}


def attention(q, k, v):
    wide = lambda x: np.repeat(x, 2, axis=1)
    scores = np.where(np.tri(6, dtype=bool), q @ wide(k).swapaxes(2, 3) / np.sqrt(8), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    p = weights / weights.sum(-1, keepdims=True)
    y = p @ wide(v)
    dp = 2 * y @ wide(v).swapaxes(2, 3)
    d = p * (dp - (p * dp).sum(-1, keepdims=True)) / np.sqrt(8)
    return {"loss": (y**2).sum(), "dk": (d.swapaxes(2, 3) @ q).reshape(1, 2, 2, 6, 8).sum(2)}


def batch_norm(x, w, scale, bias, mean, variance, key, step):
    product = x @ w
    m, v = product.mean(0), product.var(0)
    active = np.maximum((product - m) / np.sqrt(v + 1e-5) * scale + bias, 0)
    mask = random_numbers.bits("i64", key, step)
    is_kept = random_numbers.uniform("f32", mask, np.arange(48)).reshape(16, 3) >= 0.25
    return {"y": np.where(is_kept, active / 0.75, 0), "new_mean": mean + 0.1 * (m - mean),
            "new_variance": variance + 0.1 * (v - variance)}


def kernel_borders(x):
    s = softmax(np.tanh(x))
    return {"y": -s / (1 + np.exp(-s))}


def branch(w, g):
    return {"w": w - g if np.isfinite(g).all() else w}


def random_step(w, x, seed, step):
    """Sums of bf16 products are exact enough: each rounding of the program happens here too."""
    key = random_numbers.bits("i64", seed, step)
    mask_key, round_key = (random_numbers.bits("i64", key, np.array(use)) for use in (0, 1))
    kept = random_numbers.uniform("f32", mask_key, np.arange(32)).reshape(4, 8) < 0.75
    dropped, w16 = np.where(kept, x / 0.75, 0), to_bf16(w)
    y = dropped @ w16
    new = (w16 - 0.001 * to_bf16(2 * dropped.T @ y)).astype(np.float32)
    words = random_numbers.words(round_key, np.arange(24))[0].reshape(8, 3)
    return {"w": elements.decode("bf16", random_numbers.round_stochastically("bf16", new, words)), "loss": (y**2).sum()}


def number(value):
    return lambda generator: np.array(value, np.int64)


def not_finite(generator):
    return np.array([1, np.inf, 2], np.float32)


# Program, reference, and where each argument or feed comes from; sizes that are open differ from those of the page.
CASES = [
    ("dense-layer", dense_layer, {"x": normal(4, 8), "w": normal(8, 3), "b": normal(3)}),
    ("batch", batch, {"a": normal(5, 4, 8), "b": normal(5, 2, 8)}),
    ("keep-dims", keep_dims, {"x": normal(4, 8)}),
    ("gradient", gradient, {"w": normal(3), "b": normal(), "x": normal(5, 3)}),
    ("cross-entropy", cross_entropy, {"scores": normal(6, 4), "classes": below(4, 6)}),
    ("training-step", training_step, {"w": normal(3), "x": normal(5, 3), "y": normal(5)}),
    ("accumulated-gradient", accumulated_gradient, {"w": normal(3), "x": normal(1500, 3), "y": normal(1500)}),
    ("feeds", feeds, {"w": normal(3), "x": normal(4, 5, 3)}),
    ("loop-index", loop_index, {"x": normal(2)}),
    ("adam", adam, {"w": normal(3), "x": normal(5, 3), "y": normal(5)}),
    ("causal-mask", causal_mask, {"q": normal(6, 4), "k": normal(6, 4), "v": normal(6, 4)}),
    ("stacked-layers", stacked_layers, {"weights": normal(3, 4, 4), "x": normal(5, 4)}),
    ("dynamic-sizes", dynamic_sizes, {"x": normal(7, 3)}),
    ("dynamic-sizes", dynamic_sizes, {"x": normal(1, 3)}),
    ("mixed-precision", mixed_precision, {"w": normal(8, 3), "x": normal(4, 8)}),
    ("precision-policy", precision_policy, {"w": normal(8, 3), "x": normal(4, 8)}),
    ("parameter-copy", parameter_copy, {"w": normal(8, 3), "x": normal(4, 8)}),
    ("loss-scaling", loss_scaling, {"w": normal(8, 3), "x": normal(4, 8)}),
    ("eight-bits", eight_bits, {"w": normal(8, 3), "x": normal(4, 8)}),
    ("embedding", embedding, {"table": normal(10, 4), "ids": below(10, 6)}),
    ("convolution", convolution, {"x": normal(2, 6, 8, 3), "w": normal(3, 3, 3, 4), "b": normal(4)}),
    ("attention", attention, {"q": normal(1, 4, 6, 8), "k": normal(1, 2, 6, 8), "v": normal(1, 2, 6, 8)}),
    ("batch-norm", batch_norm, {"x": normal(16, 4), "w": normal(4, 3), "scale": normal(3), "bias": normal(3),
                                "mean": normal(3), "variance": normal(3), "key": number(5), "step": number(2)}),
    ("kernel-borders", kernel_borders, {"x": normal(8, 64)}),
    ("branch", branch, {"w": normal(3), "g": normal(3)}),
    ("branch", branch, {"w": normal(3), "g": not_finite}),
    ("random", random_step, {"w": normal(8, 3), "x": normal(4, 8), "seed": number(7), "step": number(3)}),
]


# The page promises the same bits in this mode alone: in strict, CPUs with AVX512_BF16 use their dot products.
REPRODUCIBLE = {"mixed-precision", "precision-policy", "parameter-copy", "eight-bits"}


def run(folder, name, target, inputs):
    program, out = PROGRAMS / f"{name}.mlir", folder / target
    out.mkdir()
    options = []
    for value in inputs:
        kind = "feed" if f'ad.feed "{value}"' in program.read_text() else "arg"
        options.append(f"--{kind}={value}={folder / value}.npy")
    options += ["--numerics=reproducible"] if name in REPRODUCIBLE else []
    command = [BIN / "ad-runner", program, f"--target={target}", "--cache=off", f"--out-dir={out}", *options]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"{target}: exit code {done.returncode}: {done.stderr}")
    return {path.stem: np.load(path) for path in out.glob("*.npy")}


def compare(name, reference, sources, seed=13):
    def check(folder):
        generator = np.random.default_rng(seed)
        inputs = {value: source(generator) for value, source in sources.items()}
        for value, array in inputs.items():
            np.save(folder / f"{value}.npy", array)
        found = {target: run(folder, name, target, inputs) for target in ("reference", "cpu")}
        wide = {value: a.astype(np.float64) if a.dtype == np.float32 else a for value, a in inputs.items()}
        expected = {result: np.asarray(value, np.float64) for result, value in reference(**wide).items()}
        for target, results in found.items():
            if set(results) != set(expected):
                yield f"{target} gives {sorted(results)}, expected {sorted(expected)}"
                continue
            for result, want in expected.items():
                got = results[result]
                # Not written so that a NaN passes.
                near = got.shape == want.shape and np.abs(got - want).max() <= TOLERANCE * max(np.abs(want).max(), 1e-3)
                if not near:
                    yield f"{target} gives {result} = {got.tolist()}, expected {want.tolist()}"
                if got.tobytes() != found["reference"][result].tobytes():
                    yield f"{target} gives other bits of {result} than the reference"

    return check


def check_commands(_folder):
    page = (ROOT / "docs/how-do-i.md").read_text()
    commands = re.findall(r"^ad-runner .*$", page, re.M)
    if len(commands) <= len({name for name, *_ in CASES}):
        yield f"expected a command for each program and one for a check of gradients, got {len(commands)}"
    for command in commands:
        words = shlex.split(command)
        done = subprocess.run([BIN / words[0], *words[1:]], cwd=ROOT, capture_output=True, text=True, timeout=120)
        if done.returncode or not done.stdout:
            yield f"{command}: exit code {done.returncode}: {done.stderr}"


def check_all_compared(_folder):
    missing = {path.stem for path in PROGRAMS.glob("*.mlir")} - {name for name, *_ in CASES}
    yield from (f"{name} is compared with nothing" for name in sorted(missing))


def main():
    cases = [(name, compare(name, reference, sources)) for name, reference, sources in CASES]
    for seed in (*range(8), 30, 78):  # the last two give other bits in strict where a CPU has these dot products
        cases += [(f"{name}, seed {seed}", compare(name, reference, sources, seed)) for name, reference,
                  sources in CASES
                  if name in REPRODUCIBLE]
    return checks.run_checks("how-do-i", [*cases, ("commands", check_commands), ("compared", check_all_compared)])


if __name__ == "__main__":
    sys.exit(main())
