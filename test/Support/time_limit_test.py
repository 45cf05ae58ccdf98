#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The limits under which tests run, on tests that do not end. Closes with `time limit: N run, N failed`."""

import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import time_limit  # noqa: E402

SUITE = f"""
import sys
sys.path += [{str(HERE.parent)!r}, {str(HERE)!r}]
from adjoint_lit import OwnCacheTest
config.name, config.suffixes, config.test_format = "limited", [".test"], OwnCacheTest(5)
"""


def limited(seconds, *command, **keywords):
    done = subprocess.run([sys.executable, HERE / "time_limit.py", seconds, *command], capture_output=True, text=True,
                          **keywords)
    return done.returncode, done.stdout


def ends_in_time(_):
    for script, code in {"exit 0": 0, "exit 3": 3, "kill -SEGV $$": 128 + signal.SIGSEGV}.items():
        if (found := limited("60", "bash", "-c", f"echo said; {script}")) != (code, "said\n"):
            yield f"{script}: {found}"


def does_not_end(folder):
    """Its child processes do not go on either, also detached ones."""
    started = folder / "started"
    start = time.monotonic()
    code, said = limited("2", "bash", "-c",
                         f"(sleep 1000 & sleep 1001) & setsid sleep 1002 & jobs -p >{started}; sleep 1003; sleep 1004")
    if code != time_limit.OUT_OF_TIME or not said.splitlines()[-1].startswith("no end after 2 seconds: bash -c"):
        yield f"exit code {code}: {said}"
    if time.monotonic() - start > 500:
        yield "it was waited for"
    for seconds in range(1000, 1004):
        if f"still running: sleep {seconds}\n" not in said:
            yield f"sleep {seconds} is not named: {said}"
    for process in started.read_text().split():
        # A zombie is gone, too.
        if pathlib.Path(f"/proc/{process}").exists() and time_limit.command_of(int(process)):
            yield f"process {process} goes on"


def takes_signals(_):
    """What the background of a script ignores."""
    script = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    found = limited("60", sys.executable, "-c", script, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    if found != (0, "True\n"):
        yield f"{found}"


def under_lit(folder):
    (folder / "lit.cfg.py").write_text(SUITE)
    (folder / "late.test").write_text("RUN: echo begun\nRUN: bash -c 'sleep 1000; true' || true\nRUN: sleep 1001\n")
    (folder / "early.test").write_text("RUN: echo begun\n")
    done = subprocess.run(["/usr/lib/llvm-22/bin/lit", "-v", folder], capture_output=True, text=True,
                          env={**os.environ, "HOME": str(folder)})
    for text in ("PASS: limited :: early.test", "TIMEOUT: limited :: late.test", "still running: sleep 1000",
                 "no end after 5 seconds"):
        if text not in done.stdout:
            yield f"expected '{text}' in {done.stdout}{done.stderr}"
    if done.returncode != 1:
        yield f"exit code {done.returncode}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("time limit", [(check.__name__, check)
                                              for check in (ends_in_time, does_not_end, takes_signals, under_lit)]))
