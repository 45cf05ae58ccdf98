# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Results as lines of JSON: a row is on the disk as soon as it is known, and a file that was cut off is read as far as it is whole."""

import json
import os
import sys
import threading

MAX_BYTES = 16 << 20  # of a file, so that it can be carried away
MAX_TEXT = 4000  # characters of one value


def shortened(value):
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return value[:MAX_TEXT // 2] + " … " + value[-MAX_TEXT // 2:]
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return value


class Rows:
    """A file of rows, or none. What cannot be written is printed, and remembered in `broken`: the work goes on."""

    def __init__(self, file, **common):
        self.file, self.common, self.broken, self.lock = file, common, None, threading.Lock()

    def add(self, **row):
        if not self.file:
            return
        line = json.dumps({**self.common, **shortened(row)}) + "\n"
        with self.lock:
            try:
                self.append(line.encode())
            except OSError as error:
                if not self.broken:
                    print(f"cannot write '{self.file}': {error.strerror}; the rows follow here", file=sys.stderr, flush=True)
                self.broken = self.broken or error.strerror
                print(line, end="", flush=True)

    def append(self, line):
        """The whole line, or nothing. A line that an earlier run has not finished is ended first."""
        descriptor = os.open(self.file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                line = b"\n" + line
            if size + len(line) > MAX_BYTES:
                raise OSError(27, f"more than {MAX_BYTES >> 20} MiB")
            try:
                written = 0
                while written < len(line):
                    written += os.write(descriptor, line[written:])
            except OSError:
                os.ftruncate(descriptor, size)
                raise
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read(file):
    """(the rows of a file, how many lines are no rows)."""
    rows, damaged = [], 0
    for line in file.read_bytes().split(b"\n"):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if isinstance(row, dict):
            rows.append(row)
        else:
            damaged += 1
    return rows, damaged
