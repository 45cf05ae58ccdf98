# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""How do arrays, containers of them, and runs of programs differ? The functions and the texts of `ad-diff`.

>>> print(adjoint.diff.max_diff(np.array([0.0, 1.0]), np.array([0.0, 1.5]), hist=[0, 1]))
abs=0.5, rel=0.4995004995004996, n=2.0/#1>0.0,amax=1
"""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _adjoint
from ._device import on_host
from ._nonfinite import NonFinites, Operand, Origin, Range, Step, nan
from ._precision import KeptOperation, Precision, PrecisionDifference, precision
from ._searches import (
    Bisection,
    ReducedOperation,
    Reduction,
    ResultDifference,
    Rewrite,
    SideCause,
    Stage,
    bisect,
    reduce,
)
from ._shadow import Decision, ErrorSize, OperationErrors, ResultErrors, Shadow, shadow
from ._signature import DTYPES, STORAGE
from ._stage_search import StageChange, Stages, stages
from ._tensor_files import TensorPair, Tensors, tensors
from ._tools import TENSOR_MEASURES
from ._traces import (
    Edit,
    Record,
    Replay,
    RunsDifference,
    Statement,
    Trace,
    ValueDifference,
    read_trace,
    replay,
    runs,
    trace,
)

__all__ = [
    "Alignment",
    "Bisection",
    "Decision",
    "Difference",
    "Edit",
    "ErrorSize",
    "KeptOperation",
    "Matrix",
    "NonFinites",
    "Operand",
    "OperationErrors",
    "Origin",
    "Precision",
    "PrecisionDifference",
    "Range",
    "Record",
    "ReducedOperation",
    "Reduction",
    "Replay",
    "ResultDifference",
    "ResultErrors",
    "Rewrite",
    "RunsDifference",
    "Shadow",
    "SideCause",
    "Stage",
    "StageChange",
    "Stages",
    "Statement",
    "Step",
    "TensorPair",
    "Tensors",
    "Trace",
    "ValueDifference",
    "align",
    "bisect",
    "fingerprint",
    "matrix",
    "max_diff",
    "nan",
    "precision",
    "read_trace",
    "reduce",
    "replay",
    "runs",
    "shadow",
    "stages",
    "string_diff",
    "string_type",
    "tensors",
    "trace",
]

_THRESHOLDS = (0, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100)
# Of lib/Diff/Record.cpp.
_KINDS = ("INPUT", "OUTPUT", "RESULT", "INITIA", "SPARSE", "NODE")
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclasses.dataclass(frozen=True)
class Difference:
    """The largest differences of two values, and their text."""

    #: The largest |got - expected|; an int if it is a difference of integers beyond 2^53, and so is `sum`.
    abs: float
    #: The largest |got - expected| / (|expected| + 0.001). It says nothing about arrays of smaller elements.
    rel: float
    #: The sum of all |got - expected|.
    sum: float
    #: The number of elements; infinite if the values cannot be compared.
    n: float
    #: How many elements are NaN on one side alone.
    dnan: float
    #: How many elements differ by more than a threshold, by `>0.001`; empty without `hist`.
    counts: dict[str, int]
    #: The index of the first largest difference; of arrays alone.
    index: tuple[int, ...] | None
    #: The largest distance in units of the last place, if the element types are equal.
    ulp: float | None
    #: The line that `ad-diff tensors` prints.
    text: str
    #: ‖got - expected‖ / ‖expected‖, or ‖got - expected‖ if `expected` is zero; of containers, the largest of an item.
    l2: float
    #: The same of the largest magnitudes.
    max: float

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Matrix:
    """The differences of several arrays, pairwise; the array of a row is the expected one."""

    labels: tuple[str, ...]
    values: np.ndarray
    #: The labels in groups of equal arrays.
    equal: tuple[tuple[str, ...], ...]
    #: The table that `ad-diff matrix` prints.
    text: str

    def __str__(self) -> str:
        return self.text


@dataclasses.dataclass(frozen=True)
class Alignment:
    """Which records of two runs belong together."""

    distance: float
    #: (number on the left, number on the right, `=`, `~`, `-` or `+`, distance) for each line.
    pairs: list[tuple[int, int, str, float]]
    #: The lines that `ad-diff align` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def _storage(value: Any) -> tuple[str, np.ndarray] | None:
    """The MLIR name of the element type of an array, and its bits in row-major order; None if it is no array."""
    value = on_host(value)
    if not isinstance(value, (np.ndarray, np.generic)) or isinstance(value, np.ma.MaskedArray):
        return None
    array = np.asarray(value)
    name = _NAMES.get(array.dtype.newbyteorder("="))
    if name is None:
        raise TypeError(f"expected an array of {', '.join(map(str, _NAMES))}, found {array.dtype}")
    array = np.require(array, DTYPES[name], ["C", "A"]).reshape(array.shape)
    return name, array.view(STORAGE[name]) if name in STORAGE else array


def _integer(name: str, value: Any, low: int = -(2**63), high: int = 2**63 - 1) -> int:
    if isinstance(value, (bool, np.bool_)) or not hasattr(value, "__index__"):
        raise TypeError(f"expected {name} as int, got {type(value).__name__}")
    number = operator.index(value)
    if not low <= number <= high:
        raise ValueError(f"expected {name} from {low} to {high}, got {number}")
    return number


def _text(value: Any) -> str:
    """A name, which the texts about it must be able to show."""
    if not isinstance(value, str):
        raise TypeError(f"expected names as str, got {type(value).__name__}")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"expected names of Unicode characters, got {value!r}") from error
    return value


def max_diff(
    expected: Any,
    got: Any,
    *,
    hist: bool | Sequence[float] = False,
    begin: int = 0,
    end: int = -1,
    flatten: bool = False,
    skip_none: bool = False,
) -> Difference:
    """The differences of two arrays, numbers, or lists, tuples, sets and dicts of them.

    Elements are compared in f64, and 64-bit integers as integers; a NaN counts as 1e10. In containers `abs`, `rel`,
    `l2`, `max`, `dnan` and `ulp` are the largest of the items, `sum`, `n` and `counts` their sums. Shapes, lengths or
    kinds that differ give infinities. `hist` counts the elements above thresholds, the usual ones or those given.
    `begin` and `end` select items of a container; `flatten` compares nested containers as one list if lengths differ;
    `skip_none` leaves out pairs with a None.
    """
    thresholds = list(_THRESHOLDS) if hist is True else [] if hist is False else [float(value) for value in hist]
    for threshold in thresholds:
        if not 0 <= threshold < math.inf:
            raise ValueError(f"expected hist with numbers that are not negative, found {threshold}")
    begin, end = _integer("begin", begin), _integer("end", end)
    return Difference(
        **_adjoint.max_diff(expected, got, _storage, thresholds, begin, end, bool(flatten), bool(skip_none))
    )


def string_diff(difference: Difference) -> str:
    """The line about a difference, letter by letter that of the package onnx-diagnostic."""
    return difference.text


def string_type(value: Any, *, with_shape: bool = False, with_min_max: bool = False, limit: int = 20) -> str:
    """One line about the types, and the shapes and ranges, in a value: `#1[A1s2x4[0.0,1.0:A0.5]]`."""
    limit = _integer("limit", limit, 1)
    return _adjoint.string_type(value, _storage, bool(with_shape), bool(with_min_max), limit)


def fingerprint(array: np.ndarray) -> str:
    """Four letters about the elements of an array."""
    return _adjoint.fingerprint(array, _storage)


def matrix(arrays: Mapping[str, np.ndarray] | Sequence[np.ndarray], *, measure: str = "abs") -> Matrix:
    """Compares all pairs of arrays, which have names in a dict, else numbers. `measure` is abs, rel, l2, max or ulp."""
    if measure not in TENSOR_MEASURES:
        raise ValueError(f"unknown measure {measure!r}, expected {', '.join(TENSOR_MEASURES)}")
    named = dict(arrays) if isinstance(arrays, Mapping) else {str(i): array for i, array in enumerate(arrays)}
    shapes = {np.shape(array) for array in named.values()}
    if len(shapes) > 1:
        raise ValueError(f"expected arrays of one shape, found {', '.join(map(str, sorted(shapes)))}")
    labels = tuple(map(_text, named))
    rows, groups, text = _adjoint.matrix(list(named.values()), list(labels), _storage, measure)
    values = np.array(rows, np.float64).reshape(len(labels), len(labels))
    return Matrix(labels, values, tuple(tuple(labels[i] for i in group) for group in groups), text)


def align(
    left: Iterable[tuple[str, str, str, np.ndarray]],
    right: Iterable[tuple[str, str, str, np.ndarray]],
    *,
    column: int = 75,
) -> Alignment:
    """Aligns the records of two runs. A record is (kind, name, operation, array); kinds are INITIA, INPUT, RESULT and
    OUTPUT."""
    column = _integer("column", column, 20, 1000)
    return Alignment(*_adjoint.align(_records(left), _records(right), column, _storage))


def _records(rows: Iterable[tuple[str, str, str, np.ndarray]]) -> list[tuple[str, str, str, np.ndarray]]:
    records: list[Any] = [tuple(row) for row in rows]
    for record in records:
        if len(record) != 4:
            raise TypeError("expected records of a kind, a name, an operation and an array")
        kind = list(map(_text, record[:3]))[0]
        if kind not in _KINDS:
            raise ValueError(f"unknown kind {kind!r}, expected {', '.join(_KINDS)}")
    return records
