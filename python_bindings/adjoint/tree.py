# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Trees of values: dicts, lists, tuples, named tuples, dataclasses and registered classes, with anything else as
leaves.

Arguments and results of traced functions are such trees.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._errors import OptionError

__all__ = ["flatten", "leaves", "map", "names", "register", "structure", "unflatten"]

#: By class: what gives the children with their names and the rest, and what makes a value of children and the rest.
_Flatten = Callable[[Any], tuple[Sequence[Any], Sequence[str], Any]]
_registered: dict[type, tuple[_Flatten, Callable[[Any, Sequence[Any]], Any]]] = {}


def register(
    cls: type, flatten: Callable[[Any], tuple[Any, ...]], unflatten: Callable[[Any, Sequence[Any]], Any]
) -> None:
    """Makes values of a class trees: `flatten` gives (children, rest) or (children, rest, names of the children), and
    `unflatten` a value of (rest, children). The rest is compared with ==."""

    def named(value: Any) -> tuple[Sequence[Any], Sequence[str], Any]:
        children, rest, *names = flatten(value)
        return children, names[0] if names else [str(index) for index in range(len(children))], rest

    _registered[cls] = named, unflatten


@dataclasses.dataclass(frozen=True)
class Structure:
    """The form of a tree; `kind` is None for a leaf."""

    kind: Any
    rest: Any
    children: tuple[Structure, ...]
    names: tuple[str, ...]

    def count(self) -> int:
        return 1 if self.kind is None else sum(child.count() for child in self.children)


LEAF = Structure(None, None, (), ())


def _dict(value: dict[Any, Any]) -> tuple[Sequence[Any], Sequence[str], Any]:
    try:
        keys = sorted(value)
    except TypeError:
        keys = list(value)
    rest: Any = tuple(keys)
    if isinstance(value, collections.defaultdict):
        rest = value.default_factory, rest
    return [value[key] for key in keys], [str(key) for key in keys], rest


def _parts(value: Any) -> tuple[Any, Sequence[Any], Sequence[str], Any] | None:
    """(kind, children, names, rest) of a tree; None of a leaf."""
    kind = type(value)
    if value is None:
        return type(None), (), (), None
    if kind in _registered:
        return kind, *_registered[kind][0](value)
    if isinstance(value, dict):
        return kind, *_dict(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, tuple(value), value._fields, None
    if kind in (list, tuple):
        return kind, tuple(value), [str(index) for index in range(len(value))], None
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and not hasattr(value, "__adjoint_leaf__"):
        names = [field.name for field in dataclasses.fields(value)]
        return kind, [getattr(value, name) for name in names], names, None
    return None


def _collect(value: Any, into: list[Any]) -> Structure:
    parts = _parts(value)
    if parts is None:
        into.append(value)
        return LEAF
    kind, children, names, rest = parts
    return Structure(kind, rest, tuple(_collect(child, into) for child in children), tuple(names))


def flatten(value: Any) -> tuple[list[Any], Structure]:
    """The leaves, and the structure that puts them together again."""
    found: list[Any] = []
    return found, _collect(value, found)


def leaves(value: Any) -> list[Any]:
    return flatten(value)[0]


def structure(value: Any) -> Structure:
    return flatten(value)[1]


def _make(form: Structure, values: Any) -> Any:
    if form.kind is None:
        return next(values)
    children = [_make(child, values) for child in form.children]
    if form.kind is type(None):
        return None
    if form.kind in _registered:
        return _registered[form.kind][1](form.rest, children)
    if issubclass(form.kind, collections.defaultdict):
        return form.kind(form.rest[0], zip(form.rest[1], children))
    if issubclass(form.kind, dict):
        return form.kind(zip(form.rest, children))
    if form.kind is list:
        return children
    if form.kind is tuple:
        return tuple(children)
    if issubclass(form.kind, tuple):
        return form.kind(*children)
    made = object.__new__(form.kind)
    for name, child in zip(form.names, children):
        object.__setattr__(made, name, child)
    return made


def unflatten(form: Structure, values: Iterable[Any]) -> Any:
    """The tree of that structure with these leaves."""
    return _make(form, iter(values))


def names(form: Structure, prefix: str = "") -> list[str]:
    """A name for each leaf: the path to it, joined by dots."""
    if form.kind is None:
        return [prefix]
    return [
        name
        for child, part in zip(form.children, form.names)
        for name in names(child, f"{prefix}.{part}" if prefix else part)
    ]


def map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:  # noqa: A001
    """The tree with `function` applied to each leaf, and to the leaves of other trees of the same structure."""
    found, form = flatten(tree)
    rows = [found]
    for other in others:
        values, its = flatten(other)
        if its != form:
            raise OptionError(f"expected trees of one structure, got {form} and {its}")
        rows.append(values)
    return unflatten(form, [function(*row) for row in zip(*rows)])
