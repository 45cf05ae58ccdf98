# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Exceptions, with the location in the source."""

from __future__ import annotations

import dataclasses
import linecache
import re
from typing import Any

from . import _adjoint


class Error(Exception):
    """The base of all exceptions of this package."""

    #: What `diff.nan` found before the program failed, a `diff.NonFinites`; None of other errors.
    found: Any = None


class OptionError(Error, ValueError):
    """An option of a function of this package is wrong."""


class OptionTypeError(OptionError, TypeError):
    """An option of a function of this package has a wrong type. It is also a TypeError."""


class TracingError(Error, TypeError):
    """A function cannot be traced: it does with a traced value what only a value allows, or combines types that do not
    go together. It is also a TypeError."""


class TargetUnavailableError(Error):
    """This build or this machine cannot run programs on the target."""


class FileError(Error, OSError):
    """A file cannot be read or written. It is also the exception of the system, e.g. FileNotFoundError."""

    action = "read"
    hint = ""

    def __str__(self) -> str:
        return f"cannot {self.action} {self.filename!r}: {self.strerror}{self.hint}"


class MissingFileError(FileError, FileNotFoundError):
    """There is no file of that name."""


class _DirectoryError(FileError, IsADirectoryError):
    __doc__ = FileError.__doc__


class _PermissionError(FileError, PermissionError):
    __doc__ = FileError.__doc__


def make_file_error(error: OSError, name: str, action: str = "read") -> FileError:
    """The exception of this package for an exception of the system."""
    kinds = {FileNotFoundError: MissingFileError, IsADirectoryError: _DirectoryError, PermissionError: _PermissionError}
    made = kinds.get(type(error), FileError)(error.errno, error.strerror, name)
    made.action = action
    return made


class TraceError(Error, OSError):
    """The folder of a trace cannot be written or read."""


class TemporaryFileError(Error, OSError):
    """No file can be made in the folder of temporary files, which the environment variable TMPDIR names."""


class ToolError(Error, RuntimeError):
    """A tool that a function runs is not installed, or has failed; the text has its message."""


class ArgumentTypeError(Error, TypeError):
    """A value is no array of the right element type, a value is missing, or a name is unknown."""


class ArgumentShapeError(Error, ValueError):
    """An array has the wrong rank or sizes."""


class ArgumentMemoryError(Error, ValueError):
    """An array that the program writes is read-only, not in row-major order, or overlaps another one."""


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """A message of the compiler. `file` is empty when the location is in no file."""

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
        prefix = f"{self.location}: " if self.file else ""
        return "\n".join([f"{prefix}{self.severity}: {self.message}{self.excerpt}", *map(str, self.notes)])


class CompileError(Error):
    """The program is wrong. `diagnostics` has the reasons, in the order of the compiler."""

    def __init__(self, message: str, diagnostics: tuple[Diagnostic, ...] = ()):
        super().__init__(message, diagnostics)
        self.message = message
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return "\n".join([self.message] * bool(self.message) + list(map(str, self.diagnostics)))


class ProgramError(Error, RuntimeError):
    """The program failed while it ran: in `operation` at `location`, if the failure has a location in the source.

    `arguments` has the types of arguments of dynamic size, e.g. "x: tensor<2xf32>".
    """

    def __init__(self, message: str, location: str = "", operation: str = "", excerpt: str = "", arguments: str = ""):
        super().__init__(message, location, operation, excerpt, arguments)
        self.message = message
        self.location = location
        self.operation = operation
        self.excerpt = excerpt
        self.arguments = arguments

    def __str__(self) -> str:
        prefix = f"{self.location}: error: " if self.location else ""
        subject = f"'{self.operation}' op " if self.operation else ""
        called = f"; called with {self.arguments}" if self.arguments else ""
        return f"{prefix}{subject}{self.message}{called}{self.excerpt}"


class CheckError(ProgramError):
    """A check inside the program failed."""


class NonFiniteLossError(Error, FloatingPointError):
    """A loss of `Trainer.fit` is not finite. `trained` has the model before the part with that step, and all losses."""

    def __init__(self, message: str, trained: Any = None):
        super().__init__(message, trained)
        self.message, self.trained = message, trained

    def __str__(self) -> str:
        return self.message


_TAB = "\t"


def _printable(line: bytes) -> str:
    """The text with the numbers of characters that steer a terminal, as the tools print it."""
    text = line.decode(errors="replace")
    return "".join(c if c.isprintable() or c == _TAB else f"\\u{{{ord(c):X}}}" for c in text)


def python_excerpt(file: str, line: int) -> str:
    """The line of a Python file, for messages."""
    text = linecache.getline(file, line).strip()
    return f"\n    {_printable(text.encode())}" if text else ""


class Source:
    """The text of a program, for the source lines in messages."""

    def __init__(self, text: bytes, name: str):
        self.text = text
        self.name = name

    def excerpt(self, file: str, line: int, column: int) -> str:
        lines = self.text.splitlines() if file == self.name and line > 0 else []
        if not 0 < line <= len(lines) or column < 1:
            return ""
        # Columns count bytes.
        indent = _printable(lines[line - 1][: column - 1])
        return f"\n{_printable(lines[line - 1])}\n{''.join(c if c == _TAB else ' ' for c in indent)}^"

    def excerpt_at(self, location: str) -> str:
        file, line, column = (location.rsplit(":", 2) + ["", ""])[:3]
        return self.excerpt(file, int(line), int(column)) if line.isdigit() and column.isdigit() else ""

    def location_of_function(self, name: str) -> str:
        """The location of the function; empty if it is not found in the text."""
        found = re.search(rb'^[ \t]*(func\.func)\b[^@\n]*@"?' + re.escape(name.encode()) + rb'"?[\s(]', self.text, re.M)
        if not found:
            return ""
        before = self.text[: found.start(1)]
        return f"{self.name}:{before.count(bytes([10])) + 1}:{len(before) - before.rfind(bytes([10]))}"

    def diagnostic(self, entry: tuple[Any, ...]) -> Diagnostic:
        severity, file, line, column, text, notes = entry
        excerpt = self.excerpt(file, line, column)
        return Diagnostic(severity, text, file, line, column, excerpt, tuple(map(self.diagnostic, notes)))


class TracedSource(Source):
    """The text of a traced program; messages about lines of Python files show these."""

    def excerpt(self, file: str, line: int, column: int) -> str:
        return super().excerpt(file, line, column) or python_excerpt(file, line)


def make_exception(failure: _adjoint.Failure, source: Source, entry: str = "", arguments: str = "") -> Error:
    """The exception for a failure of the compiler, or of the function `entry` on `arguments`."""
    diagnostics = tuple(map(source.diagnostic, failure.diagnostics))
    if failure.reason == "options":
        return OptionError(failure.message)
    if failure.reason == "file":
        return TemporaryFileError(failure.message)
    if failure.reason == "target":
        return TargetUnavailableError(failure.message)
    if failure.reason == "source":
        return CompileError(failure.message, diagnostics)
    if failure.reason == "output":
        return ArgumentShapeError(failure.message)
    kind = CheckError if failure.reason == "check" else ProgramError
    if not failure.message and diagnostics:
        # The reference interpreter emits its errors as diagnostics.
        first = diagnostics[0]
        return kind(first.message, first.location, "", first.excerpt, arguments)
    # A lack of memory has no location: then the entry is named.
    location = failure.location or source.location_of_function(entry)
    return kind(failure.message, location, failure.operation, source.excerpt_at(location), arguments)
