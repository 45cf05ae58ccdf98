#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs whose operations share kernels: fusion must not change a bit.

Each case is a program of parts that fuse. In `strict` mode it gives the same bits with fusions grown and with a kernel
for each operation; in `reproducible` mode the CPU gives those of the reference interpreter, with one thread and
several, and with one of the variants: small tiles, a CPU with AVX2, or one without fused multiply-add.
What is received counts like results, in its order.

A failing case is reduced and written to a folder that is named. How many programs have a fusion of each kind is
printed; where a kind is rarer than 5 % of 200 programs or more, the campaign is not worth its name and fails too.
Closes with `fused: N run, N failed`."""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import batch
import campaign
import clusters
import runner
from programs import compare

# Runs by name; each is compared with another one. Those on THREADS are made for each number of threads above one.
# Batches take one of the VARIANTS by turns.
RUNS = {"on the reference": ["--target=reference", "--numerics=reproducible"],
        "unfused": ["--numerics=strict", "--fuse=single"]}
COMPARED = {
    "fused": ("unfused", ["--numerics=strict"]),
    "on the cpu": ("on the reference", ["--numerics=reproducible"]),
    "on THREADS threads": ("on the reference", ["--numerics=reproducible", "--threads=THREADS"]),
    "in small tiles on THREADS threads": ("on the reference",
                                          ["--numerics=reproducible", "--tiles=small", "--threads=THREADS"]),
    "on AVX2": ("on the reference", ["--numerics=reproducible", "--cpu=x86-64-v3"]),
    # Tiles are small there, since each multiply-add is a call.
    "without fma": ("on the reference", ["--numerics=reproducible", "--cpu=x86-64", "--tiles=small"]),
}
VARIANTS = ["in small tiles on THREADS threads", "on AVX2", "without fma"]
KINDS = ["elementwise", "dot", "rows", "points", "movement", "horizontal"]
MIN_SHARE = 0.05  # of the programs, for every kind
FRONTEND = ["--ad-to-cpu-frontend=numerics=strict", "--ad-to-cpu-fusion"]


def options_of(name):
    """The options of a run. Its name has a number of threads instead of THREADS."""
    if name in RUNS:
        return RUNS[name]
    count = re.search(r"\d+(?= threads)", name)
    options = COMPARED[name.replace(count[0], "THREADS") if count else name][1]
    return [option.replace("THREADS", count[0]) if count else option for option in options]


def base_of(name):
    return COMPARED[re.sub(r"\d+(?= threads)", "THREADS", name)][0]


def expand(names, threads):
    """The names of all runs; a run on THREADS occurs once for each number of threads."""
    return [name.replace("THREADS", str(count)) for name in names
            for count in (threads if "THREADS" in name else threads[:1]) if count > 1 or "THREADS" not in name]


def with_one_variant(names, number):
    """The names, with one of the variants among them."""
    variants = [name for name in names if name in VARIANTS]
    return [name for name in names if name not in VARIANTS or name == variants[number % len(variants)]]


def available():
    """The runs that this machine supports, found by running a small program."""
    program, names = "func.func @main() -> tensor<f32> {\n  %x = ad.constant dense<1.0> : tensor<f32>\n  return %x : tensor<f32>\n}", []
    for name in COMPARED:
        try:
            runner.run(program, [], [], options_of(name.replace("THREADS", "2")))
        except runner.Failure as failure:
            if failure.code not in (2, 4):
                raise
            print(f"not {name}: {failure}")
        else:
            names.append(name)
    return names


def run(programs, name, folder=None):
    return batch.run_each(programs, options_of(name), folder=folder)


def check(programs, names, whole=True):
    """Complaints about programs, in order: (name of the run, text) or None. Unless all of them count, the first run
    that gives complaints is the last."""
    complaints, known = [None] * len(programs), {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            base = base_of(name)
            for needed in (base, name):
                if needed not in known:
                    known[needed] = run(programs, needed, folder)
            for i, program in enumerate(programs):
                text = compare(program, known[base][i], known[name][i], (base, name))
                if text and not complaints[i]:
                    complaints[i] = (name, text)
            if any(complaints) and not whole:
                break
    return complaints


# What fusion made of the programs.

ENTRY = re.compile(r"  func\.func @p(\d+)\(")
FUSION = re.compile(r" = ad\.fusion (\w+) .*\{$")
MEMBER = re.compile(r"^\s+(?:(%\w+)(?::\d+)? = )?ad\.(\w+) ?(.*)$")
MOVED = {"slice", "transpose", "reshape"}
FREE = MOVED | {"constant", "full", "broadcast"}


def kinds_of(kind, lines):
    """The kinds of one fusion, from the lines of its body. Numbers of `arith`, as offsets of slices, are no members."""
    group, members, moved = {}, 0, False
    operations = [member.groups() for member in map(MEMBER.match, lines) if member]
    for result, name, rest in operations:
        moved |= name in MOVED
        if name not in FREE:
            members += 1
        # Members that read each other's results are one group.
        read = {group[v] for v in re.findall(r"%\w+", rest) if v in group}
        for value in [v for v, g in group.items() if g in read]:
            group[value] = result
        group[result] = result
    heads = {group[result] for result, name, _ in operations if name not in FREE}
    if moved and members:
        yield "movement"
    if len(heads) > 1:
        yield "horizontal"
    if members > 1 and kind == "reduce":
        yield "rows" if any("lanes = " in line for line in lines) else "points"
    elif members > 1:
        yield kind


def count_kinds(programs):
    """How many of the programs have a fusion of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "programs.mlir"
        path.write_text("".join(p.function(f"p{i}", None) for i, p in enumerate(programs)))
        done = subprocess.run([runner.binary("ad-opt"), str(path), *FRONTEND], capture_output=True, text=True)
    if done.returncode:  # the runs say which program it is
        return {}
    found, entry, fusion, body = collections.defaultdict(set), None, None, []
    for line in done.stdout.splitlines():
        if head := ENTRY.match(line):
            entry = int(head[1])
        elif head := FUSION.search(line):
            fusion, body = head[1], []
        elif fusion and "ad.yield" in line:
            for kind in kinds_of(fusion, body):
                found[kind].add(entry)
            fusion = None
        elif fusion:
            body.append(line)
    return {kind: len(found[kind]) for kind in found}


