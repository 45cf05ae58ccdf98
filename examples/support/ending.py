# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""How programs of the examples end. An error of a file and a signal give one line and an exit code without a traceback,
and temporary files are removed: 2 for a file that cannot be read or written, 130 for Ctrl-C, 143 for SIGTERM."""

import contextlib
import io
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np

FILE_ERROR = 2
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS = 10  # that a command has to clean up before it is killed


class Stopped(BaseException):
    """A signal ends the program."""


class Start:
    """While a command starts, a signal waits until the command is known and can be ended."""

    running, held = False, []


def stop(number, frame=None):
    if Start.running:
        Start.held.append(number)
        return
    # What is being cleaned up is not interrupted again: a terminal and `timeout` may send a signal twice.
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise Stopped(number)


@contextlib.contextmanager
def naming(what):
    """Errors of files inside name what could not be read or written, as those of `write` do not."""
    try:
        yield
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror or str(problem), what) from problem


def end(process, patience):
    """Ends a command and waits until it has cleaned up."""
    for send, seconds in ((None, patience), (process.terminate, SECONDS), (process.kill, None)):
        if send:
            send()
        try:
            process.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            pass


@contextlib.contextmanager
def started(command, patience=0, **options):
    """A command that runs meanwhile. When a signal ends this program, it ends the command; one that a terminal has
    interrupted, too, has `patience` seconds to end by itself."""
    process, Start.running = None, True
    try:
        process = subprocess.Popen(command, **options)
        Start.running = False
        if Start.held:
            stop(Start.held[0])
        yield process
    except BaseException:
        Start.running = False
        if process:
            end(process, patience)
        raise
    process.wait()


def execute(command, **options):
    """Like subprocess.run, with the output as text, in which bytes that are not UTF-8 are escapes. When a signal ends
    this program, it ends the command and waits until that has cleaned up."""
    with started(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="backslashreplace",
                 **options) as process:
        output, errors = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def write_whole(path, content):
    """A text, or bytes. A reader finds the old file or the new one, never a part."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def save_whole(path, values):
    """The same with an array, as .npy."""
    content = io.BytesIO()
    np.save(content, values, allow_pickle=False)
    write_whole(path, content.getbuffer())


def run(main):
    """Runs the program and ends it with its exit code (0 for None)."""
    name = pathlib.Path(sys.argv[0]).name
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # `nohup` and background jobs of scripts ignore some
            signal.signal(number, stop)
    try:
        if sys.stdout is None:
            raise OSError(None, "it is closed", "standard output")
        sys.stdout.reconfigure(errors="backslashreplace")
        code, message = main() or 0, None
        with naming("standard output"):
            sys.stdout.flush()
    except (Stopped, KeyboardInterrupt) as stopped:
        number = stopped.args[0] if isinstance(stopped, Stopped) else signal.SIGINT
        code, message = 128 + number, f"stopped by {signal.Signals(number).name}"
    except OSError as problem:
        # Only a pipe that somebody else reads can break: that of the output.
        file = problem.filename or ("standard output" if isinstance(problem, BrokenPipeError) else "")
        where = f"cannot read or write '{file}': " if file else ""
        code, message = FILE_ERROR, f"error: {where}{problem.strerror or problem}"
    if message:
        print(f"{name}: {message}", file=sys.stderr)
        # What is left to write would fail once more when Python ends.
        if sys.stdout:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)
