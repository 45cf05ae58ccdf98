# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What can go wrong, as exceptions that know the place in the source."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _adjoint


class Error(Exception):
    """The base of all exceptions of this package."""


class OptionError(Error, ValueError):
    """An option of `compile` is wrong."""


class TargetUnavailableError(Error):
    """This build or this machine cannot run programs on the target."""


class ArgumentTypeError(Error, TypeError):
    """A value is no array of the right element type, is missing, or belongs to no name."""


class ArgumentShapeError(Error, ValueError):
    """An array has the wrong rank or sizes."""


class ArgumentMemoryError(Error, ValueError):
    """An array that the program writes is read-only, not in row-major order, or overlaps another one."""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What the compiler says about a place in the source. `file` is empty when the place is in no file."""

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    excerpt: str = ""
    notes: tuple[Diagnostic, ...] = ()

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.file else ""

    def __str__(self) -> str:
        place = f"{self.location}: " if self.file else ""
        return "\n".join([f"{place}{self.severity}: {self.message}{self.excerpt}", *map(str, self.notes)])


class CompileError(Error):
    """The program is wrong. `diagnostics` says why, the first error first."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()):
        super().__init__(message, diagnostics)
        self.message = message
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join([self.message] * bool(self.message) + list(map(str, self.diagnostics)))


class ProgramError(Error, RuntimeError):
    """The program failed while it ran: in `operation` at `location`, where the failure has a place in the source."""

    def __init__(self, message: str, location: str = "", operation: str = "", excerpt: str = ""):
        super().__init__(message, location, operation, excerpt)
        self.message = message
        self.location = location
        self.operation = operation
        self.excerpt = excerpt

    def __str__(self) -> str:
        place = f"{self.location}: error: " if self.location else ""
        subject = f"'{self.operation}' op " if self.operation else ""
        return f"{place}{subject}{self.message}{self.excerpt}"


class CheckError(ProgramError):
    """A check inside the program did not hold."""


class Source:
    """The text of a program, for the line that a message is about."""

    def __init__(self, text: bytes, name: str):
        self.text = text
        self.name = name

    def excerpt(self, file: str, line: int, column: int) -> str:
        lines = self.text.splitlines() if file == self.name and line > 0 else []
        if not 0 < line <= len(lines) or column < 1:
            return ""
        shown = lines[line - 1].decode(errors="replace")
        # Columns count bytes.
        indent = lines[line - 1][: column - 1].decode(errors="replace")
        return f"\n{shown}\n{''.join(c if c.isspace() else ' ' for c in indent)}^"

    def excerpt_at(self, location: str) -> str:
        file, line, column = (location.rsplit(":", 2) + ["", ""])[:3]
        return self.excerpt(file, int(line), int(column)) if line.isdigit() and column.isdigit() else ""

    def diagnostic(self, entry: tuple[Any, ...]) -> Diagnostic:
        severity, file, line, column, text, notes = entry
        excerpt = self.excerpt(file, line, column)
        return Diagnostic(severity, text, file, line, column, excerpt, tuple(map(self.diagnostic, notes)))


def make_exception(failure: _adjoint.Failure, source: Source) -> Error:
    """The exception for what the compiler or the running program reported."""
    diagnostics = tuple(map(source.diagnostic, failure.diagnostics))
    if failure.reason == "options":
        return OptionError(failure.message)
    if failure.reason == "target":
        return TargetUnavailableError(failure.message)
    if failure.reason == "source":
        return CompileError(failure.message, diagnostics)
    if failure.reason == "output":
        return ArgumentShapeError(failure.message)
    kind = CheckError if failure.reason == "check" else ProgramError
    if not failure.message and diagnostics:
        # What the reference interpreter refuses it says as a compiler does.
        first = diagnostics[0]
        return kind(first.message, first.location, "", first.excerpt)
    return kind(failure.message, failure.location, failure.operation, source.excerpt_at(failure.location))
