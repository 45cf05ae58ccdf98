# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""adjoint.diff gives the published numbers and texts of onnx-diagnostic and onnx-array-api, and those of ad-diff."""

import math

import ml_dtypes
import numpy as np
import pytest

from adjoint import diff


@pytest.fixture
def changed():
    """A tensor, and the same with differences of all sizes."""
    expected = np.arange(12, dtype=np.float32).reshape(3, 4)
    got = expected.copy()
    for index, value in {(0, 1): 0.1, (0, 2): 0.01, (0, 3): 0.001, (1, 1): 0.0001, (1, 2): 1, (2, 2): 10, (1, 3): 100,
                         (2, 1): 1000}.items():
        got[index] += np.float32(value)
    return expected, got


COUNTS = {">0.0": 8, ">0.0001": 8, ">0.001": 6, ">0.01": 5, ">0.1": 5, ">1.0": 3, ">10.0": 2, ">100.0": 1}
TEXT = "/#8>0.0-#8>0.0001-#6>0.001-#5>0.01-#5>0.1-#3>1.0-#2>10.0-#1>100.0"


def test_counts_of_one_array(changed):
    difference = diff.max_diff(*changed, hist=True)
    assert difference.counts == COUNTS
    assert difference.text.endswith(TEXT + ",amax=2,1")
    assert difference.index == (2, 1) and difference.abs == 1000
    assert diff.string_diff(difference) == str(difference) == difference.text


@pytest.mark.parametrize("wrap", [lambda a: [a, a, a], lambda a: (a, (a, [a])), lambda a: {"x": a, "y": {"z": [a, a]}}])
def test_containers_add_counts(changed, wrap):
    difference = diff.max_diff(*map(wrap, changed), hist=True)
    assert difference.counts == {key: 3 * count for key, count in COUNTS.items()}
    assert difference.index is None and difference.abs == 1000 and difference.n == 36


def test_numbers_of_a_difference():
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    got = base.copy()
    for index, value in {(1, 2): 0.999, (2, 2): 0.0999, (2, 3): 0.00999}.items():
        got[index] += np.float32(value)
    difference = diff.max_diff(base, got, hist=[0.1, 0.01, 0.001])
    assert difference.abs == 0.999000072479248
    assert difference.rel == 0.16647226670209098
    assert difference.sum == 1.1088900566101074
    assert difference.n == 12.0 and difference.index == (1, 2)
    assert difference.counts == {">0.1": 1, ">0.01": 2, ">0.001": 3}


def test_values_that_cannot_be_compared():
    one, two = np.zeros(3, np.float32), np.zeros(4, np.float32)
    for left, right in [(one, two), ([one], [one, one]), ({"a": one}, {"b": one}), (one, "text")]:
        assert diff.max_diff(left, right).abs == math.inf
    assert diff.max_diff(None, None).abs == 0
    assert diff.max_diff([one, None], [one, one], skip_none=True).abs == 0
    assert diff.max_diff([one, [one, two]], [one, one, two], flatten=True).abs == 0
    assert diff.max_diff([one, one], [one + 1, one], begin=1).abs == 0
    assert diff.max_diff([one, one], [one, one + 1], end=1).abs == 0


def test_nans_and_ulps():
    left = np.array([1, np.nan, np.nan], np.float32)
    right = np.array([np.nextafter(np.float32(1), np.float32(2)), np.nan, 0], np.float32)
    assert diff.max_diff(left, right).dnan == 1 and diff.max_diff(left, right).ulp == math.inf
    assert diff.max_diff(left[:2], right[:2]).ulp == 1
    assert diff.max_diff(left, left.astype(np.float64)).ulp is None


@pytest.mark.parametrize("dtype", [np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.int8, np.int64,
                                   np.bool_])
@pytest.mark.parametrize("layout", ["C", "F", "reversed", "scalar"])
def test_types_and_layouts(dtype, layout):
    values = (np.arange(12).reshape(3, 4) % 2).astype(dtype)
    layouts = {"C": values, "F": np.asfortranarray(values), "reversed": values[::-1, ::-1], "scalar": values[0, 1]}
    array = layouts[layout]
    plain = np.array(array, order="C")
    assert diff.max_diff(plain, array).abs == 0
    assert diff.fingerprint(plain) == diff.fingerprint(array)


def test_string_type():
    value = {"a": np.array([1]), "b": [5.6], "c": (1,)}
    assert diff.string_type(value) == "dict(a:A7r1,b:#1[float],c:(int,))"
    array = np.array([[0, 1, 0, 1], [1, 0, 1, 0]], np.float32)
    assert diff.string_type([array], with_shape=True, with_min_max=True) == "#1[A1s2x4[0.0,1.0:A0.5]]"
    assert diff.string_type([1] * 21) == "#21[int,...]" and diff.string_type([1, 2], limit=2) == "#2[int,...]"


@pytest.mark.parametrize("shape, letters", [((12,), "DMVE"), ((1024,), "KAQG"), ((3, 4), "DMVE")])
def test_fingerprints(shape, letters):
    assert diff.fingerprint(np.arange(np.prod(shape)).reshape(shape)) == letters


