# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""exits.py CODE COMMAND…: runs the command and fails unless it exits with CODE. What it prints goes through."""

import subprocess
import sys

code = subprocess.run(sys.argv[2:]).returncode
if code != int(sys.argv[1]):
    sys.exit(f"expected exit code {sys.argv[1]}, got {code}: {' '.join(sys.argv[2:])}")
