# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""x.at[key], as in JAX: a part of a tensor that is read, replaced or combined with others."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _indexing, _lookup, numpy
from ._checks import choice, flag
from ._constants import number_kind, tensor
from ._errors import OptionError, OptionTypeError, TracingError
from ._signature import DTYPES
from ._types import FLOATS

if TYPE_CHECKING:
    from ._tensor import Tensor

#: JAX's words for what an index outside of its axis means, and those of the operations that read and that write.
_READ = {"promise_in_bounds": None, "clip": "clamp", "fill": "fill", "drop": "fill"}
_WRITTEN = {**_READ, "fill": "drop", "drop": "drop"}


def mode_of(mode: Any, words: dict[str, Any]) -> str | None:
    """What the operations do with an index outside; None if it is an error."""
    word: str | None = None if mode is None else words[choice("mode", mode, tuple(words))]
    return word


def fill_of(value: Tensor, fill_value: Any) -> float:
    """What is read outside: by default NaN, the least integer or True, as in JAX."""
    dtype = DTYPES[value.element_type]
    if fill_value is None:
        return float("nan") if value.element_type in FLOATS else 1.0 if dtype.kind == "b" else float(np.iinfo(dtype).min)
    one = fill_value.item() if isinstance(fill_value, (np.generic, np.ndarray)) and np.ndim(fill_value) == 0 else fill_value
    if not isinstance(one, numbers.Real):
        raise OptionTypeError(f"expected fill_value as a number, got {fill_value!r}")
    number = float(one)
    if value.element_type not in FLOATS and (number != one or not _has(dtype, number)):
        raise OptionError(f"expected fill_value as a number of type {value.element_type}, got {fill_value!r}")
    return number


def _has(dtype: np.dtype[Any], number: float) -> bool:
    """Whether a type of integers has a number."""
    if dtype.kind == "b":
        return number in (0, 1)
    return number.is_integer() and np.iinfo(dtype).min <= int(number) <= np.iinfo(dtype).max


class At:
    """x.at, as in JAX."""

    def __init__(self, value: Tensor):
        self._value = value

    def __getitem__(self, key: Any) -> Part:
        return Part(self._value, key)


class Part:
    """x.at[key]. `mode` says what an index outside of its axis means: an error, the default, "clip" the nearest one,
    "fill" or "drop" that it reads `fill_value` and writes nothing. Where an element is named several times, updates are
    combined one after the other, and the last one that is set stays. `indices_are_sorted` changes nothing here."""

    def __init__(self, value: Tensor, key: Any):
        self._value = value
        self._entries = _lookup.entries_of(key)

    def _lookup(self, outside: str | None) -> _lookup.Lookup | None:
        """What looks elements up; None of numbers and slices, unless numbers may be outside."""
        needs_lookup = _lookup.is_lookup if outside is None else _lookup.is_pick
        if not any(map(needs_lookup, self._entries)):
            return None
        return _lookup.lookup_of(self._value, self._entries, outside is not None)

    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: str | None = None,
        fill_value: Any = None,
    ) -> Tensor:
        outside = mode_of(mode, _READ)
        lookup = self._lookup(outside)
        if lookup is None:
            return _indexing.get(self._value, self._entries)
        return _lookup.read(self._value, lookup, outside, fill_of(self._value, fill_value) if outside == "fill" else None)

    def _updated(self, kind: str, other: Any, mode: str | None) -> Tensor:
        value, outside = self._value, mode_of(mode, _WRITTEN)
        lookup = self._lookup(outside)
        if lookup is None:
            return _indexing.put(value, self._entries, self._cast(self._combined(kind, other)))
        return _lookup.write(value, lookup, self._cast(other), kind, outside)

    def _combined(self, kind: str, other: Any) -> Any:
        """What a part of numbers and slices, in which no element is twice, becomes."""
        if kind == "set":
            return other
        part = _indexing.get(self._value, self._entries)
        return part + other if kind == "add" else (numpy.maximum if kind == "max" else numpy.minimum)(part, other)

    def _cast(self, other: Any) -> Tensor:
        """The update in the element type of the tensor."""
        value = self._value
        update = tensor(other, value.element_type) if number_kind(other) is not float else tensor(other)
        if update.element_type in FLOATS and value.element_type not in FLOATS:
            raise TracingError(f"a part of {value} cannot be replaced by {update}; convert one with .astype")
        return update.astype(value.element_type)

    def set(
        self, other: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | None = None
    ) -> Tensor:
        return self._updated("set", other, mode)

    def add(
        self, other: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | None = None
    ) -> Tensor:
        return self._updated("add", other, mode)

    def min(
        self, other: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | None = None
    ) -> Tensor:
        return self._updated("min", other, mode)

    def max(
        self, other: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | None = None
    ) -> Tensor:
        return self._updated("max", other, mode)

    def multiply(
        self, other: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | None = None
    ) -> Tensor:
        self._require_distinct("multiply", unique_indices, mode)
        return self.set(self.get(mode=mode) * other, mode=mode)

    def divide(
        self, other: Any, *, indices_are_sorted: bool = False, unique_indices: bool = False, mode: str | None = None
    ) -> Tensor:
        self._require_distinct("divide", unique_indices, mode)
        return self.set(self.get(mode=mode) / other, mode=mode)

    def _require_distinct(self, name: str, is_promised: bool, mode: str | None) -> None:
        outside = mode_of(mode, _WRITTEN)
        lookup = self._lookup(outside)
        if flag("unique_indices", is_promised) or lookup is None:
            return
        if outside == "clamp" or not lookup.are_distinct():  # indices outside of an axis become one
            raise TracingError(
                f"{name} of elements that may be named several times has no operation; x.at[...].{name}(y, "
                "unique_indices=True) says that all are different"
            )
