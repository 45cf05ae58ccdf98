# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Traces of runs: their values are NumPy's, their bits those of a call, and the tools read and write the same ones."""

import json
import pathlib
import shutil
import subprocess
import zipfile

import adjoint
import ml_dtypes
import numpy as np
import pytest
from adjoint import diff
from programs import COUNT, SQUARE, SUM

needs_tools = pytest.mark.skipif(not shutil.which("ad-diff"), reason="the tools are not on the path")

# One kernel of three operations, whose values a trace has to compute again, and a product.
CHAIN = """
func.func @main(%x: tensor<?x4xf32> {ad.name = "x"}, %w: tensor<4x3xf32> {ad.name = "w"})
    -> (tensor<?x3xf32> {ad.name = "y"}, tensor<?xf32> {ad.name = "s"}) {
  %h = ad.dot %x, %w : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %double = ad.add %h, %h : tensor<?x3xf32>
  %square = ad.mul %double, %double : tensor<?x3xf32>
  %y = ad.neg %square : tensor<?x3xf32>
  %s = ad.reduce_sum %y axes [1] : tensor<?x3xf32> -> tensor<?xf32>
  return %y, %s : tensor<?x3xf32>, tensor<?xf32>
}
"""
NARROW = """
func.func @main(%x: tensor<6xbf16> {ad.name = "x"}) -> (tensor<6xf8E5M2> {ad.name = "y"}) {
  %half = ad.mul %x, %x : tensor<6xbf16>
  %y = ad.cast %half : tensor<6xbf16> -> tensor<6xf8E5M2>
  return %y : tensor<6xf8E5M2>
}
"""
# Fails where a sum is not finite.
CHECKED = """
func.func @main(%x: tensor<3xf32> {ad.name = "x"}) -> (tensor<3xf32> {ad.name = "y"}) {
  %y = ad.add %x, %x : tensor<3xf32>
  check.expect_finite(%y) : tensor<3xf32>
  return %y : tensor<3xf32>
}
"""
UPDATE = """
func.func @main(%w: tensor<3xf32> {ad.name = "w", ad.donated = 0}, %g: tensor<3xf32> {ad.name = "g"})
    -> (tensor<3xf32> {ad.name = "w"}) {
  %new = ad.sub %w, %g : tensor<3xf32>
  return %new : tensor<3xf32>
}
"""


