# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays that stay in the memory of a device: what is copied, what is refused, and what donation takes."""

import copy
import gc
import pickle
import threading

import adjoint
import adjoint.numpy as anp
import numpy as np
import pytest
from adjoint import _adjoint

ADD = """
func.func @main(%x: tensor<4xf32> {ad.name = "x"}, %y: tensor<4xf32> {ad.name = "y"}) -> (tensor<4xf32> {ad.name = "z"}) {
  %z = ad.add %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
"""

# The first result is made in place, the other one reads both arguments.
STEP = """
func.func @main(%w: tensor<4xf32> {ad.name = "w", ad.donated = 0 : i64}, %g: tensor<4xf32> {ad.name = "g"})
    -> (tensor<4xf32> {ad.name = "next"}, tensor<f32> {ad.name = "sum"}) {
  %s = ad.reduce_sum %g axes [0] : tensor<4xf32> -> tensor<f32>
  %n = ad.sub %w, %g : tensor<4xf32>
  return %n, %s : tensor<4xf32>, tensor<f32>
}
"""

ROWS = """
func.func @main(%x: tensor<?x3xf32> {ad.name = "x"}) -> (tensor<?x3xf32> {ad.name = "y"}) {
  %y = ad.add %x, %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
"""

# The size of `w` is not that of `g`, which is known at run time only.
SHARED = """
func.func @main(%w: tensor<?xf32> {ad.name = "w", ad.donated = 0 : i64}, %g: tensor<?xf32> {ad.name = "g"}) -> tensor<?xf32> {
  %n = ad.sub %w, %g : tensor<?xf32>
  return %n : tensor<?xf32>
}
"""

X = np.arange(4, dtype=np.float32)


def put(array):
    return adjoint.device_put(array, "gpu-sim")


def compile_program(text, **options):
    return adjoint.compile(text, target="gpu-sim", **options)


class Moved:
    """What is copied between host and device in a `with`."""

    def __enter__(self):
        self._before = adjoint.transfer_counts()
        return self

    def __exit__(self, *_):
        after = adjoint.transfer_counts()
        self.counts = tuple(new - old for new, old in zip(after, self._before))


def used():
    gc.collect()
    return _adjoint.device_memory("gpu-sim")["used"]


def test_arrays_go_there_and_come_back():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    with Moved() as moved:
        array = put(x)
        np.testing.assert_array_equal(np.asarray(array), x)
    assert moved.counts == (1, 1)
    assert array.shape == (2, 3, 4) and array.dtype == np.float32 and array.target == "gpu-sim" and array.nbytes == 96
    np.testing.assert_array_equal(np.asarray(put(x[:, ::-1].T)), x[:, ::-1].T)


@pytest.mark.parametrize("element_type", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "i1", "i8", "i32", "i64"])
def test_every_element_type(element_type):
    dtype = adjoint.spec("4", element_type).dtype
    x = np.array([0, 1, 1, 0]).astype(dtype)
    array = put(x)
    assert array.dtype == dtype and array.element_type == element_type and np.asarray(array).tobytes() == x.tobytes()


def test_calls_with_device_arrays_move_nothing():
    program = compile_program(ADD)
    x = y = put(X)
    for _ in range(4):
        with Moved() as moved:
            y = program(x, y)
        assert moved.counts == (0, 0)
    np.testing.assert_array_equal(y, X * 5)


def test_a_program_gives_device_arrays_for_device_arrays_alone():
    program = compile_program(ADD)
    assert isinstance(program(X, X), np.ndarray)
    with Moved() as moved:
        mixed = program(put(X), X)
    assert isinstance(mixed, adjoint.DeviceArray) and moved.counts == (2, 0)
    np.testing.assert_array_equal(mixed, 2 * X)
    out = np.zeros_like(X)
    assert program(put(X), X, out=out) is out and out[3] == 6


def test_a_donated_array_is_updated_in_place():
    program = compile_program(STEP)
    given = put(X)
    address = given._tensor.address
    g = put(np.ones_like(X))
    program(put(X), g)
    with Moved() as moved:
        result, total = program(given, g)
    assert moved.counts == (0, 0)
    assert result._tensor.address == address and given.is_donated and not result.is_donated
    np.testing.assert_array_equal(result, X - 1)
    assert float(total) == 4


