#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs every case of a bundle that bundle.py has made, and compares with what the reference interpreter gave.

  check.py [FOLDER] [--only TEXT] [--jobs N] [--rows FILE.jsonl]

Equal are the same bits, or NaN on both sides: its sign and payload are the CPU's. Needs Python with NumPy, and for
`cuda` the driver of the GPU. Closes with `device: N run, N failed`. The exit code is 1 when a case failed or was
skipped, 4 when adrt-run does not start.
"""

import argparse
import json
import pathlib
import sys

# Python would read what a full disk has left of it.
sys.dont_write_bytecode = True
import cases  # noqa: E402
import processes  # noqa: E402
import jsonlines  # noqa: E402
import tools  # noqa: E402

NO_DEVICE = 4
SECONDS = 120  # that a case may take: a busy CPU may emulate the GPU


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=pathlib.Path(__file__).parent)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    parser.add_argument("--jobs", type=int, default=cases.JOBS, metavar="N",
                        help=f"cases at a time (default: {cases.JOBS})")
    parser.add_argument("--rows", type=pathlib.Path, metavar="FILE.jsonl", help="where a row per program goes")
    options = parser.parse_args()
    bundle = options.folder.resolve()
    if wrong := tools.does_not_start(bundle, processes.Deadline()):
        print(f"check.py: {wrong}", file=sys.stderr)
        return NO_DEVICE
    manifest = json.loads((bundle / "manifest.json").read_text())
    chosen = [case for case in manifest["cases"] if options.only in case["name"]]
    runner = cases.Cases(bundle, manifest["target"], jsonlines.Rows(options.rows), processes.Deadline(), options.jobs,
                         SECONDS)
    found = [row for _, each in runner.run(chosen) for row in each]
    failed = sum(row["status"] != "passed" for row in found)
    print(f"device: {len(found)} run, {failed} failed")
    return 1 if failed or not found else 0


if __name__ == "__main__":
    sys.exit(main())
