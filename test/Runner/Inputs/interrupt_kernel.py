# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""interrupt_kernel.py PROGRAM FOLDER: sends Ctrl-C while one kernel runs that takes seconds. The runner says that it
waits for it, and stops after it."""

import os
import shutil
import signal
import subprocess
import sys
import time

program, folder = sys.argv[1:]
# The tests may run where SIGINT is ignored; the runner would go on ignoring it.
signal.signal(signal.SIGINT, signal.default_int_handler)
file = os.path.join(folder, "begun.npy")
shutil.rmtree(folder, ignore_errors=True)
command = ["ad-runner", program, "--arg", "a=zeros", "--threads", "1", "--out-dir", folder]
runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
try:
    deadline = time.time() + 60
    while runner.poll() is None and time.time() < deadline and not os.path.exists(file):
        time.sleep(0.01)
    runner.send_signal(signal.SIGINT)
    _, errors = runner.communicate(timeout=120)
finally:
    runner.kill()
assert runner.returncode == 130, (runner.returncode, errors)
waiting, stopped = errors.splitlines()
assert b"press Ctrl-C again" in waiting and stopped == b"ad-runner: error: interrupted", errors
assert not os.path.exists(os.path.join(folder, "end.npy"))
shutil.rmtree(folder)