def test_a_donated_array_that_is_read_is_an_error():
    given = put(X)
    compile_program(STEP)(given, X)
    uses = [np.asarray, float, str, len, adjoint.device_get, put, copy.copy, pickle.dumps, lambda x: x + 1, lambda x: x[0],
            lambda x: x.__dlpack__(), lambda x: x.target, compile_program(ROWS.replace("?x3x", "4x"))]
    for use in uses[:3] + uses[4:]:
        with pytest.raises(adjoint.ArgumentMemoryError, match="was donated to .* call"):
            use(given)
    assert "donated" in repr(given) and given.shape == (4,)


def test_a_donated_array_that_is_another_argument_too_is_copied():
    x = put(X)
    result, total = compile_program(STEP)(x, x)
    np.testing.assert_array_equal(result, np.zeros(4))
    assert total == 6 and x.is_donated


def test_a_call_that_fails_takes_donated_arrays_and_leaks_nothing():
    program = compile_program(SHARED)
    np.testing.assert_array_equal(program(put(X), put(X)), X * 0)
    before = used()
    w, g = put(X), put(X[:3])
    with pytest.raises(adjoint.ProgramError, match="broadcast"):
        program(w, g)
    assert w.is_donated and not g.is_donated
    del w, g
    assert used() == before


def test_a_call_that_is_refused_takes_nothing():
    w = put(X)
    with pytest.raises(adjoint.ArgumentShapeError):
        compile_program(STEP)(w, X[:2])
    assert not w.is_donated


