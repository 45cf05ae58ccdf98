# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The Python array API standard for traced tensors, as far as the dialect reaches.

Functions that need an operation that does not exist yet raise NotImplementedError and say so.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as _np

from ._builder import axes_text
from ._errors import TracingError
from ._signature import DTYPES
from ._tensor import (
    Index,
    Tensor,
    axes_of,
    common,
    common_select,
    compare,
    create,
    divide,
    dot as _dot,
    floating,
    floor_divide,
    matmul,
    permute,
    power,
    reduce,
    remainder,
    reshape as _reshape,
    broadcast_to as _broadcast_to,
    tensor,
)
from ._types import FLOATS, INTEGERS, element_of, promote

__array_api_version__ = "2025.12"
# ruff: noqa: A001, A002

bool = DTYPES["i1"]
int8, int32, int64 = DTYPES["i8"], DTYPES["i32"], DTYPES["i64"]
float16, float32, float64, bfloat16 = DTYPES["f16"], DTYPES["f32"], DTYPES["f64"], DTYPES["bf16"]
e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
matmul = matmul


# Making tensors.


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Tensor:
    """A tensor of a value; a list of tensors is stacked."""
    if isinstance(obj, (list, tuple)) and builtins.any(isinstance(leaf, (Tensor, Index)) for leaf in obj):
        made = stack([asarray(leaf) for leaf in obj])
    else:
        made = tensor(_np.asarray(obj) if isinstance(obj, (list, tuple)) else obj)
        if isinstance(obj, (list, tuple)) and made.element_type == "f64":
            made = made.astype("f32")
    return made if dtype is None else made.astype(dtype)


array = asarray


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    sizes = (shape,) if isinstance(shape, (builtins.int, Index)) else tuple(shape)
    value = tensor(fill_value, None if dtype is None else element_of(dtype))
    return _broadcast_to(value if dtype is None else value.astype(dtype), sizes)


def zeros(shape: Any, *, dtype: Any = "f32", device: Any = None) -> Tensor:
    return full(shape, 0, dtype=dtype or "f32")


def ones(shape: Any, *, dtype: Any = "f32", device: Any = None) -> Tensor:
    return full(shape, 1, dtype=dtype or "f32")


empty = zeros


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    x = tensor(x)
    return full(x.shape, fill_value, dtype=dtype or x.element_type)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    return full_like(x, 0, dtype=dtype)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> Tensor:
    return full_like(x, 1, dtype=dtype)


empty_like = zeros_like


def _iota(size: Any, element: str) -> Tensor:
    from . import ops

    if isinstance(size, Index):
        return ops.iota([size], axis=0, type=f"tensor<?x{element}>")
    return ops.iota(axis=0, type=f"tensor<{size}x{element}>")


def arange(start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None) -> Tensor:
    if stop is None:
        start, stop = 0, start
    is_float = builtins.any(isinstance(value, float) for value in (start, stop, step))
    element = element_of(dtype) if dtype is not None else "f32" if is_float else "i32"
    if isinstance(start, Index) or isinstance(stop, Index):
        if not isinstance(step, builtins.int) or step < 1 or is_float:
            raise TracingError("a range of dynamic size has integers and a positive step")
        size: Any = ((stop - start + (step - 1)) // step).at_least(0)
    else:
        size = builtins.max(0, math.ceil((stop - start) / step))
    numbers = _iota(size, element)
    return numbers if (start, step) == (0, 1) else numbers * step + start


def linspace(
    start: float,
    stop: float,
    /,
    num: builtins.int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: builtins.bool = True,
) -> Tensor:
    element = element_of(dtype) if dtype is not None else "f32"
    numbers = tensor(_np.linspace(start, stop, num, endpoint=endpoint))
    return numbers.astype(element)


def eye(
    n_rows: builtins.int,
    n_cols: builtins.int | None = None,
    /,
    *,
    k: builtins.int = 0,
    dtype: Any = "f32",
    device: Any = None,
) -> Tensor:
    rows = expand_dims(_iota(n_rows, "i32"), axis=1)
    columns = _iota(n_rows if n_cols is None else n_cols, "i32")
    return (columns - rows == k).astype(dtype or "f32")


def _triangle(x: Any, k: builtins.int, is_lower: builtins.bool) -> Tensor:
    x = tensor(x)
    if x.ndim < 2:
        raise TracingError(f"expected a tensor of rank 2 or more, got {x}")
    distance = _iota(x.shape[-1], "i32") - expand_dims(_iota(x.shape[-2], "i32"), axis=1)
    return where(distance <= k if is_lower else distance >= k, x, full((), 0, dtype=x.element_type))


def tril(x: Any, /, k: builtins.int = 0) -> Tensor:
    return _triangle(x, k, True)


def triu(x: Any, /, k: builtins.int = 0) -> Tensor:
    return _triangle(x, k, False)


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Tensor]:
    rank = len(arrays)
    made = []
    for axis, values in enumerate(map(tensor, arrays)):
        place = 1 - axis if indexing == "xy" and axis < 2 and rank > 1 else axis
        made.append(_reshape(values, [values.shape[0] if other == place else 1 for other in range(rank)]))
    sizes = broadcast_shapes(*(one.shape for one in made))
    return [_broadcast_to(one, sizes) for one in made]


