#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""All that is to be run on a machine with a GPU, from a folder that scripts/gpu.sh has packed.

  run.py [--stage N] [--out DIR] [--seconds S] [--jobs N] [--case-seconds S]

Stage 1 says what works: ten cases that each have one risk, then all cases against the reference interpreter, those that
fail once more without replay and under memcheck, and a large product in three forms. Stage 2 measures workloads of
users and random graphs against eager PyTorch, stage 3 single kernels and training steps; stage 4 looks into the three
worst kernels with ncu, and at ten small cases with compute-sanitizer; stage 5 measures JAX and torch.compile. Without
--stage all five run one after the other, within 11 minutes. Each writes DIR/stageN.jsonl (default DIR: results next to
this file), a row as soon as it is known, so that a stage that is killed loses only what runs; results that are wrong go
to DIR/wrong.tar. `report.py DIR` makes a page of them.

The exit code is 1 when a case failed or did not run, 2 for wrong options, an incomplete bundle, or results that could
not be written, 4 when there is no GPU or adrt-run does not start, 130 when interrupted. What compute-sanitizer finds is
reported, and is no failure.
"""

import argparse
import datetime
import json
import pathlib
import signal
import sys
import time

# Python would read what a full disk has left of it.
sys.dont_write_bytecode = True
import cases  # noqa: E402
import processes  # noqa: E402
import jsonlines  # noqa: E402
import stages  # noqa: E402
import tools  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
USAGE, NOT_WRITTEN, NO_DEVICE, INTERRUPTED = 2, 2, 4, 130
SECONDS = {1: 150, 2: 220, 3: 110, 4: 60, 5: 120}  # by stage: together 11 minutes


def interrupt(*_):
    raise KeyboardInterrupt


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")


def missing_device(manifest, deadline):
    """Why nothing can run here, or None."""
    if wrong := tools.does_not_start(HERE, deadline):
        return wrong
    described = tools.describe(HERE, deadline)
    wrong = tools.missing_gpu(described)
    if wrong and manifest["target"] == "cuda":
        return f"there is no GPU here: {wrong}"
    tools.share_driver(described.said)
    return None


def limit(number, options):
    return SECONDS[number] if options.seconds is None else options.seconds


def run_stage(number, options, manifest, deadline):
    """The exit code."""
    seconds = limit(number, options)
    out = jsonlines.Rows(options.out / f"stage{number}.jsonl", stage=number)
    print(f"== stage {number}, at most {seconds:g} seconds", flush=True)
    start = time.monotonic()
    out.add(kind="begin", date=now(), seconds=seconds, target=manifest["target"], chip=manifest["chip"])
    stage = stages.Stage(HERE, manifest, out, deadline, options)
    try:
        failed = stages.STAGES[number](stage)
        status = "late" if stage.deadline.over() else "done"
    except KeyboardInterrupt:
        processes.end_all()
        failed, status = False, "interrupted"
    out.add(kind="end", status=status, seconds=round(time.monotonic() - start, 1))
    print(f"== stage {number}: {status}, {out.file}", flush=True)
    if out.broken:
        return NOT_WRITTEN
    return INTERRUPTED if status == "interrupted" else 1 if failed else 0


def read_manifest():
    """ValueError and OSError say what is wrong with the bundle."""
    manifest = json.loads((HERE / "manifest.json").read_text())
    if not isinstance(manifest, dict) or not {"target", "chip", "cases"} <= manifest.keys():
        raise ValueError("it does not name target, chip and cases")
    lacking = [name for name in ("adrt-run", "cases", "report.py") if not (HERE / name).exists()]
    if lacking:
        raise ValueError(f"the folder lacks {', '.join(lacking)}")
    return manifest


def positive(kind):
    def parse(text):
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"expected a positive number, got '{text}'")
        return value

    parse.__name__ = kind.__name__  # which messages of argparse name
    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stage", type=int, choices=sorted(SECONDS), help="only this one (default: all)")
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results", metavar="DIR")
    parser.add_argument("--seconds", type=positive(float), metavar="S",
                        help=f"that a stage may take (default: {', '.join(map(str, SECONDS.values()))})")
    parser.add_argument("--jobs", type=positive(int), default=cases.JOBS, metavar="N",
                        help=f"cases at a time (default: {cases.JOBS})")
    parser.add_argument("--case-seconds", type=positive(float), default=cases.SECONDS, metavar="S",
                        help=f"that a case may take (default: {cases.SECONDS}); a measurement, and a run under a tool, may take 4 to 8 times as long")
    parser.add_argument("--only", default="", metavar="TEXT", help="only cases and benchmarks whose name contains TEXT")
    options = parser.parse_args()
    signal.signal(signal.SIGINT, interrupt)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        manifest = read_manifest()
    except (OSError, ValueError) as error:
        print(f"run.py: cannot use '{HERE / 'manifest.json'}': {error}; unpack the archive again", file=sys.stderr)
        return USAGE
    if options.stage == 1 and not any(options.only in case["name"] for case in manifest["cases"]):
        print(f"run.py: no case is named like '{options.only}'", file=sys.stderr)
        return USAGE
    numbers = [options.stage] if options.stage else sorted(SECONDS)
    deadline = processes.Deadline(limit(numbers[0], options))  # the first stage pays for the look at the machine
    if wrong := missing_device(manifest, deadline):
        print(f"run.py: {wrong}", file=sys.stderr)
        return NO_DEVICE
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f"run.py: cannot make the folder '{options.out}': {error.strerror}", file=sys.stderr)
        return NOT_WRITTEN
    worst = 0
    for number in numbers:
        if number != numbers[0]:
            deadline = processes.Deadline(limit(number, options))
        worst = max(worst, run_stage(number, options, manifest, deadline))
        if worst == INTERRUPTED:
            break
    return worst


if __name__ == "__main__":
    sys.exit(main())
