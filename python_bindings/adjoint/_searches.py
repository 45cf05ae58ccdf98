# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Searches for the cause of a difference, by runs of `ad-diff` and `ad-runner`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import OptionTypeError
from ._options import check_option
from ._reports import read_number
from ._tools import TENSOR_MEASURES, Bound, Input, Tool, bound_words, option_words, words_of

_Path = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """A rewrite that the compiler applied."""

    name: str
    #: That it uses; none if it keeps all bits.
    permission: str
    operation: str
    location: str
    #: The pass that applies it, and its stage; empty if the build of ad-runner does not say.
    stage: str
    pass_name: str


@dataclasses.dataclass(frozen=True)
class ResultDifference:
    """How a result differs between A and B."""

    name: str
    abs: float
    rel: float
    #: How many elements are NaN on one side alone.
    dnan: float
    #: None if the element types differ.
    ulp: float | None
    #: Whether some zeros differ in their signs, and nothing else differs.
    only_zero_signs: bool
    #: The norm of the difference, divided by that of the result of A; of zeros, the norm itself.
    l2: float
    #: The same of the largest magnitudes.
    max: float


@dataclasses.dataclass(frozen=True)
class SideCause:
    """The rewrites of one side that change the results."""

    side: str
    candidates: int
    rewrites: tuple[Rewrite, ...]
    alone: tuple[ResultDifference, ...]


@dataclasses.dataclass(frozen=True)
class ReducedOperation:
    """An operation of the program."""

    operation: str
    location: str
    #: Of operations of the whole program: what it has to do with the difference.
    role: str = ""


@dataclasses.dataclass(frozen=True)
class Stage:
    """Where a program begins to differ."""

    stage: str
    #: Empty if the generated code differs in many places.
    pass_name: str
    kernels: tuple[str, ...]
    #: The side whose values change there: A, B, or A and B; empty if that is not known.
    side: str


@dataclasses.dataclass(frozen=True)
class Reduction:
    """The smallest part of a program that differs between A and B."""

    #: none, earlier, found, derivative, alone, unknown, wrong_plan or in_program.
    kind: str
    #: Of the results of the program.
    differences: tuple[ResultDifference, ...]
    #: Of the results of the part.
    reduced: tuple[ResultDifference, ...]
    operations: tuple[ReducedOperation, ...]
    #: Operations of the whole program, if only it differs: of a wrong memory plan, or the first value that differs.
    whole_program: tuple[ReducedOperation, ...]
    #: The loops and branches around the operations, the outermost first.
    inside: tuple[str, ...]
    #: Whether the time was over: fewer operations may be enough.
    ended: bool
    #: How many operations the differentiated program has.
    units: int
    #: How many parts of the program did not compile or run alone.
    failures: int
    #: The largest l2 of a result of the program, divided by that of the part; None if one is zero or not finite.
    amplification: float | None
    #: None if it is not known; `no_stage` then says why.
    stage: Stage | None
    no_stage: str
    #: What is wrong with a memory plan; else empty.
    message: str
    #: Of the tool, and its seconds; those of a bisection include these.
    executions: int
    seconds: float
    #: The lines that `ad-diff reduce` prints; empty inside of a bisection.
    text: str

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Bisection:
    """What makes the results of A and B differ."""

    #: none; rewrites that one side applies; shared, that both apply; elsewhere, which `reduced` may explain.
    cause: str
    #: The side that applies the rewrites: A, B, or empty.
    side: str
    #: How many rewrites only that side applies, or, of shared ones, both sides by that name.
    candidates: int
    rewrites: tuple[Rewrite, ...]
    #: Of the other side, if it has rewrites that change the results, too.
    others: tuple[SideCause, ...]
    #: Rewrites without which the program does not compile.
    required: tuple[Rewrite, ...]
    #: Of the results of A and B.
    differences: tuple[ResultDifference, ...]
    #: The same if only the found rewrites are applied.
    alone: tuple[ResultDifference, ...]
    alone_compiles: bool
    #: Whether the results still differ without the found rewrites.
    others_remain: bool
    #: Whether the program does not compile without the found rewrites.
    needed_to_compile: bool
    #: The part of the program that differs; None if it was not searched.
    reduced: Reduction | None
    #: False if the results differ by more than `bound`.
    holds: bool
    executions: int
    seconds: float
    #: The lines that `ad-diff bisect` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def bisect(
    source: str | bytes | _Path,
    /,
    *,
    a: str | Sequence[str] = "",
    b: str | Sequence[str] = "",
    inputs: Mapping[str, Input] | None = None,
    feeds: Mapping[str, Input] | None = None,
    options: str | Sequence[str] = "",
    bound: Bound | None = None,
    output: _Path | None = None,
    seconds: int | None = None,
    runner_a: _Path | None = None,
    runner_b: _Path | None = None,
    name: str | None = None,
    tools: _Path | None = None,
) -> Bisection:
    """Runs a program with the options `a` and `b` of ad-runner, and finds what makes the results differ.

    `source` is the program or the name of its file, as for `compile`; `name` is the name of its file in locations.
    `inputs` and `feeds` have arrays, or texts such as "normal:1", by name. `options` are those of both sides. `bound`
    has the differences that do not count, by "l2", "max", "abs", "rel" and "ulp"; a number is one of "l2". `output`
    is a new folder for the reduced program. `seconds` ends a search for operations. `runner_a` and `runner_b` are
    other builds of ad-runner. `tools` is the folder of ad-diff; None: that of PATH.

    Raises ToolError if the tool is missing or cannot answer, OptionError for values of another kind.
    """
    with Tool(tools) as tool:
        words = _words(tool, source, a, b, inputs, feeds, options, bound, output, seconds, runner_a, runner_b, name)
        text, found = tool.run("bisect", words)
    plain = (
        "cause",
        "side",
        "candidates",
        "alone_compiles",
        "others_remain",
        "needed_to_compile",
        "holds",
        "executions",
        "seconds",
    )
    return Bisection(
        **{key: found[key] for key in plain},
        rewrites=_rewrites(found["rewrites"]),
        others=tuple(
            SideCause(other["side"], other["candidates"], _rewrites(other["rewrites"]), _differences(other["alone"]))
            for other in found["others"]
        ),
        required=_rewrites(found["required"]),
        differences=_differences(found["differences"]),
        alone=_differences(found["alone"]),
        reduced=_reduction(found["reduced"], found, "") if "reduced" in found else None,
        text=text,
    )