# Types.


def astype(x: Any, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Tensor:
    x = tensor(x)
    return x.astype(dtype)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    source = from_.element_type if isinstance(from_, Tensor) else element_of(from_)
    return promote(source, element_of(to)) == element_of(to)


def result_type(*arrays_and_dtypes: Any) -> _np.dtype[Any]:
    kinds = [
        one.element_type if isinstance(one, Tensor) else element_of(one)
        for one in arrays_and_dtypes
        if not isinstance(one, (builtins.bool, builtins.int, float))
    ]
    if not kinds:
        raise TracingError("result_type needs a tensor or an element type")
    return DTYPES[functools.reduce(promote, kinds)]


def finfo(type: Any, /) -> Any:
    dtype = type.dtype if isinstance(type, Tensor) else DTYPES[element_of(type)]
    if dtype in (DTYPES["f64"], DTYPES["f32"], DTYPES["f16"]):
        return _np.finfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


def iinfo(type: Any, /) -> Any:
    return _np.iinfo(type.dtype if isinstance(type, Tensor) else DTYPES[element_of(type)])


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    element = element_of(dtype)
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, one) for one in kind)
    groups = {
        "bool": ("i1",),
        "signed integer": INTEGERS,
        "unsigned integer": (),
        "integral": INTEGERS,
        "real floating": FLOATS,
        "complex floating": (),
        "numeric": (*INTEGERS, *FLOATS),
    }
    return element in groups[kind] if isinstance(kind, str) and kind in groups else element == element_of(kind)


# Functions of elements.


def _float_function(name: str) -> Any:
    def function(x: Any, /) -> Tensor:
        return create(name, [floating(x)])

    function.__name__ = function.__qualname__ = name
    return function


exp, expm1, log, log1p, log2 = map(_float_function, ("exp", "expm1", "log", "log1p", "log2"))
sin, cos, tan, tanh, sqrt = map(_float_function, ("sin", "cos", "tan", "tanh", "sqrt"))
exp2, erf, rsqrt = map(_float_function, ("exp2", "erf", "rsqrt"))


def log10(x: Any, /) -> Tensor:
    return log2(x) * math.log10(2)


def sinh(x: Any, /) -> Tensor:
    # (e + e / (e + 1)) / 2 with e = exp(x) - 1 keeps small values; large ones halve before they overflow.
    value = floating(x)
    small = expm1(value)
    half = exp(value - math.log(2))
    return where(abs(value) < 1, (small + small / (small + 1)) * 0.5, half - exp(-value - math.log(2)))


def cosh(x: Any, /) -> Tensor:
    value = abs(floating(x))
    return exp(value - math.log(2)) + exp(-value - math.log(2))


def asinh(x: Any, /) -> Tensor:
    value = floating(x)
    magnitude = abs(value)
    square = magnitude * magnitude
    small = log1p(magnitude + square / (1 + sqrt(square + 1)))
    made = where(magnitude > 1e6, log(magnitude) + math.log(2), small)
    return copysign(made, value)


