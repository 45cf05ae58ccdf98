# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""NumPy's functions on traced values are those of adjoint.numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import numpy
from ._value import Value


#: Functions of NumPy that the array API standard has by other names.
_NAMES = {
    "true_divide": "divide", "power": "pow", "absolute": "abs", "fabs": "abs", "rint": "round", "invert": "bitwise_invert",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh",
}  # fmt: skip


class NumpyProtocol(Value):
    """A traced value in calls of NumPy."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Functions and operators of NumPy on traced values are those of adjoint.numpy."""
        name = _NAMES.get(ufunc.__name__, ufunc.__name__)
        if method != "__call__" or options or name not in numpy.__dict__:
            raise self._unknown("the array", "use functions of adjoint.numpy in place of numpy's")
        return getattr(numpy, name)(*inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        own: Any = numpy.__dict__.get(function.__name__)
        if own is None:
            raise self._unknown("the array", f"there is no adjoint.numpy.{function.__name__} in place of numpy's")
        return own(*arguments, **keywords)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise self._unknown(
            "the array",
            "use functions of adjoint.numpy in place of numpy's, and adjoint.numpy.asarray(x)[i] for an element of an array",
        )
