# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Split-K contractions on the emulated GPU. In fast mode the result has the bits of one chain per part and of one chain
over their sums.
The modes that keep the written order give the bits of the reference interpreter. Integers are split in every mode and
always give its bits."""

import functools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
BLOCK = 512  # of the canonical order: a part of K no longer than that is one chain
# The operation, the letters of the operands' and the result's axes, their sizes, and the number of parts of k.
PROGRAMS = {
    "rows": ("ad.dot %a, %b", "mk,kn->mn", {"m": 40, "n": 70, "k": 1280}, 10),
    "weight gradient": ("ad.dot %a, %b contract [0] x [0]", "km,kn->mn", {"m": 64, "n": 48, "k": 4096}, 32),
    "two axes": ("ad.dot %a, %b contract [0, 1] x [0, 1]", "jkm,jkn->mn", {"m": 33, "n": 20, "j": 6, "k": 120}, 5),
    "batch after": ("ad.dot %a, %b batch [1] x [2] contract [0] x [0]", "kbm,knb->bmn",
                     {"b": 3, "m": 20, "n": 36, "k": 768}, 6),
    "batch before": ("ad.dot %a, %b batch [0] x [0] contract [2] x [1]", "bmk,bkn->bmn",
                     {"b": 2, "m": 20, "n": 36, "k": 640}, 5),
    "gemm": ("ad.gemm %a, %b {transA, transB}", "km,nk->mn", {"m": 65, "n": 30, "k": 640}, 5),
}


def coarse(random, shape):
    """f32 numbers of 11 bits, whose products are exact in f32: an FMA is then a multiplication and an
    addition."""
    return (random.integers(-1000, 1000, shape) * 2.0 ** random.integers(-12, 3, shape)).astype(np.float32)


def flat(array, axes, sizes, order):
    """The array with its outer axes in `order`, and K last."""
    moved = np.einsum(array, list(range(array.ndim)), [axes.index(name) for name in order if name in axes])
    outer = [sizes[name] for name in order if name in axes and name not in "jk"]
    return moved.reshape(*outer, -1)


def chain(start, terms):
    """Sums of f32 along the first axis, in ascending order."""
    for term in terms:
        start = start + term
    return start


def expected(a, b, letters, sizes, parts):
    operands, _ = letters.split("->")
    left, right = operands.split(",")
    a, b = flat(a, left, sizes, "bmjk"), flat(b, right, sizes, "bnjk")
    products = a[..., :, None, :] * b[..., None, :, :]
    terms = np.moveaxis(products.reshape(*products.shape[:-1], parts, -1), (-2, -1), (0, 1))
    assert terms.shape[1] <= BLOCK
    zero = np.zeros(products.shape[:-1], np.float32)
    return chain(zero, [chain(zero, part) for part in terms])


def tensor(letters, sizes, element):
    return f"tensor<{'x'.join(str(sizes[name]) for name in letters)}x{element}>"


def run(folder, target, mode):
    out = folder / f"{target}-{mode}"
    subprocess.run([BIN / "ad-runner", folder / "program.mlir", f"--target={target}", f"--numerics={mode}",
                    "--cache=off",
                    f"--arg=a={folder}/a.npy", f"--arg=b={folder}/b.npy", f"--out-dir={out}",
                    f"--numerics-report={out}.json"],
                   check=True, capture_output=True, text=True)
    reported = {use["pattern"] for use in json.loads(pathlib.Path(f"{out}.json").read_text())}
    return np.load(out / "res0.npy"), "split-k" in reported


def write(folder, written, letters, sizes, element, result, a, b):
    operands, out = letters.split("->")
    types = [tensor(axes, sizes, element) for axes in operands.split(",")]
    (folder
     / "program.mlir").write_text(f"""func.func @main(%a: {types[0]} {{ad.name = "a"}}, %b: {types[1]} {{ad.name = "b"}}) -> {tensor(out, sizes, result)} {{
  %y = {written} : ({", ".join(types)}) -> {tensor(out, sizes, result)}
  return %y : {tensor(out, sizes, result)}
}}
""")
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)


def wrong_floats(name, folder):
    written, letters, sizes, parts = PROGRAMS[name]
    random = np.random.default_rng(len(name))
    a, b = (coarse(random, [sizes[axis] for axis in axes]) for axes in letters.split("->")[0].split(","))
    write(folder, written, letters, sizes, "f32", "f32", a, b)
    reference, _ = run(folder, "reference", "reproducible")
    for mode in ("reproducible", "strict"):
        got, split = run(folder, "gpu-sim", mode)
        if split or got.tobytes() != reference.tobytes():
            yield f"{mode}: {'is split' if split else 'differs from the reference'}"
    got, split = run(folder, "gpu-sim", "fast")
    if not split:
        yield "fast: the split is not reported"
    if got.tobytes() != expected(a, b, letters, sizes, parts).tobytes():
        yield "fast: other bits than those of sums of parts"


def wrong_gemm(folder):
    """The sum times alpha, and beta times the bias, each rounded."""
    random = np.random.default_rng(5)
    a, b = coarse(random, (640, 24)), coarse(random, (640, 40))
    np.save(folder / "a.npy", a)
    np.save(folder / "b.npy", b)
    (folder
     / "program.mlir").write_text("""func.func @main(%a: tensor<640x24xf32> {ad.name = "a"}, %b: tensor<640x40xf32> {ad.name = "b"}) -> tensor<24x40xf32> {
  %bias = ad.iota axis 0 : tensor<40xf32>
  %y = ad.gemm %a, %b, %bias {transA, alpha = 0.3, beta = 0.7} : (tensor<640x24xf32>, tensor<640x40xf32>, tensor<40xf32>) -> tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}
