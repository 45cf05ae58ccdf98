# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Norms of batches, and the statistics that they keep: against formulas in NumPy, and against PyTorch where it is
installed."""

import numpy as np
import pytest

import adjoint
from adjoint import nn, optim

F = nn.functional
RANDOM = np.random.default_rng(31)
SHAPES = {"BatchNorm1d": [(5, 3), (4, 3, 6)], "BatchNorm2d": [(2, 3, 4, 5)], "BatchNorm3d": [(2, 3, 2, 3, 2)]}
CASES = [(name, shape) for name, shapes in SHAPES.items() for shape in shapes]


def floats(*shape):
    return RANDOM.standard_normal(shape)


def of_channels(value, x):
    return value.reshape(-1, *[1] * (x.ndim - 2))


def layer_of(name, **options):
    """With other values than at first."""
    made = getattr(nn, name)(3, dtype="f64", **options)
    state = {key: np.abs(floats(3)) + 0.5 for key in made.state_dict()}
    return made.load_state_dict(state)


@adjoint.jit
def train(model, x):
    return model(x), model


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_training_and_use(name, shape):
    model, x, momentum = layer_of(name, momentum=0.3, eps=1e-3), floats(*shape), 0.3
    axes, count = (0, *range(2, len(shape))), x.size // 3
    mean, variance = x.mean(axes), x.var(axes)
    made, after = train(model, x)
    plain = (x - of_channels(mean, x)) / np.sqrt(of_channels(variance, x) + 1e-3)
    np.testing.assert_allclose(made, plain * of_channels(model.weight, x) + of_channels(model.bias, x), rtol=1e-11)
    np.testing.assert_allclose(after.running_mean, (1 - momentum) * model.running_mean + momentum * mean, rtol=1e-12)
    unbiased = variance * count / (count - 1)
    np.testing.assert_allclose(after.running_var, (1 - momentum) * model.running_var + momentum * unbiased, rtol=1e-12)
    np.testing.assert_array_equal(after.weight, model.weight)

    used, unchanged = train(after.eval(), x)
    plain = (x - of_channels(after.running_mean, x)) / np.sqrt(of_channels(after.running_var, x) + 1e-3)
    np.testing.assert_allclose(used, plain * of_channels(model.weight, x) + of_channels(model.bias, x), rtol=1e-11)
    np.testing.assert_array_equal(unchanged.running_mean, after.running_mean)
    np.testing.assert_array_equal(unchanged.running_var, after.running_var)


def test_batches_of_any_size():
    model, x = layer_of("BatchNorm1d"), floats(6, 3)
    of_open = adjoint.jit(lambda model, x: (model(x), model),
                          specs=[adjoint.tree.map(lambda leaf: adjoint.spec(leaf.shape, "f64"), model), adjoint.spec("b 3", "f64")])
    for batch in (x, x[:2]):
        for found, expected in zip(adjoint.tree.leaves(of_open(model, batch)), adjoint.tree.leaves(train(model, batch))):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_without_statistics():
    model, x = nn.BatchNorm1d(3, affine=False, track_running_stats=False), floats(5, 3)
    assert not model.state_dict()
    for mode in (model, model.eval()):
        np.testing.assert_allclose(mode(x), (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5), rtol=1e-11)


def test_modes_are_copies():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Sequential(nn.BatchNorm1d(3)))
    used = model.eval()
    assert model[1].training and not used[1].training and not used[2][0].training and used.train()[2][0].training
    assert used[0].weight is model[0].weight
    assert len(list(model.parameters())) == 6 and len(model.state_dict()) == 10


OPTIMIZERS = [optim.SGD(0.1, momentum=0.9, weight_decay=0.1), optim.AdamW(0.1), optim.Masters(optim.AdamW(0.1)),
              optim.StochasticRounding(optim.AdamW(0.1))]


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda one: type(one).__name__)
def test_optimizers_leave_statistics_alone(optimizer):
    model = nn.BatchNorm1d(3, dtype="bf16" if optimizer in OPTIMIZERS[2:] else "f32")
    state = optimizer.init(model)
    moved = model.load_state_dict({**model.state_dict(), "running_mean": np.full(3, 7.0)})
    made, _ = optimizer.update(moved, adjoint.tree.map(lambda leaf: np.ones(leaf.shape, np.float32), model), state)
    before = moved.astype("f32").state_dict()
    for name, value in made.astype("f32").state_dict().items():
        assert np.array_equal(value, before[name]) == name.startswith("running"), name


@pytest.mark.parametrize("options", [{}, {"loss_scale": optim.LossScale(initial=8.0)}], ids=["plain", "scaled"])
def test_trainer_keeps_statistics(options):
    """As a loop that returns the model by hand. A bias before the norm would have a gradient of rounding errors alone."""
    model = nn.Sequential(nn.Linear(3, 4, bias=False, key=1), nn.BatchNorm1d(4), nn.Linear(4, 1, key=2))
    data = [(floats(8, 3).astype(np.float32), floats(8, 1).astype(np.float32)) for _ in range(6)]
    loss = lambda model, batch: F.mse_loss(model(batch[0]), batch[1])
    optimizer = optim.AdamW(0.05)
    trained = adjoint.Trainer(loss, optimizer, progress=False, steps_per_call=3, **options).fit(model, data, 6).model

    @adjoint.jit
    def step(model, state, batch):
        (_, seen), gradient = adjoint.value_and_grad(lambda model: (loss(model, batch), model), has_aux=True)(model)
        return optimizer.update(seen, gradient, state)

    state = optimizer.init(model)
    for batch in data:
        model, state = step(model, state, batch)
    for name, value in model.state_dict().items():
        np.testing.assert_allclose(trained.state_dict()[name], value, rtol=1e-5, atol=1e-6, err_msg=name)
    assert abs(trained[1].running_mean).min() > 1e-3


@pytest.mark.parametrize(("call", "message"), [
    (lambda: nn.BatchNorm1d(3)(floats(1, 3)), "two elements or more of each channel"),
    (lambda: nn.BatchNorm1d(3)(floats(2, 3, 4, 5)), "rank 2 or 3 with 3 channels"),
    (lambda: nn.BatchNorm2d(3)(floats(2, 4, 4, 5)), "rank 4 with 3 channels"),
    (lambda: F.batch_norm(floats(2, 3), floats(3), floats(4)), "the running_var with an element for each of 3 channels"),
])
def test_wrong_arguments(call, message):
    with pytest.raises(adjoint.Error, match=message):
        adjoint.jit(lambda zero: call() + zero)(np.zeros(()))


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_layers_of_pytorch(name, shape):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs = getattr(torch.nn, name)(3, dtype=torch.float64)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter)
    ours = getattr(nn, name)(3, dtype="f64")
    ours = ours.load_state_dict({key: value.detach().numpy() for key, value in theirs.state_dict().items()})
    factor = floats(*shape)

    @adjoint.jit
    def step(model, x):
        run = lambda model, x: ((model(x) * factor).sum(), model)
        (_, seen), gradients = adjoint.value_and_grad(run, (0, 1), has_aux=True)(model, x)
        return seen, gradients

    for mode in ("train", "train", "eval"):
        theirs, ours, x = theirs.train(mode == "train"), ours.train(mode == "train"), floats(*shape)
        given = torch.tensor(x, requires_grad=True)
        theirs.zero_grad()
        (theirs(given) * torch.tensor(factor)).sum().backward()
        ours, (gradient, of_input) = step(ours, x)
        np.testing.assert_allclose(of_input, given.grad.numpy(), rtol=1e-9, atol=1e-10)
        for key, value in theirs.named_parameters():
            np.testing.assert_allclose(gradient.state_dict()[key], value.grad.numpy(), rtol=1e-9, atol=1e-10)
        for key, value in theirs.named_buffers():
            if key != "num_batches_tracked":
                np.testing.assert_allclose(ours.state_dict()[key], value.numpy(), rtol=1e-12)
