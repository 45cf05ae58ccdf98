# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The options of functions that are traced, and checks of them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import tree
from ._errors import OptionError, OptionTypeError
from ._functions import name_of
from ._options import JitOptions, refuse_unknown
from ._types import Spec


class JittedOptions(JitOptions, total=False):
    """The options of jit for its overloads."""

    static_argnames: str | Sequence[str]
    static_argnums: int | Sequence[int]
    donate_argnames: str | Sequence[str]
    donate_argnums: int | Sequence[int]
    specs: Sequence[Any] | None


def check_jit_options(function: str, options: Iterable[str]) -> None:
    refuse_unknown(function, options, JittedOptions)


def check_specs(specs: Any) -> None:
    if specs is None:
        return
    if not isinstance(specs, (tuple, list)):
        kind = str(specs) if isinstance(specs, Spec) else type(specs).__name__
        raise OptionTypeError(f"expected specs as a tuple with the types of each argument, such as (spec,), got {kind}")
    for leaf in tree.leaves(specs):
        if not isinstance(leaf, Spec):
            raise OptionTypeError(f"expected adjoint.spec(...) or None for each tensor in specs, got {leaf!r}")


def names_of_parameters(
    function: Callable[..., Any], names: str | Sequence[str], numbers: int | Sequence[int]
) -> tuple[str, ...]:
    """The names of parameters, which their numbers may choose, too."""
    parameters = list(inspect.signature(function).parameters)
    try:
        chosen = [names] if isinstance(names, str) else list(names)
        numbers = [numbers] if isinstance(numbers, int) else list(map(operator.index, numbers))
    except TypeError:
        raise OptionTypeError(
            f"expected parameters by their names or numbers, got {names!r} and {numbers!r}"
        ) from None
    for number in numbers:
        if not -len(parameters) <= number < len(parameters):
            raise OptionError(f"{name_of(function)} has {len(parameters)} parameters, and no number {number}")
        chosen.append(parameters[number])
    return tuple(chosen)
