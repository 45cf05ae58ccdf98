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
import tempfile

import numpy as np

FILE_ERROR = 2
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SECONDS = 10  # that a command has to clean up before it is killed
SLICE = 0.1  # seconds after which a program that waits looks for signals


class Stopped(BaseException):
    """A signal ends the program."""


class State:
    """The signal that ends the program. It waits while `holding` is positive."""

    number, holding, is_over = None, 0, False


def raise_stopped():
    """Raises the exception of a signal that waited, or whose exception was lost: `__del__` for one suppresses them."""
    if State.number and not State.is_over:
        raise Stopped(State.number)


def stop(number, frame=None):
    """Only the first signal counts: a terminal and `timeout` may send it twice, and cleaning up is not interrupted."""
    if State.number or State.is_over:
        return
    State.number = number
    if not State.holding:
        raise Stopped(number)


@contextlib.contextmanager
def holding_signals():
    """A signal waits until the end of the block, in which what needs to be cleaned up is made or removed."""
    State.holding += 1
    try:
        yield
    finally:
        State.holding -= 1
    if not State.holding:
        raise_stopped()


@contextlib.contextmanager
def naming(what):
    """Errors of files inside name what could not be read or written, as those of `write` do not."""
    try:
        yield
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror or str(problem), what) from problem


def end(process, patience, seconds):
    """Ends a command and waits until it has cleaned up: after `patience` seconds, in which it may end by itself. It is
    killed after so many seconds, if they are not None."""
    with process:
        # It must not wait for a reader of its output.
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
        for send, limit in ((None, patience), (process.terminate, seconds), (process.kill, None)):
            if send:
                send()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(limit)
                return


@contextlib.contextmanager
def started(command, patience=0, seconds=SECONDS, **options):
    """A command that runs meanwhile, and is ended when a signal ends this program; see `end`. Signals wait: what runs
    in the block looks for them with `raise_stopped`."""
    with holding_signals():
        process = subprocess.Popen(command, **options)
        try:
            yield process
        except BaseException:
            end(process, patience, seconds)
            raise


def communicate(process):
    """The output of a command. A signal that reaches a thread of a library, such as one of NumPy, does not interrupt
    the wait of the main thread, in which Python calls handlers: it waits in slices."""
    while True:
        raise_stopped()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=SLICE)


def execute(command, has_commands=False, **options):
    """Like subprocess.run, with the output as text, in which bytes that are not UTF-8 are escapes. When a signal ends
    this program, it ends the command and waits until that has cleaned up. One that `has_commands` of its own waits for
    them as long as this program would, so it is not killed: its files and commands would stay behind."""
    with started(command, seconds=None if has_commands else SECONDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 encoding="utf-8", errors="backslashreplace", **options) as process:
        output, errors = communicate(process)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def write_whole(path, content):
    """A text, or bytes. A reader finds the old file or the new one, never a part."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with naming(path), holding_signals():
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


def temporary_folder():
    """A tempfile.TemporaryDirectory that no signal leaves behind: it is removed by `remove`, or when Python ends."""
    with holding_signals():
        return tempfile.TemporaryDirectory()


def remove(folder):
    with holding_signals():
        folder.cleanup()


def run(main):
    """Runs the program and ends it with its exit code (0 for None)."""
    name = pathlib.Path(sys.argv[0]).name
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:  # `nohup` and background jobs of scripts ignore some
            signal.signal(number, stop)
    try:
        try:
            if sys.stdout is None:
                raise OSError(None, "it is closed", "standard output")
            sys.stdout.reconfigure(errors="backslashreplace")
            code, message = main() or 0, None
            with naming("standard output"):
                sys.stdout.flush()
            raise_stopped()
        finally:
            State.is_over = True
    except (Stopped, KeyboardInterrupt) as stopped:
        number = stopped.args[0] if isinstance(stopped, Stopped) else signal.SIGINT
        code, message = 128 + number, f"stopped by {signal.Signals(number).name}"
    except OSError as problem:
        # Only a pipe that somebody else reads can break: that of the output.
        file = problem.filename or ("standard output" if isinstance(problem, BrokenPipeError) else "")
        where = f"cannot read or write '{file}': " if file else ""
        code, message = FILE_ERROR, f"error: {where}{problem.strerror or problem}"
    if message:
        with contextlib.suppress(OSError):  # a program that ends this one no longer reads
            print(f"{name}: {message}", file=sys.stderr)
        # What is left to write would fail once more when Python ends.
        if sys.stdout:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Python itself restores the default actions of signals before it has ended.
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)
