# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""NaNs, infinities and rounding errors: adjoint.diff finds what NumPy shows, and what ad-diff prints as JSON."""

import dataclasses
import functools
import json
import math
import shutil
import subprocess
import threading
import time

import adjoint
import ml_dtypes
import numpy as np
import pytest
from adjoint import diff
from programs import ADD_OFTEN, SUM

needs_tools = pytest.mark.skipif(not shutil.which("ad-diff"), reason="the tools are not on the path")

# A loop that divides by a number that becomes zero; the NaN arises after it.
DIVIDE = """
func.func @main(%n: tensor<i64> {ad.name = "n"}, %x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %times = tensor.extract %n[] : tensor<i64>
  %many = arith.index_cast %times : i64 to index
  %step = ad.constant dense<1.0> : tensor<f32>
  %end = scf.for %i = %zero to %many step %one iter_args(%before = %x) -> tensor<?xf32> {
    %after = ad.sub %before, %step : tensor<?xf32>, tensor<f32>
    %inverse = ad.div %step, %after : tensor<f32>, tensor<?xf32>
    ad.receive "inverse"(%inverse) : tensor<?xf32>
    scf.yield %after : tensor<?xf32>
  }
  %y = ad.sqrt %end : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
LOG = """
func.func @main(%x: tensor<?x?xTYPE> {ad.name = "x"}) -> (tensor<?x?xTYPE> {ad.name = "y"}) {
  %two = ad.add %x, %x : tensor<?x?xTYPE>
  %log = ad.log %two : tensor<?x?xTYPE>
  %y = ad.mul %log, %log : tensor<?x?xTYPE>
  return %y : tensor<?x?xTYPE>
}
"""
# 1e8 + x - 1e8 loses most of x.
CANCEL = """
func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %large = ad.constant dense<1.0e8> : tensor<f32>
  %sum = ad.add %x, %large : tensor<?xf32>, tensor<f32>
  %y = ad.sub %sum, %large : tensor<?xf32>, tensor<f32>
  return %y : tensor<?xf32>
}
"""
UPDATE = """
func.func @main(%w: tensor<3xf32> {ad.name = "w", ad.donated = 0}, %g: tensor<3xf32> {ad.name = "g"})
    -> (tensor<3xf32> {ad.name = "w"}) {
  %change = ad.div %g, %w : tensor<3xf32>
  %new = ad.sub %w, %change : tensor<3xf32>
  return %new : tensor<3xf32>
}
"""


@pytest.mark.parametrize("numerics", ["strict", "fast"])
def test_the_first_operation_that_makes_an_infinity(target, numerics):
    program = adjoint.compile(DIVIDE, target=target, numerics=numerics, name="divide.mlir")
    x = np.array([2.5, 3, 2], np.float32)
    received = []
    found = diff.nan(program, 4, x, receives={"inverse": received.append})
    assert np.array_equal(np.isinf(received), [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]])
    inverse, root = found.origins
    assert (inverse.kind, inverse.operation, inverse.location) == ("infinity", "ad.div", "divide.mlir:10:16")
    assert inverse.iterations == (1,) and inverse.element == (2,) and inverse.executions == 2
    assert inverse.value == math.inf and inverse.result == diff.Range(3, 0, 1, 1.0, math.inf)
    assert [operand.value for operand in inverse.operands] == [1, 0]
    assert inverse.operands[1].range == diff.Range(3, 0, 0, 0.0, 1.0)
    assert inverse.chain[0].text.startswith("ad.sub at divide.mlir:9:14 in @main")
    assert (root.kind, root.operation, root.element, root.iterations) == ("NaN", "ad.sqrt", (0,), ())
    assert found.outputs[-1] == "'y': 3 of 3 NaN" and len(found.outputs) == 3
    assert str(found) == found.text and "1. infinity: ad.div at divide.mlir:10:16" in found.text


@pytest.mark.parametrize("element_type", ["f32", "f64", "f16", "bf16"])
def test_elements_are_those_of_numpy(target, element_type):
    dtype = adjoint.compile(LOG.replace("TYPE", element_type)).signature.arguments[0].dtype
    program = adjoint.compile(LOG.replace("TYPE", element_type), target=target)
    generator = np.random.default_rng(7)
    for shape in ((3, 5), (1, 33), (17, 2), (2, 0)):
        x = (generator.standard_normal(shape) + 1.5).astype(dtype)
        x.flat[generator.integers(0, max(x.size, 1), 2) if x.size else []] = 0
        with np.errstate(all="ignore"):
            log = np.log((x + x).astype(np.float64))
        found = {origin.kind: origin for origin in diff.nan(program, x).origins}
        for kind, bad in (("NaN", np.isnan(log)), ("infinity", np.isinf(log))):
            assert (kind in found) == bad.any()
            if bad.any():
                origin = found[kind]
                assert origin.operation == "ad.log" and origin.element == tuple(np.argwhere(bad)[0])
                assert origin.result.nans == np.isnan(log).sum() and origin.result.infinities == np.isinf(log).sum()
                assert origin.operands[0].value == (x + x)[origin.element]


def test_finite_runs_and_given_infinities(target):
    program = adjoint.compile(CANCEL, target=target)
    found = diff.nan(program, np.ones(4, np.float32))
    assert found.origins == found.given == found.outputs == () and found.executions >= 2
    found = diff.nan(program, np.array([1, np.inf], np.float32))
    assert found.origins == () and found.given == ("argument 'x': [1.0, inf], 1 of 2 infinite",)
    assert found.outputs == ("'y': [0.0, inf], 1 of 2 infinite",)


def test_no_argument_is_overwritten_and_feeds_give_each_value_once(target):
    w, g = np.array([1, 0, 2], np.float32), np.ones(3, np.float32)
    w.flags.writeable = False
    program = adjoint.compile(UPDATE, target=target)
    assert [origin.element for origin in diff.nan(program, w, g).origins] == [(1,)]
    assert diff.shadow(program, w, g=g).results[0].name == "w"
    assert w.tolist() == [1, 0, 2]
    total = adjoint.compile(SUM, target=target)
    feed = iter(np.array([[1, 2], [3e38, 4], [3e38, 5]], np.float32))
    (overflow,) = diff.nan(total, 3, feeds={"x": feed}).origins
    assert overflow.iterations == (2,) and overflow.element == (0,) and overflow.operation == "ad.add"
    exact = diff.shadow(total, 2, feeds={"x": iter(np.full((2, 2), 0.5, np.float32))})
    assert exact.results[0].total == diff.ErrorSize(0, 0, 0) and exact.operations[0].executions == 2


def test_errors_against_numpy():
    x = np.random.default_rng(3).uniform(0, 10, 40).astype(np.float32)
    found = diff.shadow(adjoint.compile(CANCEL, name="cancel.mlir"), x)
    errors = {row.operation: row for row in found.operations}
    wide = x.astype(np.float64) + 1e8
    rounded = (x + np.float32(1e8)).astype(np.float64)
    add, sub = errors["ad.add"], errors["ad.sub"]
    assert add.location == "cancel.mlir:4:10" and add.executions == 1
    assert add.local.abs == np.abs(rounded - wide).max() and add.local.rel == (np.abs(rounded - wide) / wide).max()
    assert add.propagated == diff.ErrorSize(0, 0, 0) and add.total == add.local
    assert sub.local == diff.ErrorSize(0, 0, 0) and sub.total == sub.propagated
    assert sub.total.abs == np.abs((rounded - 1e8) - (wide - 1e8)).max()
    assert sub.total.rel == (np.abs((rounded - 1e8) - (wide - 1e8)) / (wide - 1e8)).max()
    of_sum = np.abs(rounded - wide).max() / wide.max()
    assert sub.amplification == pytest.approx(sub.propagated.abs / (wide - 1e8).max() / of_sum)
    (y,) = found.results
    assert y.name == "y" and y.total == sub.total and y.digits == max(0.0, -math.log10(sub.total.rel))
    assert found.operations[0] is add and found.samples == 0 and found.decisions == ()
    assert str(found) == found.text and "largest amplification" in found.text


def test_stochastic_rounding():
    program, x = adjoint.compile(CANCEL), np.random.default_rng(3).uniform(0, 10, 40).astype(np.float32)
    found = diff.shadow(program, x, samples=16, seed=5)
    assert found == diff.shadow(program, x, samples=16, seed=5) != diff.shadow(program, x, samples=16, seed=6)
    assert found.samples == 16 and found.seed == 5
    row = found.operations[0]
    assert row.operation == "ad.sub" and row.local is row.propagated is row.amplification is None
    assert 0 < row.total.abs <= 16 and row.digits < 1


def test_errors(target):
    program = adjoint.compile(CANCEL, target=target)
    x = np.ones(3, np.float32)
    for samples in (1, -1, 1001):
        with pytest.raises(adjoint.OptionError, match="expected samples as 0 or from 2 to 1000"):
            diff.shadow(program, x, samples=samples)
    with pytest.raises(adjoint.OptionError, match="expected seed from 0"):
        diff.shadow(program, x, samples=2, seed=-1)
    with pytest.raises(adjoint.OptionTypeError, match="expected samples as int, got float"):
        diff.shadow(program, x, samples=2.5)
    failing = adjoint.compile(SUM, target=target, name="sum.mlir")
    for examine in (diff.nan, diff.shadow):
        with pytest.raises(adjoint.ArgumentTypeError, match="expected tensor<"):
            examine(program, x.astype(np.float64))
        with pytest.raises(adjoint.ArgumentTypeError, match="no argument 'z'"):
            examine(program, z=x)
        with pytest.raises(adjoint.ProgramError, match="used up after 1 value"):
            examine(failing, 3, feeds={"x": iter(np.ones((1, 2), np.float32))})
        with pytest.raises(ZeroDivisionError):
            examine(failing, 3, feeds={"x": lambda shape: 1 / 0})


# Comments move the operations away from the lines that a printed form of the program has them on.
FAILING = """// A program
// that fails.
func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %w: tensor<?xf32> {ad.name = "w"}) -> (tensor<f32> {ad.name = "y"}) {
  %log = ad.log %x : tensor<?xf32>
  FAILS
  %y = ad.dot %w, %w : (tensor<?xf32>, tensor<?xf32>) -> tensor<f32>
  return %y : tensor<f32>
}
"""
FAILURES = {
    "check.expect_finite(%log) : tensor<?xf32>": adjoint.CheckError,
    """%z = ad.add %log, %w : tensor<?xf32>
  ad.receive "z"(%z) : tensor<?xf32>""": adjoint.ProgramError,
}


@pytest.mark.parametrize("fails", FAILURES)
def test_failing_programs(target, fails):
    program = adjoint.compile(FAILING.replace("FAILS", fails), target=target, name="failing.mlir")
    x, w = np.array([1, 0, 2], np.float32), np.ones(4, np.float32)
    examinations = {
        "nan": diff.nan,
        "shadow": diff.shadow,
        "precision": functools.partial(diff.precision, policy="bf16", bound={"abs": 1}),
    }
    for name, examine in examinations.items():
        with pytest.raises(FAILURES[fails]) as raised:
            examine(program, x, w)
        error = raised.value
        assert error.location.startswith("failing.mlir:5:"), (name, str(error))
        assert fails.splitlines()[0] in str(error)
        assert (error.found is not None) == (name == "nan")
    with pytest.raises(FAILURES[fails]) as raised:
        diff.nan(program, x, w)
    found = raised.value.found
    assert [(origin.operation, origin.location, origin.element) for origin in found.origins] == [
        ("ad.log", "failing.mlir:4:10", (1,))
    ]
    assert found.text.endswith("then the run failed")
    if hasattr(raised.value, "__notes__"):
        assert raised.value.__notes__ == [found.text]


def test_folder_of_temporary_files(target, monkeypatch, tmp_path):
    program = adjoint.compile(SUM, target=target)
    feeds = {"x": np.ones((2, 2), np.float32)}
    missing = tmp_path / "missing"
    monkeypatch.setenv("TMPDIR", str(missing))
    for examine in (diff.nan, diff.shadow):
        with pytest.raises(adjoint.TemporaryFileError, match=f"temporary file in '{missing}': No such file") as raised:
            examine(program, 2, feeds=feeds)
        assert isinstance(raised.value, OSError) and not isinstance(raised.value, ValueError)
    if target != "reference":
        with pytest.raises(adjoint.TemporaryFileError):
            diff.nan(adjoint.compile(CANCEL, target=target), np.ones(3, np.float32))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert diff.nan(program, 2, feeds=feeds).origins == ()


INTERRUPT = """
import os, pathlib, signal, tempfile, threading, time
import adjoint, numpy as np, programs
from adjoint import diff

