# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Results are written to the arrays of `out=`, and the memory of freed results is reused."""

import adjoint
import numpy as np
import programs
import pytest

TWO = """
func.func @main(%x: tensor<4xf32> {ad.name = "x"}, %b: tensor<4xi1> {ad.name = "b"})
    -> (tensor<4xf32> {ad.name = "y"}, tensor<4xi1> {ad.name = "c"}) {
  %y = ad.neg %x : tensor<4xf32>
  %c = ad.not %b : tensor<4xi1>
  return %y, %c : tensor<4xf32>, tensor<4xi1>
}
"""
DONATED = """
func.func @main(%x: tensor<4xf32> {ad.name = "x", ad.donated = 1 : i64}, %y: tensor<4xf32> {ad.name = "y"})
    -> (tensor<4xf32> {ad.name = "sum"}, tensor<4xf32> {ad.name = "next"}) {
  %sum = ad.add %x, %y : tensor<4xf32>
  %next = ad.neg %x : tensor<4xf32>
  return %sum, %next : tensor<4xf32>, tensor<4xf32>
}
"""
X, B = np.arange(4, dtype=np.float32), np.array([True, False, True, False])
LARGE = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { %y = ad.neg %x : tensor<?xf32>  return %y : tensor<?xf32> }"


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def two(target):
    y, c = np.full(4, 7, np.float32), np.frombuffer(bytearray(b"\7\7\7\7"), np.bool_)
    return adjoint.compile(TWO, target=target), y, c


def check(result, y, c):
    assert result.y is y and result.c is c
    np.testing.assert_array_equal(y, -X)
    np.testing.assert_array_equal(c, ~B)


def test_an_array_takes_the_only_result(target):
    program = adjoint.compile(programs.SQUARE, target=target)
    out = np.zeros(3, np.float32)
    assert program(np.array([1, 2, 3], np.float32), out=out) is out
    np.testing.assert_array_equal(out, [1, 4, 9])
    assert program(np.array([2, 2, 2], np.float32), out=[out]) is out
    np.testing.assert_array_equal(out, [4, 4, 4])


def test_results_by_position(target):
    program, y, c = two(target)
    check(program(X, B, out=(y, c)), y, c)
    result = program(X, B, out=[None, c])
    assert result.c is c and not np.shares_memory(result.y, y)
    np.testing.assert_array_equal(result.y, -X)


def test_results_by_name(target):
    program, y, c = two(target)
    check(program(X, B, out={"c": c, "y": y}), y, c)
    result = program(X, B, out={"y": y})
    assert result.y is y
    np.testing.assert_array_equal(result.c, ~B)


def test_a_part_of_an_array_takes_a_result(target):
    whole = np.zeros((3, 4), np.float32)
    program, _, c = two(target)
    program(X, B, out=(whole[1], c))
    np.testing.assert_array_equal(whole, [np.zeros(4), -X, np.zeros(4)])


def test_elements_that_numpy_lacks(target):
    program = adjoint.compile(programs.SQUARE.replace("f32", "bf16"), target=target)
    one = np.array([0x3F80, 0x4000], np.uint16).view(program.signature.results[0].dtype)
    out = np.zeros_like(one)
    assert program(one, out=out) is out
    np.testing.assert_array_equal(out.view(np.uint16), [0x3F80, 0x4080])


def test_an_output_and_a_donated_array(target):
    program = adjoint.compile(DONATED, target=target)
    x, y, out = X.copy(), np.ones(4, np.float32), np.zeros(4, np.float32)
    result = program(x, y, out={"next": out})
    assert result.next is out
    np.testing.assert_array_equal(out, -X)
    np.testing.assert_array_equal(result.sum, X + 1)
    # The donated array itself may be named too.
    x = X.copy()
    result = program(x, y, out={"next": x, "sum": out})
    assert result.next is x and result.sum is out
    np.testing.assert_array_equal(x, -X)
    np.testing.assert_array_equal(out, X + 1)


def frozen():
    array = np.zeros(4, np.float32)
    array.flags.writeable = False
    return array


