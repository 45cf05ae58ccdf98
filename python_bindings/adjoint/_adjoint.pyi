# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# The extension module, for this package only.
from typing import Any, Callable

import numpy as np

class Options:
    entry: str
    target: str
    numerics: str
    precision: str
    kernels: str
    cpu: str
    cache: str
    threads: int | None
    optimize: bool
    allow_native: bool
    def __init__(self) -> None: ...

class Failure:
    @property
    def reason(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def location(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def diagnostics(self) -> list[tuple[Any, ...]]: ...

class Program:
    def run(
        self,
        values: tuple[object, ...],
        prepare: Callable[[int, object, bool], np.ndarray],
        feeds: dict[str, Callable[..., object]],
        receives: dict[str, Callable[..., object]],
        outs: tuple[np.ndarray | None, ...],
        conflict: Callable[[int, int, int], object],
    ) -> list[np.ndarray] | Failure: ...
    @property
    def interface(self) -> dict[str, Any]: ...
    @property
    def numerics(self) -> str: ...
    @property
    def cpu(self) -> str: ...
    @property
    def cache_use(self) -> str: ...
    @property
    def messages(self) -> list[tuple[Any, ...]]: ...

def compile(source: bytes, name: str, options: Options) -> Program | Failure: ...
def in_own_state(function: Callable[..., Any], *arguments: object) -> Any: ...
_Storage = Callable[[Any], tuple[str, np.ndarray] | None]

def max_diff(
    expected: object,
    got: object,
    storage: _Storage,
    thresholds: list[float],
    begin: int,
    end: int,
    flatten: bool,
    skip_none: bool,
) -> dict[str, Any]: ...
def string_type(value: object, storage: _Storage, shape: bool, min_max: bool, limit: int) -> str: ...
def fingerprint(array: object, storage: _Storage) -> str: ...
def matrix(
    arrays: list[np.ndarray], labels: list[str], storage: _Storage, measure: str
) -> tuple[list[list[float]], list[list[int]], str]: ...
def align(
    left: list[tuple[str, str, str, np.ndarray]],
    right: list[tuple[str, str, str, np.ndarray]],
    column: int,
    storage: _Storage,
) -> tuple[float, list[tuple[int, int, str, float]], str]: ...
class CallInputs:
    def __init__(
        self,
        source: bytes,
        name: str,
        options: Options,
        values: tuple[object, ...],
        prepare: Callable[[int, object, bool], np.ndarray],
        feeds: dict[str, Callable[..., object]],
        receives: dict[str, Callable[..., object]],
    ) -> None: ...

# The text, the JSON and the warnings of a report.
_Analysis = tuple[str, str, list[str]]

def trace(
    program: Program, inputs: CallInputs, folder: str, tensors: str
) -> tuple[list[np.ndarray], str] | Failure: ...
def replay(
    folder: str, target: str, threads: int | None
) -> tuple[dict[str, Any], str, str, list[np.ndarray], list[str]] | Failure: ...
def runs(left: str, right: str, bound: str) -> _Analysis | Failure: ...
def file_in_folder(folder: str, name: str) -> str | Failure: ...
def records(path: str) -> list[tuple[Any, ...]] | Failure: ...
def find_nonfinite(program: Program, inputs: CallInputs) -> tuple[Failure | None, _Analysis | None]: ...
def precision(
    program: Program,
    inputs: CallInputs,
    policy: str,
    bound: str,
) -> _Analysis | Failure: ...
def shadow(program: Program, inputs: CallInputs, samples: int, seed: int, bound: str) -> _Analysis | Failure: ...
def end_threads() -> None: ...
def import_bits(capsule: Any) -> tuple[str, np.ndarray]: ...
def set_leak_warnings(value: bool) -> None: ...
