# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Convolutions and pooling against loops in NumPy, and against PyTorch where it is installed."""

import itertools

import numpy as np
import pytest

import adjoint
from adjoint import nn

F = nn.functional
RANDOM = np.random.default_rng(23)


def floats(*shape):
    return RANDOM.standard_normal(shape)


def run(function, *arrays):
    return np.asarray(adjoint.jit(function)(*arrays))


def as_list(value, rank):
    return [value] * rank if isinstance(value, int) else list(value)


def windows(sizes, kernel, stride, padding, dilation, extra=0):
    """(place, step, element) of all elements of windows that are inside."""
    rank = len(sizes)
    stride, padding, dilation = (as_list(one, rank) for one in (stride, padding, dilation))
    places = [(n + 2 * p + extra - (k - 1) * d - 1) // s + 1
              for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation)]
    inside = []
    for place in itertools.product(*map(range, places)):
        for step in itertools.product(*map(range, kernel)):
            at = tuple(i * s + k * d - p for i, k, s, d, p in zip(place, step, stride, dilation, padding))
            if all(0 <= i < n for i, n in zip(at, sizes)):
                inside.append((place, step, at))
    return places, inside


def convolution(x, weight, stride=1, padding=0, dilation=1, groups=1):
    places, inside = windows(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    result = np.zeros((len(x), len(weight), *places))
    channels, made = weight.shape[1], len(weight) // groups
    for place, step, at in inside:
        for group in range(groups):
            values = x[(slice(None), slice(group * channels, (group + 1) * channels), *at)]
            taps = weight[(slice(group * made, (group + 1) * made), slice(None), *step)]
            result[(slice(None), slice(group * made, (group + 1) * made), *place)] += values @ taps.T
    return result


def transposed(x, weight, stride, padding, output_padding, groups, dilation):
    rank = x.ndim - 2
    stride, padding, dilation, extra = (as_list(one, rank) for one in (stride, padding, dilation, output_padding))
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1
             for n, s, p, d, k, e in zip(x.shape[2:], stride, padding, dilation, weight.shape[2:], extra)]
    made, channels = weight.shape[1], x.shape[1] // groups
    result = np.zeros((len(x), made * groups, *sizes))
    for place in itertools.product(*map(range, x.shape[2:])):
        for step in itertools.product(*map(range, weight.shape[2:])):
            at = tuple(i * s + k * d - p for i, k, s, d, p in zip(place, step, stride, dilation, padding))
            if not all(0 <= i < n for i, n in zip(at, sizes)):
                continue
            for group in range(groups):
                values = x[(slice(None), slice(group * channels, (group + 1) * channels), *place)]
                taps = weight[(slice(group * channels, (group + 1) * channels), slice(None), *step)]
                result[(slice(None), slice(group * made, (group + 1) * made), *at)] += values @ taps
    return result


CONVOLUTIONS = [
    ((2, 3, 8), (4, 3, 3), {}),
    ((2, 4, 9), (6, 2, 3), {"stride": 2, "padding": 1, "groups": 2}),
    ((2, 3, 6, 7), (4, 3, 3, 2), {"padding": (1, 0), "dilation": (2, 1)}),
    ((1, 4, 7, 8), (8, 1, 3, 3), {"stride": (2, 1), "groups": 4}),
    ((2, 3, 5, 4), (5, 3, 1, 1), {"stride": 2}),
    ((1, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"padding": 1, "stride": (1, 2, 1)}),
]


def function(name, rank):
    return getattr(F, f"{name}{rank}d")


@pytest.mark.parametrize("x, weight, options", CONVOLUTIONS)
def test_convolutions(x, weight, options):
    x, weight = floats(*x), floats(*weight)
    bias = floats(len(weight))
    made = run(lambda *given: function("conv", x.ndim - 2)(*given, **options), x, weight, bias)
    expected = convolution(x, weight, **options) + bias.reshape(-1, *[1] * (x.ndim - 2))
    np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-12)


TRANSPOSED = [
    ((2, 3, 5), (3, 4, 3), {}),
    ((2, 4, 5), (4, 2, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2}),
    ((1, 3, 4, 3), (3, 2, 3, 2), {"stride": (2, 3), "padding": (1, 0), "output_padding": (1, 2), "dilation": 2}),
]


@pytest.mark.parametrize("x, weight, options", TRANSPOSED)
def test_transposed_convolutions(x, weight, options):
    x, weight = floats(*x), floats(*weight)
    rank = x.ndim - 2
    made = run(lambda *given: function("conv_transpose", rank)(*given, **options), x, weight)
    every = {"stride": 1, "padding": 0, "output_padding": 0, "groups": 1, "dilation": 1, **options}
    np.testing.assert_allclose(made, transposed(x, weight, **every), rtol=1e-12, atol=1e-12)


