# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Whole training runs of adjoint.text.loop and the same runs in f64."""

import adjoint
import numpy as np
import pytest
from adjoint.text.loop import Training, training_function
from adjoint.text.optim import SGD, AdamW, Storage
from adjoint.text.scaling import DynamicScale, StaticScale

STEPS = 12
RATE = 0.05


def model(element):
    """A linear model whose products are computed in the type of the parameters; the loss is f32."""
    read, widened = "", ""
    x, b = "%x", "%b"
    if element != "f32":
        read = f"  %x_read = ad.cast %x : tensor<8x3xf32> -> tensor<8x3x{element}>\n"
        widened = f"  %b_f32 = ad.cast %b : tensor<2x{element}> -> tensor<2xf32>\n"
        x, b = "%x_read", "%b_f32"
    return f"""
func.func private @loss(%w: tensor<3x2x{element}>, %b: tensor<2x{element}>, %x: tensor<8x3xf32>, %y: tensor<8x2xf32>)
    -> tensor<f32> {{
{read}  %product = ad.dot {x}, %w : (tensor<8x3x{element}>, tensor<3x2x{element}>) -> tensor<8x2xf32>
{widened}  %guess = ad.add %product, {b} : tensor<8x2xf32>, tensor<2xf32>
  %error = ad.sub %guess, %y : tensor<8x2xf32>
  %square = ad.mul %error, %error : tensor<8x2xf32>
  %loss = ad.reduce_mean %square axes [0, 1] : tensor<8x2xf32> -> tensor<f32>
  return %loss : tensor<f32>
}}
"""


def describe(optimizer, **options):
    return Training("loss", {"w": (3, 2), "b": (2,)}, {"x": "tensor<8x3xf32>", "y": "tensor<8x2xf32>"}, STEPS,
                    optimizer, **options)


def data():
    random = np.random.default_rng(0)
    x = random.normal(size=(STEPS, 8, 3)).astype(np.float32)
    y = (x @ np.array([[1, 2], [-1, 0], [0.5, -2]]) + [0.25, -1]).astype(np.float32)
    w, b = random.normal(size=(3, 2)).astype(np.float32), np.zeros(2, np.float32)
    return w, b, x, y


def train(training, w, b, x, y, target="cpu"):
    text = model(training.storage.read) + training_function("main", training)
    received = {"loss": [], **({"scale": [], "finite": []} if training.scaling and training.monitor else {})}
    run = adjoint.compile(text, target=target, numerics="reproducible")
    receives = {name: lambda value, to=values: to.append(value.item()) for name, values in received.items()}
    rates = np.full(STEPS, RATE, np.float32)
    new_w, new_b = run(w.copy(), b.copy(), feeds={"x": x, "y": y, "rate": rates}, receives=receives)
    return new_w, new_b, received


def expected(optimizer, w, b, x, y, skipped=()):
    """In f64; the losses of all steps and the parameters."""
    values = [w.astype(np.float64), b.astype(np.float64)]
    m, v, made, losses = [0, 0], [0, 0], 0, []
    for step in range(STEPS):
        error = x[step] @ values[0] + values[1] - y[step]
        losses.append((error**2).mean())
        if step in skipped:
            continue
        made += 1
        for i, g in enumerate((x[step].T @ error / 8, error.sum(0) / 8)):
            if isinstance(optimizer, SGD):
                v[i] = optimizer.momentum * v[i] + g
                values[i] = values[i] - RATE * v[i]
            else:
                m[i], v[i] = 0.9 * m[i] + 0.1 * g, 0.999 * v[i] + 0.001 * g * g
                step_of = RATE * (m[i] / (1 - 0.9**made)) / (np.sqrt(v[i] / (1 - 0.999**made)) + 1e-8)
                values[i] = values[i] * (1 - RATE * optimizer.weight_decay) - step_of
    return *values, losses


