# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Training runs that are traced with adjoint.optim have the bits of those that adjoint.text.loop writes."""

import dataclasses

import ml_dtypes
import numpy as np
import pytest

import adjoint
from adjoint import optim
from adjoint.text import delayed as text_delayed
from adjoint.text import optim as text_optim
from adjoint.text import scaling as text_scaling
from adjoint.text.loop import Training, training_function

STEPS = 12
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}

LOSS = """
func.func private @loss(%w: tensor<3x2xELEMENT>, %b: tensor<2xELEMENT>, %x: tensor<8x3xf32>, %y: tensor<8x2xf32>)
    -> tensor<f32> {
WIDEN
  %product = ad.dot %x, %w_f32 : (tensor<8x3xf32>, tensor<3x2xf32>) -> tensor<8x2xf32>
  %guess = ad.add %product, %b_f32 : tensor<8x2xf32>, tensor<2xf32>
  %error = ad.sub %guess, %y : tensor<8x2xf32>
  %square = ad.mul %error, %error : tensor<8x2xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<8x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
"""


def loss(model, x, y):
    w, b = (one.astype("f32") for one in model)
    error = x @ w + b - y
    return (error * error).mean()


def data(breaks):
    random = np.random.default_rng(0)
    x = random.standard_normal((STEPS, 8, 3)).astype(np.float32)
    y = (x @ np.array([[1, 2], [-1, 0], [0.5, -2]]) + [0.25, -1]).astype(np.float32)
    if breaks:
        x[4, 0, 0] = np.inf
    model = random.standard_normal((3, 2)).astype(np.float32), np.full(2, 0.1, np.float32)
    return model, {"x": x, "y": y, "rate": np.linspace(0.01, 0.2, STEPS).astype(np.float32)}


def collect(names):
    received = {name: [] for name in names}
    return received, {name: lambda value, to=to: to.append(np.asarray(value).tobytes()) for name, to in received.items()}


def run_text(training, precision):
    element, shapes = training.storage.read, {"w": "3x2", "b": "2"}
    widen = [f"  %{n}_f32 = ad.cast %{n} : tensor<{s}x{element}> -> tensor<{s}xf32>" for n, s in shapes.items()]
    body = LOSS.replace("ELEMENT", element).replace("WIDEN", "\n".join(widen))
    body = body if element != "f32" else body.replace("\n".join(widen) + "\n", "").replace("_f32", "")
    program = adjoint.compile(body + training_function("main", training), precision=precision, numerics="reproducible")
    model, feeds = data(training.scaling is not None)
    received, receives = collect(("loss", "scale", "finite") if training.scaling else ("loss",))
    made = program(*(one.astype(DTYPES[training.storage.element]) for one in model), feeds=feeds, receives=receives)
    return [one.tobytes() for one in made], received


def stored(optimizer, storage, seed):
    if storage.copy:
        return optim.Masters(optimizer)
    return optim.StochasticRounding(optimizer, seed) if storage.stochastic else optimizer


def scaling_of(scaling):
    return optim.LossScale(scaling.scale, None) if isinstance(scaling, text_scaling.StaticScale) else scaling.traced()


def run_traced(training, precision):
    storage, scaling = training.storage, training.scaling and scaling_of(training.scaling)
    delayed = training.delayed and training.delayed.traced()

    def scaled_loss(model, x, y, scale):
        value = loss(model, x, y)
        return (value if scale is None else scaling.scale(value, scale)), value

    def step(_, carried):
        model, state, scale, history = carried
        x, y = adjoint.feed("x", adjoint.spec("8 3")), adjoint.feed("y", adjoint.spec("8 2"))
        inner = dataclasses.replace(training.optimizer.traced(), lr=adjoint.feed("rate", adjoint.spec()))
        optimizer = stored(inner, storage, training.seed)
        if delayed:
            (_, value), gradient, history = delayed.value_and_grad(scaled_loss, has_aux=True)(history, model, x, y, scale)
        else:
            (_, value), gradient = adjoint.value_and_grad(scaled_loss, has_aux=True)(model, x, y, scale)
        adjoint.receive("loss", value)
        if scale is None:
            return *optimizer.update(model, gradient, state), scale, history
        adjoint.receive("scale", scale["scale"])
        gradient = scaling.unscale(gradient, scale)
        adjoint.receive("finite", optim.all_finite(gradient))
        changed = optimizer.update(model, gradient, state)
        (model, state), scale = scaling.update(changed, (model, state), gradient, scale)
        return model, state, scale, history

    @adjoint.jit(precision=precision, numerics="reproducible")
    def run(*carried):
        return adjoint.fori_loop(0, STEPS, step, carried)

    model, feeds = data(scaling is not None)
    received, receives = collect(("loss", "scale", "finite") if scaling else ("loss",))
    state = stored(training.optimizer.traced(), storage, training.seed).init(model)
    model = tuple(one.astype(DTYPES[storage.read]) for one in model)
    made, state, *_ = run(model, state, scaling and scaling.init(), delayed and delayed.init(),
                          feeds=feeds, receives=receives)
    return [one.tobytes() for one in (state["masters"] if storage.copy else made)], received


@pytest.mark.parametrize("scaling", [None, text_scaling.StaticScale(3.0), text_scaling.DynamicScale(2.0**24, interval=3),
                                     text_scaling.DynamicScale(1e3, 3.0, 0.3, 2)], ids=repr)
@pytest.mark.parametrize("storage", [text_optim.Storage(), text_optim.Storage(copy="bf16"),
                                     text_optim.Storage(copy="f16"), text_optim.Storage(stochastic="bf16"),
                                     text_optim.Storage(stochastic="f16")], ids=repr)
@pytest.mark.parametrize("optimizer", [text_optim.SGD(momentum=0.9, dampening=0.2), text_optim.AdamW()], ids=repr)
def test_runs_have_the_bits_of_those_in_text(optimizer, storage, scaling):
    training = Training("loss", {"w": (3, 2), "b": (2,)}, {"x": "tensor<8x3xf32>", "y": "tensor<8x2xf32>"}, STEPS,
                        optimizer, storage, scaling, seed=5)
    expected, found = run_text(training, None), run_traced(training, None)
    assert found == expected and len(found[1]["loss"]) == STEPS
    assert not scaling or expected[1]["finite"].count(b"\0") >= 1


@pytest.mark.parametrize("scaling", [None, text_scaling.DynamicScale(interval=3)], ids=repr)
def test_runs_in_f8_have_the_bits_of_those_in_text(scaling):
    delayed = text_delayed.DelayedScaling(1, history=4, margin=1)
    training = Training("loss", {"w": (3, 2), "b": (2,)}, {"x": "tensor<8x3xf32>", "y": "tensor<8x2xf32>"}, STEPS,
                        text_optim.SGD(), scaling=scaling, delayed=delayed)
    expected, found = run_text(training, "f8"), run_traced(training, "f8")
    assert found == expected and found != run_traced(training, None)