def acosh(x: Any, /) -> Tensor:
    value = floating(x)
    less = value - 1
    return where(value > 1e6, log(value) + math.log(2), log1p(less + sqrt(less * (value + 1))))


def atanh(x: Any, /) -> Tensor:
    value = floating(x)
    return (log1p(value) - log1p(-value)) * 0.5


def atan2(x1: Any, x2: Any, /) -> Tensor:
    a, b = common(x1, x2)
    return create("atan2", [floating(a), floating(b)])


def atan(x: Any, /) -> Tensor:
    value = floating(x)
    return atan2(value, ones_like(value))


def asin(x: Any, /) -> Tensor:
    value = floating(x)
    return atan2(value, sqrt((1 - value) * (1 + value)))


def acos(x: Any, /) -> Tensor:
    value = floating(x)
    return atan2(sqrt((1 - value) * (1 + value)), value)


def hypot(x1: Any, x2: Any, /) -> Tensor:
    a, b = (abs(floating(one)) for one in common(x1, x2))
    large, small = maximum(a, b), minimum(a, b)
    ratio = small / where(large == 0, 1, large)
    made = large * sqrt(1 + ratio * ratio)
    return where(isinf(a) | isinf(b), inf, made)


def logaddexp(x1: Any, x2: Any, /) -> Tensor:
    a, b = (floating(one) for one in common(x1, x2))
    large = maximum(a, b)
    made = large + log1p(exp(-abs(a - b)))
    return where(a == b, a + math.log(2), made)


def abs(x: Any, /) -> Tensor:
    return create("abs", [tensor(x)])


def negative(x: Any, /) -> Tensor:
    return create("neg", [tensor(x)])


def positive(x: Any, /) -> Tensor:
    return tensor(x)


def sign(x: Any, /) -> Tensor:
    return create("sign", [tensor(x)])


def square(x: Any, /) -> Tensor:
    value = tensor(x)
    return value * value


def reciprocal(x: Any, /) -> Tensor:
    return create("recip", [floating(x)])


def _rounding(name: str) -> Any:
    def function(x: Any, /) -> Tensor:
        value = tensor(x)
        return create(name, [value]) if value.element_type in FLOATS else value

    return function


floor, ceil, round = map(_rounding, ("floor", "ceil", "round_even"))


def trunc(x: Any, /) -> Tensor:
    value = tensor(x)
    if value.element_type not in FLOATS:
        return value
    return where(value < 0, ceil(value), floor(value))


def isfinite(x: Any, /) -> Tensor:
    value = tensor(x)
    return create("is_finite", [value]) if value.element_type in FLOATS else value == value


def isnan(x: Any, /) -> Tensor:
    value = tensor(x)
    return value != value


def isinf(x: Any, /) -> Tensor:
    value = tensor(x)
    return (abs(value) == inf) if value.element_type in FLOATS else value != value


def signbit(x: Any, /) -> Tensor:
    value = tensor(x)
    return (value < 0) | ((value == 0) & (1 / value < 0))


def copysign(x1: Any, x2: Any, /) -> Tensor:
    a, b = (floating(one) for one in common(x1, x2))
    return where(signbit(b), -abs(a), abs(a))


def _two(name: str) -> Any:
    def function(x1: Any, x2: Any, /) -> Tensor:
        return create(name, common(x1, x2))

    function.__name__ = function.__qualname__ = name
    return function


add, subtract, multiply, maximum, minimum = map(_two, ("add", "sub", "mul", "max", "min"))
bitwise_and, bitwise_or, bitwise_xor = map(_two, ("and", "or", "xor"))
floor_divide = floor_divide
divide = true_divide = divide
pow = power
absolute = abs
remainder = remainder


def bitwise_invert(x: Any, /) -> Tensor:
    return create("not", [tensor(x)])


def _truth(x: Any) -> Tensor:
    value = tensor(x)
    return value if value.element_type == "i1" else value != 0


