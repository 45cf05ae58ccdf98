#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Two runs that differ by one planted change: the tools of ad-diff name the change, or say that it is not known.

Each case is one kind of change: an edited operation, argument or feed of a random program; another numerics mode or
target; two kernels of an operation; an operation that makes NaNs or infinities, also of constants; two tensors that
differ in one element; two tables of records of the same fingerprints. What the runs have computed says what is true:

- a tool never says that values are equal, or that a bound holds, where their bits differ;
- the first difference is the planted operation, and no other operation is named as edited;
- NaNs and infinities are those of the planted operation;
- a cause that `bisect` finds is the exchanged kernel, and is proved.

A failing case is written to a folder that is named. With 100 cases or more, a kind of change that was made in less than
half of its cases fails the campaign, since little was proved of it. Closes with `diff: N run, N failed`."""

import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy as np

import campaign
import planted
import plants
import programs
import runner
from plants import SECONDS, execute

TRIES = 12  # changes of a program until one of them runs


def trace(folder, text, given, name, options=()):
    """The folder of a trace of the program, or None if it does not run."""
    place = folder / f"program-{name}"
    place.mkdir(exist_ok=True)
    (place / "program.mlir").write_text(text)
    done = execute("ad-runner", place / "program.mlir", *given, "--cache=off", *options, f"--trace={folder / name}",
                   "--trace-tensors=all")
    return folder / name if done.returncode == 0 else None


def records(trace_folder):
    """The rows of a trace, as {column: text}."""
    header, *rows = [line.split("\t") for line in (trace_folder / "records.tsv").read_text().split("\n") if line]
    return [dict(zip(header, row)) for row in rows]


def outputs(trace_folder):
    """{(name, execution): hash} of results and received values."""
    return {(row["name"], row["run"]): row["hash"] for row in records(trace_folder) if row["kind"] == "OUTPUT"}


def without(trace_folder, name, columns):
    """A copy of the table of a trace with blanks in some columns; its kept tensors stay."""
    target = trace_folder.parent / name
    shutil.copytree(trace_folder, target)
    lines = (trace_folder / "records.tsv").read_text().split("\n")
    blank = [lines[0].split("\t").index(column) for column in columns]
    rows = [line.split("\t") for line in lines[1:]]
    for row in rows:
        for column in blank:
            if len(row) > column:
                row[column] = ""
    (target / "records.tsv").write_text("\n".join([lines[0], *("\t".join(row) for row in rows)]))
    return target


# What every comparison of two traces must not claim.

def check_runs(left, right, differ):
    """Complaints about `ad-diff runs` of two traces whose results differ or do not."""
    done = execute("ad-diff", "runs", left, right, "--bound=different=0", "--json=-")
    if done.returncode not in (0, 1, 2):
        yield f"runs: exit code {done.returncode}: {done.stderr}"
    if differ and done.returncode == 0:
        yield "runs: the bound different=0 holds, although results differ"
    if done.returncode == 2 and not done.stdout:
        yield f"runs: {done.stderr}"


def check_without_hashes(left, right, differ):
    """With the tensors alone nothing is unknown; without both, nothing is equal."""
    kept = [without(side, f"{side.name}-kept", ["hash"]) for side in (left, right)]
    yield from check_runs(*kept, differ)
    bare = [without(side, f"{side.name}-bare", ["hash", "value"]) for side in (left, right)]
    yield from check_runs(*bare, differ)
    done = execute("ad-diff", "runs", bare[0], left)
    if found := re.search(r"; ([1-9]\d*) equal", done.stdout):
        if any(row["shape"] and "0" not in row["shape"].split("x") for row in records(left)) and \
                int(found[1]) > sum("0" in row["shape"].split("x") for row in records(left)):
            yield f"runs: {found[1]} values without hashes and tensors are equal"
    if differ:
        done = execute("ad-diff", "runs", kept[0], bare[1], "--bound=different=0")
        if done.returncode == 0:
            yield "runs: the bound holds between tensors and fingerprints, although results differ"


def check_align(left, right):
    done = execute("ad-diff", "align", left, right, "--json=-")
    if done.returncode:
        yield f"align: exit code {done.returncode}: {done.stderr}"
        return
    report, rows = json.loads(done.stdout), (records(left), records(right))
    for pair in report["pairs"]:
        l, r = rows[0][pair["left"]], rows[1][pair["right"]]
        if pair["symbol"] == "=" and l["hash"] != r["hash"]:
            yield f"align: {l['kind']} {l['name']} and {r['name']} are marked as equal, but differ"
            return
    if report["distance"] == 0 and [r["hash"] for r in rows[0]] != [r["hash"] for r in rows[1]]:
        yield "align: the distance is 0, although values differ"


def first_difference(left, right):
    text = execute("ad-diff", "runs", left, right).stdout
    return text, next((line for line in text.splitlines() if line.startswith("first difference")), "")


def lines_named(text):
    return {int(number) for number in re.findall(r"program\.mlir:(\d+):", text)}


# The kinds of changes: each gives complaints, in a folder.

def random_text(rng):
    """A random program that is more than some constants, and the options that give its inputs."""
    while True:
        program = programs.random_program(int(rng.integers(2**31)), 0)
        if len(program.ops) > 1 and program.arguments:
            return program, program.function("main", "")


def inputs(folder, program):
    folder.mkdir(exist_ok=True)
    return [*runner.write_arguments(folder, program.arguments), *runner.write_feeds(folder, program, "main")]


def options_of(rng):
    return [f"--target={rng.choice(['reference', 'cpu', 'cpu', 'gpu-sim'])}",
            f"--numerics={rng.choice(['reproducible', 'strict', 'fast'])}"]


def plant_edit(rng, folder):
    program, text = random_text(rng)
    given, options = inputs(folder / "inputs", program), options_of(rng)
    left = trace(folder, text, given, "left", options)
    if not left:
        return
    tries = 0
    for change in planted.changes(rng, text):
        tries += 1
        right = trace(folder, change.text, given, "right", options)
        if right or tries == TRIES:
            break
    else:
        return
    if not right:
        return
    yield f"edit: {change.kind}"
    differ = outputs(left) != outputs(right)
    yield from check_runs(left, right, differ)
    yield from check_without_hashes(left, right, differ)
    yield from check_align(left, right)
    if not differ:
        return
    report, first = first_difference(left, right)
    if not lines_named(first) & (change.left | change.right):
        yield f"runs: the {change.kind} at {sorted(change.left | change.right)} is not named, but {first[:400]!r}"
    edited = lines_named("".join(line for line in report.splitlines() if line.startswith("edited operation")))
    if edited and not edited <= change.left | change.right:
        yield f"runs: {change.kind} at {change.left}, {change.right}, but edited operations {edited}"


def plant_input(rng, folder):
    """One element of an argument, or of a feed, is another one."""
    program, text = random_text(rng)
    given = inputs(folder / "inputs", program)
    paths = sorted(path for path in (folder / "inputs").glob("*.npy") if np.load(path).size)
    options = options_of(rng)
    left = trace(folder, text, given, "left", options)
    if not left or not paths:
        return
    path = paths[int(rng.integers(len(paths)))]
    array = np.load(path)
    before = array.copy()
    raw = array.reshape(-1).view(np.uint8)
    if array.dtype == np.bool_:
        raw[int(rng.integers(len(raw)))] ^= 1
    else:
        width, at = array.dtype.itemsize, int(rng.integers(array.size))
        raw[at * width + int(rng.integers(max(width - 1, 1)))] ^= 1 << int(rng.integers(8))
    np.save(path, array)
    right = trace(folder, text, given, "right", options)
    if not right or np.array_equal(before, array):
        return
    yield "input"
    differ = outputs(left) != outputs(right)
    yield from check_runs(left, right, differ)
    yield from check_align(left, right)
    changed = [(l, r) for l, r in zip(records(left), records(right)) if l["kind"] == "INPUT" and l["hash"] != r["hash"]]
    if not changed:
        return  # a NaN for another one, or a value that the program does not read
    done = execute("ad-diff", "runs", left, right)
    if not any(f"INPUT {l['name']}" in done.stderr for l, _ in changed):
        yield f"runs: the input {changed[0][0]['name']} is not named: {done.stderr[:300]!r}"
    if "edited operation" in done.stdout:
        yield "runs: an operation is named as edited, but an input is another one"
    if f"input '{changed[0][0]['name']}" not in execute("ad-diff", "align", left, right).stderr:
        yield f"align: the input {changed[0][0]['name']} is not named"


def plant_mode(rng, folder):
    """Other options: all values before the first difference are equal."""
    program, text = random_text(rng)
    given = inputs(folder / "inputs", program)
    left = trace(folder, text, given, "left", ["--target=reference", "--numerics=reproducible"])
    target, numerics = options_of(rng)
    right = trace(folder, text, given, "right", [target, numerics])
    if not left or not right:
        return
    yield "mode"
    differ = outputs(left) != outputs(right)
    yield from check_runs(left, right, differ)
    yield from check_align(left, right)
    report, first = first_difference(left, right)
    if "edited operation" in report:
        yield "runs: an operation is named as edited, but the programs are one"
    if differ and not first:
        yield "runs: no first difference, although results differ"
    stages = execute("ad-diff", "stages", folder / "program-left/program.mlir", *given, "--cache=off", numerics)
    all_equal = stages.returncode == 0 and stages.stdout.rstrip().endswith("all equal")
    if all_equal and differ and target != "--target=reference":
        yield "stages: all equal, although results of a target differ"


NO_CHANGE = "no change"
# How often each kind is drawn.
KINDS = {plant_edit: 8, plant_input: 3, plant_mode: 2, plants.plant_kernels: 2, plants.plant_nan: 3,
         plants.plant_tensors: 3, plants.plant_records: 3}


def check(seed, number, counts):
    """What is wrong with a case, and the folder that has it."""
    rng = np.random.default_rng([seed, number, 7])
    kinds = [kind for kind, share in KINDS.items() for _ in range(share)]
    plant = kinds[number % len(kinds)]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="diff-"))
    try:
        found = list(plant(rng, folder))
    except subprocess.TimeoutExpired as late:
        found = ["", f"no answer after {SECONDS} seconds: {late.cmd}"]
    counts[found[0] if found else f"{name_of(plant)}: {NO_CHANGE}"] += 1
    return found[1:], folder


def name_of(plant):
    """That of a kind of changes; what a kind yields first begins with it."""
    return plant.__name__.removeprefix("plant_")


def seldom_made(given, counts):
    """The kinds of which a long campaign made a change in less than half of its cases."""
    made, drawn = collections.Counter(), collections.Counter()
    for label, count in counts.items():
        kind = label.split(":")[0]
        drawn[kind] += count
        made[kind] += 0 if label.endswith(NO_CHANGE) else count
    return [kind for kind in map(name_of, KINDS) if given.count >= 100 and 2 * made[kind] < max(1, drawn[kind])]


def main():
    parser = campaign.options(__doc__)
    parser.set_defaults(batch=1)
    given = parser.parse_args()
    counts, failed = collections.Counter(), 0
    for number, (found, folder) in campaign.in_batches(
            lambda numbers: {number: check(given.seed, number, counts) for number in numbers}, given):
        if found:
            failed += 1
            if failed <= given.keep:
                path = pathlib.Path(given.out) / f"diff-{given.seed}-{number}"
                shutil.rmtree(runner.ROOT / path, ignore_errors=True)
                shutil.copytree(folder, runner.ROOT / path)
                print(f"case {number}: {'; '.join(found)[:600]}\n  {path}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    print("planted: " + ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items())))
    missing = seldom_made(given, counts)
    if missing:
        print(f"seldom made: {', '.join(missing)}")
    print(f"diff: {given.count} run, {failed} failed")
    return bool(failed or missing)


if __name__ == "__main__":
    sys.exit(main())
