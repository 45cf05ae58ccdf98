# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays of narrow floats, which NumPy lacks: ml_dtypes converts them. Without it they are opaque bytes, of which NumPy
would copy some; then bf16 is converted here, and other ones are refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import OptionError
from ._signature import DTYPES


def convert(array: Any, element: str) -> np.ndarray:
    """The elements of an array, rounded to another element type; NumPy's or those of `adjoint.spec`."""
    given, to = np.asarray(array), DTYPES[element]
    if given.dtype.type is not np.void and to.type is not np.void:
        return given.astype(to)
    bf16 = DTYPES["bf16"]
    if given.dtype == to:
        return given.copy()
    if (given.dtype.type is np.void and given.dtype != bf16) or (to.type is np.void and to != bf16):
        raise OptionError(
            "arrays of 8-bit floats are converted by the package ml_dtypes, which is not installed; run "
            "pip install adjoint-mlir[small-floats]"
        )
    return _to_bf16(given) if to == bf16 else _from_bf16(given).astype(to)


def _from_bf16(given: np.ndarray) -> np.ndarray:
    bits = np.ascontiguousarray(given).view(np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32).reshape(given.shape)


def _to_bf16(given: np.ndarray) -> np.ndarray:
    """Rounds to the nearest number, ties to even. In f32 an inexact number becomes an odd neighbour first, so that
    nothing is rounded twice."""
    wide = given.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        single = wide.astype(np.float32)
    bits, back = np.ascontiguousarray(single).view(np.uint32).reshape(given.shape), single.astype(np.float64)
    is_inexact = (back != wide) & ~np.isnan(wide)
    bits = np.where(is_inexact & (np.abs(back) > np.abs(wide)), bits - np.uint32(1), bits)
    bits = np.where(is_inexact, bits | np.uint32(1), bits)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> 16) & np.uint32(1))) >> 16
    rounded = np.where(np.isnan(wide), np.uint32(0x7FC0), rounded)
    return np.ascontiguousarray(rounded.astype(np.uint16)).view(DTYPES["bf16"]).reshape(given.shape)
