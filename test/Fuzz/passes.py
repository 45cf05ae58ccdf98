#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random well-typed `ad` functions before and after the passes: the reference interpreter must give the same bits.

Each case is a random function of several operations. It runs as written, and once more as what simplification,
decomposition and fusion have made of it, in `reproducible` and in `strict` mode and with each policy of fusion in
turn; both modes promise that no rewrite changes a bit.

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

VARIANTS = [(mode, policy) for policy in ("grow", "layers", "single") for mode in ("reproducible", "strict")]
# As the pipelines do, down to the sizes that an analysis cannot compare after other passes.
PASSES = ["--ad-simplify", "--ad-decompose", "--ad-simplify", "--ad-write-broadcasts", "--ad-verify-numerics"]


def passes(variant):
    mode, policy = variant
    return [f"--ad-set-numerics=numerics={mode}", *PASSES, f"--ad-fuse=policy={policy}", "--ad-select-kernels",
            "--ad-verify-fused"]


def rewritten(text, variant):
    """The module after the passes."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        done = subprocess.run([runner.binary("ad-opt"), str(path), *passes(variant)], capture_output=True, text=True)
        if done.returncode:
            raise runner.Failure(done.returncode, done.stderr)
        return done.stdout


def run(cases, variant, change=None):
    options = ["--target=reference", f"--numerics={variant[0]}"]
    return batch.run_each(cases, options, change)


def check(cases, variant):
    """Complaints about programs, in order."""
    written = run(cases, variant)
    changed = run(cases, variant, lambda text: rewritten(text, variant))
    return [programs.compare(p, w, c, ("as written", "after the passes")) for p, w, c in zip(cases, written, changed)]


def report(given, number, variant, program, complaint):
    program = campaign.reduce(program, lambda p: check([p], variant)[0] is not None,
                              programs.intermediate_values(program))
    complaint = check([program], variant)[0] or complaint
    path = campaign.write_case(f"{given.out}/passes-{given.seed}-{number}", program.function("main", ""),
                               program.arguments,
                               f"ad-opt program.mlir {' '.join(passes(variant))} -o changed.mlir && "
                               "ad-runner changed.mlir --target reference --print",
                               complaint)
    print(f"case {number} ({', '.join(variant)}): {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    counts, failed = campaign.Counts(), 0

    def check_numbers(numbers):
        complaints = {}
        for index, variant in enumerate(VARIANTS):
            chosen = [number for number in numbers if number % len(VARIANTS) == index]
            cases = [programs.random_program(given.seed, number) for number in chosen]
            for number, program, complaint in zip(chosen, cases, check(cases, variant)):
                complaints[number] = (variant, program, complaint)
        return complaints

    for number, (variant, program, complaint) in campaign.in_batches(check_numbers, given):
        counts.add(program)
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number, variant, program, complaint)
    counts.show()
    print(f"passes: {given.count} run, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
