#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What run.py and report.py say of wrong options, incomplete bundles and damaged results. Closes with `bad input: N
run, N failed`."""

import functools
import json
import shutil
import subprocess
import sys
import time

import bundles

import checks
import jsonlines

BEGIN = {"kind": "begin", "date": "2026-01-02 03:04 UTC", "seconds": 300, "target": "cuda", "chip": "sm_90a"}


def expect(result, code, word):
    """What is wrong with (exit code, what was said), if anything."""
    given, said = result
    if given != code or word not in said or "Traceback" in said:
        yield f"exit code {given}, expected {code} and '{word}': {said}"


def refused_option(words, message, folder):
    yield from expect(bundles.run(bundles.make(folder / "bundle", "smoke-elementwise"), *words), 2, message)


def nothing_chosen(folder):
    made = bundles.make(folder / "bundle", "smoke-elementwise")
    yield from expect(bundles.run(made, "--stage", 1, "--only", "no-such-case"), 2,
                      "no case is named like 'no-such-case'")


def incomplete_bundle(folder):
    made = bundles.make(folder / "bundle", "smoke-elementwise")
    shutil.rmtree(made / "cases" / "smoke-elementwise")
    yield from expect(bundles.run(made, "--stage", 1, "--out", folder / "out"), 1, "cannot run")
    rows, _ = jsonlines.read(folder / "out" / "stage1.jsonl")
    if [row["status"] for row in rows if row["kind"] in ("case", "end")] != ["failed", "done"]:
        yield f"expected one failed case in a stage that goes on, got {rows}"
    (made / "manifest.json").write_bytes((made / "manifest.json").read_bytes()[:100])
    yield from expect(bundles.run(made, "--stage", 1), 2, "cannot use")
    for text, missing in (("[]", "does not name target"), ('{"target": "gpu-sim"}', "does not name target")):
        (made / "manifest.json").write_text(text)
        yield from expect(bundles.run(made, "--stage", 1), 2, missing)
    (made / "manifest.json").unlink()
    yield from expect(bundles.run(made, "--stage", 1), 2, "cannot use")


def driver_that_hangs(folder):
    """The look at the machine counts as time of the stage."""
    made = bundles.make(folder / "bundle", "smoke-elementwise")
    manifest = json.loads((made / "manifest.json").read_text())
    (made / "manifest.json").write_text(json.dumps({**manifest, "target": "cuda"}))
    (made / "adrt-run").rename(made / "adrt-run-itself")
    (made
     / "adrt-run").write_text('#!/bin/bash\n[[ $1 == --env ]] && exec sleep 60\nexec "${0%/*}/adrt-run-itself" "$@"\n')
    (made / "adrt-run").chmod(0o755)
    start = time.monotonic()
    yield from expect(bundles.run(made, "--stage", 1, "--seconds", 3), 4, "ran longer than 3 seconds")
    if time.monotonic() - start > 20:
        yield f"it took {time.monotonic() - start:.0f} seconds, expected about 3"


def line_that_was_cut(folder):
    """A row that follows half a row is whole."""
    (folder / "stage1.jsonl").write_text('{"kind": "case", "name": "cut')
    jsonlines.Rows(folder / "stage1.jsonl", stage=1).add(**BEGIN)
    rows, damaged = jsonlines.read(folder / "stage1.jsonl")
    if damaged != 1 or [row["kind"] for row in rows] != ["begin"]:
        yield f"{damaged} damaged rows, and {rows}"


def report(*words):
    done = subprocess.run([sys.executable, bundles.HERE / "report.py", *words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def write_rows(folder, *rows):
    folder.mkdir(exist_ok=True)
    (folder / "stage1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def rows_without_keys(folder):
    lacking = [{"kind": "case"}, {"kind": "kernel", "case": "a"}, {"kind": "environment", "adrt": "x"},
               {"kind": "note"}, {"kind": ["case"]}]
    code, said = report(write_rows(folder / "rows", BEGIN, *lacking))
    yield from expect((code, said), 0, f"| killed | 1 | {len(lacking)} |")


def pages(folder):
    """Pages of one day have names of their own; folders of two runs are no run."""
    rows = write_rows(folder / "first", BEGIN)
    for _ in range(2):
        yield from expect(report(rows, "--into", folder / "pages"), 0, ".md")
    names = sorted(file.name for file in (folder / "pages").iterdir())
    if names != ["2026-01-02-an-unknown-gpu-2.md", "2026-01-02-an-unknown-gpu.md"]:
        yield f"the pages are {names}"
    yield from expect(report(rows, "--into", folder / "first" / "stage1.jsonl" / "below"), 2, "cannot write")
    write_rows(folder / "second", BEGIN)
    yield from expect(report(folder), 2, "stage1 more than once")


def main():
    options = [(["--seconds", "0"], "positive"), (["--seconds", "nan"], "positive"), (["--seconds", "-5"], "positive"),
               (["--jobs", "0"], "positive"),
               (["--jobs", "two"], "invalid int"), (["--case-seconds", "-1"], "positive"),
               (["--stage", "6"], "invalid choice")]
    return checks.run_checks("bad input", [
        *((" ".join(words), functools.partial(refused_option, words, message)) for words, message in options),
        ("nothing is chosen", nothing_chosen),
        ("an incomplete bundle", incomplete_bundle),
        ("a driver that hangs", driver_that_hangs),
        ("a line that was cut", line_that_was_cut),
        ("rows without their keys", rows_without_keys),
        ("pages of reports", pages)])


if __name__ == "__main__":
    sys.exit(main())
