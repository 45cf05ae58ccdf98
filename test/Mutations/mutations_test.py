#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The pass that plants faults, its runtime, samples of faults and the verdicts about them, on a small program."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Support")]

import checks
import faults
import run as campaign
import suites

LIB = pathlib.Path(os.environ.get("ADJOINT_BIN", faults.ROOT / "build/release/bin")).resolve().parent / "lib"
SOURCE = (HERE / "Inputs/sample.cpp").read_text()
RIGHT = ["negate other", "bound 1", "operand 12", "option 1", "list 430", "template 340", "swap -1", "skip 1",
         "constant 7", "loop", "loop", "loop"]
# Of each kind: the statement of the source, and what it prints under the fault.
EXPECTED = [
    ("negate", "a == b ?", "negate same"), ("bound", "a <= 3", "bound 0"), ("operand", "b * a", "operand 4"),
    ("option", "options.doubled)", "option 0"), ("list", "sumOf<int>({a, b})", "list 340"),
    ("list", "sumOf<long>({b, a})", "template 430"), ("constant", "sumOf<int>({a, b})", "list 30"),
    ("swap", "difference(a, b))", "swap 1"), ("skip", "note(log, a);", "skip 0"),
    ("constant", "iterations = 7", "constant 6"), ("loop", "i < a; ++i", None),
]


def compile_sample(folder, name="sample", text=SOURCE):
    (folder / "lib/Area").mkdir(parents=True, exist_ok=True)
    (folder / "other").mkdir(exist_ok=True)
    (folder / "lib/Area/sample.cpp").write_text(text)
    program = folder / name
    command = ["clang++-22", "-std=c++17", "-O1", "-gline-tables-only", "-fno-discard-value-names",
               f"-fpass-plugin={LIB / 'ADMutationPass.so'}", "lib/Area/sample.cpp",
               LIB / "libADMutationRuntime.a", "-o", program]
    environment = {**os.environ, "ADJOINT_MUTATIONS_ROOT": str(folder)}
    subprocess.run(command, check=True, cwd=folder, env=environment, capture_output=True, text=True)
    return program


def output(program, environment=(), arguments=("3", "4")):
    done = subprocess.run([program, *arguments], env={**os.environ, **dict(environment)}, capture_output=True,
                          text=True, timeout=60, check=False)
    return done.stdout.splitlines()


def line_of(statement):
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if statement in line)


def at(every, kind, statement):
    return [fault for fault in every if fault.kind == kind and int(fault.id.split(":")[1]) == line_of(statement)]


def check_kinds(folder):
    """Each kind is found where it can be, and changes what its statement prints, nothing else."""
    program = compile_sample(folder)
    every = faults.faults_of([program])
    if output(program) != RIGHT:
        yield f"without a fault: {output(program)}"
    for kind, statement, wrong in EXPECTED:
        found = at(every, kind, statement)
        word = statement if wrong is None else wrong.split()[0]
        wanted = [line for line in RIGHT if line != "loop"] if wrong is None else \
            [wrong if line.split()[0] == word else line for line in RIGHT]
        if not any(output(program, {"ADJOINT_MUTATION": fault.id}) == wanted for fault in found):
            yield f"{kind} at '{statement}': expected '{wrong}' under one of {[fault.id for fault in found]}"
    if any(fault.file != "lib/Area/sample.cpp" for fault in every):
        yield f"faults outside of the project: {[fault.id for fault in every if fault.file != 'lib/Area/sample.cpp']}"
    if output(program, {"ADJOINT_MUTATION": at(every, "swap", "difference(a, b))")[0].id[:-1]}) != RIGHT:
        yield "the beginning of a name switches a fault on"


def check_stable(folder):
    """The same source gives the same names, and lines that are added later do not change earlier names."""
    first = [fault.id for fault in faults.faults_of([compile_sample(folder, "first")])]
    again = [fault.id for fault in faults.faults_of([compile_sample(folder, "again")])]
    more = compile_sample(folder, "longer", SOURCE + "int more(int a) { return a + 1; }\n")
    longer = [fault.id for fault in faults.faults_of([more])]
    if first != again:
        yield f"compiled again: {set(first) ^ set(again)}"
    if not set(first) < set(longer):
        yield f"with another function: {set(first) - set(longer)}"


