# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loss scaling of adjoint.text.scaling: the check of gradients, and the scale as torch.amp.GradScaler changes it."""

import adjoint
import numpy as np
import pytest
from adjoint.text.scaling import DynamicScale, StaticScale, all_finite, update_scale

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
    """torch.amp.GradScaler.update, in f32."""
    scale, good, scales = np.float32(scaling.scale), 0, []
    for step in finite:
        if not step:
            scale, good = scale * np.float32(scaling.backoff), 0
        else:
            good += 1
            if good == scaling.interval:
                with np.errstate(over="ignore"):
                    larger = scale * np.float32(scaling.growth)
                scale, good = larger if np.isfinite(larger) else scale, 0
        scales.append(scale)
    return scales, good


@pytest.mark.parametrize(
    "scaling",
    [DynamicScale(interval=3), DynamicScale(1.0, 3.0, 0.25, 1), DynamicScale(2.0**126, interval=1), DynamicScale()],
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
        (lambda: StaticScale(0), "positive scale"),
        (lambda: DynamicScale(float("inf")), "positive scale"),
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
