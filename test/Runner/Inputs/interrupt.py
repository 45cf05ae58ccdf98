# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""interrupt.py PROGRAM FOLDER: sends Ctrl-C once the program has handed something over."""

import os
import shutil
import signal
import subprocess
import sys
import time

program, folder = sys.argv[1:]
# The tests may run where SIGINT is ignored; the runner would go on ignoring it.
signal.signal(signal.SIGINT, signal.default_int_handler)
file = os.path.join(folder, "count.npy")
# A file of an earlier run would make us send the signal before the program can take it.
shutil.rmtree(folder, ignore_errors=True)
runner = subprocess.Popen(
    ["ad-runner", program, "--arg", "start=zeros", "--out-dir", folder], stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE
)
try:
    deadline = time.time() + 60
    while time.time() < deadline and not (os.path.exists(file) and os.path.getsize(file) > 1000):
        time.sleep(0.01)
    runner.send_signal(signal.SIGINT)
    _, errors = runner.communicate(timeout=30)
finally:
    runner.kill()
assert runner.returncode == 130, (runner.returncode, errors)
assert b"interrupted" in errors, errors
assert not os.path.exists(os.path.join(folder, "end.npy"))

data = open(file, "rb").read()
count = int(data[10 : data.index(b"\n")].split(b"(")[1].split(b",")[0])
body = data[data.index(b"\n") + 1 :]
assert len(body) == 4 * count and count > 100, (len(body), count)
shutil.rmtree(folder)
