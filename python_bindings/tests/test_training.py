# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradients in a training loop in Python."""

import adjoint
import numpy as np

STEP = """
func.func private @loss(%w: tensor<3xf32>, %b: tensor<f32>, %x: tensor<?x3xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %product = ad.dot %x, %w : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?xf32>
  %predicted = ad.add %product, %b : tensor<?xf32>, tensor<f32>
  %error = ad.sub %predicted, %y : tensor<?xf32>
  %square = ad.mul %error, %error : tensor<?xf32>
  %loss = ad.reduce_mean %square axes [0] : tensor<?xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @main(%w: tensor<3xf32>, %b: tensor<f32>, %x: tensor<?x3xf32>, %y: tensor<?xf32>)
    -> (tensor<f32> {ad.name = "loss"}, tensor<3xf32> {ad.name = "dw"}, tensor<f32> {ad.name = "db"}) {
  %loss, %dw, %db = ad.value_and_grad @loss(%w, %b, %x, %y) wrt [0, 1]
      : (tensor<3xf32>, tensor<f32>, tensor<?x3xf32>, tensor<?xf32>) -> (tensor<f32>, tensor<3xf32>, tensor<f32>)
  return %loss, %dw, %db : tensor<f32>, tensor<3xf32>, tensor<f32>
}
"""


def test_linear_regression(target):
    random = np.random.default_rng(0)
    weights, bias = np.array([1, -2, 3], np.float32), np.float32(0.5)
    x = random.normal(size=(64, 3)).astype(np.float32)
    y = x @ weights + bias
    step = adjoint.compile(STEP, target=target)
    w, b = np.zeros(3, np.float32), np.zeros((), np.float32)
    losses = []
    for number in range(150):
        batch = slice(number % 2 * 32, number % 2 * 32 + 32 - number % 3)  # sizes change
        loss, dw, db = step(w, b, x[batch], y[batch])
        losses.append(float(loss))
        error = x[batch] @ w + b - y[batch]
        np.testing.assert_allclose(loss, np.mean(error**2), rtol=1e-4, atol=1e-9)
        np.testing.assert_allclose(dw, 2 * x[batch].T @ error / len(error), rtol=1e-3, atol=1e-5)
        np.testing.assert_allclose(db, 2 * np.mean(error), rtol=1e-3, atol=1e-5)
        w -= np.float32(0.1) * dw
        b -= np.float32(0.1) * db
    assert losses[-1] < 1e-6 * losses[0]
    np.testing.assert_allclose(w, weights, atol=1e-3)
    np.testing.assert_allclose(b, bias, atol=1e-3)