def check_reached(folder):
    """What runs is recorded, also by a program that crashes, and nothing else."""
    program, reached = compile_sample(folder), folder / "reached"
    every = faults.faults_of([program])
    output(program, {"ADJOINT_MUTATIONS_REACHED": str(reached)})
    names = reached.read_text().splitlines()
    # Two instances of the template have the faults of its lines.
    if any(names.count(name) != 1 for name in names if int(name.split(":")[1]) > line_of("void note")):
        yield "a fault is recorded twice"
    for kind, statement, _ in EXPECTED:
        if not {fault.id for fault in at(every, kind, statement)} & set(names):
            yield f"{kind} at '{statement}' runs and is not recorded"
    unreached = {fault.id for fault in every} - set(names)
    if {int(name.split(":")[1]) for name in unreached} != {line_of("std::rand()")}:
        yield f"not recorded: {sorted(unreached)}"
    # A full disk, or a limit that a test sets, ends no program.
    limited = ["bash", "-c", f"ulimit -f 0; exec {program} 3 4"]
    done = subprocess.run(limited, env={**os.environ, "ADJOINT_MUTATIONS_REACHED": str(reached)}, capture_output=True,
                          text=True, check=False)
    if done.returncode != 0 or done.stdout.splitlines() != RIGHT:
        yield f"with no room for files: exit code {done.returncode}, {done.stdout} {done.stderr}"
    crashing = compile_sample(folder, "crashing", SOURCE.replace("return never();", "std::abort();"))
    reached.unlink()
    output(crashing, {"ADJOINT_MUTATIONS_REACHED": str(reached)}, ["3"])
    if not any(name.split(":")[1] == str(line_of("if (count != 3)")) for name in reached.read_text().splitlines()):
        yield "nothing is recorded by a program that crashes"


def check_elsewhere(folder):
    """Code outside lib/ and include/adjoint/ has no faults."""
    header = "inline int outside(int a) { return a - 1; }\n"
    (folder / "other").mkdir()
    (folder / "other/outside.h").write_text(header)
    (folder / "include/adjoint").mkdir(parents=True)
    (folder / "include/adjoint/inside.h").write_text(header.replace("outside", "inside"))
    text = '#include "../../other/outside.h"\n#include "../../include/adjoint/inside.h"\n' \
        "int main(int n, char **) { return outside(n) + inside(n); }\n"
    files = {fault.file for fault in faults.faults_of([compile_sample(folder, text=text)])}
    if files != {"lib/Area/sample.cpp", "include/adjoint/inside.h"}:
        yield f"faults in {sorted(files)}"


def check_sample(_):
    """All folders and kinds occur, and the same seed gives the same sample."""
    sizes = {"a": 100, "b": 10, "c": 1}
    every = [faults.Fault(f"lib/{folder}/x.cpp:{line}:1:{kind}:0", "") for folder, size in sizes.items()
             for line in range(size) for kind in ("negate", "skip")]
    chosen = faults.sample(every, 20, 7)
    shares = [sum(fault.folder == f"lib/{folder}" for fault in chosen) for folder in "abc"]
    if len(set(chosen)) != 20 or sum(shares) != 20 or min(shares) < 1 or not shares[0] > shares[1] >= shares[2]:
        yield f"shares of the folders: {shares}"
    if abs(sum(fault.kind == "skip" for fault in chosen) - 10) > 1:
        yield f"kinds: {[fault.kind for fault in chosen]}"
    if chosen != faults.sample(every, 20, 7) or set(chosen) == set(faults.sample(every, 20, 8)):
        yield "the sample does not follow the seed"
    if len(faults.sample(every, 1000, 1)) != len(every) or len(faults.sample(every, 2, 1)) != 2:
        yield "a sample larger than all, or smaller than the folders, has another size"