@pytest.mark.parametrize("scaling", [None, StaticScale(), DynamicScale()], ids=repr)
@pytest.mark.parametrize("optimizer", [SGD(momentum=0.9), AdamW()], ids=repr)
def test_training_in_f32(optimizer, scaling, target):
    w, b, x, y = data()
    new_w, new_b, received = train(describe(optimizer, scaling=scaling), w, b, x, y, target)
    exact_w, exact_b, losses = expected(optimizer, w, b, x, y)
    np.testing.assert_allclose(received["loss"], losses, rtol=1e-5)
    np.testing.assert_allclose(new_w, exact_w, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(new_b, exact_b, rtol=1e-4, atol=1e-5)
    assert all(received.get("finite", [True]))


def test_a_scale_that_is_a_power_of_two_keeps_every_bit():
    w, b, x, y = data()
    plain = train(describe(AdamW()), w, b, x, y)
    scaled = train(describe(AdamW(), scaling=DynamicScale(interval=3)), w, b, x, y)
    for left, right in zip(plain[:2], scaled[:2]):
        np.testing.assert_array_equal(left, right)
    assert plain[2]["loss"] == scaled[2]["loss"]
    assert scaled[2]["scale"] == [65536.0 * 2 ** (step // 3) for step in range(STEPS)]


@pytest.mark.parametrize("optimizer", [SGD(momentum=0.9), AdamW()], ids=repr)
def test_an_overflow_skips_the_step_and_halves_the_scale(optimizer, target):
    w, b, x, y = data()
    x[4, 0, 0] = np.inf
    training = describe(optimizer, scaling=DynamicScale(1024.0))
    new_w, new_b, received = train(training, w, b, x, y, target)
    with np.errstate(invalid="ignore"):
        exact_w, exact_b, _ = expected(optimizer, w, b, x, y, skipped={4})
    assert received["finite"] == [step != 4 for step in range(STEPS)]
    assert received["scale"] == [1024.0] * 5 + [512.0] * 7
    np.testing.assert_allclose(new_w, exact_w, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(new_b, exact_b, rtol=1e-4, atol=1e-5)


def test_f16_gradients_overflow_until_the_scale_fits(target):
    """The gradients reach a few times 2^24 at first, which f16 does not have; the scale falls until they fit."""
    w, b, x, y = data()
    training = describe(SGD(), storage=Storage(copy="f16"), scaling=DynamicScale(2.0**24))
    new_w, _, received = train(training, w, b, x, y, target)
    skipped = received["finite"].index(True)
    assert 5 <= skipped < STEPS and all(received["finite"][skipped:])
    assert received["scale"][: skipped + 1] == [2.0 ** (24 - step) for step in range(skipped + 1)]
    exact_w, _, _ = expected(SGD(), w, b, x, y, skipped=range(skipped))
    np.testing.assert_allclose(new_w, exact_w, rtol=2e-2, atol=2e-2)
    assert np.abs(new_w - w).max() > 0


def test_gradients_below_the_smallest_f16_need_the_scale():
    w, b, x, y = data()
    tiny = np.float32(1e-5)
    storage = Storage(copy="f16")
    plain = train(describe(SGD(), storage=storage), w * 0, b, x * tiny, y * tiny)
    scaled = train(describe(SGD(), storage=storage, scaling=StaticScale(2.0**15)), w * 0, b, x * tiny, y * tiny)
    # Gradients of w are of the size 1e-10.
    assert not plain[0].any() and scaled[0].any()


@pytest.mark.parametrize("element", ["bf16", "f16"])
def test_the_copy_is_what_the_model_reads(element, target):
    w, b, x, y = data()
    new_w, new_b, received = train(describe(AdamW(), storage=Storage(copy=element)), w, b, x, y, target)
    exact_w, exact_b, losses = expected(AdamW(), w, b, x, y)
    np.testing.assert_allclose(received["loss"], losses, rtol=5e-2)
    np.testing.assert_allclose(new_w, exact_w, atol=5e-2)
    assert new_w.dtype == np.float32 and received["loss"] != train(describe(AdamW()), w, b, x, y)[2]["loss"]


def test_parameters_without_masters_are_rounded_stochastically(target):
    w, b, x, y = data()
    storage = Storage(stochastic="bf16")
    bits = [(value.view(np.uint32) >> 16).astype(np.uint16) for value in (w, b)]
    dtype = adjoint.compile(model("bf16") + training_function("main", describe(SGD(), storage=storage))).signature
    start = [value.view(dtype.arguments[0].dtype) for value in bits]

    def run(seed):
        found = train(describe(SGD(), storage=storage, seed=seed), *start, x, y, target)
        wide = [(np.asarray(value).view(np.uint16).astype(np.uint32) << 16).view(np.float32) for value in found[:2]]
        return wide, found[2]["loss"]

    (new_w, new_b), losses = run(0)
    exact_w, exact_b, exact = expected(SGD(), *[(v.astype(np.uint32) << 16).view(np.float32) for v in bits], x, y)
    np.testing.assert_allclose(new_w, exact_w, atol=5e-2)
    np.testing.assert_allclose(new_b, exact_b, atol=5e-2)
    np.testing.assert_allclose(losses, exact, rtol=0.1)
    assert run(0)[1] == losses and run(1)[1] != losses


@pytest.mark.parametrize(
    "change, message",
    [
        ({"parameters": {}}, "at least one parameter"),
        ({"steps": -1}, "steps of at least 0"),
        ({"steps": 2.5}, "steps of at least 0"),
        ({"steps": True}, "steps of at least 0, got True"),
        ({"steps": 2**63}, "steps of at least 0"),
        ({"seed": False}, "seed of 64 bits, got False"),
        ({"parameters": {"w": (True, 2)}}, "sizes .* shape of parameter 'w'"),
        ({"parameters": {"v": (1,), "w": ("?", 2)}}, "sizes .* shape of parameter 'w'"),
        ({"parameters": {"w": "?"}}, "sizes .* shape of parameter 'w', got '.'"),
        ({"parameters": {"w": 3}}, "sizes .* shape of parameter 'w', got 3"),
        ({"parameters": {"w": (-1,)}}, "sizes .* shape of parameter 'w'"),
        ({"seed": 2**63}, "seed of 64 bits"),
        ({"seed": 1.5}, "seed of 64 bits"),
        ({"loss": "no such"}, "expected names .* got 'no such'"),
        ({"parameters": {'w"': (2,)}}, "expected names"),
        ({"feeds": {"a b": "tensor<f32>"}}, "expected names"),
        ({"feeds": {"rate": "tensor<f32>"}}, "'rate' itself"),
    ],
)
def test_wrong_descriptions_are_refused(change, message):
    arguments = {"loss": "loss", "parameters": {"w": (2,)}, "feeds": {}, "steps": 1, "optimizer": SGD()}
    with pytest.raises(ValueError, match=message):
        Training(**(arguments | change))
