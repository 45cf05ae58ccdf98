# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Names that annotations use, and that modules import for type checkers alone, since the modules of these classes
import them. They get them here, so that typing.get_type_hints finds the types of all functions."""

from __future__ import annotations

import sys
import typing
from typing import Any

from ._builder import Trace
from ._index import Index
from ._program import Program
from ._tensor import Tensor
from ._value import Value


class _Unpack:
    """typing.Unpack before Python 3.11."""

    def __class_getitem__(cls, table: Any) -> Any:
        return table


def complete(package: str) -> None:
    """Gives the names to the modules of a package."""
    names: dict[str, Any] = {one.__name__: one for one in (Index, Program, Tensor, Trace, Value)}
    names["Unpack"] = getattr(typing, "Unpack", _Unpack)
    for name, module in list(sys.modules.items()):
        if name.startswith(f"{package}.") and "TYPE_CHECKING" in vars(module):
            for key, value in names.items():
                vars(module).setdefault(key, value)
