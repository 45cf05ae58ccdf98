# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Movements whose elements are in reverse order or strided: reversals of random axes, slices with strides,
transpositions with axes of any size. Every width of element, lengths around those of vectors, dynamic
sizes. The CPU gives what NumPy gives, bit for bit. Closes with `strided moves: N run, N failed`."""

import functools
import os
import pathlib
import random
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED", "1"))
SIZES = [1, 2, 3, 4, 5, 8, 12, 15, 16, 17, 31, 32, 33, 50, 70, 129]
COUNT = 24  # of each kind in a program
MAX_ELEMENTS = 1 << 17  # elements


class Case:
    """One movement: its line of the program, its argument and what NumPy makes of that."""

    def __init__(self, name, kind, element, draw, rng):
        self.name, self.element = name, element
        rank = draw.choice([1, 2, 2, 3, 4])
        shape = [MAX_ELEMENTS + 1]
        while np.prod(shape) > MAX_ELEMENTS:
            shape = [draw.choice(SIZES) for _ in range(rank)]
            if draw.random() < 0.4:  # many short rows
                shape += [draw.choice([63, 64, 65, 129, 200]), draw.randint(2, 9)]
        rank = len(shape)
        self.array = elements.random(rng, element, shape)
        known = [draw.choice([size, size, "?"]) for size in shape]
        self.type = self.result = elements.tensor(element, known)
        if kind == "reverse":
            axes = sorted(draw.sample(range(rank), draw.randint(1, rank)))
            self.text, self.expected = f"ad.reverse %{name} axes {axes} : {self.type}", np.flip(self.array, axes)
        elif kind == "transpose":
            order = draw.sample(range(rank), rank)
            self.result = elements.tensor(element, [known[axis] for axis in order])
            self.text, self.expected = f"ad.transpose %{name} {order} : {self.type}", self.array.transpose(order)
        else:
            self.type = elements.tensor(element, shape)
            offsets = [draw.randrange(size) for size in shape]
            strides = [draw.choice([1, 1, 2, 3, 4, 7, 8, 9]) for _ in shape]
            sizes = [draw.choice([most, most, draw.randint(1, most)]) for most in
                     ((size - 1 - offset) // stride + 1 for size, offset, stride in zip(shape, offsets, strides))]
            self.result = elements.tensor(element, sizes)
            self.text = f"ad.slice %{name} {offsets} strides {strides} : {self.type} -> {self.result}"
            self.expected = self.array[tuple(slice(o, o + (n - 1) * s + 1, s) for o, n,
                                             s in zip(offsets, sizes, strides))]
        self.negated = draw.random() < 0.3
        if self.negated:
            self.expected = elements.encode(element, -elements.decode(element, self.expected))
        self.value = f"%{name}_negated" if self.negated else f"%{name}_moved"

    def lines(self):
        """The movement, and for some cases what is fused with it."""
        negation = f"  {self.value} = ad.neg %{self.name}_moved : {self.result}\n" if self.negated else ""
        return f"  %{self.name}_moved = {self.text}\n{negation}"


def program(cases):
    arguments = ", ".join(f'%{case.name}: {case.type} {{ad.name = "{case.name}"}}' for case in cases)
    results = ", ".join(f'{case.result} {{ad.name = "{case.name}"}}' for case in cases)
    body = "".join(case.lines() for case in cases)
    values = ", ".join(case.value for case in cases)
    types = ", ".join(case.result for case in cases)
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}  return {values} : {types}\n}}\n"


def wrong(kind, element, folder):
    draw, rng = random.Random(f"{SEED} {kind} {element}"), np.random.default_rng(SEED)
    cases = [Case(f"c{number}", kind, element, draw, rng) for number in range(COUNT)]
    (folder / "program.mlir").write_text(program(cases))
    command = [runner.binary("ad-runner"), folder / "program.mlir", "--cache", "off", "--out-dir", folder / "out"]
    for case in cases:
        elements.save(folder / f"{case.name}.npy", element, case.array)
        command += ["--arg", f"{case.name}={folder / case.name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()[:1000]}")
    for case in cases:
        found = elements.load(folder / "out" / f"{case.name}.npy", element)
        if not elements.same_bits(element, found, np.ascontiguousarray(case.expected)).all():
            yield f"{case.text}: differs from NumPy"


def main():
    return checks.run_checks("strided moves", [(f"{kind} {element}", functools.partial(wrong, kind, element))
                                               for kind in ("reverse", "slice", "transpose")
                                               for element in ("f32", "f64", "bf16", "i8")])


if __name__ == "__main__":
    sys.exit(main())
