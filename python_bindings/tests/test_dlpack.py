# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays of other libraries, through the DLPack protocol."""

import ctypes

import adjoint
import ml_dtypes
import numpy as np
import programs
import pytest

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


class Foreign:
    """An array of a library that NumPy does not know. `code` replaces the kind of the elements by another."""

    def __init__(self, array, device=(1, 0), code=None):
        self.array, self.device, self.code = array, device, code

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        if self.code is not None:
            get = ctypes.pythonapi.PyCapsule_GetPointer
            get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
            # data, device, rank; then the code.
            ctypes.c_uint8.from_address(get(capsule, b"dltensor") + 20).value = self.code
        return capsule


BFLOAT, F8_E4M3FN, F8_E5M2 = 4, 10, 12


@pytest.mark.parametrize("layout", ["contiguous", "strided"])
def test_arrays_of_other_libraries(layout, target):
    x = np.arange(10, dtype=np.float32)
    x = x if layout == "contiguous" else x[::-3]
    np.testing.assert_array_equal(adjoint.compile(programs.SQUARE, target=target)(Foreign(x)), x * x)


@pytest.mark.parametrize(
    ("element_type", "storage", "code", "dtype"),
    [
        ("bf16", np.uint16, BFLOAT, ml_dtypes.bfloat16),
        ("f8E4M3FN", np.uint8, F8_E4M3FN, ml_dtypes.float8_e4m3fn),
        ("f8E5M2", np.uint8, F8_E5M2, ml_dtypes.float8_e5m2),
    ],
)
def test_small_floats_of_other_libraries(element_type, storage, code, dtype):
    program = adjoint.compile(programs.identity(element_type, "?x?"))
    x = np.arange(12, dtype=storage).reshape(3, 4)
    for array in (x, x.T, x[::2, ::-1], x[:0]):
        result = program(Foreign(array, code=code))
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.view(storage), array)
    with pytest.raises(
        adjoint.ArgumentTypeError, match=f"expected tensor<.x.x{element_type}>, got a test_dlpack.Foreign of f32"
    ):
        program(Foreign(np.zeros((1, 1), np.float32)))


def test_other_elements_of_other_libraries():
    program = adjoint.compile(programs.SQUARE)
    with pytest.raises(adjoint.ArgumentTypeError, match="got an array of float64"):
        program(Foreign(np.zeros(3)))
    with pytest.raises(adjoint.ArgumentTypeError, match="Foreign that does not hand over its elements"):
        program(Foreign(np.zeros(3, np.uint16), code=BFLOAT))
    with pytest.raises(adjoint.ArgumentShapeError, match=r"shape \(2, 2\)"):
        program(Foreign(np.zeros((2, 2), np.float32)))


@pytest.mark.parametrize("element_type", ["f32", "bf16"])
def test_broken_lenders(element_type):
    class Broken(Foreign):
        def __dlpack__(self, **_):
            return 3

    class Raising(Foreign):
        def __dlpack__(self, **_):
            raise ZeroDivisionError

    program = adjoint.compile(programs.identity(element_type))
    with pytest.raises(adjoint.ArgumentTypeError, match="Broken that does not hand over its elements"):
        program(Broken(None))
    with pytest.raises(ZeroDivisionError):
        program(Raising(None))
    with pytest.raises(adjoint.ArgumentTypeError, match="got type, which is no array"):
        program(Foreign)


def test_memory_of_other_devices_is_refused():
    with pytest.raises(adjoint.ArgumentTypeError, match="in the memory of another device"):
        adjoint.compile(programs.SQUARE)(Foreign(np.zeros(3, np.float32), device=(2, 0)))


def test_lenders_live_while_they_lend(target):
    class Lender(Foreign):
        alive = 0

        def __init__(self, *arguments, **named):
            super().__init__(*arguments, **named)
            Lender.alive += 1

        def __del__(self):
            Lender.alive -= 1

    program = adjoint.compile(programs.identity("bf16"), target=target)
    for _ in range(3):
        result = program(Lender(np.full(1000, 7, np.uint16), code=BFLOAT))
        assert (result.view(np.uint16) == 7).all()
    assert Lender.alive == 0


@needs_torch
def test_torch_tensors():
    x = torch.arange(6, dtype=torch.float32)
    program = adjoint.compile(programs.SQUARE)
    np.testing.assert_array_equal(program(x), (x * x).numpy())
    np.testing.assert_array_equal(program(x[::2]), (x * x)[::2].numpy())
    small = adjoint.compile(programs.identity("bf16"))(x.to(torch.bfloat16))
    np.testing.assert_array_equal(small.astype(np.float32), x.numpy())
    with pytest.raises(adjoint.ArgumentTypeError, match="torch.Tensor that does not hand over"):
        program(x.clone().requires_grad_())
