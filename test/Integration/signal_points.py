#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""signal_points.py FOLDER COUNT SEED: sends SIGINT to an experiment at COUNT random opcodes of what makes and removes
its files and commands. ADJOINT_BIN has a stand-in for ad-runner. Prints what is wrong, one line each.

The signal goes to the experiment alone, which has to end its command. The experiment is a fork of this program, and so
is not loaded again for each of them. Its orphans become children of this program.
"""

import atexit
import ctypes
import os
import pathlib
import random
import signal
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples/numerics"), str(ROOT / "examples/support")]
sys.dont_write_bytecode = True

import numpy as np

import ending
import experiment

FILES = {ending.__file__, tempfile.__file__}
PR_SET_CHILD_SUBREAPER = 36


def program():
    study = experiment.Experiment("points", "Points", "An experiment that a signal ends.")
    study.run("points", "// A program.", {"x": np.zeros(4)})
    study.finish()


def traced(point, count_file):
    """The program, with a signal before the opcode of this number, and the number of all its opcodes."""
    seen = 0

    def enter(frame, event, argument):
        frame.f_trace_opcodes = True
        return step if frame.f_code.co_filename in FILES else None

    def step(frame, event, argument):
        nonlocal seen
        seen += event == "opcode"
        if event == "opcode" and seen == point:
            sys.settrace(None)
            os.kill(os.getpid(), signal.SIGINT)
        return step

    sys.settrace(enter)
    program()
    sys.settrace(None)
    count_file.write_text(str(seen))


def run(folder, point=None):
    """The exit code of the experiment."""
    (folder / "temporary").mkdir(parents=True)
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        os.dup2(os.open(folder / "output", os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(1, 2)
        tempfile.tempdir = str(folder / "temporary")
        sys.argv = ["points", "--out", str(folder / "out")]
        ending.run(lambda: traced(point, folder / "count"))
    except SystemExit as end:
        code = end.code
    finally:
        atexit._run_exitfuncs()
        os._exit(code)


def orphans():
    """How many processes the experiment did not wait for; waits for them."""
    count = 0
    while True:
        try:
            os.wait()
            count += 1
        except ChildProcessError:
            return count


def main():
    folder, count, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    code = run(folder / "all")
    if code or orphans():
        print(f"without a signal: exit code {code}: {(folder / 'all/output').read_text()}")
        return
    total = int((folder / "all/count").read_text())
    for point in sorted(random.Random(seed).sample(range(1, total + 1), min(count, total))):
        place = folder / str(point)
        code, alone = run(place, point), orphans()
        left = [str(path) for path in (place / "temporary").rglob("*")] + [str(path) for path in place.rglob("out/.*")]
        if code != 130 or alone or left:
            print(f"opcode {point} of {total}: exit code {code}, {alone} orphans, left behind: {left[:5]}, "
                  f"{(place / 'output').read_text().strip()[-200:]}")


if __name__ == "__main__":
    main()