def logical_and(x1: Any, x2: Any, /) -> Tensor:
    return create("and", [_truth(x1), _truth(x2)])


def logical_or(x1: Any, x2: Any, /) -> Tensor:
    return create("or", [_truth(x1), _truth(x2)])


def logical_xor(x1: Any, x2: Any, /) -> Tensor:
    return create("xor", [_truth(x1), _truth(x2)])


def logical_not(x: Any, /) -> Tensor:
    return create("not", [_truth(x)])


equal, not_equal, less, less_equal, greater, greater_equal = (
    functools.partial(compare, predicate) for predicate in ("eq", "ne", "lt", "le", "gt", "ge")
)


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    return create("select", common_select(_truth(condition), x1, x2))


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    value = tensor(x)
    if min is not None:
        value = maximum(value, min)
    return value if max is None else minimum(value, max)


# Shapes.


def reshape(x: Any, /, shape: Any, *, copy: Any = None) -> Tensor:
    x = tensor(x)
    return _reshape(x, (shape,) if isinstance(shape, (builtins.int, Index)) else shape)


def broadcast_to(x: Any, /, shape: Any) -> Tensor:
    return _broadcast_to(tensor(x), tuple(shape))


def broadcast_shapes(*shapes: Sequence[Any]) -> tuple[Any, ...]:
    rank = builtins.max(map(len, shapes), default=0)
    made = []
    for axis in range(-rank, 0):
        sizes = [shape[axis] for shape in shapes if -axis <= len(shape)]
        large = [size for size in sizes if isinstance(size, Index) or size != 1]
        if builtins.any(
            builtins.isinstance(one, builtins.int) and one != large[0]
            for one in large
            if isinstance(large[0], builtins.int)
        ):
            raise TracingError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
        made.append(large[0] if large else 1)
    return tuple(made)


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    made = list(map(tensor, arrays))
    sizes = broadcast_shapes(*(one.shape for one in made))
    return [_broadcast_to(one, sizes) for one in made]


def expand_dims(x: Any, /, axis: Any = 0) -> Tensor:
    x = tensor(x)
    new = [axis] if isinstance(axis, builtins.int) else list(axis)
    rank = x.ndim + len(new)
    for one in new:
        if not -rank <= one < rank:
            raise TracingError(f"axis {one} is out of range for a tensor of rank {rank}")
    places = {one % rank for one in new}
    sizes = iter(x.shape)
    return _reshape(x, [1 if place in places else next(sizes) for place in range(rank)])


def squeeze(x: Any, /, axis: Any) -> Tensor:
    return tensor(x).squeeze(axis)


def permute_dims(x: Any, /, axes: Sequence[builtins.int]) -> Tensor:
    x = tensor(x)
    return permute(x, axes)


def transpose(x: Any, axes: Sequence[builtins.int] | None = None) -> Tensor:
    x = tensor(x)
    return permute(x, tuple(reversed(range(x.ndim))) if axes is None else axes)


def matrix_transpose(x: Any, /) -> Tensor:
    return tensor(x).mT


def swapaxes(x: Any, axis1: builtins.int, axis2: builtins.int) -> Tensor:
    x = tensor(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return permute(x, order)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Tensor:
    x = tensor(x)
    sources = [source] if isinstance(source, builtins.int) else list(source)
    destinations = [destination] if isinstance(destination, builtins.int) else list(destination)
    sources, destinations = ([one % x.ndim for one in some] for some in (sources, destinations))
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(destinations, sources)):
        order.insert(place, axis)
    return permute(x, order)


def concat(arrays: Sequence[Tensor], /, axis: builtins.int | None = 0) -> Tensor:
    values = common(*arrays)
    if axis is None:
        values, axis = [value.flatten() for value in values], 0
    (place,) = axes_of(axis, values[0].ndim)
    return create("concat", values, [("axis", f"{place} : i64")])


concatenate = concat


def stack(arrays: Sequence[Tensor], /, axis: builtins.int = 0) -> Tensor:
    return concat([expand_dims(value, axis=axis) for value in common(*arrays)], axis=axis)


