# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs that explain the numbers of a program: NaNs and infinities, rounding errors, which operations need f32."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _adjoint
from ._errors import OptionError, OptionTypeError
from ._host import Feed, Receiver
from ._program import check_option, make_call
from ._reports import read_report
from ._tools import TENSOR_MEASURES, Bound, bound_text

if TYPE_CHECKING:
    from ._program import Program

_MAX_SAMPLES = 1000  # of --stochastic, lib/Tools/Diff/Options.cpp


# ===- NaNs and infinities ------------------------------------------------===#


@dataclasses.dataclass(frozen=True)
class Range:
    """What the elements of a tensor are. `min` and `max` are those of elements that are no NaN, None if all are."""

    count: int
    nans: int
    infinities: int
    min: float | None
    max: float | None


@dataclasses.dataclass(frozen=True)
class Operand:
    """An operand of an origin."""

    name: str
    range: Range
    #: Of an elementwise operation: the element that the first bad element was computed from.
    value: float | None


@dataclasses.dataclass(frozen=True)
class Step:
    """An operation that computed the operand before it, or what gave the value to the program."""

    text: str
    range: Range


@dataclasses.dataclass(frozen=True)
class Origin:
    """An operation that makes NaNs from operands without NaN, or infinities from finite ones, when it first did."""

    #: NaN or infinity.
    kind: str
    operation: str
    location: str
    #: Of the loops around the operation, the outermost first.
    iterations: tuple[int, ...]
    #: The index of the first such element.
    element: tuple[int, ...]
    value: float
    result: Range
    operands: tuple[Operand, ...]
    #: Where the operand that explains the result best came from.
    chain: tuple[Step, ...]
    #: How many executions of the operation are origins.
    executions: int
    #: The operation that made a NaN of this infinity; empty if none did.
    consequence: str


@dataclasses.dataclass(frozen=True)
class NonFinites:
    """The operations of a run that make NaNs and infinities, in the order in which they do."""

    origins: tuple[Origin, ...]
    #: Constants, arguments and feeds that have NaNs or infinities.
    given: tuple[str, ...]
    #: Results and received values that have NaNs or infinities.
    outputs: tuple[str, ...]
    #: How many operations have run.
    executions: int
    #: The lines that `ad-diff nan` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def nan(
    program: Program,
    /,
    *arrays: object,
    feeds: Mapping[str, Feed] | None = None,
    receives: Mapping[str, Receiver] | None = None,
    **named: object,
) -> NonFinites:
    """Runs the program once on its target and finds the operations that make NaNs and infinities.

    Values inside of kernels are those of the reference interpreter for the operands that the kernel had. No argument is
    overwritten. If the program fails, its exception has what was found until then as `found`.
    """
    native, inputs, failed = make_call(program, arrays, named, feeds, receives)
    failure, report = _adjoint.find_nonfinite(native, inputs)
    found = None if report is None else _non_finites(*read_report(report, failed))
    if failure is None:
        return found
    error = failed(failure)
    error.found = found
    if found is not None and hasattr(error, "add_note"):  # since Python 3.11
        error.add_note(found.text)
    raise error


def _non_finites(text: str, found: dict[str, Any]) -> NonFinites:
    origins = tuple(map(_origin, found["origins"]))
    return NonFinites(origins, tuple(found["given"]), tuple(found["outputs"]), found["executions"], text)


def _origin(origin: dict[str, Any]) -> Origin:
    operands = tuple(
        Operand(operand["name"], _range(operand["range"]), _number(operand.get("value")))
        for operand in origin["operands"]
    )
    return Origin(
        **{key: origin[key] for key in ("kind", "operation", "location", "executions", "consequence")},
        iterations=tuple(origin["iterations"]),
        element=tuple(json.loads(origin["element"])),
        value=float(origin["value"]),
        result=_range(origin["result"]),
        operands=operands,
        chain=tuple(Step(step["from"], _range(step["range"])) for step in origin["chain"]),
    )


def _range(range_: dict[str, Any]) -> Range:
    counts = (range_[key] for key in ("count", "nans", "infinities"))
    return Range(*counts, _number(range_.get("min")), _number(range_.get("max")))


def _number(value: float | str | None) -> float | None:
    """JSON has no infinities and no NaN: they are texts."""
    return None if value is None else float(value)


# ===- Rounding errors ----------------------------------------------------===#


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
        amplification=_number(row.get("amplification")),
        digits=float(row["digits"]),
    )


def _size(size: dict[str, Any]) -> ErrorSize:
    return ErrorSize(*(float(size[key]) for key in ("abs", "rel", "ulp", "l2", "max")))


# ===- Mixed precision ----------------------------------------------------===#


@dataclasses.dataclass(frozen=True)
class KeptOperation:
    """An operation that must compute in f32."""

    operation: str
    location: str


@dataclasses.dataclass(frozen=True)
class PrecisionDifference:
    """How a result or a received value differs from the one in f32."""

    name: str
    abs: float
    rel: float
    text: str
    #: The norm of the difference, divided by that of the result in f32; of zeros, the norm itself.
    l2: float
    #: The same of the largest magnitudes.
    max: float


@dataclasses.dataclass(frozen=True)
class Precision:
    """The operations that must compute in f32 so that a program in mixed precision keeps a bound."""

    #: None of them can be left out; another set may be smaller.
    kept: tuple[KeptOperation, ...]
    #: Whether the bound holds: it may not even if all operations compute in f32.
    holds: bool
    #: How many operations the policy casts.
    candidates: int
    #: Those of `program`.
    results: tuple[PrecisionDifference, ...]
    executions: int
    #: The text of the program with the policy, and with the rule `never` on the operations; None without a set.
    program: str | None
    #: The lines that `ad-diff precision` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def precision(
    program: Program,
    /,
    *arrays: object,
    policy: str | os.PathLike[str],
    bound: Bound,
    feeds: Mapping[str, Feed] | None = None,
    **named: object,
) -> Precision:
    """Searches the operations that must compute in f32, by runs on the reference interpreter.

    `policy` is "bf16", "f16", "f8" or a file that ends with ".yaml". `bound` has the largest allowed differences from
    f32: "l2", "max", "abs", "rel", "ulp"; a number is one of "l2". `policy` is used in place of a policy that
    the program has. No argument is overwritten.
    """
    check_option("policy", policy, (str, os.PathLike))
    limits = bound_text(bound, TENSOR_MEASURES)
    native, inputs, failed = make_call(program, arrays, named, feeds, None)
    text, found = read_report(_adjoint.precision(native, inputs, os.fsdecode(policy), limits), failed)
    return Precision(
        tuple(KeptOperation(entry["operation"], entry["location"]) for entry in found["kept"]),
        found["holds"],
        found["candidates"],
        tuple(
            PrecisionDifference(
                entry["name"],
                *(float(entry[key]) for key in ("abs", "rel")),
                entry["text"],
                *(float(entry[key]) for key in ("l2", "max")),
            )
            for entry in found["results"]
        ),
        found["executions"],
        found["program"] or None,
        text,
    )
