# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traced tensors: what the arguments of a function are while `adjoint.jit` traces it. They have no values."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from . import numpy
from ._arithmetic import binary, compare, floating, is_operand, refused
from ._at import At
from ._builder import Function, Trace, current
from ._constants import number_of_index
from ._emit import unary
from ._errors import TracingError
from ._index import Index
from ._lookup import get
from ._numpy_protocol import NumpyProtocol
from ._powers import power
from ._products import matmul
from ._shapes import axes_of, permute, reduce, reshape
from ._signature import DTYPES, format_type
from ._types import element_of
from ._value import classes, wrap

_TYPE = re.compile(r"tensor<((?:(?:\d+|\?)x)*)(\w+)>")


@functools.lru_cache(maxsize=65536)
def _parse(text: str) -> tuple[tuple[int | None, ...], str]:
    found = _TYPE.fullmatch(text)
    assert found, text
    sizes = found[1].split("x")[:-1]
    return tuple(None if size == "?" else int(size) for size in sizes), found[2]


class Tensor(NumpyProtocol):
    """A traced tensor. It has the operators, methods and indexing of NumPy's arrays."""

    __slots__ = ("_type", "_static", "element_type", "_sizes", "is_weak")

    def __init__(self, trace: Trace, function: Function, number: int, type: str):
        super().__init__(trace, function, number)
        self._type = type
        #: The sizes; None is a dynamic one.
        self._static, self.element_type = _parse(type)
        self._sizes: dict[int, Index] = {}
        #: Made of numbers and indices alone: it takes the element type of the tensors that it meets.
        self.is_weak = False

    def _copy(self, number: int, function: Function) -> Tensor:
        made = Tensor(self._trace, function, number, self._type)
        made.is_weak = self.is_weak
        return made

    # What NumPy's arrays say of themselves.

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes: numbers, and traced ones where they are dynamic."""
        if None not in self._static:
            return self._static
        return tuple(self._size(axis) for axis in range(self.ndim))

    def _size(self, axis: int) -> Any:
        size = self._static[axis]
        if size is not None:
            return size
        trace = current()
        known = self._sizes.get(axis)
        assert trace.function is not None
        if known is not None and known._function is trace.function and known._region == 0:
            return known
        made: Index = wrap(trace.create("tensor.dim", [trace.number(self), number_of_index(axis)])[0])
        made.is_natural = True
        if made._region == 0:
            self._sizes[axis] = made
        return made

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self.element_type]

    @property
    def ndim(self) -> int:
        return len(self._static)

    @property
    def size(self) -> Any:
        return functools.reduce(operator.mul, self.shape, 1)

    @property
    def device(self) -> str:
        return "traced"

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        if device != "traced" or stream is not None:
            raise TracingError("a traced value is on no device; adjoint.jit has the option target")
        return self

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return numpy

    def __len__(self) -> int:
        if not self._static:
            raise TypeError("a tensor of rank 0 has no length")
        if self._static[0] is None:
            raise self._unknown("the length", "use x.shape[0], which is traced")
        return self._static[0]

    def __iter__(self) -> Iterator[Tensor]:
        return iter([self[index] for index in range(len(self))])

    def __repr__(self) -> str:
        return f"<traced {self._type}>"

    # Operators.

    def __add__(self, other: Any) -> Tensor:
        return binary("add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return binary("add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return binary("sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return binary("sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return binary("mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return binary("mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return binary("div", other, self)

    def __floordiv__(self, other: Any) -> Tensor:
        return binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return binary("floor_divide", other, self)

    def __mod__(self, other: Any) -> Tensor:
        return binary("remainder", self, other)

    def __rmod__(self, other: Any) -> Tensor:
        return binary("remainder", other, self)

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        return other // self, other % self

    def __and__(self, other: Any) -> Tensor:
        return binary("and", self, other)

    def __rand__(self, other: Any) -> Tensor:
        return binary("and", other, self)

    def __or__(self, other: Any) -> Tensor:
        return binary("or", self, other)

    def __ror__(self, other: Any) -> Tensor:
        return binary("or", other, self)

    def __lshift__(self, other: Any) -> Tensor:
        return binary("shift_left", self, other)

    def __rlshift__(self, other: Any) -> Tensor:
        return binary("shift_left", other, self)

    def __rshift__(self, other: Any) -> Tensor:
        return binary("shift_right", self, other)

    def __rrshift__(self, other: Any) -> Tensor:
        return binary("shift_right", other, self)

    def __xor__(self, other: Any) -> Tensor:
        return binary("xor", self, other)

    def __rxor__(self, other: Any) -> Tensor:
        return binary("xor", other, self)

    def __neg__(self) -> Tensor:
        return unary("neg", self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return unary("abs", self)

    def __invert__(self) -> Tensor:
        return unary("not", self)

    def __matmul__(self, other: Any) -> Tensor:
        return matmul(self, other) if is_operand(other) else refused()

    def __rmatmul__(self, other: Any) -> Tensor:
        return matmul(other, self) if is_operand(other) else refused()

    def __eq__(self, other: Any) -> Tensor:  # type: ignore[override]
        return compare("eq", self, other)

    def __ne__(self, other: Any) -> Tensor:  # type: ignore[override]
        return compare("ne", self, other)

    def __lt__(self, other: Any) -> Tensor:
        return compare("lt", self, other)

    def __le__(self, other: Any) -> Tensor:
        return compare("le", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return compare("gt", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return compare("ge", self, other)

    __hash__ = object.__hash__

    def __pow__(self, other: Any) -> Tensor:
        return power(self, other) if is_operand(other) else refused()

    def __rpow__(self, other: Any) -> Tensor:
        return power(other, self) if is_operand(other) else refused()

    # Elements and shapes.

    def astype(self, dtype: Any, *, copy: bool = True) -> Tensor:
        element = element_of(dtype)
        if element == self.element_type:
            if not self.is_weak:
                return self
            made = self._copy(self._number, self._function)
            made.is_weak, made._region = False, self._region
            return made
        return self._of_elements("ad.cast", element)

    def view(self, dtype: Any) -> Tensor:
        """The same bits as elements of another type with as many bits. Every NaN has the bits of one."""
        element = element_of(dtype)
        value = self.astype(self.element_type)
        return value if element == self.element_type else value._of_elements("ad.bitcast", element)

    def _of_elements(self, operation: str, element: str) -> Tensor:
        trace = current()
        made: Tensor = wrap(trace.create(operation, [trace.number(self)], (), [format_type(element, self._static)])[0])
        return made

    def reshape(self, *shape: Any) -> Tensor:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return reshape(self, tuple(sizes))

    def flatten(self) -> Tensor:
        return reshape(self, (-1,))

    def ravel(self) -> Tensor:
        return reshape(self, (-1,))

    def transpose(self, *axes: Any) -> Tensor:
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        return permute(self, tuple(order) or tuple(reversed(range(self.ndim))))

    @property
    def T(self) -> Tensor:  # noqa: N802
        return permute(self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> Tensor:  # noqa: N802
        if self.ndim < 2:
            raise TracingError(f"expected a tensor of rank 2 or more to transpose its matrices, got {self}")
        return permute(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        return numpy.swapaxes(self, axis1, axis2)

    def dot(self, other: Any) -> Tensor:
        return numpy.dot(self, other)

    def item(self) -> NoReturn:
        raise self._unknown("the number", "return it from the function, and take its item there")

    tolist = item

    def take(self, indices: Any, axis: int | None = None) -> Tensor:
        return numpy.take(self, indices, axis)

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> Tensor:
        gone = (
            [index for index, size in enumerate(self._static) if size == 1]
            if axis is None
            else list(axes_of(axis, self.ndim))
        )
        for index in gone:
            if self._static[index] != 1:
                raise TracingError(f"axis {index} of {self} has not the size 1, so it cannot be squeezed")
        return reshape(self, tuple(size for index, size in enumerate(self.shape) if index not in gone))

    def __getitem__(self, key: Any) -> Tensor:
        return get(self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TracingError("traced tensors do not change; x = x.at[key].set(value) makes a changed one")

    @property
    def at(self) -> Any:
        """x.at[key].set(value) is x with a part replaced; add, multiply and others as in JAX. Where indices name an
        element several times, each is added."""
        return At(self)

    # Reductions.

    def sum(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
        return numpy.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return numpy.prod(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return reduce("reduce_mean", floating(self), axis, keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return numpy.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return numpy.min(self, axis=axis, keepdims=keepdims)

    def var(self, axis: Any = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
        return numpy.var(self, axis=axis, correction=correction, keepdims=keepdims)

    def std(self, axis: Any = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
        return numpy.std(self, axis=axis, correction=correction, keepdims=keepdims)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return numpy.all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return numpy.any(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None) -> Tensor:
        return numpy.argmax(self, axis=axis)

    def argmin(self, axis: int | None = None) -> Tensor:
        return numpy.argmin(self, axis=axis)


classes.tensor = Tensor
