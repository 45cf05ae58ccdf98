# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Stages, reports, pictures and files of programs."""

import json
import pathlib
import shutil
import subprocess
import xml.dom.minidom

import adjoint
import numpy as np
import pytest
from adjoint import nn

X = np.random.default_rng(0).standard_normal((3, 8)).astype(np.float32)
MODEL = nn.Sequential(nn.Linear(8, 16, key=1), nn.ReLU(), nn.Linear(16, 4, key=2))
TEXT = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"


def predict(model, x):
    return nn.functional.softmax(model(x))


def trace(**options):
    return adjoint.jit(predict, **options).trace(MODEL, X)


@pytest.mark.parametrize("target", ["cpu", "gpu-sim"])
def test_stages_follow_each_other(target):
    program = trace(target=target)
    found = [program.lowered(stage) for stage in ("frontend", "fusion", "kernels", "code")]
    marks = ["ad.dot", "ad.fusion", "ad.buffer", "llvm.func"]
    for index, (text, mark) in enumerate(zip(found, marks)):
        assert mark in text and not any(later in text for later in marks[index + 1 :] if later != "ad.buffer")
    name = "gpu" if target == "gpu-sim" else "cpu"
    assert program.lowered(f"ad-to-{name}-fusion") == found[1] == program.program.lowered("fusion")


def test_stages_take_the_options_of_the_program():
    assert "bf16" in trace(precision="bf16").lowered("frontend")
    assert "bf16" not in trace().lowered("frontend")
    assert "#ad.numerics<fast" in trace(numerics="fast").lowered("frontend")


def test_passes_may_be_named():
    assert "ad.dot" in trace().lowered("func.func(cse),ad-simplify")


@pytest.mark.parametrize("stage", ["", "nonsense", "ad-to-gpu-fusio", "func.func(nonsense)"])
def test_unknown_stages_are_refused(stage):
    with pytest.raises(adjoint.OptionError, match="frontend, fusion, kernels, code"):
        trace().lowered(stage)


def test_an_error_of_a_stage_names_the_line_of_python():
    def gradient_of_a_search(x):
        return adjoint.while_loop(lambda y: y < 8, lambda y: y * 2, x)

    program = adjoint.jit(adjoint.grad(gradient_of_a_search)).trace(np.float32(1))
    with pytest.raises(adjoint.CompileError, match=f"{pathlib.Path(__file__).name}:[0-9]+.*\n.*while_loop"):
        program.lowered("frontend")


def test_a_memory_picture_shows_the_buffers(tmp_path, monkeypatch):
    spaced = tmp_path / "a 'b"
    spaced.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spaced))
    picture = trace().memory_picture()
    document = xml.dom.minidom.parseString(picture._repr_svg_())
    titles = [node.firstChild.data for node in document.getElementsByTagName("title")]
    assert any("192 bytes" in title for title in titles)  # 3 x 16 numbers of f32 between the layers
    picture.save(tmp_path / "plan.svg")
    assert (tmp_path / "plan.svg").read_text() == picture.svg
    with pytest.raises(adjoint.FileError, match="cannot write .*No such file"):
        picture.save(tmp_path / "none" / "plan.svg")


def test_a_report_names_what_changed_numbers(tmp_path):
    program = adjoint.jit(
        lambda x: x / 3.0, numerics="fast", cache=tmp_path, target="gpu-sim"
    ).trace(np.ones((64, 64), np.float32))
    report = program.report()
    assert report.target == "gpu-sim" and report.numerics.startswith("fast") and report.cache == "miss"
    assert report.stages["parse"] > 0 and report.passes["ad-fuse"] > 0
    assert report.uses and all(use.count > 0 and use.permission for use in report.uses)
    assert any(pathlib.Path(__file__).name in str(use) for use in report.uses)
    strict = trace().report()
    assert strict.uses == () and "no rewrite used a permission" in str(strict)


