# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The options of compilations, and checks of their types."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping

import numpy as np

from . import _adjoint
from ._errors import OptionError, OptionTypeError


def check_option(name: str, value: object, types: type | tuple[type, ...], *, optional: bool = False) -> None:
    """Raises for a value of another type, and for an empty string: a missing value is None."""
    if value is None and optional:
        return
    if not isinstance(value, types):
        names = [type_.__name__.rstrip("_") for type_ in (types if isinstance(types, tuple) else (types,))]
        expected = " or ".join([*dict.fromkeys(names), *(["None"] if optional else [])])
        raise OptionTypeError(f"expected {name} as {expected}, got {type(value).__name__}")
    if isinstance(value, str) and not value:
        raise OptionError(f"expected {name} with a value{', or None' if optional else ''}, got ''")


def make_options(
    *,
    entry: str = "main",
    target: str = "cpu",
    numerics: str | None = None,
    precision: str | None = None,
    kernels: Mapping[str, str] | None = None,
    threads: int | None = None,
    cpu: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    optimize: bool = True,
    allow_native: bool = False,
) -> _adjoint.Options:
    """The options of `compile`, after a look at their types."""
    check_option("entry", entry, str)
    check_option("target", target, str)
    check_option("numerics", numerics, str, optional=True)
    check_option("precision", precision, str, optional=True)
    check_option("cpu", cpu, str, optional=True)
    check_option("cache", cache, (str, os.PathLike), optional=True)
    check_option("optimize", optimize, (bool, np.bool_))
    check_option("allow_native", allow_native, (bool, np.bool_))
    options = _adjoint.Options()
    options.entry = entry
    options.target = target
    options.numerics = numerics or ""
    options.precision = precision or ""
    options.kernels = _kernels(kernels)
    options.threads = count_threads(threads)
    options.cpu = cpu or ""
    options.cache = os.fsdecode(cache) if cache else ""
    options.optimize = bool(optimize)
    options.allow_native = bool(allow_native)
    return options


def _kernels(kernels: object) -> str:
    """OP=NAME,... of a mapping of names to names."""
    if kernels is None:
        return ""
    if not isinstance(kernels, Mapping):
        raise OptionTypeError(f"expected kernels as Mapping or None, got {type(kernels).__name__}")
    for text in (text for pair in kernels.items() for text in pair):
        if not isinstance(text, str):
            raise OptionTypeError(f"expected kernels as names of operations and kernels, got {type(text).__name__}")
        if not text or "," in text or "=" in text:
            raise OptionError(f"expected kernels as names of operations and kernels, got '{text}'")
    return ",".join(f"{op}={name}" for op, name in kernels.items())


_MAX_THREADS = 1024  # kMaxThreads of include/adjoint/Runner/Options/Options.h


def count_threads(threads: int | None) -> int | None:
    if threads is None:
        return None
    if isinstance(threads, bool) or not hasattr(threads, "__index__"):
        raise OptionTypeError(f"expected threads as int or None, got {type(threads).__name__}")
    count = operator.index(threads)
    if not 0 <= count <= _MAX_THREADS:
        raise OptionError(f"expected a number of threads from 0 to {_MAX_THREADS}, got {threads}")
    return count
