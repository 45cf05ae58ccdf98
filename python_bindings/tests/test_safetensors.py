# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Models in files of safetensors: all element types, files that do not fit, and those of PyTorch."""

import json
import os
import struct

import ml_dtypes
import numpy as np
import pytest

import adjoint
from adjoint import nn, optim

pytest.importorskip("safetensors", reason="the package safetensors is not installed")

#: By the names of the format.
DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
          "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2, "BOOL": np.bool_, "I8": np.int8,
          "I32": np.int32, "I64": np.int64}


def written(tensors):
    """The bytes of a file, as the format describes them, of {name: (name of the type, array)}."""
    header, data = {}, b""
    for name, (element, array) in tensors.items():
        header[name] = {"dtype": element, "shape": array.shape, "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def parsed(path):
    """(metadata, {name: (name of the type, shape, bytes)})"""
    data = path.read_bytes()
    size = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:size])
    return header.pop("__metadata__", None), {
        name: (one["dtype"], tuple(one["shape"]), data[size:][slice(*one["data_offsets"])])
        for name, one in header.items()}


def same(one, other):
    left, right = one.state_dict(), other.state_dict()
    return list(left) == list(right) and all(
        left[name].dtype == right[name].dtype and left[name].tobytes() == right[name].tobytes() for name in left)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"])
def test_models_come_back(dtype, tmp_path):
    path = tmp_path / "model.safetensors"
    model = nn.Sequential(nn.Linear(3, 4, key=1), nn.ReLU(), nn.LSTM(4, 2, key=2)).astype(dtype)
    nn.save_safetensors(model, path)
    again = nn.load_safetensors(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.LSTM(4, 2)).astype(dtype), str(path))
    assert same(model, again) and all(leaf.flags.writeable for leaf in again.parameters())
    assert os.listdir(tmp_path) == ["model.safetensors"] and path.stat().st_mode & 0o444 == 0o444


@pytest.mark.parametrize("element", DTYPES)
def test_each_element_type_has_its_name(element, tmp_path):
    path, random = tmp_path / "x", np.random.default_rng(0)
    make = lambda shape: (100 * random.standard_normal(shape)).astype(DTYPES[element])  # noqa: E731
    arrays = {"a": make((2, 3)), "b": {"c": make(()), "d": make((0, 4)), "e": make((5, 2)).T}}
    nn.save_safetensors(arrays, path)
    about, tensors = parsed(path)
    assert about == {"format": "pt"}  # Hugging Face asks for it
    leaves = {"a": arrays["a"], **{f"b.{name}": one for name, one in arrays["b"].items()}}
    assert tensors == {name: (element, one.shape, one.tobytes()) for name, one in leaves.items()}
    path.write_bytes(written({name: (element, one) for name, one in leaves.items()}))
    again = nn.load_safetensors(adjoint.tree.map(np.zeros_like, arrays), path)
    for name, one in zip(leaves, adjoint.tree.leaves(again)):
        assert one.dtype == DTYPES[element] and one.tobytes() == leaves[name].tobytes()


def test_floats_take_the_types_of_the_model(tmp_path):
    path, model = tmp_path / "x", nn.Linear(3, 2, key=1)
    nn.save_safetensors(model.astype("bf16"), path)
    assert same(nn.load_safetensors(nn.Linear(3, 2), path), model.astype("bf16").astype("f32"))
    nn.save_safetensors(model, path)
    assert same(nn.load_safetensors(nn.Linear(3, 2).astype("f8E5M2"), path), model.astype("f8E5M2"))


def test_states_of_optimizers(tmp_path):
    model, optimizer = nn.Linear(3, 2, key=1).astype("bf16"), optim.Masters(optim.Adam())
    training = {"model": model, "state": optimizer.init(model)}
    nn.save_safetensors(training, tmp_path / "x")
    assert {"model.weight", "state.step", "state.masters.bias", "state.second.weight"} < parsed(tmp_path / "x")[1].keys()
    again = nn.load_safetensors(training, tmp_path / "x")
    assert again["state"]["step"].dtype == np.int32 and same(again["model"], model)


WEIGHT, BIAS = ("F32", np.ones((2, 3), np.float32)), ("F32", np.zeros(2, np.float32))


