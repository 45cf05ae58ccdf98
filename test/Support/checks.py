# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The frame of a test that is a list of checks."""

import pathlib
import subprocess
import tempfile


def run_checks(name, checks):
    """Runs each check: a label and a function that takes an empty folder and gives its problems as texts, one text, or nothing. A
    command that fails, or a file that is missing, is a problem too. Names each problem, closes with `NAME: N run, N failed` and
    returns the exit code."""
    failed = 0
    for label, check in checks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = check(pathlib.Path(folder))
                problems = [found] if isinstance(found, str) else list(found or ())
            except (subprocess.CalledProcessError, OSError, RuntimeError) as error:
                problems = [f"{error} {getattr(error, 'stderr', None) or ''}".strip()]
        for problem in problems:
            print(f"FAILED: {label}: {problem}")
        failed += bool(problems)
    print(f"{name}: {len(checks)} run, {failed} failed")
    return 1 if failed else 0
