# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loss scaling of adjoint.text.scaling: the check of gradients, and the scale as torch.amp.GradScaler changes it."""

import adjoint
import ml_dtypes
import numpy as np
import pytest
from adjoint.text.loop import Training, training_function
from adjoint.text.optim import SGD
from adjoint.text.scaling import HIGHEST, LOWEST, DynamicScale, StaticScale, all_finite, update_scale

KINDS = [((3, 4), "f32"), ((), "f32"), ((5,), "f16"), (("?", 2), "f32"), ((0, 2), "f32")]
CHECK = f"""
{all_finite("check", KINDS)}
func.func @main(%a: tensor<3x4xf32>, %b: tensor<f32>, %c: tensor<5xf16>, %d: tensor<?x2xf32>, %e: tensor<0x2xf32>)
    -> tensor<i1> {{
  %finite = call @check(%a, %b, %c, %d, %e)
      : (tensor<3x4xf32>, tensor<f32>, tensor<5xf16>, tensor<?x2xf32>, tensor<0x2xf32>) -> tensor<i1>
  return %finite : tensor<i1>
}}
"""


def gradients():
    random = np.random.default_rng(0)
    make = lambda shape, dtype: np.asarray(random.normal(size=shape), dtype)  # noqa: E731
    return [make((3, 4), np.float32), make((), np.float32), make(5, np.float16), make((3, 2), np.float32),
            np.zeros((0, 2), np.float32)]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("number", range(4))
def test_each_gradient_is_checked(number, value, target):
    check = adjoint.compile(CHECK, target=target)
    assert not check(*with_value(gradients(), number, value))


def with_value(tensors, number, value):
    tensors[number] = tensors[number].copy()
    tensors[number].reshape(-1)[-1] = value
    return tensors


def test_finite_gradients_and_empty_ones_are_finite(target):
    check = adjoint.compile(CHECK, target=target)
    assert check(*gradients())
    largest = float(np.finfo(np.float32).max)
    assert check(*with_value(gradients(), 0, largest))
    assert check(*with_value(gradients(), 2, 65504))


EMPTY = [((0,), "f32"), ((2, 0), "bf16"), (("?",), "f32"), (("?", 3), "f16")]


@pytest.mark.parametrize("kinds", [*[[kind] for kind in EMPTY], EMPTY, [*EMPTY, ((2,), "f16")]], ids=str)
def test_gradients_without_elements_are_finite(kinds, target):
    text = all_finite("main", kinds).replace("func.func private", "func.func")
    dtypes = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
    values = [np.ones([0 if size == "?" else size for size in shape], dtypes[element]) for shape, element in kinds]
    check = adjoint.compile(text, target=target)
    assert check(*values)
    if values[-1].size:
        values[-1][1] = np.nan
        assert not check(*values)


@pytest.mark.parametrize("value, factor, finite", [
    (1, 2.0**126, True), (4, 2.0**126, False), (-4, 2.0**126, False), (2.0**127, 0.5, True), (2.0**127, 2, False),
    (0, np.inf, False), (np.inf, 2.0**-126, False), (np.nan, 1, False)])
def test_scaled_gradients_are_finite_as_their_products_are(value, factor, finite, target):
    text = all_finite("main", [((3, 4), "f32"), ((), "f32")], scaled=True).replace("func.func private", "func.func")
    check = adjoint.compile(text, target=target)
    gradients = np.zeros((3, 4), np.float32), np.float32(value)
    with np.errstate(all="ignore"):
        assert np.isfinite(np.float32(value) * np.float32(factor)) == finite
    assert check(*gradients, np.float32(factor)) == finite
    assert check(np.full((3, 4), value, np.float32), np.float32(0), np.float32(factor)) == finite


def scale_program(scaling, steps):
    return f"""
{update_scale("update", scaling)}
func.func @main() -> (tensor<f32>, tensor<i64>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {steps} : index
  %first = ad.constant dense<{scaling.scale}> : tensor<f32>
  %none = ad.constant dense<0> : tensor<i64>
  %r:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%s = %first, %g = %none) -> (tensor<f32>, tensor<i64>) {{
    %finite = ad.feed "finite" : tensor<i1>
    %scale, %good = func.call @update(%s, %g, %finite)
        : (tensor<f32>, tensor<i64>, tensor<i1>) -> (tensor<f32>, tensor<i64>)
    ad.receive "scale"(%scale) : tensor<f32>
    scf.yield %scale, %good : tensor<f32>, tensor<i64>
  }}
  return %r#0, %r#1 : tensor<f32>, tensor<i64>
}}
"""


