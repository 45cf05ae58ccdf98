#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs on the emulated GPU: the same bits as on the reference interpreter, in `reproducible` mode.

A third of the cases are random functions of several operations with control flow, a third programs of parts that fuse,
a third have a part for each class of kernels. The emulator also looks for races, divergence, accesses out of bounds and
misaligned ones, each of which fails the case.

A failing case is reduced and written to a folder that is named. How many programs and kernels are of each class is
printed; where a class is rarer than 10 % of 100 programs or more, the campaign is not worth its name and fails too.
Closes with `gpu-sim: N run, N failed`."""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import batch
import campaign
import clusters
import runner
from programs import compare, random_program

NAMES = ("on the reference", "on the emulated GPU")
OPTIONS = [["--target=reference", "--numerics=reproducible"], ["--target=gpu-sim", "--numerics=reproducible"]]


CLASSES = ["contraction", "row", "elementwise", "transposition", "sort", "generic"]
MIN_SHARE = 0.1  # of the programs, for every class
TO_KERNELS = ["--ad-to-cpu-frontend=numerics=reproducible", "--ad-to-gpu-fusion=optimize=0", "--ad-to-gpu-kernels",
              "--ad-emit-gpu",
              "--remarks-filter=ad-gpu"]
REMARK = re.compile(r":(\d+):\d+: remark: \[\w+\] (\w+)-class ")


def fresh(g, low, high):
    """An argument that nothing else reads, so that operations on it do not fuse with other kernels."""
    sizes = g.sizes(g.rank(low, high))
    return g.argument(g.element, sizes, g.static(sizes))


def transposition(g):
    x = fresh(g, 2, 3)
    order = [*range(1, x.rank), 0] if g.chance(0.5) else [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    static, sizes = [x.static[a] for a in order], [x.sizes[a] for a in order]
    return g.add("transpose", x.element, static, sizes, [x], f"ad.transpose {x} {order} : {x.type}",
                 attributes={"order": order})


def order(g):
    x = fresh(g, 1, 3)
    axis, descending = g.rank(0, x.rank - 1), g.chance(0.5)
    return g.add("argsort", "i64", x.static, x.sizes, [x],
                 f"ad.argsort {x} axis {axis}{' descending' if descending else ''} : {x.type}",
                 attributes={"axis": axis, "descending": descending})


PARTS = [
    transposition,
    order,
    lambda g: clusters.contraction(g, fresh(g, 2, 3)),
    lambda g: g.pick([clusters.norm, clusters.row_values])(g, fresh(g, 1, 3)),
    lambda g: clusters.chain(g, fresh(g, 1, 3)),
]


def program_of_classes(seed, number):
    g = clusters.ClusterGenerator(np.random.default_rng([seed, number, 3]))
    for part in g.rng.permutation(len(PARTS)):
        PARTS[part](g)
    return g.program()


def make(seed, number):
    return [random_program, clusters.random_program, program_of_classes][number % 3](seed, number)


def count_classes(programs):
    """{class: (programs that have a kernel of it, kernels)}."""
    text, ends = "", []
    for i, program in enumerate(programs):
        text += program.function(f"p{i}", None)
        ends.append(text.count("\n"))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "programs.mlir"
        path.write_text(text)
        done = subprocess.run([runner.binary("ad-opt"), str(path), *TO_KERNELS, "-o", "/dev/null"], capture_output=True,
                              text=True,
                              errors="replace")
    found = collections.defaultdict(list)
    for line, name in REMARK.findall(done.stderr):
        found[name].append(next(i for i, end in enumerate(ends) if int(line) <= end))
    return {name: (len(set(owners)), len(owners)) for name, owners in found.items()}


def check(programs):
    """Complaints about programs, in order."""
    reference, emulated = (batch.run_each(programs, options) for options in OPTIONS)
    return [compare(p, r, e, NAMES) for p, r, e in zip(programs, reference, emulated)]


def report(given, number, program, complaint):
    fails = lambda p: check([p])[0] is not None
    results = [result for op in program.ops for result in op.results]
    arrays = batch.run_each([type(program)(program.arguments, program.ops, results)], OPTIONS[0])[0]
    known = {} if isinstance(arrays, runner.Failure) else {v.name: a for v, a in zip(results, arrays)}
    if fails(program):  # also without the other programs of its batch
        program = campaign.reduce(program, fails, known)
        complaint = check([program])[0] or complaint
    command = f"ad-runner program.mlir {' '.join(OPTIONS[1])} --print"
    path = campaign.write_program(f"{given.out}/gpu-sim-{given.seed}-{number}", program, command, complaint)
    print(f"case {number}: {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    counts, failed = campaign.Counts(), 0

    programs_of, kernels_of = collections.Counter(), collections.Counter()

    def check_numbers(numbers):
        programs = [make(given.seed, number) for number in numbers]
        complaints = {number: pair for number, *pair in zip(numbers, programs, check(programs))}
        return {"classes": count_classes(programs), **complaints}

    for number, found in campaign.in_batches(check_numbers, given):
        if number == "classes":
            for name, (programs, kernels) in found.items():
                programs_of[name] += programs
                kernels_of[name] += kernels
            continue
        program, complaint = found
        counts.add(program)
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number, program, complaint)
    counts.show()
    print("classes: "
          + ", ".join(f"{name} {kernels_of[name]} kernels in {100 * programs_of[name] / max(given.count, 1):.0f} % of "
                                  "the programs" for name in CLASSES))
    rare = campaign.rare_kinds(given, programs_of, CLASSES, MIN_SHARE, 100, "have a kernel of class")
    print(f"gpu-sim: {given.count} run, {failed} failed")
    return bool(failed or rare)


if __name__ == "__main__":
    sys.exit(main())