def test_an_exception_of_the_host_leaks_nothing():
    text = """
func.func @main(%x: tensor<4xf32> {ad.name = "x", ad.donated = 0 : i64}) -> tensor<4xf32> {
  %f = ad.feed "f" : tensor<4xf32>
  %y = ad.add %x, %f : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
    program = compile_program(text)
    np.testing.assert_array_equal(program(put(X), feeds={"f": lambda shape: put(X)}), 2 * X)
    before = used()

    def fail(shape):
        raise KeyError("no data")

    for _ in range(3):
        with pytest.raises(KeyError, match="no data"):
            program(put(X), feeds={"f": fail})
    assert used() == before


def test_wrong_device_arrays():
    x = put(X)
    cases = [
        (put(X[:3]), adjoint.ArgumentShapeError, r"got an array of float32 with shape \(3,\)"),
        (put(X.astype(np.float64)), adjoint.ArgumentTypeError, "got an array of float64"),
    ]
    for wrong, kind, text in cases:
        with pytest.raises(kind, match=f"argument 'y': expected tensor<4xf32>, {text}"):
            compile_program(ADD)(x, wrong)
    for target in ("cpu", "reference"):
        with pytest.raises(adjoint.ArgumentTypeError, match=f"'x': .* on {target}, got a device array on gpu-sim; adjoint.device_"):
            adjoint.compile(ADD, target=target)(x, x)
    with pytest.raises(adjoint.ArgumentTypeError, match="output 'z': .* DeviceArray, which is no numpy.ndarray"):
        compile_program(ADD)(x, x, out=x)


def test_targets_without_a_device():
    for target in ("cpu", "reference"):
        assert adjoint.device_put(X, target) is X
        assert type(adjoint.device_put(put(X), target)) is np.ndarray
    with pytest.raises(adjoint.OptionError, match="unknown target 'tpu'; targets are cpu, reference, gpu-sim, cuda"):
        adjoint.device_put(X, "tpu")
    with pytest.raises(adjoint.OptionTypeError, match="no element type"):
        put(np.array(["text"]))


def test_trees_and_their_other_leaves():
    tree = {"w": X, "n": 3, "name": "layer", "rows": [X, None]}
    there = adjoint.device_put(tree, "gpu-sim")
    assert isinstance(there["w"], adjoint.DeviceArray) and there["n"] == 3 and there["name"] == "layer"
    assert adjoint.device_put(there, "gpu-sim")["w"] is there["w"]
    back = adjoint.device_get(there)
    assert type(back["rows"][0]) is np.ndarray and back["rows"][1] is None


def test_dynamic_and_empty_sizes():
    program = compile_program(ROWS)
    for rows in (3, 1, 0, 5, 0):
        x = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
        there = put(x)
        program(there)
        with Moved() as moved:
            y = program(there)
        assert moved.counts == (0, 0) and y.shape == (rows, 3) and len(y) == rows
        np.testing.assert_array_equal(y, 2 * x)


def test_elements_are_read_like_those_of_numpy():
    x = put(X.reshape(2, 2))
    assert x[1, 0] == 2 and list(map(list, x)) == [[0, 1], [2, 3]] and x.sum() == 6 and x.tolist() == [[0, 1], [2, 3]]
    assert (x == X.reshape(2, 2)).all() and (X.reshape(2, 2) + x)[1, 1] == 6 and (-x)[0, 1] == -1
    assert np.exp(x).shape == (2, 2) and str(x) == str(X.reshape(2, 2)) and f"{put(np.float32(1.5)):.2f}" == "1.50"
    assert bool(put(np.bool_(True))) and int(put(np.int32(7))) == 7 and [10, 11, 12][put(np.int64(1))] == 11
    assert x.T.shape == (2, 2) and x.ndim == 2 and x.size == 4
    with pytest.raises(TypeError, match="rank 0 has no length"):
        len(put(np.float32(1)))
    with pytest.raises(AttributeError, match="no 'device_buffer'"):
        x.device_buffer
    with pytest.raises(ValueError, match="they can only be copied"):
        np.asarray(x, copy=False) if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else x.__array__(copy=False)


def test_elements_cannot_be_written():
    x = put(X)
    for write in (lambda: x.__setitem__(0, 1), lambda: np.add(X, X, out=x)):
        with pytest.raises(adjoint.ArgumentMemoryError, match="cannot be written"):
            write()
    with pytest.raises(ValueError, match="read-only"):
        x.sort()


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: x.copy(), lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_memory_of_their_own(copied):
    x = put(X)
    other = copied(x)
    assert isinstance(other, adjoint.DeviceArray) and other.target == "gpu-sim"
    compile_program(STEP)(x, X)
    np.testing.assert_array_equal(other, X)


def test_copies_on_the_device_move_nothing():
    x = put(X)
    with Moved() as moved:
        x.copy()
    assert moved.counts == (0, 0)


def test_memory_is_freed():
    program = compile_program(ADD)
    x = put(X)
    y = program(x, x)
    before = used()
    for _ in range(8):
        y = program(x, y)
    assert used() == before
    del x, y
    assert used() == before - 2 * X.nbytes
    idle = _adjoint.device_memory("gpu-sim")["idle"]
    del program
    gc.collect()
    assert _adjoint.device_memory("gpu-sim")["idle"] < idle


def test_a_lack_of_memory(run_script):
    done = run_script(
        """
        import adjoint, numpy as np, resource
        from adjoint import _adjoint
        x = np.zeros(1 << 24, np.float32)
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        held = []
        try:
            while True:
                held.append(adjoint.device_put(x, "gpu-sim"))
        except MemoryError as error:
            print("MemoryError:", error)
        count = len(held)
        held.clear()
        held = [adjoint.device_put(x, "gpu-sim") for _ in range(count - 1)]
        print("again", _adjoint.device_memory("gpu-sim")["used"] == (count - 1) * x.nbytes)
        """
    )
    assert "MemoryError: the device has not enough memory for a device array of 67108864 bytes: " in done.stdout, done
    assert "again True" in done.stdout


def test_threads_share_arrays_and_only_one_gets_a_donated_one():
    program, step = compile_program(ADD), compile_program(STEP)
    x, w = put(X), put(X)
    taken, sums = [], []

    def work():
        for _ in range(20):
            sums.append(np.asarray(program(x, x)).tolist())
        try:
            taken.append(step(w, x))
        except adjoint.ArgumentMemoryError:
            pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1 and sums == [[0, 2, 4, 6]] * 80


def test_analyses_copy_device_arrays():
    program = compile_program(STEP)
    w = put(np.float32([1, np.inf, 0, 0]))
    assert adjoint.diff.nan(program, w, put(np.float32([0, np.inf, 0, 0]))).origins[0].operation == "ad.sub"
    assert not w.is_donated
    assert adjoint.diff.max_diff(put(X), X).abs == 0


def test_values_of_a_compiled_file_may_be_device_arrays(tmp_path):
    path = tmp_path / "add.adx"
    compile_program(ADD).save(path, bound={"y": put(X)})
    loaded = adjoint.load(path)
    np.testing.assert_array_equal(loaded(X), 2 * X)
    before = adjoint.transfer_counts()
    made = loaded(put(X), y=put(X))
    assert isinstance(made, adjoint.DeviceArray) and adjoint.transfer_counts() == (before[0] + 2, before[1])


# Traced functions.


def test_results_of_jit_stay_on_the_device():
    @adjoint.jit(target="gpu-sim", donate_argnames="w")
    def step(w, x):
        return {"w": w["w"] - 0.1 * (w["w"] * x).sum() * x}, (w["w"] * x).sum()

    w = {"w": X}
    w, _ = step(w, X)
    assert isinstance(w["w"], adjoint.DeviceArray)
    x = put(X)
    for _ in range(3):
        with Moved() as moved:
            w, value = step(w, x)
        assert moved.counts == (0, 0)
    with Moved() as moved:
        assert isinstance(float(value), float)
    assert moved.counts == (0, 1)
    np.testing.assert_array_equal(X, np.arange(4))  # donated arrays of the host are not written
    cpu = {"w": X.copy()}
    for _ in range(4):
        cpu, expected = adjoint.jit(step._function, numerics="reproducible")(cpu, X)
    assert abs(float(value) - expected) < 1e-3 * abs(expected)


def test_one_program_for_arrays_of_both_kinds():
    function = adjoint.jit(lambda x, y: x + y, target="gpu-sim")
    for x in (X, put(X)):
        for y in (X, put(X)):
            np.testing.assert_array_equal(function(x, y), 2 * X)
    assert len({id(program) for program in function._programs.values()}) == 1


def test_arrays_that_a_traced_function_has_are_constants():
    inner = put(X)
    made = adjoint.jit(lambda x: x * inner + inner * x + anp.asarray(inner)[1] + adjoint.numpy.sum(inner))(X)
    np.testing.assert_array_equal(made, 2 * X * X + 7)


def test_models_on_the_device():
    model = adjoint.device_put(adjoint.nn.Linear(4, 3, key=1), "gpu-sim")
    there = model(X)
    assert isinstance(there, adjoint.DeviceArray)
    host = adjoint.device_get(model)
    np.testing.assert_allclose(there, host(X), rtol=1e-6)
    assert model.state_dict()["weight"].target == "gpu-sim" and type(host.weight) is np.ndarray
    optimizer = adjoint.optim.SGD(0.1)
    model, _ = optimizer.update(model, model, optimizer.init(model))
    assert isinstance(model.weight, adjoint.DeviceArray)
    np.testing.assert_allclose(model.weight, 0.9 * host.weight, rtol=1e-6)
    gradient = adjoint.grad(lambda model, x: (model(x) ** 2).sum())(model, X)
    assert isinstance(gradient.weight, adjoint.DeviceArray)


def test_a_trainer_keeps_its_parameters_there():
    def loss(w, batch):
        return ((batch @ w["w"]) ** 2).mean()

    batches = [np.eye(4, dtype=np.float32) * (step + 1) / 8 for step in range(12)]
    trainers = [adjoint.Trainer(loss, adjoint.optim.Adam(0.1), steps_per_call=4, progress=False, target=target)
                for target in ("cpu", "gpu-sim")]
    host, there = [trainer.fit({"w": X}, batches, steps=12) for trainer in trainers]
    assert isinstance(there.model["w"], adjoint.DeviceArray)
    np.testing.assert_allclose(there.model["w"], host.model["w"], rtol=1e-5)
    np.testing.assert_allclose(there.losses, host.losses, rtol=1e-5)


def test_parts_of_training_move_batches_and_losses_alone():
    def loss(w, batch):
        return ((batch @ w["w"]) ** 2).mean()

    moved = []

    def batches():
        for _ in range(20):
            moved.append(adjoint.transfer_counts())
            yield np.eye(4, dtype=np.float32)

    adjoint.Trainer(loss, adjoint.optim.Adam(0.1), steps_per_call=4, progress=False, target="gpu-sim").fit(
        {"w": X, "other": X}, batches(), steps=20
    )
    # From the last batch of a part to that of the next one: four batches and the number of steps go to the device;
    # four losses, the number for the loop of the host, and whether the model is finite come back.
    differences = {tuple(new - old for new, old in zip(moved[at + 4], moved[at])) for at in (7, 11, 15)}
    assert differences == {(5, 6)}
