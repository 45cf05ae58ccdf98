# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions that are traced inside of a traced function, and compiled and run outside of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ._builder import is_tracing


def eager(*static: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Makes functions that are traced inside of a traced function, and compiled and run outside of it. The parameters
    `static` are constants of the program."""

    def wrap_function(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled: list[Any] = []

        @functools.wraps(function)
        def either(*arguments: Any, **keywords: Any) -> Any:
            if is_tracing():
                return function(*arguments, **keywords)
            if not compiled:
                from ._jit import jit

                compiled.append(jit(function, static_argnames=static))
            return compiled[0](*arguments, **keywords)

        return either

    return wrap_function
