# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loops over the leading axes of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import tree
from ._builder import current
from ._carry import carried_values, probe
from ._constants import constant_index
from ._errors import TracingError
from ._functions import as_tensors
from ._index import Index
from ._loops import fori_loop
from ._shapes import full
from ._tensor import Tensor


def scan(
    body: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """(carry, ys): (carry, y) = body(carry, x) for each x of the leading axis of `xs`, a tree of tensors; `ys` has each
    y along a new leading axis."""
    leaves, form = tree.flatten(xs)
    inputs = as_tensors(leaves, "xs of scan")
    count = _count_steps(inputs, length)

    def step(at: Any, carry: Any) -> tuple[Any, Any]:
        made = body(carry, tree.unflatten(form, [_row(value, at) for value in inputs]))
        if not isinstance(made, tuple) or len(made) != 2:
            raise TracingError(f"a step of scan gives (carry, y), got {type(made).__name__}")
        return made

    values, form_of_carry = carried_values(init, lambda carry: step(constant_index(0), carry)[0])
    init = tree.unflatten(form_of_carry, values)
    # What a step gives, to know the types of ys.
    shapes, its = _types_of(lambda carry: step(constant_index(0), carry)[1], init)
    buffers = [full((count, *shape), 0, element) for shape, element in shapes]
    if not isinstance(count, Index) and count == 0:
        return init, tree.unflatten(its, buffers)

    def iterate(index: Any, state: Any) -> tuple[Any, list[Tensor]]:
        carry, ys = state
        at = ((count - 1) - index).natural() if reverse else index
        carry, y = step(at, carry)
        found, form_of_y = tree.flatten(y)
        if form_of_y != its:
            raise TracingError("scan: the steps give trees of different structure")
        return carry, [buffer.at[at].set(one) for buffer, one in zip(ys, found)]

    carry, ys = fori_loop(0, count, iterate, (init, buffers))
    return carry, tree.unflatten(its, ys)


def _row(value: Tensor, at: Any) -> Any:
    """What a step gets of a tensor; without rows there is no step, and zeros have the type."""
    return value[at] if value._static[0] != 0 else full(value.shape[1:], 0, value.element_type)


def _count_steps(inputs: Sequence[Tensor], length: Any) -> Any:
    """The number of steps: a traced one where it is dynamic."""
    for value in inputs:
        if not value.ndim:
            raise TracingError(f"scan takes a row of each of xs in each step, and {value} has no rows")
    sizes = [value.shape[0] for value in inputs]
    sizes += [] if length is None else [length]
    numbers = {size for size in sizes if not isinstance(size, Index)}
    if not sizes or len(numbers) > 1:
        raise TracingError(
            "scan needs one number of steps: the leading sizes of xs and `length` are "
            f"{', '.join('traced' if isinstance(size, Index) else str(size) for size in sizes) or 'missing'}"
        )
    return numbers.pop() if numbers else sizes[0]


def _types_of(
    function: Callable[..., Any], *arguments: Any
) -> tuple[list[tuple[tuple[Any, ...], str]], tree.Structure]:
    """(shape, element type) of the results of a function, and their structure."""
    with probe(function, *arguments) as (given, traced):
        around = [*given.values, *traced.function.captures]
        find = current().native.find_size
        sizes = [
            [find(value._number, axis) if size is None else [(size, -1, -1)] for axis, size in enumerate(value._static)]
            for value in traced.results
        ]
    shapes = [
        (tuple(_outer_size(origins, around, value) for origins in its), value.element_type)
        for value, its in zip(traced.results, sizes)
    ]
    return shapes, traced.form


def _outer_size(origins: Sequence[tuple[int, int, int]], around: Sequence[Any], value: Tensor) -> Any:
    """A size that a function takes from its arguments, outside of it: the first one that is not 1."""
    sizes: list[Any] = []
    for number, argument, dimension in origins:
        if number < 0:
            number = around[argument] if dimension < 0 else around[argument].shape[dimension]
        if not any(number is size for size in sizes):
            sizes.append(number)
    if not sizes:
        raise TracingError(
            f"scan: a step gives {value}, a size of which is computed in the step; give ys whose sizes are known before it"
        )
    found = sizes.pop()
    while sizes:
        first = sizes.pop()
        found = first.or_if_one(found) if isinstance(first, Index) else found if first == 1 else first
    return found
