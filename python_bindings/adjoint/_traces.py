# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traces of runs, replays, and comparisons of traces."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tokenize
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _adjoint
from ._errors import OptionTypeError, Source, TraceError, make_exception
from ._host import Feed, Receiver
from ._options import check_option, count_threads
from ._program import make_call
from ._reports import read_number, read_report
from ._results import make_results
from ._signature import DTYPES, STORAGE, make_signature
from ._tools import RUNS_MEASURES, Bound, bound_text

if TYPE_CHECKING:
    from ._program import Program

_RUN_FILE = "run.json"
#: What NumPy raises about a damaged file.
_LOAD_ERRORS = (OSError, ValueError, EOFError, MemoryError, OverflowError, RecursionError, TypeError,
                tokenize.TokenError)
_Path = str | os.PathLike[str]


@dataclasses.dataclass(frozen=True)
class Record:
    """A value of a traced run: a line of `records.tsv`."""

    #: INPUT, OUTPUT, RESULT, or INITIA for a constant.
    kind: str
    #: The element type as NumPy and ml_dtypes call it.
    dtype: str
    #: None if it is not known.
    shape: tuple[int | str, ...] | None
    #: Four letters about the elements; see `fingerprint`.
    fingerprint: str
    #: The operation of a result.
    op: str
    name: str
    #: The file of the tensor; None if it was not kept.
    file: pathlib.Path | None
    #: Equal for equal bits; all NaNs count as one.
    hash: str
    location: str
    #: How often the operation had run before, in loops.
    run: int
    #: Whether no kernel wrote the value: the reference interpreter has computed it from the kernel's operands.
    recomputed: bool

    def load(self) -> np.ndarray:
        """The tensor, which must have been kept."""
        if self.file is None:
            raise TraceError(f"the trace has no tensor of '{self.name}'; trace with tensors={self.name!r}, or 'all'")
        return _load(self.file, self.dtype)


@dataclasses.dataclass(frozen=True)
class Trace:
    """A folder that `trace` or `ad-runner --trace` has written."""

    folder: pathlib.Path
    #: What the run returned: an array, a named tuple or None. None, too, if the run failed.
    results: Any
    #: Every value of the run: constants, inputs, results in the order of the run, outputs.
    records: tuple[Record, ...]
    #: The content of `run.json`: versions, options, sources, whether the run failed.
    info: dict[str, Any]

    def find(self, name: str) -> tuple[Record, ...]:
        """The records of a value or of an operation, such as '%u' or 'ad.dot', in the order of the run."""
        return tuple(record for record in self.records if name in (record.name, record.op, record.name.split("(")[0]))


@dataclasses.dataclass(frozen=True)
class Replay:
    """The run of a trace once more."""

    #: What the run returned: an array, a named tuple or None.
    results: Any
    #: Names of results with other bits than in the trace, NaNs aside.
    different: tuple[str, ...]
    target: str
    numerics: str


def trace(
    program: Program,
    folder: _Path,
    /,
    *arrays: object,
    tensors: str | Iterable[str] = (),
    feeds: Mapping[str, Feed] | None = None,
    receives: Mapping[str, Receiver] | None = None,
    **named: object,
) -> Trace:
    """Runs the program once and writes a trace of the run into a new folder, as `ad-runner --trace` does.

    The program runs on its target, with the same bits as without a trace; no argument is overwritten. `tensors` are the
    names and operations whose tensors the trace keeps, such as "all", "u" or ["ad.dot", "u"]. The trace of a run that
    fails has its values until then, and the error is raised.
    """
    native, options, failed = make_call(program, arrays, named, feeds, receives)
    wanted = [tensors] if isinstance(tensors, str) or not isinstance(tensors, Iterable) else list(tensors)
    if not all(isinstance(name, str) and name for name in wanted):
        raise OptionTypeError("expected tensors as names of values and operations")
    found = _adjoint.trace(native, options, _text_of(folder), ",".join(wanted))
    if isinstance(found, _adjoint.Failure):
        raise _trace_error(found) or failed(found)
    results, warning = found
    if warning:
        warnings.warn(warning, RuntimeWarning, stacklevel=2)
    return _make_trace(folder, program._results_of(results))


