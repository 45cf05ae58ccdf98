# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of adjoint.numpy take the axes that NumPy takes, and refuse the others; losses and optimizers refuse what
would be broadcast or cut without a word."""

import itertools

import adjoint
import adjoint.numpy as anp
import numpy as np
import pytest
from adjoint import nn, optim

F = nn.functional
SHAPE = (2, 3, 4)
AXES = [*range(-5, 5)]
X = np.arange(24, dtype=np.float32).reshape(SHAPE)


def same(ours, theirs):
    """Both give the same value, or both refuse; ours with an error of its own."""
    try:
        expected = theirs(np)
    except (ValueError, IndexError):
        with pytest.raises(adjoint.Error):
            adjoint.jit(lambda: ours(anp))()
        return
    found = adjoint.jit(lambda: ours(anp))()
    found, expected = (list(one) if isinstance(one, (list, tuple)) else [one] for one in (found, expected))
    assert len(found) == len(expected) and all(np.array_equal(*pair) for pair in zip(found, expected))


def each(function):
    same(function, function)


@pytest.mark.parametrize("first", AXES)
def test_axes_are_those_of_numpy(first):
    each(lambda m: m.unstack(m.asarray(X), axis=first))
    for second in AXES:
        each(lambda m: m.swapaxes(m.asarray(X), first, second))
        each(lambda m: m.moveaxis(m.asarray(X), first, second))
        each(lambda m: m.roll(m.asarray(X), (1, 2), axis=(first, second)))
        each(lambda m: m.roll(m.asarray(X), 1, axis=(first, second)))
        each(lambda m: m.tensordot(m.asarray(X), m.asarray(X), axes=((first,), (second,))))
        each(lambda m: m.tensordot(m.asarray(X), m.asarray(X), axes=([first, 2], [second, 2])))


def test_lists_of_axes_are_those_of_numpy():
    rng = np.random.default_rng(0)
    for _ in range(60):
        source, destination = (tuple(int(a) for a in rng.integers(-4, 4, rng.integers(1, 4))) for _ in range(2))
        each(lambda m: m.moveaxis(m.asarray(X), source, destination))
        each(lambda m: m.roll(m.asarray(X), source, axis=destination))


def test_other_arguments_are_those_of_numpy():
    for n in (-1, 0, 1, 3, 5):
        each(lambda m: m.diff(m.asarray(X), n=n))
    for indexing, arrays in itertools.product(("xy", "ij", "ab"), ((X[0, 0], X[0, :, 0]), (X[0, 0],))):
        each(lambda m: m.meshgrid(*map(m.asarray, arrays), indexing=indexing))
    with pytest.raises(adjoint.TracingError, match="rank 1"):
        adjoint.jit(lambda: anp.meshgrid(anp.asarray(X)))()


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss, F.kl_div,
                                  F.binary_cross_entropy, F.binary_cross_entropy_with_logits])
def test_losses_do_not_broadcast(loss):
    value, row = np.full((3, 1), 0.5, np.float32), np.full(3, 0.5, np.float32)
    for target in (row, np.full((1, 3), 0.5, np.float32), np.full((4, 1), 0.5, np.float32)):
        with pytest.raises(adjoint.TracingError, match="the target in the shape of the input"):
            adjoint.jit(loss)(value, target)
    assert np.array_equal(adjoint.jit(lambda x: loss(x, 0.5))(value), adjoint.jit(loss)(value, value))
    open_sizes = adjoint.jit(loss, specs=(adjoint.spec("n 1"), adjoint.spec("n 1")))
    assert np.array_equal(open_sizes(value, value), adjoint.jit(loss)(value, value))


@pytest.mark.parametrize("optimizer", [optim.SGD(0.1), optim.AdamW(1e-3)])
def test_parameters_of_integers_are_refused(optimizer):
    whole, parts = {"a": np.ones(3, np.int32)}, {"a": np.ones(3, np.float32)}
    with pytest.raises(adjoint.OptionError, match="expected parameters of floats, got i32 of 'a'"):
        optimizer.init(whole)
    with pytest.raises(adjoint.OptionError, match="expected parameters of floats, got i32 of 'a'"):
        optimizer.update(whole, whole, optimizer.init(parts))


def test_values_are_used_while_their_function_is_traced():
    kept = []
    adjoint.jit(lambda x: (kept.append(x), x)[1])(np.float32(1))
    with pytest.raises(adjoint.TracingError, match="only while its function is traced"):
        kept[0] + 1


def test_branches_are_functions():
    with pytest.raises(adjoint.TracingError, match="expected functions as the branches of cond"):
        adjoint.jit(lambda x: adjoint.cond(x > 0, x, -x))(np.float32(1))


def test_learning_rates_are_numbers():
    parameters = {"a": np.ones(3, np.float32)}
    optimizer = optim.SGD(lambda step: "x")
    with pytest.raises(adjoint.OptionError, match="expected a learning rate as a number"):
        optimizer.update(parameters, parameters, optimizer.init(parameters))


def test_a_scan_has_rows():
    with pytest.raises(adjoint.TracingError, match="has no rows"):
        adjoint.jit(lambda x: adjoint.scan(lambda carry, row: (carry, row), x, x))(np.float32(1))
