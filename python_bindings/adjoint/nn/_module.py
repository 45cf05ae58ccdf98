# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The base of layers: a tree whose leaves are its parameters."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import _adjoint, tree
from .._builder import is_tracing
from .._checks import flag, whole
from .._device import DeviceArray
from .._eager import eager
from .._errors import Error, OptionError
from .._narrow import convert
from .._philox import normal, uniform
from .._signature import DTYPES
from .._statistics import are_trained
from .._tensor import Tensor
from .._types import FLOATS, Spec, element_of
from .._value import is_tensor


def _has_parameters(value: Any) -> bool:
    if isinstance(value, (np.ndarray, DeviceArray, Tensor, Spec, Module)):
        return True
    if isinstance(value, (list, tuple)):
        return any(map(_has_parameters, value))
    return isinstance(value, dict) and any(map(_has_parameters, value.values()))


class Module:
    """A layer. What it holds that is an array, a module, or a list or dict of these, is a child of the tree; the rest
    is its configuration. So a model is an argument of a traced function as any other tree is, and its gradient is a
    model."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)

        def unflatten(rest: Any, children: Sequence[Any]) -> Any:
            made = object.__new__(cls)
            names, others = rest
            vars(made).update(zip(names, children))
            vars(made).update((name, value) for name, value, _ in others)
            return made

        tree.register(cls, flatten_module, unflatten)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """The result of `forward`. Outside of a traced function it is compiled and run on arrays."""
        if not is_tracing():
            return _run(self, *arguments, **keywords)
        try:
            return self.forward(*arguments, **keywords)
        except Error as error:
            # From the innermost layer to the model. Python 3.10 has no notes.
            if hasattr(error, "add_note"):
                error.add_note(f"in the layer {self._title()}")
            raise

    def _title(self) -> str:
        """Its type, and the shapes of the parameters that are its own."""
        own = [f"{name} {value.shape}" for name, value in vars(self).items() if hasattr(value, "shape")]
        return f"{type(self).__name__} ({', '.join(own)})" if own else type(self).__name__

    def forward(self, *arguments: Any, **keywords: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def state_dict(self) -> dict[str, Any]:
        """The parameters by the names that PyTorch gives them."""
        return parameters_of(self)

    def parameters(self) -> Iterator[Any]:
        """What is trained."""
        leaves, form = tree.flatten(self)
        return (leaf for leaf, is_trained in zip(leaves, are_trained(form)) if is_trained)

    def train(self, mode: bool = True) -> Any:
        """This model for training: layers that have `training` are in that mode."""
        return _in_mode(self, flag("mode", mode))

    def eval(self) -> Any:
        """This model for use."""
        return self.train(False)

    def load_state_dict(self, state: Mapping[str, Any]) -> Any:
        """This model with other parameters: arrays, or tensors of PyTorch in CPU memory, by name."""
        return with_parameters(self, state)

    def astype(self, dtype: Any) -> Any:
        """This model with parameters of another element type."""
        element = element_of(dtype)
        return tree.map(lambda leaf: leaf.astype(element) if is_tensor(leaf) else convert(leaf, element), self)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {getattr(value, 'shape', '')}" for name, value in self.state_dict().items())
        return f"<{type(self).__name__} {sizes}>"


def _in_mode(value: Any, training: bool) -> Any:
    if isinstance(value, Module):
        made = copy.copy(value)
        vars(made).update({name: _in_mode(child, training) for name, child in vars(made).items()})
        if "training" in vars(made):
            vars(made)["training"] = training
        return made
    if isinstance(value, dict):
        return {name: _in_mode(child, training) for name, child in value.items()}
    return type(value)(_in_mode(child, training) for child in value) if type(value) in (list, tuple) else value


@eager()
def _run(model: Module, *arguments: Any, **keywords: Any) -> Any:
    return model(*arguments, **keywords)


def parameters_of(model: Any) -> dict[str, Any]:
    """The leaves of a tree by their names."""
    leaves, form = tree.flatten(model)
    names = tree.names(form)
    if len(set(names)) < len(names):
        raise OptionError(f"expected parameters of different names, got {', '.join(names)}")
    return dict(zip(names, leaves))


def with_parameters(model: Any, state: Mapping[str, Any]) -> Any:
    """The tree with other leaves, by name."""
    own = parameters_of(model)
    missing = [name for name in own if name not in state]
    # PyTorch's BatchNorm counts its batches, which changes nothing unless it has no momentum.
    unknown = [name for name in state if name not in own and name.split(".")[-1] != "num_batches_tracked"]
    if missing or unknown:
        raise OptionError(
            f"expected the parameters {', '.join(own)}; missing: {', '.join(missing) or 'none'}, "
            f"unknown: {', '.join(unknown) or 'none'}"
        )
    values = []
    for name, leaf in own.items():
        try:
            given = as_array(state[name])
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise OptionError(f"{name}: expected an array, or a tensor in CPU memory: {error}") from error
        if given.shape != leaf.shape:
            raise OptionError(f"{name}: expected the shape {leaf.shape}, got {given.shape}")
        values.append(convert(given, element_of(leaf.dtype)))
    return tree.unflatten(tree.structure(model), values)


def as_array(value: Any) -> np.ndarray:
    """An array of a value: also of a tensor of PyTorch whose element type NumPy lacks."""
    value = value.detach() if hasattr(value, "detach") else value
    try:
        return np.asarray(value)
    except TypeError:
        if not hasattr(value, "__dlpack__") or value.__dlpack_device__()[0] != 1:  # the CPU
            raise
        element, bits = _adjoint.import_bits(value.__dlpack__())
        return bits.view(DTYPES[element])


def flatten_module(module: Module) -> tuple[list[Any], Any, list[str]]:
    held = vars(module)
    names = [name for name, value in held.items() if _has_parameters(value)]
    # With their types: 2 equals 2.0.
    rest = tuple((name, value, type(value)) for name, value in held.items() if name not in names)
    return [held[name] for name in names], (tuple(names), rest), names


class Initializer:
    """Draws the first values of parameters, each by a key of its own that is made of one seed."""

    def __init__(self, key: int):
        self.key, self.count = key, 0

    def uniform(self, shape: Sequence[int], bound: float, dtype: Any) -> np.ndarray:
        """Numbers in [-bound, bound), those of adjoint.random.uniform."""
        self.count += 1
        drawn = uniform((self.key, self.count), int(np.prod(shape)))
        return convert((2 * drawn - 1) * bound, _float_type(dtype)).reshape(tuple(shape))

    def normal(self, shape: Sequence[int], dtype: Any) -> np.ndarray:
        """Numbers of the normal distribution."""
        self.count += 1
        return convert(normal((self.key, self.count), int(np.prod(shape))), _float_type(dtype)).reshape(tuple(shape))


#: Of layers without a key: other values for each, the same ones in each run.
_unkeyed = Initializer(0)


def initializer(key: int | Initializer | None) -> Initializer:
    if key is None:
        return _unkeyed
    return key if isinstance(key, Initializer) else Initializer(whole("key", key, -(2**63)))


def _float_type(dtype: Any) -> str:
    element = element_of(dtype)
    if element not in FLOATS:
        raise OptionError(f"expected dtype as a type of floats for parameters, got {element}")
    return element


def ones(shape: Sequence[int], dtype: Any) -> np.ndarray:
    return convert(np.ones(tuple(shape)), _float_type(dtype))


def zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
    return convert(np.zeros(tuple(shape)), _float_type(dtype))
