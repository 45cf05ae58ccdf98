# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs a command that ends early: by a signal at some moment, on a full disk, or when nobody reads its output any more.
What it did to the files of a folder is counted until then and in all."""

import dataclasses
import os
import pathlib
import select
import signal
import subprocess
import time

from folder_events import FolderEvents

HANG_SECONDS = 10  # that a process may take to end after a signal
LEFT_SECONDS = 3  # that the processes it has started may take longer
MAX_SECONDS = 300
POLL_SECONDS = 0.01


@dataclasses.dataclass
class Plan:
    """How a command ends; without any of these, by itself."""

    signal: int = 0
    seconds: float | None = None  # after the start
    event: int | None = None  # after so many events of the folder,
    delay: float = 0.0  # and so many seconds
    group: bool = False  # the signal goes to the processes that the command has started, too
    pipe_bytes: int | None = None  # after so many bytes of its output nobody reads on
    file_limit: int | None = None  # no file may become larger

    def __str__(self):
        words = []
        if self.signal:
            moment = f"{self.seconds:.4f} s" if self.event is None else f"event {self.event} and {self.delay:.4f} s"
            words.append(f"{signal.Signals(self.signal).name} after {moment}{' to all processes' * self.group}")
        if self.pipe_bytes is not None:
            words.append(f"output closed after {self.pipe_bytes} bytes")
        if self.file_limit is not None:
            words.append(f"files of at most {self.file_limit} bytes")
        return ", ".join(words) or "no disturbance"


@dataclasses.dataclass
class Ended:
    code: int
    errors: str
    output: list  # of (seconds, bytes)
    seconds: float
    sent: float | None  # when the signal was sent, in seconds after the start
    caught: bool  # whether the process had a handler of the signal then
    before: int  # events of the folder until then, or until the process ended
    events: int  # in all
    lateness: float  # the longest time for which this process was not served
    problem: str | None  # it did not end in time, or left processes

    def text(self):
        return b"".join(part for _, part in self.output).decode(errors="replace")

    def output_before(self, seconds):
        return b"".join(part for when, part in self.output if when <= seconds).decode(errors="replace")


def catches(process, number):
    """Whether a process handles a signal."""
    try:
        lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return False
    masks = [int(line.split()[1], 16) for line in lines if line.startswith(("SigCgt:", "SigIgn:"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


def is_group_alive(group):
    """Whether a process of the group runs; one that has ended may wait for its parent."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = file.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # it has just ended
        if int(its_group) == group and state not in "ZX":
            return True
    return False


class _Run:
    def __init__(self, command, folder, plan, watched, environment):
        if plan.file_limit is not None:
            command = ["prlimit", f"--fsize={plan.file_limit}:{plan.file_limit}", "--", *command]
        self.plan, self.events = plan, FolderEvents(watched)
        self.start = time.monotonic()
        self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.pipes = {self.process.stdout: [], self.process.stderr: []}
        self.open = set(self.pipes)
        self.sent, self.caught, self.before, self.lateness, self.due = None, False, None, 0.0, None

    def now(self):
        return time.monotonic() - self.start

    def moment(self):
        """When the signal is sent, if that is known."""
        if not self.plan.signal or self.sent is not None:
            return None
        if self.plan.event is None:
            return self.plan.seconds
        if self.due is None and self.events.count >= self.plan.event:
            self.due = self.now() + self.plan.delay
        return self.due

    def send(self, number):
        try:
            (os.killpg if self.plan.group else os.kill)(self.process.pid, number)
        except ProcessLookupError:
            pass

    def signal_when_due(self):
        moment = self.moment()
        if moment is None or self.now() < moment:
            return
        self.events.read()
        self.caught = catches(self.process.pid, self.plan.signal)
        self.before = self.events.count
        self.sent = self.now()
        self.send(self.plan.signal)

    def read(self, pipe):
        part = os.read(pipe.fileno(), 1 << 16)
        if part:
            self.pipes[pipe].append((self.now(), part))
        else:
            self.open.discard(pipe)
        limit = self.plan.pipe_bytes
        if limit is not None and pipe is self.process.stdout and sum(len(p) for _, p in self.pipes[pipe]) >= limit:
            self.close_output()

    def close_output(self):
        self.open.discard(self.process.stdout)
        self.process.stdout.close()

    def step(self):
        moment, before = self.moment(), self.now()
        wait = POLL_SECONDS if moment is None else min(max(moment - before, 0), POLL_SECONDS)
        readable = select.select([self.events, *self.open], [], [], wait)[0]
        self.lateness = max(self.lateness, self.now() - before - wait)
        if self.events in readable:
            self.events.read()
        self.signal_when_due()
        for pipe in readable:
            if pipe in self.open:
                self.read(pipe)

    def loop(self):
        """Until the process has ended; a complaint if it does not."""
        while self.process.poll() is None:
            self.step()
            limit = MAX_SECONDS if self.sent is None else self.sent + HANG_SECONDS
            if self.now() > limit:
                self.kill()
                return f"no end {HANG_SECONDS} seconds after the signal" if self.sent else "no end"
        return None

    def kill(self):
        self.kill_group()
        self.process.wait()

    def kill_group(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def left_processes(self):
        """A complaint about processes that the command has started and that outlive it; they are ended."""
        end = time.monotonic() + LEFT_SECONDS
        while is_group_alive(self.process.pid):
            if time.monotonic() > end:
                os.killpg(self.process.pid, signal.SIGKILL)
                return "a process that it has started still runs"
            time.sleep(POLL_SECONDS)
        return None


def run(command, folder, plan, watched, environment):
    """Runs the command in a folder while another one is watched."""
    run = _Run(command, folder, plan, watched, environment)
    if plan.pipe_bytes == 0:
        run.close_output()
    problem = run.loop()
    seconds = run.now()
    if plan.signal == signal.SIGKILL:
        run.kill_group()
    else:
        problem = problem or run.left_processes()
    for pipe in list(run.open):
        while pipe in run.open:
            run.read(pipe)
    run.events.read()
    before = run.events.count if run.before is None else run.before
    ended = Ended(run.process.returncode, b"".join(part for _, part in run.pipes[run.process.stderr]).decode(
        errors="replace"), run.pipes[run.process.stdout], seconds, run.sent, run.caught, before, run.events.count,
                  run.lateness, problem)
    for pipe in run.pipes:
        pipe.close()
    run.events.close()
    return ended
