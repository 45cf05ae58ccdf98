# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Proves derivative rules of one family by differences in f64.

Usage: check.py FAMILY [--target TARGET] [--order 1|2 | --element TYPE] [--known-sizes] [--only WORDS] [--one-in N]
[--keep DIR]

With --element the gradients in that float type are held against those in f64, which checks where rules round. With
--known-sizes only cases with dynamic arguments are taken, and their sizes are constants that the types do not say.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
import checks  # noqa: E402

import cases  # noqa: E402
from program import Writer, check, compare_types, gradient, known_primal, narrow_primal, primal  # noqa: E402

CASES_PER_PROGRAM = 24
# The error of the differences grows with the derivatives in between.
TOLERANCE_OF_ORDER = {1: 1.0, 2: 20.0}


# Absolute, in roundings to the type: gradients are of order one. Values that a rule reads are rounded, and so is its
# result.
ROUNDINGS = 6
TOLERANCE_OF_ELEMENT = {"f32": ROUNDINGS * 2.0**-24, "f16": ROUNDINGS * 2.0**-11, "bf16": ROUNDINGS * 2.0**-8}

# Random numbers are on a grid, a different one for each argument, so that no two are nearer than the steps of the
# differences: maxima, comparisons and absolute values have no kink in between.
GRID = 64


class Module:
    """One program with many cases: functions, and a main function with all inputs as arguments."""

    def __init__(self, primal_of=primal):
        self.random = random.Random()
        self.primal_of = primal_of
        self.functions, self.parameters, self.inputs = [], [], {}
        self.writer = Writer()
        # A program has to give something back.
        self.last = None

    def numbers(self, argument, phase):
        count = int(numpy.prod(argument.run_time_shape(), dtype=int))
        cells = self.random.sample(range(GRID), count) if count <= GRID else self.random.choices(range(GRID), k=count)
        width = (argument.high - argument.low) / GRID
        return numpy.array([argument.low + (cell + phase) * width for cell in cells]).reshape(argument.run_time_shape())

    def add_input(self, argument, name, phase=0.5):
        if argument.values is not None:
            kind = {"i32": numpy.int32, "i64": numpy.int64}[argument.element]
            data = numpy.array(argument.values, kind).reshape(argument.run_time_shape())
        else:
            data = self.numbers(argument, phase)
        self.inputs[name] = data
        self.parameters.append(f"%{name}: {argument.mlir()} {{ad.name = \"{name}\"}}")
        return f"%{name}"

    def add(self, case, index, order):
        self.random.seed(f"{case.name} {case.seed}")
        text, function = self.primal_of(case, f"f{index}_{case.name}")
        self.functions.append(text)
        if order == 2:
            text, function = gradient(function, f"g{index}_{case.name}")
            self.functions.append(text)
        values = [self.add_input(argument, f"c{index}_a{i}", (i + 1) / (len(function.arguments) + 1))
                  for i, argument in enumerate(function.arguments)]
        if case.value and order == 1:
            self.add_value(case, index, function, values)
        random_like = [self.direction(argument) for argument in function.gradient_types()]
        directions = [self.add_input(argument, f"c{index}_v{i}") for i, argument in enumerate(random_like)]
        random_like = [self.direction(argument) for argument in function.results]
        cotangents = [self.add_input(argument, f"c{index}_w{i}") for i, argument in enumerate(random_like)]
        self.writer.emit(f"// {case.op}: {case.name}")
        self.last = check(self.writer, function, values, directions, cotangents,
                          case.tolerance * TOLERANCE_OF_ORDER[order])

    def add_value(self, case, index, function, values):
        """Compares the result with that of NumPy."""
        name, kind = f"c{index}_y", case.result.mlir()
        self.inputs[name] = case.value(*(self.inputs[value[1:]] for value in values))
        self.parameters.append(f"%{name}: {kind} {{ad.name = \"{name}\"}}")
        [actual] = function.call(self.writer, values)
        self.writer.emit(f"check.expect_almost_eq({actual}, %{name}) {{relative, tolerance = 1.0e-14 : f64}} : {kind}")

    def add_narrow(self, case, index, element):
        self.random.seed(f"{case.name} {case.seed}")
        text, wide = primal(case, f"f{index}_{case.name}")
        narrow_text, function = narrow_primal(case, f"n{index}_{case.name}", element)
        self.functions += [text, narrow_text]
        values = [self.add_input(argument, f"c{index}_a{i}", (i + 1) / (len(wide.arguments) + 1))
                  for i, argument in enumerate(wide.arguments)]
        random_like = [self.direction(argument) for argument in wide.results]
        cotangents = [self.add_input(argument, f"c{index}_w{i}") for i, argument in enumerate(random_like)]
        self.writer.emit(f"// {case.op}: {case.name}")
        compare_types(self.writer, wide, function, values, cotangents,
                      TOLERANCE_OF_ELEMENT[element] * max(1, case.factors / ROUNDINGS))
        self.last = self.writer.number(0.0)

    @staticmethod
    def direction(argument):
        return cases.Argument(argument.type, argument.run_time_shape())

    def text(self):
        main = f"func.func @main({', '.join(self.parameters)}) -> tensor<f64> {{"
        end = [f"  return {self.last} : tensor<f64>", "}"]
        return "\n".join(self.functions + [main] + self.writer.lines + end) + "\n"


