# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Names of arguments and results in the program, and the order of leaves by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import tree
from ._attributes import quoted
from ._builder import Trace
from ._functions import Traced
from .nn._module import Module, flatten_module


def name_values(trace: Trace, traced: Traced, names: Sequence[str], donations: dict[int, int]) -> None:
    """Gives arguments and results the names of Python."""
    native = trace.native
    for number, name in enumerate(_unique(names)):
        native.set_argument_attribute("main", number, "ad.name", quoted(name))
        if number in donations:
            native.set_argument_attribute("main", number, "ad.donated", f"{donations[number]} : i64")
    for number, name in enumerate(_unique(tree.names(traced.form))):
        native.set_result_attribute("main", number, "ad.name", quoted(name))


def _unique(names: Sequence[str]) -> Iterator[str]:
    used: set[str] = set()
    for name in names:
        made = _identifier(name)
        while made in used:
            made += "_"
        used.add(made)
        yield made


def _identifier(name: str) -> str:
    cleaned = "".join(character if character.isalnum() or character in "_." else "_" for character in name)
    return cleaned if cleaned and not cleaned[0].isdigit() else f"result{'_' if cleaned else ''}{cleaned}"


def order_of_leaves(arguments: tuple[Any, ...], form: tree.Structure) -> list[int] | None:
    """Where the leaves of `tree.flatten` are among those of `_adjoint.signature`; None if the order is the same. Raises
    LookupError if two leaves have one name."""
    names, here = tree.names(form), list(_names_of(arguments, ""))
    if names == here:
        return None
    at = {name: index for index, name in enumerate(here)}
    if len(at) != len(names) or len(names) != len(here):
        raise LookupError
    return [at[name] for name in names]


def _names_of(value: Any, prefix: str) -> Iterator[str]:
    """The names of leaves in the order of `_adjoint.signature`: dicts as they are."""
    items: Any
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    elif isinstance(value, Module):
        children, _, names = flatten_module(value)
        items = zip(names, children)
    elif value is None:
        return
    else:
        yield prefix
        return
    for name, child in items:
        yield from _names_of(child, f"{prefix}.{name}" if prefix else str(name))