@pytest.mark.parametrize("tensors, message", [
    ({"weight": WEIGHT}, "missing: bias, unknown: none"),
    ({"weight": WEIGHT, "bias": BIAS, "scale": BIAS}, "missing: none, unknown: scale"),
    ({"weight": ("F32", WEIGHT[1].T.copy()), "bias": BIAS}, r"weight: expected the shape \(2, 3\), got \(3, 2\)"),
    ({"weight": WEIGHT, "bias": ("I32", np.zeros(2, np.int32))}, "bias: expected elements of f32, got i32"),
    ({"weight": WEIGHT, "bias": ("BOOL", np.zeros(2, bool))}, "bias: expected elements of f32, got i1"),
    ({"weight": WEIGHT, "bias": ("U16", np.zeros(2, np.uint16))}, "bias: no element type of Adjoint is U16"),
])
def test_files_that_do_not_fit(tensors, message, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(written(tensors))
    with pytest.raises(adjoint.OptionError, match=f"x' does not fit the model: .*{message}"):
        nn.load_safetensors(nn.Linear(3, 2), path)


def test_integers_keep_their_types(tmp_path):
    nn.save_safetensors({"step": np.zeros((), np.int64)}, tmp_path / "x")
    with pytest.raises(adjoint.OptionError, match="step: expected elements of i32, got i64"):
        nn.load_safetensors({"step": np.zeros((), np.int32)}, tmp_path / "x")


def test_damaged_files(tmp_path):
    path = tmp_path / "x"
    whole = written({"weight": WEIGHT, "bias": BIAS})
    header = struct.unpack("<Q", whole[:8])[0]
    for damaged in (*(whole[:size] for size in range(len(whole))), whole + b"\0", b"\xff" * 100,
                    struct.pack("<Q", 3) + b"no!", whole[:8] + b"[" + whole[9:],
                    whole[:8] + whole[8 : 8 + header].replace(b"[2, 3]", b"[9, 3]") + whole[8 + header :]):
        path.write_bytes(damaged)
        with pytest.raises(adjoint.OptionError, match="x' is no file of safetensors, or it is damaged"):
            nn.load_safetensors(nn.Linear(3, 2), path)


def test_files_that_cannot_be_read_or_written(tmp_path):
    model = nn.Linear(3, 2)
    with pytest.raises(adjoint.MissingFileError, match="cannot read .*none"):
        nn.load_safetensors(model, tmp_path / "none")
    with pytest.raises(adjoint.FileError, match="cannot read"):
        nn.load_safetensors(model, tmp_path)
    with pytest.raises(adjoint.MissingFileError, match="cannot write .*none/x"):
        nn.save_safetensors(model, tmp_path / "none/x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(adjoint.FileError, match="cannot write .*folder"):
        nn.save_safetensors(model, tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("value, error, message", [
    ({"a": {"b": np.ones(2)}, "a.b": np.ones(2)}, adjoint.OptionError, "parameters of different names, got a.b, a.b"),
    ({"a": np.ones(2, np.uint8)}, adjoint.OptionError, "uint8"),
    ({"a": "text"}, adjoint.OptionError, "U4"),
])
def test_what_cannot_be_saved_leaves_the_file(value, error, message, tmp_path):
    path = tmp_path / "x"
    path.write_text("before")
    with pytest.raises(error, match=message):
        nn.save_safetensors(value, path)
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["x"]
    with pytest.raises(adjoint.TracingError, match="not known while the function is traced"):
        adjoint.jit(lambda x: nn.save_safetensors({"x": x}, path))(np.ones(2))


def test_a_full_disk_leaves_the_file(run_script, tmp_path):
    """A limit on the size of files is a disk that is full."""
    (tmp_path / "x").write_text("before")
    done = run_script(f"""
        import resource, signal
        import adjoint
        from adjoint import nn
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
        try: nn.save_safetensors(nn.Linear(256, 256), {str(tmp_path)!r} + "/x")
        except adjoint.FileError as error: print(error)
    """)
    assert "cannot write" in done.stdout and "too large" in done.stdout, done.stderr
    assert (tmp_path / "x").read_text() == "before" and os.listdir(tmp_path) == ["x"]


def test_without_the_packages(run_script, tmp_path):
    """Without safetensors both functions say so; without ml_dtypes files of f32 work, and others say so."""
    nn.save_safetensors(nn.Linear(3, 2).astype("bf16"), tmp_path / "narrow")
    done = run_script(f"""
        import sys
        class Missing:
            def find_spec(self, name, *_):
                if name in missing: raise ImportError(name)
        missing = ["ml_dtypes"]
        sys.meta_path.insert(0, Missing())
        import adjoint, numpy
        from adjoint import nn
        model, path = nn.Linear(3, 2), {str(tmp_path)!r} + "/wide"
        nn.save_safetensors(model, path)
        assert (nn.load_safetensors(model, path).weight == model.weight).all()
        def refused(function, *arguments):
            try: function(*arguments)
            except adjoint.ToolError as error: print(error)
        refused(nn.load_safetensors, model, {str(tmp_path)!r} + "/narrow")
        refused(nn.save_safetensors, {{"x": numpy.zeros(2, "V2")}}, path)
        for name in [name for name in sys.modules if name.startswith("safetensors")]: del sys.modules[name]
        missing.append("safetensors")
        refused(nn.save_safetensors, model, path)
        refused(nn.load_safetensors, model, path)
    """)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split(";")[0] for line in lines[2:]] == ["the package safetensors is not installed"] * 2
    assert lines[0].endswith("elements of bf16 need the package ml_dtypes") and lines[1] == f"x: {lines[0].split(': ')[-1]}"


# PyTorch.


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def files(torch):
    return pytest.importorskip("safetensors.torch", reason="safetensors has no PyTorch")


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_files_of_pytorch(torch, files, dtype, tmp_path):
    torch.manual_seed(0)
    theirs = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    state = {name: value.detach().to(getattr(torch, dtype)) for name, value in theirs.state_dict().items()}
    ours = nn.TransformerEncoderLayer(8, 2, 16).astype(dtype)
    files.save_file(state, tmp_path / "theirs")
    loaded = nn.load_safetensors(ours, tmp_path / "theirs")
    for name, value in loaded.state_dict().items():
        np.testing.assert_array_equal(value.astype(np.float64), state[name].to(torch.float64).numpy())
    assert same(loaded, ours.load_state_dict(state))
    nn.save_safetensors(loaded, tmp_path / "ours")
    back = files.load_file(tmp_path / "ours")
    assert back.keys() == state.keys() and all(
        back[name].dtype == value.dtype and torch.equal(back[name].to(torch.float64), value.to(torch.float64))
        for name, value in state.items())
    theirs.to(torch.float32).load_state_dict({name: value.to(torch.float32) for name, value in back.items()})


def test_tensors_of_other_devices_are_refused(torch):
    state = {name: torch.empty_like(value, device="meta") for name, value in torch.nn.Linear(3, 2).state_dict().items()}
    with pytest.raises(adjoint.OptionError, match="weight: expected an array, or a tensor in CPU memory: .*meta"):
        nn.Linear(3, 2).load_state_dict(state)