def unstack(x: Any, /, axis: builtins.int = 0) -> tuple[Tensor, ...]:
    x = tensor(x)
    return tuple(moveaxis(x, axis, 0))


def split(x: Any, indices_or_sections: Any, axis: builtins.int = 0) -> list[Tensor]:
    x = tensor(x)
    (place,) = axes_of(axis, x.ndim)
    if isinstance(x.shape[place], Index):
        raise TracingError(f"axis {place} of {x} has a dynamic size; take its parts by slices")
    if isinstance(indices_or_sections, builtins.int):
        size, rest = divmod(x.shape[place], indices_or_sections)
        if rest:
            raise TracingError(f"axis {place} of {x} does not divide into {indices_or_sections} parts")
        bounds = list(range(0, x.shape[place] + 1, size))
    else:
        bounds = [0, *indices_or_sections, x.shape[place]]
    return [x[(*[slice(None)] * place, slice(begin, end))] for begin, end in zip(bounds, bounds[1:])]


def flip(x: Any, /, axis: Any = None) -> Tensor:
    x = tensor(x)
    return create("reverse", [x], [("axes", axes_text(axes_of(axis, x.ndim)))])


def roll(x: Any, /, shift: Any, axis: Any = None) -> Tensor:
    x = tensor(x)
    if axis is None:
        return _reshape(roll(x.flatten(), shift, axis=0), x.shape)
    pairs = zip(*((one,) if isinstance(one, builtins.int) else one for one in (shift, axis)))
    for amount, one in pairs:
        (place,) = axes_of(one, x.ndim)
        size = x.shape[place]
        cut = (-amount) % size if size else 0
        if cut:
            whole = [slice(None)] * place
            x = concat([x[(*whole, slice(cut, None))], x[(*whole, slice(0, cut))]], axis=place)
    return x


def tile(x: Any, repetitions: Any, /) -> Tensor:
    x = tensor(x)
    counts = (repetitions,) if isinstance(repetitions, builtins.int) else tuple(repetitions)
    rank = builtins.max(x.ndim, len(counts))
    counts = (1,) * (rank - len(counts)) + counts
    sizes = (1,) * (rank - x.ndim) + x.shape
    x = _reshape(x, [part for size in sizes for part in (1, size)])
    x = _broadcast_to(x, [part for count, size in zip(counts, sizes) for part in (count, size)])
    return _reshape(x, [count * size for count, size in zip(counts, sizes)])


def repeat(x: Any, repeats: builtins.int, /, axis: builtins.int | None = None) -> Tensor:
    x = tensor(x)
    if not isinstance(repeats, builtins.int):
        raise NotImplementedError(
            "repeat with a number for each element looks elements up; Adjoint has no operation for that yet"
        )
    if axis is None:
        x, axis = x.flatten(), 0
    (place,) = axes_of(axis, x.ndim)
    sizes = list(x.shape)
    x = _broadcast_to(expand_dims(x, axis=place + 1), [*sizes[: place + 1], repeats, *sizes[place + 1 :]])
    return _reshape(x, [*sizes[:place], sizes[place] * repeats, *sizes[place + 1 :]])


def pad(x: Any, pad_width: Any, constant_values: Any = 0) -> Tensor:
    x = tensor(x)
    widths = [(pad_width, pad_width)] * x.ndim if isinstance(pad_width, builtins.int) else list(pad_width)
    low, high = zip(*widths) if widths else ((), ())
    return create(
        "pad",
        [x, tensor(constant_values, x.element_type).astype(x.element_type)],
        [("low", axes_text(low)), ("high", axes_text(high)), ("interior", axes_text([0] * x.ndim))],
    )


def dynamic_slice(x: Any, offsets: Sequence[Any], sizes: Sequence[builtins.int]) -> Tensor:
    """The part of these sizes at traced offsets."""
    x = tensor(x)
    from . import ops
    from ._signature import format_type

    return ops.dynamic_slice(x, offsets, type=format_type(x.element_type, tuple(sizes)))


