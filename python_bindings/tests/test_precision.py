# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""adjoint.diff.precision finds operations that keep a bound in f32, and none of them can be left out."""

import json
import shutil
import subprocess

import adjoint
import ml_dtypes
import numpy as np
import pytest
from adjoint import diff

needs_tools = pytest.mark.skipif(not shutil.which("ad-diff"), reason="the tools are not on the path")

# A large product and a small one: only the large one needs f32.
PRODUCTS = """
func.func @main(%x: tensor<4x8xf32> {ad.name = "x"}, %w: tensor<8x4xf32> {ad.name = "w"})
    -> (tensor<4x4xf32> {ad.name = "y"}) {
  %small = ad.constant dense<1.0e-3> : tensor<f32>
  %p = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %q = ad.dot %p, %p : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = ad.mul %q, %small : tensor<4x4xf32>, tensor<f32>
  %y = ad.add %p, %s : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
"""
FEEDS = """
func.func @main(%w: tensor<4xf32> {ad.name = "w", ad.donated = 0}) -> (tensor<4xf32> {ad.name = "w"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %end = scf.for %i = %zero to %three step %one iter_args(%before = %w) -> tensor<4xf32> {
    %m = ad.feed "m" : tensor<4x4xf32>
    %after = ad.dot %before, %m : (tensor<4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
    ad.receive "step"(%after) : tensor<4xf32>
    scf.yield %after : tensor<4xf32>
  }
  return %end : tensor<4xf32>
}
"""


def inputs(seed=1):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((4, 8)).astype(np.float32), generator.standard_normal((8, 4)).astype(np.float32)


def wide(program_text, *arrays):
    return adjoint.compile(program_text, target="reference")(*arrays)


def test_the_program_that_is_found_keeps_the_bound(target):
    program, (x, w) = adjoint.compile(PRODUCTS, target=target, name="products.mlir"), inputs()
    found = diff.precision(program, x, w=w, policy="bf16", bound={"abs": 0.01})
    assert found.holds and found.kept and found.candidates == 4
    assert diff.KeptOperation("ad.dot", "products.mlir:5:8") in found.kept
    exact, narrow = wide(PRODUCTS, x, w), wide(found.program, x, w)
    assert np.abs(narrow - exact).max() == found.results[0].abs <= 0.01 and found.results[0].name == "y"
    assert np.abs(adjoint.compile(PRODUCTS, target="reference", precision="bf16")(x, w) - exact).max() > 0.01
    assert str(found) == found.text and "bound abs=0.01 holds" in found.text


def test_bounds_that_need_nothing_and_both_products():
    program, (x, w) = adjoint.compile(PRODUCTS), inputs()
    loose = diff.precision(program, x, w, policy="bf16", bound={"abs": 1, "rel": 1e6})
    assert loose.holds and loose.kept == () and 'ad.precision = #ad.precision<bf16>' in loose.program
    strict = diff.precision(program, x, w, policy="bf16", bound={"ulp": 0})
    assert strict.holds and strict.results[0].abs == 0 and [kept.operation for kept in strict.kept] == ["ad.dot"] * 2


def test_feeds_are_called_once_and_no_argument_is_overwritten():
    matrices = np.random.default_rng(3).standard_normal((3, 4, 4)).astype(np.float32)
    w, given = np.ones(4, np.float32), iter(matrices)
    w.flags.writeable = False
    found = diff.precision(adjoint.compile(FEEDS), w, policy="bf16", bound={"abs": 0}, feeds={"m": given})
    assert [kept.operation for kept in found.kept] == ["ad.dot"] and next(given, None) is None
    assert [result.name for result in found.results] == ["w", "step", "step", "step"] and w.tolist() == [1] * 4
    rough = diff.precision(adjoint.compile(FEEDS), w, policy="bf16", bound={"abs": 100}, feeds={"m": iter(matrices)})
    step = w.astype(ml_dtypes.bfloat16).astype(np.float64) @ matrices[0].astype(ml_dtypes.bfloat16).astype(np.float64)
    difference = np.abs(step.astype(ml_dtypes.bfloat16).astype(np.float64) - w @ matrices[0]).max()
    assert rough.kept == () and rough.results[1].abs == pytest.approx(difference, rel=1e-5)


def test_errors(tmp_path):
    program, (x, w) = adjoint.compile(PRODUCTS), inputs()
    for bound in ({}, {"digits": 3}, "0.1", True, -0.1, {"abs": -1}):
        with pytest.raises(adjoint.OptionError, match="expected bound with"):
            diff.precision(program, x, w, policy="bf16", bound=bound)
    for name in ("none", "f4"):
        with pytest.raises(adjoint.OptionError, match=f"policy: expected bf16, f16, f8 or FILE.yaml .*got '{name}'"):
            diff.precision(program, x, w, policy=name, bound={"abs": 1})
    own = adjoint.compile(PRODUCTS.replace('"y"})', '"y"}) attributes {ad.precision = #ad.precision<bf16>}'))
    with pytest.raises(adjoint.OptionError, match="function @main has a policy of its own, in place of policy; remove"):
        diff.precision(own, x, w, policy="bf16", bound={"abs": 1})
    with pytest.raises(adjoint.ProgramError, match="used up after 1 value"):
        diff.precision(adjoint.compile(FEEDS), np.ones(4, np.float32), policy="bf16", bound={"abs": 1},
                       feeds={"m": iter(np.ones((1, 4, 4), np.float32))})


@needs_tools
def test_the_report_is_that_of_the_tool(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "products.mlir").write_text(PRODUCTS)
    x, w = inputs(5)
    np.save("x.npy", x)
    np.save("w.npy", w)
    words = ["ad-diff", "precision", "products.mlir", "--policy=bf16", "--bound=abs=0.01", "--arg=x=x.npy"]
    words += ["--arg=w=w.npy", "--json=found.json", "--output=kept.mlir"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    printed = json.loads((tmp_path / "found.json").read_text())
    found = diff.precision(adjoint.compile("products.mlir"), x, w, policy="bf16", bound={"abs": 0.01})
    assert found.text == done.stdout.rstrip("\n") and found.program == (tmp_path / "kept.mlir").read_text()
    assert [vars(kept) for kept in found.kept] == printed["kept"]
    assert (found.candidates, found.executions) == (printed["candidates"], printed["executions"])