WRONG = {
    "type": (np.zeros(4), adjoint.ArgumentTypeError,
             "output 'y': expected tensor<4xf32>, got an array of float64 with shape (4,)"),
    "shape": (np.zeros(5, np.float32), adjoint.ArgumentShapeError,
              "output 'y': expected tensor<4xf32>, got an array of float32 with shape (5,)"),
    "rank": (np.zeros((4, 1), np.float32), adjoint.ArgumentShapeError,
             "output 'y': expected tensor<4xf32>, got an array of float32 with shape (4, 1)"),
    "list": ([0.0] * 4, adjoint.ArgumentTypeError,
             "output 'y': expected tensor<4xf32>, got list, which is no numpy.ndarray"),
    "strided": (np.zeros(8, np.float32)[::2], adjoint.ArgumentMemoryError,
                "output 'y': expected tensor<4xf32> in row-major order, aligned and of native byte order, got strides (8,)"),
    "byte order": (np.zeros(4, ">f4"), adjoint.ArgumentMemoryError,
                   "output 'y': expected tensor<4xf32> in row-major order, aligned and of native byte order, got strides (4,)"),
    "read-only": (frozen(), adjoint.ArgumentMemoryError,
                  "output 'y': expected tensor<4xf32> that may be written, got a read-only array"),
}


@pytest.mark.parametrize("wrong, error, message", WRONG.values(), ids=WRONG)
def test_an_output_that_cannot_take_the_result(target, wrong, error, message):
    program, _, c = two(target)
    before = c.tobytes()
    with pytest.raises(error) as caught:
        program(X, B, out=(wrong, c))
    assert str(caught.value) == message
    assert c.tobytes() == before  # nothing ran


def test_outputs_that_overlap(target):
    program = adjoint.compile(DONATED, target=target)
    both, x, y = np.zeros(6, np.float32), X.copy(), X.copy()
    for out, overlapped in [
        ((both[:4], both[2:]), "output 'sum'"),
        ((x, None), "argument 'x'"),
        ((y, None), "argument 'y'"),
        ((None, y), "argument 'y'"),
    ]:
        with pytest.raises(adjoint.ArgumentMemoryError,
                           match=f"memory of its own, got an array that overlaps {overlapped}"):
            program(x, y, out=out)
    np.testing.assert_array_equal(x, X)


def test_outputs_that_belong_to_no_result(target):
    program, y, c = two(target)
    with pytest.raises(adjoint.ArgumentTypeError, match=r"expected 2 outputs \(y, c\), got 1"):
        program(X, B, out=y)
    with pytest.raises(adjoint.ArgumentTypeError, match="no result 'z', its results are y, c"):
        program(X, B, out={"z": c})


def test_sizes_that_only_run_time_knows(target):
    program = adjoint.compile(LARGE.replace("-> tensor<?xf32>", '-> (tensor<?xf32> {ad.name = "y"})', 1), target=target)
    x, out = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    assert program(x, out=out) is out
    np.testing.assert_array_equal(out, -x)
    with pytest.raises(adjoint.ArgumentShapeError) as caught:
        program(x[:3], out=out)
    assert str(caught.value) == "result 'y' has shape 3, but its output has shape 5"


def test_memory_of_dead_results_is_used_again(target):
    program = adjoint.compile(LARGE, target=target)
    x = np.ones(1 << 18, np.float32)
    first, second = program(x), program(x)
    assert not np.shares_memory(first, second)
    address = first.ctypes.data
    part = first[7:9]
    del first
    assert program(x).ctypes.data != address  # a view is alive
    del part
    third = program(x)
    assert third.ctypes.data == address
    np.testing.assert_array_equal(third, -x)
    np.testing.assert_array_equal(second, -x)


def test_small_results_do_not_keep_large_memory():
    program = adjoint.compile(LARGE)
    x = np.ones(8, np.float32)
    program(np.ones(12 << 20, np.float32))  # so large that the C library unmaps it when it is freed
    before = resident_bytes()  # the memory is kept for the next result
    kept = program(x)
    assert before - resident_bytes() > 40 << 20
    np.testing.assert_array_equal(kept, -x)


def test_results_outlive_their_program(target):
    result = adjoint.compile(LARGE, target=target)(np.ones(1 << 18, np.float32))
    np.testing.assert_array_equal(result, -1)