def expected_scales(scaling, finite):
    """torch.amp.GradScaler.update in f32, within the range of scales."""
    scale, good, scales = np.float32(scaling.scale), 0, []
    for step in finite:
        if not step:
            scale, good = scale * np.float32(scaling.backoff), 0
        else:
            good += 1
            if good == scaling.interval:
                with np.errstate(over="ignore"):
                    larger = scale * np.float32(scaling.growth)
                scale, good = larger, 0
        scale = np.clip(scale, np.float32(LOWEST), np.float32(HIGHEST))
        scales.append(scale)
    return scales, good


@pytest.mark.parametrize(
    "scaling",
    [DynamicScale(interval=3), DynamicScale(1.0, 3.0, 0.25, 1), DynamicScale(2.0**126, interval=1), DynamicScale(),
     DynamicScale(1.0, backoff=1e-30), DynamicScale(2.0**-123, interval=2), DynamicScale(1.0, 2.0**126, interval=1)],
    ids=repr,
)
def test_scales_are_those_of_grad_scaler(scaling, target):
    finite = np.random.default_rng(1).uniform(size=40) < 0.8
    received = []
    run = adjoint.compile(scale_program(scaling, len(finite)), target=target)
    result = run(feeds={"finite": finite}, receives={"scale": lambda value: received.append(float(value))})
    scales, good = expected_scales(scaling, finite)
    assert received == [float(scale) for scale in scales]
    assert tuple(map(float, result)) == (float(scales[-1]), float(good))


@pytest.mark.parametrize(
    "make, message",
    [
        *[(lambda kind=kind, scale=scale: kind(scale), "scale from 2") for kind in (StaticScale, DynamicScale)
          for scale in (0, -1, float("inf"), float("nan"), 1e39, 2.0**127, 1e-39, 1e-46, 10**400, True, "1")],
        (lambda: DynamicScale(growth=1 + 2.0**-24), "growth above 1"),
        (lambda: DynamicScale(growth=1e39), "growth above 1"),
        (lambda: DynamicScale(growth=float("nan")), "growth above 1"),
        (lambda: DynamicScale(backoff=1 - 2.0**-26), "backoff between"),
        (lambda: DynamicScale(backoff=1e-39), "backoff between"),
        (lambda: DynamicScale(backoff=False), "backoff between"),
        (lambda: DynamicScale(interval=2**63), "interval of at least 1"),
        (lambda: DynamicScale(interval=True), "interval of at least 1"),
        (lambda: DynamicScale(growth=1), "growth above 1"),
        (lambda: DynamicScale(backoff=1), "backoff between"),
        (lambda: DynamicScale(interval=0), "interval of at least 1"),
        (lambda: DynamicScale(interval=float("nan")), "interval of at least 1"),
        (lambda: all_finite("f", []), "at least one gradient"),
    ],
)
def test_wrong_descriptions_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


SQUARE = """
func.func private @loss(%w: tensor<3xf32>, %x: tensor<3xf32>) -> tensor<f32> {
  %y = ad.dot %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %s = ad.mul %y, %y : tensor<f32>
  return %s : tensor<f32>
}
"""


def run_square(scaling, x, target):
    steps, made = len(x), []
    training = Training("loss", {"w": (3,)}, {"x": "tensor<3xf32>"}, steps, SGD(), scaling=scaling)
    run = adjoint.compile(SQUARE + training_function("main", training), target=target)
    w = run(np.ones(3, np.float32), feeds={"x": x, "rate": np.full(steps, 0.05, np.float32)},
            receives={"loss": lambda _: None, "scale": lambda _: None, "finite": lambda v: made.append(bool(v))})
    return w, made


@pytest.mark.parametrize("scaling, skipped", [(DynamicScale(1.0, backoff=1e-30), 2), (DynamicScale(), 145),
                                              (DynamicScale(), 167)], ids=repr)
def test_a_step_after_many_skipped_ones_is_that_of_the_gradient(scaling, skipped, target):
    """Without a floor the scale would be 0, or its inverse infinite, and parameters NaN."""
    x = np.ones((skipped + 1, 3), np.float32)
    x[:skipped] = np.nan
    w, made = run_square(scaling, x, target)
    assert made == [False] * skipped + [True]
    np.testing.assert_allclose(w, np.full(3, 1 - 0.05 * 6), rtol=1e-6)


def test_a_finite_scaled_gradient_of_one_that_is_not_is_not_applied(target):
    """The gradient 2 * 3 * 1e20 * 1e20 is above f32; times the scale it is not."""
    x = np.full((1, 3), 1e20, np.float32)
    w, made = run_square(StaticScale(2.0**-40), x, target)
    assert made == [False] and np.array_equal(w, np.ones(3, np.float32))
