#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random well-typed `ad` functions before and after the passes: the reference interpreter must give the same bits.

Each case is a random function of several operations. It runs as written, and once more as what simplification, decomposition
and fusion have made of it, in `reproducible` and in `strict` mode by turns; both promise that no rewrite changes a bit.

A failing case is reduced and written to a folder that is named. Closes with `passes: N run, N failed`."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import batch
import campaign
import programs
import runner

MODES = ["reproducible", "strict"]
PASSES = ["--ad-simplify", "--ad-set-numerics", "--ad-decompose", "--ad-set-numerics", "--ad-simplify", "--ad-set-numerics",
          "--ad-verify-numerics", "--ad-fuse", "--ad-select-kernels", "--ad-verify-fused"]


def passes(mode):
    return [f"--ad-set-numerics=numerics={mode}", *PASSES]


def rewritten(text, mode):
    """The module after the passes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        done = subprocess.run([runner.binary("ad-opt"), str(path), *passes(mode)], capture_output=True, text=True)
        if done.returncode:
            raise runner.Failure(done.returncode, done.stderr)
        return done.stdout


def run(cases, mode, change=None):
    options = ["--target=reference", f"--numerics={mode}"]
    return batch.run_each(cases, options, change)


def check(cases, mode):
    """Complaints about programs, in order."""
    written = run(cases, mode)
    changed = run(cases, mode, lambda text: rewritten(text, mode))
    return [programs.compare(p, w, c, ("as written", "after the passes")) for p, w, c in zip(cases, written, changed)]


def report(given, number, mode, program, complaint):
    program = campaign.reduce(program, lambda p: check([p], mode)[0] is not None, programs.intermediate_values(program))
    complaint = check([program], mode)[0] or complaint
    path = campaign.write_case(f"{given.out}/passes-{given.seed}-{number}", program.function("main", ""), program.arguments,
                               f"ad-opt program.mlir {' '.join(passes(mode))} -o changed.mlir && "
                               "ad-runner changed.mlir --target reference --print",
                               complaint)
    print(f"case {number} ({mode}): {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    counts, failed = campaign.Counts(), 0

    def check_numbers(numbers):
        complaints = {}
        for turn, mode in enumerate(MODES):
            turns = [number for number in numbers if number % len(MODES) == turn]
            cases = [programs.random_program(given.seed, number) for number in turns]
            for number, program, complaint in zip(turns, cases, check(cases, mode)):
                complaints[number] = (mode, program, complaint)
        return complaints

    for number, (mode, program, complaint) in campaign.in_batches(check_numbers, given):
        counts.add(program)
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number, mode, program, complaint)
    counts.show()
    print(f"passes: {given.count} run, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
