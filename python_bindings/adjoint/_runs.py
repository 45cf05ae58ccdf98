# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs that explain the numbers of a program: traces, replays, NaNs and infinities, rounding errors."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _adjoint
from ._errors import OptionError, OptionTypeError, Source, TraceError, make_exception
from ._host import Feed, Receiver
from ._program import check_option, count_threads, make_results
from ._signature import DTYPES, STORAGE, make_signature

if TYPE_CHECKING:
    from ._program import Program

_RUN_FILE = "run.json"
_MAX_SAMPLES = 1000  # of --stochastic, lib/Tools/Diff/Options.cpp
_Path = str | os.PathLike[str]


# ===- Traces and replays -------------------------------------------------===#


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
    native, options, failed = program._calls(arrays, named, feeds, receives)
    wanted = [tensors] if isinstance(tensors, str) else list(tensors)
    if not all(isinstance(name, str) and name for name in wanted):
        raise OptionTypeError("expected tensors as names of values and operations")
    found = _adjoint.trace(native, options, os.fspath(folder), ",".join(wanted))
    if isinstance(found, _adjoint.Failure):
        raise _trace_error(found) or failed(found)
    results, warning = found
    _warn([warning] * bool(warning))
    return _make_trace(folder, program._results_of(results))


def read_trace(folder: _Path) -> Trace:
    """Reads a trace."""
    info = _read_info(folder)
    if info.get("status") != "done":
        return _make_trace(folder, None)
    outputs = info["outputs"]
    arrays = [_load(pathlib.Path(folder, output["file"]), _element_type(output["type"])) for output in outputs]
    return _make_trace(folder, make_results(tuple(output["name"] for output in outputs), arrays))


def replay(folder: _Path, *, target: str | None = None, threads: int | None = None) -> Replay:
    """Runs the program of a trace with its inputs and options, as `ad-runner --replay` does.

    `target` and `threads` may differ from those of the trace. Bits of other targets are those of the trace if the
    numerics mode promises it.
    """
    check_option("target", target, str, optional=True)
    path = pathlib.Path(folder)
    file = os.path.join(os.fspath(folder), str(_read_info(folder).get("program")))
    found = _adjoint.replay(os.fspath(path), target or "", count_threads(threads))
    if isinstance(found, _adjoint.Failure):
        text = pathlib.Path(file).read_bytes() if os.path.exists(file) else b""
        raise (None if target else _trace_error(found)) or make_exception(found, Source(text, file))
    interface, used, numerics, arrays, different = found
    signature = make_signature(interface)
    arrays = [
        array.view(spec.dtype) if spec.element_type in STORAGE else array
        for array, spec in zip(arrays, signature.results)
    ]
    results = make_results(tuple(spec.name for spec in signature.results), arrays)
    return Replay(results, tuple(different), used, numerics)


def _read_info(folder: _Path) -> dict[str, Any]:
    path = pathlib.Path(folder, _RUN_FILE)
    try:
        info = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise TraceError(f"{os.fspath(folder)!r} is no folder of a trace: {error}") from error
    if not isinstance(info, dict):
        raise TraceError(f"{os.fspath(folder)!r} is no folder of a trace: {_RUN_FILE} holds no object")
    return info


def _make_trace(folder: _Path, results: Any) -> Trace:
    rows = _adjoint.records(os.fspath(folder))
    if isinstance(rows, _adjoint.Failure):
        raise TraceError(rows.message)
    records = tuple(
        Record(*row[:6], pathlib.Path(row[6]) if row[6] else None, *row[7:10], row[10] == "recomputed") for row in rows
    )
    return Trace(pathlib.Path(folder), results, records, _read_info(folder))


def _element_type(tensor_type: str) -> str:
    """`f32` of `tensor<2x?xf32>`, by NumPy's name."""
    return str(DTYPES[tensor_type[len("tensor<") : -1].split("x")[-1]])


