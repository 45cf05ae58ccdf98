# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Converts the values that users pass to arrays that the runtime can use, or says why that is not possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _adjoint
from ._device import DeviceArray
from ._errors import ArgumentMemoryError, ArgumentShapeError, ArgumentTypeError
from ._signature import STORAGE, TensorSpec, format_type

# DLPack devices whose memory the CPU can read: the CPU, and pinned memory of CUDA and ROCm.
_HOST_DEVICES = (1, 3, 11)
_SCALARS = {"f": (int, float), "i": (int,), "b": (bool,)}


def prepare(
    spec: TensorSpec, value: Any, what: str = "argument", shape: tuple[int, ...] | None = None, copy: bool = False
) -> np.ndarray:
    """An array in row-major order with the elements of `value`. It is a copy if that is needed or requested.

    `shape` replaces the shape of `spec`. An array for a donated argument must be writable. A value that is no NumPy
    array, or has another layout, is copied.
    """
    expected = spec.shape if shape is None else shape
    subject = f"{what} '{spec.name}': expected {format_type(spec.element_type, expected)}"
    array = _as_array(spec, value, subject)
    _check_type(array, spec, expected, subject, _mend(array.dtype, spec))
    if spec.donated_to is not None:
        if isinstance(value, np.ndarray) and not value.flags.writeable:
            raise ArgumentMemoryError(
                f"{subject} that may be written, since the argument is donated, got a read-only array; give a copy"
            )
        copy = copy or type(value) is not np.ndarray
    return _to_storage(array, spec, copy)


def check_device_array(spec: TensorSpec, array: DeviceArray, target: str) -> None:
    """Raises for a device array that a program of `target` cannot take as the argument."""
    subject = f"argument '{spec.name}': expected {spec.type}"
    if array.is_donated:
        raise ArgumentMemoryError(f"{subject}, got a device array that was donated to an earlier call; use its result")
    if array.target != target:
        raise ArgumentTypeError(
            f"{subject} on {target}, got a device array on {array.target}; adjoint.device_put(x, {target!r}) copies it"
        )
    _check_type(array, spec, spec.shape, subject)
    if spec.donated_to is not None and array.is_read_only:
        raise ArgumentMemoryError(
            f"{subject} that may be written, since the argument is donated, got read-only memory; give a copy"
        )


def prepare_output(spec: TensorSpec, value: Any) -> np.ndarray:
    """The memory that a result is written to; raises if the program cannot write to it."""
    subject = f"output '{spec.name}': expected {spec.type}"
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError(f"{subject}, got {type(value).__name__}, which is no numpy.ndarray")
    _check_type(value, spec, spec.shape, subject)
    flags = value.flags
    if not flags.writeable:
        raise ArgumentMemoryError(f"{subject} that may be written, got a read-only array")
    if not (flags.c_contiguous and flags.aligned and value.dtype.isnative):
        raise ArgumentMemoryError(
            f"{subject} in row-major order, aligned and of native byte order, got strides {value.strides}"
        )
    return value.view(STORAGE[spec.element_type]) if spec.element_type in STORAGE else value


def from_storage(array: Any, spec: TensorSpec) -> Any:
    """An array of the runtime, with the element type of `spec`, or a device array."""
    return array.view(spec.dtype) if spec.element_type in STORAGE and isinstance(array, np.ndarray) else array


def _check_type(
    array: np.ndarray | DeviceArray, spec: TensorSpec, expected: tuple[int | None, ...], subject: str, mend: str = ""
) -> None:
    if not _has_type(array.dtype, spec):
        raise ArgumentTypeError(f"{subject}, got {_describe(array)}{mend}")
    fits = len(array.shape) == len(expected) and all(want in (None, size) for want, size in zip(expected, array.shape))
    if not fits:
        raise ArgumentShapeError(f"{subject}, got {_describe(array)}")


def _mend(dtype: np.dtype[Any], spec: TensorSpec) -> str:
    """What to write for an array of other numbers; NumPy makes f64 of most."""
    if spec.element_type in STORAGE or dtype.kind not in "fiu" or spec.dtype.kind not in "fiu":
        return ""
    return f"; convert it with .astype(numpy.{spec.dtype.name})"


def _describe(array: np.ndarray | DeviceArray) -> str:
    return f"an array of {array.dtype} with shape {array.shape}"


def _as_array(spec: TensorSpec, value: Any, subject: str) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray):
        raise ArgumentTypeError(f"{subject}, got a masked array; fill it first")
    if isinstance(value, (np.ndarray, np.generic, DeviceArray)):
        return np.asarray(value)
    if isinstance(value, (bool, int, float)) and not spec.shape:
        return _from_scalar(spec, value, subject)
    if hasattr(type(value), "__dlpack__") and hasattr(type(value), "__dlpack_device__"):
        return _from_dlpack(spec, value, subject)
    raise ArgumentTypeError(f"{subject}, got {type(value).__name__}, which is no array")


def _from_scalar(spec: TensorSpec, value: bool | int | float, subject: str) -> np.ndarray:
    """An array of a Python number, rounded once, if the number has the kind of the elements."""
    if spec.element_type in STORAGE or type(value) not in _SCALARS[spec.dtype.kind]:
        raise ArgumentTypeError(f"{subject}, got {type(value).__name__}")
    try:
        made: np.ndarray = _adjoint.in_own_state(np.array, value, spec.dtype)
        return made
    except OverflowError as error:
        raise ArgumentTypeError(f"{subject}, got {value}") from error


def _from_dlpack(spec: TensorSpec, value: Any, subject: str) -> np.ndarray:
    name = f"{type(value).__module__}.{type(value).__name__}"
    device = value.__dlpack_device__()[0]
    if device not in _HOST_DEVICES:
        raise ArgumentTypeError(
            f"{subject}, got a {name} in the memory of another device (number {int(device)} of DLPack)"
        )
    try:
        if spec.element_type not in STORAGE:
            return np.from_dlpack(value)
        element_type, bits = _adjoint.import_bits(_capsule(value))
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentTypeError(f"{subject}, got a {name} that does not hand over its elements: {error}") from error
    if element_type != spec.element_type:
        raise ArgumentTypeError(f"{subject}, got a {name} of {element_type}")
    return bits.view(spec.dtype)


def _capsule(value: Any) -> Any:
    try:
        return value.__dlpack__(max_version=(1, 1))
    except TypeError:
        return value.__dlpack__()  # the protocol before 2023


def _has_type(dtype: np.dtype[Any], spec: TensorSpec) -> bool:
    raw = spec.element_type in STORAGE and dtype == f"V{spec.dtype.itemsize}"
    return raw or bool(dtype.newbyteorder("=") == spec.dtype)


def _to_storage(array: np.ndarray, spec: TensorSpec, copy: bool) -> np.ndarray:
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned and array.dtype.isnative) or copy:
        array = array.astype(array.dtype.newbyteorder("="), order="C")
    if spec.element_type in STORAGE:
        return array.view(STORAGE[spec.element_type])
    if spec.element_type == "i1":
        # A view of other memory as booleans may contain any byte.
        return np.not_equal(array.view(np.uint8), 0)
    return array
