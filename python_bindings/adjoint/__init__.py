# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Adjoint: tensor programs with gradients, compiled and called on NumPy arrays.

program = adjoint.compile("model.mlir")
loss, gradient = program(weights, images)
"""

from importlib.metadata import version

from . import diff
from ._errors import (
    ArgumentMemoryError,
    ArgumentShapeError,
    ArgumentTypeError,
    CheckError,
    CompileError,
    Diagnostic,
    Error,
    FileError,
    MissingFileError,
    OptionError,
    OptionTypeError,
    ProgramError,
    TargetUnavailableError,
    TemporaryFileError,
    ToolError,
    TraceError,
)
from ._program import Program, compile
from ._signature import Signature, TensorSpec

__version__ = version("adjoint")
__all__ = [
    "ArgumentMemoryError",
    "ArgumentShapeError",
    "ArgumentTypeError",
    "CheckError",
    "CompileError",
    "Diagnostic",
    "Error",
    "FileError",
    "MissingFileError",
    "OptionError",
    "OptionTypeError",
    "Program",
    "ProgramError",
    "Signature",
    "TargetUnavailableError",
    "TemporaryFileError",
    "TensorSpec",
    "ToolError",
    "TraceError",
    "compile",
    "diff",
]
