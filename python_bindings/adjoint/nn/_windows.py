# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Convolutions and pooling, with the names, arguments and defaults of torch.nn.functional. Inputs are (batch, channels,
length…), or without the batch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from .._arithmetic import common, floating
from .._checks import choice, flag, number, whole
from .._errors import OptionError, OptionTypeError, TracingError
from .._tensor import Tensor

_LIMIT = 2**31 - 1  # of the numbers of a window


def sizes_of(name: str, value: Any, rank: int, low: int = 1) -> list[int]:
    """An int for each spatial axis; a single one counts for all."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return [whole(name, value, low, _LIMIT)] * rank
    if len(value) != rank:
        raise OptionError(f"expected {name} as an int or as {rank} of them, got {value!r}")
    return [whole(name, one, low, _LIMIT) for one in value]


def _batched(rank: int, input: Tensor, compute: Callable[[Tensor], Tensor]) -> Tensor:
    """Computes on an input that has a batch."""
    if input.ndim == rank + 2:
        return compute(input)
    if input.ndim != rank + 1:
        raise TracingError(f"expected an input of rank {rank + 2}, or {rank + 1} without a batch, got {input}")
    return compute(input[None])[0]


# Convolutions.


def _same_padding(kernel: Sequence[int], dilation: Sequence[int], stride: Sequence[int]) -> tuple[list[int], list[int]]:
    if any(step != 1 for step in stride):
        raise OptionError("expected a stride of 1 with padding='same'")
    whole_padding = [(size - 1) * step for size, step in zip(kernel, dilation)]
    low = [total // 2 for total in whole_padding]
    return low, [total - before for total, before in zip(whole_padding, low)]


def _kernel_of(rank: int, weight: Tensor) -> list[int]:
    if weight.ndim != rank + 2:
        raise TracingError(f"expected a weight of rank {rank + 2}, got {weight}")
    sizes = weight._static[2:]
    if None in sizes:
        raise TracingError(f"expected a weight with known sizes along its windows, got {weight}")
    return [size for size in sizes if size is not None]


def _grouped(tensor: Tensor, axis: int, groups: int, name: str) -> Tensor:
    """The axis as one of groups and one of channels in a group."""
    size = tensor.shape[axis]
    if isinstance(size, int) and size % groups:
        raise TracingError(f"expected {name} with a multiple of {groups} channels, as there are groups, got {tensor}")
    return tensor.reshape((*tensor.shape[:axis], groups, size // groups, *tensor.shape[axis + 1 :]))


def _convolve(x: Tensor, weight: Tensor, of_weight: str, groups: int, options: dict[str, Any]) -> Tensor:
    """`of_weight` has the letters of the weight's first axes, of input channels c and output channels o."""
    digits = "".join(map(str, range(x.ndim - 2)))
    if groups == 1:
        return ops.conv(x, weight, dims=f"bc{digits},{of_weight}{digits}->bo{digits}", **options)
    x, weight = _grouped(x, 1, groups, "an input"), _grouped(weight, 0, groups, "a weight")
    made = ops.conv(x, weight, dims=f"bgc{digits},g{of_weight}{digits}->bgo{digits}", **options)
    return made.reshape((made.shape[0], made.shape[1] * made.shape[2], *made.shape[3:]))


def _with_bias(made: Tensor, bias: Any, rank: int) -> Tensor:
    return made if bias is None else made + common(bias)[0].reshape((-1, *[1] * rank))


