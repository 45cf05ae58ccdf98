# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loops of traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import tree
from ._branches import condition_of
from ._builder import current
from ._carry import carried_values, carry_over, require_same
from ._constants import number_of_index
from ._functions import wrapped
from ._index import Index
from ._tensor import Tensor
from ._value import wrap


def fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], init: Any) -> Any:
    """What `value` is after value = body(i, value) for i from `lower` up to `upper`, beginning with `init`. The bounds
    are numbers, or traced integers."""
    trace = current()
    is_natural = lower.is_natural if isinstance(lower, Index) else isinstance(lower, int) and lower >= 0

    def first(state: Any) -> Any:
        index: Index = wrap(number_of_index(lower))
        index.is_natural = is_natural
        return body(index, state)

    carried, form = carried_values(init, first)
    operands = [number_of_index(lower), number_of_index(upper), number_of_index(1)]
    types = [value._type for value in carried]
    with trace.whole():
        with trace.region(["index", *types]) as numbers:
            index = wrap(numbers[0])
            index.is_natural = is_natural
            made = _iterate(lambda state: body(index, state), numbers[1:], carried, form)
            trace.end_region("scf.yield", [trace.number(value) for value in made])
        operands += [trace.number(value) for value in carried]
        return tree.unflatten(form, wrapped(trace.create("scf.for", operands, (), types, 1), carried))


def while_loop(condition: Callable[[Any], Any], body: Callable[[Any], Any], init: Any) -> Any:
    """What `value` is when condition(value) is false, after value = body(value) as often as it is true."""
    trace = current()
    carried, form = carried_values(init, body)
    types = [value._type for value in carried]
    with trace.whole():
        with trace.region(types) as numbers:
            values = wrapped(numbers, carried)
            go = condition_of(condition(tree.unflatten(form, values)))
            trace.end_region("scf.condition", [go, *(trace.number(value) for value in values)])
        with trace.region(types) as numbers:
            made = _iterate(body, numbers, carried, form)
            trace.end_region("scf.yield", [trace.number(value) for value in made])
        operands = [trace.number(value) for value in carried]
        return tree.unflatten(form, wrapped(trace.create("scf.while", operands, (), types, 2), carried))


def _iterate(
    body: Callable[[Any], Any], numbers: Sequence[int], carried: Sequence[Tensor], form: tree.Structure
) -> list[Tensor]:
    """The values after an iteration, whose values before it are numbered."""
    leaves, its = tree.flatten(body(tree.unflatten(form, wrapped(numbers, carried))))
    made = carry_over(leaves, carried)
    require_same(form, its, carried, made, "the carried values before and after an iteration")
    return made
