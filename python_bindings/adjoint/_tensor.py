# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traced tensors: what the arguments of a function are while `adjoint.jit` traces it. They have no values."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from ._builder import Function, Trace, axes_text, constant, current, number_kind, number_of_index
from ._errors import TracingError
from ._signature import DTYPES, format_type
from ._types import FLOATS, INTEGERS, element_of, promote

_TYPE = re.compile(r"tensor<((?:(?:\d+|\?)x)*)(\w+)>")


@functools.lru_cache(maxsize=65536)
def _parse(text: str) -> tuple[tuple[int | None, ...], str]:
    found = _TYPE.fullmatch(text)
    assert found, text
    sizes = found[1].split("x")[:-1]
    return tuple(None if size == "?" else int(size) for size in sizes), found[2]


def wrap(number: int) -> Any:
    """The traced value of a number."""
    trace = current()
    text = trace.native.get_type(number)
    assert trace.function is not None
    return Index(trace, trace.function, number) if text == "index" else Tensor(trace, trace.function, number, text)


def constant_index(value: int) -> Index:
    """The traced value of a number."""
    made: Index = wrap(number_of_index(value))
    made.is_natural = value >= 0
    return made


class _Value:
    """What traced values have in common."""

    __slots__ = ("_trace", "_function", "_number", "_region")

    def __init__(self, trace: Trace, function: Function, number: int):
        self._trace, self._function, self._number = trace, function, number
        #: The branch or loop that it was made in; 0 for the function itself.
        self._region = function.regions[-1] if function.regions else 0

    def _unknown(self, what: str, mend: str) -> TracingError:
        return TracingError(f"{what} of a traced value is not known while the function is traced; {mend}")

    def __bool__(self) -> bool:
        raise self._unknown("the truth", "use adjoint.cond for two branches, or adjoint.numpy.where for elements")

    def __int__(self) -> int:
        raise self._unknown("the number", "keep it traced, or make it a static argument of adjoint.jit")

    def __float__(self) -> float:
        raise self._unknown("the number", "keep it traced, or make it a static argument of adjoint.jit")

    def __index__(self) -> int:
        raise self._unknown(
            "the number",
            "use adjoint.fori_loop for a loop, adjoint.numpy.asarray(x)[i] for an element of an array of NumPy, or make it a "
            "static argument of adjoint.jit",
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Functions and operators of NumPy on traced values are those of adjoint.numpy."""
        from . import numpy

        name = {"true_divide": "divide", "power": "pow", "arctan2": "atan2", "absolute": "abs"}.get(
            ufunc.__name__, ufunc.__name__
        )
        if method != "__call__" or options or name not in numpy.__dict__:
            raise self._unknown("the array", "use functions of adjoint.numpy in place of numpy's")
        return getattr(numpy, name)(*inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        from . import numpy

        own = numpy.__dict__.get(function.__name__)
        if own is None:
            raise self._unknown("the array", f"there is no adjoint.numpy.{function.__name__} in place of numpy's")
        return own(*arguments, **keywords)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise self._unknown(
            "the array",
            "use functions of adjoint.numpy in place of numpy's, and adjoint.numpy.asarray(x)[i] for an element of an array",
        )

    def __reduce__(self) -> NoReturn:
        raise TracingError("a traced value cannot be pickled: it has no value")


class Index(_Value):
    """A traced size or index of a loop."""

    __slots__ = ("is_natural",)
    _type = "index"

    def __init__(self, trace: Trace, function: Function, number: int):
        super().__init__(trace, function, number)
        #: Known not to be negative: it counts from the begin of an axis.
        self.is_natural = False

    def natural(self) -> Index:
        """This value, which is known not to be negative."""
        self.is_natural = True
        return self

    def _copy(self, number: int, function: Function) -> Index:
        made = Index(self._trace, function, number)
        made.is_natural = self.is_natural
        return made

    def _apply(self, name: str, other: Any, swapped: bool = False) -> Any:
        if not isinstance(other, (int, np.integer, Index)) or isinstance(other, (bool, np.bool_)):
            return _binary(_NAMED[name], *((other, self) if swapped else (self, other)))
        trace = current()
        operands = [trace.number(self), number_of_index(other)]
        made: Index = wrap(trace.create(f"arith.{name}", operands[::-1] if swapped else operands)[0])
        is_natural = other.is_natural if isinstance(other, Index) else other >= 0
        made.is_natural = self.is_natural and is_natural and name in ("addi", "muli", "floordivsi", "minsi")
        return made

    def astype(self, dtype: Any) -> Tensor:
        """A tensor of rank 0 with the number."""
        trace, element = current(), element_of(dtype)
        integer = element if element in INTEGERS else "i64"
        (scalar,) = trace.create("arith.index_cast", [trace.number(self)], types=[integer])
        made: Tensor = wrap(trace.create("ad.full", [scalar], types=[f"tensor<{integer}>"])[0])
        return made.astype(element)

    def __add__(self, other: Any) -> Any:
        return self._apply("addi", other)

    def __radd__(self, other: Any) -> Any:
        return self._apply("addi", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._apply("subi", other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply("subi", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._apply("muli", other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply("muli", other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("floordivsi", other)

    def __mod__(self, other: Any) -> Any:
        if not isinstance(other, (int, np.integer, Index)):
            return remainder(self, other)
        made = self - (self // other) * other  # with the sign of the divisor
        made.is_natural = other.is_natural if isinstance(other, Index) else other > 0
        return made

    def __neg__(self) -> Any:
        return 0 - self

    def __pow__(self, other: Any) -> Any:
        return power(self.astype("i64"), other)

    def __rpow__(self, other: Any) -> Any:
        return power(other, self)

    def __rtruediv__(self, other: Any) -> Any:
        return divide(other, self)

    def __rfloordiv__(self, other: Any) -> Any:
        return floor_divide(other, self)

    def __rmod__(self, other: Any) -> Any:
        return remainder(other, self)

    def at_least(self, bound: Any) -> Index:
        """The larger one of both."""
        made: Index = self._apply("maxsi", bound)
        made.is_natural = self.is_natural or (bound.is_natural if isinstance(bound, Index) else bound >= 0)
        return made

    def at_most(self, bound: Any) -> Index:
        """The smaller one of both."""
        return self._apply("minsi", bound)  # type: ignore[no-any-return]

    def or_if_one(self, other: Any) -> Index:
        """This size, or the other one where it is 1: what both broadcast to."""
        made: Index = wrap(self._select("0 : i64", 1, other, self))
        return made.natural()

    def _select(self, predicate: str, bound: int, on_true: Any, on_false: Any) -> int:
        trace = current()
        operands = [trace.number(self), number_of_index(bound)]
        (condition,) = trace.create("arith.cmpi", operands, [("predicate", predicate)], ["i1"])
        return trace.create("arith.select", [condition, number_of_index(on_true), number_of_index(on_false)])[0]

    def from_end(self, size: Any) -> Index:
        """Where an index of an axis of this size is: negative ones count from the end."""
        if self.is_natural:
            return self
        made: Index = wrap(self._select("2 : i64", 0, self + size, self))  # less than 0
        return made.natural()

    def __eq__(self, other: Any) -> Any:
        return compare("eq", self, other)

    def __ne__(self, other: Any) -> Any:
        return compare("ne", self, other)

    __hash__ = object.__hash__

    def __truediv__(self, other: Any) -> Any:
        return divide(self, other)

    def __lt__(self, other: Any) -> Tensor:
        return compare("lt", self, other)

    def __le__(self, other: Any) -> Tensor:
        return compare("le", self, other)

    def __gt__(self, other: Any) -> Tensor:
        return compare("gt", self, other)

    def __ge__(self, other: Any) -> Tensor:
        return compare("ge", self, other)

    def __repr__(self) -> str:
        return "<traced index>"


_NAMED = {"addi": "add", "subi": "sub", "muli": "mul", "floordivsi": "floor_divide"}


class Tensor(_Value):
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
        from . import numpy

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
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Tensor:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Tensor:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Tensor:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return _binary("mul", other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return _binary("div", self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return _binary("div", other, self)

    def __floordiv__(self, other: Any) -> Tensor:
        return _binary("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return _binary("floor_divide", other, self)

    def __mod__(self, other: Any) -> Tensor:
        return _binary("remainder", self, other)

    def __rmod__(self, other: Any) -> Tensor:
        return _binary("remainder", other, self)

    def __and__(self, other: Any) -> Tensor:
        return _binary("and", self, other)

    def __rand__(self, other: Any) -> Tensor:
        return _binary("and", other, self)

    def __or__(self, other: Any) -> Tensor:
        return _binary("or", self, other)

    def __ror__(self, other: Any) -> Tensor:
        return _binary("or", other, self)

    def __xor__(self, other: Any) -> Tensor:
        return _binary("xor", self, other)

    def __rxor__(self, other: Any) -> Tensor:
        return _binary("xor", other, self)

    def __neg__(self) -> Tensor:
        return unary("neg", self)

    def __pos__(self) -> Tensor:
        return self

    def __abs__(self) -> Tensor:
        return unary("abs", self)

    def __invert__(self) -> Tensor:
        return unary("not", self)

    def __matmul__(self, other: Any) -> Tensor:
        return matmul(self, other) if _is_operand(other) else _refused()

    def __rmatmul__(self, other: Any) -> Tensor:
        return matmul(other, self) if _is_operand(other) else _refused()

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
        return power(self, other) if _is_operand(other) else _refused()

    def __rpow__(self, other: Any) -> Tensor:
        return power(other, self) if _is_operand(other) else _refused()

    # Elements and shapes.

    def astype(self, dtype: Any, *, copy: bool = True) -> Tensor:
        element = element_of(dtype)
        if element == self.element_type:
            if not self.is_weak:
                return self
            made = self._copy(self._number, self._function)
            made.is_weak, made._region = False, self._region
            return made
        trace = current()
        return wrap(trace.create("ad.cast", [trace.number(self)], (), [format_type(element, self._static)])[0])

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
        from . import numpy

        return numpy.swapaxes(self, axis1, axis2)

    def dot(self, other: Any) -> Tensor:
        from . import numpy

        return numpy.dot(self, other)

    def item(self) -> NoReturn:
        raise self._unknown("the number", "return it from the function, and take its item there")

    tolist = item

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
        from ._indexing import get

        return get(self, key)

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TracingError("traced tensors do not change; x = x.at[key].set(value) makes a changed one")

    @property
    def at(self) -> Any:
        """x.at[key].set(value) is x with a part replaced; add, multiply and others as in JAX."""
        from ._indexing import At

        return At(self)

    # Reductions.

    def sum(self, axis: Any = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.sum(self, axis=axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.prod(self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        return reduce("reduce_mean", floating(self), axis, keepdims)

    def max(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.max(self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.min(self, axis=axis, keepdims=keepdims)

    def var(self, axis: Any = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.var(self, axis=axis, correction=correction, keepdims=keepdims)

    def std(self, axis: Any = None, *, correction: float = 0, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.std(self, axis=axis, correction=correction, keepdims=keepdims)

    def all(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.all(self, axis=axis, keepdims=keepdims)

    def any(self, axis: Any = None, *, keepdims: bool = False) -> Tensor:
        from . import numpy

        return numpy.any(self, axis=axis, keepdims=keepdims)

    def argmax(self, axis: int | None = None) -> Tensor:
        from . import numpy

        return numpy.argmax(self, axis=axis)

    def argmin(self, axis: int | None = None) -> Tensor:
        from . import numpy

        return numpy.argmin(self, axis=axis)


def _is_operand(value: Any) -> bool:
    return isinstance(value, (_Value, bool, int, float, np.ndarray, np.generic, list, tuple))


def tensor(value: Any, element: str | None = None) -> Tensor:
    """A traced tensor of a value: a number is of the element type that is given."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Index):
        return value.astype(element or "i32")
    return constant(value, element)


def _kind(value: Any) -> str | None:
    """The element type that a value has of its own. Python numbers, indices and what is made of them alone have none."""
    if isinstance(value, Tensor):
        return None if value.is_weak else value.element_type
    if number_kind(value) or isinstance(value, Index):
        return None
    return element_of(np.asarray(value).dtype)


def common(*values: Any) -> list[Tensor]:
    """The values as tensors of one element type. Python numbers and indices follow the tensors beside them, as in the
    array API standard; a float beside integers gives f32. What is made of indices and numbers alone is exact in f64 and
    i64, and follows the tensors that it meets later."""
    if any(isinstance(value, (list, tuple)) for value in values):
        from . import numpy

        values = tuple(numpy.asarray(value) if isinstance(value, (list, tuple)) else value for value in values)
    kinds = [kind for kind in map(_kind, values) if kind]
    weak = [value for value in values if isinstance(value, Index) or (isinstance(value, Tensor) and value.is_weak)]
    element = functools.reduce(promote, kinds) if kinds else None
    is_weak = not kinds and bool(weak)
    is_float = any(
        number_kind(value) is float or (isinstance(value, Tensor) and value.element_type in FLOATS) for value in values
    )
    if is_float and element not in FLOATS:
        element = "f64" if is_weak else "f32"
    if element in (None, "i1") and any(number_kind(value) is int or isinstance(value, Index) for value in values):
        element = "i64" if is_weak else "i32"
    if element is None:
        element = weak[0].element_type if weak else "i1"
    made = [tensor(value, element).astype(element) for value in values]
    for one, value in zip(made, values):
        one.is_weak = is_weak and not (isinstance(value, Tensor) and not value.is_weak)
    return made


def floating(value: Any, element: str = "f32") -> Tensor:
    """A tensor of floats."""
    made = tensor(value, element)
    if made.element_type in FLOATS:
        return made
    is_weak = made.is_weak
    made = made.astype("f64" if is_weak else element)
    made.is_weak = is_weak
    return made


def create(
    name: str, operands: Sequence[Tensor], attributes: Sequence[tuple[str, str]] = (), types: Sequence[str] = ()
) -> Tensor:
    trace = current()
    made = wrap(trace.create(f"ad.{name}", [trace.number(one) for one in operands], attributes, types)[0])
    made.is_weak = bool(operands) and all(one.is_weak for one in operands)
    return made  # type: ignore[no-any-return]


def unary(name: str, value: Any) -> Tensor:
    return create(name, [tensor(value)])


def _refused() -> Tensor:
    """What an operator gives for values that it does not know, so that Python asks the other one."""
    return NotImplemented  # type: ignore[no-any-return]


def _binary(name: str, left: Any, right: Any) -> Tensor:
    if not (_is_operand(left) and _is_operand(right)):
        return _refused()
    special = {"div": divide, "floor_divide": floor_divide, "remainder": remainder}.get(name)
    return special(left, right) if special else create(name, common(left, right))


def divide(left: Any, right: Any) -> Tensor:
    a, b = common(left, right)
    return create("div", [floating(a), floating(b)])


def floor_divide(left: Any, right: Any) -> Tensor:
    """The quotient rounded down, also of integers, whose division in `ad` truncates."""
    a, b = common(left, right)
    if a.element_type in FLOATS:
        # What is left without the remainder divides up to rounding, so that a // b * b + a % b is a.
        whole = create("round_even", [create("div", [create("sub", [a, remainder(a, b)]), b])])
        return create("select", [compare("eq", b, 0), create("div", [a, b]), whole])
    quotient = create("div", [a, b])
    rest = create("sub", [a, create("mul", [quotient, b])])
    is_below = create("and", [compare("ne", rest, 0), compare("ne", compare("lt", rest, 0), compare("lt", b, 0))])
    return create("select", common_select(is_below, quotient - 1, quotient))


def common_select(condition: Any, on_true: Any, on_false: Any) -> list[Tensor]:
    return [tensor(condition), *common(on_true, on_false)]


def compare(predicate: str, left: Any, right: Any) -> Tensor:
    if not (_is_operand(left) and _is_operand(right)):
        return _refused()
    return create("compare", common(left, right), [("predicate", f"#ad<predicate {predicate}>")])


def power(left: Any, right: Any) -> Tensor:
    """x ** n for a small integer n is a product, in the order of repeated squaring."""
    if isinstance(right, int) and not isinstance(right, bool) and isinstance(left, Tensor) and 0 <= right <= 64:
        result: Tensor | None = None
        square = left
        while right:
            if right & 1:
                result = square if result is None else create("mul", [result, square])
            right >>= 1
            if right:
                square = create("mul", [square, square])
        if result is not None:
            return result
        return broadcast_to(common(left, 1)[1], left.shape)
    a, b = common(left, right)
    if a.element_type in INTEGERS:
        made = create("pow", [a.astype("f64"), b.astype("f64")])
        return create("round_even", [made]).astype(a.element_type)
    return create("pow", [floating(a), floating(b)])


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Ascending axes of an argument `axis`: None is all of them."""
    if axis is None:
        return tuple(range(rank))
    listed = [operator.index(one) for one in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    for one in listed:
        if not -rank <= one < rank:
            raise TracingError(f"axis {one} is out of range for a tensor of rank {rank}")
    found = sorted(one % rank for one in listed)
    if len(set(found)) != len(found):
        raise TracingError(f"axes {tuple(listed)} name one axis twice")
    return tuple(found)


def reduce(name: str, value: Tensor, axis: Any, keepdims: bool) -> Tensor:
    attributes = [("axes", axes_text(axes_of(axis, value.ndim)))]
    if keepdims:
        attributes.append(("keepDims", "unit"))
    return create(name, [value], attributes)


def shaped(name: str, value: Tensor, sizes: Sequence[Any], attributes: Sequence[tuple[str, str]] = ()) -> Tensor:
    """An operation whose result has these sizes; dynamic ones are its operands."""
    trace = current()
    dynamic = [trace.number(size) for size in sizes if isinstance(size, Index)]
    type = format_type(value.element_type, tuple(None if isinstance(size, Index) else int(size) for size in sizes))
    return wrap(trace.create(f"ad.{name}", [trace.number(value), *dynamic], attributes, [type])[0])


def _checked_sizes(shape: Sequence[Any]) -> list[Any]:
    return [size if isinstance(size, Index) else operator.index(size) for size in shape]


def reshape(value: Tensor, shape: Sequence[Any]) -> Tensor:
    sizes = _checked_sizes(shape)
    unknown = [axis for axis, size in enumerate(sizes) if not isinstance(size, Index) and size == -1]
    if len(unknown) > 1:
        raise TracingError(f"expected at most one size of -1, got {tuple(shape)}")
    if unknown:
        known = [size for axis, size in enumerate(sizes) if axis != unknown[0]]
        if any(isinstance(size, Index) for size in [*known, *value.shape]):
            sizes[unknown[0]] = value.size // functools.reduce(operator.mul, known, 1)
        else:
            count, rest = math.prod(value._static), math.prod(known)  # type: ignore[arg-type]
            if rest == 0 or count % rest:
                raise TracingError(f"a tensor of shape {value._static} cannot be reshaped to {tuple(shape)}")
            sizes[unknown[0]] = count // rest
    if not any(isinstance(size, Index) for size in sizes) and tuple(sizes) == value._static:
        return value
    return shaped("reshape", value, sizes)


def broadcast_to(value: Tensor, shape: Sequence[Any]) -> Tensor:
    sizes = _checked_sizes(shape)
    if not any(isinstance(size, Index) for size in sizes) and tuple(sizes) == value._static:
        return value
    return shaped("broadcast", value, sizes)


def permute(value: Tensor, axes: Sequence[int]) -> Tensor:
    order = [operator.index(axis) for axis in axes]
    if sorted(axis % max(value.ndim, 1) for axis in order) != list(range(value.ndim)) or len(order) != value.ndim:
        raise TracingError(f"expected a permutation of {value.ndim} axes, got {tuple(axes)}")
    order = [axis % value.ndim for axis in order]
    if order == list(range(value.ndim)):
        return value
    return create("transpose", [value], [("permutation", axes_text(order))])


def dot(
    left: Tensor,
    right: Tensor,
    batch: tuple[Sequence[int], Sequence[int]],
    contract: tuple[Sequence[int], Sequence[int]],
) -> Tensor:
    return create(
        "dot",
        [left, right],
        [
            ("lhsBatch", axes_text(batch[0])),
            ("rhsBatch", axes_text(batch[1])),
            ("lhsContract", axes_text(contract[0])),
            ("rhsContract", axes_text(contract[1])),
        ],
    )


def matmul(left: Any, right: Any) -> Tensor:
    """NumPy's product of matrices, with its stacks: where one operand lacks leading axes, they are free axes."""
    a, b = common(left, right)
    if a.ndim == 0 or b.ndim == 0:
        raise TracingError(f"a product of matrices needs ranks of at least 1, got {a} and {b}")
    if b.ndim <= 2:
        # The leading axes of the left operand are rows.
        return dot(a, b, ((), ()), ((a.ndim - 1,), (max(b.ndim - 2, 0),)))
    stacks = max(a.ndim, b.ndim) - 2
    if a.ndim == 1:
        a = reshape(a, (1, *a.shape))
        return matmul(a, b).squeeze(-2)
    sizes = [_stack_size(a, b, axis) for axis in range(-stacks - 2, -2)]
    a, b = (
        broadcast_to(one, (*sizes, *one.shape[-2:]))
        if one.ndim - 2 != stacks
        or any(one._static[axis] == 1 and not _is_one(size) for axis, size in enumerate(sizes))
        else one
        for one in (a, b)
    )
    axes = tuple(range(stacks))
    return dot(a, b, (axes, axes), ((stacks + 1,), (stacks,)))


def _is_one(size: Any) -> bool:
    return not isinstance(size, Index) and bool(size == 1)


def _stack_size(a: Tensor, b: Tensor, axis: int) -> Any:
    """The size of an axis that both broadcast to."""
    sizes = [one.shape[axis] for one in (a, b) if -axis <= one.ndim]
    return next((size for size in sizes if isinstance(size, Index) or size != 1), 1)


def remainder(left: Any, right: Any) -> Tensor:
    """The remainder with the sign of the divisor, as Python's %."""
    a, b = common(left, right)
    rest = create("rem", [a, b])
    is_other_sign = create("and", [compare("ne", rest, 0), compare("ne", compare("lt", rest, 0), compare("lt", b, 0))])
    return create("select", [is_other_sign, rest + b, rest])
