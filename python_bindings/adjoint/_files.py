# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator
from typing import IO

from ._errors import make_file_error


@contextlib.contextmanager
def whole_file(path: pathlib.Path) -> Iterator[IO[bytes]]:
    """A file that takes its name when the block ends, with the permissions of a new file; a block that raises leaves
    nothing. Raises FileError with the name."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "xb") as file:
            yield file
        os.replace(temporary, path)
    except OSError as error:
        raise make_file_error(error, str(path), "write") from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
