#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs on the emulated GPU: the same bits as on the reference interpreter, in `reproducible` mode.

Even cases are random functions of several operations with control flow, odd ones programs of parts that fuse. The emulator also
looks for races, divergence, accesses out of bounds and misaligned ones, each of which fails the case.

A failing case is reduced and written to a folder that is named. Closes with `gpu-sim: N run, N failed`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import batch
import campaign
import clusters
import runner
from programs import compare, random_program

NAMES = ("on the reference", "on the emulated GPU")
OPTIONS = [["--target=reference", "--numerics=reproducible"], ["--target=gpu-sim", "--numerics=reproducible"]]


def make(seed, number):
    return clusters.random_program(seed, number) if number % 2 else random_program(seed, number)


def check(programs):
    """Complaints about programs, in order."""
    reference, emulated = (batch.run_each(programs, options) for options in OPTIONS)
    return [compare(p, r, e, NAMES) for p, r, e in zip(programs, reference, emulated)]


def report(given, number, program, complaint):
    fails = lambda p: check([p])[0] is not None
    results = [result for op in program.ops for result in op.results]
    arrays = batch.run_each([type(program)(program.arguments, program.ops, results)], OPTIONS[0])[0]
    known = {} if isinstance(arrays, runner.Failure) else {v.name: a for v, a in zip(results, arrays)}
    if fails(program):  # not only beside others
        program = campaign.reduce(program, fails, known)
        complaint = check([program])[0] or complaint
    command = f"ad-runner program.mlir {' '.join(OPTIONS[1])} --print"
    path = campaign.write_program(f"{given.out}/gpu-sim-{given.seed}-{number}", program, command, complaint)
    print(f"case {number}: {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    counts, failed = campaign.Counts(), 0

    def check_numbers(numbers):
        programs = [make(given.seed, number) for number in numbers]
        return {number: pair for number, *pair in zip(numbers, programs, check(programs))}

    for number, (program, complaint) in campaign.in_batches(check_numbers, given):
        counts.add(program)
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number, program, complaint)
    counts.show()
    print(f"gpu-sim: {given.count} run, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
