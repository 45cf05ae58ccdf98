# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""interrupt_ignored.py: a runner that was started with SIGINT ignored does its work in spite of Ctrl-C."""

import signal
import subprocess
import time

PROGRAM = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }"


def wait_until_ignored(process, number):
    """The runner ignores SIGXFSZ once it has set its signals up."""
    ignored = 0
    while process.poll() is None and not ignored & 1 << (number - 1):
        with open(f"/proc/{process.pid}/status") as file:
            ignored = int(next(line for line in file if line.startswith("SigIgn:")).split()[1], 16)
        time.sleep(0.01)


signal.signal(signal.SIGINT, signal.SIG_IGN)
# Python resets SIGXFSZ in its children, so that it is ignored only once the runner has said so.
runner = subprocess.Popen(["ad-runner", "-", "--arg", "arg0=arange", "--print"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
try:
    wait_until_ignored(runner, signal.SIGXFSZ)
    runner.send_signal(signal.SIGINT)
    printed, errors = runner.communicate(PROGRAM, timeout=60)
finally:
    runner.kill()
assert runner.returncode == 0 and not errors and "[0. 1.]" in printed, (runner.returncode, printed, errors)
