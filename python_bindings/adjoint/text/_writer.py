# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Text of types, numbers and traced functions."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from .._builder import Trace, tracing
from .._checks import is_whole
from .._functions import trace_function
from .._types import element_of

Size = int | str


def tensor(shape: Sequence[Size], element: str = "f32") -> str:
    """The type of a tensor; a size is a number or "?"."""
    for size in shape:
        if size != "?" and not is_whole(size, 0):
            raise ValueError(f"expected sizes of at least 0 or '?', got {size!r}")
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element_of(element)}>"


def literal(value: float) -> str:
    """A number as the text of a float in MLIR, which needs a point."""
    text = repr(float(value))
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def signature(arguments: Sequence[str], results: Sequence[str]) -> str:
    """The type of a function."""
    return f"({', '.join(arguments)}) -> ({', '.join(results)})"


def function_text(name: str, types: Sequence[str], body: Callable[[list[Any]], Any]) -> str:
    """`func.func private @NAME`: the trace of `body`, which gets the arguments and gives the results."""
    trace = Trace()
    with tracing(trace):
        trace_function(name, types, body, is_entry=True)
    lines = trace.native.get_text(False).strip().splitlines()[1:-1]  # without the module around it
    return textwrap.dedent("\n".join(lines)).replace("func.func @", "func.func private @", 1) + "\n"
