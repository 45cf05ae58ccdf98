# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Element types: arguments and results of every type have the same bits."""

import adjoint
import ml_dtypes
import numpy as np
import programs
import pytest

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}


def all_bits(dtype):
    """Elements of all kinds, signalling NaNs among them."""
    size = np.dtype(dtype).itemsize
    if dtype == np.bool_:
        return np.array([False, True, True])
    return np.random.default_rng(0).integers(0, 256, 256 * size, np.uint8).view(dtype)


@pytest.mark.parametrize("element_type", DTYPES)
def test_elements_keep_their_bits(element_type, target):
    dtype = DTYPES[element_type]
    program = adjoint.compile(programs.identity(element_type), target=target)
    assert program.signature.arguments[0].dtype == dtype
    x = all_bits(dtype)
    y = program(x)
    assert y.dtype == dtype and y.tobytes() == x.tobytes()


@pytest.mark.parametrize("element_type", DTYPES)
@pytest.mark.parametrize("given", [*DTYPES.values(), np.uint8, np.uint16, np.complex64, "O", "S4", "f4,f4", "M8[s]"])
def test_other_elements_are_refused(element_type, given):
    x = np.zeros(3, given)
    program = adjoint.compile(programs.identity(element_type))
    if x.dtype == DTYPES[element_type]:
        program(x)
        return
    with pytest.raises(adjoint.ArgumentTypeError, match=rf"'x': expected tensor<\?x{element_type}>, got an array of "):
        program(x)


def test_small_floats_may_come_as_raw_bytes():
    x = np.array([1.5, -2.25], ml_dtypes.bfloat16)
    np.testing.assert_array_equal(adjoint.compile(programs.identity("bf16"))(x.view("V2")), x)
    x = np.array([1.5, -2.5], ml_dtypes.float8_e5m2)
    np.testing.assert_array_equal(adjoint.compile(programs.identity("f8E5M2"))(x.view("V1")), x)


def test_small_floats_are_raw_bytes_without_ml_dtypes(run_script):
    done = run_script(
        """
        import sys
        sys.modules["ml_dtypes"] = None
        import adjoint, numpy as np, programs
        x = np.array([0x3f80, 0xc000], np.uint16).view("V2")
        y = adjoint.compile(programs.identity("bf16"))(x)
        print(y.dtype, y.tobytes() == x.tobytes())
        """
    )
    assert done.stdout == "|V2 True\n", done.stderr


def test_booleans_are_zero_or_one(target):
    # Boolean memory may contain any byte; NumPy reads every byte other than 0 as true.
    x = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    y = adjoint.compile(programs.identity("i1"), target=target)(x)
    assert y.tobytes() == bytes([0, 1, 1, 1])