program = adjoint.compile(programs.COUNT, target={target!r})
folder = pathlib.Path(tempfile.mkdtemp())
threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    {call}
except KeyboardInterrupt:
    print(os.listdir(folder), program(3))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "call",
    ["diff.trace(program, folder / 'trace', 1 << 60)", "diff.nan(program, 1 << 60)", "diff.shadow(program, 1 << 60)"],
)
def test_ctrl_c(run_script, call, target):
    done = run_script(INTERRUPT.format(target=target, call=call))
    assert (done.returncode, done.stdout) == (0, "[] 3.0\n"), done.stderr


def test_other_threads_run_meanwhile():
    program, done, count = adjoint.compile(ADD_OFTEN), threading.Event(), 0
    worker = threading.Thread(target=lambda: (diff.shadow(program, 3000, np.zeros(64, np.float32)), done.set()))
    worker.start()
    while not done.is_set():
        time.sleep(0.001)
        count += 1
    worker.join()
    assert count > 20


@needs_tools
@pytest.mark.parametrize("command, options", [("nan", {}), ("shadow", {}), ("shadow", {"samples": 8, "seed": 3})])
def test_reports_are_those_of_the_tool(command, options, target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "divide.mlir").write_text(DIVIDE)
    x = np.random.default_rng(11).integers(0, 5, 6).astype(np.float32)
    np.save("x.npy", x)
    np.save("n.npy", np.array(4))
    words = ["ad-diff", command, "divide.mlir", "--arg=x=x.npy", "--arg=n=n.npy", "--json=found.json"]
    words += [f"--target={target}"] if command == "nan" else []
    words += ["--stochastic=8", "--seed=3"] if options else []
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == (1 if command == "nan" else 0), done.stderr
    printed = json.loads((tmp_path / "found.json").read_text())
    found = getattr(diff, command)(adjoint.compile("divide.mlir", target=target), 4, x, **options)
    assert found.text == done.stdout.rstrip("\n")
    rows = printed["origins" if command == "nan" else "operations"]
    mine = found.origins if command == "nan" else found.operations
    assert len(rows) == len(mine) > 0
    for row, own in zip(rows, mine):
        assert (own.operation, own.location, own.executions) == (row["operation"], row["location"], row["executions"])
        if command == "shadow":
            assert own.digits == float(row["digits"])
            assert {key: str(value) for key, value in dataclasses.asdict(own.total).items()} == {
                key: str(float(value)) for key, value in row["total"].items()
            }
        else:
            assert own.element == tuple(json.loads(row["element"])) and list(own.iterations) == row["iterations"]


def test_shadows_of_narrow_types():
    program = adjoint.compile(LOG.replace("TYPE", "bf16"))
    x = np.full((2, 3), 1.0, ml_dtypes.bfloat16)
    rows = {row.operation: row for row in diff.shadow(program, x).operations}
    wanted = np.log(2.0)
    rounded = float(np.float64(wanted).astype(ml_dtypes.bfloat16))
    assert rows["ad.log"].local.abs == pytest.approx(abs(rounded - wanted), rel=1e-12)
