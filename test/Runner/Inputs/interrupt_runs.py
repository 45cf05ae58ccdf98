# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""interrupt_runs.py PROGRAM FOLDER: sends Ctrl-C between the runs of --repeat, of a program that has no loop which
could look for it."""

import json
import pathlib
import signal
import subprocess
import sys
import time

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
# The tests may run where SIGINT is ignored; the runner would go on ignoring it.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder.mkdir(exist_ok=True)
compiled, report = folder / "program.adx", folder / "report.json"
subprocess.run(["ad-runner", program, "--cache", "off", "--emit", compiled], check=True)
runs = 10_000_000
runner = subprocess.Popen(["adrt-run", compiled, "--arg", "x=normal:1", "--repeat", str(runs), "--report", report],
                          stderr=subprocess.PIPE)
try:
    time.sleep(1)
    runner.send_signal(signal.SIGINT)
    _, errors = runner.communicate(timeout=60)
finally:
    runner.kill()
assert runner.returncode == 130, (runner.returncode, errors)
assert f" of {runs} runs".encode() in errors, errors
kept = json.loads(report.read_text())
assert kept["exit_code"] == 130 and 0 < len(kept["runs"]) < runs, (kept["exit_code"], len(kept["runs"]))
