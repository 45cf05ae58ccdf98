# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions that call themselves without end while they are traced."""

from __future__ import annotations

import collections
import contextlib
import traceback
from collections.abc import Iterator

from ._builder import is_inside
from ._errors import TracingError

#: A function with fewer calls in progress is not the cause.
_FEW = 20


@contextlib.contextmanager
def ended_recursion() -> Iterator[None]:
    """Names the function where Python's limit of recursion ends a trace."""
    try:
        yield
    except RecursionError as error:
        calls = collections.Counter(
            (frame.f_code, line) for frame, line in traceback.walk_tb(error.__traceback__) if not is_inside(frame.f_code)
        )
        (code, line), count = calls.most_common(1)[0] if calls else ((None, 0), 0)
        if code is None or count < _FEW:
            raise
        raise TracingError(
            f"{code.co_name} calls itself {count} deep while it is traced, at {code.co_filename}:{line}, which is Python's "
            "limit; a traced value ends no recursion, since both branches of a condition are traced: use "
            "adjoint.while_loop or adjoint.fori_loop, or let a static number end it"
        ) from None
