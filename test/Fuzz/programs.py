#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random well-typed `ad` functions: the CPU against the reference interpreter.

Each case is two programs. The first is a random function of several operations, which must give the same bits on both
targets in `reproducible` mode (NaN equals NaN), on any number of threads, and with one of the variants: another CPU,
tile table, fusion policy, or no simplification. The second is one operation in `strict` mode on the CPU, which must be
as near to NumPy's f64 as the specification says: the same bits for movement, integers and correctly rounded operations,
else |error| <= gamma_k * sum |a_i b_i| plus the bounds of the elementary functions; more threads give the same bits.

A failing case is reduced and written to a folder that is named. Closes with `programs: N run, N failed`."""

import functools
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import batch
import campaign
import control
import elements
import operations_attention  # noqa: F401, registers its operations
import operations_indexing  # noqa: F401, registers its operations
import operations_layers  # noqa: F401, registers its operations
import operations_nn  # noqa: F401, registers its operations
import operations_sorting  # noqa: F401, registers its operations
import operations_windows  # noqa: F401, registers its operations
import oracle
import oracle_sums
import runner
from elements import ALL
from generator import Generator, Program
from operations import CATALOGUE

NAMES = sorted(CATALOGUE)
CONTROL, CONTROL_IN_CHAINS = 0.12, 0.3  # the share of control flow among operations
MODE = {"random": "reproducible", "single": "strict"}
# One for each batch of random programs, on the CPU.
VARIANTS = {
    "in small tiles": ["--tiles=small"],
    "on AVX2": ["--cpu=x86-64-v3"],
    "without fma": ["--cpu=x86-64", "--tiles=small"],
    "unfused": ["--fuse=single"],
    "fused by layers": ["--fuse=layers", "--cpu=x86-64-v3", "--tiles=small"],
    "not simplified": ["-O0"],
}


def grow(generator):
    """Adds one operation: each is as likely as any other, and so is each of its element types. Some are control
    flow."""
    if generator.depth < control.DEEPEST and generator.chance(CONTROL_IN_CHAINS if generator.types else CONTROL):
        control.grow_control(generator, grow)
        return
    types, make = CATALOGUE[generator.pick(NAMES)]
    make(generator, generator.pick([t for t in types if t in (generator.types or types)] or types))


def random_program(seed, number):
    """Half of the programs are long chains: of one element type, so that operations find values, and with known sizes,
    for which memory is planned."""
    generator = Generator(np.random.default_rng([seed, number, 0]))
    if generator.chance(0.5):
        generator.types, generator.reuse, generator.alike = [generator.pick(ALL), "i1"], 0.9, 0.75
        generator.dynamic = generator.pick([0.0, 0.3])
    for _ in range(generator.rank(1, 12 if generator.types else 8)):
        grow(generator)
    return generator.program()


def single_program(seed, number):
    """One operation; the cases cycle through all operations. Sums get no infinities or NaN, which would make their
    bounds meaningless."""
    rng = np.random.default_rng([seed, number, 1])
    name = NAMES[number % len(NAMES)]
    special = 0.0 if name in oracle_sums.TABLE else float(rng.choice([0.0, 0.3]))
    generator = Generator(rng, special=special, constants=0.05)
    types, make = CATALOGUE[name]
    make(generator, generator.pick(types))
    return Program(generator.arguments, generator.ops, [generator.ops[-1].result]).used()


def run(programs, target, kind, threads=1, folder=None, options=()):
    own = [f"--target={target}", f"--numerics={MODE[kind]}", f"--threads={threads}"]
    return batch.run_each(programs, [*own, *options], folder=folder)


@functools.cache
def variants():
    """The variants that this machine can run."""
    number = Generator(np.random.default_rng(0))
    number.constant("f32", (), np.zeros((), np.float32))
    results = {name: batch.run_each([number.program()], options)[0] for name, options in VARIANTS.items()}
    lacking = {name: result for name, result in results.items()
               if isinstance(result, runner.Failure) and "which this machine lacks" in result.text}
    for name, failure in lacking.items():
        print(f"not {name}: {failure}")
    return [name for name in VARIANTS if name not in lacking]


def variant_of(given, numbers):
    """One variant for a batch of cases."""
    return variants()[numbers[0] // given.batch % len(variants())]


# The complaint about a case, or None.

def compare(program, reference, cpu, names=("on the reference", "on the cpu")):
    for name, results in zip(names, (reference, cpu)):
        if isinstance(results, runner.Failure):
            return f"{name}: {results}"
    for value, left, right in zip(program.outputs + program.received(), reference, cpu):
        if left is None or right is None:
            if left is not right:
                return f"{value}: received only {names[0 if right is None else 1]}"
            continue
        if left.shape != right.shape:
            return f"{value}: has shape {left.shape} {names[0]}, {right.shape} {names[1]}"
        wrong = np.flatnonzero(~elements.same_bits(value.element, left, right))
        if len(wrong):
            at = int(wrong[0])
            a, b = (elements.decode(value.element, x.reshape(-1)[at:at + 1])[0] for x in (left, right))
            return f"{value}: {len(wrong)} of {left.size} elements differ, the first at {at}: " \
                   f"{a!r} {names[0]}, {b!r} {names[1]}"
    return None


def compare_with_oracle(program, cpu):
    if isinstance(cpu, runner.Failure):
        return f"cpu: {cpu}"
    op = program.ops[-1]
    arrays = {value.name: array for value, array in program.arguments}
    arrays.update({o.result.name: o.attributes["value"] for o in program.ops if o.mnemonic == "constant"})
    wrong = oracle.differences(op, [arrays[value.name] for value in op.operands], cpu[0])
    if not len(wrong):
        return None
    return f"ad.{op.mnemonic}: {len(wrong)} of {cpu[0].size} elements are not what NumPy says, the first at {int(wrong[0])}"


def check(programs, kind, threads, variant):
    """Complaints about programs, in order; they run on each of the numbers of threads, random ones as the variant,
    too."""
    with tempfile.TemporaryDirectory() as folder:
        first, *others = [run(programs, "cpu", kind, count, folder) for count in threads]
    names = [campaign.on_threads(count) for count in threads]
    if kind == "single":
        complaints = [compare_with_oracle(p, c) for p, c in zip(programs, first)]
    else:
        complaints = [compare(p, r, c) for p, r, c in zip(programs, run(programs, "reference", kind), first)]
        others.append(run(programs, "cpu", kind, threads[-1], options=VARIANTS[variant]))
        names.append(f"{variant} {names[-1]}")
    for name, other in zip(names[1:], others):
        complaints = [c or compare(p, one, more, (names[0], name))
                      for c, p, one, more in zip(complaints, programs, first, other)]
    return complaints


def intermediate_values(program):
    """The results of the reference interpreter for each operation of the program, by name."""
    outputs = [result for op in program.ops for result in op.results]
    results = run([Program(program.arguments, program.ops, outputs)], "reference", "random")[0]
    return {} if isinstance(results, runner.Failure) else {v.name: a for v, a in zip(outputs, results)}


def report(given, number, kind, program, complaint, threads, variant):
    options = ""
    if kind == "random":
        program = campaign.reduce(program, lambda p: check([p], kind, threads, variant)[0] is not None,
                                  intermediate_values(program))
        complaint = check([program], kind, threads, variant)[0] or complaint
        options = " ".join(["", *VARIANTS[variant]]) if variant in complaint else ""
    path = campaign.write_case(f"{given.out}/programs-{given.seed}-{number}-{kind}", program.function("main", ""),
                               program.arguments,
                               f"{campaign.environment()} ad-runner program.mlir --numerics {MODE[kind]} "
                               f"--print --target cpu --threads {threads[-1]}{options}", complaint)
    print(f"case {number} ({kind}): {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    parser = campaign.options(__doc__)
    campaign.add_threads(parser)
    given = parser.parse_args()
    counts, failed = campaign.Counts(), set()

    def check_numbers(numbers):
        complaints, threads, variant = {}, campaign.threads_of(given, numbers), variant_of(given, numbers)
        for kind, make in (("random", random_program), ("single", single_program)):
            programs = [make(given.seed, number) for number in numbers]
            for number, program, complaint in zip(numbers, programs, check(programs, kind, threads, variant)):
                complaints[number, kind] = (program, complaint, threads, variant)
        return complaints

    for (number, kind), (program, complaint, *setting) in campaign.in_batches(check_numbers, given):
        counts.add(program)
        if complaint:
            if len(failed) < given.keep:
                report(given, number, kind, program, complaint, *setting)
            failed.add(number)
    counts.show()
    print(f"programs: {given.count} run, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