def _load(file: pathlib.Path, dtype: str) -> np.ndarray:
    try:
        array = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise TraceError(f"cannot read '{file}': {error}") from error
    known = {str(type_): type_ for type_ in DTYPES.values()}
    return array.view(known[dtype]) if array.dtype.kind == "V" and dtype in known else array


def _trace_error(failure: _adjoint.Failure) -> TraceError | None:
    """The options of a compiled program are right, so that only the folder can be wrong."""
    return TraceError(failure.message) if failure.reason == "options" else None


def _warn(messages: list[str]) -> None:
    for message in messages:
        warnings.warn(message, RuntimeWarning, stacklevel=3)


# ===- Two traces ---------------------------------------------------------===#


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
    hashes: tuple[str, str]
    fingerprints: tuple[str, str]
    #: The largest differences; None unless both traces have the tensor.
    abs: float | None
    rel: float | None
    ulp: float | None


@dataclasses.dataclass(frozen=True)
class RunsDifference:
    """Where the bits of two traced runs differ."""

    #: How many values of the one run have a counterpart in the other one.
    pairs: int
    #: In the order of the run.
    different: tuple[ValueDifference, ...]
    only_left: tuple[str, ...]
    only_right: tuple[str, ...]
    #: How programs, options, versions, CPUs and sources differ.
    about: tuple[str, ...]
    #: The lines that `ad-diff runs` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def runs(left: Trace | _Path, right: Trace | _Path) -> RunsDifference:
    """Compares two traces value by value, as `ad-diff runs` does."""
    folders = [os.fspath(side.folder if isinstance(side, Trace) else side) for side in (left, right)]
    text, found = _analysis(_adjoint.runs(*folders), lambda failure: TraceError(failure.message))
    different = tuple(
        ValueDifference(
            **{key: value[key] for key in ("kind", "name", "op", "run", "location", "by")},
            hashes=tuple(value["hashes"]),
            fingerprints=tuple(value["fingerprints"]),
            **{key: float(value[key]) if key in value else None for key in ("abs", "rel", "ulp")},
        )
        for value in found["different"]
    )
    sides = tuple(found["only_left"]), tuple(found["only_right"])
    return RunsDifference(found["pairs"], different, *sides, tuple(found["runs"]), text)


# ===- NaNs and infinities ------------------------------------------------===#


@dataclasses.dataclass(frozen=True)
class Range:
    """What the elements of a tensor are. `min` and `max` are those of elements that are no NaN, None if all are."""

    count: int
    nans: int
    infinities: int
    min: float | None
    max: float | None


@dataclasses.dataclass(frozen=True)
class Operand:
    """An operand of an origin."""

    name: str
    range: Range
    #: Of an elementwise operation: the element that the first bad element was computed from.
    value: float | None


@dataclasses.dataclass(frozen=True)
class Step:
    """An operation that computed the operand before it, or what gave the value to the program."""

    text: str
    range: Range


@dataclasses.dataclass(frozen=True)
class Origin:
    """An operation that makes NaNs from operands without NaN, or infinities from finite ones, when it first did."""

    #: NaN or infinity.
    kind: str
    operation: str
    location: str
    #: Of the loops around the operation, the outermost first.
    iterations: tuple[int, ...]
    #: The index of the first such element.
    element: tuple[int, ...]
    value: float
    result: Range
    operands: tuple[Operand, ...]
    #: Where the operand that explains the result best came from.
    chain: tuple[Step, ...]
    #: How many executions of the operation are origins.
    executions: int
    #: The operation that made a NaN of this infinity; empty if none did.
    consequence: str


