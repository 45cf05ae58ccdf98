# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What traced sizes, indices and tensors have in common. They have no values while a function is traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from ._builder import Function, Trace, current
from ._errors import TracingError

if TYPE_CHECKING:
    from ._index import Index
    from ._tensor import Tensor


class Value:
    """What traced values have in common."""

    __slots__ = ("_trace", "_function", "_number", "_region")
    _type: str

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

    def __format__(self, form: str) -> str:
        if form:
            raise self._unknown("the number", "adjoint.receive passes values to the host, which may print them")
        return repr(self)

    def _copy(self, number: int, function: Function) -> Value:
        """This value as an argument of a function."""
        raise NotImplementedError

    def __reduce__(self) -> NoReturn:
        raise TracingError("a traced value cannot be pickled: it has no value")


class _Classes:
    """The classes of traced values. They have operators, so their modules import those of the operations, which import
    this one."""

    index: type[Index]
    tensor: type[Tensor]


#: The modules of the classes set them.
classes = _Classes()


def wrap(number: int) -> Any:
    """The traced value of a number."""
    trace = current()
    text = trace.native.get_type(number)
    assert trace.function is not None
    if text == "index":
        return classes.index(trace, trace.function, number)
    return classes.tensor(trace, trace.function, number, text)


def is_index(value: Any) -> TypeGuard[Index]:
    """Whether a value is a traced size or index."""
    return isinstance(value, classes.index)


def is_tensor(value: Any) -> TypeGuard[Tensor]:
    """Whether a value is a traced tensor."""
    return isinstance(value, classes.tensor)
