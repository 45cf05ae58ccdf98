# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Element types, and questions about them."""

from __future__ import annotations

import builtins
import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from .._constants import tensor
from .._errors import TracingError
from .._signature import DTYPES
from .._types import FLOATS, INTEGERS, element_of, promote
from .._value import is_tensor

if TYPE_CHECKING:
    from .._tensor import Tensor

bool = DTYPES["i1"]
int8, int32, int64 = DTYPES["i8"], DTYPES["i32"], DTYPES["i64"]
float16, float32, float64, bfloat16 = DTYPES["f16"], DTYPES["f32"], DTYPES["f64"], DTYPES["bf16"]


def astype(x: Any, dtype: Any, /, *, copy: builtins.bool = True, device: Any = None) -> Tensor:
    return tensor(x).astype(dtype)


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    source = from_.element_type if is_tensor(from_) else element_of(from_)
    return promote(source, element_of(to)) == element_of(to)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    kinds = [
        one.element_type if is_tensor(one) else element_of(one)
        for one in arrays_and_dtypes
        if not isinstance(one, (builtins.bool, int, float))
    ]
    if not kinds:
        raise TracingError("result_type needs a tensor or an element type")
    return DTYPES[functools.reduce(promote, kinds)]


def finfo(type: Any, /) -> Any:
    dtype = type.dtype if is_tensor(type) else DTYPES[element_of(type)]
    if dtype in (DTYPES["f64"], DTYPES["f32"], DTYPES["f16"]):
        return np.finfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def iinfo(type: Any, /) -> Any:
    return np.iinfo(type.dtype if is_tensor(type) else DTYPES[element_of(type)])


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    element = element_of(dtype)
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
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
