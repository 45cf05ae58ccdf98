#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Debian packages: libopenblas-dev libdnnl-dev
"""Matrix products on one core: ours, OpenBLAS, oneDNN, NumPy, PyTorch and JAX, and as shares of the CPU's peak.

Like is compared with like. In the first table operands are plain in memory, a transposed one as its transpose, and all
is f32. In the second the right operand is packed beforehand: by oneDNN in the layout that it likes best, by us before a
loop of products with it; in f32 and, where the CPU has dot products of bf16 pairs, in bf16. Ours is `strict`;
`reproducible` is measured, too, on a few shapes.
"""

import pathlib
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
COLUMNS = ["openblas", "onednn-sgemm", "onednn-matmul", "numpy", "torch", "jax"]
ITERATIONS = 16  # of the loop that a matrix is packed before
REPRODUCIBLE = {"256x256x256", "197x768x768", "1024x1024x1024", "32x1024x1024"}


class Case:
    """`BATCH*MxNxK` and which operands are transposed, such as `TN` for the left one only; `prepacked f32` or
    `prepacked bf16` before it where the right one is packed beforehand."""

    def __init__(self, text):
        self.text = text
        words = text.split()
        self.prepacked = words[0] == "prepacked"
        self.element = words[1] if self.prepacked else "f32"
        sizes, *transposed = words[2:] if self.prepacked else words
        batch, _, sizes = sizes.rpartition("*")
        self.batch, (self.m, self.n, self.k) = int(batch or 1), map(int, sizes.split("x"))
        self.trans = ["T" in letter for letter in (transposed or ["NN"])[0]]
        self.flops = 2 * self.batch * self.m * self.n * self.k
        self.calls = measure.calls_for(BURST, self.flops / SPEED)

    def __str__(self):
        return self.text

    def shapes(self):
        """Of the operands as they are in memory."""
        a, b = (self.m, self.k), (self.k, self.n)
        lead = (self.batch,) if self.batch > 1 else ()
        return [lead + (shape[::-1] if trans else shape) for shape, trans in zip((a, b), self.trans)]

    def words(self):
        return [self.batch, self.m, self.n, self.k, *map(int, self.trans)]

    def peers(self, library):
        """Those of the library that are like ours."""
        if not self.prepacked:
            return PLAIN[library]
        return {"onednn": [PREPACKED + ("-bf16" if self.element == "bf16" else "")]}.get(library, [])

    def program(self):
        return self.loop() if self.prepacked else self.product()

    def loop(self):
        """Products with one matrix, each with a left operand that is copied in its iteration, in a kernel of its own."""
        def tensor(*shape):
            return f"tensor<{''.join(f'{size}x' for size in shape)}{self.element}>"
        (m, k), b, c = (self.m, self.k), tensor(*self.shapes()[1]), tensor(self.m, self.n)
        return f"""func.func @main(%all: {tensor(2, m, k)} {{ad.name = "a"}}, %b: {b} {{ad.name = "b"}}) -> {c} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %iterations = arith.constant {ITERATIONS} : index
  %zero = ad.constant dense<0.0> : {c}
  %last = scf.for %i = %c0 to %iterations step %c1 iter_args(%before = %zero) -> ({c}) {{
    %first = arith.divui %i, %iterations : index
    %one = ad.dynamic_slice %all[%first, %c0, %c0] : {tensor(2, m, k)} -> {tensor(1, m, k)}
    %same = ad.reshape %one : {tensor(1, m, k)} -> {tensor(m, k)}
    %a = ad.barrier %same : {tensor(m, k)}
    %c = ad.dot %a, %b batch [] x [] contract [1] x [{int(self.trans[1])}] : ({tensor(m, k)}, {b}) -> {c}
    scf.yield %c : {c}
  }}
  return %last : {c}
}}
"""

    def product(self):
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
PREPACKED_CASES = [Case(f"prepacked {text}") for text in (
    "f32 256x256x256", "f32 512x512x512", "f32 1024x1024x1024", "f32 333x333x333", "f32 197x768x768", "f32 1x1024x1024",
    "f32 2x255x255", "f32 8x512x512", "f32 32x1024x1024", "f32 32x1024x1024 NT", "bf16 128x64x64", "bf16 256x256x256",
    "bf16 512x512x512", "bf16 1024x1024x1024", "bf16 32x1024x1024")]


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


