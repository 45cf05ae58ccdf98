# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Operations of layers and running reductions as functions of Python: against NumPy, and against PyTorch where it is
installed, values and gradients."""

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint import nn, ops

F = nn.functional
RANDOM = np.random.default_rng(23)


def floats(*shape):
    return RANDOM.standard_normal(shape)


def gradient(function, *arguments):
    """The gradient of the sum of weighted elements, for the first argument."""
    weights = np.random.default_rng(1).standard_normal(np.shape(adjoint.jit(function)(*arguments)))
    return adjoint.grad(lambda x, *rest: (function(x, *rest) * weights).sum())(*arguments), weights


def test_logsumexp():
    x = floats(3, 4, 5)
    x[0] += 900
    x[1, 2] = -np.inf
    for dim in (0, 1, -1):
        largest = x.max(dim, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            safe = np.where(np.isfinite(largest), largest, 0)
            expected = np.log(np.exp(x - safe).sum(dim, keepdims=True)) + safe
        np.testing.assert_allclose(adjoint.jit(lambda x, dim=dim: F.logsumexp(x, dim))(x), expected.squeeze(dim), rtol=1e-13)
        kept = adjoint.jit(lambda x, dim=dim: F.logsumexp(x, dim, keepdim=True))(x)
        assert kept.shape == expected.shape
    many = adjoint.jit(lambda x: F.logsumexp(x, (0, 2), keepdim=True))(x[1:, 2:])
    np.testing.assert_allclose(many, np.log(np.exp(x[1:, 2:]).sum((0, 2), keepdims=True)), rtol=1e-13)
    found, weights = gradient(lambda x: F.logsumexp(x, -1), x)
    softmax = np.exp(x - np.where(np.isfinite(x), x, -np.inf).max(-1, keepdims=True, initial=-1e3))
    softmax /= np.where(softmax.sum(-1, keepdims=True) == 0, 1, softmax.sum(-1, keepdims=True))
    np.testing.assert_allclose(found, softmax * weights[..., None], atol=1e-12)
    assert (found[1, 2] == 0).all()


@pytest.mark.parametrize("element", ["bf16", "f16", "f8E4M3FN"])
def test_gradient_of_a_rounded_logsumexp(element):
    """The weights of a row sum to 1, however its result was rounded."""
    x = np.array([100.0, 100.5, 99.0, 101.0], np.float32)
    found = adjoint.jit(lambda x: adjoint.grad(lambda x: F.logsumexp(x, 0).astype("f32"))(x.astype(element)).astype("f32"))(x)
    assert abs(np.asarray(found, np.float64).sum() - 1) < 0.05


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_embedding(interleaved):
    x, positions = floats(2, 3, 5, 8), np.array([0, 1, 2, 40, 7], np.int32)
    angles = positions[:, None] * 100.0 ** (-np.arange(0, 8, 2) / 8)
    turns = np.exp(1j * angles)
    pairs = x[..., 0::2] + 1j * x[..., 1::2] if interleaved else x[..., :4] + 1j * x[..., 4:]

    def elements(turned):
        parts = [turned.real, turned.imag]
        return np.stack(parts, -1).reshape(x.shape) if interleaved else np.concatenate(parts, -1)

    function = lambda x: F.rotary_embedding(x, positions, 100.0, interleaved)
    np.testing.assert_allclose(adjoint.jit(function)(x), elements(pairs * turns), rtol=1e-10, atol=1e-12)
    found, weights = gradient(function, x)
    pairs = weights[..., 0::2] + 1j * weights[..., 1::2] if interleaved else weights[..., :4] + 1j * weights[..., 4:]
    np.testing.assert_allclose(found, elements(pairs / turns), rtol=1e-10, atol=1e-12)


def test_rotary_embedding_of_traced_positions():
    """Decoding: the position is known when the program runs."""
    x = floats(4, 1, 6)
    step = adjoint.jit(lambda x, number: F.rotary_embedding(x, number + np.zeros(1, np.int64)))
    for number in (0, 3):
        whole = adjoint.jit(lambda x: F.rotary_embedding(x, np.full(1, number)))(x)
        np.testing.assert_array_equal(step(x, np.array(number, np.int64)), whole)


def test_rotary_embedding_of_the_smallest_integer():
    x = floats(1, 4)
    for element in (np.int8, np.int32):
        positions = np.full(1, -128, element)
        found, weights = gradient(lambda x, positions=positions: ops.rotary_embedding(x, positions, base=100.0), x)
        np.testing.assert_allclose((found**2).sum(), (weights**2).sum(), rtol=1e-10)
        turned = adjoint.jit(lambda x: ops.rotary_embedding(x, np.full(1, 128, np.int32), base=100.0))(weights)
        np.testing.assert_allclose(found, turned, rtol=1e-9)


def test_dropout_saves_no_mask():
    """The derivative draws the mask again: it is that of the forward pass."""
    x, key = floats(40, 30), adjoint.random.key(9)
    function = lambda x: F.dropout(x, 0.3, key=key)
    made = adjoint.jit(function)(x)
    found, weights = gradient(function, x)
    np.testing.assert_array_equal(made == 0, found == 0)
    np.testing.assert_allclose(found[made != 0], (weights / 0.7)[made != 0], rtol=1e-12)
    assert abs((made == 0).mean() - 0.3) < 0.05
    np.testing.assert_array_equal(made == 0, adjoint.jit(lambda: adjoint.random.uniform(key, (40, 30)))() < np.float32(0.3))


def test_cumulative_products_and_extremes():
    x = floats(3, 7)
    x[1, 2] = x[1, 4] = 0
    x[2, 3] = 0
    np.testing.assert_allclose(adjoint.jit(lambda x: anp.cumulative_prod(x, axis=1))(x), np.cumprod(x, 1), rtol=1e-14)
    for name, ufunc in (("cummax", np.maximum), ("cummin", np.minimum)):
        made = adjoint.jit(lambda x, name=name: getattr(ops, name)(x, axis=1))(x)
        np.testing.assert_array_equal(made, ufunc.accumulate(x, 1))


@pytest.mark.parametrize("open_size", [False, True])
def test_products_that_overflow_behind_a_block(open_size):
    """The first elements have finite gradients, though the product of the whole block is infinite."""
    x = np.full(17, 300.0, np.float32)
    specs = [adjoint.spec("n", "f32")] if open_size else None
    found = adjoint.jit(adjoint.grad(lambda x: anp.cumulative_prod(x)[:2].sum()), specs=specs)(x)
    np.testing.assert_array_equal(found[:16], [301, 300] + [0] * 14)


def test_gradients_against_torch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    x = floats(3, 37)
    x[1, 2] = x[1, 4] = 0
    x[2, 3] = 0
    functions = {
        "cumprod": (lambda x: anp.cumulative_prod(x, axis=1), lambda t: torch.cumprod(t, 1)),
        "cummax": (lambda x: ops.cummax(x, axis=1), lambda t: torch.cummax(t, 1).values),
        "cummin": (lambda x: ops.cummin(x, axis=1), lambda t: torch.cummin(t, 1).values),
        "logsumexp": (lambda x: F.logsumexp(x, 0), lambda t: torch.logsumexp(t, 0)),
    }
    for name, (ours, theirs) in functions.items():
        # Of equal elements PyTorch takes the last one.
        at = x + np.arange(37) * 1e-3 if name in ("cummax", "cummin") else x
        found, weights = gradient(ours, at)
        other = torch.tensor(at, requires_grad=True)
        (theirs(other) * torch.tensor(weights)).sum().backward()
        np.testing.assert_allclose(found, other.grad.numpy(), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("op, names", [
    ("group_norm", ("x", "scale", "bias")), ("batch_norm", ("x", "scale", "bias")),
    ("batch_norm_inference", ("x", "scale", "bias", "mean", "variance")),
])
def test_norms_against_torch(op, names):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    arrays = {"x": floats(3, 6, 4, 5), **{name: floats(6) for name in ("scale", "bias", "mean")},
              "variance": RANDOM.random(6) + 0.5}
    given = [arrays[name] for name in names]
    options = {"axis": 1, "epsilon": 1e-3, **({"groups": 3} if op == "group_norm" else {})}

    def ours(*values):
        made = getattr(ops, op)(*values, **options)
        return made[0] if op == "batch_norm" else made

    def theirs(x, scale, bias, mean=None, variance=None):
        if op == "group_norm":
            return torch.nn.functional.group_norm(x, 3, scale, bias, 1e-3)
        return torch.nn.functional.batch_norm(x, mean, variance, scale, bias, mean is None, 0.0, 1e-3)

    tensors = [torch.tensor(value, requires_grad=number < 3) for number, value in enumerate(given)]
    expected = theirs(*tensors)
    np.testing.assert_allclose(adjoint.jit(ours)(*given), expected.detach().numpy(), rtol=1e-10, atol=1e-12)
    weights = floats(*expected.shape)
    (expected * torch.tensor(weights)).sum().backward()
    count = range(3)
    found = adjoint.grad(lambda *values: (ours(*values) * weights).sum(), argnums=tuple(count))(*given)
    for one, tensor in zip(found, tensors):
        np.testing.assert_allclose(one, tensor.grad.numpy(), rtol=1e-9, atol=1e-10)


def test_views_of_bits():
    x = np.array([0.0, -0.0, 1.5, -2.5, np.inf, 1e-42], np.float32)
    np.testing.assert_array_equal(adjoint.jit(lambda x: x.view("i32"))(x), x.view(np.int32))
    np.testing.assert_array_equal(adjoint.jit(lambda x: x.view("i32").view("f32"))(x).view(np.int32), x.view(np.int32))
    nans = np.array([0xFFC00001, 0x7F800001], np.uint32).view(np.float32)
    assert (adjoint.jit(lambda x: x.view("i32"))(nans) == 0x7FC00000).all()
    with pytest.raises(adjoint.Error, match="expected element types of one width"):
        adjoint.jit(lambda x: x.view("i64"))(x)