def report(given, number, programs, program, run_name, text):
    """Reduces and writes the program, or its whole batch if it only fails together with others."""
    folder = f"{given.out}/fused-{given.seed}-{number}"
    base = base_of(run_name)
    command = f"{campaign.environment()} ad-runner program.mlir {' '.join(options_of(run_name))} --print"
    fails = lambda p: check([p], [run_name])[0] is not None
    if not fails(program):
        path = runner.ROOT / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "batch.mlir").write_text(batch.module(programs))
        return pathlib.Path(folder) / "batch.mlir", text
    results = [result for op in program.ops for result in op.results]
    arrays = run([clusters.Program(program.arguments, program.ops, results)], "on the reference")[0]
    known = {} if isinstance(arrays, runner.Failure) else {v.name: a for v, a in zip(results, arrays)}
    program = campaign.reduce(program, fails, known)
    text = (check([program], [run_name])[0] or (None, text))[1]
    return campaign.write_program(folder, program, command, f"{text}\nCompared with: {' '.join(RUNS[base])}"), text


def main():
    parser = campaign.options(__doc__)
    campaign.add_threads(parser)
    parser.add_argument("--only", choices=list(COMPARED), help="the one run to compare")
    given = parser.parse_args()
    counts, kinds, failed = campaign.Counts(), collections.Counter(), 0
    names = [name for name in available() if given.only in (None, name)]

    def check_numbers(numbers):
        programs = [clusters.random_program(given.seed, number) for number in numbers]
        runs = expand(with_one_variant(names, numbers[0] // given.batch), campaign.threads_of(given, numbers))
        complaints = zip(numbers, programs, check(programs, runs, whole=given.keep > 0))
        return {"kinds": count_kinds(programs),
                **{number: (programs, program, complaint) for number, program, complaint in complaints}}

    for number, found in campaign.in_batches(check_numbers, given):
        if number == "kinds":
            kinds.update(found)
            continue
        programs, program, complaint = found
        counts.add(program)
        if complaint:
            failed += 1
            text = complaint[1]
            if failed <= given.keep:
                path, text = report(given, number, programs, program, *complaint)
                print(f"case {number}: {text.splitlines()[0][:300]}\n  {path}", flush=True)
    counts.show()
    print("programs with a fusion of a kind: " + ", ".join(f"{k} {100 * kinds[k] / max(given.count, 1):.0f} %"
                                                           for k in KINDS))
    rare = campaign.rare_kinds(given, kinds, KINDS, MIN_SHARE, 200, "have a fusion of kind")
    print(f"fused: {given.count} run, {failed} failed")
    return bool(failed or rare)


if __name__ == "__main__":
    sys.exit(main())
