#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random scalar-valued f64 functions: gradients by ad.value_and_grad on the CPU against differences.

Each function is smooth near its arguments. For each argument the derivative along a random direction, from the
gradient, must agree with central differences of the function (Richardson's extrapolation), which the reference
interpreter computes. Many arguments are tried in groups, each along a direction of the whole group. Gradients have the
same bits on any number of threads. A failing case is reduced and written to a folder that is named. Closes with `gradients: N run, N failed`."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import batch
import campaign
import elements
import operations_attention  # noqa: F401, registers its operations
import operations_indexing  # noqa: F401, registers its operations
import operations_layers  # noqa: F401, registers its operations
import operations_nn  # noqa: F401, registers its operations
import operations_sorting  # noqa: F401, registers its operations
import operations_windows  # noqa: F401, registers its operations
import runner
from generator import Program
from smooth import SmoothGenerator

STEPS = [1e-3, 1e-4, 1e-5]
RELATIVE = 1e-6
# Functions of a hundred arguments exist: a difference for each would take minutes.
MAX_GROUPS = 8


class Case:
    def __init__(self, program, active, seed):
        self.program, self.active, self.seed = program, active, seed
        self.arrays = {value.name: array for value, array in program.arguments}

    def directions(self):
        rng = np.random.default_rng(self.seed)
        return {value.name: np.asarray(rng.normal(size=value.sizes)) for value in self.active}

    def groups(self):
        """The active arguments, those next to each other together when there are many."""
        count = min(len(self.active), MAX_GROUPS)
        return [self.active[i * len(self.active) // count:(i + 1) * len(self.active) // count] for i in range(count)]

    def gradient_text(self, name):
        """Lines of a @main that call the function with its gradient; (values, types, names of files)."""
        inputs = [value for value, _ in self.program.arguments]
        wrt = [inputs.index(value) for value in self.active]
        types = ["tensor<f64>"] + [value.type for value in self.active]
        operands = ", ".join(f"%{name}_{value.name}" for value in inputs)
        line = f"  %{name}:{len(types)} = ad.value_and_grad @{name}({operands}) wrt {wrt} : " \
               f"({', '.join(value.type for value in inputs)}) -> ({', '.join(types)})\n"
        return line, types


def gradient_module(cases):
    text, inputs, outputs, lines, returned = [], [], [], [], []
    for i, case in enumerate(cases):
        name = f"p{i}"
        text.append(case.program.function(name, prefix=None, visibility="private "))
        inputs += [f'%{name}_{value.name}: {value.type} {{ad.name = "{name}_{value.name}"}}'
                   for value, _ in case.program.arguments]
        line, types = case.gradient_text(name)
        lines.append(line)
        outputs += [f'{type} {{ad.name = "{name}_r{k}"}}' for k, type in enumerate(types)]
        returned += [(f"%{name}#{k}", type) for k, type in enumerate(types)]
    values, types = (", ".join(part) for part in zip(*returned))
    main = f"func.func @main({', '.join(inputs)}) -> ({', '.join(outputs)}) {{\n{''.join(lines)}  return {values} : {types}\n}}\n"
    return "".join(text) + main


def gradients(cases, target, threads=1, cache=None, options=()):
    """[value, gradient of each active argument] of each case, or its Failure. `options` are others of ad-runner."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            arguments = [option for i, case in enumerate(cases)
                         for option in runner.write_arguments(folder, case.program.arguments, f"p{i}_")]
            names = [(f"p{i}_r{k}", "f64") for i, case in enumerate(cases) for k in range(len(case.active) + 1)]
            arrays = runner.run(gradient_module(cases), arguments, names,
                                [f"--target={target}", f"--threads={threads}", *options],
                                folder=cache)
    except runner.Failure as failure:
        if len(cases) == 1:
            return [failure]
        half = len(cases) // 2
        return (gradients(cases[:half], target, threads, options=options)
                + gradients(cases[half:], target, threads, options=options))
    return [[arrays[f"p{i}_r{k}"] for k in range(len(case.active) + 1)] for i, case in enumerate(cases)]


def shifted(case, group, amount):
    """The program with the arguments of a group shifted along their directions."""
    directions = case.directions()
    arguments = [(value, array + amount * directions[value.name] if value in group else array)
                 for value, array in case.program.arguments]
    return Program(arguments, case.program.ops, case.program.outputs)


def differences(cases):
    """For each case and group of arguments the derivative along its direction, one per step size."""
    programs = [shifted(case, group, factor * step) for case in cases for group in case.groups() for step in STEPS
                for factor in (1, -1, 0.5, -0.5)]
    results = iter(batch.run_each(programs, ["--target=reference"]))
    every = []
    for case in cases:
        of_case = []
        for _ in case.groups():
            estimates = []
            for step in STEPS:
                values = [next(results) for _ in range(4)]
                failure = next((v for v in values if isinstance(v, runner.Failure)), None)
                if failure:
                    estimates.append(failure)
                    continue
                a, b, c, d = (float(v[0]) for v in values)
                estimates.append((4 * (c - d) / step - (a - b) / (2 * step)) / 3)
            of_case.append(estimates)
        every.append(of_case)
    return every


def complaint_about(case, results, estimates):
    if isinstance(results, runner.Failure):
        return str(results)
    scale = max(1.0, abs(float(results[0])))
    directions, along = case.directions(), {}
    for value, gradient in zip(case.active, results[1:], strict=True):
        if gradient.shape != value.sizes:
            return f"the gradient of {value} has shape {gradient.shape}, expected {value.sizes}"
        along[value.name] = gradient * directions[value.name]
    for group, of_group in zip(case.groups(), estimates, strict=True):
        failure = next((e for e in of_group if isinstance(e, runner.Failure)), None)
        if failure:
            return str(failure)
        derivative = sum(float(np.sum(along[value.name])) for value in group)
        weight = sum(float(np.sum(np.abs(along[value.name]))) for value in group)
        # One step size suffices: large ones may reach a kink, small ones have few digits.
        if not any(abs(derivative - e) <= RELATIVE * (abs(e) + weight + scale) for e in of_group):
            shown = ", ".join(f"{e:.9g}" for e in of_group)
            names = ", ".join(str(value) for value in group)
            return f"along a direction of {names} the gradient gives {derivative:.9g}, differences give {shown}"
    return None


def compare_bits(results, others, where):
    """A complaint about the results of another run. Failures of the first run are reported elsewhere."""
    if isinstance(results, runner.Failure):
        return None
    if isinstance(others, runner.Failure):
        return f"{where}: {others}"
    for number, (one, other) in enumerate(zip(results, others, strict=True)):
        if one.shape != other.shape or not np.all(elements.same_bits("f64", one, other)):
            return f"result {number} has other bits {where}"
    return None


def check(cases, target="cpu", threads=(1,)):
    with tempfile.TemporaryDirectory() as cache:
        first, *others = [gradients(cases, target, count, cache) for count in threads]
    complaints = [complaint_about(case, result, estimate)
                  for case, result, estimate in zip(cases, first, differences(cases))]
    for count, results in zip(threads[1:], others):
        complaints = [complaint or compare_bits(one, more, campaign.on_threads(count))
                      for complaint, one, more in zip(complaints, first, results)]
    return complaints


def make_case(seed, number):
    rng = np.random.default_rng([seed, number])
    program, active = SmoothGenerator(rng).function(int(rng.integers(1, 8)))
    return Case(program, active, [seed, number, 1])


def same_case(case, program):
    """The case with another program; arguments that replace operations are differentiated too."""
    known = {value.name for value in case.active}
    made = {result.name for op in case.program.ops for result in op.results}
    active = [v for v, _ in program.arguments if v.name in known or (v.name in made and v.element == "f64")]
    return Case(program, active, case.seed)


def report(given, number, case, complaint, threads):
    def fails(program):
        smaller = same_case(case, program)
        return bool(smaller.active) and check([smaller], threads=threads)[0] is not None

    outputs = [result for op in case.program.ops for result in op.results]
    known = batch.run_each([Program(case.program.arguments, case.program.ops, outputs)], ["--target=reference"])[0]
    known = {} if isinstance(known, runner.Failure) else {v.name: a for v, a in zip(outputs, known)}
    small = same_case(case, campaign.reduce(case.program, fails, known))
    complaint = check([small], threads=threads)[0] or complaint
    on_reference = check([small], "reference")[0]
    complaint += f"\nThe gradient on the reference: {on_reference or 'agrees with the differences'}"
    arguments = [(value, array) for value, array in small.program.arguments]
    text = gradient_module([small]).replace('ad.name = "p0_', 'ad.name = "')
    path = campaign.write_case(f"{given.out}/gradients-{given.seed}-{number}", text, arguments,
                               f"{campaign.environment()} ad-runner program.mlir --print --threads {threads[-1]}",
                               complaint)
    print(f"case {number}: {complaint[:400]}\n  {path}", flush=True)


def main():
    parser = campaign.options(__doc__)
    campaign.add_threads(parser)
    given = parser.parse_args()
    counts, failed = campaign.Counts(), 0

    def check_numbers(numbers):
        cases = [make_case(given.seed, number) for number in numbers]
        threads = campaign.threads_of(given, numbers)
        return {number: (case, complaint, threads)
                for number, case, complaint in zip(numbers, cases, check(cases, threads=threads))}

    for number, (case, complaint, threads) in campaign.in_batches(check_numbers, given):
        counts.add(case.program)
        if complaint:
            if failed < given.keep:
                report(given, number, case, complaint, threads)
            failed += 1
    counts.show()
    print(f"gradients: {given.count} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
