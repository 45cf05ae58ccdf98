# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels of linalg as upstream compiles them: each operation is a nest of loops that writes its result to memory."""

import ctypes
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np

import elements

PASSES = ["--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map",
          "--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine", "--convert-scf-to-cf",
          "--convert-math-to-llvm", "--convert-arith-to-llvm", "--finalize-memref-to-llvm", "--convert-func-to-llvm",
          "--convert-cf-to-llvm", "--reconcile-unrealized-casts"]
# Copies of strided memory.
RUNTIME = ["-L/usr/lib/llvm-22/lib", "-Wl,-rpath,/usr/lib/llvm-22/lib", "-lmlir_c_runner_utils"]
TOOLS = ["mlir-opt-22", "mlir-translate-22", "clang-22"]


def is_available():
    return all(shutil.which(tool) for tool in TOOLS)


def _function(kernel, name):
    """The kernel as a function with the C interface."""
    head, body = kernel.function(name).split("{kernel_class", 1)
    head = head.replace("ad.kernel private", "func.func")
    return head + "{llvm.emit_c_interface} {\n" + body.split("{\n", 1)[1].replace("  ad.yield", "  return")


def _call(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr[:2000]}")
    return done.stdout


def _descriptor(array):
    """A memref: two pointers, an offset, sizes, strides."""
    strides = [stride // array.itemsize for stride in array.strides]
    return np.array([array.ctypes.data, array.ctypes.data, 0, *array.shape, *strides], np.int64)


def _results(values, words):
    # Their memory is never freed: it may be an argument, a constant, or that of another result.
    arrays, at = [], 0
    for value in values:
        rank, dtype = len(value.sizes), np.dtype(elements.STORAGE[value.element])
        shape = tuple(words[at + 3:at + 3 + rank])
        count = int(np.prod(shape, dtype=np.int64))
        data = ctypes.string_at(int(words[at + 1]), count * dtype.itemsize) if count else b""
        arrays.append(np.frombuffer(data, dtype).reshape(shape))
        at += 3 + 2 * rank
    return arrays


def build(text, folder, passes=PASSES, name="kernels"):
    """The functions of a module, which have the C interface, as a library of that name. RuntimeError if upstream does
    not lower it."""
    # Conversions of narrow floats keep an attribute that the LLVM dialect does not have.
    lowered = _call(["mlir-opt-22", *passes], text).replace(" {fastmath = #arith.fastmath<contract>}", "")
    text = _call(["mlir-translate-22", "--mlir-to-llvmir"], lowered)
    path = pathlib.Path(folder) / f"{name}.so"
    _call(["clang-22", "-O1", "-w", "-x", "ir", "-", "-shared", "-fPIC", "-lm", *RUNTIME, "-o", str(path)], text)
    return ctypes.CDLL(str(path))


def call(library, name, arrays, results):
    """The results, values of known element types and ranks, of a function of the library."""
    arrays = [np.array(array, order="C") for array in arrays]
    operands = [_descriptor(array) for array in arrays]
    words = np.zeros(sum(3 + 2 * len(value.sizes) for value in results), np.int64)
    pointers = [ctypes.c_void_p(words.ctypes.data)] + [ctypes.c_void_p(d.ctypes.data) for d in operands]
    getattr(library, f"_mlir_ciface_{name}")(*pointers)
    return _results(results, words)


def run(kernels):
    """The results of each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        library = build("".join(_function(kernel, f"k{i}") for i, kernel in enumerate(kernels)), folder)
        return [call(library, f"k{i}", [value.array for value in kernel.arguments], kernel.results)
                for i, kernel in enumerate(kernels)]
