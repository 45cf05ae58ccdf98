# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions that are traced inside of a traced function, and compiled and run outside of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from . import tree
from ._builder import is_tracing
from ._device import DeviceArray, target_of


def eager_target(*arguments: Any) -> str:
    """Where a function runs that is called outside of a traced one: on the device of its device arrays."""
    return (DeviceArray._were_made and target_of(tree.leaves(arguments))) or "cpu"


def eager(*static: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes functions that are traced inside of a traced function, and compiled and run outside of it. The parameters
    `static` are constants of the program."""

    def wrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: dict[str, Any] = {}

        @functools.wraps(function)
        def either(*arguments: Any, **keywords: Any) -> Any:
            if is_tracing():
                return function(*arguments, **keywords)
            target = eager_target(arguments, keywords)
            if target not in compiled:
                from ._jit import jit

                compiled[target] = jit(function, static_argnames=static, target=target)
            return compiled[target](*arguments, **keywords)

        return either

    return wrap_function
