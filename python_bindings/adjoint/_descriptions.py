# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What a checkpoint knows of the model and of the settings that it was trained with, as texts by name."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import tree
from .nn._module import Module

_MOST = 4  # differences that a message lists


def types_of(value: Any, name: str) -> dict[str, str]:
    """The class of each node of a tree."""
    found: dict[str, str] = {}

    def visit(form: tree.Structure, path: str) -> None:
        found[path] = "tensor" if form.kind is None else form.kind.__qualname__
        for child, part in zip(form.children, form.names):
            visit(child, f"{path}.{part}")

    visit(tree.structure(value), name)
    return found


def configuration_of(model: Any, name: str) -> dict[str, str]:
    """What modules hold beside their parameters, such as the number of heads."""
    found: dict[str, str] = {}

    def visit(form: tree.Structure, path: str) -> None:
        if isinstance(form.kind, type) and issubclass(form.kind, Module):
            found.update((f"{path}.{part}", text_of(value)) for part, value, _ in form.rest[1])
        for child, part in zip(form.children, form.names):
            visit(child, f"{path}.{part}")

    visit(tree.structure(model), name)
    return found


def fields_of(value: Any, name: str) -> dict[str, str]:
    """The class of an optimizer or another description, and its fields."""
    found = {name: "None" if value is None else type(value).__qualname__}
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            its = getattr(value, field.name)
            is_nested = dataclasses.is_dataclass(its) and not isinstance(its, type)
            found |= fields_of(its, f"{name}.{field.name}") if is_nested else {f"{name}.{field.name}": text_of(its)}
    return found


def text_of(value: Any) -> str:
    """The text of a setting: equal for equal ones in two runs. Of what has no such text it is the class."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(text_of, value))})"
    if inspect.isfunction(value):
        # A schedule such as optim.cosine(1e-3, 100) is a function with numbers around it.
        around = zip(value.__code__.co_freevars, value.__closure__ or ())
        numbers = [f"{name}={cell.cell_contents!r}" for name, cell in around if _is_number(cell)]
        return f"{value.__qualname__.split('.<locals>')[0]}{f'({chr(44).join(numbers)})' if numbers else ''}"
    return getattr(value, "__qualname__", type(value).__qualname__)


def _is_number(cell: Any) -> bool:
    try:
        return isinstance(cell.cell_contents, (bool, int, float, str))
    except ValueError:  # it has no value yet
        return False


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """What differs, as `NAME was A and is B, …`; empty if nothing does."""
    names = [*before, *(name for name in now if name not in before)]
    found = [
        f"{name} was {before.get(name, 'missing')} and is {now.get(name, 'missing')}"
        for name in names
        if before.get(name) != now.get(name)
    ]
    return ", ".join(found[:_MOST] + [f"and {len(found) - _MOST} more"] * (len(found) > _MOST))
