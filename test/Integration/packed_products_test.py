#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products whose operands kernels copy or read in place: of all layouts, with short and long sums, few and many rows and
columns, parts of larger tensors at offsets that are known or not. The CPU with one thread and with several, and with
small tiles, gives the bits of the reference interpreter. Closes with `packed products: N run, N failed`."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import checks  # noqa: E402
import runner  # noqa: E402
from elements import tensor  # noqa: E402


class Operand:
    """An operand [batch, k, free] or [batch, free, k], perhaps a part of an argument."""

    def __init__(self, rng, name, element, batch, k, free):
        self.name, self.element = name, element
        self.k_first = bool(rng.random() < 0.6)
        self.shape = [batch, k, free] if self.k_first else [batch, free, k]
        self.is_part = bool(rng.random() < 0.5)
        self.is_known = bool(rng.random() < 0.3)
        more = [int(rng.choice([0, 1, 8, 64])) if self.is_part else 0 for _ in range(3)]
        self.whole = [size + extra for size, extra in zip(self.shape, more)]
        self.offsets = [int(rng.integers(extra + 1)) for extra in more]

    @property
    def type(self):
        return tensor(self.element, tuple(self.shape))

    def arguments(self, rng):
        made = [(self.name, self.element, rng.normal(size=self.whole).astype("f8" if self.element == "f64" else "f4"))]
        if self.is_part and not self.is_known:
            made += [(f"{self.name}{axis}", "i64", np.array(offset, np.int64)) for axis, offset in enumerate(self.offsets)]
        return made

    def lines(self):
        if not self.is_part:
            return ""
        text = ""
        for axis, offset in enumerate(self.offsets):
            if self.is_known:
                text += f"  %{self.name}at{axis} = arith.constant {offset} : index\n"
            else:
                text += (f"  %{self.name}read{axis} = tensor.extract %{self.name}{axis}[] : tensor<i64>\n"
                         f"  %{self.name}at{axis} = arith.index_cast %{self.name}read{axis} : i64 to index\n")
        places = ", ".join(f"%{self.name}at{axis}" for axis in range(3))
        return text + (f"  %{self.name}part = ad.dynamic_slice %{self.name}[{places}] : "
                       f"{tensor(self.element, tuple(self.whole))} -> {self.type}\n")

    @property
    def value(self):
        return f"%{self.name}part" if self.is_part else f"%{self.name}"


def check(seed, folder):
    rng = np.random.default_rng(seed)
    element = str(rng.choice(["f32", "f32", "f64"]))
    batch, rows = int(rng.choice([1, 1, 2])), int(rng.choice([1, 5, 24, 97, 200, 513]))
    columns, k = int(rng.choice([1, 16, 64, 130, 257, 600])), int(rng.choice([1, 30, 300, 512, 700, 1568]))
    x, w = Operand(rng, "x", element, batch, k, rows), Operand(rng, "w", element, batch, k, columns)
    arguments = x.arguments(rng) + w.arguments(rng)
    result = tensor(element, (batch, rows, columns))
    declared = ", ".join(f'%{name}: {tensor(kind, array.shape)} {{ad.name = "{name}"}}' for name, kind, array in arguments)
    text = (f'func.func @main({declared}) -> ({result} {{ad.name = "r"}}) {{\n{x.lines()}{w.lines()}'
            f"  %y = ad.dot {x.value}, {w.value} batch [0] x [0] contract [{2 - x.k_first}] x [{2 - w.k_first}] : "
            f"({x.type}, {w.type}) -> {result}\n  return %y : {result}\n}}\n")
    base = ["--target=cpu", "--numerics=reproducible"]
    targets = {"cpu": [*base, "--threads=1"], "cpu with threads": [*base, f"--threads={rng.choice([2, 3, 7])}"],
               "cpu with small tiles": [*base, "--threads=1", "--tiles=small"]}
    return next(runner.other_bits(folder, text, arguments, [("r", element)], targets), None)


if __name__ == "__main__":
    sys.exit(checks.run_seeds("packed products", check, count=90))