def dynamic_update_slice(x: Any, update: Any, offsets: Sequence[Any]) -> Tensor:
    """The tensor with a part at traced offsets replaced."""
    x = tensor(x)
    from . import ops

    return ops.dynamic_update_slice(x, update, offsets)


# Reductions.


def _accumulated(x: Tensor, dtype: Any) -> Tensor:
    if dtype is not None:
        return x.astype(dtype)
    return x.astype("i64") if x.element_type in ("i1", "i8", "i32") else x


def sum(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: builtins.bool = False) -> Tensor:
    return reduce("reduce_sum", _accumulated(tensor(x), dtype), axis, keepdims)


def prod(x: Any, /, axis: Any = None, *, dtype: Any = None, keepdims: builtins.bool = False) -> Tensor:
    return reduce("reduce_prod", _accumulated(tensor(x), dtype), axis, keepdims)


def max(x: Any, /, axis: Any = None, *, keepdims: builtins.bool = False) -> Tensor:
    value = tensor(x)
    return (
        any(value, axis=axis, keepdims=keepdims)
        if value.element_type == "i1"
        else reduce("reduce_max", value, axis, keepdims)
    )


def min(x: Any, /, axis: Any = None, *, keepdims: builtins.bool = False) -> Tensor:
    value = tensor(x)
    return (
        all(value, axis=axis, keepdims=keepdims)
        if value.element_type == "i1"
        else reduce("reduce_min", value, axis, keepdims)
    )


def mean(x: Any, /, axis: Any = None, *, keepdims: builtins.bool = False) -> Tensor:
    return reduce("reduce_mean", floating(x), axis, keepdims)


def _count(x: Tensor, axis: Any) -> Any:
    return functools.reduce(operator.mul, [x.shape[one] for one in axes_of(axis, x.ndim)], 1)


def var(x: Any, /, axis: Any = None, *, correction: float = 0, keepdims: builtins.bool = False) -> Tensor:
    value = floating(x)
    distance = value - mean(value, axis=axis, keepdims=True)
    squares = sum(distance * distance, axis=axis, keepdims=keepdims)
    count = _count(value, axis)
    less = count.astype(value.element_type) - correction if isinstance(count, Index) else count - correction
    if not isinstance(less, Tensor) and less <= 0:
        less = 0.0
    return squares / less


def std(x: Any, /, axis: Any = None, *, correction: float = 0, keepdims: builtins.bool = False) -> Tensor:
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def all(x: Any, /, axis: Any = None, *, keepdims: builtins.bool = False) -> Tensor:
    return reduce("reduce_min", _truth(x).astype("i8"), axis, keepdims).astype("i1")


def any(x: Any, /, axis: Any = None, *, keepdims: builtins.bool = False) -> Tensor:
    return reduce("reduce_max", _truth(x).astype("i8"), axis, keepdims) > 0


def count_nonzero(x: Any, /, axis: Any = None, *, keepdims: builtins.bool = False) -> Tensor:
    return reduce("reduce_sum", _truth(x).astype("i64"), axis, keepdims)


def _arg(name: str, x: Any, axis: builtins.int | None, keepdims: builtins.bool) -> Tensor:
    value = tensor(x)
    if axis is None:
        made = create(name, [value.flatten()], [("axis", "0 : i64")])
        return _reshape(made, [1] * value.ndim) if keepdims else made
    (place,) = axes_of(axis, value.ndim)
    made = create(name, [value], [("axis", f"{place} : i64")])
    return expand_dims(made, axis=place) if keepdims else made


