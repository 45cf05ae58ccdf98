# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Branches of traced functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import tree
from ._arithmetic import loose
from ._builder import current
from ._carry import is_free, require_same, retyped
from ._constants import tensor
from ._errors import TracingError
from ._functions import as_tensors
from ._tensor import Tensor
from ._types import promote
from ._value import wrap


def cond(condition: Any, on_true: Callable[..., Any], on_false: Callable[..., Any], *operands: Any) -> Any:
    """The result of `on_true` or `on_false` on the operands; only one of them runs. Numbers take the element type of what
    the other branch gives."""
    branches = (on_true, on_false)
    for branch in branches:
        if not callable(branch):
            raise TracingError(f"expected functions as the branches of cond, got {branch}")
    number = condition_of(condition)
    try:
        return _branch(number, branches, operands, None)
    except _TypesDiffer as difference:
        return _branch(number, branches, operands, difference.elements)


def condition_of(value: Any) -> int:
    made = tensor(value)
    if made._static or made.element_type != "i1":
        raise TracingError(f"a condition is a boolean of rank 0, got {made}")
    trace = current()
    return trace.create("tensor.extract", [trace.number(made)])[0]


class _TypesDiffer(Exception):
    """The branches give numbers where the other one gives tensors, of these element types."""

    def __init__(self, elements: list[str]):
        super().__init__()
        self.elements = elements


def _branch(
    condition: int, branches: Sequence[Callable[..., Any]], operands: Sequence[Any], elements: Sequence[str] | None
) -> Any:
    trace = current()
    made: list[list[Tensor]] = []
    forms: list[tree.Structure] = []
    free: list[list[bool]] = []
    with trace.whole():
        for branch in branches:
            with trace.region(()):
                leaves, form = tree.flatten(branch(*operands))
                free.append([is_free(leaf) for leaf in leaves])
                values = as_tensors(leaves, "results of a branch")
                values = [loose(leaf) if is_number else value for leaf, value, is_number in zip(leaves, values, free[-1])]
                if elements is not None and len(elements) == len(values):
                    values = [
                        retyped(leaf, value, element) if is_number else value
                        for leaf, value, element, is_number in zip(leaves, values, elements, free[-1])
                    ]
                made.append(values)
                forms.append(form)
                if len(made) == 2:
                    if elements is None and forms[0] == forms[1]:
                        _settle_branches(made, free)
                    require_same(forms[0], forms[1], made[0], made[1], "the branches of cond")
                trace.end_region("scf.yield", [trace.number(value) for value in values])
        results = trace.create("scf.if", [condition], (), [value._type for value in made[0]], 2)
        values = list(map(wrap, results))
        for value, *are_free in zip(values, *free):
            value.is_weak = all(are_free)
        return tree.unflatten(forms[0], values)


def _settle_branches(made: Sequence[Sequence[Tensor]], free: Sequence[Sequence[bool]]) -> None:
    def settle(left: Tensor, right: Tensor, is_free: bool, other_is_free: bool) -> str:
        if is_free and other_is_free:
            return promote(left.element_type, right.element_type)
        return right.element_type if is_free else left.element_type

    elements = [settle(*both) for both in zip(*made, *free)]
    if any(
        is_free and value.element_type != element
        for values, its in zip(made, free)
        for value, element, is_free in zip(values, elements, its)
    ):
        raise _TypesDiffer(elements)
