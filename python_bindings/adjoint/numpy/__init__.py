# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The Python array API standard for traced tensors, as far as the dialect reaches.

Functions that need an operation that does not exist yet raise NotImplementedError and say so.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import NoReturn

from .._arithmetic import divide, floor_divide, remainder
from .._powers import power as pow
from .._products import matmul
from ._einsum import einsum
from ._elements import (
    abs, absolute, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert, bitwise_left_shift,
    bitwise_or, bitwise_right_shift, bitwise_xor, ceil, clip, copysign, cos, cosh, equal, erf, exp, exp2, expm1,
    floor, greater, greater_equal, hypot, isfinite, isinf, isnan, less, less_equal, log, log10, log1p, log2,
    logaddexp, logical_and, logical_not, logical_or, logical_xor, maximum, minimum, multiply, negative, nextafter,
    not_equal, positive, reciprocal, round, rsqrt, sign, signbit, sin, sinh, sqrt, square, subtract, tan, tanh, trunc,
    where,
)
from ._lookups import isin, searchsorted, take, take_along_axis
from ._making import (
    arange, array, asarray, empty, empty_like, eye, full, full_like, linspace, meshgrid, ones, ones_like, tril,
    triu, zeros, zeros_like,
)
from ._missing import (
    HINTS, conj, from_dlpack, imag, nonzero, real, unique_all, unique_counts, unique_inverse, unique_values,
)
from ._products import dot, outer, tensordot, vecdot
from ._reductions import (
    all, any, argmax, argmin, count_nonzero, cumprod, cumsum, cumulative_prod, cumulative_sum, diff, max, mean, min,
    prod, std, sum, var,
)
from ._shapes import (
    broadcast_arrays, broadcast_shapes, broadcast_to, concat, concatenate, dynamic_slice, dynamic_update_slice,
    expand_dims, flip, matrix_transpose, moveaxis, pad, permute_dims, repeat, reshape, roll, split, squeeze, stack,
    swapaxes, tile, transpose, unstack,
)
from ._sorting import argsort, sort, top_k
from ._types import (
    astype, bfloat16, bool, can_cast, finfo, float16, float32, float64, iinfo, int32, int64, int8, isdtype,
    result_type,
)

__array_api_version__ = "2025.12"

e, pi, inf, nan, newaxis = math.e, math.pi, math.inf, math.nan, None
true_divide = divide

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "all", "any", "arange", "argmax", "argmin", "argsort", "array",
    "asarray", "asin", "asinh", "astype", "atan", "atan2", "atanh", "bfloat16", "bitwise_and", "bitwise_invert",
    "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "can_cast", "ceil", "clip", "concat", "concatenate", "conj", "copysign",
    "cos", "cosh", "count_nonzero", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff", "divide", "dot",
    "dynamic_slice", "dynamic_update_slice", "e", "einsum", "empty", "empty_like", "equal", "erf", "exp", "exp2",
    "expand_dims", "expm1", "eye", "finfo", "flip", "float16", "float32", "float64", "floor", "floor_divide",
    "from_dlpack", "full", "full_like", "greater", "greater_equal", "hypot", "iinfo", "imag", "inf", "int32",
    "int64", "int8", "isdtype", "isfinite", "isin", "isinf", "isnan", "less", "less_equal", "linspace", "log",
    "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan",
    "negative", "newaxis", "nextafter", "nonzero", "not_equal", "ones", "ones_like", "outer", "pad", "permute_dims",
    "pi", "positive", "pow", "prod", "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll",
    "round", "rsqrt", "searchsorted", "sign", "signbit", "sin", "sinh", "sort", "split", "sqrt", "square",
    "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot",
    "tile", "top_k", "transpose", "tril", "triu", "true_divide", "trunc", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unstack", "var", "vecdot", "where", "zeros", "zeros_like",
]

# What users see of a function is where they find it.
for _value in [*globals().values()]:
    if isinstance(_value, FunctionType) and _value.__module__.startswith(f"{__name__}."):
        _value.__module__ = __name__
del _value


def __getattr__(name: str) -> NoReturn:
    hint = HINTS.get(name, "the names are those of the array API standard, see docs/array-api.md")
    raise AttributeError(f"adjoint.numpy has no {name}: {hint}")
