# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Adjoint: tensor programs with gradients, compiled and called on NumPy arrays.

program = adjoint.compile("model.mlir")
loss, gradient = program(weights, images)
"""

import contextlib
from importlib.metadata import version

from . import diff, nn, numpy, ops, optim, random, tree
from ._branches import cond
from ._check_gradients import check_gradients
from ._compile import compile, load
from ._device import DeviceArray, TransferCounts, device_get, device_put, transfer_counts
from ._derivatives import grad, stop_gradient, value_and_grad, vjp
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
    NonFiniteLossError,
    OptionError,
    OptionTypeError,
    ProgramError,
    TargetUnavailableError,
    TemporaryFileError,
    ToolError,
    TraceError,
    TracingError,
)
from ._fuse_groups import fuse_group
from ._hints import complete
from ._jit import jit
from ._loops import fori_loop, while_loop
from ._missing import checkpoint, custom_jvp, custom_vjp, jvp, vmap
from ._program import Program
from ._scan import scan
from ._signature import Signature, TensorSpec
from ._stages import Picture, Report
from ._streams import feed, receive
from ._tensor import Tensor
from ._traced_program import TracedProgram
from ._trainer import Trained, Trainer
from ._types import Spec, spec

with contextlib.suppress(ImportError):  # where einops is installed
    from . import _einops  # noqa: F401

complete(__name__)

__version__ = version("adjoint-mlir")
__all__ = [
    "ArgumentMemoryError",
    "ArgumentShapeError",
    "ArgumentTypeError",
    "CheckError",
    "CompileError",
    "DeviceArray",
    "Diagnostic",
    "Error",
    "FileError",
    "MissingFileError",
    "NonFiniteLossError",
    "OptionError",
    "OptionTypeError",
    "Picture",
    "Program",
    "ProgramError",
    "Report",
    "Signature",
    "Spec",
    "TargetUnavailableError",
    "TemporaryFileError",
    "Tensor",
    "TensorSpec",
    "ToolError",
    "TraceError",
    "TracedProgram",
    "TracingError",
    "Trained",
    "Trainer",
    "TransferCounts",
    "check_gradients",
    "checkpoint",
    "compile",
    "cond",
    "device_get",
    "device_put",
    "custom_jvp",
    "custom_vjp",
    "diff",
    "feed",
    "fori_loop",
    "fuse_group",
    "grad",
    "jit",
    "jvp",
    "load",
    "nn",
    "numpy",
    "ops",
    "optim",
    "random",
    "receive",
    "scan",
    "spec",
    "stop_gradient",
    "transfer_counts",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