""")
    sums = expected(a, b, "km,kn->mn", {"k": 640, "m": 24, "n": 40}, 5)
    right = np.float32(0.3) * sums + np.float32(0.7) * np.arange(40, dtype=np.float32)
    got, split = run(folder, "gpu-sim", "fast")
    if not split:
        yield "is not split"
    if got.tobytes() != right.tobytes():
        yield "other bits than alpha times the sum plus beta times the bias"


def kernels(folder, mode):
    text = subprocess.run([BIN / "ad-opt", folder / "program.mlir", f"--ad-to-cpu-frontend=numerics={mode}",
                           "--ad-to-gpu-fusion"],
                          check=True, capture_output=True, text=True).stdout
    return text.count("ad.fusion dot"), text.count("ad.reduce_sum")


def wrong_bytes(folder):
    sizes = {"m": 50, "n": 64, "k": 2048}
    random = np.random.default_rng(8)
    a, b = (random.integers(-128, 128, (sizes[axis], sizes["k"]), np.int8) for axis in "mn")
    write(folder, "ad.dot %a, %b contract [1] x [1]", "mk,nk->mn", sizes, "i8", "i32", a, b)
    for mode in ("reproducible", "strict", "fast"):
        if kernels(folder, mode) != (1, 1):
            yield f"{mode}: is not split"
        if not np.array_equal(run(folder, "gpu-sim", mode)[0], a.astype(np.int32) @ b.astype(np.int32).T):
            yield f"{mode}: other sums"


def wrong_shorts(folder):
    """Parts stay in f32 until their sum is rounded once: the result is the rounded sum of exact parts, where those are
    exact."""
    sizes = {"m": 64, "n": 64, "k": 4096}
    random = np.random.default_rng(9)
    a, b = (random.integers(-8, 9, (sizes["k"], sizes[axis])).astype(np.float16) for axis in "mn")
    write(folder, "ad.dot %a, %b contract [0] x [0]", "km,kn->mn", sizes, "f16", "f16", a, b)
    got, split = run(folder, "gpu-sim", "fast")
    exact = (a.astype(np.float64).T @ b.astype(np.float64)).astype(np.float16)
    if not split:
        yield "is not split"
    if not np.array_equal(got, exact):
        yield "is not the sum, rounded once"


def main():
    found = [(name, functools.partial(wrong_floats, name)) for name in PROGRAMS]
    found += [("scaled gemm", wrong_gemm), ("i8", wrong_bytes), ("f16", wrong_shorts)]
    return checks.run_checks("split-k", checks.sample(found, 2))


if __name__ == "__main__":
    sys.exit(main())
