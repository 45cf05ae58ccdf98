# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traces functions of Python to functions of the program, and calls them there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from . import tree
from ._arithmetic import loose
from ._attributes import quoted
from ._builder import Function, current, place
from ._constants import settled, tensor
from ._device import ARRAYS
from ._errors import TracingError
from ._tensor import Tensor
from ._value import Value, wrap


def is_value(leaf: Any) -> bool:
    """Whether a leaf of an argument is traced; others, such as strings and functions, are passed on as they are."""
    return isinstance(leaf, (Value, bool, int, float, *ARRAYS))


def take_weakness(value: Any, other: Any) -> Any:
    """The value, which takes the element types of the tensors that it meets if the other one does."""
    if isinstance(value, Tensor):
        value.is_weak = other.is_weak
    return value


def wrapped(numbers: Sequence[int], like: Sequence[Tensor]) -> list[Any]:
    return [take_weakness(wrap(number), other) for number, other in zip(numbers, like)]


def as_tensors(leaves: Sequence[Any], what: str) -> list[Tensor]:
    """The leaves of a result or of carried values."""
    for leaf in leaves:
        if not is_value(leaf):
            raise TracingError(f"expected tensors as {what}, got {type(leaf).__name__}")
    return [tensor(leaf) for leaf in leaves]


@dataclasses.dataclass
class Traced:
    """A function of the program, and how the results of its Python function are put together."""

    symbol: str
    function: Function
    results: list[Tensor]
    form: tree.Structure

    @property
    def types(self) -> list[str]:
        return [result._type for result in self.results]


def trace_function(
    name: str, types: Sequence[str], body: Callable[[list[Any]], Any], *, is_entry: bool = False
) -> Traced:
    """Traces `body`, which gets the arguments, to a function of its own."""
    trace = current()
    function = Function(name if is_entry else trace.unique(name), trace.function)
    where = place()
    numbers = trace.native.begin_function(function.name, is_entry, list(types), where)
    trace.functions.append(function.name)
    before, trace.function = trace.function, function
    try:
        leaves, form = tree.flatten(body([wrap(number) for number in numbers]))
        results = as_tensors(leaves, "results of a traced function")
        results = list(map(settled, results)) if is_entry else results
        trace.native.end_function([trace.number(result) for result in results], where)
    except BaseException:
        trace.native.erase_function(function.name)
        raise
    finally:
        trace.function = before
    return Traced(function.name, function, results, form)


def name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", None) or type(function).__name__
    return name if name != "<lambda>" else "function"


class Arguments:
    """The arguments of a call: the traced leaves, and the rest."""

    def __init__(self, arguments: tuple[Any, ...], keywords: dict[str, Any]):
        self.leaves, self.form = tree.flatten((arguments, keywords))
        self.at = [index for index, leaf in enumerate(self.leaves) if is_value(leaf)]
        self.values = [loose(self.leaves[index]) for index in self.at]

    def rebuild(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        leaves = list(self.leaves)
        for index, value in zip(self.at, values):
            leaves[index] = value
        return tree.unflatten(self.form, leaves)  # type: ignore[no-any-return]

    def trace(self, function: Callable[..., Any]) -> Traced:
        def body(values: list[Any]) -> Any:
            for value, outer in zip(values, self.values):
                take_weakness(value, outer)
            arguments, keywords = self.rebuild(values)
            return function(*arguments, **keywords)

        return trace_function(name_of(function), [value._type for value in self.values], body)

    def numbers(self, traced: Traced) -> list[int]:
        """The operands of a call: the arguments, and what the function uses of its surroundings."""
        trace = current()
        return [trace.number(value) for value in [*self.values, *traced.function.captures]]


def call(function: Callable[..., Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A call that stays a call of a function in the program."""
    given = Arguments(arguments, keywords)
    traced = given.trace(function)
    results = current().create(
        "func.call", given.numbers(traced), [("callee", f"@{quoted(traced.symbol)}")], traced.types
    )
    return tree.unflatten(traced.form, wrapped(results, traced.results))