def test_a_compiled_file_runs_with_the_model_inside(tmp_path):
    program = trace()
    program.save(tmp_path / "predict.adx", bound={"model": MODEL})
    loaded = adjoint.load(tmp_path / "predict.adx", threads=1)
    assert set(loaded.bound) == {"model.0.weight", "model.0.bias", "model.2.weight", "model.2.bias"}
    expected = program(MODEL, X)
    for made in (loaded(X), loaded(x=X), loaded(X, **{"model.0.bias": np.asarray(MODEL[0].bias)})):
        np.testing.assert_array_equal(made, expected)
    changed = loaded(X, **{"model.2.bias": np.float32([9, 0, 0, 0])})
    assert (changed[:, 0] > expected[:, 0]).all()
    with pytest.raises(adjoint.ArgumentTypeError, match="expected 1 argument .x., got 2"):
        loaded(X, X)
    with pytest.raises(adjoint.OptionError, match="is compiled: it has no text"):
        loaded.save(tmp_path / "again.adx")
    assert loaded.report().stages == {} and loaded.target == "cpu"


def test_a_file_for_the_emulated_gpu_runs(tmp_path):
    program = trace(target="gpu-sim", numerics="reproducible")
    program.save(tmp_path / "p.adx", bound={"model": MODEL})
    np.testing.assert_array_equal(adjoint.load(tmp_path / "p.adx")(X), trace(numerics="reproducible")(MODEL, X))