def small(shape, seed=1):
    """Numbers whose sums and products are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


def only(records):
    (record,) = records
    return record


def same_bits(left, right):
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


@pytest.mark.parametrize("numerics", ["strict", "fast"])
def test_values_are_those_of_numpy_and_bits_those_of_a_call(target, numerics, tmp_path):
    program = adjoint.compile(CHAIN, target=target, numerics=numerics)
    x, w = np.random.default_rng(2).standard_normal((5, 4)).astype(np.float32), small((4, 3))
    wanted = program(x, w)
    trace = diff.trace(program, tmp_path / "trace", x, w=w, tensors="all")
    assert all(map(same_bits, trace.results, wanted)) and trace.results._fields == ("y", "s")
    values = {record.name: record.load() for record in trace.records if record.kind == "RESULT"}
    h = values["%h"]
    assert np.allclose(h, x.astype(np.float64) @ w, rtol=1e-5, atol=1e-5)
    assert same_bits(values["%double"], h + h)
    assert same_bits(values["%square"], (h + h) * (h + h))
    assert same_bits(values["%y"], wanted.y) and same_bits(values["%s"], wanted.s)
    for record in trace.records:
        assert diff.fingerprint(record.load()) == record.fingerprint
        assert record.load().shape == record.shape and str(record.load().dtype) == record.dtype
    assert [record.name for record in trace.records if record.kind == "INPUT"] == ["x", "w"]
    assert only(trace.find("%h")).location == "<string>:4:8"


def test_values_inside_of_kernels_are_marked(tmp_path):
    trace = diff.trace(adjoint.compile(CHAIN), tmp_path / "trace", small((5, 4)), small((4, 3)))
    assert only(trace.find("%double")).recomputed and not only(trace.find("%y")).recomputed
    assert trace.info["kernel_results_unlike_reference"] == 0 and trace.info["options"]["target"] == "cpu"
    interpreted = adjoint.compile(CHAIN, target="reference")
    trace = diff.trace(interpreted, tmp_path / "reference", small((5, 4)), small((4, 3)))
    assert not only(trace.find("%double")).recomputed


@pytest.mark.parametrize("tensors, kept", [((), set()), ("square", {"%square"}), (["ad.neg", "h"], {"%y", "%h"})])
def test_tensors_on_request(tensors, kept, target, tmp_path):
    program = adjoint.compile(CHAIN, target=target)
    trace = diff.trace(program, tmp_path / "trace", small((5, 4)), small((4, 3)), tensors=tensors)
    assert {record.name for record in trace.records if record.file and record.kind == "RESULT"} == kept
    with pytest.raises(adjoint.TraceError, match="no tensor of '%double'"):
        only(trace.find("%double")).load()


def test_types_that_numpy_lacks(target, tmp_path):
    x = np.arange(6).astype(ml_dtypes.bfloat16)
    program = adjoint.compile(NARROW, target=target)
    trace = diff.trace(program, tmp_path / "trace", x, tensors="all")
    assert same_bits(trace.results, (x * x).astype(ml_dtypes.float8_e5m2))
    assert same_bits(only(trace.find("%half")).load(), x * x)
    assert same_bits(diff.read_trace(tmp_path / "trace").results, trace.results)
    assert same_bits(diff.replay(tmp_path / "trace").results, trace.results)


def test_feeds_and_receives(target, tmp_path):
    """A feed that gives each value once: what is inside of kernels is computed from the values that it gave."""
    program, x = adjoint.compile(SUM, target=target), small((4, 2))
    trace = diff.trace(program, tmp_path / "trace", 4, feeds={"x": iter(x)}, tensors="all")
    assert same_bits(trace.results, x.sum(0))
    assert [record.load().tolist() for record in trace.find("%after")] == np.cumsum(x, 0).tolist()
    assert [record.run for record in trace.find("ad.add")] == [0, 1, 2, 3]
    again = diff.replay(tmp_path / "trace")
    assert same_bits(again.results, x.sum(0)) and again.different == ()
    received = []
    count = adjoint.compile(COUNT, target=target)
    counted = diff.trace(count, tmp_path / "count", 3, receives={"count": received.append})
    assert received == [1, 2, 3] and len(counted.find("count")) == 3


def test_no_argument_is_overwritten(target, tmp_path):
    program, w, g = adjoint.compile(UPDATE, target=target), small(3), small(3, seed=5)
    before = w.copy()
    w.flags.writeable = False
    trace = diff.trace(program, tmp_path / "trace", w, g)
    assert same_bits(w, before) and same_bits(trace.results, before - g)


def test_replays(target, tmp_path):
    program = adjoint.compile(CHAIN, target=target, numerics="reproducible", threads=2)
    x, w = np.random.default_rng(3).standard_normal((7, 4)).astype(np.float32), small((4, 3))
    trace = diff.trace(program, tmp_path / "trace", x, w)
    for other in (None, "reference", "cpu"):
        again = diff.replay(tmp_path / "trace", target=other, threads=1)
        assert again.different == () and again.target == (other or target)
        assert again.numerics == "reproducible" and all(map(same_bits, again.results, trace.results))
    s = tmp_path / "trace" / "outputs" / "s.npy"
    np.save(s, np.load(s) + 1)
    assert diff.replay(tmp_path / "trace").different == ("s",)


def test_a_trace_of_a_run_that_failed_has_its_values_until_then(target, tmp_path):
    program = adjoint.compile(CHECKED, target=target, name="checked.mlir")
    with pytest.raises(adjoint.CheckError) as caught:
        diff.trace(program, tmp_path / "trace", np.array([1, np.inf, 2], np.float32), tensors="all")
    assert caught.value.location == "checked.mlir:4:3"
    trace = diff.read_trace(tmp_path / "trace")
    assert trace.results is None and trace.info["status"] == "failed"
    assert np.array_equal(only(trace.find("ad.add")).load(), [2, np.inf, 4])
    with pytest.raises(adjoint.CheckError) as caught:
        diff.replay(tmp_path / "trace")
    assert "check.expect_finite" in str(caught.value) and caught.value.location.endswith("checked.mlir:4:3")


def test_errors(tmp_path):
    program, x = adjoint.compile(SQUARE), small(3)
    diff.trace(program, tmp_path / "trace", x)
    with pytest.raises(adjoint.TraceError, match="a trace makes a new folder, and '.*trace' exists"):
        diff.trace(program, tmp_path / "trace", x)
    with pytest.raises(adjoint.TraceError, match="cannot make folder '.*b/c': No such file"):
        diff.trace(program, tmp_path / "b" / "c", x)
    for read in (diff.read_trace, diff.replay):
        with pytest.raises(adjoint.TraceError, match="no folder of a trace"):
            read(tmp_path)
    with pytest.raises(adjoint.TraceError, match="records.tsv"):
        diff.runs(tmp_path, tmp_path / "trace")
    with pytest.raises(adjoint.OptionError, match="unknown target 'tpu'"):
        diff.replay(tmp_path / "trace", target="tpu")
    with pytest.raises(adjoint.OptionTypeError, match="expected tensors as names"):
        diff.trace(program, tmp_path / "other", x, tensors=[3])
    with pytest.raises(adjoint.ArgumentTypeError, match="argument 'x' of type .* is missing"):
        diff.trace(program, tmp_path / "other")
    assert not (tmp_path / "other").exists()
    with pytest.warns(RuntimeWarning, match="no value and no operation of the run is named 'nothing'"):
        diff.trace(program, tmp_path / "other", x, tensors="nothing")
    info = tmp_path / "other" / "run.json"
    info.write_text(json.dumps({**json.loads(info.read_text()), "options": 3}))
    with pytest.raises(adjoint.TraceError, match="is not of a trace"):
        diff.replay(tmp_path / "other")


def test_traces_that_are_not_whole(tmp_path):
    program, x = adjoint.compile(SQUARE), small(3)
    trace = diff.trace(program, tmp_path / "trace", x)
    assert diff.replay(trace).different == ()
    records, info = tmp_path / "trace/records.tsv", tmp_path / "trace/run.json"
    lines, whole = records.read_text().splitlines(keepends=True), json.loads(info.read_text())
    records.write_text("".join(lines[:-1]))
    with pytest.raises(adjoint.TraceError, match=f"has {len(lines) - 2} records, and its run.json says {len(lines) - 1}"):
        diff.read_trace(tmp_path / "trace")
    with pytest.raises(adjoint.TraceError, match="is not whole"):
        diff.runs(tmp_path / "trace", tmp_path / "trace")
    records.write_text("".join(lines))
    for outputs in (3, [3], [{}], [{"name": "y", "file": "outputs/y.npy", "type": 3}],
                    [{"name": "y", "file": "outputs/y.npy", "type": "tensor<3xf77>"}],
                    [{"name": ["y"], "file": "outputs/y.npy", "type": "tensor<3xf32>"}]):
        info.write_text(json.dumps({**whole, "outputs": outputs}))
        with pytest.raises(adjoint.TraceError, match="run.json has no list of outputs"):
            diff.read_trace(tmp_path / "trace")
    info.write_text(json.dumps(whole))
    (tmp_path / "trace/outputs/y.npy").write_bytes(b"")
    with pytest.raises(adjoint.TraceError, match="cannot read '.*y.npy'"):
        diff.read_trace(tmp_path / "trace")


@pytest.mark.parametrize("save", [
    lambda file: np.savez(file, y=small(3)),
    lambda file: zipfile.ZipFile(file, "w").close(),
    lambda file: np.save(file, np.zeros(3, "V3")),
    lambda file: np.save(file, np.zeros(3, [("a", "f4"), ("b", "i2")])),
], ids=["archive", "empty archive", "bytes", "structure"])
def test_traces_with_other_files_of_numpy(tmp_path, save):
    trace = diff.trace(adjoint.compile(SQUARE), tmp_path / "trace", small(3), tensors="all")
    for file in [tmp_path / "trace/outputs/y.npy", *(record.file for record in trace.records if record.file)]:
        with open(file, "wb") as stream:
            save(stream)
    with pytest.raises(adjoint.TraceError, match="cannot read '.*y.npy'"):
        diff.read_trace(tmp_path / "trace")
    for record in trace.records:
        if record.file:
            with pytest.raises(adjoint.TraceError, match="cannot read"):
                record.load()


@pytest.mark.parametrize("function", [diff.read_trace, diff.replay, lambda folder: diff.runs(folder, folder)])
def test_names_of_folders(function):
    with pytest.raises(adjoint.TraceError, match="in UTF-8"):
        function("s\udcff")
    for folder in (b"trace", 3):
        with pytest.raises(adjoint.OptionTypeError, match="expected folder as str or PathLike"):
            function(folder)


def test_what_is_no_program(tmp_path):
    for call in (lambda: diff.trace("x", tmp_path / "t"), lambda: diff.nan(None), lambda: diff.shadow(3),
                 lambda: diff.precision("x", policy="bf16", bound={"abs": 1})):
        with pytest.raises(adjoint.OptionTypeError, match="expected program as Program"):
            call()
    with pytest.raises(adjoint.OptionTypeError, match="expected bound as int or float"):
        diff.precision(adjoint.compile(SQUARE), small(3), policy="bf16", bound={"abs": "1"})
    with pytest.raises(adjoint.OptionTypeError, match="expected tensors as names"):
        diff.trace(adjoint.compile(SQUARE), tmp_path / "t", small(3), tensors=3)


def test_two_traces(tmp_path):
    x, w = np.random.default_rng(4).standard_normal((5, 4)).astype(np.float32), small((4, 3))
    left = diff.trace(adjoint.compile(CHAIN), tmp_path / "left", x, w, tensors="all")
    changed = adjoint.compile(CHAIN.replace("ad.neg %square", "ad.exp %square"), numerics="reproducible")
    right = diff.trace(changed, tmp_path / "right", x, w, tensors="y")
    found = diff.runs(left, right)
    assert diff.runs(left, left).different == () and diff.runs(tmp_path / "left", left).pairs == len(left.records)
    assert "option numerics: default and reproducible" in found.about and str(found) == found.text
    y = only(value for value in found.different if value.kind == "OUTPUT" and value.name == "y")
    assert y.by == "name" and y.abs == diff.max_diff(left.results.y, right.results.y).abs
    assert only(value for value in found.different if value.name == "s").abs is None


def test_a_program_whose_text_is_not_utf8(tmp_path):
    program = adjoint.compile(CHAIN)
    for side in ("left", "right"):
        diff.trace(program, tmp_path / side, small((2, 4)), small((4, 3)))
    text = tmp_path / "right/program.mlir"
    text.write_bytes(text.read_bytes().replace(b"%double", b"%d\xff\xff"))
    found = diff.runs(tmp_path / "left", tmp_path / "right")
    assert found.different == () and r"%square = ad.mul %d\xFF\xFF, %d\xFF\xFF" in found.text


def test_edited_operations_and_unknown_values(tmp_path):
    x, w = small((5, 4)), small((4, 3))
    left = diff.trace(adjoint.compile(CHAIN), tmp_path / "left", x, w)
    right = diff.trace(adjoint.compile(CHAIN.replace("ad.neg %square", "ad.abs %square")), tmp_path / "right", x, w)
    found = diff.runs(left, right)
    edit = only(found.edits)
    assert (edit.left.operation, edit.right.operation) == ("ad.neg", "ad.abs")
    assert edit.left.location == found.different[0].location and found.different[0].name == "%y"
    assert found.unknown == () and diff.runs(left, left).edits == ()
    for side in (left, right):
        path = side.folder / "records.tsv"
        path.write_text("".join("\t".join(line.split("\t")[:7]) + "\n" for line in path.read_text().splitlines()))
    found = diff.runs(left.folder, left.folder)
    assert found.different == () and {value.name for value in found.unknown} >= {"x", "w", "y", "s"}
    assert diff.runs(left.folder, right.folder).different != ()


@needs_tools
def test_the_tools_read_and_write_the_same_traces(target, tmp_path):
    x, w = small((5, 4)), small((4, 3))
    (tmp_path / "chain.mlir").write_text(CHAIN)
    for name, array in {"x": x, "w": w}.items():
        np.save(tmp_path / f"{name}.npy", array)
    program = adjoint.compile(tmp_path / "chain.mlir", target=target)
    ours = diff.trace(program, tmp_path / "ours", x, w, tensors="all")
    options = [f"--target={target}", "--arg=x=x.npy", "--arg=w=w.npy", "--trace=theirs", "--trace-tensors=all"]
    subprocess.run(["ad-runner", "chain.mlir", *options], cwd=tmp_path, check=True)
    theirs = diff.read_trace(tmp_path / "theirs")
    text = [(folder / "records.tsv").read_text() for folder in (ours.folder, theirs.folder)]
    assert text[0] == text[1] and all(map(same_bits, ours.results, theirs.results))
    subprocess.run(["ad-runner", "--replay", "ours"], cwd=tmp_path, check=True)
    other = diff.trace(adjoint.compile(CHAIN), tmp_path / "other", x, w + 1, tensors="all")
    command = ["ad-diff", "runs", ours.folder, other.folder, "--json", "-"]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    with pytest.warns(RuntimeWarning, match="other inputs"):
        found = diff.runs(ours, other)
    assert [vars(value)["hashes"] for value in found.different] == [tuple(v["hashes"]) for v in printed["different"]]
    assert [value.abs for value in found.different] == [value["abs"] for value in printed["different"]]
    assert found.pairs == printed["pairs"] and list(found.about) == printed["runs"]


def test_a_path_may_be_a_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trace = diff.trace(adjoint.compile(SQUARE), "trace", small(3))
    assert trace.folder == pathlib.Path("trace") and diff.replay("trace").different == ()
