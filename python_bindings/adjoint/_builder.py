# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The program that is being traced: what `adjoint.ops` appends to, with the lines of Python as locations."""

from __future__ import annotations

import contextlib
import functools
import math
import operator
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _adjoint
from ._errors import CompileError, Diagnostic, TracingError, python_excerpt
from ._signature import DTYPES, format_type
from ._types import ELEMENTS, Spec, element_of

if TYPE_CHECKING:
    from ._tensor import Index, Tensor

Operand = Union["Tensor", np.ndarray, np.generic, bool, int, float]
TypeLike = Union[Spec, str]
Place = tuple[str, int, int, str]

_INSIDE = (os.path.dirname(os.path.abspath(__file__)) + os.sep, contextlib.__file__)
_NOWHERE: Place = ("", 0, 0, "")


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
        self.captured: dict[int, Tensor] = {}  # by the number of the outer value
        self.captures: list[Tensor] = []  # the outer values, in the order of the arguments
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
        try:
            return self.native.create(name, list(operands), list(attributes), list(types), regions, where)
        except _adjoint.BuildError as error:
            raise build_error(error, where) from None

    def number(self, value: Tensor | Index) -> int:
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

    def _capture(self, value: Tensor | Index, function: Function) -> int:
        if value._function is function:
            return value._number
        known = function.captured.get(value._number)
        if known is None:
            number = self.native.add_argument(value._type, place())
            known = function.captured[value._number] = value._copy(number, function)
            known._region = 0  # an argument of the function
            function.captures.append(value)  # type: ignore[arg-type]
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
            "there is no program to append to: call this inside of a function of @adjoint.jit, which traces it"
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


# Texts of attributes.


def quoted(text: str) -> str:
    """A string as MLIR writes it."""
    return (
        '"'
        + "".join(
            character if 32 <= byte < 127 and character not in '"\\' else f"\\{byte:02X}"
            for byte, character in ((byte, chr(byte)) for byte in text.encode())
        )
        + '"'
    )


def float_text(value: float) -> str:
    if math.isfinite(value):
        return f"{value:.17e} : f64"
    return f"0x{np.float64(value).view(np.uint64):016X} : f64"


def axes_text(value: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, map(int, value)))}>" if len(value) else "array<i64>"


_WRITERS = {
    "axes": axes_text,
    "integer": lambda value: f"{int(value)} : i64",
    "number": lambda value: float_text(float(value)),
    "unit": lambda value: "unit",
    "string": quoted,
    "type": str,
    "symbol": lambda value: f"@{quoted(value)}",
    "order": lambda value: value if value.startswith("#") else f"#ad.order<{value}>",
    "allow": lambda value: value if value.startswith("#") else f"#ad.allow<{value}>",
}


def attribute_text(writer: str, value: Any) -> str:
    if writer.startswith("enum:"):
        return f"#ad<{writer[5:]} {value}>"
    if writer == "elements":
        return elements_text(np.asarray(value))
    return _WRITERS[writer](value)


def elements_text(array: np.ndarray) -> str:
    """A dense attribute with the bits of an array."""
    element = element_of(array.dtype)
    type = format_type(element, array.shape)
    if array.size == 0:
        return f"dense<> : {type}"
    if element == "i1":
        return f"dense<{_nested(array)}> : {type}"
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : {type}'


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return "true" if array else "false"
    return f"[{', '.join(map(_nested, array))}]"


def type_text(type: TypeLike) -> str:
    return (
        type
        if isinstance(type, str)
        else format_type(type.element_type, tuple(size if isinstance(size, int) else None for size in type.shape))
    )


# Operations.


def number_kind(value: Any) -> type | None:
    """bool, int or float of a Python number; None of a NumPy scalar, which has a type of its own. NumPy's float64 is a
    float of Python, such as np.sqrt(2)."""
    if isinstance(value, np.generic) and not isinstance(value, float):
        return None
    return next((kind for kind in (bool, int, float) if isinstance(value, kind)), None)


@functools.lru_cache(maxsize=4096)
def _scalar_text(element: str, text: str) -> str:
    """By the text of the number, since -0.0 equals 0.0."""
    value = {"True": True, "False": False}.get(text)
    number = value if value is not None else float(text) if "." in text or "n" in text or "e" in text else int(text)
    try:
        return elements_text(np.asarray(number, DTYPES[element]))
    except OverflowError:
        raise TracingError(
            f"{text} is no number of type {element}; convert the tensor beside it with .astype"
        ) from None


def constant(value: Any, element: str | None = None) -> Tensor:
    """The constant tensor of a number or an array; a number is of the element type `element`."""
    from ._tensor import wrap

    kind = number_kind(value)
    if kind:
        element = element or {bool: "i1", int: "i32", float: "f32"}[kind]
        text = _scalar_text(element, repr(kind(value)))
    else:
        array = np.asarray(value)
        if array.dtype not in ELEMENTS:
            raise TracingError(f"an array of {array.dtype} has no element type of Adjoint; convert it with .astype")
        text = elements_text(array)
    return wrap(current().create("ad.constant", (), [("value", text)])[0])


def number_of_index(value: Any) -> int:
    """The number of a value of type index: of a size, an integer, or a traced integer of rank 0."""
    from ._tensor import Index, Tensor

    trace = current()
    if isinstance(value, Index):
        return trace.number(value)
    if isinstance(value, Tensor):
        if value.shape or value.element_type not in ("i8", "i32", "i64"):
            raise TracingError(f"expected an integer of rank 0 as an index, got {value}")
        (scalar,) = trace.create("tensor.extract", [trace.number(value)])
        return trace.create("arith.index_cast", [scalar], types=["index"])[0]
    try:
        number = operator.index(value)
    except TypeError:
        raise TracingError(f"expected an integer as an index, a size or a bound, got {value!r}") from None
    return trace.create("arith.constant", (), [("value", f"{number} : index")])[0]


def emit(
    name: str,
    operands: Sequence[Sequence[Any]],
    attributes: Sequence[tuple[str, str, Any]],
    *,
    type: TypeLike | None = None,
    segmented: bool = False,
    indices: int = 0,
) -> tuple[Tensor, ...]:
    """Appends an operation. `operands` are groups, the last `indices` of which are sizes or offsets; with `segmented`
    their lengths are an attribute."""
    from ._tensor import Tensor, tensor, wrap

    trace = current()
    first = len(operands) - indices
    element = next(
        (value.element_type for group in operands[:first] for value in group if isinstance(value, Tensor)), None
    )
    numbers: list[int] = []
    for position, group in enumerate(operands):
        for value in group:
            if position >= first:
                numbers.append(number_of_index(value))
            else:
                numbers.append(trace.number(tensor(value, element)))
    texts = [
        (key, attribute_text(writer, value))
        for key, writer, value in attributes
        if value is not None and value is not False
    ]
    if segmented:
        texts.append(("operandSegmentSizes", f"array<i32: {', '.join(str(len(group)) for group in operands)}>"))
    types = [] if type is None else [type_text(type)]
    return tuple(map(wrap, trace.create(name, numbers, texts, types)))
