# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Layouts: which arrays are used directly and which are copied; the results are the same."""

import warnings

import adjoint
import numpy as np
import programs
import pytest

BASE = np.arange(48, dtype=np.float32).reshape(6, 8)


def unaligned():
    memory = np.zeros(BASE.nbytes + 1, np.uint8)
    array = memory[1:].view(np.float32).reshape(BASE.shape)
    array[...] = BASE
    assert not array.flags.aligned
    return array


def read_only():
    array = BASE.copy()
    array.flags.writeable = False
    return array


class Subclass(np.ndarray):
    pass


# Name: an array, and whether it is used without a copy.
LAYOUTS = {
    "contiguous": (BASE, True),
    "read-only": (read_only(), True),
    "some rows": (BASE[2:5], True),
    "off by an element": (np.arange(49, dtype=np.float32)[1:].reshape(6, 8), True),
    "no rows": (BASE[:0], True),
    "no columns": (BASE[:, :0], True),
    "one row": (BASE[3:4], True),
    "long long": (np.arange(4, dtype=np.longlong).reshape(2, 2), True),
    "transposed": (BASE.T, False),
    "Fortran order": (np.asfortranarray(BASE), False),
    "every other column": (BASE[:, ::2], False),
    "backwards": (BASE[::-1, ::-1], False),
    "stride zero": (np.broadcast_to(np.float32(7), (3, 5)), False),
    "unaligned": (unaligned(), False),
    "big endian": (BASE.astype(">f4"), False),
    "big endian, backwards": (BASE.astype(">f4")[::-1], False),
    "field of a record": (np.zeros((2, 3), [("a", "i1"), ("b", "f4")])["b"], False),
    "subclass": (BASE.view(Subclass), False),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_do_not_show(layout, target):
    array, as_it_is = LAYOUTS[layout]
    element_type = "i64" if array.dtype == np.int64 else "f32"
    program = adjoint.compile(programs.identity(element_type, "?x?"), target=target)
    made = []
    prepare = program._prepare
    program._prepare = lambda *arguments: made.append(prepare(*arguments)) or made[-1]
    result = program(array)
    assert type(result) is np.ndarray and result.dtype == array.dtype.newbyteorder("=")
    np.testing.assert_array_equal(result, array)
    assert (len(made) == 0) == as_it_is


@pytest.mark.parametrize(
    "value", [np.array(2.5, np.float32), np.float32(2.5), np.full((1,), 2.5, np.float32)[0:1].reshape(())]
)
def test_rank_zero(value, target):
    result = adjoint.compile(programs.identity("f32", ""), target=target)(value)
    assert result.shape == () and result == 2.5


def test_rank_zero_is_not_rank_one():
    with pytest.raises(adjoint.ArgumentShapeError, match=r"'x': expected tensor<f32>, got .* shape \(1,\)"):
        adjoint.compile(programs.identity("f32", ""))(np.zeros(1, np.float32))
    with pytest.raises(adjoint.ArgumentShapeError, match=r"'x': expected tensor<\?xf32>, got .* shape \(\)"):
        adjoint.compile(programs.identity("f32"))(np.float32(0))


@pytest.mark.parametrize("shape", [(2, 4), (3, 3), (6,), (2, 3, 1), (0, 3), ()])
def test_wrong_shapes_are_named(shape):
    with pytest.raises(adjoint.ArgumentShapeError) as caught:
        adjoint.compile(programs.identity("f32", "2x3"))(np.zeros(shape, np.float32))
    assert str(caught.value) == f"argument 'x': expected tensor<2x3xf32>, got an array of float32 with shape {shape}"


def test_masked_arrays_are_refused():
    with pytest.raises(adjoint.ArgumentTypeError, match="masked array; fill it first"):
        adjoint.compile(programs.SQUARE)(np.ma.masked_less(np.arange(3, dtype=np.float32), 1))


@pytest.mark.parametrize(
    "value", [None, [1.0, 2.0], (1.0,), "ab", b"abcd", {}, object(), np.float32, memoryview(b"abcd"), range(3)]
)
def test_what_is_no_array_is_refused(value):
    with pytest.raises(adjoint.ArgumentTypeError, match="which is no array"):
        adjoint.compile(programs.SQUARE)(value)


def test_more_memory_than_there_is():
    # 2**60 bytes if it were allocated.
    huge = np.broadcast_to(np.float32(1), (1 << 58,))
    with pytest.raises(MemoryError):
        adjoint.compile(programs.SQUARE)(huge)
    outer = """
    func.func @main(%x: tensor<?x1xf32>) -> tensor<?x?xf32> {
      %t = ad.transpose %x [1, 0] : tensor<?x1xf32>
      %y = ad.mul %x, %t : tensor<?x1xf32>, tensor<1x?xf32>
      return %y : tensor<?x?xf32>
    }"""
    with pytest.raises(adjoint.ProgramError, match="not enough memory"):
        adjoint.compile(outer)(np.zeros((1 << 24, 1), np.float32))


def test_arguments_are_not_changed_and_may_be_the_same(target):
    x = np.arange(4, dtype=np.float32)
    result = adjoint.compile(programs.ADD, target=target)(x, x)
    np.testing.assert_array_equal(result, [0, 2, 4, 6])
    np.testing.assert_array_equal(x, [0, 1, 2, 3])


def test_calls_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array, _ in LAYOUTS.values():
            if array.dtype != np.int64:
                adjoint.compile(programs.identity("f32", "?x?"))(array)
