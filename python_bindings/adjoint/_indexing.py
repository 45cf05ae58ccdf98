# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Parts of traced tensors by numbers, slices, None, `...` and traced numbers. Indices that are tensors are in
_lookup.py."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import numpy, ops
from ._attributes import axes_text
from ._builder import current
from ._constants import constant_index, number_of_index
from ._emit import create
from ._errors import TracingError
from ._shapes import broadcast_to, reshape
from ._signature import format_type
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


def with_dots(entries: Sequence[Any], used: int, rank: int) -> list[Any]:
    """The entries of an index with one `...`, which stands for the axes that the others do not use."""
    dots = sum(entry is Ellipsis for entry in entries)
    if dots > 1:
        raise TracingError("an index has one `...` at most")
    if used > rank:
        raise TracingError(f"expected at most {rank} indices, got {used}")
    return [*entries] if dots else [*entries, Ellipsis]


def _expand(entries: Sequence[Any], rank: int) -> list[Any]:
    """The entries of an index without `...`, one for each axis of the input and each None."""
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    entries = with_dots(entries, used, rank)
    at = next(position for position, entry in enumerate(entries) if entry is Ellipsis)
    return entries[:at] + [slice(None)] * (rank - used) + entries[at + 1 :]


def _number(value: Any, default: int) -> int:
    if value is None:
        return default
    if isinstance(value, Value):
        raise TracingError("the step of a slice is a number")
    return operator.index(value)


def _bound(value: Any) -> Any:
    """A number, or a traced one."""
    if is_tensor(value):
        return wrap(number_of_index(value))
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
    if is_index(entry) or is_tensor(entry):
        index = entry if is_index(entry) else wrap(number_of_index(entry))
        return _Axis(index.from_end(size), is_dropped=True)
    if is_index(size):
        return _Axis(size + entry if entry < 0 else entry, is_dropped=True)
    if not -size <= entry < size:
        raise out_of_range(entry, axis, size)
    return _Axis(entry % size, is_dropped=True)


def out_of_range(number: int, axis: int, size: int) -> TracingError:
    return TracingError(f"index {number} is out of range for axis {axis} of size {size}")


def _plan(value: Tensor, entries: Sequence[Any]) -> tuple[list[_Axis], list[bool]]:
    """What is taken of each axis, and for each axis of the result whether it is a new one."""
    axes: list[_Axis] = []
    new: list[bool] = []
    shape = value.shape
    for entry in _expand(entries, value.ndim):
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


def get(value: Tensor, entries: Sequence[Any]) -> Tensor:
    """The part of a tensor."""
    axes, new = _plan(value, entries)
    taken = _take(value, axes)
    reversed_axes = [index for index, axis in enumerate(axes) if axis.is_reversed]
    if reversed_axes:
        taken = create("reverse", [taken], [("axes", axes_text(reversed_axes))])
    kept = iter([axis.size for axis in axes if not axis.is_dropped])
    return reshape(taken, [1 if is_new else next(kept) for is_new in new])


def put(value: Tensor, entries: Sequence[Any], update: Tensor) -> Tensor:
    """The tensor with a part replaced by a tensor of its element type that broadcasts."""
    axes, new = _plan(value, entries)
    kept = iter([axis.size for axis in axes if not axis.is_dropped])
    update = broadcast_to(update, [1 if is_new else next(kept) for is_new in new])
    return _put(value, axes, reshape(update, [axis.size for axis in axes]))


def _put(value: Tensor, axes: list[_Axis], update: Tensor) -> Tensor:
    for number, axis in enumerate(axes):
        if axis.stride != 1 or axis.is_reversed:
            return _put_rows(value, axes, number, update)
    if all(axis.is_whole(size) for axis, size in zip(axes, value.shape)):
        return update
    trace = current()
    operands = [trace.number(value), trace.number(update), *(number_of_index(axis.offset) for axis in axes)]
    made: Tensor = wrap(trace.create("ad.dynamic_update_slice", operands)[0])
    return made


def _put_rows(value: Tensor, axes: list[_Axis], number: int, update: Tensor) -> Tensor:
    """A part with steps along an axis: its rows are read, and written back with their parts replaced."""
    axis = axes[number]
    rows = numpy.arange(axis.size, dtype="i64") * axis.stride
    rows = axis.offset + ((axis.size - 1) * axis.stride - rows if axis.is_reversed else rows)
    others = [_Axis(size=axis.size) if place == number else one for place, one in enumerate(axes)]
    part = _put(ops.take(value, rows, axis=number), others, update)
    slices = [place for place in range(value.ndim) if place != number]
    return ops.scatter(value, [rows], part, kind="set", axes=[number], slices=slices)
