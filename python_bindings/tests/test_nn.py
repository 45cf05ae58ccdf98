# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Layers, losses and optimisers against formulas in NumPy, and against PyTorch where it is installed."""

import sys

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint import nn, optim

F = nn.functional
RANDOM = np.random.default_rng(11)


def floats(*shape):
    return RANDOM.standard_normal(shape)


def run(function, *arguments, **options):
    return adjoint.jit(function, **options)(*arguments)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from Python 3.11 on")
@pytest.mark.parametrize("call", [lambda model, x: model(x), lambda model, x: adjoint.jit(lambda m, y: m(y))(model, x)],
                         ids=["eager", "traced"])
def test_errors_name_the_layers(call):
    model = nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Linear(5, 2)))
    with pytest.raises(adjoint.Error) as caught:
        call(model, np.ones((2, 3), np.float32))
    assert caught.value.__notes__ == ["in the layer Linear (weight (2, 5), bias (2,))", "in the layer Sequential",
                                      "in the layer Sequential"]


def test_parameters_are_trees():
    model = nn.Sequential(nn.Linear(3, 4, key=1), nn.ReLU(), nn.Linear(4, 2, key=2))
    assert list(model.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    gradient = adjoint.grad(lambda model, x: model(x).sum())(model, floats(5, 3).astype(np.float32))
    assert isinstance(gradient, nn.Sequential) and gradient[0].weight.shape == (4, 3)
    np.testing.assert_allclose(gradient[2].bias, [5, 5])


def test_first_values_are_those_of_the_key():
    weight = nn.Linear(7, 5, key=3).weight
    assert weight.dtype == np.float32 and abs(weight).max() < 1 / np.sqrt(7)
    np.testing.assert_array_equal(weight, nn.Linear(7, 5, key=3).weight)
    assert (weight != nn.Linear(7, 5, key=4).weight).all()

    def draw(seed):
        key = adjoint.random.fold_in(adjoint.random.key(seed), 1)
        return (2 * adjoint.random.uniform(key, (35,)).astype("f64") - 1) * 7**-0.5

    np.testing.assert_array_equal(weight.ravel(), run(draw, np.array(3, np.int64)).astype(np.float32))


def test_state_dicts():
    model = nn.Linear(2, 3, key=1)
    other = model.load_state_dict({"weight": np.ones((3, 2)), "bias": np.zeros(3)})
    assert other.weight.dtype == np.float32 and other.weight.sum() == 6 and model.weight.sum() != 6
    with pytest.raises(adjoint.OptionError, match="missing: bias, unknown: b"):
        model.load_state_dict({"weight": model.weight, "b": model.bias})
    with pytest.raises(adjoint.OptionError, match=r"expected the shape \(3, 2\), got \(2, 3\)"):
        model.load_state_dict({"weight": model.weight.T, "bias": model.bias})


def test_norms():
    x, weight, bias = floats(4, 6), floats(6), floats(6)
    centred = x - x.mean(-1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(run(F.layer_norm, x, weight, bias), expected, rtol=1e-12)
    expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight
    np.testing.assert_allclose(run(F.rms_norm, x, weight), expected, rtol=1e-12)


def test_dropout():
    x = np.ones(4000)
    made = run(lambda x: F.dropout(x, 0.25, key=adjoint.random.key(5)), x)
    assert set(np.unique(made)) == {0, 1 / 0.75} and abs((made == 0).mean() - 0.25) < 0.03
    assert (run(lambda x: F.dropout(x, 0.25, training=False), x) == 1).all()
    with pytest.raises(adjoint.OptionError, match="needs a key"):
        run(F.dropout, x)


def test_class_numbers_that_are_ignored():
    scores, labels = floats(5, 3), np.array([0, -100, 2, -100, 1], np.int32)
    logs = scores - np.log(np.exp(scores).sum(-1, keepdims=True))
    expected = -np.mean([logs[0, 0], logs[2, 2], logs[4, 1]])
    np.testing.assert_allclose(run(F.cross_entropy, scores, labels), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_numbers_that_are_no_class(name, dtype, target):
    """As PyTorch: only `ignore_index` does not count."""
    scores = np.log(np.full((2, 2, 3), 1 / 3))

    def loss(labels, **options):
        made = adjoint.jit(lambda x, y: getattr(F, name)(x, y, **options), target=target)
        return made(scores, np.array(labels, dtype).reshape(2, 2))

    third = np.log(3)
    np.testing.assert_allclose(loss([0, -100, 2, -100]), third)
    np.testing.assert_allclose(loss([0, -1, 2, 1], ignore_index=-1), third)
    np.testing.assert_allclose(loss([0, 1, 7, 1], ignore_index=7, reduction="sum"), 3 * third)
    np.testing.assert_allclose(loss([0, 1, 7, 1], ignore_index=7, reduction="none"), [[third] * 2, [0, third]])
    for labels, options, number in (([0, 1, 3, 1], {}, 3), ([0, -1, 2, 1], {}, -1), ([0, -2, -100, 1], {}, -2),
                                    ([-100, 1, 2, 0], {"ignore_index": -1}, -100), ([0, -100, 1, 7], {}, 7)):
        with pytest.raises(adjoint.ProgramError, match=f"(number|index) {number} is outside") as caught:
            loss(labels, **options)
        assert caught.value.location.startswith(__file__)


def test_labels_of_no_rows():
    for function in (F.cross_entropy, F.nll_loss):
        for specs in (None, (adjoint.spec("n 3"), adjoint.spec("n", "i32"))):
            made = adjoint.jit(lambda x, y: function(x, y, "sum"), specs=specs)  # noqa: B023
            assert made(np.ones((0, 3), np.float32), np.zeros(0, np.int32)) == 0


def descend(optimizer, steps=5):
    """Parameters after some steps on a quadratic function, from the package and as a list of gradients' points."""
    start, matrix = {"a": np.array([1.0, -2.0, 3.0])}, np.diag([1.0, 2.0, 0.5])

    @adjoint.jit
    def step(parameters, state):
        gradients = adjoint.grad(lambda p: (p["a"] @ matrix * p["a"]).sum() / 2)(parameters)
        return optimizer.update(parameters, gradients, state)

    parameters, state = start, optimizer.init(start)
    for _ in range(steps):
        parameters, state = step(parameters, state)
    assert state["step"] == steps
    return parameters["a"], start["a"], matrix


def test_momentum():
    made, p, matrix = descend(optim.SGD(0.1, momentum=0.9, weight_decay=0.01, nesterov=True))
    momentum = None
    for _ in range(5):
        g = matrix @ p + 0.01 * p
        momentum = g if momentum is None else 0.9 * momentum + g
        p = p - 0.1 * (g + 0.9 * momentum)
    np.testing.assert_allclose(made, p, rtol=1e-13)


@pytest.mark.parametrize("is_decoupled", [False, True])
def test_adam(is_decoupled):
    optimizer = (optim.AdamW if is_decoupled else optim.Adam)(0.1, weight_decay=0.05)
    made, p, matrix = descend(optimizer)
    m = v = np.zeros(3)
    for count in range(1, 6):
        g = matrix @ p
        if is_decoupled:
            p = p * (1 - 0.1 * 0.05)
        else:
            g = g + 0.05 * p
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        p = p - 0.1 / (1 - 0.9**count) * m / (np.sqrt(v) / np.sqrt(1 - 0.999**count) + 1e-8)
    np.testing.assert_allclose(made, p, rtol=1e-12)


def test_clipping():
    gradients = {"a": floats(3), "b": floats(2, 2)}
    norm = np.sqrt(sum((one**2).sum() for one in gradients.values()))
    clipped, its = run(lambda g: optim.clip_by_global_norm(g, 0.5), gradients)
    np.testing.assert_allclose(its, norm, rtol=1e-13)
    np.testing.assert_allclose(clipped["a"], gradients["a"] * 0.5 / (norm + 1e-6), rtol=1e-12)
    same, _ = run(lambda g: optim.clip_by_global_norm(g, 1e3), gradients)
    np.testing.assert_array_equal(same["b"], gradients["b"])


def test_schedules():
    rates = run(lambda steps: anp.stack([optim.cosine(2.0, 10, warmup=2, floor=0.5)(steps[i]) for i in range(13)]),
                np.arange(13, dtype=np.float32))
    np.testing.assert_allclose(rates[:3], [1, 2, 2], rtol=1e-6)
    np.testing.assert_allclose(rates[6], 0.5 + 1.5 * 0.5 * (1 + np.cos(np.pi / 2)), rtol=1e-6)
    np.testing.assert_allclose(rates[10:], 0.5, rtol=1e-6)


def test_loss_scale():
    scaling = optim.LossScale(initial=8.0, growth_interval=2)

    @adjoint.jit
    def step(p, state, g):
        return scaling.update({"p": p["p"] - g}, p, {"p": g}, state)

    p, state = {"p": np.float32([1, 2])}, scaling.init()
    scales = []
    for g in ([1, 1], [np.inf, 1], [1, 1], [1, 1], [np.nan, 0]):
        p, state = step(p, state, np.float32(g))
        scales.append(float(state["scale"]))
    assert scales == [8, 4, 4, 8, 4]
    np.testing.assert_array_equal(p["p"], [-2, -1])


# PyTorch.


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


def compare(torch, ours, theirs, *inputs, dtype="f64", tolerance=1e-10):
    """Values and gradients of parameters and inputs, with PyTorch's parameters."""
    theirs = theirs.to(getattr(torch, {"f64": "float64", "f32": "float32"}[dtype]))
    ours = ours.astype(dtype).load_state_dict(theirs.state_dict())

    def loss(model, *inputs):
        y = model(*inputs)
        y = y[0] if isinstance(y, tuple) else y
        return (anp.sin(y) * y).sum(), y

    (_, y), gradients = adjoint.jit(lambda m, *x: adjoint.value_and_grad(loss, (0, 1), has_aux=True)(m, *x))(ours, *inputs)
    given = [torch.tensor(one, requires_grad=one.dtype.kind == "f") for one in inputs]
    expected = theirs(*given)
    expected = expected[0] if isinstance(expected, tuple) else expected
    (torch.sin(expected) * expected).sum().backward()
    pairs = [(y, expected.detach().numpy()), (gradients[1], given[0].grad.numpy())]
    named = dict(theirs.named_parameters())
    pairs += [(one, named[name].grad.numpy()) for name, one in gradients[0].state_dict().items()]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, atol=tolerance * max(1, abs(other).max()), rtol=0)


@pytest.mark.parametrize("dtype, tolerance", [("f64", 1e-10), ("f32", 1e-5)])
@pytest.mark.parametrize("name", ["linear", "layer_norm", "rms_norm", "encoder", "encoder_first", "stack", "lstm", "gru",
                                  "mlp"])
def test_layers_of_pytorch(torch, name, dtype, tolerance):
    tn = torch.nn
    torch.manual_seed(0)
    ours, theirs, shape = {
        "linear": (nn.Linear(6, 4), tn.Linear(6, 4), (5, 6)),
        "layer_norm": (nn.LayerNorm(6), tn.LayerNorm(6), (5, 6)),
        "rms_norm": (nn.RMSNorm(6), tn.RMSNorm(6, eps=1e-6), (5, 6)),
        "encoder": (nn.TransformerEncoderLayer(8, 2, 16), tn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True),
                    (3, 5, 8)),
        "encoder_first": (nn.TransformerEncoderLayer(8, 4, 16, "gelu", norm_first=True),
                          tn.TransformerEncoderLayer(8, 4, 16, 0.0, "gelu", batch_first=True, norm_first=True), (3, 5, 8)),
        "stack": (nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, nn.LayerNorm(8)),
                  tn.TransformerEncoder(tn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), 2, tn.LayerNorm(8)),
                  (3, 5, 8)),
        "lstm": (nn.LSTM(6, 4), tn.LSTM(6, 4, batch_first=True), (3, 7, 6)),
        "gru": (nn.GRU(6, 4), tn.GRU(6, 4, batch_first=True), (3, 7, 6)),
        "mlp": (nn.Sequential(nn.Linear(6, 8), nn.GELU("tanh"), nn.Linear(8, 3), nn.LogSoftmax()),
                tn.Sequential(tn.Linear(6, 8), tn.GELU("tanh"), tn.Linear(8, 3), tn.LogSoftmax(-1)), (5, 6)),
    }[name]
    compare(torch, ours, theirs, floats(*shape).astype({"f64": np.float64, "f32": np.float32}[dtype]), dtype=dtype,
            tolerance=tolerance)


