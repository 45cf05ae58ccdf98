# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Names of NumPy that Adjoint does not have, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _refusing(name: str, reason: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError(f"adjoint.numpy.{name} {reason}")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


nonzero, unique_all, unique_counts, unique_inverse, unique_values = (
    _refusing(name, "has a shape that depends on values, which a traced program cannot have")
    for name in ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")
)
conj, imag, real = (
    _refusing(name, "is about complex numbers, which Adjoint does not have") for name in ("conj", "imag", "real")
)
from_dlpack = _refusing("from_dlpack", "makes an array; arguments of compiled functions take such objects as they are")
HINTS = {
    "linalg": "its products are adjoint.numpy.matmul, matrix_transpose, vecdot and tensordot",
    "vmap": "write the batch as a leading axis",
    "random": "adjoint.random has keys, as jax.random",
    **dict.fromkeys(("put", "put_along_axis", "place", "scatter"), "x.at[key].set(y) is a tensor with elements replaced"),
    **dict.fromkeys(("cummax", "cummin"), "adjoint.ops.cummax(x, axis=0) and cummin are running extremes"),
    "logsumexp": "it is adjoint.nn.functional.logsumexp",
    "one_hot": "it is adjoint.nn.functional.one_hot",
    "view": "x.view(dtype) has the same bits as another type, x.reshape(shape) another shape",
    "gather": "take_along_axis has an index for each element, x[i] whole rows",
    "index_select": "take has indices of an axis",
    **dict.fromkeys(("compress", "extract", "argwhere"), "its shape depends on values; where(mask, x, y) keeps the shape"),
    "uint8": "Adjoint has no unsigned integers; convert pictures to int32 or to floats",
    "int16": "Adjoint has integers of 8, 32 and 64 bits",
}
