# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Indices that are tensors, arrays and lists against NumPy: reading, writing, and functions and layers that look up."""

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint import nn

F = nn.functional
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


def test_other_element_types():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        x, y = X.astype(getattr(ml_dtypes, name)), np.arange(20).reshape(5, 4)[:, :1].astype(getattr(ml_dtypes, name))
        changed = x.copy()
        changed[ROWS, :, 1] = y
        made = run(lambda x, i, y: (x[i, :, 1], x.at[i, :, 1].set(y)), x, ROWS, y)
        for one, expected in zip(made, (x[ROWS, :, 1], changed)):
            np.testing.assert_array_equal(one.view(f"u{x.itemsize}"), expected.view(f"u{x.itemsize}"))


def test_masks_that_are_known():
    mask = RANDOM.random((4, 5)) < 0.5
    key = (slice(None), mask)
    made, changed, listed = run(lambda x: (x[key], x.at[key].set(0), x[[True, False, True]]), X)
    replaced = X.copy()
    replaced[key] = 0
    for one, expected in ((made, X[key]), (changed, replaced), (listed, X[[True, False, True]])):
        same(one, expected)


def test_a_loop_gives_indices():
    def chain(x, following):
        """Where each row leads after some steps, and what was passed on the way."""
        def body(step, state):
            place, total = state
            return following[place], total + x[step % 3, place, -1]

        return adjoint.fori_loop(0, 4, body, (anp.arange(4), anp.zeros(4, dtype="f64")))

    following = np.array([2, 0, 3, 1], np.int32)
    place, total = np.arange(4), np.zeros(4)
    for step in range(4):
        place, total = following[place], total + X[step % 3, place, -1]
    made = run(chain, X, following)
    same(made[0], place.astype(np.int32))
    np.testing.assert_allclose(made[1], total, rtol=1e-13)


def test_argmax_is_an_index():
    made = run(lambda x: (x[anp.arange(3), anp.argmax(x[:, :, 0], axis=1)], anp.argmax(x)), X)
    same(made[0], X[np.arange(3), X[:, :, 0].argmax(1)])


# x.at, with the words of JAX.


def test_modes_of_at():
    far = np.array([7, -9, 1, -1], np.int32)

    def function(x, i):
        at = x.at[:, i]
        return (at.get(mode="clip"), at.get(mode="fill"), at.get(mode="drop", fill_value=2),
                at.add(1, mode="drop"), at.set(0, mode="clip"), x.at[9].get(mode="fill", fill_value=1),
                x.at[i[0], ..., 0].set(5, mode="fill"), x.at[i[0]].get(mode="clip"))

    clip, nan, two, added, clipped, one, unchanged, last = run(function, X, far)
    same(clip, X[:, [3, 0, 1, 3]])
    outside = X[:, [0, 0, 1, 3]].copy()
    outside[:, :2] = np.nan
    same(nan, outside)
    same(two, np.where(np.isnan(outside), 2, outside))
    expected = X.copy()
    expected[:, [1, 3]] += 1
    same(added, expected)
    expected = X.copy()
    expected[:, [3, 0, 1]] = 0
    same(clipped, expected)
    same(one, np.ones((4, 5)))
    same(unchanged, X)
    same(last, X[-1])


@pytest.mark.parametrize("dtype, fill", [(bool, True), (np.int8, -128), (np.int64, -(2**63)), (np.float16, np.nan)])
def test_what_is_outside_is_filled(dtype, fill):
    x = np.array([1, 0, 1]).astype(dtype)
    made = run(lambda x: (x.at[anp.asarray([5, 1])].get(mode="fill"), anp.take(x, [1, -4], mode="fill")), x)
    same(made[0], np.array([fill, 0]).astype(dtype))
    same(made[1], np.array([0, fill]).astype(dtype))


def test_products_of_distinct_elements():
    made = run(lambda x, i: (x.at[[2, 0]].multiply(3), x.at[i].divide(2, unique_indices=True), x.at[0, 1:].multiply(2)),
               X, np.array([1, 0], np.int32))
    for one, rows, factor in zip(made, ([2, 0], [1, 0]), (3, 0.5)):
        expected = X.copy()
        expected[rows] *= factor
        same(one, expected)
    same(made[2][0, 1:], 2 * X[0, 1:])


