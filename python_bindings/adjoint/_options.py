# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The options of compilations, and checks of their types."""

from __future__ import annotations

import functools
import inspect
import operator
import os
import types
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from . import _adjoint
from ._errors import OptionError, OptionTypeError

if TYPE_CHECKING:
    from typing import Unpack  # since Python 3.11

_F = TypeVar("_F", bound=Callable[..., object])


def check_option(name: str, value: object, kinds: type | tuple[type, ...], *, optional: bool = False) -> None:
    """Raises for a value of another type, and for an empty string: a missing value is None."""
    if value is None and optional:
        return
    if not isinstance(value, kinds):
        names = [type_.__name__.rstrip("_") for type_ in (kinds if isinstance(kinds, tuple) else (kinds,))]
        expected = " or ".join([*dict.fromkeys(names), *(["None"] if optional else [])])
        raise OptionTypeError(f"expected {name} as {expected}, got {type(value).__name__}")
    if isinstance(value, str) and not value:
        raise OptionError(f"expected {name} with a value{', or None' if optional else ''}, got ''")


class JitOptions(TypedDict, total=False):
    """Options of compilations that traced functions take: the table of their names and types, also at run time."""

    target: str
    numerics: str | None
    precision: str | None
    kernels: Mapping[str, str] | None
    threads: int | None
    cpu: str | None
    cache: str | os.PathLike[str] | None
    optimize: bool


class CompileOptions(JitOptions, total=False):
    """The options of `compile` that go to the compiler."""

    entry: str
    allow_native: bool


#: Those that are not None.
_DEFAULTS: dict[str, object] = {"target": "cpu", "optimize": True, "entry": "main", "allow_native": False}


def with_options(table: type) -> Callable[[_F], _F]:
    """Lists the options of a table in the signature of a function that takes them as **options."""

    kind = inspect.Parameter.KEYWORD_ONLY

    def listed(function: _F) -> _F:
        signature = inspect.signature(function)
        options = [
            inspect.Parameter(name, kind, default=_DEFAULTS.get(name), annotation=hint.__forward_arg__)
            for name, hint in table.__annotations__.items()
        ]
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        function.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
        return function

    return listed


def refuse_unknown(function: str, given: Iterable[str], table: type) -> None:
    known = table.__annotations__
    for name in given:
        if name not in known:
            raise OptionTypeError(f"{function} has no option {name!r}; it has {', '.join(known)}")


@functools.cache
def _types() -> dict[str, tuple[tuple[type, ...], bool]]:
    """The types of each option, and whether it may be None."""
    found = {}
    for name, hint in get_type_hints(CompileOptions).items():
        parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
        kinds = tuple(get_origin(part) or part for part in parts if part is not types.NoneType)
        found[name] = (*kinds, np.bool_) if kinds == (bool,) else kinds, types.NoneType in parts
    return found


def make_options(**given: Unpack[CompileOptions]) -> _adjoint.Options:
    """The options of `compile`, after a look at their types."""
    refuse_unknown("compile", given, CompileOptions)
    values: dict[str, Any] = {name: given.get(name, _DEFAULTS.get(name)) for name in CompileOptions.__annotations__}
    options = _adjoint.Options()
    for name, value in values.items():
        if name == "kernels":
            options.kernels = _kernels(value)
        elif name == "threads":
            options.threads = count_threads(value)
        else:
            kinds, optional = _types()[name]
            check_option(name, value, kinds, optional=optional)
            setattr(options, name, bool(value) if bool in kinds else os.fsdecode(value) if value else "")
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
