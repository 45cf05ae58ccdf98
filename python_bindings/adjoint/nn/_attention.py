# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Attention and transformers, with batches first."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from .. import numpy
from .._checks import choice, flag, number, whole
from .._eager import eager
from .._errors import OptionError, OptionTypeError, TracingError
from .._lookup import is_pick
from .._tensor import Tensor
from . import functional as f
from ._dot_product import same_sizes
from ._layers import LayerNorm, Linear, RMSNorm
from ._module import Initializer, Module, initializer, zeros


def rank_of(x: Any) -> int:
    """Of a tensor or an array; numbers have none."""
    return getattr(x, "ndim", 0)


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(batch, length, size) to (batch, heads, length, size of a head)."""
    batch, length, size = x.shape
    return x.reshape(batch, length, heads, size // heads).transpose(0, 2, 1, 3)


def join_heads(x: Tensor) -> Tensor:
    batch, heads, length, size = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * size)


class MultiheadAttention(Module):
    """Of batches (batch, length, embed_dim). Weights of queries, keys and values are one matrix, as in PyTorch."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        bias: bool = True,
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        embed_dim, num_heads, bias = whole("embed_dim", embed_dim), whole("num_heads", num_heads), flag("bias", bias)
        if embed_dim % num_heads:
            raise OptionError(f"expected num_heads as a number that divides embed_dim={embed_dim}, got {num_heads}")
        draw = initializer(key)
        self.in_proj_weight = draw.uniform((3 * embed_dim, embed_dim), math.sqrt(6 / (4 * embed_dim)), dtype)
        self.in_proj_bias = zeros((3 * embed_dim,), dtype) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias, key=draw, dtype=dtype)
        if bias:
            self.out_proj.bias = zeros((embed_dim,), dtype)
        self.num_heads = num_heads

    def forward(self, query: Any, key: Any, value: Any, attn_mask: Any = None, is_causal: bool = False) -> Tensor:
        """A boolean mask says which keys do not take part, as in PyTorch; another one is added to the scores."""
        made = [split_heads(one, self.num_heads) for one in self._project(query, key, value)]
        if attn_mask is not None and numpy.asarray(attn_mask).element_type == "i1":
            attn_mask = numpy.logical_not(attn_mask)
        joined = join_heads(f.scaled_dot_product_attention(made[0], made[1], made[2], attn_mask, is_causal))
        return self.out_proj(joined)  # type: ignore[no-any-return]

    def _project(self, query: Any, key: Any, value: Any) -> list[Tensor]:
        weight, bias, size = self.in_proj_weight, self.in_proj_bias, self.in_proj_weight.shape[1]
        if query is key and key is value:
            return numpy.split(f.linear(query, weight, bias), 3, axis=-1)  # one product
        made = []
        for index, one in enumerate((query, key, value)):
            part = slice(index * size, (index + 1) * size)
            made.append(f.linear(one, weight[part], None if bias is None else bias[part]))
        return made


