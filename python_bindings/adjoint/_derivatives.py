# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradients and vector-Jacobian products of functions."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from . import tree
from ._attributes import quoted
from ._builder import current, is_tracing
from ._constants import tensor
from ._eager import eager_target
from ._emit import create
from ._errors import TracingError
from ._functions import Arguments, wrapped
from ._jit import jit
from ._shapes import zeros_like
from ._types import FLOATS
from ._value import wrap


def _positions(argnums: int | Sequence[int], count: int) -> list[int]:
    try:
        positions = [operator.index(one) for one in (argnums if isinstance(argnums, (list, tuple)) else (argnums,))]
    except TypeError:
        raise TracingError(f"argnums is the number of an argument, or several, got {argnums!r}") from None
    for position in positions:
        if not -count <= position < count:
            raise TracingError(f"argnums has {position}, but the function is called with {count} positional arguments")
    return [position % count for position in positions]


def _wrt(
    given: Arguments, arguments: tuple[Any, ...], positions: Sequence[int]
) -> tuple[list[int], list[tree.Structure]]:
    """The numbers of the arguments of the program's function, and the structure of each position."""
    first: list[int] = []
    total = 0
    for argument in arguments:
        first.append(total)
        total += len(tree.leaves(argument))
    wrt, forms = [], []
    for position in positions:
        leaves, form = tree.flatten(arguments[position])
        for offset, leaf in enumerate(leaves):
            index = first[position] + offset
            if index not in given.at:
                raise TracingError(f"a derivative is by tensors of floats, got {type(leaf).__name__}")
            number = given.at.index(index)
            if given.values[number].element_type not in FLOATS:
                raise TracingError(f"a derivative is by tensors of floats, got {given.values[number]}; give 1.0, not 1")
            wrt.append(number)
        forms.append(form)
    if not wrt:
        listed = ", ".join(map(str, positions)) or "()"
        raise TracingError(
            f"there is nothing to differentiate by: expected tensors of floats in the arguments argnums={listed}, got "
            "none"
        )
    return wrt, forms


def value_and_grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that gives the value of `function`, a float of rank 0, and its gradient with respect to positional
    arguments, in their trees. With `has_aux` the function gives (value, others), and the result is ((value, others),
    gradient)."""

    @functools.wraps(function)
    def differentiated(*arguments: Any, **keywords: Any) -> Any:
        if not is_tracing():
            return jit(differentiated, target=eager_target(arguments, keywords))(*arguments, **keywords)
        given = Arguments(arguments, keywords)
        positions = _positions(argnums, len(arguments))
        wrt, forms = _wrt(given, arguments, positions)
        traced = given.trace(function)
        value = traced.results[0] if traced.results else None
        if value is None or value._static or value.element_type not in FLOATS:
            raise TracingError(
                f"a gradient is of a function whose value is a float of rank 0, got {value}; take its sum or mean"
            )
        is_pair = traced.form.kind is tuple and len(traced.form.children) == 2 and traced.form.children[0] == tree.LEAF
        if has_aux and not is_pair:
            raise TracingError("with has_aux=True the function gives (value, others)")
        if not has_aux and len(traced.results) != 1:
            raise TracingError("a gradient is of a function with one result; has_aux=True allows further ones")
        attributes = [("callee", f"@{quoted(traced.symbol)}"), ("wrt", f"array<i64: {', '.join(map(str, wrt))}>")]
        if len(traced.results) > 1:
            attributes.append(("has_aux", "unit"))
        types = [*traced.types, *(given.values[number]._type for number in wrt)]
        numbers = current().create("ad.value_and_grad", given.numbers(traced), attributes, types)
        made = wrapped(numbers, [*traced.results, *(given.values[number] for number in wrt)])
        gradients = iter(made[len(traced.results) :])
        trees = tuple(tree.unflatten(form, [next(gradients) for _ in range(form.count())]) for form in forms)
        result = tree.unflatten(traced.form, made[: len(traced.results)])
        return result, trees if isinstance(argnums, (list, tuple)) else trees[0]

    return differentiated


def grad(
    function: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False
) -> Callable[..., Any]:
    """The gradient of a function, as value_and_grad has it; with `has_aux` (gradient, others)."""
    both = value_and_grad(function, argnums, has_aux=has_aux)

    @functools.wraps(function)
    def gradient(*arguments: Any, **keywords: Any) -> Any:
        value, found = both(*arguments, **keywords)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(function: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(results, pullback): the pullback gives the cotangents of the arguments, a tuple of their trees, for a cotangent
    of the results. With `has_aux` the function gives (results, others), which come third."""
    given = Arguments(primals, {})
    wrt, forms = _wrt(given, primals, range(len(primals)))
    traced = given.trace(_without_others(function) if has_aux else function)
    results = list(
        map(
            wrap,
            current().create(
                "func.call", given.numbers(traced), [("callee", f"@{quoted(traced.symbol)}")], traced.types
            ),
        )
    )
    whole = tree.unflatten(traced.form, results)
    value, others = whole if has_aux else (whole, None)
    count = len(tree.leaves(value))

    def pullback(cotangents: Any) -> tuple[Any, ...]:
        leaves, form = tree.flatten(cotangents)
        if form != tree.structure(value):
            raise TracingError(f"expected cotangents in the structure of the results, got {cotangents}")
        given_cotangents = [tensor(leaf, result.element_type) for leaf, result in zip(leaves, results)]
        used = [one for one, result in zip(given_cotangents, results) if result.element_type in FLOATS]
        used += [zeros_like(result) for result in results[count:] if result.element_type in FLOATS]
        trace, numbers = current(), given.numbers(traced)
        operands = [*numbers, *(trace.number(one) for one in used)]
        attributes = [
            ("callee", f"@{quoted(traced.symbol)}"),
            ("wrt", f"array<i64: {', '.join(map(str, wrt))}>"),
            ("operandSegmentSizes", f"array<i32: {len(numbers)}, {len(used)}>"),
        ]
        types = [*traced.types, *(given.values[number]._type for number in wrt)]
        made = iter(list(map(wrap, trace.create("ad.vjp", operands, attributes, types)))[len(results) :])
        return tuple(tree.unflatten(form, [next(made) for _ in range(form.count())]) for form in forms)

    return (value, pullback, others) if has_aux else (value, pullback)


def _without_others(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of (results, others) whose derivatives are those of the results."""

    @functools.wraps(function)
    def separated(*arguments: Any) -> Any:
        whole = function(*arguments)
        if not (isinstance(whole, tuple) and len(whole) == 2):
            raise TracingError("with has_aux=True the function gives (results, others)")
        return whole[0], stop_gradient(whole[1])

    return separated


def stop_gradient(value: Any) -> Any:
    """The tree of tensors, whose derivatives are zero."""
    return tree.map(lambda leaf: create("stop_gradient", [tensor(leaf)]), value)
