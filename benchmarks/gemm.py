#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Debian packages: libopenblas-dev libdnnl-dev
"""Matrix products in f32 on one core: ours beside OpenBLAS, oneDNN, NumPy, PyTorch and JAX, and as shares of the FMA peak.

Like is compared with like: operands lie plain in memory, a transposed one as its transpose. oneDNN's products with weights
that it packed beforehand stand in the table but in no comparison, since we have no prepacked form yet; nor has bf16 a path
through dot-product instructions yet, so it is not here. Ours is `strict`; `reproducible` is measured beside it on a few shapes.
"""

import statistics
import tempfile
import time

import measure

measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

NAME = "gemm"
ROUNDS = 9
BURST = 0.02  # seconds that the calls of one round take, about
SPEED = 150e9  # a guess, only to find the number of calls
LIBRARIES = [measure.Library("openblas", "cblas.h", "-lopenblas", "libopenblas-dev"),
             measure.Library("onednn", "oneapi/dnnl/dnnl.hpp", "-ldnnl", "libdnnl-dev")]
PLAIN = {"openblas": ["openblas"], "onednn": ["onednn-sgemm", "onednn-matmul"]}
PREPACKED = "onednn-prepacked"
COLUMNS = ["openblas", "onednn-sgemm", "onednn-matmul", "numpy", "torch", "jax", PREPACKED]
REPRODUCIBLE = {"256x256x256", "197x768x768", "1024x1024x1024", "32x1024x1024"}


class Case:
    """`BATCH*MxNxK` and which operands are transposed, such as `TN` for the left one only."""

    def __init__(self, text):
        self.text = text
        sizes, *transposed = text.split()
        batch, _, sizes = sizes.rpartition("*")
        self.batch, (self.m, self.n, self.k) = int(batch or 1), map(int, sizes.split("x"))
        self.trans = ["T" in letter for letter in (transposed or ["NN"])[0]]
        self.flops = 2 * self.batch * self.m * self.n * self.k
        self.calls = measure.calls_for(BURST, self.flops / SPEED)

    def __str__(self):
        return self.text

    def shapes(self):
        """Of the operands as they lie in memory."""
        a, b = (self.m, self.k), (self.k, self.n)
        lead = (self.batch,) if self.batch > 1 else ()
        return [lead + (shape[::-1] if trans else shape) for shape, trans in zip((a, b), self.trans)]

    def words(self):
        return [self.batch, self.m, self.n, self.k, *map(int, self.trans)]

    def program(self):
        lead = int(self.batch > 1)
        axes = lead + (0 if self.trans[0] else 1), lead + (1 if self.trans[1] else 0)
        sizes = (*self.shapes(), (*([self.batch] * lead), self.m, self.n))
        a, b, c = (f"tensor<{''.join(f'{size}x' for size in shape)}f32>" for shape in sizes)
        batch = "[0] x [0]" if lead else "[] x []"
        return f"""func.func @main(%a: {a} {{ad.name = "a"}}, %b: {b} {{ad.name = "b"}}) -> {c} {{
  %c = ad.dot %a, %b batch {batch} contract [{axes[0]}] x [{axes[1]}] : ({a}, {b}) -> {c}
  return %c : {c}
}}
"""


CASES = [Case(text) for text in (
    "256x256x256", "256x256x256 NT", "256x256x256 TN", "256x256x256 TT", "512x512x512", "512x512x512 TN",
    "1024x1024x1024", "1024x1024x1024 NT", "2048x2048x2048", "333x333x333", "197x768x768", "197x768x768 NT",
    "1024x3072x768", "1x1024x1024", "2x255x255", "8x512x512", "32x1024x1024", "32x1024x1024 NT",
    "12*197x197x64 NT", "12*197x64x197")]


def timed(call, calls):
    """A contender of this process."""
    def contender():
        seconds = []
        for _ in range(calls + 1):
            start = time.perf_counter()
            call()
            seconds.append(time.perf_counter() - start)
        return statistics.median(seconds[1:])
    return contender


def turned(array, trans, swap):
    return swap(array, -1, -2) if trans else array


def numpy_product(case, operands):
    a, b = (turned(array, trans, np.swapaxes) for array, trans in zip(operands, case.trans))
    out = a @ b
    return lambda: np.matmul(a, b, out=out)


def torch_product(case, operands):
    import torch
    torch.set_num_threads(1)
    a, b = (turned(torch.from_numpy(array), trans, torch.swapaxes) for array, trans in zip(operands, case.trans))
    out = a @ b
    return lambda: torch.matmul(a, b, out=out)


