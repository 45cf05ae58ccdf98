# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Small disks that a test fills: file systems in memory, mounted in a name space of this process, with which they end.
Where mounting is not allowed, limits on the size of files take their place."""

import ctypes
import os
import subprocess
import sys

INSIDE = "ADJOINT_OWN_MOUNTS"
REMOUNT, DETACH = 32, 2

libc = ctypes.CDLL(None, use_errno=True)


def enter():
    """Runs this program again where it may mount, if there is such a place."""
    if INSIDE in os.environ:
        return
    os.environ[INSIDE] = "no"
    for words in (["--mount"], ["--user", "--map-root-user", "--mount"]):
        command = ["unshare", *words]
        try:
            done = subprocess.run([*command, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True)
        except OSError:
            return
        if done.returncode == 0:
            os.environ[INSIDE] = "yes"
            sys.stdout.flush()
            os.execvp("unshare", [*command, sys.executable, *sys.argv])


def is_available():
    return os.environ.get(INSIDE) == "yes"


def _mount(folder, size, flags):
    if libc.mount(b"none", os.fsencode(folder), b"tmpfs", flags, f"size={size},mode=700".encode()) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))


def mount(folder, size):
    _mount(folder, size, 0)


def resize(folder, size):
    _mount(folder, size, REMOUNT)


def unmount(folder):
    libc.umount2(os.fsencode(folder), DETACH)


def used(folder):
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize
