# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# The extension module; of use to this package only.
from typing import Any, Callable

import numpy as np

class Options:
    entry: str
    target: str
    numerics: str
    cpu: str
    cache: str
    threads: int
    optimize: bool
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
    def diagnostics(self) -> list[tuple]: ...

class Program:
    def run(
        self,
        values: tuple,
        prepare: Callable[[int, Any], np.ndarray],
        feeds: dict[str, Callable],
        receives: dict[str, Callable],
    ) -> list[np.ndarray] | Failure: ...
    @property
    def interface(self) -> dict: ...
    @property
    def numerics(self) -> str: ...
    @property
    def cpu(self) -> str: ...
    @property
    def cache_use(self) -> str: ...
    @property
    def messages(self) -> list[tuple]: ...

def compile(source: bytes, name: str, options: Options) -> Program | Failure: ...
def import_bits(object: Any) -> tuple[str, np.ndarray]: ...
def set_leak_warnings(value: bool) -> None: ...
