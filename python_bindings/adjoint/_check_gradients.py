# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradients against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import tree
from ._derivatives import value_and_grad
from ._errors import ArgumentTypeError, CheckError
from ._jit import jit
from ._device import device_get
from ._narrow import convert
from ._signature import DTYPES
from ._types import FLOATS, element_of


def _widened(leaf: Any) -> Any:
    """Floats in f64, other values as they are."""
    if isinstance(leaf, float):
        return np.float64(leaf)
    if isinstance(leaf, (np.ndarray, np.generic)) and element_of(leaf.dtype) in FLOATS:
        return convert(leaf, "f64")
    return leaf


def check_gradients(
    function: Callable[..., Any],
    *arguments: Any,
    argnums: int | tuple[int, ...] = 0,
    directions: int = 4,
    step: float = 1e-5,
    tolerance: float = 1e-6,
    **options: Any,
) -> float:
    """The largest error of the derivatives of a function, a float of rank 0, along random directions of its arguments:
    of that of `grad` against a central difference, both in f64, relative to the larger one or 1. Raises CheckError if
    it exceeds the tolerance. `options` are those of adjoint.jit."""
    widened = tree.map(_widened, device_get(arguments))
    positions = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    value = jit(function, **options)
    _, gradients = jit(value_and_grad(function, positions), **options)(*widened)
    leaves = [leaf for position in positions for leaf in tree.leaves(widened[position])]
    if not leaves or any(np.asarray(leaf).dtype != DTYPES["f64"] for leaf in leaves):
        raise ArgumentTypeError("expected floats in the arguments that the gradient is of")
    random, worst = np.random.default_rng(0), 0.0
    for _ in range(directions):
        tangent = [random.standard_normal(np.shape(leaf)) for leaf in leaves]

        def moved(distance: float, tangent: list[Any] = tangent) -> float:
            parts = iter(tangent)
            shifted = list(widened)
            for position in positions:
                shifted[position] = tree.map(lambda leaf: leaf + distance * next(parts), widened[position])
            return float(value(*shifted))

        measured = (moved(step) - moved(-step)) / (2 * step)
        derived = sum(float((np.asarray(one) * other).sum()) for one, other in zip(tree.leaves(gradients), tangent))
        worst = max(worst, abs(measured - derived) / max(1.0, abs(measured), abs(derived)))
    if not worst <= tolerance:
        raise CheckError(f"the derivatives differ from central differences by {worst:.3g}, more than {tolerance:.3g}")
    return worst
