# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Attention, as torch.nn.functional has it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import numpy, ops
from .._arithmetic import common, floating
from .._checks import flag, number, whole
from .._constants import tensor
from .._device import DeviceArray
from .._errors import OptionError, TracingError
from .._shapes import broadcast_to
from .._tensor import Tensor
from .._value import is_index


class _Batches:
    """How operands become tensors of rank 4 and the result gets their leading axes again. With shared heads, the axis of
    heads is kept, and the axes before it are one; otherwise two axes stay as they are, and others are one."""

    def __init__(self, shapes: Sequence[Sequence[Any]], shares: bool):
        self.kept = 3 if shares else 2
        self.leading = numpy.broadcast_shapes(*(shape[: -self.kept] for shape in shapes))
        self.is_plain = len(self.leading) == 4 - self.kept and not (self.kept == 2 and is_index(self.leading[1]))

    def of(self, x: Tensor) -> Tensor:
        whole_shape = (*self.leading, *x.shape[-self.kept :])
        x = x if same_sizes(x.shape, whole_shape) else broadcast_to(x, whole_shape)
        return x if self.is_plain else x.reshape(*self._merged(), *x.shape[-self.kept :])

    def of_mask(self, x: Tensor) -> Tensor:
        rank = len(self.leading) + self.kept
        x = x.reshape(*[1] * (rank - x.ndim), *x.shape)
        if self.is_plain:
            return x
        ones = all(not is_index(size) and size == 1 for size in x.shape[: -self.kept])
        if ones:
            return x.reshape(*[1] * (4 - self.kept), *x.shape[-self.kept :])
        return self.of(x)

    def restored(self, x: Tensor) -> Tensor:
        return x if self.is_plain else x.reshape(*self.leading, *x.shape[-self.kept :])

    def _merged(self) -> tuple[Any, ...]:
        count = math.prod(self.leading)
        return (count,) if self.kept == 3 else (count, 1)


def same_sizes(shape: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether both have one size along each axis for sure; two that are open are compared when it runs."""
    pairs = list(zip(shape, other))
    return len(shape) == len(other) and all(is_index(a) == is_index(b) and (is_index(a) or a == b) for a, b in pairs)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: int | None = None,
    softcap: float | None = None,
    chunk: int | None = None,
) -> Tensor:
    """Of tensors (…, heads, length, size); a boolean mask says which keys take part, another one is added to the
    scores. Where no key does, the result is 0. `window`: keys that are so far from the query, or farther, take no part.
    `softcap`: scores are softcap * tanh(score / softcap). Scores are computed in blocks, forward and backward, and keys
    are summed `chunk` at a time, by default more for fewer queries: docs/spec/attention.md. A row of the result has the
    same bits for any number of queries, and of hidden keys at the end, if `chunk` is given."""
    made = [floating(one) for one in common(query, key, value)]
    rank = max(one.ndim for one in made)
    if min(one.ndim for one in made) < 2:
        raise TracingError(f"expected query, key and value of rank 2 or more, got {', '.join(map(str, made))}")
    factor = scale
    if isinstance(scale, (Tensor, np.ndarray, DeviceArray)):
        made[0], factor = made[0] * tensor(scale).astype(made[0].element_type), 1.0
    if softcap is not None and number("softcap", softcap) <= 0:
        raise OptionError(f"expected softcap as a number above 0, got {softcap}")
    batches = _Batches([one.shape for one in made], flag("enable_gqa", enable_gqa) and rank > 2)
    q, k, v = map(batches.of, made)
    mask = None
    if attn_mask is not None:
        mask = tensor(attn_mask)
        if mask.ndim > rank:
            raise TracingError(f"expected attn_mask with at most the rank of the query, got {mask} for rank {rank}")
        mask = batches.of_mask(mask if mask.element_type == "i1" else mask.astype(q.element_type))
    result, _ = ops.attention(
        q,
        k,
        v,
        mask,
        causal=flag("is_causal", is_causal),
        window=None if window is None else whole("window", window),
        scale=None if factor is None else number("scale", factor),
        softcap=None if softcap is None else number("softcap", softcap),
        chunk=None if chunk is None else whole("chunk", chunk),
    )
    return batches.restored(result)
