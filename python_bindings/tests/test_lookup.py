# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Indices that are tensors, arrays and lists against NumPy: reading, writing, and functions and layers that look up."""

import numpy as np
import pytest

import adjoint

RANDOM = np.random.default_rng(17)
X = RANDOM.standard_normal((3, 4, 5))
ROWS = np.array([2, 0, -1, 2, 1], np.int32)
DTYPES = sorted({np.dtype(one).name for one in (np.float64, np.float32, np.float16, bool, np.int8, np.int32, np.int64)})


def run(function, *arguments, **options):
    return adjoint.jit(function, **options)(*arguments)


def same(made, expected):
    expected = np.asarray(expected)
    assert made.shape == expected.shape and made.dtype == expected.dtype
    np.testing.assert_array_equal(made, expected)


# Random indices.

SHAPES = [(3,), (4, 3), (1, 5), (3, 4, 2), (2, 1, 3), (0, 3), (2, 3, 2, 2)]


class Traced:
    """In an index: the traced tensor of that number."""

    def __init__(self, number):
        self.number = number


def draw_array(random, size, common):
    """Integers of an axis, in a shape that broadcasts to the common one."""
    sizes = [1 if random.random() < 0.2 else int(one) for one in common[random.integers(len(common) + 1):]]
    if size == 0:
        sizes = [*sizes[:-1], 0]
    return random.integers(-size, max(size, 1), sizes).astype(random.choice([np.int8, np.int32, np.int64]))


def draw_slice(random, size):
    begin, end = (int(one) for one in random.integers(-size - 1, size + 2, 2))
    steps = slice(begin, end, int(random.choice([1, 2, -1, -2])))
    return [slice(None), slice(None), slice(begin, None), slice(None, end), steps][random.integers(5)]


def draw_key(random, shape):
    """An index, in which tensors are traced ones, and the arrays of these."""
    used = int(random.integers(1, len(shape) + 1))
    dots = int(random.integers(used + 1)) if random.random() < 0.4 else None
    axes = [axis if dots is None or axis < dots else axis + len(shape) - used for axis in range(used)]
    common = random.choice([1, 2, 3], random.integers(3)) if random.random() < 0.9 else np.array([2, 0])
    if any(shape[axis] == 0 for axis in axes):
        common = np.array([0])
    is_mask = random.random() < 0.15
    key, arrays = [], []
    for number, axis in enumerate(axes):
        key += [None] * (random.random() < 0.15) + [...] * (dots == number)
        kind = random.choice(["array", "slice", "number"], p=[0.5, 0.3, 0.2])
        if is_mask:
            key.append(random.random(shape[axis]) < 0.5)
            is_mask, common = False, None
        elif kind == "array" and common is not None:
            array = draw_array(random, shape[axis], common)
            form = random.choice(["traced", "traced", "array", "list"])
            if form == "traced":
                arrays.append(array)
            key.append(Traced(len(arrays) - 1) if form == "traced" else array.tolist() if form == "list" else array)
        elif kind == "number" and shape[axis]:
            key.append(int(random.integers(-shape[axis], shape[axis])))
        else:
            key.append(draw_slice(random, shape[axis]))
    return key + [...] * (dots == used), arrays


def key_of(key, arrays):
    return tuple(arrays[one.number] if isinstance(one, Traced) else one for one in key)


def of_numpy(key):
    """NumPy takes no list without elements as an index of several axes."""
    return tuple(np.asarray(one, np.int64) if isinstance(one, list) else one for one in key)


def values_of(random, shape, dtype):
    made = random.integers(-9, 9, shape)
    return (made > 0) if dtype == "bool" else made.astype(dtype)


UFUNCS = {"add": np.add, "max": np.maximum, "min": np.minimum}


def changes(x, key, y):
    """What assignment and the functions of elements make of an array, one element after another."""
    made = [x.copy() for _ in range(1 + len(UFUNCS) * (x.dtype != bool))]
    made[0][key] = y
    for one, ufunc in zip(made[1:], UFUNCS.values()):
        ufunc.at(one, key, y)
    return made


@pytest.mark.parametrize("seed", range(40))
def test_random_indices(seed):
    random = np.random.default_rng([seed, 5])
    shape = SHAPES[seed % len(SHAPES)]
    x = values_of(random, shape, DTYPES[seed % len(DTYPES)])
    key, arrays = draw_key(random, shape)
    known = of_numpy(key_of(key, arrays))
    y = values_of(random, x[known].shape[random.integers(x[known].ndim + 1):], x.dtype.name)

    def function(x, y, arrays):
        made = key_of(key, arrays)
        names = ["set", *UFUNCS][: 1 if x.element_type == "i1" else None]
        return [x[made], *(getattr(x.at[made], name)(y) for name in names)]

    made = run(function, x, y, arrays, target=["cpu", "reference"][seed % 2])
    for one, expected in zip(made, [x[known], *changes(x, known, y)]):
        same(one, expected)
