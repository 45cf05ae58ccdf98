# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Commands with a time limit. A command that is late is killed with all that it has started, and nobody waits for long
for one that cannot die. One whose starter is killed dies, too: a kernel that hangs would keep the GPU from those that
follow."""

import contextlib
import ctypes
import os
import signal
import subprocess
import tempfile
import threading
import time

SECONDS_TO_DIE = 5
SHOWN = 2000  # characters of what a command said
HUNG = "hung"

DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG of prctl(2)

libc = ctypes.CDLL(None)
running, lock = set(), threading.Lock()
ended = threading.Event()  # no further command is begun


class Ended:
    """How a command ended: its exit code, a negative signal, or HUNG; what it said at last, and the seconds that it
    took."""

    def __init__(self, code, said, seconds):
        self.code, self.said, self.seconds = code, said, seconds

    def ok(self):
        return self.code == 0

    def status(self):
        """passed, failed, crashed or hung."""
        if self.code == HUNG:
            return "hung"
        return "passed" if self.code == 0 else "crashed" if self.code < 0 else "failed"

    def complaint(self):
        if self.code == HUNG:
            return f"ran longer than {self.seconds:.0f} seconds: {self.said}".rstrip(": ")
        if self.code < 0:
            return f"{signal_name(-self.code)}: {self.said}".rstrip(": ")
        return f"exit code {self.code}: {self.said}"


def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def die_with_parent():
    """In the child, before its program begins."""
    libc.prctl(DEATH_OF_PARENT, signal.SIGKILL)


def start(command, **more):
    """A process that is the first of its group, and that is known to `end_all`."""
    with lock:
        if ended.is_set():
            return None
        process = subprocess.Popen([str(word) for word in command], start_new_session=True, preexec_fn=die_with_parent,
                                   **more)
        running.add(process)
    return process


def end(process):
    """Kills it and what it leaves behind, if it runs, and waits for its end."""
    kill(process)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_DIE)
    with lock:
        running.discard(process)


def end_all():
    """Ends what runs, and lets nothing begin."""
    ended.set()
    with lock:
        for process in running:
            kill(process)


def end_of(file, limit=SHOWN):
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - limit))
    return file.read().decode(errors="replace").strip()


def run(command, seconds, folder=None, environment=None, shown=SHOWN):
    """Runs a command, for `seconds` at most. What it says goes to a file: a pipe would stay open as long as anything
    that it started. OSError when it cannot be started."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = start(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said,
                        stderr=subprocess.STDOUT) if seconds > 0 else None
        if not process:
            return Ended(HUNG, "", 0)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = HUNG
        finally:
            end(process)
        return Ended(code, end_of(said, shown), time.monotonic() - begin)


class Deadline:
    """The end of a piece of work, or none."""

    def __init__(self, seconds=float("inf")):
        self.end = time.monotonic() + seconds

    def remaining(self):
        return max(0.0, self.end - time.monotonic())

    def over(self):
        return self.remaining() <= 0 or ended.is_set()

    def clamp(self, seconds):
        return min(seconds, self.remaining())
