#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels convert the elements that they read: random casts of arguments, one or two in a row and through views, are
read by contractions of random layouts, rows and elementwise operations; so are constants and broadcasts. All targets
give the bits of the reference interpreter in `reproducible`, and in `strict` the same numbers within the error of their
sums. Closes with `converted operands: N run, N failed`."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import checks  # noqa: E402
import runner  # noqa: E402
from elements import tensor  # noqa: E402
from program_text import ProgramText  # noqa: E402

TYPES = ("f32", "bf16", "f16", "f8E4M3FN", "f8E5M2", "i8", "i1", "f64")
NARROW = ("f32", "bf16", "f16", "f8E4M3FN")
TOLERANCE = 2e-2  # of bf16 and f16 results in another order, relative to the largest element


class Text(ProgramText):
    def cast(self, value, to):
        name, shape, element = value
        if element == to:
            return value
        return self.add(f"ad.cast {name} : {tensor(element, shape)} -> {tensor(to, shape)}", shape, to)

    def chain(self, value, to):
        """Casts to a type, half of the time through another one."""
        if self.rng.random() < 0.4:
            value = self.cast(value, str(self.rng.choice(["f32", "bf16", "f16"])))
        return self.cast(value, to)

    def view(self, value):
        """The value as a slice, a transposition or a reshape."""
        name, shape, element = value
        kind = self.rng.integers(3)
        if kind == 0:
            axis = int(self.rng.integers(len(shape)))
            whole = self.argument(element, tuple(n + 3 if i == axis else n for i, n in enumerate(shape)))
            offsets = [2 if i == axis else 0 for i in range(len(shape))]
            return self.add(f"ad.slice {whole[0]} {offsets} strides {[1] * len(shape)} : {tensor(element, whole[1])} -> "
                            f"{tensor(element, shape)}", shape, element)
        if kind == 1:
            order = [int(i) for i in self.rng.permutation(len(shape))]
            source = self.argument(element, tuple(shape[order.index(i)] for i in range(len(shape))))
            return self.add(f"ad.transpose {source[0]} {order} : {tensor(element, source[1])}", shape, element)
        source = self.argument(element, (int(np.prod(shape)),))
        return self.add(f"ad.reshape {source[0]} : {tensor(element, source[1])} -> {tensor(element, shape)}", shape, element)

    def filled(self, shape, element):
        """A value that no memory has: one number everywhere, or a row that repeats."""
        if self.rng.random() < 0.5:
            return self.add(f"ad.constant dense<0.5> : {tensor(element, shape)}", shape, element)
        axes = int(self.rng.integers(len(shape)))
        source = self.argument(element, shape[len(shape) - axes:])
        return self.add(f"ad.broadcast {source[0]} : {tensor(element, source[1])} -> {tensor(element, shape)}", shape,
                        element)

    def operand(self, shape, to):
        if self.rng.random() < 0.2:
            return self.chain(self.filled(shape, str(self.rng.choice(NARROW))), to)
        element = str(self.rng.choice(TYPES))
        made = Text(self.rng)
        made.arguments, made.lines = self.arguments, self.lines
        value = made.view((None, shape, element)) if self.rng.random() < 0.3 else self.argument(element, shape)
        return self.chain(value, to)


def contraction(text, rng):
    """A product with up to one batch axis, whose operands have any order of axes."""
    m, n, k = (int(rng.choice([1, 3, 8, 9, 16, 24, 65])) for _ in range(3))
    batch = int(rng.choice([0, 0, 2]))
    element = str(rng.choice(NARROW))
    sides = []
    for free in (m, n):
        axes = ([("b", batch)] if batch else []) + [("f", free), ("k", k)]
        sides.append([axes[i] for i in rng.permutation(len(axes))])
    values = [text.operand(tuple(size for _, size in side), element) for side in sides]
    where = [[next(i for i, (name, _) in enumerate(side) if name == wanted) for side in sides] for wanted in "k"]
    contract = f"contract [{where[0][0]}] x [{where[0][1]}]"
    if batch:
        at = [next(i for i, (name, _) in enumerate(side) if name == "b") for side in sides]
        contract = f"batch [{at[0]}] x [{at[1]}] {contract}"
    result = "f32" if element != "f8E4M3FN" and rng.random() < 0.5 else "f32" if element == "f8E4M3FN" else element
    shape = ((batch,) if batch else ()) + (m, n)
    kinds = ", ".join(tensor(kind, size) for _, size, kind in values)
    return text.add(f"ad.dot {values[0][0]}, {values[1][0]} {contract} : ({kinds}) -> {tensor(result, shape)}", shape,
                    result)


def pointwise(text, rng):
    """Several kernels that read one cast, at its own points, along rows, and repeated."""
    shape = (int(rng.integers(1, 20)), int(rng.integers(1, 40)))
    cast = text.operand(shape, str(rng.choice(["f32", "bf16", "f16"])))
    name, _, element = cast
    wide = (3, *shape)
    text.results.append(text.add(f"ad.abs {name} : {tensor(element, shape)}", shape, element))
    if rng.random() < 0.7:
        text.results.append(text.add(f"ad.reduce_max {name} axes [1] : {tensor(element, shape)} -> "
                                     f"{tensor(element, shape[:1])}", shape[:1], element))
    if rng.random() < 0.7:
        many = text.add(f"ad.broadcast {name} : {tensor(element, shape)} -> {tensor(element, wide)}", wide, element)
        text.results.append(text.add(f"ad.neg {many[0]} : {tensor(element, wide)}", wide, element))


def make_program(rng):
    text = Text(rng)
    for _ in range(int(rng.integers(1, 3))):
        text.results.append(contraction(text, rng))
    if rng.random() < 0.5:
        pointwise(text, rng)
    return text


def source(element, seed):
    return f"uniform:{seed}:2" if element == "i1" else f"uniform:{seed}:7" if element == "i8" else f"normal:{seed}"


def check(seed, folder):
    rng = np.random.default_rng(seed)
    text = make_program(rng)
    arguments = [f"--arg=a{i}={source(element, seed + i)}" for i, (element, _) in enumerate(text.arguments)]
    results = [(f"res{i}", element) for i, (_, _, element) in enumerate(text.results)]
    program = text.program()
    expected = runner.run(program, arguments, results, ["--target", "reference", "--numerics", "reproducible"])
    for target in ("cpu", "gpu-sim"):
        exact = runner.run(program, arguments, results, ["--target", target, "--numerics", "reproducible"])
        close = runner.run(program, arguments, results, ["--target", target, "--numerics", "strict"])
        for name, _ in results:
            if exact[name].tobytes() != expected[name].tobytes():
                return f"{target}: {name} differs from reference in reproducible:\n{program}"
            largest = np.abs(expected[name].astype(np.float64)).max()
            if not np.abs(close[name].astype(np.float64) - expected[name]).max() <= TOLERANCE * largest:
                return f"{target}: {name} is not that of reference in strict:\n{program}"
    return None


if __name__ == "__main__":
    sys.exit(checks.run_seeds("converted operands", check, count=8))
