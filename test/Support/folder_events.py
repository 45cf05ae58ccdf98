# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Counts what processes do to the files of a folder, as Linux tells by inotify: files that are made, written, renamed,
removed and closed."""

import ctypes
import os
import pathlib
import struct

MODIFY, CLOSE_WRITE, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x8, 0x40, 0x80, 0x100, 0x200
IS_FOLDER = 0x40000000
HEADER = struct.Struct("iIII")
SIZE = 1 << 16

libc = ctypes.CDLL(None, use_errno=True)


class FolderEvents:
    """Of a folder and all folders in it. `fileno` is readable when there is something to count."""

    def __init__(self, folder):
        self.descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
        self.count, self.folders = 0, {}
        self._watch(pathlib.Path(folder))

    def fileno(self):
        return self.descriptor

    def close(self):
        os.close(self.descriptor)

    def _watch(self, folder):
        mask = MODIFY | CLOSE_WRITE | MOVED_FROM | MOVED_TO | CREATE | DELETE
        number = libc.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)
        if number < 0:
            return  # it has been removed
        self.folders[number] = folder
        try:
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    self._watch(folder / entry.name)
        except OSError:
            pass

    def read(self):
        """Counts the events so far; folders that were made are watched too."""
        try:
            data = os.read(self.descriptor, SIZE)
        except BlockingIOError:
            return
        while data:
            number, mask, _, length = HEADER.unpack_from(data)
            name = data[HEADER.size:HEADER.size + length].rstrip(b"\0")
            data = data[HEADER.size + length:]
            self.count += 1
            if mask & IS_FOLDER and mask & (CREATE | MOVED_TO) and number in self.folders:
                self._watch(self.folders[number] / os.fsdecode(name))