def test_integers_wrap_and_narrow_floats_round_once():
    x, i = np.int8([100, 0]), np.zeros(3, np.int32)
    same(run(lambda x, i: x.at[i].add(50), x, i), np.array([-6, 0], np.int8))
    x = np.float16([2048, 0])
    same(run(lambda x, i: x.at[i].add(1), x, i), np.float16([2052, 0]))  # 2051 rounded; one by one it stays 2048


# Functions.


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(axis, target):
    indices = np.array([[2, 0], [-1, 1]], np.int32)
    same(run(lambda x, i: anp.take(x, i, axis=axis), X, indices, target=target), np.take(X, indices, axis=axis))
    same(run(lambda x: x.take([1, -1], axis), X, target=target), X.take([1, -1], axis))
    for mode in ("clip", "wrap"):
        far = indices * 40
        same(run(lambda x, i: anp.take(x, i, axis, mode=mode), X, far, target=target), np.take(X, far, axis, mode=mode))


@pytest.mark.parametrize("sizes", [(3, 2, 5), (1, 2, 5), (3, 2, 1), (1, 2, 1), (3, 0, 5)])
def test_take_along_axis(sizes):
    indices = RANDOM.integers(-4, 4, sizes)
    for x in (X, X[:1], X[..., :1]):
        same(run(lambda x, i: anp.take_along_axis(x, i, axis=1), x, indices), np.take_along_axis(x, indices, axis=1))
    same(run(lambda x, i: anp.take_along_axis(x, i, axis=None), X, indices.ravel()),
         np.take_along_axis(X, indices.ravel(), axis=None))


