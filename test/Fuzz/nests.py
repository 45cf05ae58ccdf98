#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random loop nests and ordered writes of a foreign dialect: sums and multiples of loops, indices from data, accesses
outside of tensors, combiners of several values, dynamic sizes, with operations of `ad` before and after.

NumPy, the reference interpreter, the CPU on one thread and three, and the emulated GPU give the same numbers. An index
that means an error ends the program with the same message on all targets. A failing case is written to a folder that is
named. Closes with `nests: N run, N failed`."""

import collections
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import campaign
import elements
import nest_cases
import runner

RUNS = {"on the reference interpreter": ["--target=reference"], "on one thread": ["--target=cpu", "--threads=1"],
        "on three threads": ["--target=cpu", "--threads=3"], "on the emulated GPU": ["--target=gpu-sim"]}
KINDS = ["loops without a reduction", "reductions", "writes", "errors", "dynamic sizes", "named kernels"]
MIN_SHARE = 0.03
TOOL = runner.binary("ad-runner-nests")


def module(cases):
    """One function for each case {number: case}, all called by @main."""
    text, arguments, body, returned = [], [], [], []
    for number, case in cases.items():
        types, lines, values = case.values()
        listed = ", ".join(f"%{o.name}: {o.type}" for o in case.operands)
        joined = "\n  ".join([*lines, f"return {', '.join(values)} : {', '.join(types)}"])
        text.append(f"func.func private @f{number}({listed}) -> ({', '.join(types)}) {{\n  {joined}\n}}\n")
        arguments += [f'%f{number}_{o.name}: {o.type} {{ad.name = "f{number}_{o.name}"}}' for o in case.operands]
        given = ", ".join(f"%f{number}_{o.name}" for o in case.operands)
        body.append(f"%r{number}:{len(types)} = func.call @f{number}({given}) : "
                    f"({', '.join(o.type for o in case.operands)}) -> ({', '.join(types)})")
        returned += [(f"%r{number}#{i}", type_, f"f{number}_r{i}") for i, type_ in enumerate(types)]
    results = ", ".join(f'{type_} {{ad.name = "{name}"}}' for _, type_, name in returned)
    names, types = (", ".join(part) for part in list(zip(*returned))[:2])
    joined = "\n  ".join([*body, f"return {names} : {types}"])
    return "".join(text) + f"func.func @main({', '.join(arguments)}) -> ({results}) {{\n  {joined}\n}}\n"


def run(cases, options):
    """{number: arrays, or the Failure}"""
    try:
        with tempfile.TemporaryDirectory() as folder:
            given, names = [], []
            for number, case in cases.items():
                for operand in case.operands:
                    path = pathlib.Path(folder) / f"f{number}_{operand.name}.npy"
                    elements.save(path, operand.element, operand.array)
                    given.append(f"--arg=f{number}_{operand.name}={path}")
                names += [(f"f{number}_r{i}", type_[:-1].split("x")[-1].replace("tensor<", ""))
                          for i, type_ in enumerate(case.values()[0])]
            if "--target=reference" in options:  # a trace shows operations, not the code that they are made of
                options = [*options, f"--trace={folder}/trace"]
            arrays = runner.run(module(cases), given, names, ["--numerics=reproducible", *options], tool=TOOL)
            return {number: [arrays[f"f{number}_r{i}"] for i in range(len(case.values()[0]))]
                    for number, case in cases.items()}
    except runner.Failure as failure:
        if len(cases) == 1:
            return dict.fromkeys(cases, failure)
    numbers = list(cases)
    middle = len(numbers) // 2
    halves = [{n: cases[n] for n in part} for part in (numbers[:middle], numbers[middle:])]
    return run(halves[0], options) | run(halves[1], options)


def differs(expected, found):
    """Zeros of either sign are equal: NumPy's maximum takes either."""
    return expected.dtype != found.dtype or expected.shape != found.shape or not np.array_equal(expected, found.astype(expected.dtype), equal_nan=True)


def message(failure):
    """The first error, without the folder of its program."""
    lines = [line for line in failure.text.splitlines() if "error:" in line]
    return re.sub(r"\S*/program.mlir", "program.mlir", lines[0]) if lines else str(failure)


def complaint_about(expected, runs):
    """What is wrong with the results of one case on all targets {name: results}."""
    for name, results in runs.items():
        if isinstance(expected, nest_cases.Refused):
            if not isinstance(results, runner.Failure) or str(expected) not in message(results):
                return f"{name}: expected an error, {expected}, but got {results}"
        elif isinstance(results, runner.Failure):
            return f"{name}: {results}"
        else:
            for number, (wanted, found) in enumerate(zip(expected, results)):
                if differs(wanted, found):
                    return f"{name}: result {number}: expected {wanted.tolist()}, but got {found.tolist()}"
    texts = {message(r) if isinstance(r, runner.Failure) else str([a.tobytes() for a in r]) for r in runs.values()}
    return None if len(texts) == 1 else f"targets differ: {texts}"


def check(numbers, seed):
    """{number: (case, what is expected, complaint)}"""
    cases = {number: nest_cases.make(seed, number) for number in numbers}
    expected = {}
    for number, case in cases.items():
        try:
            expected[number] = case.expected()
        except nest_cases.Refused as refusal:
            expected[number] = refusal
    runs = collections.defaultdict(dict)
    for name, options in RUNS.items():
        legal = {n: case for n, case in cases.items() if not isinstance(expected[n], nest_cases.Refused)}
        found = run(legal, options) if legal else {}
        for number in cases.keys() - legal.keys():
            found |= run({number: cases[number]}, options)
        for number, results in found.items():
            runs[number][name] = results
    return {n: (case, expected[n], complaint_about(expected[n], runs[n])) for n, case in cases.items()}


def kinds_of(case, expected):
    yield KINDS[2] if case.writes else KINDS["r" in case.loops]
    if isinstance(expected, nest_cases.Refused):
        yield KINDS[3]
    if any(operand.open for operand in case.operands):
        yield KINDS[4]
    if any(operand.named for operand in case.operands):
        yield KINDS[5]


def report(given, number, case, complaint):
    arguments = [(operand, operand.array) for operand in case.operands]
    text = module({0: case}).replace('ad.name = "f0_', 'ad.name = "')
    path = campaign.write_case(f"{given.out}/nests-{given.seed}-{number}", text, arguments,
                               "ad-runner-nests program.mlir --numerics=reproducible --print", complaint)
    print(f"case {number}: {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    os.environ["ADJOINT_PARALLEL_ALWAYS"] = "1"
    given = campaign.options(__doc__).parse_args()
    kinds, failed = collections.Counter(), 0
    for number, (case, expected, complaint) in campaign.in_batches(lambda numbers: check(numbers, given.seed), given):
        kinds.update(kinds_of(case, expected))
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number, case, complaint)
    print(", ".join(f"{kind} {100 * kinds[kind] / max(given.count, 1):.0f} %" for kind in KINDS))
    rare = campaign.rare_kinds(given, kinds, KINDS, MIN_SHARE, 100, "are")
    print(f"nests: {given.count} run, {failed} failed")
    return bool(failed or rare)


if __name__ == "__main__":
    sys.exit(main())
