#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random scalar-valued functions of arguments whose sizes are dynamic: a function and its gradients have the same bits
on every target, whether the sizes that it compares are equal or one is 1 and broadcast.

A program has a version for equal sizes (ad-specialize-sizes), which one unequal pair turns off, so each is compiled by
itself. In `reproducible` mode the CPU, on one thread or several, and for each fourth case the emulated GPU give the
bits of the reference interpreter; gradients have the shapes of their arguments. A failing case is written to a folder
that is named. How many programs have two versions, with equal sizes and with others, is printed; where either is rarer
than 8 % of 20 programs or more, the campaign is not worth its name and fails too. Closes with `sizes: N run, N
failed`."""

import collections
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import campaign
import gradients
import operations_attention  # noqa: F401, registers its operations
import operations_indexing  # noqa: F401, registers its operations
import operations_layers  # noqa: F401, registers its operations
import operations_nn  # noqa: F401, registers its operations
import operations_sorting  # noqa: F401, registers its operations
import operations_windows  # noqa: F401, registers its operations
import runner
from smooth import SmoothGenerator

PASSES = ["--ad-set-numerics", "--ad-differentiate", "--inline", "--symbol-dce", "--ad-specialize-sizes"]
REPRODUCIBLE = "--numerics=reproducible"
ON_GPU = 4  # each such case runs on the emulated GPU, which takes long to compile
MIN_SHARE = 0.08  # of the programs, for each kind
NAMES = ["with equal sizes", "with a size of 1"]


class SizesGenerator(SmoothGenerator):
    """Arguments leave most of their sizes open; in most programs none of these is broadcast at run time."""

    def __init__(self, rng):
        super().__init__(rng)
        self.open, self.constants = 0.0, 0.0
        self.dynamic = float(rng.choice([0.5, 1.0]))
        self.repeated = float(rng.choice([0.0, 0.0, 0.2]))

    def size(self):
        """No 1, which is broadcast, in most programs."""
        size = super().size()
        return size if size != 1 or self.repeated else 2


def make_case(seed, number):
    rng = np.random.default_rng([seed, number, 3])
    program, active = SizesGenerator(rng).function(int(rng.integers(1, 9)))
    return gradients.Case(program, active, [seed, number])


def results_of(case, target, threads=1):
    """The value and the gradient of each active argument, or the failure of the run."""
    return gradients.gradients([case], target, threads, options=[REPRODUCIBLE])[0]


def complaint_about(case, number):
    expected = results_of(case, "reference")
    if isinstance(expected, runner.Failure):
        return f"on the reference: {expected}"
    for value, gradient in zip(case.active, expected[1:]):
        if gradient.shape != value.sizes:
            return f"the gradient of {value} has shape {gradient.shape}, expected {value.sizes}"
    threads = 1 + number % 3
    on_cpu = results_of(case, "cpu", threads)
    on_gpu = results_of(case, "gpu-sim") if number % ON_GPU == 0 else expected
    return (gradients.compare_bits(expected, on_cpu, f"on the cpu, {campaign.on_threads(threads)}")
            or gradients.compare_bits(expected, on_gpu, "on the emulated gpu"))


def has_versions(case):
    """Whether the whole program is a branch with a test of sizes of the arguments."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(gradients.gradient_module([case]))
        done = subprocess.run([runner.binary("ad-opt"), str(path), *PASSES], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    ends = (before.startswith("    }") and line.startswith("    return") for before, line in zip(lines, lines[1:]))
    return any(ends) and "ad.reshape" in done.stdout


def repeats(case):
    """Whether an open size of an argument is 1, which is then mostly broadcast."""
    return any(size is None and number == 1 for value, _ in case.program.arguments
               for size, number in zip(value.static, value.sizes))


def main():
    given = campaign.options(__doc__).parse_args()
    counts, kinds, failed = campaign.Counts(), collections.Counter(), 0

    def check_numbers(numbers):
        cases = {number: make_case(given.seed, number) for number in numbers}
        return {number: (case, has_versions(case), complaint_about(case, number)) for number, case in cases.items()}

    for number, (case, versions, complaint) in campaign.in_batches(check_numbers, given):
        counts.add(case.program)
        if versions:
            kinds[NAMES[repeats(case)]] += 1
        if not complaint:
            continue
        failed += 1
        if failed <= given.keep:
            path = campaign.write_case(
                f"{given.out}/sizes-{given.seed}-{number}",
                gradients.gradient_module([case]).replace('ad.name = "p0_', 'ad.name = "'), case.program.arguments,
                f"{campaign.environment()} ad-runner program.mlir {REPRODUCIBLE} --print", complaint)
            print(f"case {number}: {complaint.splitlines()[0][:300]}\n  {path}", flush=True)
    counts.show()
    print("programs of two versions: " + ", ".join(f"{name} {100 * kinds[name] / max(given.count, 1):.0f} %"
                                                   for name in NAMES))
    rare = campaign.rare_kinds(given, kinds, NAMES, MIN_SHARE, 20, "have two versions and are")
    print(f"sizes: {given.count} run, {failed} failed")
    return bool(failed or rare)


if __name__ == "__main__":
    sys.exit(main())