def run(module, folder, target):
    path = os.path.join(folder, "program.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(module.text())
    command = ["ad-runner", "--target", target, "--cache", "off"]
    for name, data in module.inputs.items():
        numpy.save(os.path.join(folder, name + ".npy"), data)
        command += ["--arg", f"{name}={os.path.join(folder, name)}.npy"]
    return subprocess.run(command + [path]).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("family", choices=sorted(cases.FAMILIES))
    parser.add_argument("--target", default="reference")
    parser.add_argument("--order", type=int, default=1, choices=[1, 2])
    parser.add_argument("--element", choices=sorted(TOLERANCE_OF_ELEMENT))
    parser.add_argument("--known-sizes", action="store_true", help="dynamic types, constant sizes")
    parser.add_argument("--only", default="", help="cases whose name contains one of these words (a,b,…)")
    parser.add_argument("--one-in", type=int, default=1, metavar="N",
                        help="each Nth case, from one that $ADJOINT_SAMPLE chooses (a number; scripts/test.sh takes that "
                        "of the commit)")
    parser.add_argument("--keep", help="write programs and inputs here")
    options = parser.parse_args()
    chosen = [case for case in cases.FAMILIES[options.family]
              if any(word in case.name for word in options.only.split(","))
              and (options.order == 1 or case.second_order)]
    unknown = [word for word in options.only.split(",") if not any(word in case.name for case in chosen)]
    if unknown:
        sys.exit(f"no case of the family {options.family} is named {', '.join(unknown)}")
    if options.known_sizes:
        chosen = [case for case in chosen if any(argument.is_dynamic() for argument in case.arguments)]
    chosen = checks.sample(chosen, options.one_in)
    if not chosen:
        sys.exit(f"the family {options.family} has no such case")
    for start in range(0, len(chosen), CASES_PER_PROGRAM):
        module = Module(known_primal if options.known_sizes else primal)
        for index, case in enumerate(chosen[start:start + CASES_PER_PROGRAM], start):
            if options.element:
                module.add_narrow(case, index, options.element)
            else:
                module.add(case, index, options.order)
        with tempfile.TemporaryDirectory() as temporary:
            folder = options.keep or temporary
            os.makedirs(folder, exist_ok=True)
            code = run(module, folder, options.target)
        if code != 0:
            sys.exit(code)
    what = f"in {options.element}" if options.element else f"of order {options.order}"
    sizes = " with known sizes" if options.known_sizes else ""
    print(f"{len(chosen)} cases {what} on {options.target}{sizes}")


if __name__ == "__main__":
    main()
