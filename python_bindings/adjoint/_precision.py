# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which operations of a program in mixed precision must compute in f32."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

from . import _adjoint
from ._host import Feed
from ._options import check_option
from ._program import Program, make_call
from ._reports import read_report
from ._tools import TENSOR_MEASURES, Bound, bound_text


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
                name=entry["name"],
                text=entry["text"],
                **{key: float(entry[key]) for key in ("abs", "rel", "l2", "max")},
            )
            for entry in found["results"]
        ),
        found["executions"],
        found["program"] or None,
        text,
    )
