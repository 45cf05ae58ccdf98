# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Indices that are tensors, arrays or lists, among slices, None, `...` and numbers: the advanced indexing of NumPy.

Slices are taken first, so that a lookup reads or writes whole axes beside those that indices choose. A number beside
tensors is an index of rank 0, which broadcasts with them.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _indexing, numpy, ops, tree
from ._constants import settled, tensor
from ._device import DeviceArray
from ._errors import TracingError
from ._shapes import broadcast_to, reshape
from ._types import INTEGERS
from ._value import Value, is_index, is_tensor

if TYPE_CHECKING:
    from ._index import Index
    from ._tensor import Tensor

#: The smallest size of an axis whose indices may be no i32.
_LARGE = 2**31


# Entries of an index.


def entries_of(key: Any) -> list[Any]:
    """The entries of an index: slices, None, `...`, numbers, traced numbers and, of lookups, arrays and tensors."""
    return [_entry(one) for one in (key if isinstance(key, tuple) else (key,))]


def _entry(entry: Any) -> Any:
    if entry is None or entry is Ellipsis or isinstance(entry, slice) or is_index(entry):
        return entry
    if is_tensor(entry):
        return _traced_entry(entry)
    if isinstance(entry, (bool, np.bool_)):
        raise TracingError("True and False are no indices of a tensor; None adds an axis")
    if isinstance(entry, (list, tuple)) and any(isinstance(leaf, Value) for leaf in tree.leaves(entry)):
        return _traced_entry(numpy.asarray(entry))
    if isinstance(entry, (np.ndarray, DeviceArray, list, tuple)):
        return _known_entry(entry)
    try:
        return operator.index(entry)
    except TypeError:
        raise _no_index(repr(entry)) from None


def _no_index(text: str) -> TracingError:
    return TracingError(f"expected integers, slices, None and ... as an index of a tensor, got {text}")


def _traced_entry(entry: Tensor) -> Tensor:
    if entry.element_type == "i1":
        raise TracingError(
            "a traced mask as an index has as many elements as it has ones, which is not known while the function is "
            "traced; adjoint.numpy.where(mask, x, y) chooses for each element"
        )
    if entry.element_type not in INTEGERS:
        raise _no_index(str(entry))
    return settled(entry)


def _known_entry(entry: Any) -> Any:
    """An array of integers, or of booleans, whose elements are known; a number if it has rank 0."""
    try:
        array = np.asarray(entry)
    except ValueError as error:
        raise TracingError(f"a list of lists is an index if all rows have one length; NumPy says: {error}") from None
    if isinstance(entry, (list, tuple)) and array.size == 0:
        array = array.astype(np.int32)  # NumPy makes floats of an empty list
    if array.dtype.kind not in "iub" or (array.dtype.kind == "b" and array.ndim == 0):
        raise _no_index(repr(entry))
    return array if array.ndim else int(array)


def is_lookup(entry: Any) -> bool:
    """Whether an entry looks elements up, rather than to be a number or a slice."""
    return isinstance(entry, np.ndarray) or (is_tensor(entry) and entry.ndim > 0)


def is_pick(entry: Any) -> bool:
    """Whether an entry chooses elements of an axis by numbers."""
    return not (entry is None or entry is Ellipsis or isinstance(entry, slice))


def is_mask(entry: Any) -> bool:
    """Whether an entry is an array of booleans, which has their positions as indices."""
    return isinstance(entry, np.ndarray) and entry.dtype.kind == "b"


# Indices of an axis.


def resolved(index: Any, axis: int, size: Any, may_be_outside: bool = False) -> Any:
    """An index of an axis that counts from its begin: known ones as an array, traced ones as a tensor."""
    if is_index(index):
        return index.from_end(size).astype("i64")
    if is_tensor(index):
        return _from_end(index, size)
    known = np.asarray(index)
    if is_index(size):
        made = _narrowed(known)
        return _from_end(tensor(made), size) if (known < 0).any() else made
    outside = known[(known < -size) | (known >= size)]
    if outside.size and not may_be_outside:
        raise _indexing.out_of_range(int(outside[0]), axis, size)
    return _narrowed(np.where(known < 0, known + size, known))


def _narrowed(known: np.ndarray) -> np.ndarray:
    fits = not known.size or (-_LARGE <= known.min() and known.max() < _LARGE)
    return known.astype(np.int32 if fits else np.int64)


def _from_end(index: Tensor, size: Any) -> Tensor:
    """Negative indices count from the end, as in NumPy. Those that are outside stay as they are, for the message."""
    index = index_tensor(index)
    if is_index(size) or size >= _LARGE:
        index = index.astype("i64")
    return numpy.where((index < 0) & (index >= -size), index + size, index)


def index_tensor(index: Any) -> Tensor:
    """An index as a tensor of a type that indices have."""
    if is_index(index):
        return index.astype("i64")
    made = index if is_tensor(index) else tensor(_narrowed(np.asarray(index)))
    return made.astype("i32") if made.element_type == "i8" else made


def index_of(indices: Any) -> Tensor | np.ndarray | int | Index:
    """Integers of an axis: traced ones, an array, or a number."""
    (entry,) = entries_of((indices,))
    if not is_pick(entry) or is_mask(entry):
        raise TracingError(f"expected integers as indices, got {indices!r}")
    return entry  # type: ignore[no-any-return]