class TransformerEncoderLayer(Module):
    """Attention and two linear layers, each with its norm, after it or before it (`norm_first`). Without dropout."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        activation: str = "relu",
        layer_norm_eps: float = 1e-5,
        norm_first: bool = False,
        bias: bool = True,
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        choice("activation", activation, ("relu", "gelu"))
        d_model, nhead, bias = whole("d_model", d_model), whole("nhead", nhead), flag("bias", bias)
        dim_feedforward, norm_first = whole("dim_feedforward", dim_feedforward), flag("norm_first", norm_first)
        layer_norm_eps = number("layer_norm_eps", layer_norm_eps, 0)
        if d_model % nhead:
            raise OptionError(f"expected nhead as a number that divides d_model={d_model}, got {nhead}")
        draw = initializer(key)
        self.self_attn = MultiheadAttention(d_model, nhead, bias, key=draw, dtype=dtype)
        self.linear1 = Linear(d_model, dim_feedforward, bias, key=draw, dtype=dtype)
        self.linear2 = Linear(dim_feedforward, d_model, bias, key=draw, dtype=dtype)
        self.norm1, self.norm2 = (LayerNorm(d_model, layer_norm_eps, dtype=dtype) for _ in range(2))
        self.activation, self.norm_first = activation, norm_first

    def _attend(self, x: Any, mask: Any, is_causal: bool) -> Tensor:
        return self.self_attn(x, x, x, mask, is_causal)  # type: ignore[no-any-return]

    def _feed_forward(self, x: Any) -> Tensor:
        activate = f.relu if self.activation == "relu" else f.gelu
        return self.linear2(activate(self.linear1(x)))  # type: ignore[no-any-return]

    def forward(self, x: Any, src_mask: Any = None, is_causal: bool = False) -> Tensor:
        if self.norm_first:
            x = x + self._attend(self.norm1(x), src_mask, is_causal)
            return x + self._feed_forward(self.norm2(x))  # type: ignore[no-any-return]
        x = self.norm1(x + self._attend(x, src_mask, is_causal))
        return self.norm2(x + self._feed_forward(x))  # type: ignore[no-any-return]


class TransformerEncoder(Module):
    """Layers one after the other: a list of them, or so many copies of one layer, which begin with its parameters."""

    def __init__(self, encoder_layer: Any, num_layers: int | None = None, norm: Any = None):
        if isinstance(encoder_layer, TransformerEncoderLayer):
            count = whole("num_layers", num_layers)
            layers = [copy.deepcopy(encoder_layer) for _ in range(count)]
        elif num_layers is not None:
            raise OptionTypeError(f"expected num_layers with one layer only, got {encoder_layer!r} and {num_layers!r}")
        elif isinstance(encoder_layer, (list, tuple)) and all(map(callable, encoder_layer)):
            layers = list(encoder_layer)
        else:
            raise OptionTypeError(f"expected encoder_layer as a layer or a list of layers, got {encoder_layer!r}")
        if norm is not None and not callable(norm):
            raise OptionTypeError(f"expected norm as a layer, or None, got {norm!r}")
        self.layers = layers
        self.norm = norm

    def forward(self, x: Any, mask: Any = None, is_causal: bool = False) -> Any:
        for layer in self.layers:
            x = layer(x, mask, is_causal)
        return x if self.norm is None else self.norm(x)


#: Keys and values of all positions, each (batch, heads, capacity, size of a head).
Cache = tuple[Any, Any]
#: Keys that are summed at once. Their number is written, so that a query has the same bits alone and among others.
CHUNK = 256


class LlamaAttention(Module):
    """Causal attention with rotary positions, whose keys and values may have fewer heads than the queries."""

    def __init__(
        self, hidden_size: int, num_heads: int, num_key_value_heads: int, theta: float, *, key: Initializer, dtype: Any
    ):
        size = hidden_size // num_heads
        self.q_proj = Linear(hidden_size, num_heads * size, False, key=key, dtype=dtype)
        self.k_proj = Linear(hidden_size, num_key_value_heads * size, False, key=key, dtype=dtype)
        self.v_proj = Linear(hidden_size, num_key_value_heads * size, False, key=key, dtype=dtype)
        self.o_proj = Linear(num_heads * size, hidden_size, False, key=key, dtype=dtype)
        self.num_heads, self.num_key_value_heads, self.theta = num_heads, num_key_value_heads, theta

    def _project(self, x: Any) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value (batch, heads, length, size)."""
        query = split_heads(self.q_proj(x), self.num_heads)
        key, value = (split_heads(project(x), self.num_key_value_heads) for project in (self.k_proj, self.v_proj))
        return query, key, value

    def _rotated(self, x: Tensor, positions: Tensor) -> Tensor:
        return f.rotary_embedding(x, positions, self.theta)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        made = f.scaled_dot_product_attention(
            query, key, value, mask, is_causal=mask is None, enable_gqa=True, chunk=CHUNK
        )
        return self.o_proj(join_heads(made))  # type: ignore[no-any-return]

    def forward(self, x: Any) -> Tensor:
        query, key, value = self._project(x)
        positions = numpy.arange(x.shape[1], dtype="i32")
        return self._attend(self._rotated(query, positions), self._rotated(key, positions), value, None)

    def make_cache(self, batch_size: int, capacity: int) -> Cache:
        weight, heads = self.k_proj.weight, self.num_key_value_heads
        size = weight.shape[0] // heads
        shape = whole("batch_size", batch_size), heads, whole("capacity", capacity), size
        return np.zeros(shape, weight.dtype), np.zeros(shape, weight.dtype)

    def extend(self, x: Any, cache: Any, position: Any) -> tuple[Tensor, Cache]:
        """The result for tokens that follow those before `position`, and the cache with their keys and values."""
        if rank_of(x) != 3:
            raise TracingError(f"expected x as (batch, length, hidden_size), got {x}")
        query, key, value = self._project(x)
        wrong = f"expected a cache of make_cache for a batch of {x.shape[0]} and {self.num_key_value_heads} heads, got "
        if not isinstance(cache, (tuple, list)) or len(cache) != 2 or any(rank_of(part) != 4 for part in cache):
            raise TracingError(f"{wrong}{cache!r}")
        length, capacity = x.shape[1], cache[0].shape[2]
        if not all(same_sizes(part.shape, (*key.shape[:2], capacity, key.shape[3])) for part in cache):
            raise TracingError(wrong + " and ".join(map(str, cache)))
        if rank_of(position) or not is_pick(position):
            raise TracingError(f"expected position as one integer, for all of the batch, got {position!r}")
        positions = numpy.arange(length, dtype="i32") + position
        keys, values = (
            numpy.dynamic_update_slice(old, new, [0, 0, position, 0])
            for old, new in zip(cache, (self._rotated(key, positions), value))
        )
        # Only the part that is filled: the rest of the cache costs nothing.
        seen = slice(position + length)
        mask = numpy.arange(capacity, dtype="i32")[seen] <= numpy.expand_dims(positions, axis=1)
        made = self._attend(self._rotated(query, positions), keys[:, :, seen], values[:, :, seen], mask)
        return made, (keys, values)


