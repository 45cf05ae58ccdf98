# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which values the descriptions of training take. A bool is no number here, though Python counts with it."""

from __future__ import annotations

import numbers
from typing import Any

INT64_MAX = 2**63 - 1


def is_whole(value: object, low: int, high: int = INT64_MAX) -> bool:
    """Whether the value is an int from low to high."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_number(value: object, low: float, high: float) -> bool:
    """Whether the value is a real number from low to high, and so not NaN."""
    number: Any = value  # the types of numbers.Real know no order between reals and floats
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and bool(low <= number <= high)
