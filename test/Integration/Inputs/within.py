# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""within.py FOLDER OTHER BOUND NAME…: exit code 1 when an array NAME.npy of the folders differs by more than BOUND
times what is larger, 1 or its elements."""

import pathlib
import sys

import numpy as np

one, other = map(pathlib.Path, sys.argv[1:3])
for name in sys.argv[4:]:
    a, b = (np.load(folder / f"{name}.npy").astype(np.float64) for folder in (one, other))
    if not np.all(np.abs(a - b) <= float(sys.argv[3]) * np.maximum(1, np.abs(a))):
        sys.exit(f"{name} differs by {np.max(np.abs(a - b))}")