def test_paddings_in_words():
    x, weight = floats(2, 3, 9), floats(4, 3, 4)
    assert run(lambda x, weight: F.conv1d(x, weight, padding="valid"), x, weight).shape == (2, 4, 6)
    same = run(lambda x, weight: F.conv1d(x, weight, padding="same", dilation=2), x, weight)
    widened = np.pad(x, ((0, 0), (0, 0), (3, 3)))
    np.testing.assert_allclose(same, convolution(widened, weight, dilation=2), rtol=1e-12, atol=1e-12)


def test_inputs_without_a_batch():
    x, weight = floats(3, 6, 5), floats(4, 3, 2, 2)
    np.testing.assert_allclose(run(F.conv2d, x, weight), convolution(x[None], weight)[0], rtol=1e-12, atol=1e-12)
    assert run(lambda x: F.max_pool2d(x, 2), x).shape == (3, 3, 2)


def pooled(x, kernel, fold, stride=None, padding=0, dilation=1):
    rank = x.ndim - 2
    kernel = as_list(kernel, rank)
    places, inside = windows(x.shape[2:], kernel, kernel if stride is None else stride, padding, dilation)
    elements = {}
    for place, _, at in inside:
        elements.setdefault(place, []).append(x[(slice(None), slice(None), *at)])
    result = np.zeros((*x.shape[:2], *places))
    for place, values in elements.items():
        result[(slice(None), slice(None), *place)] = fold(np.stack(values))
    return result


@pytest.mark.parametrize("x, arguments, options", [
    ((2, 3, 9), (2,), {}), ((2, 3, 9), (3, 2), {"padding": 1}),
    ((2, 3, 8, 7), ((2, 3), (2, 1)), {"padding": (1, 1)}), ((1, 2, 5, 6, 4), (2,), {"stride": 1})])
def test_pooling(x, arguments, options):
    x = floats(*x)
    count = np.prod(as_list(arguments[0], x.ndim - 2))
    for name, fold in (("max_pool", lambda values: values.max(0)), ("avg_pool", lambda values: values.sum(0) / count)):
        made = run(lambda x: function(name, x.ndim - 2)(x, *arguments, **options), x)  # noqa: B023, runs at once
        given = {"stride": arguments[1]} if len(arguments) > 1 else {}
        np.testing.assert_allclose(made, pooled(x, arguments[0], fold, **given, **options), rtol=1e-12, atol=1e-12)


def test_dilated_pooling():
    x = floats(2, 3, 9, 8)
    expected = pooled(x, 2, lambda values: values.max(0), 1, 1, (2, 3))
    np.testing.assert_array_equal(run(lambda x: F.max_pool2d(x, 2, 1, 1, dilation=(2, 3)), x), expected)


