# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The stage of the compiler that changes results, by runs of `ad-diff`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._reports import read_number
from ._shadow import ErrorSize
from ._tools import RUNS_MEASURES, Bound, Input, Tool, bound_words, option_words

_Path = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class StageChange:
    """A result or a received value after a pass or on a target."""

    #: The pass, or `target` and its name.
    stage: str
    value: str
    #: Whether the bits are those of the stage before.
    equal: bool
    #: From the stage before.
    change: ErrorSize
    #: From the program as it was written.
    from_written: ErrorSize


@dataclasses.dataclass(frozen=True)
class Stages:
    """The values of a program after each pass and on each target."""

    changes: tuple[StageChange, ...]
    #: False if a difference is larger than `bound`.
    holds: bool
    #: The table and the lines that `ad-diff stages` prints.
    text: str

    @property
    def first(self) -> StageChange | None:
        """The first change of bits."""
        return next((change for change in self.changes if not change.equal), None)

    def __str__(self) -> str:
        return self.text


def stages(
    source: str | bytes | _Path,
    /,
    *,
    inputs: Mapping[str, Input] | None = None,
    feeds: Mapping[str, Input] | None = None,
    options: str | Sequence[str] = "",
    bound: Bound | None = None,
    name: str | None = None,
    tools: _Path | None = None,
) -> Stages:
    """Runs a program as it was written, after each pass, and on the targets cpu and gpu-sim.

    `options` are those of `ad-diff stages`, such as "--numerics fast". `bound` has the measures of `bisect`, from
    the program as it was written, and "different", the number of changes. The other arguments are those of `bisect`.
    """
    with Tool(tools) as tool:
        words = [tool.program(source, name), *tool.inputs("arg", "inputs", inputs)]
        words += [*tool.inputs("feed", "feeds", feeds), *option_words(options)]
        words += bound_words(bound, RUNS_MEASURES)
        text, found = tool.run("stages", words)
    changes = (
        StageChange(row["stage"], row["value"], row["equal"], _size(row["change"]), _size(row["from_written"]))
        for row in found["stages"]
    )
    return Stages(tuple(changes), found["holds"], text)


def _size(distances: dict[str, Any]) -> ErrorSize:
    """Values of different types have no distance in ulp; they are infinitely far apart."""
    return ErrorSize(*(read_number(distances.get(key, "inf")) for key in ("abs", "rel", "ulp", "l2", "max")))
