# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Norms of groups of channels against formulas in NumPy, and against PyTorch where it is installed."""

import os

import numpy as np
import pytest

import adjoint
from adjoint import nn

F = nn.functional
RANDOM = np.random.default_rng(29)


def floats(*shape):
    return RANDOM.standard_normal(shape)


def normalized(x, groups, eps):
    rows = x.reshape(x.shape[0], groups, -1)
    centred = rows - rows.mean(-1, keepdims=True)
    return (centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)).reshape(x.shape)


def spread(factor, x):
    return factor.reshape(-1, *[1] * (x.ndim - 2))


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("after", [(), (5,), (4, 3), (1, 1, 2)])
def test_groups(groups, after):
    x, weight, bias = floats(4, 6, *after), floats(6), floats(6)
    plain = normalized(x, groups, 1e-3)
    made = adjoint.jit(lambda x, w, b: (F.group_norm(x, groups, w, b, 1e-3), F.group_norm(x, groups, None, b, 1e-3),
                                        F.group_norm(x, groups, w, eps=1e-3)))(x, weight, bias)
    for found, expected in zip(made, (plain * spread(weight, x) + spread(bias, x), plain + spread(bias, x),
                                      plain * spread(weight, x))):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_instances(rank):
    layer = getattr(nn, f"InstanceNorm{rank}d")(3, affine=True, dtype="f64")
    layer = layer.load_state_dict({"weight": floats(3), "bias": floats(3)})
    x = floats(2, 3, *[4] * rank)
    expected = normalized(x, 3, 1e-5) * spread(layer.weight, x) + spread(layer.bias, x)
    np.testing.assert_allclose(layer(x), expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(layer(x[1]), expected[1], rtol=1e-11, atol=1e-11)
    with pytest.raises(adjoint.Error, match="with 3 channels"):
        layer(floats(2, 4, *[4] * rank))


def test_sizes_of_a_run():
    x, weight = floats(3, 4, 5), floats(4)
    of_open = adjoint.jit(F.group_norm, static_argnums=1, specs=[adjoint.spec("b 4 n", "f64"), None, adjoint.spec("4", "f64")])
    for one in (x, x[:1], x[:, :, :2]):
        np.testing.assert_allclose(of_open(one, 2, weight), normalized(one, 2, 1e-5) * spread(weight, one), rtol=1e-11)


def test_narrow_floats_round_once():
    x, weight, bias = (np.asarray(adjoint.jit(lambda x: x.astype("bf16").astype("f32"))(floats(*shape).astype(np.float32)))
                       for shape in ((2, 4, 9), (4,), (4,)))
    narrow = adjoint.jit(lambda *given: F.group_norm(given[0].astype("bf16"), 2, *(one.astype("bf16") for one in given[1:]))
                         .astype("f32"))(x, weight, bias)
    wide = adjoint.jit(lambda *given: F.group_norm(given[0], 2, *given[1:]).astype("bf16").astype("f32"))(x, weight, bias)
    np.testing.assert_array_equal(narrow, wide)


@pytest.mark.parametrize(("name", "arguments", "options", "shape"), [
    ("GroupNorm", (3, 6), {}, (4, 6, 5, 2)), ("GroupNorm", (1, 4, 1e-3), {"affine": False}, (2, 4)),
    ("InstanceNorm1d", (3,), {}, (2, 3, 7)), ("InstanceNorm2d", (3,), {"affine": True}, (2, 3, 4, 5)),
    ("InstanceNorm3d", (2,), {"eps": 1e-2}, (2, 2, 3, 4, 2)),
])  # fmt: skip
def test_layers_of_pytorch(name, arguments, options, shape):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs = getattr(torch.nn, name)(*arguments, **options, dtype=torch.float64)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter)
    ours = getattr(nn, name)(*arguments, **options, dtype="f64")
    ours = ours.load_state_dict({key: value.detach().numpy() for key, value in theirs.state_dict().items()})
    x, factor = floats(*shape), floats(*shape)
    given = torch.tensor(x, requires_grad=True)
    expected = theirs(given)
    (expected * torch.tensor(factor)).sum().backward()
    made, gradients = adjoint.jit(
        lambda model, x, f: (model(x), adjoint.grad(lambda model, x: (model(x) * f).sum(), argnums=(0, 1))(model, x))
    )(ours, x, factor)
    np.testing.assert_allclose(made, expected.detach().numpy(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(gradients[1], given.grad.numpy(), rtol=1e-10, atol=1e-10)
    for key, value in theirs.named_parameters():
        np.testing.assert_allclose(gradients[0].state_dict()[key], value.grad.numpy(), rtol=1e-10, atol=1e-10)


def slopes(x, cotangent, groups, eps):
    """The gradient of `normalized`."""
    def mean(rows):
        return rows.mean(-1, keepdims=True)

    rows, given = (array.reshape(x.shape[0], groups, -1) for array in (x, cotangent))
    centred = rows - mean(rows)
    factor = 1 / np.sqrt(mean(centred**2) + eps)
    plain = centred * factor
    return (factor * (given - mean(given) - plain * mean(given * plain))).reshape(x.shape)


@pytest.mark.parametrize("number", range(24))
def test_random_groups(number):
    """Any shape, type and numbers (in a sample those that the commit draws): the bits of the reference on all targets,
    and the formulas."""
    rng = np.random.default_rng([int(os.environ.get("ADJOINT_SAMPLE") or 0), number])
    groups, channels = (int(size) for size in rng.integers(1, 5, 2))
    after = (int(size) for size in rng.integers(1, 8, rng.integers(0, 4)))
    shape = (int(rng.integers(1, 4)), groups * channels, *after)
    element, tolerance = [("f64", 1e-11), ("f32", 1e-4), ("bf16", 0.03)][number % 3]
    eps = float(10.0 ** rng.integers(-3, 0))
    rounded = adjoint.jit(lambda a: a.astype(element).astype("f64"))
    sizes = (shape, shape[1:2], shape[1:2], shape)
    x, weight, bias, cotangent = arrays = [np.asarray(rounded(rng.standard_normal(each))) for each in sizes]

    def both(*given):
        value, pull_back = adjoint.vjp(lambda x, w, b: F.group_norm(x, groups, w, b, eps), *given[:3])
        return [array.astype("f64") for array in (value, *pull_back(given[3]))]

    def on(target):
        run = adjoint.jit(lambda *given: both(*(a.astype(element) for a in given)), target=target,
                          numerics="reproducible")
        return [np.asarray(array) for array in run(*arrays)]

    expected = on("reference")
    for target in ("cpu", "gpu-sim"):
        for found, bits in zip(on(target), expected):
            assert found.tobytes() == bits.tobytes(), f"{target} {shape} {element}"
    plain, over = normalized(x, groups, eps), tuple(axis for axis in range(x.ndim) if axis != 1)
    formulas = (plain * spread(weight, x) + spread(bias, x), slopes(x, cotangent * spread(weight, x), groups, eps),
                (cotangent * plain).sum(over), cotangent.sum(over))
    for found, formula in zip(expected, formulas):
        scale = max(np.abs(formula).max(), 1)
        np.testing.assert_allclose(found, formula, rtol=0, atol=tolerance * scale, err_msg=f"{shape} {element}")
