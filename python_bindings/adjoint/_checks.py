# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which numbers the functions of the package take. A bool is no number here, though Python counts with it."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._errors import OptionError, OptionTypeError

INT64_MAX = 2**63 - 1


def is_whole(value: object, low: int, high: int = INT64_MAX) -> bool:
    """Whether the value is an int from low to high."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Whether the value is a real number from low to high, and so not NaN."""
    number: Any = value  # the types of numbers.Real know no order between reals and floats
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and bool(low <= number <= high)


def whole(name: str, value: Any, low: int = 1, high: int = INT64_MAX) -> int:
    """The argument as an int from low to high; the integers of NumPy are such."""
    bounds = f"of at least {low}" if high == INT64_MAX else f"from {low} to {high}"
    bounds = "" if (low, high) == (-(2**63), INT64_MAX) else f" {bounds}"
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise OptionTypeError(f"expected {name} as an int{bounds}, got {value!r}") from None
    if not low <= number <= high:
        raise OptionError(f"expected {name} as an int{bounds}, got {number}")
    return number


def flag(name: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise OptionTypeError(f"expected {name} as a bool, got {value!r}")
    return bool(value)


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """The argument, which is one of some texts."""
    if not isinstance(value, str) or value not in choices:
        listed = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
        kind = OptionError if isinstance(value, str) else OptionTypeError
        raise kind(f"expected {name} as {listed}, got {value!r}")
    return value


def number(name: str, value: Any, low: float = -math.inf, *, above: bool = False) -> float:
    """The argument as a finite float of at least `low`, or above it."""
    one = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if isinstance(one, bool) or not isinstance(one, numbers.Real):
        raise OptionTypeError(f"expected {name} as a number, got {value!r}")
    made = float(one)
    if not (math.isfinite(made) and low <= made and (made > low or not above)):
        bounds = f" {'above' if above else 'of at least'} {low:g}" * (low > -math.inf)
        raise OptionError(f"expected {name} as a finite number{bounds}, got {value!r}")
    return made