def test_fingerprints_of_scalars():
    assert [diff.fingerprint(np.array(value)) for value in (-1, 8.0, 1)] == ["ZAAA", "IAAA", "BAAA"]


def test_matrix():
    zero, one = np.zeros(3, np.float32), np.array([0, 0.5, 0], np.float32)
    found = diff.matrix({"a": zero, "b": one, "c": zero})
    assert found.labels == ("a", "b", "c") and found.equal == (("a", "c"), ("b",))
    assert np.array_equal(found.values, [[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]])
    assert found.text.splitlines()[0].split() == ["a", "b", "c"]
    assert diff.matrix([zero, one]).labels == ("0", "1")
    with pytest.raises(ValueError, match="one shape"):
        diff.matrix([zero, one[:2]])


def test_alignment():
    a, b = np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32) * 2
    left = [("INPUT", "x", "", a), ("RESULT", "y", "ad.exp", b), ("OUTPUT", "y", "", b)]
    found = diff.align(left, [left[0], left[2]])
    assert found.distance == 1000
    assert [pair[2] for pair in found.pairs] == ["=", "-", "="]
    assert found.text.startswith("001 = | INPUT") and len(found.text.splitlines()) == 3
    with pytest.raises(ValueError):
        diff.align([], left)


def test_errors():
    with pytest.raises(TypeError, match="complex64"):
        diff.max_diff(np.zeros(2, np.complex64), np.zeros(2, np.complex64))
    with pytest.raises(TypeError, match="expected arrays, numbers, texts and containers of them, found object"):
        diff.string_type(object())
    with pytest.raises(TypeError, match="expected an array"):
        diff.fingerprint(3)
    with pytest.raises(TypeError, match="expected an array"):
        diff.fingerprint(None)
    with pytest.raises(ValueError, match="at most 64 bits"):
        diff.max_diff(2**63, 2**63)
    with pytest.raises(TypeError, match="records of a kind, a name, an operation and an array"):
        diff.align([("INPUT", "x")], [("INPUT", "x")])


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: diff.max_diff(x, x, hist=[math.nan]), ValueError, "numbers that are not negative, found nan"),
        (lambda x: diff.max_diff(x, x, hist=[0.5, -1]), ValueError, "hist with numbers .* found -1.0"),
        (lambda x: diff.max_diff(x, x, hist=[math.inf]), ValueError, "hist with numbers .* found inf"),
        (lambda x: diff.max_diff(x, x, begin="a"), TypeError, "^expected begin as int, got str$"),
        (lambda x: diff.max_diff([x], [x], end=1.5), TypeError, "^expected end as int, got float$"),
        (lambda x: diff.string_type(x, limit=-1), ValueError, "^expected limit from 1 to .*, got -1$"),
        (lambda x: diff.string_type(x, limit=None), TypeError, "^expected limit as int, got NoneType$"),
        (lambda x: diff.matrix({1: x}), TypeError, "^expected names as str, got int$"),
        (lambda x: diff.matrix({"\udcff": x}), ValueError, "^expected names of Unicode characters"),
        (lambda x: diff.align([("FOO", "a", "", x)], [("INPUT", "a", "", x)]), ValueError, "unknown kind 'FOO'"),
        (lambda x: diff.align([("INPUT", 3, "", x)], [("INPUT", "a", "", x)]), TypeError, "names as str, got int"),
        (lambda x: diff.align([("INPUT", "a", "", x)], [], column=3), ValueError, "column from 20 to 1000, got 3"),
    ],
)
def test_odd_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call(np.ones(3, np.float32))


def test_nesting():
    """A list that contains itself ends with an error, not with the process."""
    inner = [np.ones(2)]
    for _ in range(100):
        inner = [inner]
    assert diff.max_diff(inner, inner).abs == 0
    endless, entries = [], {}
    endless.append((endless,))
    entries["a"] = entries
    for value in (endless, entries):
        with pytest.raises(RecursionError):
            diff.max_diff(value, value)
        with pytest.raises(RecursionError):
            diff.string_type(value)


def test_large_integers_are_compared_as_integers():
    left, right = np.array([2**53, -(2**63)]), np.array([2**53 + 1, -(2**63)])
    assert diff.max_diff(left, right).abs == 1 and diff.max_diff(2**53, 2**53 + 1).abs == 1
    assert diff.matrix([left, right]).equal == (("0",), ("1",))
    found = diff.max_diff(left, np.array([2**53, 2**63 - 1]))
    assert found.abs == found.sum == found.ulp == 2**64 - 1 and found.text.startswith("abs=18446744073709551615, ")
    assert diff.max_diff([left], [right]).abs == 1
    assert diff.fingerprint(np.array([2**53 + 1, -(2**53), 0, 0, 0, 0, 0, 0])) == "BAAA"


def test_arrays_of_the_same_fingerprint_are_not_equal():
    left, right = np.array([1.0, 2.0] * 4), np.array([2.0, 1.0] * 4)
    assert diff.fingerprint(left) == diff.fingerprint(right)
    rows = [[("INPUT", "x", "", array)] for array in (left, right)]
    assert diff.align(*rows).pairs[0][2] == "~" and diff.align(rows[0], rows[0]).pairs[0][2] == "="
