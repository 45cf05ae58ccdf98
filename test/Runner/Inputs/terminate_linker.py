# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""terminate_linker.py PROGRAM FOLDER: ends a runner and its linker by one signal, as a terminal that closes does. The
runner ends by the signal, too, and does not say that the program does not link."""

import os
import shutil
import signal
import subprocess
import sys
import time

program, folder = sys.argv[1], sys.argv[2]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
linker, started, out = (os.path.join(folder, name) for name in ("ld.lld-22", "started", "out.adx"))
with open(linker, "w") as file:
    file.write(f"#!/bin/sh\ntouch {started}\nexec sleep 60\n")
os.chmod(linker, 0o755)
environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)  # the tests may run where it is ignored
    for _ in range(5):
        runner = subprocess.Popen(["ad-runner", program, "--cache", "off", "--emit", out], stderr=subprocess.PIPE,
                                  env=environment, start_new_session=True)
        try:
            while not os.path.exists(started):
                assert runner.poll() is None, runner.communicate()
                time.sleep(0.01)
            os.killpg(runner.pid, number)
            _, errors = runner.communicate(timeout=60)
        finally:
            if runner.poll() is None:
                os.killpg(runner.pid, signal.SIGKILL)
        assert runner.returncode == -number and not errors, (runner.returncode, errors)
        assert not os.path.exists(out)
        os.remove(started)
shutil.rmtree(folder)
