#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs on several threads of an adrt-run that the thread sanitizer watches.

ad-runner of the build compiles each program, adrt-run of $ADJOINT_TSAN_BIN (build/tsan/bin) runs it on 2, 3 and 7
threads. A race of the runtime ends it, and its results must be those of the reference interpreter. Kernels themselves
are not watched: they are compiled without the sanitizer. scripts/tsan.sh builds what is needed. Closes with `races: N
run, N failed`."""

import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import batch
import campaign
import clusters
import elements
import runner
from programs import compare, random_program

TOOL = pathlib.Path(os.environ.get("ADJOINT_TSAN_BIN", runner.ROOT / "build/tsan/bin")) / "adrt-run"
COUNTS = [2, 3, 7]


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=600)
    if done.returncode:
        raise runner.Failure(done.returncode, done.stderr or done.stdout)


def run(program, threads, folder):
    """The results of a program, then what it receives, as batch.run gives them."""
    arguments = runner.write_arguments(folder, program.arguments, "p0_") + runner.write_feeds(folder, program, "p0")
    source, compiled, out = (pathlib.Path(folder) / name for name in ("program.mlir", "program.adx", "out"))
    source.write_text(batch.module([program]))
    out.mkdir()
    call(runner.binary("ad-runner"), source, "--numerics=reproducible", "--emit", compiled)
    call(TOOL, compiled, "--threads", threads, "--out-dir", out, *arguments)
    names = [(f"p0_r{k}", value.element) for k, value in enumerate(program.outputs)] + batch.received(0, program)
    return [elements.load(out / f"{name}.npy", element) if (out / f"{name}.npy").exists() else None
            for name, element in names]


def check(program, threads):
    """What is wrong with a program, or None."""
    reference = batch.run_each([program], ["--target=reference", "--numerics=reproducible"])[0]
    try:
        with tempfile.TemporaryDirectory() as folder:
            results = run(program, threads, folder)
    except runner.Failure as failure:
        results = failure
    return compare(program, reference, results, ("on the reference", campaign.on_threads(threads)))


def main():
    if not TOOL.exists() or b"__tsan_init" not in TOOL.read_bytes():
        sys.exit(f"races: expected an adrt-run with the thread sanitizer at {TOOL}; scripts/tsan.sh builds it")
    os.environ["ADJOINT_PARALLEL_ALWAYS"] = "1"
    given = campaign.options(__doc__).parse_args()
    failed = 0

    def check_numbers(numbers):
        cases = [(random_program, clusters.random_program)[number % 2](given.seed, number) for number in numbers]
        threads = [COUNTS[number % len(COUNTS)] for number in numbers]
        return {number: (case, check(case, count), count) for number, case, count in zip(numbers, cases, threads)}

    for number, (program, complaint, threads) in campaign.in_batches(check_numbers, given):
        if not complaint:
            continue
        failed += 1
        if failed <= given.keep:
            command = f"ADJOINT_PARALLEL_ALWAYS=1 {TOOL} program.adx --threads {threads} --print"
            path = campaign.write_program(f"{given.out}/races-{given.seed}-{number}", program, command, complaint)
            print(f"case {number}: {complaint[:2000]}\n  {path}", flush=True)
    print(f"races: {given.count} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