def test_indices_of_each_row_are_no_larger_tensors():
    text = adjoint.jit(lambda x, i: anp.take_along_axis(x, i, axis=1)).trace(X, np.zeros((3, 2, 5), np.int32)).text
    assert "ad.iota" not in text and "batch [0, 2] x [0, 2]" in text


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 100])
def test_searches(size, dtype):
    row = np.sort(RANDOM.integers(0, 20, size)).astype(dtype)
    values = RANDOM.integers(-2, 23, (3, 4)).astype(dtype)
    if dtype == np.float32:
        row[size // 2:size - size // 4] = row[size // 2:size // 2 + 1]
        row[size - size // 4:] = np.nan
        values[0, 0] = np.nan
    for specs in (None, (adjoint.spec("n", row.dtype), None)):
        for side in ("left", "right"):
            made = run(lambda x, y: anp.searchsorted(x, y, side=side), row, values, specs=specs)
            same(made, np.searchsorted(row, values, side=side))
        same(run(lambda x, y: anp.isin(y, x), row, values, specs=specs), np.isin(values, row))
        same(run(lambda x, y: anp.isin(y, x, invert=True), row, values, specs=specs), np.isin(values, row, invert=True))


def test_repeats_of_each_part():
    for axis in (None, 0, -1):
        counts = RANDOM.integers(0, 3, X.size if axis is None else X.shape[axis])
        same(run(lambda x: anp.repeat(x, counts, axis=axis), X), np.repeat(X, counts, axis=axis))


# Gradients.


@pytest.mark.parametrize("function", [
    lambda x, i: (x[i, :, i] ** 2).sum(),
    lambda x, i: anp.sin(anp.take(x, i, axis=1)).sum(),
    lambda x, i: (anp.take_along_axis(x, i.reshape(1, 5, 1) % 4, axis=1) ** 3).sum(),
    lambda x, i: (x.at[i].add(x[::-1][i] ** 2) ** 2).sum(),
    lambda x, i: (x.at[:, i].set(anp.sin(x[:, 0, None])) ** 2).sum(),
    lambda x, i: (x.at[i, 0].max(anp.cos(x[0, 0])) ** 2).sum(),
    lambda x, i: (x.at[i, 0].min(anp.cos(x[0, 1])) ** 2).sum(),
    lambda x, i: (x.at[i + 1].get(mode="fill", fill_value=3) ** 2).sum(),
    lambda x, i: (x.at[i + 1].set(anp.sin(x[0]), mode="drop") ** 2).sum(),
    lambda x, i: (x.at[::2, ::-3].set(anp.sin(x[::2, :2])) ** 2).sum(),
    lambda x, i: (F.embedding(i % 3, x[..., 0], padding_idx=1) ** 2)[:2].sum() + (x[i[0]] ** 2).sum(),
], ids=range(11))
def test_gradients(function):
    adjoint.check_gradients(function, X, ROWS)


# Sizes that are not known.


def test_dynamic_sizes():
    def function(x, i, y):
        last = x[..., -1]
        return (x[i], x[:, [0, -1]], last[i, i], x.at[i].add(y), x.at[:, [-1, 0]].set(0), anp.take(x, i, axis=0),
                anp.take_along_axis(x, i.reshape(1, -1, 1), axis=1), x.at[1::2].set(1))

    made = adjoint.jit(function, specs=(adjoint.spec("n n 3", "f64"), adjoint.spec("k", "i32"), None))
    for size, count in ((2, 5), (4, 1), (3, 0)):
        x, y = RANDOM.standard_normal((size, size, 3)), RANDOM.standard_normal((1, 3))
        i = RANDOM.integers(-size, size, count).astype(np.int32)
        added, changed, stepped = x.copy(), x.copy(), x.copy()
        np.add.at(added, i, y)
        changed[:, [-1, 0]] = 0
        stepped[1::2] = 1
        expected = (x[i], x[:, [0, -1]], x[..., -1][i, i], added, changed, x[i],
                    np.take_along_axis(x, i.reshape(1, -1, 1), axis=1), stepped)
        for one, other in zip(made(x, i, y), expected):
            same(one, other)


# What is wrong.


def outside(x, i):
    return x[:, i]  # here


@pytest.mark.parametrize("index, size", [(4, 4), (-5, 4)])
def test_an_index_outside_is_an_error_of_the_run(index, size, target):
    with pytest.raises(adjoint.ProgramError, match=f"index {index} is outside of size {size}") as caught:
        run(outside, X, np.array([0, index], np.int32), target=target)
    assert "return x[:, i]  # here" in str(caught.value)


@pytest.mark.parametrize("use, message", [
    (lambda x, i: x[x > 0], r"a traced mask .* adjoint.numpy.where\(mask, x, y\)"),
    (lambda x, i: x.at[x > 0].set(0), "a traced mask"),
    (lambda x, i: x[anp.sin(x)[0, 0]], "expected integers, slices, None and ..."),
    (lambda x, i: x[[0.5, 1]], "expected integers, slices, None and ..."),
    (lambda x, i: x[["a"]], "expected integers, slices, None and ..."),
    (lambda x, i: x[[[0, 1], [1]]], "all rows have one length"),
    (lambda x, i: x[True], "True and False are no indices"),
    (lambda x, i: x[[0, 3]], "index 3 is out of range for axis 0 of size 3"),
    (lambda x, i: x[i, [0, -5]], "index -5 is out of range for axis 1 of size 4"),
    (lambda x, i: x[np.ones(4, bool)], "expected a mask of size 3 for axis 0, got one of size 4"),
    (lambda x, i: x[i, i, i, i], "at most 3 indices, got 4"),
    (lambda x, i: x[i, [0, 1]], "do not broadcast"),
    (lambda x, i: x.at[i].multiply(2), "unique_indices=True"),
    (lambda x, i: x.at[[0, -3]].divide(2), "unique_indices=True"),
    (lambda x, i: x.at[[5, 7]].multiply(2, mode="clip"), "unique_indices=True"),
    (lambda x, i: x.at[i].get(mode="wrap"), "expected mode as 'promise_in_bounds', 'clip', 'fill' or 'drop'"),
    (lambda x, i: x.astype("i32").at[i].add(0.5), "cannot be replaced"),
    (lambda x, i: x.at[i].get(mode="fill", fill_value="0"), "expected fill_value as a number"),
    (lambda x, i: i.at[i].get(mode="fill", fill_value=0.5), "expected fill_value as a number of type i32"),
    (lambda x, i: anp.take(x, i, axis=3), "axis 3 is out of range"),
    (lambda x, i: anp.take(x, i, mode="nearest"), "expected mode as 'raise', 'wrap', 'clip' or 'fill'"),
    (lambda x, i: anp.take(x, slice(2)), "expected integers as indices"),
    (lambda x, i: anp.take_along_axis(x, i), "indices of the rank of the tensor"),
    (lambda x, i: anp.searchsorted(x, x), "takes a row"),
    (lambda x, i: anp.repeat(x, i), "a shape that is not known"),
    (lambda x, i: anp.repeat(x, [1, 2], axis=0), "expected repeats as an int, or as 3"),
    (lambda x, i: F.embedding(i, x), "a tensor of rank 2"),
    (lambda x, i: F.embedding(x[0], x[0]), "expected integers"),
    (lambda x, i: F.embedding(i, x[0], padding_idx=4), "padding_idx as an int from -4 to 3"),
])
def test_refusals(use, message):
    with pytest.raises(adjoint.Error, match=message):
        run(use, X, ROWS)


@pytest.mark.parametrize("use", [lambda x, i: x.at[i].set(np.ones(7)), lambda x, i: anp.take_along_axis(x, x[:2].astype("i32"), 1),
                                 lambda x, i: (x > 0).at[i].add(True)])
def test_operations_that_cannot_be_name_the_line(use):
    with pytest.raises(adjoint.CompileError) as caught:
        run(use, X, ROWS)
    assert caught.value.diagnostics[0].file == __file__


# Embeddings.


def test_embedding():
    layer = nn.Embedding(7, 5, padding_idx=-2, key=3)
    assert layer.padding_idx == 5 and (layer.weight[5] == 0).all() and layer.weight.dtype == np.float32
    assert list(layer.state_dict()) == ["weight"]
    ids = np.array([[0, 5], [6, 0]])
    same(layer(ids), layer.weight[ids])
    same(layer(ids.tolist()), layer.weight[ids])
    gradient = adjoint.grad(lambda layer, ids: (layer(ids) * 3).sum())(layer, ids).weight
    same(gradient, np.float32([[6] * 5, *[[0] * 5] * 5, [3] * 5]))
    with pytest.raises(adjoint.ProgramError, match="index -1 is outside of size 7"):
        layer(np.array([-1]))


def test_first_values_are_those_of_adjoint_random():
    def draw(seed):
        return adjoint.random.normal(adjoint.random.fold_in(adjoint.random.key(seed), 1), (35,), "f64")

    weight = nn.Embedding(7, 5, key=3, dtype="f64").weight
    np.testing.assert_allclose(weight.ravel(), run(draw, np.array(3, np.int64)), rtol=1e-13)
    many = nn.Embedding(200, 100, key=1).weight
    assert abs(many.mean()) < 0.02 and abs(many.std() - 1) < 0.02


@pytest.mark.parametrize("padding_idx", [None, 0, -1])
def test_embedding_of_pytorch(padding_idx):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs = torch.nn.Embedding(6, 4, padding_idx=padding_idx)
    ours = nn.Embedding(6, 4, padding_idx=padding_idx).load_state_dict(theirs.state_dict())
    assert ours.padding_idx == theirs.padding_idx
    ids = np.array([[0, 5, 2], [2, 2, 1]])
    value, gradient = adjoint.value_and_grad(lambda layer, ids: (layer(ids) ** 2).sum())(ours, ids)
    expected = (theirs(torch.tensor(ids)) ** 2).sum()
    expected.backward()
    np.testing.assert_allclose(value, expected.item(), rtol=1e-5)
    np.testing.assert_allclose(gradient.weight, theirs.weight.grad.numpy(), rtol=1e-6)
