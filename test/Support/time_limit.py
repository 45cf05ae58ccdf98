#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs a command under a time limit, so that a deadlock is a failure that says where it was.

  time_limit.py SECONDS COMMAND…

The exit code is that of the command. After SECONDS the processes that it has started are named and killed; then the
exit code is 124, and the last line of the output says that the time is over. Where the caller ignores Ctrl-C, as the
background of a script does, the command does not: tests send that signal."""

import os
import pathlib
import signal
import subprocess
import sys
import threading

OUT_OF_TIME = 124  # as of timeout(1)


def parents():
    """The parent of each process."""
    found = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name of the program, in parentheses, may hold anything.
            found[int(file.parent.name)] = int(file.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            pass  # it has just ended
    return found


def descendants(ancestor):
    """The processes that a process has started, and those that they have, the first ones first."""
    children, found = {}, [ancestor]
    for process, parent in parents().items():
        children.setdefault(parent, []).append(process)
    for process in found:
        found += children.get(process, [])
    return found[1:]


def command_of(process):
    try:
        words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return ""
    return b" ".join(words).decode(errors="replace").strip()[:500]


class TimeLimit:
    """Around work that waits for processes: when `seconds` are over, all that this process has started are killed, also
    those that the work starts then, until it ends. `killed` names them."""

    def __init__(self, seconds):
        self.seconds, self.killed = seconds, []
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def _watch(self):
        if self.done.wait(self.seconds):
            return
        while True:
            running = [(process, command) for process in descendants(os.getpid()) if (command := command_of(process))]
            self.killed += [command for _, command in running]
            for process, _ in running:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if self.done.wait(0.1):
                return

    def complaint(self):
        """What to say when the time was over, else nothing."""
        return "".join(f"still running: {command}\n"
                       for command in self.killed) + f"no end after {self.seconds:g} seconds" if self.killed else ""


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with TimeLimit(float(sys.argv[1])) as limit:
        process = subprocess.Popen(sys.argv[2:])
        try:
            code = process.wait()
        except KeyboardInterrupt:
            # The command has the signal too; a shell stops its script when we die of it.
            process.wait()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
    if limit.killed:
        print(f"{limit.complaint()}: {' '.join(sys.argv[2:])}", flush=True)
        return OUT_OF_TIME
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
