# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What campaigns of generated programs share: options, batches in parallel, reduction, files of failing cases,
counts."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import warnings

import elements
import runner
from generator import Program
from runner import ROOT


def options(description):
    warnings.filterwarnings("ignore", category=RuntimeWarning)
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="how many cases to make")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case, to run one again")
    parser.add_argument("--batch", type=int, default=16, help="cases in one module")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 4), help="processes at a time")
    parser.add_argument("--keep", type=int, default=20, help="how many failing cases to reduce and write")
    parser.add_argument("--out", default="build/fuzz", help="folder of failing cases")
    return parser


THREADS = [1, 2, 3, 7, 67]


def add_threads(parser):
    """Lets cases run on several threads. Every launch of more than one unit is divided, however little work it is."""

    def counts(text):
        return [int(count) for count in text.split(",")]

    parser.add_argument("--threads", type=counts, metavar="N,N…",
                        help="numbers of threads that each case runs on, which give the "
                        f"same bits, e.g. {','.join(map(str, THREADS))} (default: 1 and another one of these, in turn)")
    os.environ["ADJOINT_PARALLEL_ALWAYS"] = "1"


def threads_of(given, numbers):
    """The numbers of threads for a batch of cases: all that are given, or one and the next in turn."""
    others = THREADS[1:]
    return given.threads or [1, others[numbers[0] // given.batch % len(others)]]


def on_threads(count):
    return f"on {count} thread{'s' * (count != 1)}"


ARRAY_OFFSETS = [0, 4, 16, 32, 48]


def environment():
    """The settings under which the cases of this campaign run, as words before a command."""
    names = ["ADJOINT_ARRAY_OFFSET", "ADJOINT_PARALLEL_ALWAYS"]
    return " ".join(f"{name}={os.environ[name]}" for name in names if name in os.environ)


def in_batches(check, given):
    """check([case number]) → {number: complaint} over all cases, in parallel; yields the complaints. The seed decides
    where arrays begin, in bytes after a multiple of 64."""
    os.environ["ADJOINT_ARRAY_OFFSET"] = str(ARRAY_OFFSETS[given.seed % len(ARRAY_OFFSETS)])
    numbers = list(range(given.first, given.first + given.count))
    parts = [numbers[i:i + given.batch] for i in range(0, len(numbers), given.batch)]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for complaints in pool.map(check, parts):
            yield from complaints.items()


def reduce(program, fails, known=None):
    """The program with as few operations and outputs as still fail. `known` gives values of operations by name, by
    which arguments can replace what made them."""
    for output in program.outputs:
        smaller = Program(program.arguments, program.ops, [output]).used()
        if len(program.outputs) > 1 and fails(smaller):
            program = smaller
            break
    for op in program.ops[::-1] + program.ops:
        if op not in program.ops or any(result in program.outputs for result in op.results):
            continue
        arrays = [(known or {}).get(result.name) for result in op.results]
        if any(array is None or array.shape != result.sizes for array, result in zip(arrays, op.results)):
            continue
        arguments = program.arguments + list(zip(op.results, arrays))
        smaller = Program(arguments, [o for o in program.ops if o is not op], program.outputs).used()
        if fails(smaller):
            program = smaller
    return program


def write_program(folder, program, command, complaint):
    """write_case for one program as @main."""
    path = write_case(folder, program.function("main", ""), program.arguments, command, complaint)
    options = runner.write_feeds(ROOT / folder, program, "main")
    if options:
        (ROOT / path).write_text(f"// {' '.join(options)}\n" + (ROOT / path).read_text())
    return path


def write_case(folder, text, arguments, command, complaint):
    """A folder with the program, its arguments and, at the head of the program, how to run it."""
    path = ROOT / folder
    path.mkdir(parents=True, exist_ok=True)
    options = []
    for value, array in arguments:
        elements.save(path / f"{value.name}.npy", value.element, array)
        options.append(f"--arg {value.name}={value.name}.npy")
    head = "".join(f"// {line}\n" for line in [*complaint.splitlines(), f"{command} {' '.join(options)}"])
    (path / "program.mlir").write_text(head + text)
    return pathlib.Path(folder) / "program.mlir"


def rare_kinds(given, counts, kinds, share, least, what):
    """The kinds of which fewer than that share of the cases are, in a campaign of at least `least` cases. They are
    named: what was hardly drawn is not tested."""
    rare = [kind for kind in kinds if given.count >= least and counts[kind] < share * given.count]
    if rare:
        print(f"too few programs {what} {', '.join(rare)}")
    return rare


class Counts:
    """How often operations and element types occurred."""

    def __init__(self):
        self.operations, self.types = collections.Counter(), collections.Counter()

    def add(self, program):
        for op in program.all_ops():
            self.operations[op.mnemonic] += 1
            self.types.update({value.element for value in [*op.results, *op.operands]})

    def show(self):
        for title, counter in (("operations", self.operations), ("types", self.types)):
            print(f"{title}: " + ", ".join(f"{name} {n}" for name, n in sorted(counter.items())))
