# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""one_cpu.py COMMAND…: runs the command on one of the CPUs that this process may use."""

import os
import sys

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execvp(sys.argv[1], sys.argv[1:])
