# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Feeds and receivers of a call as functions that the extension module calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from ._arrays import from_storage, prepare
from ._errors import ArgumentTypeError
from ._signature import Signature, TensorSpec

#: A function from the requested shape to an array, or an iterable of arrays.
Feed = Callable[[tuple[int, ...]], object] | Iterable[object]
Receiver = Callable[..., object]


def check_names(kind: str, given: Mapping[str, object], known: Iterable[str]) -> None:
    """Raises for a name that the program does not have."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"expected {kind}s by name in a dict, got {type(given).__name__}")
    known = list(known)
    for name in given:
        if name not in known:
            names = f"its {kind}s are {', '.join(known)}" if known else f"it has no {kind}s"
            raise ArgumentTypeError(f"the program has no {kind} {name!r}, {names}")


def feed_functions(signature: Signature, feeds: Mapping[str, Feed]) -> dict[str, Callable[..., object]]:
    check_names("feed", feeds, signature.feeds)
    for spec in signature.feeds.values():
        if spec.name not in feeds:
            raise ArgumentTypeError(
                f"feed {spec.name!r} of type {spec.type} has no source, expected feeds={{{spec.name!r}: ...}}"
            )
    return {name: _feed_function(signature.feeds[name], source) for name, source in feeds.items()}


def _feed_function(spec: TensorSpec, source: Feed) -> Callable[..., object]:
    if callable(source):
        return lambda shape: prepare(spec, source(shape), "feed", shape)
    try:
        values = iter(source)
    except TypeError as error:
        raise ArgumentTypeError(
            f"feed {spec.name!r}: expected a function, an iterable or an array, got {type(source).__name__}"
        ) from error
    count = 0

    def next_value(shape: tuple[int, ...]) -> np.ndarray | str:
        nonlocal count
        for value in values:
            count += 1
            return prepare(spec, value, "feed", shape)
        return f"used up after {count} value{'s' * (count != 1)}"

    return next_value


def receive_functions(signature: Signature, receives: Mapping[str, Receiver]) -> dict[str, Callable[..., object]]:
    check_names("receiver", receives, signature.receives)
    return {name: _receive_function(signature.receives[name], receiver) for name, receiver in receives.items()}


def _receive_function(specs: tuple[TensorSpec, ...], receiver: Receiver) -> Callable[..., object]:
    if not callable(receiver):
        raise ArgumentTypeError(f"receiver {specs[0].name!r}: expected a function, got {type(receiver).__name__}")
    return lambda *arrays: receiver(*map(from_storage, arrays, specs))
