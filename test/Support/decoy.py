# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A tree of files that nothing may touch, and the kernel's word for whether something did (inotify)."""

import ctypes
import os
import pathlib
import shutil
import stat
import struct

LIBC = ctypes.CDLL(None, use_errno=True)
ACCESS, MODIFY, ATTRIB, OPEN, MOVED, CREATE, DELETE = 0x1, 0x2, 0x4, 0x20, 0xC0, 0x100, 0x200
NAMES = {ACCESS: "read", MODIFY: "written", ATTRIB: "changed", OPEN: "opened", 0x40: "moved", 0x80: "moved",
         CREATE: "created", DELETE: "deleted"}
EVENT = struct.Struct("iIII")


class Decoy:
    """The tree in `folder`, with copies of files that a tool could read. It is watched from the beginning."""

    def __init__(self, folder, fixed):
        self.folder, self.fixed = pathlib.Path(folder), pathlib.Path(fixed)
        self._make()
        self._watch()

    def _make(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.fixed / "trace", self.folder / "tree")
        for name, file in (("secret.npy", "x.npy"), ("secret.mlir", "first.mlir"), ("secret.yaml", "policy.yaml"),
                           ("secret.tsv", "trace/records.tsv"), ("secret.json", "trace/run.json")):
            shutil.copy(self.fixed / file, self.folder / name)
        os.mkfifo(self.folder / "pipe")  # whoever reads it waits
        try:
            os.mknod(self.folder / "zero", 0o600 | stat.S_IFCHR, os.makedev(1, 5))  # whoever reads it does not end
        except PermissionError:
            os.mkfifo(self.folder / "zero")

    def _watch(self):
        self.queue = LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.queue < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self.places = {}
        # Listed first, since a listing reads the folders.
        for folder in [folder for folder, _, _ in os.walk(self.folder)]:
            mask = ACCESS | MODIFY | ATTRIB | OPEN | MOVED | CREATE | DELETE
            watch = LIBC.inotify_add_watch(self.queue, os.fsencode(folder), mask)
            if watch < 0:
                raise OSError(ctypes.get_errno(), "inotify_add_watch")
            self.places[watch] = pathlib.Path(folder)

    def touched(self):
        """What happened to which files since the last call; then the tree is made anew."""
        try:
            events = os.read(self.queue, 1 << 20)
        except BlockingIOError:
            return []
        found, at = {}, 0
        while at < len(events):
            watch, mask, _, length = EVENT.unpack_from(events, at)
            at += EVENT.size + length
            name = os.fsdecode(events[at - length:at].rstrip(b"\0"))
            place = self.places[watch] / name if watch in self.places else self.folder
            for bit, word in NAMES.items():
                if mask & bit:
                    found[f"{place.relative_to(self.folder.parent)} was {word}"] = True
        os.close(self.queue)
        self._make()
        self._watch()
        return list(found)

    def close(self):
        os.close(self.queue)