def ours_of(case, folder, mode):
    """A contender: seconds per product."""
    ours = measure.Ours(folder, case.program(), {"a": "uniform:1", "b": "uniform:2"}, mode)
    if case.prepacked:
        return lambda: ours.time(max(3, case.calls // ITERATIONS), of="dot") / ITERATIONS
    return lambda: ours.time(case.calls)


def contenders_of(case, peers, in_python, folder):
    modes = ["strict", *(["reproducible"] if str(case) in REPRODUCIBLE else [])]
    result = {mode: ours_of(case, folder, mode) for mode in modes}
    for library in peers.libraries:
        for name in case.peers(library.name):
            result[name] = lambda name=name: peers.number(name, case.calls, *case.words())
    if not case.prepacked:
        random = np.random.default_rng(0)
        operands = [random.random(shape, dtype=np.float32) for shape in case.shapes()]
        for name in in_python:
            result[name] = timed(PYTHON[name](case, operands), case.calls)
    peak = "peak-bf16" if case.element == "bf16" else "peak"
    result["peak"] = lambda: 1 / peers.number(peak)
    return result


def measure_case(case, peers, in_python, folder, rounds):
    seconds = measure.take_turns(contenders_of(case, peers, in_python, folder), rounds)
    row = {"case": str(case), "prepacked": case.prepacked, "peak_gflops": 1 / seconds.pop("peak"), "seconds": seconds}
    row["gflops"] = {name: case.flops / value / 1e9 for name, value in seconds.items()}
    others = {name: value for name, value in seconds.items() if name not in ("strict", "reproducible")}
    row["best"] = min(others, key=others.get, default=None)
    row["ratio"] = others[row["best"]] / seconds["strict"] if others else None
    return row


def show(row):
    gflops = row["gflops"]
    if row["prepacked"]:
        cells = " ".join(f"{gflops[name]:7.1f} {name}" for name in gflops if name not in ("strict", "reproducible"))
    else:
        cells = "".join(f"{gflops[name]:8.1f}" + " " * (len(name) - 7) if name in gflops
                        else " missing" + " " * (len(name) - 7) for name in COLUMNS)
    ratio = f"{row['ratio']:6.2f}" if row["ratio"] else "      "
    share = gflops["strict"] / row["peak_gflops"]
    print(f"{row['case']:28} {row['peak_gflops']:6.1f} {gflops['strict']:7.1f} {share:6.1%} {ratio} {cells}",
          flush=True)


def close(rows):
    compared = [row for row in rows if row["best"]]
    for row in compared:
        measure.close(NAME, row["ratio"], row["best"], row["case"])
    for row in rows:
        measure.close(NAME, row["gflops"]["strict"] / row["peak_gflops"], "peak", row["case"])
    for row in rows:
        if "reproducible" in row["seconds"]:
            ratio = row["seconds"]["strict"] / row["seconds"]["reproducible"]
            measure.close(NAME, ratio, "strict", f"reproducible, {row['case']}")
    for kind, prepacked in (("plain", False), ("prepacked", True)):
        measure.close_with_mean(NAME, {row["case"]: row["ratio"] for row in compared if row["prepacked"] == prepacked},
                                f"best {kind} peer")


def has_flag(name):
    return name in pathlib.Path("/proc/cpuinfo").read_text().split()


def has_dot_products():
    return has_flag("avx512_bf16")


def chosen_cases(options):
    cases = measure.select(CASES + PREPACKED_CASES, options, NAME)
    if has_dot_products():
        return cases
    print("bf16: left out, the CPU has no dot products of its pairs")
    return [case for case in cases if case.element != "bf16"]


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    cases = chosen_cases(options)
    in_python = python_peers()
    with tempfile.TemporaryDirectory() as folder:
        # OpenBLAS does not know all CPUs that have AVX-512, and takes slower kernels there.
        environment = {"OPENBLAS_CORETYPE": "SkylakeX"} if has_flag("avx512f") else {}
        peers = measure.Peers(folder, "gemm_peers.cpp", ["-O2", "-march=native"], LIBRARIES, environment)
        print(f"GFLOP/s, one thread, ours strict, median of {options.rounds} interleaved rounds; ratio: to the best peer.\n"
              f"All write to the same memory in each call, but JAX to fresh memory.")
        print(f"{'M x N x K':28} {'peak':>6} {'ours':>7} {'share':>6} {'ratio':>6}  "
              + " ".join(f"{name:>7}" for name in COLUMNS))
        rows = []
        for case in cases:
            rows.append(measure_case(case, peers, in_python, folder, options.rounds))
            show(rows[-1])
    close(rows)
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
