# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._arithmetic import common
from ._attributes import axes_text
from ._emit import create
from ._errors import TracingError
from ._shapes import broadcast_to, reshape
from ._value import is_index

if TYPE_CHECKING:
    from ._tensor import Tensor


def dot(
    left: Tensor,
    right: Tensor,
    batch: tuple[Sequence[int], Sequence[int]],
    contract: tuple[Sequence[int], Sequence[int]],
) -> Tensor:
    return create(
        "dot",
        [left, right],
        [
            ("lhsBatch", axes_text(batch[0])),
            ("rhsBatch", axes_text(batch[1])),
            ("lhsContract", axes_text(contract[0])),
            ("rhsContract", axes_text(contract[1])),
        ],
    )


def matmul(left: Any, right: Any) -> Tensor:
    """NumPy's product of matrices, with its stacks: where one operand lacks leading axes, they are free axes."""
    a, b = common(left, right)
    if a.ndim == 0 or b.ndim == 0:
        raise TracingError(f"a product of matrices needs ranks of at least 1, got {a} and {b}")
    if b.ndim <= 2:
        # The leading axes of the left operand are rows.
        return dot(a, b, ((), ()), ((a.ndim - 1,), (max(b.ndim - 2, 0),)))
    stacks = max(a.ndim, b.ndim) - 2
    if a.ndim == 1:
        a = reshape(a, (1, *a.shape))
        return matmul(a, b).squeeze(-2)
    sizes = [_stack_size(a, b, axis) for axis in range(-stacks - 2, -2)]
    a, b = (
        broadcast_to(one, (*sizes, *one.shape[-2:]))
        if one.ndim - 2 != stacks
        or any(one._static[axis] == 1 and not _is_one(size) for axis, size in enumerate(sizes))
        else one
        for one in (a, b)
    )
    axes = tuple(range(stacks))
    return dot(a, b, (axes, axes), ((stacks + 1,), (stacks,)))


def _is_one(size: Any) -> bool:
    return not is_index(size) and bool(size == 1)


def _stack_size(a: Tensor, b: Tensor, axis: int) -> Any:
    """The size of an axis that both broadcast to."""
    sizes = [one.shape[axis] for one in (a, b) if -axis <= one.ndim]
    return next((size for size in sizes if is_index(size) or size != 1), 1)
