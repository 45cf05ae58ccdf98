#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradients of elementwise operations at random points, with random cotangents, against MPFR.

A case is one operation in one of f16, bf16, f32 and f64, at points of special numbers, random exponents and ordinary
sizes. Its gradients on the reference interpreter are within the bounds of docs/spec/elementwise.md, and those on the
CPU and the emulated GPU have the same bits. A failing case is reduced to its first point that fails alone, and written
to a folder that is named. Closes with `slopes: N run, N failed`."""

import collections
import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "Support"), str(TESTS / "Gradients")]

import numpy as np

import campaign
import elementwise_cases  # noqa: F401  (registers the exact derivatives)
import elements
import runner
import slope_oracle
from slope_bounds import bounds

POINTS = 64
TARGETS = ["cpu", "gpu-sim"]


class Case:
    def __init__(self, seed, number):
        rng = np.random.default_rng([seed, number])
        self.name = str(rng.choice(sorted(set(slope_oracle.SLOPES) & set(bounds()))))
        self.element = str(rng.choice(slope_oracle.TYPES))
        self.columns = slope_oracle.points(rng, self.name, self.element, POINTS)
        special = rng.random(POINTS) < 0.2
        self.cotangents = np.where(special, rng.choice(slope_oracle.specials(self.element), POINTS),
                                   slope_oracle.random_exponents(rng, self.element, POINTS))

    def arrays(self):
        """[(letter, values)] of the arguments."""
        return [*zip("xyz", self.columns), ("g", self.cotangents)]

    def results(self):
        return [f"d{letter}" for letter, _ in zip("xyz", self.columns)]

    def at(self, index):
        """The case with one of its points."""
        one = object.__new__(Case)
        one.name, one.element = self.name, self.element
        one.columns = [column[index:index + 1] for column in self.columns]
        one.cotangents = self.cotangents[index:index + 1]
        return one


def gradients(cases, target):
    """[gradient of each operand, as stored] of each case, or its Failure."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            arguments = []
            for i, case in enumerate(cases):
                for letter, values in case.arrays():
                    path = f"{folder}/a{i}_{letter}.npy"
                    elements.save(path, case.element, elements.encode(case.element, values))
                    arguments.append(f"--arg=a{i}_{letter}={path}")
            names = [(f"a{i}_{name}", case.element) for i, case in enumerate(cases) for name in case.results()]
            text = slope_oracle.module([(case.name, case.element, len(case.cotangents)) for case in cases])
            found = runner.run(text, arguments, names, ["--target", target])
    except runner.Failure as failure:
        if len(cases) == 1:
            return [failure]
        half = len(cases) // 2
        return gradients(cases[:half], target) + gradients(cases[half:], target)
    return [[found[f"a{i}_{name}"] for name in case.results()] for i, case in enumerate(cases)]


def complaint_about(case, results, stated):
    """What is wrong with the gradients on the reference."""
    if isinstance(results, runner.Failure):
        return str(results)
    decoded = [elements.decode(case.element, array) for array in results]
    largest, where = slope_oracle.worst(case.name, case.element, case.columns, case.cotangents, decoded)
    return f"{where}, at most {stated} ulp are stated" if largest > stated else None


def difference(case, expected, found, target):
    """What is wrong with the gradients on another target."""
    if isinstance(found, runner.Failure):
        return f"{target}: {found}"
    for name, one, other in zip(case.results(), expected, found):
        wrong = np.flatnonzero(~elements.same_bits(case.element, one, other))
        if len(wrong):
            at = ", ".join(float(values[wrong[0]]).hex() for _, values in case.arrays())
            values = (float(elements.decode(case.element, array)[wrong[0]]).hex() for array in (one, other))
            return f"{name} of {case.name} in {case.element} at ({at}): {target} {' has not the bits of '.join(values)}"
    return None


def check(cases):
    stated = bounds()
    reference = gradients(cases, "reference")
    complaints = [complaint_about(case, results, stated[case.name]) for case, results in zip(cases, reference)]
    for target in TARGETS:
        for i, found in enumerate(gradients(cases, target)):
            if not complaints[i] and not isinstance(reference[i], runner.Failure):
                complaints[i] = difference(cases[i], reference[i], found, target)
    return complaints


def report(given, number, case, complaint):
    """Writes the first point that fails alone, else the whole case."""
    for index in range(len(case.cotangents)):
        if alone := check([case.at(index)])[0]:
            case, complaint = case.at(index), alone
            break
    folder = pathlib.Path(given.out) / f"slopes-{given.seed}-{number}"
    (runner.ROOT / folder).mkdir(parents=True, exist_ok=True)
    options = []
    for letter, values in case.arrays():
        elements.save(runner.ROOT / folder / f"a0_{letter}.npy", case.element, elements.encode(case.element, values))
        options.append(f"--arg a0_{letter}=a0_{letter}.npy")
    text = slope_oracle.module([(case.name, case.element, len(case.cotangents))])
    head = f"// {complaint}\n// ad-runner program.mlir --print {' '.join(options)}\n"
    (runner.ROOT / folder / "program.mlir").write_text(head + text)
    print(f"case {number}: {complaint[:400]}\n  {folder / 'program.mlir'}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    drawn, failed = collections.Counter(), 0

    def check_numbers(numbers):
        cases = [Case(given.seed, number) for number in numbers]
        return {number: (case, complaint) for number, case, complaint in zip(numbers, cases, check(cases))}

    for number, (case, complaint) in campaign.in_batches(check_numbers, given):
        drawn[f"{case.name} {case.element}"] += 1
        if complaint:
            if failed < given.keep:
                report(given, number, case, complaint)
            failed += 1
    print(f"operations and types: {len(drawn)}, the rarest {min(drawn.values(), default=0)} times")
    print(f"slopes: {given.count} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
