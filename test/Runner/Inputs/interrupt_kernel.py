# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""interrupt_kernel.py PROGRAM FOLDER: sends Ctrl-C while one kernel runs that takes seconds, or one operation of the
interpreter. A kernel of the CPU ends after the part that runs; the interpreter ends after the operation, and says that
it waits for it. PROGRAM has two operations that multiply %a by a square matrix."""

import pathlib
import shutil
import signal
import subprocess
import sys
import time

program, folder = map(pathlib.Path, sys.argv[1:])
WAITING = b"press Ctrl-C again"


def interrupt(size, target):
    """The messages, and the seconds from Ctrl-C to the end."""
    folder.mkdir()
    (folder / "program.mlir").write_text(program.read_text().replace("4608", str(size)))
    out = folder / "out"
    command = ["ad-runner", str(folder / "program.mlir"), "--arg", "a=zeros", "--threads", "1", "--target", target,
               "--out-dir", str(out)]
    runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.time() + 60
        while runner.poll() is None and time.time() < deadline and not (out / "begun.npy").exists():
            time.sleep(0.01)
        runner.send_signal(signal.SIGINT)
        start = time.time()
        _, errors = runner.communicate(timeout=120)
        seconds = time.time() - start
    finally:
        runner.kill()
    assert runner.returncode == 130, (runner.returncode, errors)
    assert not (out / "end.npy").exists()
    shutil.rmtree(folder)
    *before, last = errors.splitlines()
    assert last == b"ad-runner: error: interrupted", errors
    return before, seconds


# The tests may run where SIGINT is ignored; the runner would go on ignoring it.
signal.signal(signal.SIGINT, signal.default_int_handler)
shutil.rmtree(folder, ignore_errors=True)
# 30 seconds or more of work, of which a part is less than a tenth.
waited, seconds = interrupt(8192, "cpu")
assert seconds < 6 and all(WAITING in line for line in waited), (waited, seconds)
# Several seconds of an operation, without parts: the message comes after one.
waited, seconds = interrupt(1200, "reference")
assert seconds > 1 and len(waited) == 1 and WAITING in waited[0], (waited, seconds)
