# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The types of the arguments that a function is traced for, and the sizes that are one value."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._device import ARRAYS
from ._errors import ArgumentShapeError, ArgumentTypeError, OptionTypeError
from ._functions import is_value
from ._index import Index
from ._tensor import Tensor
from ._types import Spec, element_of


def spec_of(leaf: Any) -> Spec:
    if isinstance(leaf, Spec):
        return leaf
    if isinstance(leaf, Tensor):
        return Spec(tuple("?" if size is None else size for size in leaf._static), leaf.element_type)
    if type(leaf) is float:
        return Spec((), "f64", is_weak=True)
    if type(leaf) is int:
        return Spec((), "i64", is_weak=True)
    array = leaf if isinstance(leaf, ARRAYS) else np.asarray(leaf)
    return Spec(array.shape, element_of(array.dtype))


def named_spec(function: str, name: str, leaf: Any) -> Spec:
    """The type of an argument, for messages with its name."""
    try:
        return spec_of(leaf)
    except OptionTypeError as error:
        shape = getattr(leaf, "shape", ())
        raise ArgumentTypeError(f"{function}: argument '{name}' of shape {tuple(shape)}: {error}") from None


#: A program has an argument for each number of a list.
MOST_NUMBERS = 1000


def refuse_long_lists(function: str, names: Sequence[str], leaves: Sequence[Any]) -> None:
    """A long list of numbers is meant as an array."""
    counts = collections.Counter(
        name.rsplit(".", 1)[0] for name, leaf in zip(names, leaves) if isinstance(leaf, (bool, int, float))
    )
    for name, count in counts.items():
        if count > MOST_NUMBERS:
            raise ArgumentTypeError(
                f"{function}: argument '{name}' has {count} numbers, and each would be an argument of the program; "
                "give an array, numpy.asarray(...), or make it a static argument"
            )


def is_dynamic(leaf: Any) -> bool:
    return is_value(leaf) or isinstance(leaf, Spec) or hasattr(type(leaf), "__dlpack__")


def share_sizes(values: Sequence[Tensor], specs: Sequence[Spec], known: dict[str, Index]) -> None:
    """Sizes of one name are one value."""
    for value, spec in zip(values, specs):
        for axis, size in enumerate(spec.shape):
            if isinstance(size, str) and size != "?":
                if size in known:
                    value._sizes[axis] = known[size]
                else:
                    known[size] = value._size(axis)


class SharedSizes:
    """Sizes of one name, which have to be equal."""

    def __init__(self, specs: Sequence[Spec]):
        self.places: dict[str, list[tuple[int, int]]] = {}
        for number, spec in enumerate(specs):
            for axis, size in enumerate(spec.shape):
                if isinstance(size, str) and size != "?":
                    self.places.setdefault(size, []).append((number, axis))

    def check(self, leaves: Sequence[Any]) -> None:
        for name, places in self.places.items():
            sizes = {np.shape(leaves[number])[axis] for number, axis in places if np.ndim(leaves[number]) > axis}
            if len(sizes) > 1:
                raise ArgumentShapeError(f"the size {name} is {' and '.join(map(str, sorted(sizes)))}")
