# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traced sizes and indices of loops: integers that are not known while a function is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arithmetic import binary, compare, divide, floor_divide, remainder
from ._builder import Function, Trace, current
from ._constants import number_of_index
from ._numpy_protocol import NumpyProtocol
from ._powers import power
from ._types import INTEGERS, element_of
from ._value import classes, wrap

if TYPE_CHECKING:
    from ._tensor import Tensor

_NAMED = {"addi": "add", "subi": "sub", "muli": "mul", "floordivsi": "floor_divide"}


class Index(NumpyProtocol):
    """A traced size or index of a loop."""

    __slots__ = ("is_natural",)
    _type = "index"

    def __init__(self, trace: Trace, function: Function, number: int):
        super().__init__(trace, function, number)
        #: Known not to be negative: it counts from the begin of an axis.
        self.is_natural = False

    def natural(self) -> Index:
        """This value, which is known not to be negative."""
        self.is_natural = True
        return self

    def _copy(self, number: int, function: Function) -> Index:
        made = Index(self._trace, function, number)
        made.is_natural = self.is_natural
        return made

    def _apply(self, name: str, other: Any, swapped: bool = False) -> Any:
        if not isinstance(other, (int, np.integer, Index)) or isinstance(other, (bool, np.bool_)):
            return binary(_NAMED[name], *((other, self) if swapped else (self, other)))
        trace = current()
        operands = [trace.number(self), number_of_index(other)]
        made: Index = wrap(trace.create(f"arith.{name}", operands[::-1] if swapped else operands)[0])
        is_natural = other.is_natural if isinstance(other, Index) else bool(other >= 0)
        made.is_natural = self.is_natural and is_natural and name in ("addi", "muli", "floordivsi", "minsi")
        return made

    def astype(self, dtype: Any) -> Tensor:
        """A tensor of rank 0 with the number."""
        trace, element = current(), element_of(dtype)
        integer = element if element in INTEGERS else "i64"
        (scalar,) = trace.create("arith.index_cast", [trace.number(self)], types=[integer])
        made: Tensor = wrap(trace.create("ad.full", [scalar], types=[f"tensor<{integer}>"])[0])
        return made.astype(element)

    def __add__(self, other: Any) -> Any:
        return self._apply("addi", other)

    def __radd__(self, other: Any) -> Any:
        return self._apply("addi", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._apply("subi", other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply("subi", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._apply("muli", other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply("muli", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("floordivsi", other)

    def __mod__(self, other: Any) -> Any:
        if not isinstance(other, (int, np.integer, Index)):
            return remainder(self, other)
        made = self - (self // other) * other  # with the sign of the divisor
        made.is_natural = other.is_natural if isinstance(other, Index) else other > 0
        return made

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __neg__(self) -> Any:
        return 0 - self

    def __pow__(self, other: Any) -> Any:
        return power(self.astype("i64"), other)

    def __rpow__(self, other: Any) -> Any:
        return power(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self)

    def __rfloordiv__(self, other: Any) -> Any:
        return floor_divide(other, self)

    def __rmod__(self, other: Any) -> Any:
        return remainder(other, self)

    def at_least(self, bound: Any) -> Index:
        """The larger one of both."""
        made: Index = self._apply("maxsi", bound)
        made.is_natural = self.is_natural or (bound.is_natural if isinstance(bound, Index) else bound >= 0)
        return made

    def at_most(self, bound: Any) -> Index:
        """The smaller one of both."""
        made: Index = self._apply("minsi", bound)
        return made

    def or_if_one(self, other: Any) -> Index:
        """This size, or the other one where it is 1: what both broadcast to."""
        made: Index = wrap(self._select("0 : i64", 1, other, self))
        return made.natural()

    def _select(self, predicate: str, bound: int, on_true: Any, on_false: Any) -> int:
        trace = current()
        operands = [trace.number(self), number_of_index(bound)]
        (condition,) = trace.create("arith.cmpi", operands, [("predicate", predicate)], ["i1"])
        return trace.create("arith.select", [condition, number_of_index(on_true), number_of_index(on_false)])[0]

    def from_end(self, size: Any) -> Index:
        """Where an index of an axis of this size is: negative ones count from the end."""
        if self.is_natural:
            return self
        made: Index = wrap(self._select("2 : i64", 0, self + size, self))  # less than 0
        return made.natural()

    def __eq__(self, other: Any) -> Any:
        return compare("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return compare("ne", self, other)

    __hash__ = object.__hash__

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    def __lt__(self, other: Any) -> Tensor:
        return compare("lt", self, other)

    def __le__(self, other: Any) -> Tensor:
        return compare("le", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return compare("gt", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return compare("ge", self, other)

    def __repr__(self) -> str:
        return "<traced index>"


classes.index = Index