# What a key with lookups means.


@dataclasses.dataclass
class Lookup:
    """An index with arrays or tensors. The part that it names has the axes of the indices beside those of slices."""

    #: The slices, one for each axis of the tensor; whole ones where an index chooses.
    slices: list[slice]
    #: Which axes indices choose, and the indices, as `resolved` makes them.
    axes: list[int]
    indices: list[Any]
    #: For each axis of the part that no index makes, whether it is a new one (None).
    is_new: list[bool]
    #: How many of these come before the axes of the indices.
    place: int

    @property
    def is_sliced(self) -> bool:
        """Whether slices take less than the whole tensor, or its elements in another order."""
        return any(one != slice(None) for one in self.slices)

    def base(self, value: Tensor) -> Tensor:
        """What the slices take."""
        return _indexing.get(settled(value), self.slices)

    def tensors(self) -> list[Tensor]:
        """The indices in the shape to which they broadcast."""
        made = list(map(tensor, self.indices))
        if len(made) == 1:
            return made
        shape = numpy.broadcast_shapes(*(one.shape for one in made))
        return [broadcast_to(one, shape) for one in made]

    @property
    def before(self) -> int:
        """How many axes of slices come before those of the indices."""
        return self.is_new[: self.place].count(False)

    def free(self, rank: int) -> list[int]:
        """Which axes of the part slices make, without new ones; the indices make `rank` axes."""
        before = self.before
        return [axis if axis < before else axis + rank for axis in range(self.is_new.count(False))]

    def part(self, base: Tensor, index: Tensor) -> tuple[list[Any], list[Any]]:
        """The sizes of the part with its new axes, and without them."""
        sizes = [size for axis, size in enumerate(base.shape) if axis not in self.axes]
        others = iter(sizes)
        with_new = [1 if is_new else next(others) for is_new in self.is_new]
        return (
            [*with_new[: self.place], *index.shape, *with_new[self.place :]],
            [*sizes[: self.before], *index.shape, *sizes[self.before :]],
        )

    def are_distinct(self) -> bool:
        """Whether it is known that no element is named twice."""
        if not all(isinstance(one, np.ndarray) for one in self.indices):
            return False
        listed = np.stack([one.ravel() for one in np.broadcast_arrays(*self.indices)])
        return bool(listed.shape[1] == np.unique(listed, axis=1).shape[1])


def lookup_of(value: Tensor, entries: Sequence[Any], may_be_outside: bool = False) -> Lookup:
    """The lookup that the entries of an index mean, one of which is an index."""
    used = sum(entry.ndim if is_mask(entry) else 1 for entry in entries if entry is not None and entry is not Ellipsis)
    entries = _indexing.with_dots(entries, used, value.ndim)
    picks = [position for position, entry in enumerate(entries) if is_pick(entry)]
    are_adjacent = picks[-1] - picks[0] == len(picks) - 1
    made, shape = Lookup([], [], [], [], 0), value.shape
    for position, entry in enumerate(entries):
        if position == picks[0] and are_adjacent:
            made.place = len(made.is_new)
        if entry is None:
            made.is_new.append(True)
        elif not is_pick(entry):
            whole = [slice(None)] * (value.ndim - used) if entry is Ellipsis else [entry]
            made.slices += whole
            made.is_new += [False] * len(whole)
        else:
            for index in _of_mask(entry, len(made.slices), shape) if is_mask(entry) else [entry]:
                axis = len(made.slices)
                made.axes.append(axis)
                made.indices.append(resolved(index, axis, shape[axis], may_be_outside))
                made.slices.append(slice(None))
    return made


def _of_mask(mask: np.ndarray, axis: int, shape: Sequence[Any]) -> Sequence[np.ndarray]:
    """The positions of the ones of a mask of the axes from `axis` on."""
    for number, size in enumerate(mask.shape, axis):
        if not is_index(shape[number]) and shape[number] != size:
            raise TracingError(f"expected a mask of size {shape[number]} for axis {number}, got one of size {size}")
    return np.nonzero(mask)


# Reading and writing.


def get(value: Tensor, key: Any) -> Tensor:
    """value[key]"""
    entries = entries_of(key)
    if not any(map(is_lookup, entries)):
        return _indexing.get(value, entries)
    return read(value, lookup_of(value, entries))


def read(value: Tensor, lookup: Lookup, outside: Any = None, fill: float | None = None) -> Tensor:
    """The part of a tensor that a lookup names."""
    base, indices = lookup.base(value), lookup.tensors()
    free = lookup.free(indices[0].ndim)
    made = ops.gather(base, indices, axes=lookup.axes, slices=free, outside=outside, fill=fill)
    return reshape(made, lookup.part(base, indices[0])[0]) if any(lookup.is_new) else made


def write(value: Tensor, lookup: Lookup, update: Tensor, kind: Any, outside: Any = None) -> Tensor:
    """The tensor with the part that a lookup names replaced by, or combined with, a tensor that broadcasts."""
    base, indices = lookup.base(value), lookup.tensors()
    with_new, sizes = lookup.part(base, indices[0])
    update, free = reshape(broadcast_to(update, with_new), sizes), lookup.free(indices[0].ndim)
    made = ops.scatter(base, indices, update, kind=kind, axes=lookup.axes, slices=free, outside=outside)
    return _indexing.put(value, lookup.slices, made) if lookup.is_sliced else made