@dataclasses.dataclass(frozen=True)
class NonFinites:
    """The operations of a run that make NaNs and infinities, in the order in which they do."""

    origins: tuple[Origin, ...]
    #: Constants, arguments and feeds that have NaNs or infinities.
    given: tuple[str, ...]
    #: Results and received values that have NaNs or infinities.
    outputs: tuple[str, ...]
    #: How many operations have run.
    executions: int
    #: The lines that `ad-diff nan` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def nan(
    program: Program,
    /,
    *arrays: object,
    feeds: Mapping[str, Feed] | None = None,
    receives: Mapping[str, Receiver] | None = None,
    **named: object,
) -> NonFinites:
    """Runs the program once on its target and finds the operations that make NaNs and infinities.

    Values inside of kernels are those of the reference interpreter for the operands that the kernel had. No argument is
    overwritten.
    """
    native, inputs, failed = program._calls(arrays, named, feeds, receives)
    text, found = _analysis(_adjoint.find_nonfinite(native, inputs), failed)
    origins = tuple(map(_origin, found["origins"]))
    return NonFinites(origins, tuple(found["given"]), tuple(found["outputs"]), found["executions"], text)


def _origin(origin: dict[str, Any]) -> Origin:
    operands = tuple(
        Operand(operand["name"], _range(operand["range"]), _number(operand.get("value")))
        for operand in origin["operands"]
    )
    return Origin(
        **{key: origin[key] for key in ("kind", "operation", "location", "executions", "consequence")},
        iterations=tuple(origin["iterations"]),
        element=tuple(json.loads(origin["element"])),
        value=float(origin["value"]),
        result=_range(origin["result"]),
        operands=operands,
        chain=tuple(Step(step["from"], _range(step["range"])) for step in origin["chain"]),
    )


def _range(range_: dict[str, Any]) -> Range:
    counts = (range_[key] for key in ("count", "nans", "infinities"))
    return Range(*counts, _number(range_.get("min")), _number(range_.get("max")))


def _number(value: float | str | None) -> float | None:
    """JSON has no infinities and no NaN: they are texts."""
    return None if value is None else float(value)


# ===- Rounding errors ----------------------------------------------------===#


@dataclasses.dataclass(frozen=True)
class ErrorSize:
    """The largest error of an element: absolute, relative to the exact element, in units of its last place."""

    abs: float
    rel: float
    ulp: float


@dataclasses.dataclass(frozen=True)
class OperationErrors:
    """The errors of an operation, the largest of all elements and executions."""

    operation: str
    location: str
    executions: int
    #: The iteration with the largest local error; of samples the fewest digits.
    worst_iteration: tuple[int, ...]
    #: What the operation itself rounds; None with samples.
    local: ErrorSize | None
    #: What the errors of its operands become; None with samples.
    propagated: ErrorSize | None
    total: ErrorSize
    #: The propagated relative error divided by that of the operands; None with samples.
    amplification: float | None
    #: The fewest significant decimal digits of an element.
    digits: float


@dataclasses.dataclass(frozen=True)
class Decision:
    """An operation whose integers or booleans are others in a shadow."""

    #: The operation, where and when first.
    operation: str
    executions: int
    #: A scalar that branches, loops or sizes follow.
    is_control: bool


@dataclasses.dataclass(frozen=True)
class ResultErrors:
    """The errors of a result or a received value."""

    name: str
    total: ErrorSize
    digits: float


@dataclasses.dataclass(frozen=True)
class Shadow:
    """The rounding errors of a run, operation by operation."""

    #: Those with the largest local error first; with samples those with the fewest digits.
    operations: tuple[OperationErrors, ...]
    decisions: tuple[Decision, ...]
    #: Received values, then results.
    results: tuple[ResultErrors, ...]
    samples: int
    seed: int
    #: The table and the lines that `ad-diff shadow` prints.
    text: str

    def __str__(self) -> str:
        return self.text


