# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Sorts along an axis. All are stable, and NaNs come last in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import ops
from .._checks import whole
from .._constants import tensor
from .._errors import TracingError
from .._shapes import axes_of

if TYPE_CHECKING:
    from .._tensor import Tensor


def _along(x: Any, axis: int) -> tuple[Tensor, int]:
    value = tensor(x)
    (place,) = axes_of(axis, value.ndim)
    return value, place


def _key(x: Tensor) -> Tensor:
    return x.astype("i8") if x.element_type == "i1" else x


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    value, place = _along(x, axis)
    return ops.argsort(_key(value), axis=place, descending=descending)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    value, place = _along(x, axis)
    made = ops.sort([_key(value)], axis=place, descending=descending)[0]
    return made.astype("i1") if value.element_type == "i1" else made


def top_k(x: Any, k: int, /, *, axis: int = -1, mode: str = "largest") -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements in order, and their positions."""
    if mode not in ("largest", "smallest"):
        raise TracingError(f"top_k has the modes largest and smallest, but got {mode!r}")
    value, place = _along(x, axis)
    values, positions = ops.top_k(value, axis=place, k=whole("k", k, low=0), smallest=mode == "smallest")
    return values, positions