LOSSES = {"MSELoss": "floats", "L1Loss": "floats", "SmoothL1Loss": "floats", "HuberLoss": "floats",
          "BCEWithLogitsLoss": "truths", "BCELoss": "truths", "KLDivLoss": "parts", "CrossEntropyLoss": "classes",
          "NLLLoss": "classes"}


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_pytorch(torch, name, reduction):
    x = floats(6, 4) if name != "BCELoss" else RANDOM.random((6, 4))
    target = {"floats": floats(6, 4), "truths": RANDOM.integers(0, 2, (6, 4)).astype(float),
              "parts": RANDOM.dirichlet(np.ones(4), 6), "classes": RANDOM.integers(0, 4, 6)}[LOSSES[name]]
    value, gradient = run(lambda x, t: adjoint.value_and_grad(lambda x: getattr(nn, name)(reduction)(x, t).sum())(x), x,
                          target)
    given = torch.tensor(x, requires_grad=True)
    expected = getattr(torch.nn, name)(reduction=reduction)(given, torch.tensor(target)).sum()
    expected.backward()
    np.testing.assert_allclose(value, expected.item(), rtol=1e-12)
    np.testing.assert_allclose(gradient, given.grad.numpy(), atol=1e-12)


@pytest.mark.parametrize("layer", [nn.Linear(3, 2, key=1), nn.LayerNorm(3), nn.ReLU(), nn.ELU(), nn.LeakyReLU(),
                                   nn.Softmax()],
                         ids=repr)
def test_a_list_is_an_array(layer):
    given = [[1, -2.5, 3], [0, 1, 2]]
    made, expected = layer(given), layer(np.float32(given))
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, expected)
    np.testing.assert_array_equal(adjoint.jit(lambda layer: layer(given))(layer), expected)


@pytest.mark.parametrize("layer", [nn.LSTM(2, 2, key=1), nn.GRU(2, 2, key=1)], ids=repr)
def test_a_list_is_a_sequence(layer):
    given = [[[1.0, 2.0], [3.0, 4.0]]]
    np.testing.assert_array_equal(layer(given)[0], layer(np.float32(given))[0])
