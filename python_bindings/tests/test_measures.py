# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Norm-wise measures and bounds of adjoint.diff: a gradient of zeros is far from the gradient, however small that is."""

import shutil

import adjoint
import numpy as np
import pytest
from adjoint import diff

needs_tools = pytest.mark.skipif(not shutil.which("ad-diff"), reason="the tools are not on the path")
# The cotangent of the product, 1e-9, is zero in f16.
UNDERFLOW = """
func.func private @loss(%w: tensor<8x4xf32>, %x: tensor<16x8xf32>) -> tensor<f32> {
  %y = ad.dot %x, %w : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %sum = ad.reduce_sum %y axes [0, 1] : tensor<16x4xf32> -> tensor<f32>
  %size = ad.constant dense<1.0e-9> : tensor<f32>
  %loss = ad.mul %sum, %size : tensor<f32>
  return %loss : tensor<f32>
}
func.func @main(%w: tensor<8x4xf32> {ad.name = "w"}, %x: tensor<16x8xf32> {ad.name = "x"})
    -> (tensor<8x4xf32> {ad.name = "dw"}) {
  %loss, %dw = ad.value_and_grad @loss(%w, %x) wrt [0]
      : (tensor<8x4xf32>, tensor<16x8xf32>) -> (tensor<f32>, tensor<8x4xf32>)
  return %dw : tensor<8x4xf32>
}
"""
GENERATOR = np.random.default_rng(1)
W, X = GENERATOR.standard_normal((8, 4)).astype(np.float32), GENERATOR.random((16, 8)).astype(np.float32)
BLIND = "rel says nothing about 'dw'"
# One bound that fails, written in three ways, and one that approves zeros.
FAILING = [0.1, {"l2": 0.1}, {"max": 0.1}]
APPROVING = {"rel": 0.1, "abs": 1e-6}


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1.0, 1e300])
def test_norms_are_those_of_numpy(size):
    expected = GENERATOR.standard_normal((30, 5)) * size
    noise = GENERATOR.standard_normal((30, 5)) * size * 0.1
    for got in (expected + noise, np.zeros_like(expected), expected / 2):
        found, scaled = diff.max_diff(expected, got), (got / size - expected / size)
        assert found.l2 == pytest.approx(np.linalg.norm(scaled) / np.linalg.norm(expected / size), rel=1e-12)
        assert found.max == pytest.approx(np.abs(scaled).max() / np.abs(expected / size).max(), rel=1e-12)
    zero = np.zeros((30, 5))
    assert diff.max_diff(zero, noise / size).l2 == pytest.approx(np.linalg.norm(noise / size), rel=1e-12)
    assert diff.max_diff(zero, noise / size).max == np.abs(noise / size).max()
    assert diff.max_diff(expected, expected).l2 == diff.max_diff(expected, expected).max == 0


def test_the_worst_of_several_arrays_decides():
    large, small = np.full(10, 1e6), np.full(10, 1e-6)
    found = diff.max_diff({"large": large, "small": small}, {"large": large, "small": 0 * small})
    assert found.l2 == found.max == 1 and found.rel < 1e-3


@pytest.mark.parametrize("measure", ["abs", "rel", "l2", "max", "ulp"])
def test_a_matrix_has_each_measure(measure):
    arrays = {name: GENERATOR.standard_normal(9).astype(np.float32) for name in "abc"}
    found = diff.matrix(arrays, measure=measure)
    for row, expected in enumerate(arrays.values()):
        for column, got in enumerate(arrays.values()):
            assert found.values[row, column] == getattr(diff.max_diff(expected, got), measure)
    with pytest.raises(ValueError, match="unknown measure"):
        diff.matrix(arrays, measure="digits")


@pytest.mark.parametrize("bound", FAILING)
def test_precision_refuses_a_gradient_that_underflows(bound):
    found = diff.precision(adjoint.compile(UNDERFLOW), W, X, policy="f16", bound=bound)
    assert found.holds and "ad.dot" in [kept.operation for kept in found.kept]
    assert found.results[0].l2 <= 0.1 and found.results[0].max <= 0.1
    with pytest.warns(RuntimeWarning, match=BLIND):
        assert not diff.precision(adjoint.compile(UNDERFLOW), W, X, policy="bf16", bound=bound).kept


def test_precision_says_that_rel_says_nothing():
    with pytest.warns(RuntimeWarning, match=BLIND):
        found = diff.precision(adjoint.compile(UNDERFLOW), W, X, policy="f16", bound=APPROVING)
    assert not found.kept and found.results[0].l2 == found.results[0].max == 1


def test_a_shadow_has_norms_and_a_bound():
    narrow = adjoint.compile(UNDERFLOW, precision="f16")
    found = diff.shadow(narrow, W, X, bound=0.1)
    assert not found.holds and found.results[0].total.l2 == found.results[0].total.max == 1
    assert diff.shadow(narrow, W, X).holds and diff.shadow(adjoint.compile(UNDERFLOW), W, X, bound=1e-6).holds


def test_runs_have_norms_and_a_bound(tmp_path):
    sides = [diff.trace(adjoint.compile(UNDERFLOW, precision=precision), tmp_path / name, W, X, tensors="all")
             for name, precision in (("wide", None), ("narrow", "f16"))]
    for bound in FAILING:
        with pytest.warns(RuntimeWarning, match="rel says nothing"):
            found = diff.runs(*sides, bound=bound)
        dw = next(value for value in found.different if value.kind == "OUTPUT" and value.name == "dw")
        assert not found.holds and dw.l2 == dw.max == 1
    with pytest.warns(RuntimeWarning, match="rel says nothing"):
        assert diff.runs(*sides).holds and not diff.runs(*sides, bound={"different": 0}).holds


@pytest.mark.long
@needs_tools
@pytest.mark.parametrize("search", [diff.bisect, diff.reduce])
def test_searches_find_what_underflows(search):
    sides = {"b": "--precision f16", "inputs": {"w": W, "x": X}}
    for bound in FAILING:
        with pytest.warns(RuntimeWarning, match=BLIND):
            found = search(UNDERFLOW, **sides, bound=bound)
        assert [(row.name, row.l2, row.max) for row in found.differences] == [("dw", 1, 1)]
    with pytest.warns(RuntimeWarning, match=BLIND):
        assert not search(UNDERFLOW, **sides, bound=APPROVING).differences


@needs_tools
def test_files_and_stages_have_norms(tmp_path):
    for side, values in (("a", W * 1e-9), ("b", W * 0)):
        (tmp_path / side).mkdir()
        np.save(tmp_path / side / "dw.npy", values)
    for bound in FAILING:
        with pytest.warns(RuntimeWarning, match=BLIND):
            found = diff.tensors(tmp_path / "a", tmp_path / "b", bound=bound)
        assert not found.holds and found.pairs[0].l2 == found.pairs[0].max == 1
    with pytest.warns(RuntimeWarning, match=BLIND):
        assert diff.tensors(tmp_path / "a", tmp_path / "b", bound=APPROVING).holds
    stages = diff.stages(UNDERFLOW, inputs={"w": W, "x": X}, bound=0)
    assert stages.holds and all(change.change.l2 == change.from_written.max == 0 for change in stages.changes)
