# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Rounding errors of a run, by a shadow of it in more digits."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _adjoint
from ._errors import OptionError, OptionTypeError
from ._host import Feed, Receiver
from ._program import Program, make_call
from ._reports import read_optional_number, read_report
from ._tools import TENSOR_MEASURES, Bound, bound_text

_MAX_SAMPLES = 1000  # of --stochastic, lib/Tools/Diff/Options.cpp


@dataclasses.dataclass(frozen=True)
class ErrorSize:
    """The largest error of an element: absolute, relative to the exact element, in units of its last place."""

    abs: float
    rel: float
    ulp: float
    #: The norm of the errors of a tensor, divided by that of the exact tensor; of zeros, the norm itself.
    l2: float = 0.0
    #: The same of the largest magnitudes.
    max: float = 0.0


@dataclasses.dataclass(frozen=True)
class OperationErrors:
    """The errors of an operation, the largest of all elements and executions."""

    operation: str
    location: str
    executions: int
    #: The iteration with the largest local error; of samples the fewest digits.
    worst_iteration: tuple[int, ...]
    #: What the operation itself rounds; None with samples.
    local: ErrorSize | None
    #: What the errors of its operands become; None with samples.
    propagated: ErrorSize | None
    total: ErrorSize
    #: The propagated relative error divided by that of the operands; None with samples.
    amplification: float | None
    #: The fewest significant decimal digits of an element.
    digits: float


@dataclasses.dataclass(frozen=True)
class Decision:
    """An operation whose integers or booleans are others in a shadow."""

    #: The operation, where and when first.
    operation: str
    executions: int
    #: A scalar that branches, loops or sizes follow.
    is_control: bool


@dataclasses.dataclass(frozen=True)
class ResultErrors:
    """The errors of a result or a received value."""

    name: str
    total: ErrorSize
    digits: float


@dataclasses.dataclass(frozen=True)
class Shadow:
    """The rounding errors of a run, operation by operation."""

    #: Those with the largest local error first; with samples those with the fewest digits.
    operations: tuple[OperationErrors, ...]
    decisions: tuple[Decision, ...]
    #: Received values, then results.
    results: tuple[ResultErrors, ...]
    samples: int
    seed: int
    #: False if an error is larger than `bound`.
    holds: bool
    #: The table and the lines that `ad-diff shadow` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def shadow(
    program: Program,
    /,
    *arrays: object,
    samples: int = 0,
    seed: int = 0,
    bound: Bound | None = None,
    feeds: Mapping[str, Feed] | None = None,
    receives: Mapping[str, Receiver] | None = None,
    **named: object,
) -> Shadow:
    """Runs the program once on the reference interpreter, with shadows in f64, and measures its rounding errors.

    With `samples`, at least 2, the shadows are runs with stochastic rounding instead; `seed` chooses the random
    numbers. `bound` has the largest allowed errors of results and received values: "l2", "max", "abs", "rel", "ulp"; a
    number is one of "l2". No argument is overwritten.
    """
    for name, value in (("samples", samples), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise OptionTypeError(f"expected {name} as int, got {type(value).__name__}")
    if samples != 0 and not 2 <= samples <= _MAX_SAMPLES:
        raise OptionError(f"expected samples as 0 or from 2 to {_MAX_SAMPLES}, got {samples}")
    if not 0 <= seed < 2**32:
        raise OptionError(f"expected seed from 0 to {2**32 - 1}, got {seed}")
    limits = "" if bound is None else bound_text(bound, TENSOR_MEASURES)
    native, inputs, failed = make_call(program, arrays, named, feeds, receives)
    text, found = read_report(_adjoint.shadow(native, inputs, int(samples), int(seed), limits), failed)
    decisions = (Decision(entry["operation"], entry["executions"], entry["control"]) for entry in found["decisions"])
    results = (ResultErrors(entry["name"], _size(entry["total"]), float(entry["digits"])) for entry in found["results"])
    return Shadow(
        tuple(map(_operation_errors, found["operations"])),
        tuple(decisions),
        tuple(results),
        found["samples"],
        found["seed"],
        found["holds"],
        text,
    )


def _operation_errors(row: dict[str, Any]) -> OperationErrors:
    return OperationErrors(
        **{key: row[key] for key in ("operation", "location", "executions")},
        worst_iteration=tuple(row["worst_iteration"]),
        local=_size(row["local"]) if "local" in row else None,
        propagated=_size(row["propagated"]) if "propagated" in row else None,
        total=_size(row["total"]),
        amplification=read_optional_number(row.get("amplification")),
        digits=float(row["digits"]),
    )


def _size(size: dict[str, Any]) -> ErrorSize:
    return ErrorSize(*(float(size[key]) for key in ("abs", "rel", "ulp", "l2", "max")))
