#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs of --ad-to-plain-linalg, which mlir-opt and mlir-runner of upstream compile and run.

Each case is a random function of `ad`, without streams of the host, which must give the bits of the reference
interpreter in `reproducible`, a random kernel of linalg.generic, which must give those of NumPy in the order that is
written on it, and a random graph of scalar operations, which must give what numbers of Python say.

A failing case is written to a folder that is named. Closes with `plain: N run, N failed`."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import batch
import campaign
import linalg
import linalg_cases
import plain
import programs
import runner
import scalars


def text_complaint(text, arguments, results):
    """What is wrong with the plain form of a module. `arguments` and `results` of @main are [(element type, array)]."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        try:
            count = plain.differences(plain.convert(path), "main", arguments, results)
        except (plain.Failure, subprocess.TimeoutExpired) as failure:
            return str(failure)
    return f"{count} elements have other bits" if count else None


def of_programs(some):
    """A module with these functions, with what it needs and gives; None where the reference interpreter fails."""
    given = batch.run_each(some, ["--target=reference", "--numerics=reproducible"])
    if any(isinstance(results, runner.Failure) for results in given):
        return None
    arguments = [(value.element, array) for program in some for value, array in program.arguments]
    results = [(value.element, array) for program, arrays in zip(some, given)
               for value, array in zip(program.outputs, arrays)]
    return batch.module(some), arguments, results


def of_kernels(some):
    arguments = [(value.element, value.array) for kernel in some for value in kernel.arguments]
    results = [(value.element, value.array) for kernel in some for value in kernel.results]
    return linalg.module(some), arguments, results


def of_scalars(some):
    arguments = [(value.element, array) for program in some for value, array in program.arguments]
    results = [(value.element, array) for program in some for value, array in zip(program.outputs, program.expected)]
    return batch.module(some), arguments, results


def complaints(cases, make):
    """{number: complaint} about cases {number: case}; those of a module that fails run alone."""
    if not cases:
        return {}
    made = make(list(cases.values()))
    wrong = text_complaint(*made) if made else "the reference interpreter fails"
    if not wrong or len(cases) == 1:
        return {number: wrong for number in cases}
    return {number: complaint for number, case in cases.items()
            for complaint in complaints({number: case}, make).values()}


def is_stream(op):
    return "feed" in op.attributes or "receive" in op.attributes


def main():
    parser = campaign.options(__doc__)
    given = parser.parse_args()
    counts, failed, run = campaign.Counts(), set(), 0

    def check(numbers):
        functions = {number: programs.random_program(given.seed, number) for number in numbers}
        functions = {number: program for number, program in functions.items()
                     if not any(map(is_stream, program.all_ops()))}
        kernels = {number: linalg_cases.make(given.seed, number, illegal=False) for number in numbers}
        graphs = {number: scalars.make(given.seed, number) for number in numbers}
        found = {(number, "function"): (functions[number], wrong)
                 for number, wrong in complaints(functions, of_programs).items()}
        found.update({(number, "kernel"): (kernels[number], wrong)
                      for number, wrong in complaints(kernels, of_kernels).items()
                      if not (wrong and any(reason in wrong for reason in linalg.REFUSALS))})
        found.update({(number, "scalars"): (graphs[number], wrong)
                      for number, wrong in complaints(graphs, of_scalars).items()})
        return found

    for (number, kind), (case, wrong) in campaign.in_batches(check, given):
        run += 1
        if kind == "function":
            counts.add(case)
        if not wrong:
            continue
        failed.add((number, kind))
        if len(failed) > given.keep:
            continue
        is_kernel = kind == "kernel"
        text = linalg.module([case]) if is_kernel else case.function("main", "")
        values = [(value, value.array) for value in case.arguments] if is_kernel else case.arguments
        path = campaign.write_case(f"{given.out}/plain-{given.seed}-{number}-{kind}", text, values,
                                   "ad-opt program.mlir --ad-to-plain-linalg=numerics=reproducible; arguments:", wrong)
        print(f"case {number} ({kind}): {wrong.splitlines()[0][:300]}\n  {path}", flush=True)
    counts.show()
    print(f"plain: {run} run, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