def read_trace(folder: _Path) -> Trace:
    """Reads a trace."""
    info = _read_info(folder)
    if info.get("status") != "done":
        return _make_trace(folder, None)
    try:
        outputs = [(output["name"], output["file"], _element_type(output["type"])) for output in info["outputs"]]
        if not all(isinstance(name, str) for name, _, _ in outputs):
            raise TypeError("expected names as strings")
    except (KeyError, TypeError, AttributeError) as error:
        raise TraceError(f"{_text_of(folder)!r} is no folder of a trace: {_RUN_FILE} has no list of outputs") from error
    arrays = [_load(_file_of(folder, file), element_type) for _, file, element_type in outputs]
    return _make_trace(folder, make_results(tuple(name for name, _, _ in outputs), arrays))


def replay(folder: Trace | _Path, *, target: str | None = None, threads: int | None = None) -> Replay:
    """Runs the program of a trace with its inputs and options, as `ad-runner --replay` does.

    `target` and `threads` may differ from those of the trace. Bits of other targets are those of the trace if the
    numerics mode promises it.
    """
    check_option("target", target, str, optional=True)
    if isinstance(folder, Trace):
        folder = folder.folder
    file = _file_of(folder, str(_read_info(folder).get("program")))
    found = _adjoint.replay(_text_of(folder), target or "", count_threads(threads))
    if isinstance(found, _adjoint.Failure):
        text = file.read_bytes() if file.exists() else b""
        raise (None if target else _trace_error(found)) or make_exception(found, Source(text, str(file)))
    interface, used, numerics, arrays, different = found
    signature = make_signature(interface)
    arrays = [
        array.view(spec.dtype) if spec.element_type in STORAGE else array
        for array, spec in zip(arrays, signature.results)
    ]
    results = make_results(tuple(spec.name for spec in signature.results), arrays)
    return Replay(results, tuple(different), used, numerics)


def _text_of(folder: _Path) -> str:
    """The path for the library, which takes UTF-8."""
    path = os.fspath(folder) if isinstance(folder, os.PathLike) else folder
    if not isinstance(path, str):
        raise OptionTypeError(f"expected folder as str or PathLike, got {type(folder).__name__}")
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise TraceError(f"expected a folder with a name in UTF-8, got {path!r}") from error
    return path


def _file_of(folder: _Path, name: object) -> pathlib.Path:
    """A file that run.json names: one of the folder."""
    if not isinstance(name, str):
        raise TraceError(f"{_text_of(folder)!r} is no folder of a trace: {_RUN_FILE} names the file {name!r}")
    found = _adjoint.file_in_folder(_text_of(folder), name)
    if isinstance(found, _adjoint.Failure):
        raise TraceError(found.message)
    return pathlib.Path(found)


def _read_info(folder: _Path) -> dict[str, Any]:
    path = _file_of(folder, _RUN_FILE)
    try:
        info = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise TraceError(f"{os.fspath(folder)!r} is no folder of a trace: {error}") from error
    if not isinstance(info, dict):
        raise TraceError(f"{os.fspath(folder)!r} is no folder of a trace: {_RUN_FILE} holds no object")
    return info


def _make_trace(folder: _Path, results: Any) -> Trace:
    info = _read_info(folder)
    rows = _adjoint.records(_text_of(folder))
    if isinstance(rows, _adjoint.Failure):
        raise TraceError(rows.message)
    return Trace(pathlib.Path(folder), results, tuple(map(_record, rows)), info)


def _record(row: tuple[Any, ...]) -> Record:
    kind, dtype, shape, fingerprint, op, name, file, hash, location, run, source = row
    path = pathlib.Path(file) if file else None
    return Record(kind, dtype, shape, fingerprint, op, name, path, hash, location, run, source == "recomputed")


def _element_type(tensor_type: str) -> str:
    """`f32` of `tensor<2x?xf32>`, by NumPy's name."""
    return str(DTYPES[tensor_type[len("tensor<") : -1].split("x")[-1]])