def _conv(
    rank: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Tensor:
    input, weight = common(floating(input), weight)
    groups, kernel = whole("groups", groups), _kernel_of(rank, weight)
    stride, dilation = sizes_of("stride", stride, rank), sizes_of("dilation", dilation, rank)
    if isinstance(padding, str):
        choice("padding", padding, ("valid", "same"))
        low, high = _same_padding(kernel, dilation, stride) if padding == "same" else ([0] * rank, [0] * rank)
    else:
        low = high = sizes_of("padding", padding, rank, 0)
    options = {"strides": stride, "low": low, "high": high, "filter_dilation": dilation}
    made = _batched(rank, input, lambda x: _convolve(x, weight, "oc", groups, options))
    return _with_bias(made, bias, rank)


def conv1d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Tensor:
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


def _conv_transpose(
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    """The adjoint of a convolution: that of the input with zeros between its elements, by the reversed weight."""
    input, weight = common(floating(input), weight)
    groups, kernel = whole("groups", groups), _kernel_of(rank, weight)
    stride, dilation = sizes_of("stride", stride, rank), sizes_of("dilation", dilation, rank)
    padding, extra = sizes_of("padding", padding, rank, 0), sizes_of("output_padding", output_padding, rank, 0)
    for one, step, spread in zip(extra, stride, dilation):
        if one >= max(step, spread):
            raise OptionError(f"expected output_padding below the stride or the dilation, got {output_padding!r}")
    low = [(size - 1) * step - before for size, step, before in zip(kernel, dilation, padding)]
    options = {
        "low": low,
        "high": [before + more for before, more in zip(low, extra)],
        "input_dilation": stride,
        "filter_dilation": dilation,
    }
    weight = ops.reverse(weight, axes=list(range(2, rank + 2)))
    made = _batched(rank, input, lambda x: _convolve(x, weight, "co", groups, options))
    return _with_bias(made, bias, rank)


def conv_transpose1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# Pooling.


class _Pool:
    """The lists of a reduction of windows over the last axes of an input."""

    def __init__(self, rank: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool):
        self.rank, self.ceil_mode = rank, flag("ceil_mode", ceil_mode)
        self.kernel = sizes_of("kernel_size", kernel, rank)
        self.stride = self.kernel if stride is None else sizes_of("stride", stride, rank)
        self.padding, self.dilation = sizes_of("padding", padding, rank, 0), sizes_of("dilation", dilation, rank)
        for before, size, step in zip(self.padding, self.kernel, self.dilation):
            if before > ((size - 1) * step + 1) // 2:
                raise OptionError(f"expected a padding of at most half of the window, got {padding!r}")

    def lists(self, x: Tensor) -> dict[str, Any]:
        ones, zeros = [1] * (x.ndim - self.rank), [0] * (x.ndim - self.rank)
        after = [before + more for before, more in zip(self.padding, self.extra(x))]
        return {
            "window": ones + self.kernel,
            "strides": ones + self.stride,
            "dilation": ones + self.dilation,
            "low": zeros + self.padding,
            "high": zeros + after,
        }

    def extra(self, x: Tensor) -> list[int]:
        """What the last window reaches over the end with `ceil_mode`, where it begins before the end."""
        if not self.ceil_mode:
            return [0] * self.rank
        made = []
        for size, window, stride, dilation, before in zip(
            x._static[x.ndim - self.rank :], self.kernel, self.stride, self.dilation, self.padding
        ):
            if size is None:
                raise TracingError(f"expected known sizes with ceil_mode, got {x}")
            room = size + 2 * before - (window - 1) * dilation - 1
            places = -(-room // stride) + 1
            if (places - 1) * stride >= size + before:
                places -= 1
            made.append(max((places - 1) * stride - room, 0))
        return made


def _max_pool(
    rank: int, input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
) -> Tensor:
    pool = _Pool(rank, kernel_size, stride, padding, dilation, ceil_mode)
    value = common(input)[0]
    return _batched(rank, value, lambda x: ops.reduce_window(x, kind="max", **pool.lists(x)))


def max_pool1d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, ceil_mode: bool = False
) -> Tensor:
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode)


def _counts(pool: _Pool, x: Tensor, includes_padding: bool) -> np.ndarray:
    """How many elements of each window count for its mean."""
    counts = np.ones(1)
    for axis in range(pool.rank):
        size = x._static[x.ndim - pool.rank + axis]
        if size is None:
            raise TracingError(f"expected known sizes where elements of padding do not count, got {x}")
        window, stride, before = pool.kernel[axis], pool.stride[axis], pool.padding[axis]
        first, last = (0, size + 2 * before) if includes_padding else (before, before + size)
        places = (size + 2 * before + pool.extra(x)[axis] - window) // stride + 1
        starts = np.arange(max(places, 0)) * stride
        inside = np.minimum(starts + window, last) - np.maximum(starts, first)
        counts = np.multiply.outer(counts, inside)
    return np.asarray(counts[0])


def _avg_pool(
    rank: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: float | None,
) -> Tensor:
    pool = _Pool(rank, kernel_size, stride, padding, 1, ceil_mode)
    includes_padding = flag("count_include_pad", count_include_pad)
    divisor = None if divisor_override is None else number("divisor_override", divisor_override)
    if divisor == 0:
        raise OptionError("expected divisor_override as a number other than 0")

    def compute(x: Tensor) -> Tensor:
        lists = pool.lists(x)
        if divisor is not None:
            return ops.reduce_window(x, kind="sum", **lists) / divisor
        if lists["low"] == lists["high"] and (includes_padding or not any(lists["low"])):
            return ops.reduce_window(x, kind="mean", **lists)
        counts = _counts(pool, x, includes_padding)
        return ops.reduce_window(x, kind="sum", **lists) / common(counts)[0].astype(x.element_type)

    return _batched(rank, floating(input), compute)


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: float | None = None,
) -> Tensor:
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: float | None = None,
) -> Tensor:
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _adaptive_avg_pool(rank: int, input: Any, output_size: Any) -> Tensor:
    """Means of windows of one size: that of the output divides that of the input."""
    if isinstance(output_size, Sequence) and any(one is None for one in output_size):
        raise OptionTypeError(f"expected output_size as an int or as {rank} of them, got {output_size!r}")
    wanted = sizes_of("output_size", output_size, rank)

    def compute(x: Tensor) -> Tensor:
        if all(size == 1 for size in wanted):
            return x.mean(axis=tuple(range(x.ndim - rank, x.ndim)), keepdims=True)
        sizes = x._static[x.ndim - rank :]
        if any(size is None or size % count for size, count in zip(sizes, wanted)):
            raise TracingError(f"expected sizes that are multiples of {tuple(wanted)}, the output_size, got {x}")
        kernel = [math.floor(size / count) for size, count in zip(sizes, wanted) if size is not None]
        pool = _Pool(rank, kernel, None, 0, 1, False)
        return ops.reduce_window(x, kind="mean", **pool.lists(x))

    return _batched(rank, floating(input), compute)


def adaptive_avg_pool1d(input: Any, output_size: Any) -> Tensor:
    return _adaptive_avg_pool(1, input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    return _adaptive_avg_pool(2, input, output_size)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor:
    return _adaptive_avg_pool(3, input, output_size)
