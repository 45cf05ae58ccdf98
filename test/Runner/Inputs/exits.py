# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""exits.py [--file-limit BYTES] CODE COMMAND…: runs the command and fails unless it exits with CODE. What it prints
goes through. With --file-limit, a write beyond so many bytes of a file fails, as on a full disk."""

import resource
import subprocess
import sys

arguments = sys.argv[1:]
prepare = None
if arguments[0] == "--file-limit":
    size = int(arguments[1])
    arguments = arguments[2:]

    def prepare():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


expected, command = int(arguments[0]), arguments[1:]
code = subprocess.run(command, preexec_fn=prepare).returncode
if code != expected:
    sys.exit(f"expected exit code {expected}, got {code}: {' '.join(command)}")
