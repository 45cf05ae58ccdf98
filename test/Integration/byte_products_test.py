# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random products of i8: sizes from 0 to more than a tile, K that is no multiple of four, every layout, batches,
open sizes, several products in one kernel, results of i32 and i8 and what follows them, operands of -128 or 127
throughout. Sums wrap at 32 bits in any order, so that every instruction set, tile table and number of threads gives the
bits of NumPy's wrapping sum, and of the reference interpreter."""

import os
import pathlib
import random
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
ROWS = (1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 40, 67)
COLUMNS = (1, 2, 7, 15, 16, 17, 31, 32, 33, 48, 65, 97, 130)
SIZES_K = (1, 2, 3, 4, 5, 7, 31, 63, 64, 65, 66, 127, 128, 200, 515, 700)
# Each set of options is one run; no options take what the machine has.
RUNS = ((), ("--tiles=small", "--threads=2"), ("--cpu=haswell",))


def tensor(shape, element, opened=()):
    sizes = ["?" if axis in opened else str(size) for axis, size in enumerate(shape)]
    return f"tensor<{'x'.join([*sizes, element])}>"


class Case:
    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        pick = rng.choice
        self.m, self.n, self.k = pick(ROWS), pick(COLUMNS), pick(SIZES_K)
        if rng.random() < 0.08:
            setattr(self, pick("mnk"), 0)
        if rng.random() < 0.1:  # rows whose copies do not fit at once
            self.m, self.n, self.k = pick((260, 301)), pick((16, 35)), pick((1030, 2049))
        if rng.random() < 0.15:  # around the limits of what is copied of a dynamic K
            self.m, self.n = pick((5, 41)), pick((16, 35, 130, 180))
            self.k = pick((4096, 4097, 17000, rng.randrange(1000, 6000)))
        self.batch = pick(([], [], [], [2], [3], [2, 2]))
        self.left, self.right = rng.random() < 0.4, rng.random() < 0.5
        self.element = pick(("i32", "i32", "i8"))
        self.count = pick((1, 1, 1, 2))
        self.follows = pick((None, None, "add", "abs", "transpose"))
        shape = lambda transposed, a, b: [*self.batch, *((b, a) if transposed else (a, b))]  # noqa: E731
        self.a, self.b = shape(self.left, self.m, self.k), shape(self.right, self.k, self.n)
        rank = len(self.a)
        # Open sizes: rows, columns, or K of both operands.
        row, column = rank - 2 + self.left, rank - 2 + (not self.right)
        a_deep, b_deep = rank - 1 - self.left, rank - 1 - (not self.right)
        self.open_a, self.open_b = pick([((), ())] * 4 + [((row,), ()), ((), (column,)), ((row,), (column,)),
                                                          ((a_deep,), ()), *[((a_deep,), (b_deep,))] * 4])
        self.axes = f"contract [{a_deep}] x [{b_deep}]"

    def __str__(self):
        return f"{self.a} x {self.b} open {self.open_a} {self.open_b}, {self.count} of {self.element}, then {self.follows}"

    def values(self):
        """The operands: any bytes, or the limits alone, whose products and sums are the largest."""
        rng = np.random.default_rng(self.rng.getrandbits(32))
        kind = self.rng.choice(("any", "any", "low", "high", "ends"))

        def draw(shape):
            if kind == "any":
                return rng.integers(-128, 128, shape).astype(np.int8)
            return rng.choice({"low": [-128], "high": [127], "ends": [-128, 127]}[kind], shape).astype(np.int8)
        return [draw(self.a)] + [draw(self.b) for _ in range(self.count)]

    def expected(self, values):
        def ordered(value, transposed):
            return (value.swapaxes(-1, -2) if transposed else value).astype(np.int64)

        results = [(ordered(values[0], self.left) @ ordered(b, self.right)).astype(np.int32) for b in values[1:]]
        results = [each.astype(np.int8) if self.element == "i8" else each for each in results]
        if self.follows == "add":
            results = [each + each for each in results]
        if self.follows == "abs":
            results = [np.abs(each) for each in results]
        return [each.swapaxes(-1, -2) if self.follows == "transpose" else each for each in results]

    def program(self):
        rank, left, right = len(self.a), tensor(self.a, "i8", self.open_a), tensor(self.b, "i8", self.open_b)
        shape, out = [*self.batch, self.m, self.n], []
        if not self.k_is_open():
            out = [len(self.batch) + i for i, opened in enumerate((self.open_a, self.open_b)) if opened]
        c = result = tensor(shape, self.element, out)
        batch = list(range(len(self.batch)))
        lines, names = [], []
        for i in range(self.count):
            lines.append(f"  %d{i} = ad.dot %a, %b{i} batch {batch} x {batch} {self.axes} : ({left}, {right}) -> {c}")
            if self.follows == "add":
                lines.append(f"  %r{i} = ad.add %d{i}, %d{i} : {c}, {c}")
            elif self.follows == "abs":
                lines.append(f"  %r{i} = ad.abs %d{i} : {c}")
            elif self.follows == "transpose":
                order = [*batch, rank - 1, rank - 2]
                result = tensor([*self.batch, self.n, self.m], self.element, [order.index(axis) for axis in out])
                lines.append(f"  %r{i} = ad.transpose %d{i} {order} : {c}")
            names.append(f"r{i}" if self.follows else f"d{i}")
        arguments = [f'%a: {left} {{ad.name = "a"}}'] + [f'%b{i}: {right} {{ad.name = "b{i}"}}'
                                                         for i in range(self.count)]
        types = ", ".join(f'{result} {{ad.name = "r{i}"}}' for i in range(self.count))
        body, results = "\n".join(lines), ", ".join(f"%{name}" for name in names)
        return (f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n{body}\n"
                f"  return {results} : {', '.join([result] * self.count)}\n}}\n")

    def k_is_open(self):
        return bool(self.open_a) and self.open_a[0] == len(self.a) - 1 - self.left


def run(folder, case, options):
    """The results of one run."""
    out = folder / "out"
    command = [RUNNER, str(folder / "program.mlir"), "--cache=off", f"--out-dir={out}", *options,
               f"--arg=a={folder}/a.npy"]
    command += [f"--arg=b{i}={folder}/b{i}.npy" for i in range(case.count)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(options)}: exit {done.returncode}: {done.stderr.strip()}: {case}")
    return [np.load(out / f"r{i}.npy") for i in range(case.count)]


def wrong(seed, folder):
    """What is wrong with one case, or None."""
    case = Case(seed)
    (folder / "program.mlir").write_text(case.program())
    values = case.values()
    for name, value in zip(["a"] + [f"b{i}" for i in range(case.count)], values):
        np.save(folder / f"{name}.npy", value)
    expected = case.expected(values)
    runs = [*RUNS, ("--target=reference",)] if case.m * case.n * case.k <= 100_000 else RUNS
    for options in runs:
        for got, want in zip(run(folder, case, options), expected, strict=True):
            if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want):
                return f"{' '.join(options) or 'this machine'} differs from NumPy: {case}"
    return None


if __name__ == "__main__":
    sys.exit(checks.run_seeds("byte products", wrong, count=40))
