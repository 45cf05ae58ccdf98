# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""adjoint.diff.bisect, reduce, stages and tensors give what ad-diff writes as JSON, and find causes that are known."""

import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import adjoint
import ml_dtypes
import numpy as np
import pytest
from adjoint import diff

TOOL = shutil.which("ad-diff")
needs_tools = pytest.mark.skipif(not TOOL, reason="the tools are not on the path")
# Two equal operations, of which a permission changes one kind alone.
PROGRAM = """
func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %t = ad.tanh %x : tensor<?xf32>
  %y = ad.mul %t, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
"""
PRODUCT = """
func.func @main(%x: tensor<4x8xTYPE> {ad.name = "x"}, %w: tensor<8x3xTYPE> {ad.name = "w"})
    -> (tensor<4x3xTYPE> {ad.name = "y"}) {
  %y = ad.dot %x, %w : (tensor<4x8xTYPE>, tensor<8x3xTYPE>) -> tensor<4x3xTYPE>
  return %y : tensor<4x3xTYPE>
}
"""
X = np.linspace(-2, 2, 33, dtype=np.float32)


@needs_tools
def test_bisect_finds_the_rewrite_its_pass_and_its_error():
    found = diff.bisect(PROGRAM, b="--numerics strict,approx", inputs={"x": X}, name="two.mlir")
    assert found.cause == "rewrites" and found.side == "B" and found.alone_compiles and not found.others_remain
    (rewrite,) = found.rewrites
    assert (rewrite.name, rewrite.permission, rewrite.operation) == ("approximate-function", "approx", "ad.tanh")
    assert rewrite.location == "two.mlir:3:8" and rewrite.stage == "kernels"
    assert rewrite.pass_name == "convert-ad-to-linalg"
    exact = adjoint.compile(PROGRAM)(X)
    fast = adjoint.compile(PROGRAM, numerics="strict,approx")(X)
    (difference,) = found.differences
    assert difference.abs == diff.max_diff(exact, fast).abs and difference.ulp == diff.max_diff(exact, fast).ulp
    assert found.alone == found.differences and not difference.only_zero_signs
    assert found.reduced.kind == "alone" and found.reduced.operations == (
        diff.ReducedOperation("ad.tanh", "two.mlir:3:8"),
    )
    assert str(found) == found.text and "approximate-function (approx) of ad.tanh at two.mlir:3:8" in found.text


@needs_tools
@pytest.mark.parametrize("a, b", [("--numerics fast", ""), ("", ["--numerics", "fast"])])
def test_bisect_has_all_of_the_json(tmp_path, a, b):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "p.mlir").write_text(PROGRAM)
    found = diff.bisect(tmp_path / "p.mlir", a=a, b=b, inputs={"x": str(tmp_path / "x.npy")})
    sides = [f"--{side}={text if isinstance(text, str) else ' '.join(text)}" for side, text in zip("ab", (a, b)) if text]
    done = subprocess.run(
        [TOOL, "bisect", tmp_path / "p.mlir", f"--arg=x={tmp_path}/x.npy", *sides, "--json=-"],
        capture_output=True,
        text=True,
        check=True,
    )
    written = json.loads(done.stdout)
    read = dataclasses.asdict(found)
    for key in ("cause", "side", "candidates", "executions", "alone_compiles", "others_remain", "holds"):
        assert read[key] == written[key]
    names = {"rewrite": "name", "pass": "pass_name"}
    for key, of in (("rewrites", None), ("differences", None), ("operations", "reduced"), ("reduced", "reduced")):
        given, rows = ((report[of] if of else report)[key] for report in (written, read))
        assert given and len(given) == len(rows)
        for one, row in zip(given, rows):
            assert {names.get(name, name): value for name, value in one.items()}.items() <= row.items()
    assert read["reduced"]["kind"] == written["reduced"]["reduction"]


