# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The frames of tests that are a list of checks, and of those that find their cases as they go."""

import argparse
import contextlib
import functools
import os
import pathlib
import subprocess
import tempfile

# Programs of tests are small: what is requested on several threads runs there. An empty value leaves it to the cost
# model.
os.environ.setdefault("ADJOINT_PARALLEL_ALWAYS", "1")


# Of cases of one kind, scripts/test.sh takes a part: another one for each commit, by this number. Without it, and with
# `scripts/test.sh full`, all run.
SAMPLE = int(os.environ.get("ADJOINT_SAMPLE") or -1)


def sample(cases, one_in):
    """Each Nth case, from one that $ADJOINT_SAMPLE chooses. There is one if there are fewer than N."""
    cases = list(cases)
    return cases if SAMPLE < 0 else cases[SAMPLE % min(one_in, max(len(cases), 1))::one_in]


def run_checks(name, checks):
    """Runs each check: a label and a function that takes an empty folder and gives its problems as texts, one text, or
    nothing. A command that fails, or a file that is missing, is a problem too. Names each problem, closes with `NAME: N
    run, N failed` and returns the exit code."""
    failed = 0
    for label, check in checks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = check(pathlib.Path(folder))
                problems = [found] if isinstance(found, str) else list(found or ())
            except (AssertionError, subprocess.CalledProcessError, OSError, RuntimeError) as error:
                problems = [f"{error} {getattr(error, 'stderr', None) or ''}".strip()]
        for problem in problems:
            print(f"FAILED: {label}: {problem}")
        failed += bool(problems)
    print(f"{name}: {len(checks)} run, {failed} failed")
    return 1 if failed else 0


def run_seeds(name, check, count):
    """Runs as many random cases as --count says (`count`, or a ninth of it in a sample), from --seed on:
    check(seed, folder) gives what is wrong with one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=max(SAMPLE, 1))
    parser.add_argument("--count", type=int, default=count if SAMPLE < 0 else -(-count // 9))
    options = parser.parse_args()
    first = options.seed * 100_000
    return run_checks(name, [(f"case {seed}", functools.partial(check, seed))
                             for seed in range(first, first + options.count)])


def run_cases(name, cases):
    """Runs a generator of (case, what is wrong with it or nothing) that takes an empty folder; it may clean up
    after itself. Names what is wrong, closes with `NAME: N run, N failed` and returns the exit code."""
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(cases(pathlib.Path(folder))) as found:
        for case, wrong in found:
            count += 1
            if wrong:
                failed += 1
                print(f"{case}: {wrong}", flush=True)
    print(f"{name}: {count} run, {failed} failed")
    return 1 if failed or not count else 0
