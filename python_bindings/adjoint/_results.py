# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What calls of programs return."""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable
from typing import Any

import numpy as np


@functools.cache
def results_type(names: tuple[str, ...]) -> Callable[..., Any]:
    """A named tuple that can be pickled although its type is in no module."""
    base = collections.namedtuple("Results", names, rename=True)  # type: ignore[misc]
    return type("Results", (base,), {"__slots__": (), "__reduce__": lambda self: (_make_results, (names, tuple(self)))})


def _make_results(names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return results_type(names)(*values)


def make_results(names: tuple[str, ...], values: list[np.ndarray]) -> Any:
    """What a program with results of these names returns."""
    if len(values) == 1:
        return values[0]
    return _make_results(names, tuple(values)) if values else None