def jax_product(case, operands):
    import jax
    import jax.numpy as jnp
    operands = [jnp.asarray(array) for array in operands]

    @jax.jit
    def product(*arrays):
        a, b = (turned(array, trans, jnp.swapaxes) for array, trans in zip(arrays, case.trans))
        return a @ b
    return lambda: product(*operands).block_until_ready()


PYTHON = {"numpy": numpy_product, "torch": torch_product, "jax": jax_product}


def python_peers():
    """Those that can be imported; the others are named."""
    found = []
    for name in PYTHON:
        try:
            module = __import__(name)
            print(f"{name} {module.__version__}")
            found.append(name)
        except ImportError as error:
            print(f"{name}: missing ({error})")
    return found


def contenders_of(case, peers, in_python, folder):
    random = np.random.default_rng(0)
    operands = [random.random(shape, dtype=np.float32) for shape in case.shapes()]
    sources = {"a": "uniform:1", "b": "uniform:2"}
    modes = ["strict", *(["reproducible"] if str(case) in REPRODUCIBLE else [])]
    result = {}
    for mode in modes:
        ours = measure.Ours(folder, case.program(), sources, mode)
        result[mode] = lambda ours=ours: ours.time(case.calls)
    for library in peers.libraries:
        extra = [PREPACKED] if library.name == "onednn" else []
        for name in PLAIN[library.name] + extra:
            result[name] = lambda name=name: peers.number(name, case.calls, *case.words())
    for name in in_python:
        result[name] = timed(PYTHON[name](case, operands), case.calls)
    result["peak"] = lambda: 1 / peers.number("peak")
    return result


def measure_case(case, peers, in_python, folder, rounds):
    seconds = measure.take_turns(contenders_of(case, peers, in_python, folder), rounds)
    row = {"case": str(case), "peak_gflops": 1 / seconds.pop("peak"), "seconds": seconds}
    row["gflops"] = {name: case.flops / value / 1e9 for name, value in seconds.items()}
    plain = {name: value for name, value in seconds.items() if name not in ("strict", "reproducible", PREPACKED)}
    row["best"] = min(plain, key=plain.get, default=None)
    row["ratio"] = plain[row["best"]] / seconds["strict"] if plain else None
    return row


def show(row):
    gflops = row["gflops"]
    cells = "".join(f"{gflops[name]:8.1f}" + " " * (len(name) - 7) if name in gflops else " missing" + " " * (len(name) - 7)
                    for name in COLUMNS)
    ratio = f"{row['ratio']:6.2f}" if row["ratio"] else "      "
    share = gflops["strict"] / row["peak_gflops"]
    print(f"{row['case']:18} {row['peak_gflops']:6.1f} {gflops['strict']:7.1f} {share:6.1%} {ratio} {cells}", flush=True)


def close(rows):
    compared = [row for row in rows if row["best"]]
    for row in compared:
        measure.close(NAME, row["ratio"], row["best"], row["case"])
    for row in rows:
        measure.close(NAME, row["gflops"]["strict"] / row["peak_gflops"], "FMA peak", row["case"])
    for row in rows:
        if "reproducible" in row["seconds"]:
            ratio = row["seconds"]["strict"] / row["seconds"]["reproducible"]
            measure.close(NAME, ratio, "strict", f"reproducible, {row['case']}")
    measure.close_with_mean(NAME, {row["case"]: row["ratio"] for row in compared}, "best plain peer")


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    cases = measure.select(CASES, options, NAME)
    in_python = python_peers()
    with tempfile.TemporaryDirectory() as folder:
        peers = measure.Peers(folder, "gemm_peers.cpp", ["-O2", "-march=native"], LIBRARIES,
                              {"OPENBLAS_CORETYPE": "SkylakeX"})
        print(f"GFLOP/s in f32, one thread, ours strict, median of {options.rounds} interleaved rounds; ratio: to the best but the "
              f"prepacked one.\nAll write to the same memory in each call, but JAX to fresh memory.")
        print(f"{'M x N x K':18} {'peak':>6} {'ours':>7} {'share':>6} {'ratio':>6}  " + " ".join(f"{name:>7}" for name in COLUMNS))
        rows = []
        for case in cases:
            rows.append(measure_case(case, peers, in_python, folder, options.rounds))
            show(rows[-1])
    close(rows)
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
