# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""write_tensors.py FOLDER: the tensors of the tests of ad-diff's text."""

import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])
base = np.arange(12, dtype=np.float32).reshape(3, 4)
changed = base.copy()
for place, value in (((1, 2), 0.999), ((2, 2), 0.0999), ((2, 3), 0.00999)):
    changed[place] += np.float32(value)
for side, arrays in (("a", {"w": base, "bias": base[0]}), ("b", {"w": changed, "bias": base[0]})):
    (folder / side).mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        np.save(folder / side / f"{name}.npy", array)
np.save(folder / "base.npy", base)
np.save(folder / "changed.npy", changed)
np.save(folder / "half.npy", base.astype(np.float16))
