# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Streams of the host in a traced function: feeds, and receivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import ops
from ._builder import current
from ._errors import TracingError
from ._functions import as_tensors
from ._tensor import Tensor
from ._types import Spec


def feed(name: str, spec: Spec, sizes: Sequence[Any] = ()) -> Tensor:
    """The next tensor of a stream of the host, which a call gives in `feeds`. `sizes` are the dynamic sizes of the spec,
    in their order; those with the names of sizes of arguments are known."""
    if not isinstance(spec, Spec):
        raise TracingError(f"expected adjoint.spec(...) as the type of the feed {name!r}, got {type(spec).__name__}")
    dynamic = [size for size in spec.shape if not isinstance(size, int)]
    known = current().sizes
    given = list(sizes) if sizes else [known[size] for size in dynamic if size in known]
    if len(given) != len(dynamic):
        raise TracingError(
            f"the feed {name!r} of {spec} has the dynamic sizes {', '.join(map(str, dynamic))}, which are no sizes of "
            "arguments; give them with sizes=(...)"
        )
    return ops.feed(given, name=name, type=spec)


def receive(name: str, *values: Any) -> None:
    """Passes tensors to the host: to the function that a call gives in `receives`."""
    ops.receive(as_tensors(values, f"values of the receiver {name!r}"), name=name)
    current().has_receivers = True
