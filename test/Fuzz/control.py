#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random nests of scf.for, scf.while and scf.if: every target and every derivative against Python.

Loops have indices of every integer type, signed and unsigned, and bounds and steps at the ends of the type, with few
iterations. Carries are forwarded, duplicated, swapped and dropped. Python computes each program with exact integers and
NumPy: integers must be equal, f64 within a bound. The reference interpreter, the CPU with and without simplification
and the emulated GPU must give the same bits. About half of the programs have a derivative: the gradient by
ad.value_and_grad, along a random direction, must be the derivative that Python computes forwards. A run that does not
end fails.

A failing case is reduced and written to a folder that is named. How often each pattern of MLIR for scf was applied is
printed: with 1000 programs or more, an admitted one that was never applied fails the campaign, since nothing would
prove it. Closes with `control: N run, N failed`."""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import campaign
import runner
from control_draws import random_program
from control_flow import Program, types_of

RUNS = {"reference": ["--target=reference"], "-O0": ["-O0"], "cpu": [], "gpu-sim": ["--target=gpu-sim"]}
SECONDS = 60  # of a batch; one program takes less than one
BOUND = 1e-9  # relative to the largest number, which is about 1


def call(i, program):
    """Lines of @main that run program number i, and the (value, type) of its results: outputs, then the gradient."""
    given = ", ".join(f"%p{i}_{value.name}" for value, _ in program.arguments)
    types, results = types_of([v for v, _ in program.arguments]), types_of(program.outputs)
    lines = f"  %r{i}:{len(program.outputs)} = func.call @p{i}({given}) : ({types}) -> ({results})\n"
    returned = [(f"%r{i}#{k}", value.type) for k, value in enumerate(program.outputs)]
    if program.active is not None:
        active, aux = program.active.type, " has_aux" if len(program.outputs) > 1 else ""
        lines += (f"  %l{i}:{len(program.outputs) + 1} = ad.value_and_grad @p{i}({given}) wrt [0]{aux} : ({types}) -> "
                  f"({results}, {active})\n")
        returned.append((f"%l{i}#{len(program.outputs)}", active))
    return lines, returned


def module(programs):
    text, inputs, body, returned, names = "", [], "", [], []
    for i, program in enumerate(programs):
        text += program.function(f"p{i}")
        inputs += [f'%p{i}_{value.name}: {value.type} {{ad.name = "p{i}_{value.name}"}}' for value, _ in program.arguments]
        lines, results = call(i, program)
        body += lines
        names += [f"p{i}_r{k}" for k in range(len(results))]
        returned += results
    values, types = ", ".join(v for v, _ in returned), ", ".join(t for _, t in returned)
    outputs = ", ".join(f'{t} {{ad.name = "{name}"}}' for (_, t), name in zip(returned, names))
    return f"{text}func.func @main({', '.join(inputs)}) -> ({outputs}) {{\n{body}  return {values} : {types}\n}}\n", names


def element(type):
    return re.search(r"(\w+)>$", type)[1].rsplit("x", 1)[-1]


class Named:
    """A value as runner.write_arguments takes it."""

    def __init__(self, value, prefix=""):
        self.name, self.element = prefix + value.name, element(value.type)


def results_of(programs, options):
    """The results of each program, or its Failure."""
    text, names = module(programs)
    kinds = [element(type) for i, program in enumerate(programs) for _, type in call(i, program)[1]]
    try:
        with tempfile.TemporaryDirectory() as folder:
            given = [option for i, program in enumerate(programs) for option in runner.write_arguments(
                folder, [(Named(value), array) for value, array in program.arguments], f"p{i}_")]
            arrays = runner.run(text, given, list(zip(names, kinds)), ["--numerics=reproducible", *options],
                                timeout=SECONDS)
    except runner.Failure as failure:
        if len(programs) == 1:
            return [failure]
        half = len(programs) // 2
        return results_of(programs[:half], options) + results_of(programs[half:], options)
    return [[arrays[name] for name in names if name.startswith(f"p{i}_")] for i in range(len(programs))]


def compare(program, found):
    """A complaint about results of one target, or None."""
    if isinstance(found, runner.Failure):
        return str(found)
    outputs, slope = program.expected()
    for k, (value, expected, got) in enumerate(zip(program.outputs, outputs, found)):
        if got.dtype == np.int64 and np.array_equal(got, expected):
            continue
        close = got.dtype == np.float64 and got.shape == np.shape(expected)
        if close and np.allclose(got, expected, rtol=BOUND, atol=BOUND):
            continue
        return f"result {k} ({value}) is {got}, expected {expected}"
    if program.active is not None:
        along = float(np.sum(found[-1] * program.direction))
        terms = float(np.abs(found[-1] * program.direction).sum())
        if not abs(along - slope) <= BOUND * max(1e-3, terms, abs(slope)):
            return f"the gradient gives {along:.15g} along the direction, expected {float(slope):.15g}"
    return None


def check(programs):
    """Complaints about programs, in order."""
    complaints, first = [None] * len(programs), None
    for name, options in RUNS.items():
        every = results_of(programs, options)
        first = first or every
        for i, (program, found, base) in enumerate(zip(programs, every, first)):
            if complaints[i]:
                continue
            text = compare(program, found)
            if not text and not all(np.array_equal(a.view(np.int64), b.view(np.int64)) for a, b in zip(found, base)):
                text = "has other bits than the reference"
            complaints[i] = f"{name}: {text}" if text else None
    return complaints


def admitted_patterns():
    """Names of the patterns of MLIR for scf that may run."""
    listed = subprocess.run([runner.binary("ad-list-patterns"), "--upstream"], capture_output=True, text=True,
                            check=True)
    return {line.split(" ")[2] for line in listed.stdout.splitlines() if line.startswith("admitted scf.")}


def applied_patterns(programs):
    """How often simplification applied each pattern."""
    done = subprocess.run([runner.binary("ad-opt"), "--ad-to-cpu-frontend", "--remarks-filter=ad-simplify"],
                          input=module(programs)[0], capture_output=True, text=True)
    applied = collections.Counter()
    for count, name in re.findall(r"applied-pattern .*count=(\d+), pattern=(\S+)", done.stderr):
        applied[name] += int(count)
    return applied


def unproved(given, applied):
    """Admitted patterns that no program of a long campaign needed."""
    names = sorted(admitted_patterns())
    print("patterns: " + ", ".join(f"{name} {applied[name]}" for name in names))
    return [name for name in names if given.count >= 1000 and not applied[name]]


def reduce(program, fails):
    """The program with one output less as long as it still fails, and without operations that none needs."""
    for output in program.outputs[1:]:
        kept = [value for value in program.outputs if value is not output]
        smaller = Program(program.arguments, program.ops, kept, program.active, program.direction).used()
        program = smaller if fails(smaller) else program
    plain = Program(program.arguments, program.ops, program.outputs).used()
    return plain if fails(plain) else program.used()


def report(given, number, program, complaint):
    small = reduce(program, lambda p: check([p])[0] is not None)
    complaint = check([small])[0] or complaint
    path = campaign.write_case(f"{given.out}/control-{given.seed}-{number}", module([small])[0],
                               [(Named(value, "p0_"), array) for value, array in small.arguments],
                               "ad-runner program.mlir --numerics reproducible --print --cache off", complaint)
    print(f"case {number}: {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    kinds, applied, failed = collections.Counter(), collections.Counter(), 0

    def check_numbers(numbers):
        programs = [random_program(given.seed, number).used() for number in numbers]
        return {"applied": applied_patterns(programs),
                **{number: found for number, *found in zip(numbers, programs, check(programs))}}

    for number, found in campaign.in_batches(check_numbers, given):
        if number == "applied":
            applied += found
            continue
        program, complaint = found
        kinds.update(type(op).__name__ for op in program.all_ops())
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number, program, complaint)
    print("operations: " + ", ".join(f"{name} {count}" for name, count in sorted(kinds.items())))
    missing = unproved(given, applied)
    if missing:
        print(f"never applied: {', '.join(missing)}")
    print(f"control: {given.count} run, {failed} failed")
    return bool(failed or missing)


if __name__ == "__main__":
    sys.exit(main())
