# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Recurrent layers, with batches first: one layer in one direction."""

from __future__ import annotations

import math
from typing import Any

from .. import numpy
from .._checks import flag, whole
from .._scan import scan
from .._tensor import Tensor
from . import functional as f
from ._module import Initializer, Module, initializer


class _Recurrent(Module):
    """The weights of the gates, one below the other, in the order of PyTorch."""

    gates = 0

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        input_size, hidden_size = whole("input_size", input_size), whole("hidden_size", hidden_size)
        bias = flag("bias", bias)
        draw, bound, rows = initializer(key), 1 / math.sqrt(hidden_size), self.gates * hidden_size
        self.weight_ih_l0 = draw.uniform((rows, input_size), bound, dtype)
        self.weight_hh_l0 = draw.uniform((rows, hidden_size), bound, dtype)
        self.bias_ih_l0 = draw.uniform((rows,), bound, dtype) if bias else None
        self.bias_hh_l0 = draw.uniform((rows,), bound, dtype) if bias else None
        self.hidden_size = hidden_size

    def _zeros(self, x: Any) -> Tensor:
        return numpy.zeros((x.shape[0], self.hidden_size), dtype=x.element_type)


class LSTM(_Recurrent):
    """(output, (h, c)) of x (batch, length, input_size), with h and c of (batch, hidden_size)."""

    gates = 4

    def forward(self, x: Any, state: Any = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        x = numpy.asarray(x)
        h, c = (self._zeros(x), self._zeros(x)) if state is None else state
        # The products with the inputs of all steps are one product.
        inputs = f.linear(x, self.weight_ih_l0, self.bias_ih_l0)

        def step(carry: Any, row: Any) -> tuple[Any, Any]:
            h, c = carry
            gates = row + f.linear(h, self.weight_hh_l0, self.bias_hh_l0)
            i, forget, g, o = numpy.split(gates, 4, axis=1)
            c = f.sigmoid(forget) * c + f.sigmoid(i) * f.tanh(g)
            h = f.sigmoid(o) * f.tanh(c)
            return (h, c), h

        (h, c), output = scan(step, (h, c), inputs.transpose(1, 0, 2))
        return output.transpose(1, 0, 2), (h, c)


class GRU(_Recurrent):
    """(output, h) of x (batch, length, input_size), with h of (batch, hidden_size)."""

    gates = 3

    def forward(self, x: Any, state: Any = None) -> tuple[Tensor, Tensor]:
        x = numpy.asarray(x)
        h = self._zeros(x) if state is None else state
        inputs = f.linear(x, self.weight_ih_l0, self.bias_ih_l0)

        def step(h: Any, row: Any) -> tuple[Any, Any]:
            hidden = f.linear(h, self.weight_hh_l0, self.bias_hh_l0)
            (r, z, n), (hr, hz, hn) = numpy.split(row, 3, axis=1), numpy.split(hidden, 3, axis=1)
            reset, update = f.sigmoid(r + hr), f.sigmoid(z + hz)
            h = (1 - update) * f.tanh(n + reset * hn) + update * h
            return h, h

        h, output = scan(step, h, inputs.transpose(1, 0, 2))
        return output.transpose(1, 0, 2), h
