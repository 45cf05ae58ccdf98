# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Compiles and loads programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _adjoint
from ._errors import (
    MissingFileError,
    OptionError,
    OptionTypeError,
    Source,
    TracedSource,
    make_exception,
    make_file_error,
)
from ._options import CompileOptions, check_option, count_threads, make_options, with_options
from ._program import Program

if TYPE_CHECKING:
    from typing import Unpack  # since Python 3.11


@with_options(CompileOptions)
def compile(
    source: str | bytes | os.PathLike[str],
    *,
    name: str | None = None,
    source_type: type[Source] = Source,
    **given: Unpack[CompileOptions],
) -> Program:
    """Compiles a program in the `ad` dialect.

    `source` is the program or the name of its file: a string with a line break or a brace is a program, any other
    string is a name. The options are those of ad-runner:

    - `target` is "cpu", "reference" or "gpu-sim".
    - `numerics` is a mode and permissions, e.g. "reproducible" or "strict,reorder", instead of the module's own.
    - `precision` is a policy of mixed precision instead of the module's own: "bf16", "f16", "f8", "none", or the name
      of a file that ends with ".yaml".
    - `kernels` names implementations of operations, e.g. {"layer_norm": "welford"}; see docs/named-kernels.md.
    - `threads` is the maximum number of threads of a call: 0 for all CPUs that the process may use, None for the value
      of the variable ADJOINT_NUM_THREADS, or 0 if it is not set. All programs share one pool of threads.
    - `cpu` is the CPU to compile for, instead of this machine's.
    - `cache` is the folder of compiled programs, or "off".
    - With `optimize=False` the program is not simplified.
    - With `allow_native=True` the program may have code of the LLVM and GPU dialects, which may do whatever this
      process may do.
    - `name` is the name of the file in messages, and `source_type` what shows its lines there.

    Raises CompileError, FileError, OptionError or TargetUnavailableError.
    """
    options = make_options(**given)
    check_option("name", None if name == "" else name, str, optional=True)
    text, name = _read(source, name)
    name = name.encode(errors="replace").decode()
    program = _adjoint.compile(text, name, options)
    shown = source_type(text, name)
    if isinstance(program, _adjoint.Failure):
        raise make_exception(program, shown)
    return Program(program, shown, options)


def load(path: str | os.PathLike[str], *, threads: int | None = None) -> Program:
    """Loads a compiled program, a file that `save` or `ad-runner --emit` wrote. Arguments whose values are in the file
    need not be given. It has native code: load files of authors whom you trust. `threads` is that of `compile`.

    Raises FileError, OptionError if this is no such file or it is damaged, or TargetUnavailableError.
    """
    check_option("path", path, (str, os.PathLike))
    name = os.fsdecode(path)
    program = _adjoint.load(_read_file(name), name, count_threads(threads))
    source = TracedSource(b"", name)
    if isinstance(program, _adjoint.Failure):
        raise make_exception(program, source)
    return Program(program, source, None)


def _read(source: str | bytes | os.PathLike[str], name: str | None) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        return source, name or "<bytes>"
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source.encode(errors="surrogatepass"), name or "<string>"
    if not isinstance(source, (str, os.PathLike)):
        raise OptionTypeError(f"expected str, bytes or os.PathLike object as the program, got {type(source).__name__}")
    path = os.fsdecode(source)
    try:
        return _read_file(path), name or path
    except MissingFileError as error:
        error.hint = "; a string is a program, not a name, if it has a line break or a brace"
        raise


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise make_file_error(error, path) from error
    except ValueError as error:  # a null character
        raise OptionError(f"cannot read {path!r}: {error}") from error