@needs_tools
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16])
def test_inputs_of_all_types(dtype):
    name = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}[np.dtype(dtype).name]
    x, w = np.ones((4, 8), dtype), np.asfortranarray(np.full((8, 3), 0.5, dtype))
    found = diff.bisect(PRODUCT.replace("TYPE", name), b="--target reference", inputs={"x": x, "w": w})
    assert found.cause == "none" and found.differences == () and found.reduced is None and found.holds


@needs_tools
def test_a_bound_and_sides_that_agree():
    arguments = {"b": "--numerics strict,approx", "inputs": {"x": X}}
    assert diff.bisect(PROGRAM, **arguments, bound={"ulp": 1000}).cause == "none"
    tight = diff.bisect(PROGRAM, **arguments, bound={"abs": 0})
    assert tight.cause == "rewrites" and not tight.holds


@needs_tools
def test_reduce_writes_a_program_that_differs(tmp_path):
    found = diff.reduce(PROGRAM, b="--numerics strict,approx", inputs={"x": X}, output=tmp_path / "out", seconds=30)
    assert found.kind == "found" and [row.operation for row in found.operations] == ["ad.tanh"]
    assert found.stage.stage == "code" and found.stage.side == "B" and found.amplification > 0
    assert found.executions > 2 and "reduced program: 1 operation of 2" in found.text
    assert (tmp_path / "out/program.mlir").exists()
    same = diff.reduce(PROGRAM, b="--target gpu-sim", inputs={"x": X})
    assert same.kind == "none" and same.stage is None and same.operations == ()


@needs_tools
def test_stages_name_the_first_change():
    same = diff.stages(PROGRAM, inputs={"x": X})
    assert same.first is None and same.holds and {change.value for change in same.changes} == {"y"}
    found = diff.stages(PROGRAM, inputs={"x": X}, options="--numerics fast", bound={"different": 0})
    assert not found.holds and found.first.value == "y" and found.first.change.abs > 0
    exact, fast = adjoint.compile(PROGRAM)(X), adjoint.compile(PROGRAM, numerics="fast")(X)
    assert found.first.from_written.abs == diff.max_diff(exact, fast).abs


@needs_tools
def test_tensors_are_those_of_max_diff(tmp_path):
    generator = np.random.default_rng(1)
    for side in ("expected", "got"):
        (tmp_path / side).mkdir()
        for name, shape in (("a", (3, 4)), ("b", (7,))):
            np.save(tmp_path / side / f"{name}.npy", generator.standard_normal(shape).astype(np.float32))
    np.save(tmp_path / "expected/alone.npy", X)
    found = diff.tensors(tmp_path / "expected", str(tmp_path / "got"), bound={"abs": 0}, thresholds=[0.5])
    assert [pair.name for pair in found.pairs] == ["a", "b"] and not found.holds and len(found.errors) == 1
    for pair in found.pairs:
        arrays = (np.load(tmp_path / side / f"{pair.name}.npy") for side in ("expected", "got"))
        same = diff.max_diff(*arrays, hist=[0.5])
        for key in ("abs", "rel", "sum", "n", "dnan", "ulp", "l2", "max", "counts", "index", "text"):
            assert getattr(pair, key) == getattr(same, key), key
    one = diff.tensors(tmp_path / "got/a.npy", tmp_path / "got/a.npy")
    assert one.holds and one.pairs[0].abs == 0 and one.pairs[0].counts[">0.0"] == 0


@needs_tools
def test_errors_of_the_tool_are_those_of_the_package(tmp_path):
    with pytest.raises(adjoint.ToolError, match="no results and no list of rewrites"):
        diff.bisect(PROGRAM, b="-O0", inputs={"x": X}, runner_b="/bin/true")
    with pytest.raises(adjoint.ToolError, match="unknown numerics mode 'quick'"):
        diff.bisect(PROGRAM, b="--numerics quick", inputs={"x": X})
    with pytest.raises(adjoint.ToolError, match="expected --a or --b"):
        diff.reduce(PROGRAM, inputs={"x": X})
    with pytest.raises(adjoint.ToolError, match="program.mlir:1:1"):
        diff.stages("{", inputs={"x": X})
    with pytest.raises(adjoint.ToolError, match="absent.npy"):
        diff.tensors(tmp_path / "absent.npy", tmp_path / "absent.npy")


