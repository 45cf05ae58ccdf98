# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the compiler makes of a program: texts of its stages, the plan of its memory, a report of a compilation."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from typing import Any

from . import _adjoint
from ._errors import OptionError, Source, make_exception
from ._files import whole_file

#: The stages of a compilation, in their order.
STAGES = ("frontend", "fusion", "kernels", "code")
# Where the stages of a target have their passes.
_PIPELINES = {"cpu": "cpu", "reference": "cpu", "gpu-sim": "gpu", "cuda": "gpu"}


class Picture:
    """An SVG picture, which notebooks show."""

    def __init__(self, svg: str):
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file."""
        with whole_file(pathlib.Path(path)) as file:
            file.write(self.svg.encode())

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<adjoint.Picture of {len(self.svg)} bytes>"


@dataclasses.dataclass(frozen=True)
class NumericsUse:
    """A rewrite that changed numbers as the contract permits, or a cast that a policy placed: how often, and where."""

    pattern: str
    permission: str
    count: int
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.file else "?"
        times = f", {self.count} times" if self.count > 1 else ""
        return f"{place}: {self.pattern} ({self.permission}){times}"


@dataclasses.dataclass(frozen=True)
class Report:
    """What a compilation did: the permissions of the numerics contract that it used, and the seconds of its stages and
    passes, which are those of reading the cache where the program comes from there. A loaded file has none of them."""

    numerics: str
    target: str
    cache: str
    uses: tuple[NumericsUse, ...]
    stages: dict[str, float]
    passes: dict[str, float]

    def __str__(self) -> str:
        lines = [f"target {self.target}, numerics {self.numerics}, cache {self.cache or 'off'}"]
        lines += [f"{1000 * seconds:9.1f} ms  {name}" for name, seconds in self.stages.items()]
        lines += [str(use) for use in self.uses] or ["no rewrite used a permission"]
        return "\n".join(lines)


def make_report(native: _adjoint.Program) -> Report:
    """The report of a compiled program."""
    read: dict[str, Any] = _adjoint.in_own_state(json.loads, native.report)
    uses = tuple(NumericsUse(**use) for use in read["uses"] or ())
    return Report(native.numerics, native.target, native.cache_use, uses, read["stages"], read["passes"])


def lowered(source: Source, options: _adjoint.Options, stage: str) -> str:
    """The program after a stage, or after passes in the syntax of `ad-opt --pass-pipeline`."""
    return _run_passes(source, _pipeline_of(options, stage) or stage)


def memory_picture(source: Source, options: _adjoint.Options) -> Picture:
    """The memory plan: the buffers of each pool over the operations of the program."""
    with tempfile.TemporaryDirectory(prefix="adjoint-") as folder:
        path = os.path.join(folder, "plan.svg")
        pipeline = _pipeline_of(options, "kernels", f"memory-picture={_quoted(path)}")
        _run_passes(source, pipeline)
        return Picture(pathlib.Path(path).read_text(encoding="utf-8"))


def _pipeline_of(options: _adjoint.Options, stage: str, more: str = "") -> str:
    """The passes up to the end of a stage, which may also have its name in ad-opt; empty if it is none."""
    target = _PIPELINES[options.target]
    name = stage.removeprefix(f"ad-to-{target}-")
    if name not in STAGES:
        return ""
    words = [
        f"{key}={_quoted(value)}"
        for key, value in (
            ("numerics", options.numerics),
            ("precision", options.precision),
            ("kernels", options.kernels),
            ("optimize", "" if options.optimize else "0"),
        )
        if value
    ]
    given = f"{{{' '.join([*words, more]).strip()}}}" if words or more else ""
    return ",".join(f"ad-to-{target}-{one}{given}" for one in STAGES[: STAGES.index(name) + 1])


def _quoted(value: str) -> str:
    quote = "'" if '"' in value else '"'
    return f"{quote}{value}{quote}"


def _run_passes(source: Source, pipeline: str) -> str:
    if not isinstance(pipeline, str) or not pipeline:
        raise OptionError(f"expected a stage, one of {', '.join(STAGES)}, or passes, got {pipeline!r}")
    text = _adjoint.lower(source.text, source.name, pipeline)
    if isinstance(text, _adjoint.Failure):
        if text.reason == "options":
            raise OptionError(f"{text.message}; the stages are {', '.join(STAGES)}")
        raise make_exception(text, source)
    return text