def argmax(x: Any, /, axis: builtins.int | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    return _arg("argmax", x, axis, keepdims)


def argmin(x: Any, /, axis: builtins.int | None = None, *, keepdims: builtins.bool = False) -> Tensor:
    return _arg("argmin", x, axis, keepdims)


def cumulative_sum(
    x: Any, /, *, axis: builtins.int | None = None, dtype: Any = None, include_initial: builtins.bool = False
) -> Tensor:
    value = _accumulated(tensor(x), dtype)
    if axis is None:
        if value.ndim != 1:
            raise TracingError(f"cumulative_sum needs an axis for {value}")
        axis = 0
    (place,) = axes_of(axis, value.ndim)
    made = create("cumsum", [value], [("axis", f"{place} : i64")])
    if include_initial:
        widths = [(1, 0) if one == place else (0, 0) for one in range(value.ndim)]
        made = pad(made, widths)
    return made


cumsum = cumulative_sum


def diff(
    x: Any, /, *, axis: builtins.int = -1, n: builtins.int = 1, prepend: Any = None, append: Any = None
) -> Tensor:
    x = tensor(x)
    parts = [one for one in (prepend, x, append) if one is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    (place,) = axes_of(axis, x.ndim)
    whole = [slice(None)] * place
    for _ in range(n):
        later, earlier = x[(*whole, slice(1, None))], x[(*whole, slice(0, -1))]
        x = (later != earlier) if x.element_type == "i1" else later - earlier
    return x


# Products.


def vecdot(x1: Any, x2: Any, /, axis: builtins.int = -1) -> Tensor:
    a, b = common(x1, x2)
    return sum(a * b, axis=axis, dtype=a.element_type)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Tensor:
    a, b = common(x1, x2)
    if isinstance(axes, builtins.int):
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = ([one] if isinstance(one, builtins.int) else list(one) for one in axes)
    return _dot(a, b, ((), ()), ([axis % a.ndim for axis in left], [axis % b.ndim for axis in right]))


def dot(x1: Any, x2: Any, /) -> Tensor:
    """NumPy's dot: a product of matrices or vectors, or with a number."""
    a, b = common(x1, x2)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return _dot(a, b, ((), ()), ((a.ndim - 1,), (builtins.max(b.ndim - 2, 0),)))


def outer(x1: Any, x2: Any, /) -> Tensor:
    a, b = common(x1, x2)
    return expand_dims(a.flatten(), axis=1) * b.flatten()


def einsum(subscripts: str, *operands: Any) -> Tensor:
    """NumPy's einsum: products from the left to the right, each an ad.dot."""
    from ._einsum import einsum as contract

    return contract(subscripts, *operands)


def _lookup(name: str, reason: str) -> Any:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError(f"adjoint.numpy.{name} {reason}")

    refuse.__name__ = name
    return refuse


take, take_along_axis, searchsorted, isin = (
    _lookup(name, "looks elements up; Adjoint has no operation for that yet")
    for name in ("take", "take_along_axis", "searchsorted", "isin")
)
sort, argsort = (_lookup(name, "sorts; Adjoint has no operation for that yet") for name in ("sort", "argsort"))
nonzero, unique_all, unique_counts, unique_inverse, unique_values = (
    _lookup(name, "has a shape that depends on values, which a traced program cannot have")
    for name in ("nonzero", "unique_all", "unique_counts", "unique_inverse", "unique_values")
)
conj, imag, real = (
    _lookup(name, "is about complex numbers, which Adjoint does not have") for name in ("conj", "imag", "real")
)
bitwise_left_shift, bitwise_right_shift = (
    _lookup(name, "shifts; Adjoint has no operation for that yet")
    for name in ("bitwise_left_shift", "bitwise_right_shift")
)
cumulative_prod = _lookup("cumulative_prod", "has no operation yet; a scan does the same")
nextafter = _lookup("nextafter", "reads bits; Adjoint has no operation for that yet")
from_dlpack = _lookup("from_dlpack", "makes an array; arguments of compiled functions take such objects as they are")


_HINTS = {
    "linalg": "its products are adjoint.numpy.matmul, matrix_transpose, vecdot and tensordot",
    "vmap": "write the batch as a leading axis",
    "random": "adjoint.random has keys, as jax.random",
    "top_k": "it sorts, and Adjoint has no operation for that yet",
    "uint8": "Adjoint has no unsigned integers; convert pictures to int32 or to floats",
    "int16": "Adjoint has integers of 8, 32 and 64 bits",
}

def __getattr__(name: str) -> NoReturn:
    hint = _HINTS.get(name, "the names are those of the array API standard, see docs/array-api.md")
    raise AttributeError(f"adjoint.numpy has no {name}: {hint}")
