#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random graphs of scalar operations of `arith` and `math`, on every element type, with adversarial numbers.

Two cases of three are host programs: constants, arguments and constants after ad.barrier, through selections, branches
and loops. The reference interpreter, the CPU with and without simplification, and the emulated GPU must give what
numbers of Python say (Support/scalar_oracle.py). The third is a kernel of linalg.generic, whose lanes have numbers of
their own.

A failing case is reduced and written to a folder that is named. Closes with `scalars: N run, N failed`."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import batch
import campaign
import elements
import runner
import scalar_operations
from scalar_graphs import HOST, KERNEL
from scalar_programs import HostProgram, KernelProgram, results_of

RUNS = {
    HostProgram: {"on the reference": ["--target=reference"], "on the cpu": ["--target=cpu"],
                  "not simplified": ["--target=cpu", "-O0"], "on the emulated GPU": ["--target=gpu-sim"]},
    KernelProgram: {"on the reference": ["--target=reference"], "on the cpu": ["--target=cpu"],
                    "on AVX2": ["--target=cpu", "--cpu=x86-64-v3"], "on the emulated GPU": ["--target=gpu-sim"]},
}
KERNELS = 3  # one in KERNELS cases is a kernel


def make(seed, number):
    rng = np.random.default_rng([seed, number])
    while True:
        if number % KERNELS == KERNELS - 1:
            lanes = int(rng.integers(1, 70))
            graph = scalar_operations.grow(rng, KERNEL, lanes, constants=0.3)
            program = KernelProgram(graph.arguments, graph.steps, results_of(graph), lanes)
        else:
            graph = scalar_operations.grow(rng, HOST, constants=float(rng.choice([0.3, 0.6, 0.9])))
            program = HostProgram(graph.arguments, graph.steps, results_of(graph))
        if program.is_valid():
            return program


def complaint_about(program, name, results):
    if isinstance(results, runner.Failure):
        return f"{name}: {results}"
    for scalar, value, expected, array in zip(program.results, program.outputs, program.expected, results):
        wrong = np.flatnonzero(~elements.same_bits(value.element, array, expected))
        if len(wrong):
            at = int(wrong[0])
            got, right = (elements.decode(value.element, x.reshape(-1)[at:at + 1])[0] for x in (array, expected))
            return f"{scalar} of {scalar.element}: {got!r} {name}, expected {right!r} in lane {at}"
    return None


def check(programs):
    """The first complaint about each program, or None."""
    complaints = [None] * len(programs)
    for kind, runs in RUNS.items():
        mine = [i for i, program in enumerate(programs) if isinstance(program, kind)]
        for name, options in runs.items():
            found = batch.run_each([programs[i] for i in mine], options)
            for i, results in zip(mine, found):
                complaints[i] = complaints[i] or complaint_about(programs[i], name, results)
    return complaints


def reduced(program):
    return next((smaller for smaller in program.smaller() if check([smaller])[0]), program)


def report(given, number):
    program = reduced(make(given.seed, number))
    complaint = check([program])[0] or "does not fail alone"
    path = campaign.write_program(f"{given.out}/scalars-{given.seed}-{number}", program,
                                  "ad-runner program.mlir --print", complaint)
    print(f"case {number}: {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    parser = campaign.options(__doc__)
    parser.set_defaults(batch=48)  # the programs are small
    given = parser.parse_args()
    failed = 0
    batches = campaign.in_batches(
        lambda numbers: dict(zip(numbers, check([make(given.seed, number) for number in numbers]))), given)
    for number, complaint in batches:
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number)
    print(f"scalars: {given.count} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
