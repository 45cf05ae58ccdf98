# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arithmetic of numbers, indices and tensors, after their promotion to one element type."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._constants import number_kind, settled, tensor
from ._device import ARRAYS
from ._emit import create
from ._types import FLOATS, NARROW, element_of, promote
from ._value import Value, is_index, is_tensor

if TYPE_CHECKING:
    from ._tensor import Tensor


def is_operand(value: Any) -> bool:
    return isinstance(value, (Value, bool, int, float, *ARRAYS, list, tuple))


def refused() -> Tensor:
    """What an operator gives for values that it does not know, so that Python asks the other one."""
    return NotImplemented  # type: ignore[no-any-return]


def _kind(value: Any) -> str | None:
    """The element type that a value has of its own. Python numbers, indices and what is made of them alone have none."""
    if is_tensor(value):
        return None if value.is_weak else value.element_type
    if number_kind(value) or is_index(value):
        return None
    dtype = np.asarray(value).dtype
    return element_of(dtype) if dtype.kind not in "OSU" else tensor(value).element_type  # which says what it is


def _of_list(value: Any) -> Any:
    """A list as a tensor, other values as they are."""
    if not isinstance(value, (list, tuple)):
        return value
    from .numpy import asarray

    return asarray(value)


def common(*values: Any) -> list[Tensor]:
    """The values as tensors of one element type. Python numbers and indices follow the tensors beside them, as in the
    array API standard; a float beside integers gives f32. What is made of indices and numbers alone, known or traced, is
    exact in f64 and i64, and follows the tensors that it meets later."""
    values = tuple(map(_of_list, values))
    kinds = [kind for kind in map(_kind, values) if kind]
    element = functools.reduce(promote, kinds) if kinds else None
    is_weak = not kinds
    is_float = any(
        number_kind(value) is float or (is_tensor(value) and value.element_type in FLOATS) for value in values
    )
    if is_float and element not in FLOATS:
        element = "f64" if is_weak else "f32"
    if element in (None, "i1") and any(number_kind(value) is int or is_index(value) for value in values):
        element = "i64" if is_weak else "i32"
    if element is None:
        element = next((value.element_type for value in values if is_tensor(value) and value.is_weak), "i1")
    made = [tensor(value, element).astype(element) for value in values]
    for one, value in zip(made, values):
        one.is_weak = is_weak and not (is_tensor(value) and not value.is_weak)
    return made


def loose(value: Any) -> Tensor:
    """A value as a tensor; numbers and indices follow the tensors that they meet later."""
    return common(value)[0] if is_index(value) or number_kind(value) else tensor(value)


def common_select(condition: Any, on_true: Any, on_false: Any) -> list[Tensor]:
    made, values = tensor(condition), common(on_true, on_false)
    return [made, *(map(settled, values) if made.ndim else values)]


def floating(value: Any, element: str = "f32") -> Tensor:
    """A tensor of floats."""
    (made,) = common(value)
    if made.element_type in FLOATS:
        return made
    is_weak = made.is_weak
    made = made.astype("f64" if is_weak else element)
    made.is_weak = is_weak
    return made


def in_wide(function: Callable[..., Tensor], *values: Any) -> Tensor:
    """A function of floats that is made of several operations. Narrow floats are computed in f32 and rounded once at the
    end, as each operation of `ad` does."""
    operands = [floating(one) for one in common(*values)]
    element = operands[0].element_type
    if element not in NARROW:
        return function(*operands)
    return function(*(one.astype("f32") for one in operands)).astype(element)


def compare(predicate: str, left: Any, right: Any) -> Tensor:
    if not (is_operand(left) and is_operand(right)):
        return refused()
    return create("compare", common(left, right), [("predicate", f"#ad<predicate {predicate}>")])


def binary(name: str, left: Any, right: Any) -> Tensor:
    if not (is_operand(left) and is_operand(right)):
        return refused()
    special = {"div": divide, "floor_divide": floor_divide, "remainder": remainder}.get(name)
    return special(left, right) if special else create(name, common(left, right))


def divide(left: Any, right: Any) -> Tensor:
    a, b = common(left, right)
    return create("div", [floating(a), floating(b)])


def floor_divide(left: Any, right: Any) -> Tensor:
    """The quotient rounded down, also of integers, whose division in `ad` truncates."""
    a, b = common(left, right)
    if a.element_type in FLOATS:
        return in_wide(_floor_of_quotient, a, b)
    quotient = create("div", [a, b])
    rest = create("sub", [a, create("mul", [quotient, b])])
    is_below = create("and", [compare("ne", rest, 0), compare("ne", compare("lt", rest, 0), compare("lt", b, 0))])
    return create("select", common_select(is_below, quotient - 1, quotient))


def _floor_of_quotient(a: Tensor, b: Tensor) -> Tensor:
    quotient = create("div", [a, b])
    # The floor is (a - remainder) / b, but that difference is rounded. Taken from the whole number next to the quotient,
    # all terms are small, and the error is that of the quotient: below a half where there are numbers between whole ones.
    near = create("round_even", [quotient])
    whole = near + create("round_even", [(quotient - near) - remainder(a, b) / b])
    overflows = create("and", [compare("eq", abs(quotient), math.inf), compare("lt", abs(a), math.inf)])
    whole = create("select", [overflows, quotient, whole])
    is_below = create("and", [compare("ne", a, 0), compare("ne", compare("lt", a, 0), compare("lt", b, 0))])
    # A finite number by an infinity is 0, or -1 below it.
    tiny = create("select", common_select(is_below, a * 0 - 1, a * 0))
    is_tiny = create("and", [compare("eq", abs(b), math.inf), compare("lt", abs(a), math.inf)])
    whole = create("select", [is_tiny, tiny, whole])
    # A zero has the sign of the quotient.
    whole = create("select", [compare("eq", whole, 0), quotient * 0, whole])
    return create("select", [compare("eq", b, 0), quotient, whole])


def remainder(left: Any, right: Any) -> Tensor:
    """The remainder with the sign of the divisor, as Python's %; a zero, too."""
    a, b = common(left, right)
    rest = create("rem", [a, b])
    is_other_sign = create("and", [compare("ne", rest, 0), compare("ne", compare("lt", rest, 0), compare("lt", b, 0))])
    made = create("select", [is_other_sign, rest + b, rest])
    # Sums with 0 change the sign of zeros alone, and keep the slope.
    return create("select", [compare("lt", b, 0), -(0 - made), 0 + made]) if made.element_type in FLOATS else made