def test_a_missing_tool_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(adjoint.ToolError, match="not on PATH.*tools="):
        diff.bisect(PROGRAM, b="-O0", inputs={"x": X})
    with pytest.raises(adjoint.ToolError, match="has no program ad-diff"):
        diff.stages(PROGRAM, inputs={"x": X}, tools=tmp_path)


@needs_tools
def test_tools_may_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert diff.stages(PROGRAM, inputs={"x": X}, tools=pathlib.Path(TOOL).parent).first is None


@needs_tools
@pytest.mark.parametrize(
    "wrong",
    [{"a": 3}, {"b": [1]}, {"inputs": [X]}, {"inputs": {1: X}}, {"output": 2}, {"seconds": "1"}, {"seconds": True}]
    + [{"bound": {"abs": "1"}}, {"runner_a": 1}, {"name": 1}, {"options": 5}, {"inputs": {"x": object()}}],
)
def test_values_of_other_types(wrong):
    with pytest.raises(adjoint.OptionTypeError):
        diff.bisect(PROGRAM, **{"b": "-O0", **wrong})


@needs_tools
@pytest.mark.parametrize(
    "wrong",
    [{"bound": {}}, {"bound": {"different": 1}}, {"bound": {"abs": -1}}, {"options": "'"}, {"a": "'"}]
    + [{"b": '--numerics="fast'}, {"b": "--cpu=\0"}, {"inputs": {"x\0": X}}, {"inputs": {"a=b": X}}],
)
def test_wrong_values(wrong):
    with pytest.raises(adjoint.OptionError):
        diff.bisect(PROGRAM, **{"b": "-O0", **wrong})


@needs_tools
def test_wrong_values_of_tensors():
    with pytest.raises(adjoint.OptionError, match="path 'expected' with a value"):
        diff.tensors("", "y")
    for thresholds in (3, "12", [None]):
        with pytest.raises(adjoint.OptionTypeError, match="thresholds"):
            diff.tensors("x", "y", thresholds=thresholds)


@needs_tools
def test_names_of_files_that_begin_with_a_dash(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.save("-x.npy", X)
    assert diff.tensors("-x.npy", "-x.npy").holds
    pathlib.Path("-p.mlir").write_text(PROGRAM)
    assert diff.bisect(pathlib.Path("-p.mlir"), b="-O0", inputs={"x": X}).cause == "none"


@needs_tools
def test_a_tab_in_the_name_of_a_program_is_none_of_the_list_of_rewrites():
    found = diff.bisect(PROGRAM, b="--numerics fast", inputs={"x": X}, name="a\tb.mlir")
    assert found.rewrites and all(row.location.startswith("a?b.mlir:") for row in found.rewrites)


@needs_tools
def test_options_that_are_no_text():
    with pytest.raises(adjoint.ToolError, match=r"\\x80"):
        diff.bisect(PROGRAM, b="--numerics=\udc80", inputs={"x": X})


@needs_tools
def test_an_interrupt_ends_the_tool_and_its_runs(tmp_path):
    slow = tmp_path / "slow"
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 300\n")
    slow.chmod(0o755)
    given = f"b='-O0', inputs={{'x': 'zeros'}}, options='--dim x.0=3', runner_a={str(slow)!r}"
    code = f"from adjoint import diff\ndiff.bisect({PROGRAM!r}, {given})"
    header = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", header + code],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=60)[1]
    stat = pathlib.Path("/proc", (tmp_path / "pid").read_text().strip(), "stat")
    assert not stat.exists() or stat.read_text().rsplit(")")[-1].split()[0] == "Z"
    assert {path.name for path in tmp_path.iterdir()} == {"slow", "pid"}