def check_verdicts(folder):
    """A fault is found by the quickest test that sees it, and survives when none does; hanging and growing are seen."""
    program = compile_sample(folder)
    every, faults.ROOT = faults.faults_of([program]), folder

    def test(name, script):
        return suites.Test("units", name, ("bash", "-c", script.replace("PROGRAM", str(program))))

    swap = test("swap", "PROGRAM 3 4 | grep -qx 'swap -1'")
    skip = test("skip", "PROGRAM 3 4 | grep -qx 'skip 1'")
    hang = test("hang", "PROGRAM 3 4 | grep -qx 'skip 1' || while :; do :; done")
    grow = test("grow", "PROGRAM 3 4 | grep -qx 'skip 1' || "
                f"{sys.executable} -c 'a = bytearray({suites.MEMORY * 1024})'")
    runner, fault = suites.Runner(LIB.parent), at(every, "skip", "note(log, a);")[0]
    campaign.MORE_SECONDS = 4
    cases = (({swap: 0.1, skip: 0.2}, "skip"), ({swap: 0.1}, ""), ({hang: 0.0}, "hang"), ({grow: 0.1}, "grow"))
    for tests, finder in cases:
        verdict = campaign.judge(runner, fault, tests, 10)
        if verdict.found_by != finder or verdict.ran != len(tests):
            yield f"{[t.name for t in tests]}: {verdict.line()}"
        line = (rf"SURVIVED lib/Area/sample\.cpp:{line_of('note(log, a);')}:3: call of sample::note left out .*\n"
                r"    note\(log, a\);")
        if not finder and not re.match(line, verdict.line()):
            yield verdict.line()


def check_command(folder):
    """run.py end to end, on a build whose only test checks all lines except that of `swap`."""
    (folder / "bin").mkdir()
    shutil.copy(compile_sample(folder), folder / "bin/sample")
    seen = "\n".join(line for line in RIGHT if "swap" not in line)
    test = folder / "bin/ad-sample-unit"
    test.write_text("#!/bin/bash\n"
                    f"[[ $({folder}/bin/sample 3 4 | grep -v swap) == \"{seen}\" ]] && echo '1 run, 0 failed'\n")
    test.chmod(0o755)
    every = faults.faults_of([folder / "bin/sample"])

    def command(*arguments):
        words = [sys.executable, HERE / "run.py", f"--build={folder}", "--suites=units", f"--json={folder / 'json'}"]
        done = subprocess.run([*words, *arguments], capture_output=True, text=True, check=False)
        return done.stdout.splitlines() or [done.stderr], done.returncode

    swap, skip = at(every, "swap", "difference(a, b))")[0], at(every, "skip", "note(log, a);")[0]
    shown, code = command(f"--only={swap.id}", f"--only={skip.id}")
    if shown[-1] != "mutations: 2 run, 1 failed" or code != 1:
        yield f"{code}: {shown}"
    if not any(line.startswith(f"SURVIVED {swap.position}: {swap.what}") for line in shown):
        yield f"the survivor is not named: {shown}"
    if {entry["fault"]: entry["found_by"] for entry in json.loads((folder / "json").read_text())} != {
            swap.id: "", skip.id: "ad-sample-unit"}:
        yield (folder / "json").read_text()
    if command("--list", "--kinds=swap")[0] != [f"{fault.id}: {fault.what}" for fault in every if fault.kind == "swap"]:
        yield f"--list: {command('--list')}"
    shown, code = command("--files=nothing")
    if code != 2 or "no fault is in files that match 'nothing'" not in shown[0]:
        yield f"{code}: {shown}"


def main():
    if not shutil.which("clang++-22"):
        sys.exit("clang++-22 is not installed; run scripts/setup.sh")
    return checks.run_checks("mutations", [
        ("kinds", check_kinds), ("stable names", check_stable), ("reached", check_reached),
        ("elsewhere", check_elsewhere), ("sample", check_sample), ("verdicts", check_verdicts),
        ("command", check_command)])


if __name__ == "__main__":
    sys.exit(main())