class LlamaMLP(Module):
    def __init__(self, hidden_size: int, intermediate_size: int, *, key: Initializer, dtype: Any):
        self.gate_proj = Linear(hidden_size, intermediate_size, False, key=key, dtype=dtype)
        self.up_proj = Linear(hidden_size, intermediate_size, False, key=key, dtype=dtype)
        self.down_proj = Linear(intermediate_size, hidden_size, False, key=key, dtype=dtype)

    def forward(self, x: Any) -> Tensor:
        return self.down_proj(f.silu(self.gate_proj(x)) * self.up_proj(x))  # type: ignore[no-any-return]


class LlamaDecoderLayer(Module):
    """A layer of Llama, with the names that its parameters have in `transformers`."""

    def __init__(
        self,
        hidden_size: int,
        intermediate_size: int,
        num_attention_heads: int,
        num_key_value_heads: int | None = None,
        rms_norm_eps: float = 1e-6,
        rope_theta: float = 10000.0,
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        hidden_size, heads = whole("hidden_size", hidden_size), whole("num_attention_heads", num_attention_heads)
        intermediate_size = whole("intermediate_size", intermediate_size)
        fewer = heads if num_key_value_heads is None else whole("num_key_value_heads", num_key_value_heads)
        if hidden_size % (2 * heads) or heads % fewer:
            raise OptionError(
                f"expected heads of an even size that divides hidden_size={hidden_size}, and num_key_value_heads that "
                f"divides num_attention_heads={heads}, got {fewer}"
            )
        rms_norm_eps, draw = number("rms_norm_eps", rms_norm_eps, 0), initializer(key)
        self.self_attn = LlamaAttention(
            hidden_size,
            heads,
            fewer,
            number("rope_theta", rope_theta, 0, above=True),
            key=draw,
            dtype=dtype,
        )
        self.mlp = LlamaMLP(hidden_size, intermediate_size, key=draw, dtype=dtype)
        self.input_layernorm = RMSNorm(hidden_size, rms_norm_eps, dtype=dtype)
        self.post_attention_layernorm = RMSNorm(hidden_size, rms_norm_eps, dtype=dtype)

    def make_cache(self, batch_size: int, capacity: int) -> Cache:
        """A cache without tokens, for `extend`: keys and values of `capacity` positions."""
        return self.self_attn.make_cache(batch_size, capacity)

    def forward(self, x: Any) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x))
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]

    @eager()
    def extend(self, x: Any, cache: Any, position: Any) -> tuple[Tensor, Cache]:
        """The result for tokens (batch, length, hidden_size) from `position` on, and the next cache. The cache has the
        keys and values of the tokens before. The position is an integer, which may be traced. In `reproducible` each
        token has the bits that `forward` gives it among all of them. A donated cache is updated in place."""
        seen, cache = self.self_attn.extend(self.input_layernorm(x), cache, position)
        x = x + seen
        return x + self.mlp(self.post_attention_layernorm(x)), cache
