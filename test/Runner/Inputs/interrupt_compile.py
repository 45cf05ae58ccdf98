# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""interrupt_compile.py FOLDER: sends Ctrl-C while a program of many kernels is compiled, which takes seconds."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

KERNELS = 12000  # a barrier before each keeps them apart


def write_program(path):
    lines = ["func.func @main(%y0: tensor<4x4xf32>) -> tensor<4x4xf32> {"]
    for index in range(KERNELS):
        lines += [f"  %x{index} = ad.barrier %y{index} : tensor<4x4xf32>",
                  f"  %c{index} = ad.constant dense<{index}.5> : tensor<f32>",
                  f"  %y{index + 1} = ad.mul %x{index}, %c{index} : tensor<4x4xf32>, tensor<f32>"]
    with open(path, "w") as file:
        file.write("\n".join([*lines, f"  return %y{KERNELS} : tensor<4x4xf32>", "}\n"]))


def wait_for_handler(process):
    """Before the runner takes the signal it would die of it."""
    caught = 0
    while process.poll() is None and not caught & 1 << (signal.SIGINT - 1):
        with open(f"/proc/{process.pid}/status") as file:
            caught = int(next(line for line in file if line.startswith("SigCgt:")).split()[1], 16)
        time.sleep(0.01)


folder = sys.argv[1]
# The tests may run where SIGINT is ignored; the runner would go on ignoring it.
signal.signal(signal.SIGINT, signal.default_int_handler)
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
program, report, out = (os.path.join(folder, name) for name in ("many.mlir", "report.json", "out"))
write_program(program)
command = ["ad-runner", program, "--arg", "arg0=zeros", "--out-dir", out, "--report", report, "--cache", "off"]
runner = subprocess.Popen(command, stderr=subprocess.PIPE)
try:
    wait_for_handler(runner)
    time.sleep(0.3)
    runner.send_signal(signal.SIGINT)
    _, errors = runner.communicate(timeout=60)
finally:
    runner.kill()
assert runner.returncode == 130, (runner.returncode, errors)
assert errors.endswith(b"ad-runner: error: interrupted\n"), errors
assert not os.path.exists(out)
with open(report) as file:
    written = json.load(file)
assert written["exit_code"] == 130 and "run" not in [stage["name"] for stage in written["stages"]], written
shutil.rmtree(folder)
