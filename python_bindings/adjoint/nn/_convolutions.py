# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Layers of convolutions and of pooling."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

from .._checks import choice, flag, whole
from .._constants import tensor
from .._errors import OptionError
from .._shapes import listed_axes
from .._tensor import Tensor
from . import _windows as f
from ._module import Initializer, Module, initializer
from ._windows import sizes_of


class _Convolution(Module):
    """Input channels, output channels and the size of the window; first values are uniform in ±1 / sqrt(fan_in)."""

    rank = 0
    transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        channels, made = whole("in_channels", in_channels), whole("out_channels", out_channels)
        self.groups = whole("groups", groups)
        for name, count in (("in_channels", channels), ("out_channels", made)):
            if count % self.groups:
                raise OptionError(f"expected {name} as a multiple of groups, got {count} and {self.groups}")
        kernel = tuple(sizes_of("kernel_size", kernel_size, self.rank))
        shape = (channels, made // self.groups) if self.transposed else (made, channels // self.groups)
        draw, bound = initializer(key), 1 / math.sqrt(shape[1] * math.prod(kernel))
        self.weight = draw.uniform((*shape, *kernel), bound, dtype)
        self.bias = draw.uniform((made,), bound, dtype) if flag("bias", bias) else None
        self.stride = tuple(sizes_of("stride", stride, self.rank))
        self.dilation = tuple(sizes_of("dilation", dilation, self.rank))
        if isinstance(padding, str) and not self.transposed:
            self.padding: Any = choice("padding", padding, ("valid", "same"))
        else:
            self.padding = tuple(sizes_of("padding", padding, self.rank, 0))
        self.output_padding = tuple(sizes_of("output_padding", output_padding, self.rank, 0))


class _Conv(_Convolution):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        if padding_mode != "zeros":
            raise OptionError(f"expected padding_mode as 'zeros', got {padding_mode!r}; pad the input before")
        super().__init__(in_channels, out_channels, kernel_size, stride, padding, 0, dilation, groups, bias, key, dtype)

    def forward(self, input: Any) -> Tensor:
        convolve = (f.conv1d, f.conv2d, f.conv3d)[self.rank - 1]
        return convolve(input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class Conv1d(_Conv):
    rank = 1


class Conv2d(_Conv):
    rank = 2


class Conv3d(_Conv):
    rank = 3


class _ConvTranspose(_Convolution):
    transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        *,
        key: int | Initializer | None = None,
        dtype: Any = "f32",
    ):
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, output_padding, dilation, groups, bias, key, dtype
        )

    def forward(self, input: Any) -> Tensor:
        convolve = (f.conv_transpose1d, f.conv_transpose2d, f.conv_transpose3d)[self.rank - 1]
        return convolve(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
        )


class ConvTranspose1d(_ConvTranspose):
    rank = 1


class ConvTranspose2d(_ConvTranspose):
    rank = 2


class ConvTranspose3d(_ConvTranspose):
    rank = 3


class _Pool(Module):
    """The sizes of windows, which functions of pooling take."""

    rank = 0

    def __init__(self, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool):
        self.kernel_size = tuple(sizes_of("kernel_size", kernel_size, self.rank))
        self.stride = self.kernel_size if stride is None else tuple(sizes_of("stride", stride, self.rank))
        self.padding = tuple(sizes_of("padding", padding, self.rank, 0))
        self.ceil_mode = flag("ceil_mode", ceil_mode)


class _MaxPool(_Pool):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ):
        super().__init__(kernel_size, stride, padding, ceil_mode)
        if flag("return_indices", return_indices):
            raise OptionError("expected return_indices as False, got True; ops.arg_reduce_window gives positions")
        self.dilation = tuple(sizes_of("dilation", dilation, self.rank))

    def forward(self, input: Any) -> Tensor:
        pool = (f.max_pool1d, f.max_pool2d, f.max_pool3d)[self.rank - 1]
        return pool(input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode)


class MaxPool1d(_MaxPool):
    rank = 1


class MaxPool2d(_MaxPool):
    rank = 2


class MaxPool3d(_MaxPool):
    rank = 3


class _AvgPool(_Pool):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ):
        super().__init__(kernel_size, stride, padding, ceil_mode)
        self.count_include_pad = flag("count_include_pad", count_include_pad)

    def forward(self, input: Any) -> Tensor:
        pool = (f.avg_pool1d, f.avg_pool2d, f.avg_pool3d)[self.rank - 1]
        return pool(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool1d(_AvgPool):
    rank = 1


class AvgPool2d(_AvgPool):
    rank = 2


class AvgPool3d(_AvgPool):
    rank = 3


class _AdaptiveAvgPool(Module):
    rank = 0

    def __init__(self, output_size: Any):
        self.output_size = tuple(sizes_of("output_size", output_size, self.rank))

    def forward(self, input: Any) -> Tensor:
        pool = (f.adaptive_avg_pool1d, f.adaptive_avg_pool2d, f.adaptive_avg_pool3d)[self.rank - 1]
        return pool(input, self.output_size)


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    rank = 1


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    rank = 2


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    rank = 3


class Flatten(Module):
    """The axes from `start_dim` to `end_dim` as one."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1):
        self.start_dim, self.end_dim = (whole(name, dim, -(2**63)) for name, dim in
                                        (("start_dim", start_dim), ("end_dim", end_dim)))

    def forward(self, input: Any) -> Tensor:
        value = tensor(input)
        first, last = listed_axes((self.start_dim, self.end_dim), value.ndim, repeated=True)
        if last < first:
            raise OptionError(f"expected start_dim before end_dim, got {self.start_dim} and {self.end_dim}")
        joined = functools.reduce(operator.mul, value.shape[first : last + 1])
        return value.reshape((*value.shape[:first], joined, *value.shape[last + 1 :]))
