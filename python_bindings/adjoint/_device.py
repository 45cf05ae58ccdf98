# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays in the memory of a device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import _adjoint
from ._errors import ArgumentMemoryError, ArgumentTypeError, OptionError, TargetUnavailableError
from ._signature import DTYPES, STORAGE, format_type

#: Where results stay on the device, and where arrays are those of NumPy.
DEVICE_TARGETS = ("gpu-sim", "cuda")
HOST_TARGETS = ("cpu", "reference")
_CPU, _CUDA = 1, 2  # devices of DLPack
_LEGACY_STREAM = 1  # on which other libraries order their work for us


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in the memory of a device: of the target `target`, with the `shape` and `dtype` of NumPy's.

    Programs of that target take and return it without a copy. Whatever needs the elements copies them to the host: `np.asarray`,
    `float`, printing, indexing, operators, and the attributes of NumPy's arrays, such as `.sum()`. Elements cannot be written;
    `np.array(x)` is a copy that can. An array that was donated to a call is gone: its memory belongs to the result.
    """

    __slots__ = ("_tensor", "__weakref__")

    def __init__(self, tensor: _adjoint.DeviceTensor):
        """Arrays come from `device_put` and from programs."""
        self._tensor = tensor
        DeviceArray._were_made = True

    #: Whether this process has made a device array; eager functions look for them then.
    _were_made = False

    @property
    def shape(self) -> tuple[int, ...]:
        return self._tensor.shape

    @property
    def element_type(self) -> str:
        return self._tensor.type

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self._tensor.type]

    @property
    def ndim(self) -> int:
        return len(self._tensor.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self._tensor.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def target(self) -> str:
        return self._held().target

    @property
    def is_donated(self) -> bool:
        """Whether a call has taken the memory, so that the array has no elements any more."""
        return self._tensor.is_donated

    @property
    def is_read_only(self) -> bool:
        """Whether it shares memory of another library that must not be written."""
        return self._tensor.is_read_only

    def _held(self) -> _adjoint.DeviceTensor:
        if self._tensor.is_donated:
            kind = format_type(self.element_type, self.shape)
            raise ArgumentMemoryError(
                f"this device array of {kind} was donated to a call, whose result has its memory; use the result"
            )
        return self._tensor

    def copy(self) -> DeviceArray:
        """A copy on the device."""
        return DeviceArray(self._held().copy())

    __copy__ = copy

    def __deepcopy__(self, _: Any) -> DeviceArray:
        return self.copy()

    def __reduce__(self) -> Any:
        return _restore, (self._read(), self.element_type, self.target)

    # The elements on the host.

    def _read(self) -> np.ndarray:
        """A copy; of types that NumPy lacks as unsigned integers."""
        return self._held().read()

    def _on_host(self) -> np.ndarray:
        made = self._read()
        return made.view(self.dtype) if self.element_type in STORAGE else made

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the elements of a device array are not in the memory of the host; they can only be copied")
        made = self._on_host()
        return made if dtype is None else made.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(hasattr(type(value), "__array_ufunc__") and not isinstance(value, ARRAYS) for value in inputs):
            return NotImplemented  # traced values
        if any(isinstance(value, DeviceArray) for value in options.get("out", ())):
            raise ArgumentMemoryError("a device array cannot be written; np.array(x) is a copy on the host that can")
        return getattr(ufunc, method)(*map(on_host, inputs), **options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"a device array has no {name!r}")
        array = self._on_host()
        array.flags.writeable = False  # what writes to it would write to a copy
        return getattr(array, name)

    def __getitem__(self, index: Any) -> Any:
        return self._on_host()[index]

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ArgumentMemoryError("a device array cannot be written; np.array(x) is a copy on the host that can")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array of rank 0 has no length")
        return self.shape[0]

    def __iter__(self) -> Any:
        return iter(self._on_host())

    def __bool__(self) -> bool:
        return bool(self._on_host())

    def __int__(self) -> int:
        return int(self._on_host())

    def __float__(self) -> float:
        return float(self._on_host())

    def __index__(self) -> int:
        return self._on_host().__index__()

    def __format__(self, form: str) -> str:
        return format(self._on_host()[()] if not self.shape else self._on_host(), form)

    def __str__(self) -> str:
        return str(self._on_host())

    def __repr__(self) -> str:
        kind = format_type(self.element_type, self.shape)
        if self.is_donated:
            return f"<adjoint.DeviceArray {kind}, donated>"
        return f"<adjoint.DeviceArray {kind} on {self.target}: {np.array2string(self._on_host(), threshold=20)}>"

    # Other libraries.

    def __dlpack_device__(self) -> tuple[int, int]:
        return _adjoint.dlpack_device(self.target), 0

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule that shares the memory, or has a copy of it. Calls of programs have written it when they return, so that
        every stream may read it."""
        tensor = self._held()
        if self.__dlpack_device__()[0] == _CUDA and stream == 0:
            raise ValueError("the stream 0 is ambiguous in DLPack; expected None, -1, 1, 2 or the handle of a stream")
        if dl_device is not None and tuple(map(int, dl_device)) == (_CPU, 0):
            if copy is False:
                raise BufferError("a device array cannot be shared with the host without a copy")
            return self._on_host().__dlpack__()
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"a device array of {self.target} cannot be on device {tuple(dl_device)} of DLPack")
        is_versioned = max_version is not None and max_version[0] >= 1
        if tensor.is_read_only and not is_versioned:
            raise BufferError("a read-only array needs version 1 of DLPack")
        return (tensor.copy() if copy else tensor).capsule(is_versioned)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        tensor = self._held()
        if tensor.target != "cuda" or self.element_type in STORAGE:
            raise AttributeError("the array is not in the memory of CUDA, or NumPy has no name for its element type")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (tensor.address, tensor.is_read_only),
            "strides": None,
            "stream": None,  # all work on it is done
            "version": 3,
        }


