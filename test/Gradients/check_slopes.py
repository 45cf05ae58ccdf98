# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Holds derivative rules of elementwise operations against MPFR, at points where floats have edges.

Usage: check_slopes.py [--element TYPE] [--target TARGET] [--only NAMES]

Each operation is differentiated at zeros, subnormal numbers, the largest numbers, infinities, NaN, equal operands, 200
random exponents and ordinary sizes, with cotangents of every magnitude. The bounds are those of docs/spec. Fails, too,
when an operation has a bound and no exact derivative in elementwise_cases.py, or the other way around.
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import checks
import elementwise_cases  # noqa: F401  (registers the exact derivatives)
import elements
import runner
import slope_oracle
from slope_bounds import bounds

# Their rules only choose or convert the cotangent; cases of elementwise_cases.py and random_numbers_test.py hold them.
MOVES = {"cast", "cast_stochastic", "select"}
COTANGENTS = 16


def adversarial(name, element):
    """(columns of points, cotangents): every point with several cotangents, every cotangent with many points."""
    rng = np.random.default_rng([ord(letter) for letter in name])
    special = slope_oracle.specials(element)
    if slope_oracle.SLOPES[name].operands == 1:
        low, high = slope_oracle.SLOPES[name].span
        columns = [np.concatenate([special, slope_oracle.random_exponents(rng, element, 200),
                                   slope_oracle.rounded(element, rng.uniform(low, high, 100))])]
    else:
        grid = np.array(np.meshgrid(special, special)).reshape(2, -1)
        grid = np.concatenate([grid, rng.choice(special, (1, grid.shape[1]))])
        drawn = slope_oracle.points(rng, name, element, 600)
        columns = [np.concatenate([fixed, column]) for fixed, column in zip(grid, drawn)]
    count = len(columns[0])
    columns = [np.tile(column, COTANGENTS) for column in columns]
    ends = rng.choice(special, (COTANGENTS // 4, count))
    others = slope_oracle.random_exponents(rng, element, (COTANGENTS - len(ends)) * count)
    return columns, np.concatenate([ends.reshape(-1), others])


def gradients(cases, target):
    """Per case (name, element, columns, cotangents) the gradients of all operands, as stored."""
    with tempfile.TemporaryDirectory() as folder:
        arguments, results = [], []
        for i, (name, element, columns, cotangents) in enumerate(cases):
            for letter, column in [*zip("xyz", columns), ("g", cotangents)]:
                path = f"{folder}/a{i}_{letter}.npy"
                elements.save(path, element, elements.encode(element, column))
                arguments.append(f"--arg=a{i}_{letter}={path}")
            results += [(f"a{i}_d{letter}", element) for letter, _ in zip("xyz", columns)]
        text = slope_oracle.module([(name, element, len(cotangents)) for name, element, _, cotangents in cases])
        found = runner.run(text, arguments, results, ["--target", target], timeout=1200)
    return [[found[f"a{i}_d{letter}"] for letter, _ in zip("xyz", case[2])] for i, case in enumerate(cases)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--element", choices=slope_oracle.TYPES, action="append")
    parser.add_argument("--target", default="reference")
    parser.add_argument("--only", help="names of operations: a,b,…")
    parser.add_argument("--show", action="store_true", help="print the largest error of each operation")
    options = parser.parse_args()
    stated = bounds()
    known = set(slope_oracle.SLOPES)
    failed = sorted(f"{name} has a bound and no exact derivative" for name in set(stated) - known - MOVES)
    failed += sorted(f"{name} has no bound in docs/spec/elementwise.md" for name in known - set(stated))
    names = options.only.split(",") if options.only else checks.sample(sorted(set(stated) & known), 6)
    count = 0
    for element in options.element or slope_oracle.TYPES:
        cases = [(name, element, *adversarial(name, element)) for name in names]
        for case, found in zip(cases, gradients(cases, options.target)):
            largest, where = slope_oracle.worst(*case, [elements.decode(element, array) for array in found])
            count += 1
            if options.show:
                print(f"{case[0]} {element}: {largest:.3g}")
            if largest > stated.get(case[0], 0.0):
                failed.append(f"{where}, but at most {stated.get(case[0])} ulp are stated")
    for line in failed:
        print(f"FAILED: {line}")
    print(f"slopes: {count} run, {len(failed)} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
