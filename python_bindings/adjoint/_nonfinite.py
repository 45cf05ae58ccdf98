# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which operations of a run make NaNs and infinities."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from . import _adjoint
from ._host import Feed, Receiver
from ._program import Program, make_call
from ._reports import read_optional_number, read_report


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
        assert found is not None
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
        Operand(operand["name"], _range(operand["range"]), read_optional_number(operand.get("value")))
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
    count, nans, infinities = (range_[key] for key in ("count", "nans", "infinities"))
    return Range(count, nans, infinities, read_optional_number(range_.get("min")), read_optional_number(range_.get("max")))