def shadow(
    program: Program,
    /,
    *arrays: object,
    samples: int = 0,
    seed: int = 0,
    feeds: Mapping[str, Feed] | None = None,
    receives: Mapping[str, Receiver] | None = None,
    **named: object,
) -> Shadow:
    """Runs the program once on the reference interpreter, with shadows in f64, and measures its rounding errors.

    With `samples`, at least 2, the shadows are runs with stochastic rounding instead; `seed` chooses the random
    numbers. No argument is overwritten.
    """
    for name, value in (("samples", samples), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise OptionTypeError(f"expected {name} as int, got {type(value).__name__}")
    if samples != 0 and not 2 <= samples <= _MAX_SAMPLES:
        raise OptionError(f"expected samples as 0 or from 2 to {_MAX_SAMPLES}, got {samples}")
    if not 0 <= seed < 2**32:
        raise OptionError(f"expected seed from 0 to {2**32 - 1}, got {seed}")
    native, inputs, failed = program._calls(arrays, named, feeds, receives)
    text, found = _analysis(_adjoint.shadow(native, inputs, int(samples), int(seed)), failed)
    decisions = (Decision(entry["operation"], entry["executions"], entry["control"]) for entry in found["decisions"])
    results = (ResultErrors(entry["name"], _size(entry["total"]), float(entry["digits"])) for entry in found["results"])
    return Shadow(
        tuple(map(_operation_errors, found["operations"])),
        tuple(decisions),
        tuple(results),
        found["samples"],
        found["seed"],
        text,
    )


def _operation_errors(row: dict[str, Any]) -> OperationErrors:
    return OperationErrors(
        **{key: row[key] for key in ("operation", "location", "executions")},
        worst_iteration=tuple(row["worst_iteration"]),
        local=_size(row["local"]) if "local" in row else None,
        propagated=_size(row["propagated"]) if "propagated" in row else None,
        total=_size(row["total"]),
        amplification=_number(row.get("amplification")),
        digits=float(row["digits"]),
    )


def _size(size: dict[str, Any]) -> ErrorSize:
    return ErrorSize(*(float(size[key]) for key in ("abs", "rel", "ulp")))


# ===- Mixed precision ----------------------------------------------------===#


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
    bound: Mapping[str, float],
    feeds: Mapping[str, Feed] | None = None,
    **named: object,
) -> Precision:
    """Searches the operations that must compute in f32, by runs on the reference interpreter.

    `policy` is "bf16", "f16", "f8" or a file that ends with ".yaml". `bound` has the largest allowed differences from
    f32: "abs", "rel", "ulp". The program must have no policy of its own. No argument is overwritten.
    """
    check_option("policy", policy, (str, os.PathLike))
    if not isinstance(bound, Mapping) or not bound or not set(bound) <= {"abs", "rel", "ulp"}:
        raise OptionError(f"expected bound with abs, rel or ulp, such as {{'abs': 0.01}}, got {bound!r}")
    limits = {key: float(value) for key, value in bound.items()}
    if not all(value >= 0 for value in limits.values()):
        raise OptionError(f"expected bound with numbers that are not negative, got {bound!r}")
    native, inputs, failed = program._calls(arrays, named, feeds, None)
    text = ",".join(f"{key}={value!r}" for key, value in limits.items())
    name = os.fsdecode(policy)
    report = _adjoint.precision(native, inputs, name, *(limits.get(key) for key in ("abs", "rel", "ulp")), text)
    text, found = _analysis(report, failed)
    return Precision(
        tuple(KeptOperation(entry["operation"], entry["location"]) for entry in found["kept"]),
        found["holds"],
        found["candidates"],
        tuple(
            PrecisionDifference(entry["name"], float(entry["abs"]), float(entry["rel"]), entry["text"])
            for entry in found["results"]
        ),
        found["executions"],
        found["program"] or None,
        text,
    )


def _analysis(found: Any, failed: Any) -> tuple[str, dict[str, Any]]:
    """The text and the JSON of a report."""
    if isinstance(found, _adjoint.Failure):
        raise failed(found)
    text, report, messages = found
    for message in messages:
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    return text.rstrip("\n"), json.loads(report)
