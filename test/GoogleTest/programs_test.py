#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What scripts/test.sh relies on: how programs of GoogleTest end, and how scripts/count_gtest.py counts their cases."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

PROGRAM = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-emulator-unit"
COUNT = ROOT / "scripts/count_gtest.py"


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)


def counts(file):
    return run(sys.executable, COUNT, file).stdout.strip()


def check_cases(folder):
    """One case is run by its name, and counted."""
    done = run(PROGRAM, "--gtest_filter=Shapes.AnEmptyGridIsRefused", f"--gtest_output=json:{folder / 'results.json'}")
    if done.returncode or "[  PASSED  ] 1 test." not in done.stdout:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    if counts(folder / "results.json") != "1 0 0":
        yield f"counted: {counts(folder / 'results.json')}"


def check_no_case(_):
    """A filter that matches nothing fails, and so does an argument that is no option."""
    for argument, code, message in (("--gtest_filter=Shapes.None", 1, "no test matches 'Shapes.None'"),
                                    ("Shapes", 2, "unknown argument 'Shapes'")):
        done = run(PROGRAM, argument)
        if done.returncode != code or message not in done.stderr:
            yield f"{argument}: exit code {done.returncode}: {done.stderr}"


def check_counts(folder):
    """As GoogleTest writes its results."""
    file = folder / "results.json"
    case = {"status": "RUN", "result": "COMPLETED"}
    skipped, disabled = {**case, "result": "SKIPPED"}, {"status": "NOTRUN", "result": "SUPPRESSED"}
    failed = {**case, "failures": [{"failure": "a.cpp:1", "type": ""}]}
    file.write_text(json.dumps({"testsuites": [{"testsuite": [case, failed, skipped]},
                                               {"testsuite": [case, disabled]}]}))
    if counts(file) != "2 1 2":
        yield f"expected 2 1 2, got {counts(file)}"
    file.write_text('{"testsuites": []}')
    if counts(file) != "0 0 0":
        yield f"expected 0 0 0, got {counts(file)}"
    for text in ('{"testsuites": [', ""):
        file.write_text(text)
        if not run(sys.executable, COUNT, file).returncode:
            yield f"results that were cut off are counted: {text}"
    if not run(sys.executable, COUNT, folder / "none.json").returncode:
        yield "a program that wrote no results is counted"


if __name__ == "__main__":
    sys.exit(checks.run_checks("unit programs", [("cases", check_cases), ("no case", check_no_case),
                                                 ("counts", check_counts)]))
