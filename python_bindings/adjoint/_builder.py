# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The program that is being traced: its functions and operations, with the lines of Python as locations."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import TYPE_CHECKING

from . import _adjoint
from ._attributes import quoted
from ._errors import CompileError, Diagnostic, TracingError, python_excerpt

if TYPE_CHECKING:
    from ._index import Index
    from ._value import Value

Place = tuple[str, int, int, str]

# Operations that compute no tensors by themselves.
_WITHOUT_KERNELS = {"ad.constant", "ad.feed", "ad.receive", "ad.require", "ad.value_and_grad", "ad.vjp"}

_INSIDE = (os.path.dirname(os.path.abspath(__file__)) + os.sep, contextlib.__file__)


def is_inside(code: CodeType) -> bool:
    """Whether code is part of the package."""
    return code.co_filename.startswith(_INSIDE)


def place(name: str = "") -> Place:
    """The line of the user's code that called the package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_INSIDE):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return ("", 0, 0, name)
    return (frame.f_code.co_filename, frame.f_lineno, 1, name)


def build_error(error: Exception, where: Place) -> CompileError:
    """The exception for an operation that cannot be, at the user's line."""
    file, line, column, _ = where
    return CompileError("", (Diagnostic("error", str(error), file, line, column, python_excerpt(file, line)),))


class Function:
    """A function that is being traced. Values of functions around it become further arguments of it."""

    def __init__(self, name: str, outer: Function | None):
        self.name, self.outer = name, outer
        self.captured: dict[int, Value] = {}  # by the number of the outer value
        self.captures: list[Value] = []  # the outer values, in the order of the arguments
        self.regions: list[int] = []  # the branches and loops that are being traced, from the outermost

    def encloses(self, other: Function) -> bool:
        inner: Function | None = other
        while inner is not None and inner is not self:
            inner = inner.outer
        return inner is self


class Trace:
    """A program in the making, and the functions in it."""

    def __init__(self) -> None:
        self.native = _adjoint.Builder()
        self.function: Function | None = None
        self.names: dict[str, int] = {"main": 1}  # the entry
        self.functions: list[str] = []  # those that have begun
        self.sizes: dict[str, Index] = {}  # dynamic sizes of arguments by their names
        self.has_receivers = False
        self.regions = 0  # how many have begun
        self.ended = 0  # how many wait for their operation
        self.fuse_group: str | None = None  # of the operations that come now
        self.unnamed_groups = 0

    def unique(self, name: str) -> str:
        """A symbol that no other function has."""
        base = "".join(character if character.isalnum() or character == "_" else "_" for character in name) or "f"
        base = base if not base[0].isdigit() else f"_{base}"
        count = self.names.get(base, 0)
        self.names[base] = count + 1
        return base if count == 0 else self.unique(f"{base}_{count}")

    def create(
        self,
        name: str,
        operands: Sequence[int],
        attributes: Sequence[tuple[str, str]] = (),
        types: Sequence[str] = (),
        regions: int = 0,
        where: Place | None = None,
    ) -> list[int]:
        where = where or place()
        self.ended -= regions
        if self.fuse_group and name.startswith("ad.") and name not in _WITHOUT_KERNELS:
            attributes = [*attributes, ("ad.fuse_group", quoted(self.fuse_group))]
        try:
            return self.native.create(name, list(operands), list(attributes), list(types), regions, where)
        except _adjoint.BuildError as error:
            raise build_error(error, where) from None

    def number(self, value: Value) -> int:
        """The number of a value in the function that is being traced."""
        if value._trace is not self:
            raise TracingError(
                "a traced value is used after its function was traced; return it from the function instead"
            )
        if value._region and value._region not in value._function.regions:
            raise TracingError(
                "a value of a branch or a loop is used outside of it; return it from the function of the branch or loop"
            )
        if value._function is self.function:
            return value._number
        assert self.function is not None
        if not value._function.encloses(self.function):
            raise TracingError(
                "a traced value is used after its function was traced; return it from the function instead"
            )
        return self._capture(value, self.function)

    def _capture(self, value: Value, function: Function) -> int:
        if value._function is function:
            return value._number
        known = function.captured.get(value._number)
        if known is None:
            number = self.native.add_argument(value._type, place())
            known = function.captured[value._number] = value._copy(number, function)
            known._region = 0  # an argument of the function
            function.captures.append(value)
        return known._number

    @contextlib.contextmanager
    def region(self, types: Sequence[str]) -> Iterator[list[int]]:
        """The arguments of a region; a body that raises gives it up."""
        assert self.function is not None
        numbers = self.native.begin_region(list(types), place())
        self.regions += 1
        self.function.regions.append(self.regions)
        try:
            yield numbers
        except BaseException:
            self.native.abandon_region()
            raise
        finally:
            self.function.regions.pop()

    def end_region(self, terminator: str, operands: Sequence[int]) -> None:
        self.native.end_region(terminator, list(operands), [], place())
        self.ended += 1

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """An operation with its regions: a body that raises leaves none of them behind."""
        before = self.ended
        try:
            yield
        except BaseException:
            self.native.drop_regions(max(self.ended - before, 0))
            self.ended = before
            raise


class _State(threading.local):
    trace: Trace | None = None


state = _State()


def current() -> Trace:
    if state.trace is None:
        raise TracingError(
            "no function is traced here: call this inside of one of @adjoint.jit. A traced value is used only while "
            "its function is traced"
        )
    return state.trace


def is_tracing() -> bool:
    return state.trace is not None


@contextlib.contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    before, state.trace = state.trace, trace
    try:
        yield trace
    finally:
        state.trace = before