def reduce(
    source: str | bytes | _Path,
    /,
    *,
    a: str | Sequence[str] = "",
    b: str | Sequence[str] = "",
    inputs: Mapping[str, Input] | None = None,
    feeds: Mapping[str, Input] | None = None,
    options: str | Sequence[str] = "",
    bound: Bound | None = None,
    output: _Path | None = None,
    seconds: int | None = None,
    runner_a: _Path | None = None,
    runner_b: _Path | None = None,
    name: str | None = None,
    tools: _Path | None = None,
) -> Reduction:
    """Finds the smallest part of a program that differs between the options `a` and `b` of ad-runner.

    The arguments and errors are those of `bisect`.
    """
    with Tool(tools) as tool:
        words = _words(tool, source, a, b, inputs, feeds, options, bound, output, seconds, runner_a, runner_b, name)
        text, found = tool.run("reduce", words)
    return _reduction(found, found, text)


def _words(
    tool: Tool,
    source: str | bytes | _Path,
    a: str | Sequence[str],
    b: str | Sequence[str],
    inputs: Mapping[str, Input] | None,
    feeds: Mapping[str, Input] | None,
    options: str | Sequence[str],
    bound: Bound | None,
    output: _Path | None,
    seconds: int | None,
    runner_a: _Path | None,
    runner_b: _Path | None,
    name: str | None,
) -> list[str]:
    words = [tool.program(source, name), *tool.inputs("arg", "inputs", inputs), *tool.inputs("feed", "feeds", feeds)]
    words += [*option_words(options), *bound_words(bound, TENSOR_MEASURES)]
    words += [f"--{side}={text}" for side, text in (("a", words_of("a", a)), ("b", words_of("b", b))) if text]
    for option, path in (("output", output), ("runner-a", runner_a), ("runner-b", runner_b)):
        check_option(option.replace("-", "_"), path, (str, os.PathLike), optional=True)
        words += [f"--{option}={os.fsdecode(path)}"] if path else []
    if seconds is not None:
        if isinstance(seconds, bool) or not isinstance(seconds, int):
            raise OptionTypeError(f"expected seconds as int or None, got {type(seconds).__name__}")
        words.append(f"--seconds={seconds}")
    return words


def _rewrites(rows: list[dict[str, Any]]) -> tuple[Rewrite, ...]:
    keys = ("rewrite", "permission", "operation", "location", "stage", "pass")
    return tuple(Rewrite(*(row[key] for key in keys)) for row in rows)


def _differences(rows: list[dict[str, Any]]) -> tuple[ResultDifference, ...]:
    return tuple(
        ResultDifference(
            name=row["name"],
            ulp=read_number(row["ulp"]) if "ulp" in row else None,
            only_zero_signs=row["only_zero_signs"],
            **{key: read_number(row[key]) for key in ("abs", "rel", "dnan")},
            **{key: float(row[key]) for key in ("l2", "max")},
        )
        for row in rows
    )


def _reduction(found: dict[str, Any], whole: dict[str, Any], text: str) -> Reduction:
    stage = found.get("stage")
    return Reduction(
        found["reduction"],
        _differences(found["differences"]),
        _differences(found["reduced"]),
        tuple(ReducedOperation(row["operation"], row["location"]) for row in found["operations"]),
        tuple(ReducedOperation(row["operation"], row["location"], row["role"]) for row in found["whole_program"]),
        tuple(found["inside"]),
        found["ended"],
        found["units"],
        found["failures"],
        float(found["amplification"]) if "amplification" in found else None,
        Stage(stage["stage"], stage["pass"], tuple(stage["kernels"]), stage["side"]) if stage else None,
        found.get("no_stage", ""),
        found.get("message", ""),
        whole["executions"],
        whole["seconds"],
        text,
    )
