# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reads the reports of the library, which are those of `ad-diff`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

from . import _adjoint


def read_number(value: Any) -> float:
    """A number of a report: an int beyond the integers that a float has, such as a difference of 64-bit integers."""
    return value if isinstance(value, int) and abs(value) > 2**53 else float(value)


def read_optional_number(value: float | str | None) -> float | None:
    """JSON has no infinities and no NaN: they are texts."""
    return None if value is None else float(value)


def read_report(found: Any, failed: Callable[[_adjoint.Failure], Exception]) -> tuple[str, dict[str, Any]]:
    """The text and the JSON of a report; its warnings are those of the function that calls this one."""
    if isinstance(found, _adjoint.Failure):
        raise failed(found)
    text, report, messages = found
    for message in messages:
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    return text.rstrip("\n"), _adjoint.in_own_state(json.loads, report)