def _load(file: pathlib.Path, dtype: str) -> np.ndarray:
    known = {str(type_): type_ for type_ in DTYPES.values()}
    try:
        # numpy.load reads archives, too.
        with file.open("rb") as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
        return array.view(known[dtype]) if array.dtype.kind == "V" and dtype in known else array
    except _LOAD_ERRORS as error:
        raise TraceError(f"cannot read '{file}': {error}") from error


def _trace_error(failure: _adjoint.Failure) -> TraceError | None:
    """The options of a compiled program are right, so that only the folder can be wrong."""
    return TraceError(failure.message) if failure.reason in ("options", "file") else None


@dataclasses.dataclass(frozen=True)
class ValueDifference:
    """A value whose bits differ between two traces."""

    kind: str
    name: str
    op: str
    run: int
    location: str
    #: How the two were matched: by `name`, as the `last of a name`, or by `value`.
    by: str
    #: The two may have nothing to do with each other, such as those of different operations.
    guess: bool
    hashes: tuple[str, str]
    fingerprints: tuple[str, str]
    #: The largest differences; None unless both traces have the tensor.
    abs: float | None
    rel: float | None
    ulp: float | None
    #: Norms of the difference, divided by those of the left value.
    l2: float | None
    max: float | None


@dataclasses.dataclass(frozen=True)
class Statement:
    """An operation in the text of a program."""

    operation: str
    location: str
    text: str


@dataclasses.dataclass(frozen=True)
class Edit:
    """An operation that differs between two programs; None where one of them lacks it."""

    left: Statement | None
    right: Statement | None


@dataclasses.dataclass(frozen=True)
class RunsDifference:
    """Where the bits of two traced runs differ."""

    #: How many values of the one run have a counterpart in the other one.
    pairs: int
    #: In the order of the run.
    different: tuple[ValueDifference, ...]
    #: Values that may differ: their fingerprints are equal, but one run has neither their hash nor their tensor.
    unknown: tuple[ValueDifference, ...]
    #: The operations that differ between the programs.
    edits: tuple[Edit, ...]
    only_left: tuple[str, ...]
    only_right: tuple[str, ...]
    #: How programs, options, versions, CPUs and sources differ.
    about: tuple[str, ...]
    #: False if a difference is larger than `bound`.
    holds: bool
    #: The lines that `ad-diff runs` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def _folder_of(side: Trace | _Path) -> str:
    return _text_of(side.folder if isinstance(side, Trace) else side)


def _value_difference(value: dict[str, Any]) -> ValueDifference:
    numbers = {name: read_number(value[name]) for name in ("abs", "rel", "ulp", "l2", "max") if name in value}
    return ValueDifference(
        **{key: value[key] for key in ("kind", "name", "op", "run", "location", "by", "guess")},
        hashes=tuple(value["hashes"]),
        fingerprints=tuple(value["fingerprints"]),
        abs=numbers.get("abs"),
        rel=numbers.get("rel"),
        ulp=numbers.get("ulp"),
        l2=numbers.get("l2"),
        max=numbers.get("max"),
    )


def runs(left: Trace | _Path, right: Trace | _Path, *, bound: Bound | None = None) -> RunsDifference:
    """Compares two traces value by value, as `ad-diff runs` does.

    `bound` has the differences that are allowed: "l2", "max", "abs", "rel" and "ulp" of each value, which both traces
    must have kept, and "different", how many values may differ; a number is one of "l2".
    """
    limits = "" if bound is None else bound_text(bound, RUNS_MEASURES)
    text, found = read_report(
        _adjoint.runs(_folder_of(left), _folder_of(right), limits), lambda failure: TraceError(failure.message)
    )
    different, unknown = (tuple(map(_value_difference, found[key])) for key in ("different", "unknown"))
    edits = tuple(
        Edit(*(edit[side] and Statement(**edit[side]) for side in ("left", "right"))) for edit in found["edits"]
    )
    sides = tuple(found["only_left"]), tuple(found["only_right"])
    return RunsDifference(
        found["pairs"], different, unknown, edits, *sides, tuple(found["runs"]), found["holds"], text
    )