@pytest.mark.skipif(shutil.which("adrt-run") is None, reason="the tools are not on PATH")
def test_a_file_runs_without_python(tmp_path):
    trace().save(tmp_path / "p.adx", bound={"model": MODEL})
    np.save(tmp_path / "x.npy", X)
    subprocess.run(["adrt-run", "p.adx", "--arg=x=x.npy", "--out-dir=out"], cwd=tmp_path, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out/result.npy"), trace()(MODEL, X))


def test_donated_and_small_values_are_bound(tmp_path):
    def step(w, scale, x):
        return w + (x * scale).astype(w.dtype)

    w, scale = np.ones(3, np.float16), np.float32(2)
    program = adjoint.jit(step, donate_argnames="w").trace(w, scale, np.ones(3, np.float32))
    program.save(tmp_path / "p.adx", bound={"w": w, "scale": scale})
    loaded = adjoint.load(tmp_path / "p.adx")
    for _ in range(2):  # the value in the file stays
        np.testing.assert_array_equal(loaded(np.ones(3, np.float32)), np.full(3, 3, np.float16))


@pytest.mark.parametrize("bound, kind, message", [
    ({"modle": 1}, adjoint.ArgumentTypeError, "no parameter 'modle', its parameters are model, x"),
    ({"model": MODEL[0]}, adjoint.ArgumentTypeError, "a tree of 4 tensors.*got 2"),
    ({"x": X.astype(np.float64)}, adjoint.ArgumentTypeError, "'x'.*f32"),
    ({"x": X[:2]}, adjoint.ArgumentShapeError, "'x'.*3x8"),
])
def test_what_does_not_fit_is_not_written(tmp_path, bound, kind, message):
    with pytest.raises(kind, match=message):
        trace().save(tmp_path / "p.adx", bound=bound)
    assert list(tmp_path.iterdir()) == []


def test_files_are_written_whole_or_not_at_all(tmp_path):
    with pytest.raises(adjoint.OptionError, match="ends with .mlir or .adx"):
        adjoint.compile(TEXT).save(tmp_path / "p.exe")
    with pytest.raises(adjoint.OptionError, match="only compiled files have values"):
        adjoint.compile(TEXT).save(tmp_path / "p.mlir", bound={"x": X})
    with pytest.raises(adjoint.OptionError, match="no compiled code"):
        adjoint.compile(TEXT, target="reference").save(tmp_path / "p.adx")
    with pytest.raises(adjoint.Error, match="cannot write.*none"):
        adjoint.compile(TEXT).save(tmp_path / "none" / "p.adx")
    with pytest.raises(adjoint.FileError, match="cannot write.*none"):
        adjoint.compile(TEXT).save(tmp_path / "none" / "p.mlir")
    assert list(tmp_path.iterdir()) == []
    adjoint.compile(TEXT).save(tmp_path / "p.mlir")
    assert (tmp_path / "p.mlir").read_text() == TEXT == adjoint.compile(tmp_path / "p.mlir").text


def test_damaged_files_are_refused(tmp_path):
    adjoint.compile(TEXT).save(tmp_path / "p.adx")
    whole = (tmp_path / "p.adx").read_bytes()
    for content in (b"", b"x", whole[: len(whole) // 2], whole[:-1] + b"x", TEXT.encode()):
        (tmp_path / "q.adx").write_bytes(content)
        with pytest.raises(adjoint.OptionError, match="q.adx"):
            adjoint.load(tmp_path / "q.adx")
    with pytest.raises(adjoint.MissingFileError, match="cannot read .*none.adx': No such file or directory$"):
        adjoint.load(tmp_path / "none.adx")
    with pytest.raises(adjoint.OptionTypeError):
        adjoint.load(3)


def test_reports_are_json_of_the_compiler():
    native = adjoint.compile(TEXT)._native
    assert set(json.loads(native.report)) == {"uses", "stages", "passes"}


def in_groups(name, x):
    with adjoint.fuse_group(name):
        y = adjoint.numpy.tanh(x)
        y = nn.functional.softmax(y)
    return adjoint.numpy.exp(y)


def kernels(function, *arguments):
    return adjoint.jit(function).trace(*arguments).lowered("fusion").count("= ad.fusion")


@pytest.mark.parametrize("name", [None, "middle", 'a "name" of its own\n'])
def test_groups_are_the_borders_of_kernels(name):
    def grouped(x):
        return in_groups(name, adjoint.numpy.sin(x))

    def free(x):
        return adjoint.numpy.exp(nn.functional.softmax(adjoint.numpy.tanh(adjoint.numpy.sin(x))))

    assert kernels(free, X) == 1 and kernels(grouped, X) == 3
    assert np.array_equal(adjoint.jit(grouped)(X), adjoint.jit(free)(X))
    slopes = [adjoint.jit(adjoint.grad(lambda x: f(x)[:, 0].sum()))(X) for f in (grouped, free)]
    assert np.array_equal(*slopes)


def test_groups_of_one_name_share_kernels():
    def pair(first, second):
        def function(x):
            with adjoint.fuse_group(first):
                y = adjoint.numpy.sin(x)
            with adjoint.fuse_group(second):
                return adjoint.numpy.exp(y)

        return kernels(function, X)

    assert pair("a", "a") == 1
    assert pair("a", "b") == pair(None, None) == 2


def test_the_inner_group_counts_and_the_outer_one_comes_back():
    def function(x):
        with adjoint.fuse_group("outer"):
            y = adjoint.numpy.sin(x)
            with pytest.raises(ZeroDivisionError), adjoint.fuse_group("inner"):
                y = adjoint.numpy.tanh(y)
                1 / 0
            return adjoint.numpy.exp(y)

    text = adjoint.jit(function).trace(X).text
    assert [line.count('"outer"') for line in text.splitlines() if " = ad." in line] == [1, 0, 1]
    assert text.count('"inner"') == 1


def test_groups_are_of_traced_functions():
    with pytest.raises(adjoint.TracingError, match="no function is traced here"), adjoint.fuse_group("alone"):
        pass


@pytest.mark.parametrize("name", [3, b"bytes"])
def test_names_of_groups_are_texts(name):
    with pytest.raises(adjoint.OptionTypeError, match="name of a group"), adjoint.fuse_group(name):
        pass
    with pytest.raises(adjoint.OptionError, match="leave it out"), adjoint.fuse_group(""):
        pass
