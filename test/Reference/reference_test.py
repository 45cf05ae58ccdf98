#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Holds the reference interpreter against NumPy in f64, op by op: every operation on every element type, on random
attributes and shapes (static, dynamic, empty, 1, longer than lanes and blocks). Movement, integers and correctly
rounded operations must agree bit for bit; functions and sums within their bounds. Closes with `N run, N failed`."""

import argparse
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import batch
import operations_attention  # noqa: F401, registers its operations
import operations_indexing  # noqa: F401, registers its operations
import operations_layers  # noqa: F401, registers its operations
import operations_nn  # noqa: F401, registers its operations
import operations_sorting  # noqa: F401, registers its operations
import operations_windows  # noqa: F401, registers its operations
import oracle
import oracle_sums
import runner
from generator import Generator, Program
from operations import CATALOGUE


def special_share(mnemonic, rng):
    """Infinities and NaN in a sum say little and make every bound infinite; elsewhere they are the point."""
    sums = mnemonic in oracle_sums.TABLE and mnemonic not in ("reduce_max", "reduce_min", "argmax", "argmin")
    return 0.0 if sums else float(rng.choice([0.0, 0.3]))


def make_case(mnemonic, element, seed):
    rng = np.random.default_rng(seed)
    generator = Generator(rng, special=special_share(mnemonic, rng), constants=0.05)
    CATALOGUE[mnemonic][1](generator, element)
    return Program(generator.arguments, generator.ops, [generator.ops[-1].result]).used()


def check(program, results):
    """The complaint about a case, or None. A constant among the operands is known from its own attributes."""
    op = program.ops[-1]
    if isinstance(results, runner.Failure):
        return str(results)
    arrays = {value.name: array for value, array in program.arguments}
    arrays.update({o.result.name: o.attributes["value"] for o in program.ops if o.mnemonic == "constant"})
    operands = [arrays[value.name] for value in op.operands]
    wrong = oracle.differences(op, operands, results[0])
    if not len(wrong):
        return None
    want, _ = oracle.expected(op, operands)
    at = int(wrong[0])
    got = oracle.decode(op.result.element, results[0]).reshape(-1)
    want = np.broadcast_to(np.asarray(want), results[0].shape).reshape(-1)
    values = [oracle.decode(v.element, a) for v, a in zip(op.operands, operands)]
    shown = f"got {got[at]!r}, expected {want[at]!r}" if got.size and want.size else f"got shape {results[0].shape}"
    return f"{len(wrong)} of {got.size} elements differ, the first at {at}: {shown}; operands start " + \
        ", ".join(repr(v.reshape(-1)[:4].tolist()) for v in values)


def main():
    warnings.filterwarnings("ignore", category=RuntimeWarning)  # means of nothing are meant
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=6, help="instances of each operation and element type")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one operation")
    options = parser.parse_args()
    cases = [(name, element, make_case(name, element, [options.seed, number, i]))
             for number, (name, (types, _)) in enumerate(CATALOGUE.items()) if options.only in (None, name)
             for i, element in enumerate(t for t in types for _ in range(options.each))]
    failed = 0
    for start in range(0, len(cases), 200):
        part = cases[start:start + 200]
        results = batch.run_each([program for _, _, program in part], ["--target=reference", "--numerics=reproducible"])
        for (name, element, program), result in zip(part, results):
            complaint = check(program, result)
            if complaint:
                failed += 1
                print(f"ad.{name} on {element}: {complaint}\n{program.function('f')}")
    print(f"{len(cases)} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
