# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of JAX that Adjoint does not have, and what to use in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn


def _refusing(name: str, instead: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError(f"adjoint.{name} does not exist yet; {instead}")

    refuse.__name__ = name
    refuse.__doc__ = f"Does not exist yet; {instead}."
    return refuse


jvp = _refusing("jvp", "a product with the Jacobian is two uses of adjoint.vjp")
vmap = _refusing("vmap", "write the batch as a leading axis, which operators and adjoint.numpy broadcast over")
checkpoint = _refusing("checkpoint", "the compiler keeps what reverse needs")
custom_vjp = _refusing("custom_vjp", "docs/differentiation.md says how a dialect has rules of its own")
custom_jvp = _refusing("custom_jvp", "docs/differentiation.md says how a dialect has rules of its own")