def test_means_of_what_is_inside():
    x = floats(2, 3, 9)
    np.testing.assert_allclose(run(lambda x: F.avg_pool1d(x, 3, 2, 1, count_include_pad=False), x),
                               pooled(x, 3, lambda values: values.mean(0), 2, 1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run(lambda x: F.avg_pool2d(x, 3, divisor_override=2), x[None]),
                               pooled(x[None], 3, lambda values: values.sum(0) / 2), rtol=1e-12, atol=1e-12)


def test_windows_over_the_end():
    x = floats(1, 2, 7)
    expected = np.stack([x[..., 0:2].max(-1), x[..., 3:5].max(-1), x[..., 6]], -1)
    np.testing.assert_array_equal(run(lambda x: F.max_pool1d(x, 2, 3, ceil_mode=True), x), expected)
    means = np.stack([x[..., 0:2].mean(-1), x[..., 3:5].mean(-1), x[..., 6]], -1)
    np.testing.assert_allclose(run(lambda x: F.avg_pool1d(x, 2, 3, ceil_mode=True), x), means, rtol=1e-12)


def test_adaptive_means():
    x = floats(2, 3, 8, 6)
    np.testing.assert_allclose(run(lambda x: F.adaptive_avg_pool2d(x, 1), x), x.mean((2, 3), keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(run(lambda x: F.adaptive_avg_pool2d(x, (2, 3)), x), x.reshape(2, 3, 2, 4, 3, 2).mean((3, 5)), rtol=1e-12)
    with pytest.raises(adjoint.TracingError, match="multiples of"):
        run(lambda x: F.adaptive_avg_pool2d(x, 5), x)


def test_gradients():
    model = nn.Sequential(nn.Conv2d(2, 4, 3, padding=1, key=1, dtype="f64"), nn.MaxPool2d(2),
                          nn.ConvTranspose2d(4, 2, 2, 2, key=2, dtype="f64"), nn.AvgPool2d([2, 2], ceil_mode=True), nn.Flatten())
    x = floats(2, 2, 6, 4)
    assert model(x).shape == (2, 12)
    adjoint.check_gradients(lambda model, x: (model(x) ** 2).sum(), model, x)


def test_first_values():
    layer = nn.Conv2d(4, 6, (3, 5), groups=2, key=3)
    assert layer.weight.shape == (6, 2, 3, 5) and layer.bias.shape == (6,)
    assert abs(layer.weight).max() <= 1 / np.sqrt(2 * 15)
    assert nn.ConvTranspose1d(4, 6, 3, groups=2).weight.shape == (4, 3, 3)
    assert list(nn.Conv1d(1, 1, 1, bias=False).state_dict()) == ["weight"]


@pytest.mark.parametrize("call, message", [
    (lambda: F.conv2d(floats(2, 3, 4), floats(4, 3, 2)), "expected a weight of rank 4"),
    (lambda: F.conv1d(floats(3, 3), floats(4, 2, 2)), "expected axes 'c' of one size, but got 3 and 2"),
    (lambda: F.conv1d(floats(2, 3, 4, 5), floats(4, 3, 2)), "expected an input of rank 3, or 2 without a batch"),
    (lambda: F.conv1d(floats(2, 3, 4), floats(4, 3, 2), stride=0), "expected stride as an int from 1"),
    (lambda: F.conv1d(floats(2, 3, 4), floats(4, 3, 2), stride=(1, 1)), "expected stride as an int or as 1 of them"),
    (lambda: F.conv1d(floats(2, 3, 4), floats(4, 3, 2), padding="full"), "expected padding as 'valid' or 'same'"),
    (lambda: F.conv1d(floats(2, 3, 4), floats(4, 3, 2), padding="same", stride=2), "expected a stride of 1"),
    (lambda: F.conv1d(floats(2, 3, 4), floats(4, 3, 2), groups=2), "a multiple of 2 channels"),
    (lambda: F.conv_transpose1d(floats(2, 3, 4), floats(3, 3, 2), output_padding=1), "expected output_padding below"),
    (lambda: F.max_pool1d(floats(2, 3, 4), 2, padding=2), "expected a padding of at most half of the window"),
    (lambda: F.avg_pool2d(floats(1, 3, 4, 4), 2, divisor_override=0), "expected divisor_override as a number other"),
    (lambda: nn.Conv2d(3, 4, 3, groups=2), "expected in_channels as a multiple of groups"),
    (lambda: nn.Conv2d(4, 4, 3, padding_mode="circular"), "expected padding_mode as 'zeros'"),
    (lambda: nn.Flatten(2, 1)(floats(2, 3, 4)), "expected start_dim before end_dim"),
])
def test_wrong_arguments(call, message):
    with pytest.raises(adjoint.Error, match=message):
        run(lambda zero: call() + zero, np.zeros(()))


# The layers of PyTorch.

LAYERS = [
    ("Conv1d", (4, 6, 3), {"stride": 2, "padding": 1, "groups": 2}, (2, 4, 11)),
    ("Conv2d", (3, 5, (3, 2)), {"padding": "same", "dilation": 2}, (2, 3, 9, 8)),
    ("Conv3d", (2, 3, 2), {"bias": False}, (1, 2, 4, 5, 3)),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 3, "padding": 1, "output_padding": 2, "groups": 2}, (2, 4, 5)),
    ("ConvTranspose2d", (3, 4, (2, 3), 2, 1), {"dilation": 2}, (2, 3, 5, 4)),
    ("MaxPool1d", (3, 2, 1), {"ceil_mode": True}, (2, 3, 8)),
    ("MaxPool2d", ((3, 2),), {"dilation": 2}, (2, 3, 9, 8)),
    ("AvgPool1d", (3, 2, 1), {"ceil_mode": True}, (2, 3, 8)),
    ("AvgPool2d", (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}, (2, 3, 8, 6)),
    ("AvgPool3d", (2,), {}, (1, 2, 4, 5, 3)),
    ("AdaptiveAvgPool2d", ((2, 4),), {}, (2, 3, 6, 8)),
    ("Flatten", (), {}, (2, 3, 4)),
]


@pytest.mark.parametrize("name, arguments, options, shape", LAYERS, ids=[one[0] for one in LAYERS])
def test_layers_of_pytorch(name, arguments, options, shape):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs = getattr(torch.nn, name)(*arguments, **options)
    ours = getattr(nn, name)(*arguments, **options)
    ours = ours.load_state_dict({key: value.detach().numpy() for key, value in theirs.state_dict().items()})
    x = floats(*shape).astype(np.float32)
    given = torch.tensor(x, requires_grad=True)
    expected = theirs(given)
    made, gradients = adjoint.jit(
        lambda model, x: (model(x), adjoint.grad(lambda model, x: (model(x) ** 2).sum(), argnums=(0, 1))(model, x))
    )(ours, x)
    (expected**2).sum().backward()
    np.testing.assert_allclose(made, expected.detach().numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(gradients[1], given.grad.numpy(), rtol=1e-4, atol=1e-4)
    for key, value in theirs.named_parameters():
        np.testing.assert_allclose(gradients[0].state_dict()[key], value.grad.numpy(), rtol=1e-4, atol=1e-3)
