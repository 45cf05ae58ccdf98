# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which operations share kernels, as the user wants it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ._builder import current
from ._errors import OptionError, OptionTypeError


@contextlib.contextmanager
def fuse_group(name: str | None = None) -> Iterator[None]:
    """Operations that are traced inside share kernels with each other alone, and with those of other groups of the same
    name; so do the operations of their derivatives. Of groups in one another the inner one counts. No bit changes.
    For functions that are traced alone.

    with adjoint.fuse_group():
        weights = adjoint.nn.functional.softmax(scores)
    """
    if name is not None and not isinstance(name, str):
        raise OptionTypeError(f"expected the name of a group as a str, got {name!r}")
    if name == "":
        raise OptionError("expected a name of a group, got ''; without one, leave it out")
    trace = current()
    trace.unnamed_groups += name is None
    outer, trace.fuse_group = trace.fuse_group, name or f"group {trace.unnamed_groups}"
    try:
        yield
    finally:
        trace.fuse_group = outer
