# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Checkpoints of training: what it has reached, whole or not at all, and what it was trained as."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import tempfile
import warnings
import zipfile
import zlib
from typing import Any

import numpy as np

from . import tree
from ._descriptions import differences
from ._errors import OptionError, make_file_error
from ._files import whole_file
from ._signature import DTYPES
from ._types import element_of

#: What NumPy, zipfile and json raise for files that are no checkpoints.
_DAMAGE: tuple[type[Exception], ...] = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclasses.dataclass(frozen=True)
class Description:
    """Texts by name. With other types the model is another one, and so is a checkpoint; settings may change."""

    types: dict[str, str]
    settings: dict[str, str]


def save(path: pathlib.Path, values: Any, step: int, losses: list[float], description: Description) -> None:
    # NumPy's files have no bf16: its bytes.
    arrays: dict[str, Any] = {
        f"leaf_{index}": leaf.reshape(-1).view(np.uint8) if leaf.dtype.kind == "V" else leaf
        for index, leaf in enumerate(map(np.asarray, tree.leaves(values)))
    }
    losses_text = [float(loss).hex() for loss in losses]
    about = json.dumps({"step": step, "losses": losses_text, **dataclasses.asdict(description)})
    with whole_file(path) as file:
        np.savez(file, about=np.frombuffer(about.encode(), np.uint8), **arrays)


def require_writable(path: pathlib.Path) -> None:
    """Before anything is computed that could not be kept."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise make_file_error(error, str(path.parent), "write") from error


def restore(
    path: pathlib.Path, leaves: list[Any], description: Description
) -> tuple[list[Any], int, list[float]] | None:
    """(leaves, step, losses) of the checkpoint, which has to fit the model; None if there is none."""
    if not path.exists():
        return None
    about, values = _read(path)
    _compare(path, about, description)
    if len(values) != len(leaves):
        raise OptionError(f"the checkpoint {path} has {len(values)} tensors, the model and its optimizer {len(leaves)}")
    read = [_as_leaf(path, value, leaf) for value, leaf in zip(values, leaves)]
    return read, int(about["step"]), [float.fromhex(loss) for loss in about["losses"]]


def _compare(path: pathlib.Path, about: dict[str, Any], description: Description) -> None:
    """Raises for other types, and warns of other settings. Checkpoints of earlier versions have neither."""
    if about["types"] is not None and (found := differences(about["types"], description.types)):
        raise OptionError(
            f"the checkpoint {path} is of another model or optimizer: {found}; use that one, or another folder"
        )
    if about["settings"] is not None and (found := differences(about["settings"], description.settings)):
        warnings.warn(
            f"the checkpoint {path} was trained with other settings: {found}; the new ones hold from here on",
            RuntimeWarning,
            stacklevel=4,
        )


def _as_leaf(path: pathlib.Path, value: np.ndarray, leaf: Any) -> np.ndarray:
    dtype = DTYPES[element_of(leaf.dtype)]
    if value.dtype != dtype and value.size == dtype.itemsize * np.size(leaf):
        value = value.view(dtype).reshape(np.shape(leaf))
    if value.shape != np.shape(leaf) or value.dtype != dtype:
        raise OptionError(
            f"the checkpoint {path} has a tensor of {value.dtype} with shape {value.shape}, the model one of "
            f"{dtype} with shape {np.shape(leaf)}"
        )
    return value


def _read(path: pathlib.Path) -> tuple[dict[str, Any], list[np.ndarray]]:
    """What is known of the steps, and the tensors."""
    try:
        with np.load(path) as file:
            about = json.loads(file["about"].tobytes())
            names = sorted((name for name in file.files if name.startswith("leaf_")), key=lambda name: int(name[5:]))
            known = {name: about.get(name) and dict(about[name]) for name in ("types", "settings")}
            return {"step": int(about["step"]), "losses": about["losses"], **known}, [file[name] for name in names]
    except OSError as error:
        raise make_file_error(error, str(path)) from error
    except _DAMAGE as error:
        raise OptionError(
            f"{str(path)!r} is no checkpoint of a trainer, or is damaged ({error}); remove it to begin anew"
        ) from error
