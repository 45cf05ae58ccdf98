# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Values that loops carry and branches give: numbers take the element types of what they meet."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import tree
from ._builder import current
from ._constants import number_kind, tensor
from ._errors import TracingError
from ._functions import Arguments, Traced, as_tensors
from ._index import Index
from ._tensor import Tensor
from ._types import FLOATS


def is_free(leaf: Any) -> bool:
    """Whether a value is a number, or made of numbers alone, and so of no element type of its own."""
    return leaf.is_weak if isinstance(leaf, Tensor) else isinstance(leaf, Index) or number_kind(leaf) in (int, float)


def retyped(leaf: Any, value: Tensor, element: str) -> Tensor:
    """A free value as a tensor of the element type, without a cast where it is a number."""
    if value.element_type in FLOATS and element not in FLOATS:
        return value
    return tensor(leaf, element) if number_kind(leaf) else value.astype(element)


def require_same(
    left: tree.Structure, right: tree.Structure, lefts: Sequence[Tensor], rights: Sequence[Tensor], what: str
) -> None:
    if left != right:
        raise TracingError(f"{what} differ in structure: {tree.names(left)} and {tree.names(right)}")
    for name, one, other in zip(tree.names(left), lefts, rights):
        if one._type != other._type:
            raise TracingError(
                f"{what} differ in type{f' at {name}' if name else ''}: {one._type} and {other._type}; "
                "convert one with .astype, or give its sizes with .reshape"
            )


@contextlib.contextmanager
def probe(function: Callable[..., Any], *arguments: Any) -> Iterator[tuple[Arguments, Traced]]:
    """A function that is traced to know its results, and is no part of the program."""
    trace = current()
    names, count = dict(trace.names), len(trace.functions)
    given = Arguments(arguments, {})
    try:
        yield given, given.trace(function)
    finally:
        for symbol in reversed(trace.functions[count:]):
            trace.native.erase_function(symbol)
        del trace.functions[count:]
        trace.names = names


def carried_values(init: Any, step: Callable[[Any], Any]) -> tuple[list[Tensor], tree.Structure]:
    """The values that a loop carries. Numbers, and what is made of numbers alone, take the element types that a step
    gives them; where it leaves them as they are, numbers are f32 and i32."""
    leaves, form = tree.flatten(init)
    values = as_tensors(leaves, "carried values")
    for index, leaf in enumerate(leaves):
        if number_kind(leaf) in (int, float):
            values[index] = tensor(leaf, "i64" if number_kind(leaf) is int else "f64")
            values[index].is_weak = True
    for _ in range(2 * len(values)):
        if not any(value.is_weak for value in values) or not _settle(step, form, leaves, values):
            break
    for index, leaf in enumerate(leaves):
        if number_kind(leaf) and values[index].is_weak:
            values[index] = tensor(leaf, "f32" if values[index].element_type == "f64" else "i32")
    return values, form


def _settle(step: Callable[[Any], Any], form: tree.Structure, leaves: Sequence[Any], values: list[Tensor]) -> bool:
    """Gives free values the types of what one step makes of them. False if all have these types."""

    def probed(state: Any) -> Any:
        before = tree.leaves(state)
        after, its = tree.flatten(step(state))
        return carry_over(after, before) if its == form else None

    with probe(probed, tree.unflatten(form, values)) as (_, traced):
        results = [(one.element_type, one.is_weak, one._static) for one in traced.results]
    if len(results) != len(values):
        return False  # an error that the loop itself says
    changed = False
    for index, (element, is_weak, shape) in enumerate(results):
        value = values[index]
        is_other = (element, is_weak) != (value.element_type, True)
        if value.is_weak and is_other and shape == value._static and (element in FLOATS or value.element_type not in FLOATS):
            values[index] = retyped(leaves[index], value, element)
            values[index].is_weak = is_weak
            changed = True
    return changed


def carry_over(leaves: Sequence[Any], carried: Sequence[Tensor]) -> list[Tensor]:
    """Numbers of Python take the element type of what they replace."""
    if len(leaves) != len(carried):
        return as_tensors(leaves, "carried values")
    return [_carry_one(leaf, value) for leaf, value in zip(leaves, carried)]


def _carry_one(leaf: Any, value: Tensor) -> Tensor:
    if number_kind(leaf):
        is_other = number_kind(leaf) is float and value.element_type not in FLOATS
        if is_other and not value.is_weak:
            raise TracingError(
                f"a carried value is {value} before an iteration and {leaf} after it; begin with a float"
            )
        made = tensor(leaf, "f64" if is_other else value.element_type)
        made.is_weak = value.is_weak
        return made
    (made,) = as_tensors([leaf], "carried values")
    is_other = made.element_type in FLOATS and value.element_type not in FLOATS
    return made.astype(value.element_type) if made.is_weak and not value.is_weak and not is_other else made
