# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Indexing of traced tensors: numbers, slices, None, `...` and traced numbers; lookup needs an operation of its own."""

from __future__ import annotations

import dataclasses
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import numpy
from ._attributes import axes_text
from ._builder import current
from ._constants import constant_index, number_kind, number_of_index, tensor
from ._device import DeviceArray
from ._emit import create
from ._errors import TracingError
from ._shapes import broadcast_to, reshape
from ._signature import format_type
from ._types import FLOATS, INTEGERS
from ._value import Value, is_index, is_tensor, wrap

if TYPE_CHECKING:
    from ._index import Index
    from ._tensor import Tensor


@dataclasses.dataclass
class _Axis:
    """What an index takes of one axis of the input."""

    offset: Any = 0  # a number or a traced one
    size: Any = 1
    stride: int = 1
    is_reversed: bool = False
    is_dropped: bool = False

    def is_whole(self, size: Any) -> bool:
        starts = isinstance(self.offset, int) and self.offset == 0 and self.stride == 1
        is_same = self.size is size if is_index(size) else isinstance(self.size, int) and self.size == size
        return starts and is_same


def _expand(key: Any, rank: int) -> list[Any]:
    """The entries of an index without `...`, one for each axis of the input and each None."""
    entries = list(key) if isinstance(key, tuple) else [key]
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    dots = sum(entry is Ellipsis for entry in entries)
    if dots > 1:
        raise TracingError("an index has one `...` at most")
    if used > rank:
        raise TracingError(f"expected at most {rank} indices, got {used}")
    if not dots:
        entries.append(Ellipsis)
    at = next(position for position, entry in enumerate(entries) if entry is Ellipsis)
    return entries[:at] + [slice(None)] * (rank - used) + entries[at + 1 :]


def _number(value: Any, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, Value):
        raise TracingError("the step of a slice is a number")
    return operator.index(value)


def _bound(value: Any) -> Any:
    """A number, or a traced size or index."""
    if is_tensor(value):
        raise TracingError(
            "a bound of a slice is a number, a size or an index of a loop; adjoint.numpy.dynamic_slice takes offsets that "
            "are tensors"
        )
    return value if is_index(value) else operator.index(value)


def _slice(entry: slice, size: Any) -> _Axis:
    step = _number(entry.step, 1)
    if step == 0:
        raise TracingError("the step of a slice is not 0")
    if any(isinstance(one, Value) for one in (size, entry.start, entry.stop)):
        return _dynamic_slice(entry, size, step)
    start, stop, step = entry.indices(size)
    count = len(range(start, stop, step))
    if step > 0:
        return _Axis(start, count, step)
    # The same elements from the other end, and then the other way round.
    return _Axis(start + (count - 1) * step if count else 0, count, -step, is_reversed=True)


