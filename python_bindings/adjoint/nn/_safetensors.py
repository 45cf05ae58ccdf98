# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Models in files of safetensors, with the names of PyTorch."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import numpy as np

from .._errors import OptionError, ToolError, make_file_error
from .._files import whole_file
from .._options import check_option
from .._signature import DTYPES, STORAGE, ml_dtypes
from .._types import FLOATS, element_of
from ._module import parameters_of, with_parameters

#: Element types by the names of the format.
_ELEMENTS = {
    "F64": "f64",
    "F32": "f32",
    "F16": "f16",
    "BF16": "bf16",
    "F8_E4M3": "f8E4M3FN",
    "F8_E5M2": "f8E5M2",
    "BOOL": "i1",
    "I8": "i8",
    "I32": "i32",
    "I64": "i64",
}


def save_safetensors(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes the parameters of a model, or the arrays of any tree, by the names of `state_dict`. The file is written
    whole or not at all; PyTorch and Hugging Face read it.

    Raises FileError, or ToolError if the package safetensors is missing.
    """
    check_option("path", path, (str, os.PathLike))
    library, arrays = _library(), {}
    for name, value in parameters_of(model).items():
        array = np.asarray(value, order="C")
        _require_dtypes(name, element_of(array.dtype))
        arrays[name] = array
    try:
        data = library.numpy.save(arrays, metadata={"format": "pt"})
    except library.SafetensorError as error:
        raise OptionError(f"the tensors cannot be saved: {error}") from error
    with whole_file(pathlib.Path(path)) as file:
        file.write(data)


def load_safetensors(model: Any, path: str | os.PathLike[str]) -> Any:
    """The model with the parameters of a file, by the names of `state_dict`: of one that `save_safetensors` wrote, or
    PyTorch. Floats are converted to the types of the model.

    Raises FileError, OptionError if this is no such file, it is damaged or does not fit the model, or ToolError if the
    package safetensors is missing.
    """
    check_option("path", path, (str, os.PathLike))
    library, name = _library(), os.fsdecode(path)
    try:
        tensors = dict(library.deserialize(pathlib.Path(name).read_bytes()))
    except OSError as error:
        raise make_file_error(error, name) from error
    except library.SafetensorError as error:
        raise OptionError(f"{name!r} is no file of safetensors, or it is damaged: {error}") from error
    try:
        own = parameters_of(model)
        state = {key: _read(key, value, own.get(key)) for key, value in tensors.items()}
        return with_parameters(model, state)
    except OptionError as error:
        raise type(error)(f"{name!r} does not fit the model: {error}") from error


def _library() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ToolError("the package safetensors is not installed; pip install 'adjoint-mlir[safetensors]'") from error
    return safetensors


def _require_dtypes(name: str, element: str) -> None:
    if element in STORAGE and ml_dtypes is None:
        raise ToolError(f"{name}: elements of {element} need the package ml_dtypes")


def _read(name: str, tensor: dict[str, Any], own: Any) -> np.ndarray:
    """The array of a tensor of a file. `own` is the parameter of the model, if it has one of that name."""
    element = _ELEMENTS.get(tensor["dtype"])
    if element is None:
        raise OptionError(f"{name}: no element type of Adjoint is {tensor['dtype']}")
    _require_dtypes(name, element)
    if own is not None:
        wanted = element_of(own.dtype)
        if wanted != element and not (wanted in FLOATS and element in FLOATS):
            raise OptionError(f"{name}: expected elements of {wanted}, got {element}")
    return np.frombuffer(tensor["data"], DTYPES[element]).reshape(tensor["shape"])
