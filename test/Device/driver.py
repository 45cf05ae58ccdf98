# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""As much of the CUDA driver as launches a kernel of a PTX text, for questions about single instructions that no program
of ours asks. The driver is that of ADJOINT_LIBCUDA, or where the loader finds it."""

import ctypes
import os
import pathlib

import numpy as np

DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
LOG_BYTES, LOG, LOG_SIZE = 4096, 5, 6  # CU_JIT_ERROR_LOG_BUFFER and its size


def library():
    """OSError where there is none."""
    named = os.environ.get("ADJOINT_LIBCUDA")
    if named and pathlib.Path(named).is_dir():
        named = str(pathlib.Path(named) / "libcuda.so.1")
    return ctypes.CDLL(named or "libcuda.so.1")


class Device:
    """The first GPU. RuntimeError says which call failed."""

    def __init__(self):
        self.driver, self.stream = library(), ctypes.c_void_p()
        context, number = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(number), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), number)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", ctypes.byref(self.stream), 0)

    def call(self, name, *arguments):
        if code := getattr(self.driver, name)(*arguments):
            raise RuntimeError(f"{name} failed with {code}")

    def load(self, ptx):
        """A module; its kernels are found by name."""
        module, log = ctypes.c_void_p(), ctypes.create_string_buffer(LOG_BYTES)
        names = (ctypes.c_int * 2)(LOG, LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), LOG_BYTES)
        try:
            self.call("cuModuleLoadDataEx", ctypes.byref(module), ctypes.c_char_p(ptx.encode()), 2, names, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log.value.decode(errors='replace')}") from error
        return module

    def run(self, module, name, grid, threads, shared, inputs, result):
        """Launches a kernel whose arguments are arrays and then the result, an array that is overwritten."""
        kernel = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, name.encode())
        self.call("cuFuncSetAttribute", kernel, DYNAMIC_SHARED, shared)
        memory = [ctypes.c_uint64() for _ in range(len(inputs) + 1)]
        for address, array in zip(memory, [*inputs, result]):
            self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(array.nbytes))
            self.call("cuMemcpyHtoDAsync_v2", address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes),
                      self.stream)
        pointers = (ctypes.c_void_p * len(memory))(*(ctypes.addressof(address) for address in memory))
        self.call("cuLaunchKernel", kernel, *grid, 1, threads, 1, 1, shared, self.stream, pointers, None)
        self.call("cuMemcpyDtoHAsync_v2", ctypes.c_void_p(result.ctypes.data), memory[-1],
                  ctypes.c_size_t(result.nbytes), self.stream)
        self.call("cuStreamSynchronize", self.stream)
        for address in memory:
            self.call("cuMemFree_v2", address)
        return np.asarray(result)