def _dynamic_slice(entry: slice, size: Any, step: int) -> _Axis:
    """A slice whose number of elements is known when the program runs."""
    size = size if is_index(size) else constant_index(size)
    if step == -1 and entry.start is None and entry.stop is None:
        return _Axis(0, size, is_reversed=True)
    if step < 0:
        raise TracingError("a slice of dynamic size has a positive step, or is [::-1]; slice the reversed tensor x[::-1]")
    start = 0 if entry.start is None else _bound(entry.start)
    if is_index(start) or start < 0:
        start = _clamped(start, size)  # a number from the begin stays one: a part without elements may be anywhere
    stop = size if entry.stop is None else _clamped(_bound(entry.stop), size)
    is_whole = isinstance(start, int) and start == 0
    count = stop if is_whole else (stop - start).at_least(0)
    return _Axis(start, count if step == 1 else (count + (step - 1)) // step, step)


def _clamped(bound: Any, size: Index) -> Any:
    """Where a bound is in an axis."""
    if isinstance(bound, int):
        return size.at_most(bound) if bound >= 0 else (size + bound).at_least(0)
    return bound.from_end(size).at_least(0).at_most(size)


def _one(entry: Any, size: Any, axis: int) -> _Axis:
    if isinstance(entry, slice):
        return _slice(entry, size)
    if is_index(entry) or (is_tensor(entry) and not entry.shape and entry.element_type in INTEGERS):
        index = entry if is_index(entry) else wrap(number_of_index(entry))
        return _Axis(index.from_end(size), is_dropped=True)
    if is_tensor(entry) or isinstance(entry, (np.ndarray, DeviceArray, list, bool)):
        raise TracingError(
            "an index that is a tensor, a list or a boolean looks elements up; Adjoint has no operation for that yet. "
            "A product with one-hot rows does the same"
        )
    try:
        number = operator.index(entry)
    except TypeError:
        raise TracingError(f"expected integers, slices, None and ... as an index of a tensor, got {entry!r}") from None
    if is_index(size):
        if number < 0:
            return _Axis(size + number, is_dropped=True)
        return _Axis(number, is_dropped=True)
    if not -size <= number < size:
        raise TracingError(f"index {number} is out of range for axis {axis} of size {size}")
    return _Axis(number % size, is_dropped=True)


def _plan(value: Tensor, key: Any) -> tuple[list[_Axis], list[bool]]:
    """What is taken of each axis, and for each axis of the result whether it is a new one."""
    axes: list[_Axis] = []
    new: list[bool] = []
    shape = value.shape
    for entry in _expand(key, value.ndim):
        if entry is None:
            new.append(True)
            continue
        axes.append(_one(entry, shape[len(axes)], len(axes)))
        if not axes[-1].is_dropped:
            new.append(False)
    return axes, new


def _take(value: Tensor, axes: list[_Axis]) -> Tensor:
    """The part of a tensor, with axes of size 1 where a number is."""
    trace, sizes = current(), [axis.size for axis in axes]
    if all(axis.is_whole(size) for axis, size in zip(axes, value.shape)):
        return value
    type = format_type(value.element_type, tuple(None if is_index(size) else size for size in sizes))
    dynamic = [trace.number(size) for size in sizes if is_index(size)]
    if any(isinstance(axis.offset, Value) for axis in axes):
        if any(axis.stride != 1 for axis in axes):
            return _take_twice(value, axes)
        offsets = [number_of_index(axis.offset) for axis in axes]
        segments = f"array<i32: 1, {len(offsets)}, {len(dynamic)}>"
        operands = [trace.number(value), *offsets, *dynamic]
        part: Tensor = wrap(trace.create("ad.dynamic_slice", operands, [("operandSegmentSizes", segments)], [type])[0])
        return part
    attributes = [
        ("offsets", axes_text([axis.offset for axis in axes])),
        ("strides", axes_text([axis.stride for axis in axes])),
    ]
    made: Tensor = wrap(trace.create("ad.slice", [trace.number(value), *dynamic], attributes, [type])[0])
    return made


def _take_twice(value: Tensor, axes: list[_Axis]) -> Tensor:
    """First what has traced offsets, then what has steps."""
    if any(axis.stride != 1 and isinstance(axis.offset, Value) for axis in axes):
        raise TracingError("an index has a traced number or a step, not both; take the parts one after the other")
    first = [axis if axis.stride == 1 else _Axis(size=size) for axis, size in zip(axes, value.shape)]
    return _take(_take(value, first), [axis if axis.stride != 1 else _Axis(size=axis.size) for axis in axes])


def get(value: Tensor, key: Any) -> Tensor:
    axes, new = _plan(value, key)
    taken = _take(value, axes)
    reversed_axes = [index for index, axis in enumerate(axes) if axis.is_reversed]
    if reversed_axes:
        taken = create("reverse", [taken], [("axes", axes_text(reversed_axes))])
    kept = iter([axis.size for axis in axes if not axis.is_dropped])
    return reshape(taken, [1 if is_new else next(kept) for is_new in new])


class At:
    """x.at, as in JAX."""

    def __init__(self, value: Tensor):
        self._value = value

    def __getitem__(self, key: Any) -> _Part:
        return _Part(self._value, key)


class _Part:
    """x.at[key]: a part of a tensor that is to be replaced."""

    def __init__(self, value: Tensor, key: Any):
        self._value = value
        self._key = key

    def get(self) -> Tensor:
        return get(self._value, self._key)

    def set(self, other: Any) -> Tensor:
        value = self._value
        axes, new = _plan(value, self._key)
        if any(axis.stride != 1 or axis.is_reversed for axis in axes):
            raise TracingError("a part that is replaced has no steps; replace the parts one after the other")
        shape = [axis.size for axis in axes if not axis.is_dropped]
        update = tensor(other, value.element_type) if number_kind(other) is not float else tensor(other)
        if update.element_type in FLOATS and value.element_type not in FLOATS:
            raise TracingError(f"a part of {value} cannot be replaced by {update}; convert one with .astype")
        update = update.astype(value.element_type)
        if any(new):
            raise TracingError("a part that is replaced has no new axes (None)")
        update = reshape(broadcast_to(update, shape), [axis.size for axis in axes])
        trace = current()
        operands = [trace.number(value), trace.number(update), *(number_of_index(axis.offset) for axis in axes)]
        made: Tensor = wrap(trace.create("ad.dynamic_update_slice", operands)[0])
        return made

    def add(self, other: Any) -> Tensor:
        return self.set(self.get() + other)

    def multiply(self, other: Any) -> Tensor:
        return self.set(self.get() * other)

    def divide(self, other: Any) -> Tensor:
        return self.set(self.get() / other)

    def min(self, other: Any) -> Tensor:
        return self.set(numpy.minimum(self.get(), other))

    def max(self, other: Any) -> Tensor:
        return self.set(numpy.maximum(self.get(), other))
