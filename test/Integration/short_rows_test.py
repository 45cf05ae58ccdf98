# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Sums over the lanes of short rows, of which a vector takes as many together as it has lanes: random lengths, numbers
and layouts of rows, element types and producers. The CPU gives the bits of the reference interpreter. Closes with
`short rows: N run, N failed`."""

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
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 128, 129, 255, 256, 257]
ROWS = [1, 2, 3, 8, 15, 16, 17, 18, 31, 32, 33, 50, 64, 100]
KINDS = ["plain", "product", "absolute", "exponential", "scaled", "sliced", "columns", "two axes", "mean of sums",
         "deviation"]


def tensor(element, *shape):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Case:
    """One reduction, as lines of a program and its arguments."""

    def __init__(self, number, element):
        self.draw = draw = random.Random(1000 * SEED + number)
        self.name, self.element, self.kind = f"c{number}", element, KINDS[number % len(KINDS)]
        self.function = draw.choice(["sum", "sum", "max", "min"])
        self.rows, self.length = draw.choice(ROWS), draw.choice(LENGTHS)
        self.lead = draw.choice([(), (), (2,), (1, 3)])
        self.known = draw.random() < 0.8  # the number of rows, to the compiler
        self.arguments, self.lines = [], []
        self.write(np.random.default_rng(1000 * SEED + number))

    def describe(self):
        return f"{self.function} of {self.kind} {(*self.lead, self.rows, self.length)} {self.element}"

    def argument(self, rng, *shape, type=None):
        name = f"{self.name}_{len(self.arguments)}"
        self.arguments.append((name, elements.random(rng, self.element, shape, special=0.01 * self.draw.choice([0, 1])),
                               type or tensor(self.element, *shape)))
        return f"%{name}", self.arguments[-1][2]

    def add(self, text):
        self.lines.append(f"  %{self.name}_v{len(self.lines)} = {text}\n")
        return f"%{self.name}_v{len(self.lines) - 1}"

    def reduce(self, value, type, axis, result):
        return self.add(f"ad.reduce_{self.function} {value} axes [{axis}] : {type} -> {result}")

    def write(self, rng):
        e, rank = self.element, len(self.lead) + 2
        known = [*self.lead, self.rows, self.length]
        if self.kind == "columns":  # memory runs along the rows, not along what is summed
            known[-2:] = [self.length, self.rows]
        shape = list(known)
        if not self.known and self.kind not in ("columns", "sliced", "two axes", "mean of sums"):
            known[0] = "?"
        type = tensor(e, *known)
        value, _ = self.argument(rng, *shape, type=type)
        result = tensor(e, *known[:-1])
        if self.kind == "product":
            other, _ = self.argument(rng, *shape, type=type)
            value = self.add(f"ad.mul {value}, {other} : {type}")
        elif self.kind == "scaled":  # by a vector along the row
            other, other_type = self.argument(rng, self.length)
            value = self.add(f"ad.mul {value}, {other} : {type}, {other_type}")
        elif self.kind == "absolute":
            value = self.add(f"ad.abs {value} : {type}")
        elif self.kind == "exponential" and elements.is_float(e):
            value = self.add(f"ad.exp {value} : {type}")
        elif self.kind == "sliced":
            sizes = [*shape[:-1], (self.length + 1) // 2]
            part = tensor(e, *sizes)
            value = self.add(f"ad.slice {value} [{', '.join('0' * rank)}] strides [{'1, ' * (rank - 1)}2] : {type} -> {part}")
            type = part
        elif self.kind == "columns":
            transposed = tensor(e, *self.lead, self.rows, self.length)
            order = [*range(rank - 2), rank - 1, rank - 2]
            value, type = self.add(f"ad.transpose {value} {order} : {type}"), transposed
            result = tensor(e, *self.lead, self.rows)
        elif self.kind == "deviation" and elements.is_float(e):
            mean = self.add(f"ad.reduce_mean {value} axes [{rank - 1}] : {type} -> {result}")
            column = tensor(e, *known[:-1], 1)
            if self.known:
                mean = self.add(f"ad.reshape {mean} : {result} -> {column}")
                value = self.add(f"ad.sub {value}, {mean} : {type}, {column}")
        elif self.kind == "mean of sums":
            value, type = self.reduce(value, type, rank - 1, result), result
            rank, result = rank - 1, tensor(e, *known[:-2])
        axes = rank - 1
        if self.kind == "two axes":
            axes, result = f"{rank - 2}, {rank - 1}", tensor(e, *known[:-2])
        self.result = self.reduce(value, type, axes, result), result


def program(cases):
    arguments = ", ".join(f'%{name}: {type} {{ad.name = "{name}"}}' for case in cases for name, _,
                          type in case.arguments)
    results = ", ".join(f'{case.result[1]} {{ad.name = "{case.name}"}}' for case in cases)
    values, types = (", ".join(part) for part in zip(*(case.result for case in cases)))
    body = "".join(line for case in cases for line in case.lines)
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}  return {values} : {types}\n}}\n"


def run(folder, cases, target, *options):
    out = folder / "".join((target, *options))
    command = [runner.binary("ad-runner"), folder / "program.mlir", "--target", target, "--cache", "off", "--out-dir",
               out, *options]
    for case in cases:
        for name, _, _ in case.arguments:
            command += ["--arg", f"{name}={folder / name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{target}: exit code {done.returncode}: {done.stderr.strip()[:1000]}")
    return {case.name: elements.load(out / f"{case.name}.npy", case.element) for case in cases}


def wrong(element, first, folder):
    cases = [Case(first + number, element) for number in range(3 * len(KINDS))]
    (folder / "program.mlir").write_text(program(cases))
    for case in cases:
        for name, array, _ in case.arguments:
            elements.save(folder / f"{name}.npy", element, array)
    reference = run(folder, cases, "reference")
    for options in ((), ("--threads", "2"), ("--tiles", "small")):
        found = run(folder, cases, "cpu", *options)
        for case in cases:
            if not elements.same_bits(case.element, found[case.name], reference[case.name]).all():
                yield f"{case.describe()} {' '.join(options)}: the CPU differs from the reference"


def main():
    types = ["f32", "f64", "bf16", "f16", "i32", "i8"]
    return checks.run_checks("short rows", [(element, functools.partial(wrong, element, 100 * number))
                                            for number, element in checks.sample(enumerate(types), 2)])


if __name__ == "__main__":
    sys.exit(main())