#: Arrays that traced functions take as tensors.
ARRAYS = (np.ndarray, np.generic, DeviceArray)
_adjoint.set_device_array_class(DeviceArray)


def target_of(leaves: Sequence[Any]) -> str | None:
    """The target of the first device array."""
    return next((leaf.target for leaf in leaves if isinstance(leaf, DeviceArray)), None)


def on_host(value: Any) -> Any:
    return value._on_host() if isinstance(value, DeviceArray) else value


def _restore(storage: np.ndarray, element_type: str, target: str) -> DeviceArray:
    return _put(storage, element_type, target)


def _put(storage: np.ndarray, element_type: str, target: str) -> DeviceArray:
    try:
        return DeviceArray(_adjoint.put(storage, element_type, target))
    except ValueError as error:
        raise TargetUnavailableError(f"target '{target}' is not available: {error}") from None


def is_foreign(value: Any, target: str) -> bool:
    """Whether a value of another library may be in the memory of the device of `target`."""
    if isinstance(value, ARRAYS) or target not in DEVICE_TARGETS:
        return False
    if target == "cuda" and hasattr(value, "__cuda_array_interface__"):
        return True
    get = getattr(type(value), "__dlpack_device__", None)
    return get is not None and int(get(value)[0]) == _adjoint.dlpack_device(target)


def share(value: Any, target: str) -> DeviceArray:
    """A device array in the memory of an array of another library, by DLPack or else by the CUDA array interface."""
    try:
        if hasattr(type(value), "__dlpack__"):
            return _share_capsule(value, target)
        return _share_address(value, target)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        name = f"{type(value).__module__}.{type(value).__name__}"
        raise ArgumentTypeError(f"a {name} cannot be shared with '{target}': {error}") from error


def _share_capsule(value: Any, target: str) -> DeviceArray:
    # The other library orders its work before ours: ours begins when the stream is idle.
    stream = _LEGACY_STREAM if target == "cuda" else None
    try:
        capsule = value.__dlpack__(stream=stream, max_version=(1, 1))
    except TypeError:
        capsule = value.__dlpack__(stream=stream)  # the protocol before 2023
    return DeviceArray(_adjoint.device_tensor_of_capsule(capsule, target, -1 if stream is None else stream))


def _share_address(value: Any, target: str) -> DeviceArray:
    about = value.__cuda_array_interface__
    dtype = np.dtype(about["typestr"])
    element_type = next((name for name, known in DTYPES.items() if known == dtype and name not in STORAGE), None)
    if element_type is None:
        raise ValueError(f"{about['typestr']} is no element type of Adjoint")
    shape = tuple(map(int, about["shape"]))
    if not _is_row_major(shape, about.get("strides"), dtype.itemsize):
        raise ValueError("it is not in row-major order; make it contiguous first")
    address, is_read_only = about["data"]
    stream = about.get("stream")
    return DeviceArray(
        _adjoint.device_tensor_at(
            int(address), element_type, shape, bool(is_read_only), value, target, -1 if stream is None else int(stream)
        )
    )


def _is_row_major(shape: Sequence[int], strides: Sequence[int] | None, item: int) -> bool:
    if strides is None or 0 in shape:
        return True
    expected = item
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def device_put(values: Any, target: str) -> Any:
    """The tree with its arrays in the memory of `target`: "cuda" or "gpu-sim". Programs of that target take them without a
    copy. Arrays of other libraries that are there already, such as PyTorch's tensors, share their memory; those that are there
    as device arrays stay as they are. The memory of "cpu" and "reference" is that of NumPy's arrays."""
    from . import tree

    if target not in (*DEVICE_TARGETS, *HOST_TARGETS):
        raise OptionError(f"unknown target '{target}'; targets are {', '.join((*HOST_TARGETS, *DEVICE_TARGETS))}")
    return tree.map(lambda leaf: _place(leaf, target), values)


def device_get(values: Any) -> Any:
    """The tree with copies of its device arrays as arrays of NumPy."""
    from . import tree

    return tree.map(on_host, values)


def _place(leaf: Any, target: str) -> Any:
    if target in HOST_TARGETS:
        return on_host(leaf)
    if isinstance(leaf, DeviceArray):
        if leaf.target == target:
            return leaf
        return _put(leaf._read(), leaf.element_type, target)
    if is_foreign(leaf, target):
        return share(leaf, target)
    if isinstance(leaf, (np.ndarray, np.generic)) or hasattr(type(leaf), "__dlpack__"):
        return _put(*_storage(leaf), target)
    return leaf


def _storage(value: Any) -> tuple[np.ndarray, str]:
    """The elements in row-major order, of types that NumPy lacks as unsigned integers, and the name of their type."""
    from ._arrays import prepare
    from ._signature import TensorSpec
    from ._types import element_of

    if isinstance(value, (np.ndarray, np.generic)):
        element_type = element_of(value.dtype)
        shape = value.shape
    else:
        from .nn._module import as_array

        value = as_array(value)
        element_type, shape = element_of(value.dtype), value.shape
    return prepare(TensorSpec("value", element_type, shape), value), element_type


class TransferCounts(NamedTuple):
    """Copies between host and device that this process has made."""

    to_device: int
    to_host: int


def transfer_counts() -> TransferCounts:
    """How many copies between host and device this process has made so far, of whole arrays and of single elements that
    programs read: the difference of two counts shows what a call has moved."""
    return TransferCounts(*_adjoint.transfer_counts())
