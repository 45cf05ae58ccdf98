# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Powers. Those of integers are exact, modulo the width of their type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arithmetic import common, common_select, floating, in_wide
from ._emit import create
from ._errors import OptionError
from ._shapes import broadcast_to
from ._types import INTEGERS
from ._value import Value, is_tensor

if TYPE_CHECKING:
    from ._tensor import Tensor


def power(left: Any, right: Any) -> Tensor:
    """x ** n for a small integer n, and for each one if x is an integer, is a product: repeated squaring."""
    if isinstance(right, int) and not isinstance(right, bool) and is_tensor(left):
        if left.element_type in INTEGERS:
            return _repeated(left, right)
        if 0 <= right <= 64:
            return in_wide(lambda base: _repeated(base, right), left) if right > 2 else _repeated(left, right)
    a, b = common(left, right)
    if a.element_type in INTEGERS:
        return _of_integers(a, b, None if isinstance(right, Value) else np.asarray(right))
    return create("pow", [floating(a), floating(b)])


def _refuse_negative(exponent: Any) -> None:
    if np.any(np.less(exponent, 0)):
        raise OptionError(
            f"expected exponents of integers of at least 0, got {np.min(exponent)}; x.astype('f64') has such powers"
        )


def _repeated(base: Tensor, exponent: int) -> Tensor:
    if base.element_type in INTEGERS:
        _refuse_negative(exponent)
    result: Tensor | None = None
    square = base
    while exponent:
        if exponent & 1:
            result = square if result is None else create("mul", [result, square])
        exponent >>= 1
        if exponent:
            square = create("mul", [square, square])
    return broadcast_to(common(base, 1)[1], base.shape) if result is None else result


def _of_integers(base: Tensor, exponent: Tensor, known: np.ndarray | None) -> Tensor:
    """One step of squaring for each bit of the exponents. Those of an array that is traced are numbers without a sign:
    then 1 and -1 have their powers for negative ones, too, and even numbers have 0."""
    width = 8 * base.dtype.itemsize
    bits = width
    if known is not None:
        _refuse_negative(known)
        bits = max(int(known.max(initial=0)).bit_length(), 1)
    result = common(base, 1)[1]
    for bit in range(bits):
        mask = 1 << bit if bit < width - 1 else -(1 << bit)
        factor = create("select", common_select(create("and", common(exponent, mask)) != 0, base, 1))
        result = create("mul", [result, factor])
        if bit + 1 < bits:
            base = create("mul", [base, base])
    return result
