# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The training loop: against steps one by one, stopped and resumed."""

import os
import re
import signal
import threading

import ml_dtypes  # noqa: F401
import numpy as np
import pytest

import adjoint
from adjoint import nn, optim

RANDOM = np.random.default_rng(3)
DATA = [{"x": RANDOM.standard_normal((8, 4)).astype(np.float32), "y": RANDOM.standard_normal((8, 2)).astype(np.float32)}
        for _ in range(12)]


def loss(model, batch):
    return nn.functional.mse_loss(model(batch["x"]), batch["y"])


def model():
    return nn.Sequential(nn.Linear(4, 8, key=1), nn.Tanh(), nn.Linear(8, 2, key=2))


def trainer(**options):
    return adjoint.Trainer(loss, optim.Adam(0.01), **{"progress": False, **options})


def equal(one, other):
    return all((a == b).all() for a, b in zip(adjoint.tree.leaves(one), adjoint.tree.leaves(other)))


def test_is_the_loop_of_its_steps():
    optimizer = optim.Adam(0.01)

    @adjoint.jit
    def step(model, state, batch):
        value, gradient = adjoint.value_and_grad(loss)(model, batch)
        return *optimizer.update(model, gradient, state), value

    parameters, state, losses = model(), optimizer.init(model()), []
    for batch in DATA[:10]:
        parameters, state, value = step(parameters, state, batch)
        losses.append(float(value))
    made = trainer(steps_per_call=4).fit(model(), DATA, 10)
    assert made.step == 10 and made.losses == losses and equal(made.model, parameters)


def test_resumes_to_the_same_bits(tmp_path):
    whole = trainer(steps_per_call=3).fit(model(), DATA, 12)
    first = trainer(steps_per_call=3, folder=tmp_path).fit(model(), DATA, 6)
    assert first.step == 6
    second = trainer(steps_per_call=3, folder=tmp_path).fit(model(), DATA, 12)
    assert second.losses == whole.losses and equal(second.model, whole.model) and equal(second.state, whole.state)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint.npz"]
    with pytest.warns(UserWarning, match="is of step 12: up to step 10 nothing is left"):
        assert trainer(folder=tmp_path, progress=True).fit(model(), DATA, 10).step == 12
    with pytest.raises(adjoint.OptionError, match="checkpoint"):
        adjoint.Trainer(loss, optim.SGD(), folder=tmp_path, progress=False).fit(model(), DATA, 13)


def test_the_given_model_stays():
    given = model()
    before = [leaf.copy() for leaf in adjoint.tree.leaves(given)]
    trainer().fit(given, DATA, 3)
    assert equal(given, before)


def test_clipping_and_loss_scaling():
    plain = trainer(clip_norm=0.5).fit(model(), DATA, 8)
    scaled = trainer(clip_norm=0.5, loss_scale=optim.LossScale(2.0**10)).fit(model(), DATA, 8)
    # A scale that is a power of two changes no bit.
    assert plain.losses == scaled.losses and equal(plain.model, scaled.model)


def test_interrupt_keeps_what_is_done():
    def batches():
        for number in range(1000):
            if number == 7:
                os.kill(os.getpid(), signal.SIGINT)
            yield DATA[number % 12]

    assert threading.current_thread() is threading.main_thread()
    with pytest.warns(RuntimeWarning, match="interrupted: the model is that of step"):
        made = trainer(steps_per_call=2).fit(model(), batches(), 1000)
    assert made.step == len(made.losses) == 6
    assert equal(made.model, trainer(steps_per_call=2).fit(model(), DATA, 6).model)


def test_data_that_end():
    with pytest.warns(RuntimeWarning, match="the data ended after step 4"):
        made = trainer(steps_per_call=2).fit(model(), DATA[:5], 8)
    assert made.step == 4 and equal(made.model, trainer(steps_per_call=2).fit(model(), DATA, 4).model)
    with pytest.raises(adjoint.ArgumentTypeError, match="more than 0 batches"):
        trainer().fit(model(), [], 3)


def test_narrow_parameters_in_checkpoints(tmp_path):
    narrow = {"w": np.float32(0.5).astype("bfloat16"), "v": np.ones(3, "bfloat16")}

    def loss(model, batch):
        return ((model["v"].astype("f32") * model["w"].astype("f32")).sum() - batch.sum()) ** 2

    data = [np.ones(2, np.float32)] * 4
    made = adjoint.Trainer(loss, optim.SGD(0.1), folder=tmp_path, progress=False).fit(narrow, data, 2)
    again = adjoint.Trainer(loss, optim.SGD(0.1), folder=tmp_path, progress=False).fit(narrow, data, 2)
    assert equal(made.model, again.model) and again.step == 2
    assert (tmp_path / "checkpoint.npz").stat().st_mode & 0o444 == 0o444


def test_the_program_of_the_loop_is_shown():
    program = trainer().trace(model(), DATA[0])
    assert 'ad.feed "batch.x"' in program.text and "scf.for" in program.text
    assert "ad.fusion" in program.lowered("fusion")


def test_damaged_checkpoints_are_refused(tmp_path):
    saving = trainer(folder=tmp_path, steps_per_call=2)
    saving.fit(model(), DATA, 2)
    path = tmp_path / "checkpoint.npz"
    whole = path.read_bytes()
    changed = bytearray(whole)
    changed[whole.index(saving.fit(model(), DATA, 2).model[0].weight.tobytes())] ^= 0xFF
    for content in (b"", b"x" * 100, whole[: len(whole) // 2], bytes(changed)):
        path.write_bytes(content)
        with pytest.raises(adjoint.OptionError, match="checkpoint.npz' is no checkpoint.*remove it"):
            saving.fit(model(), DATA, 4)
    np.savez(path, other=np.ones(3))
    with pytest.raises(adjoint.OptionError, match="is no checkpoint"):
        saving.fit(model(), DATA, 4)
    path.write_bytes(whole)
    assert saving.fit(model(), DATA, 4).step == 4


def test_loss_curve():
    made = trainer().fit(model(), DATA, 5)
    assert made.loss_curve().startswith("<svg") and len(re.search('points="([^"]*)"', made.loss_curve())[1].split()) == 5
    assert "<polyline" in adjoint.Trained(None, None, 0, []).loss_curve()


@pytest.mark.parametrize("where", ["save", "_check", "tree.map"])
def test_interrupt_between_parts(where, tmp_path, monkeypatch):
    module, calls = adjoint._trainer, []
    owner, name = (module.tree, "map") if where == "tree.map" else (module.Trainer if where == "_check" else module, where)
    real = getattr(owner, name)

    def interrupted(*arguments):
        calls.append(None)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(owner, name, interrupted)
    with pytest.warns(RuntimeWarning, match="interrupted: the model is that of step"):
        made = trainer(steps_per_call=2, folder=tmp_path).fit(model(), DATA * 4, 40)
    monkeypatch.undo()
    assert made.step == len(made.losses) and 0 < made.step < 40
    assert equal(made.model, trainer(steps_per_call=2).fit(model(), DATA * 4, made.step).model)


def test_errors_have_what_was_trained(tmp_path):
    def batches(error):
        yield from DATA[:7]
        raise error

    with pytest.raises(Exception) as raised:
        trainer(steps_per_call=2).fit(model(), batches(ValueError("no such image")), 40)
    assert raised.value.trained.step == 6
    assert equal(raised.value.trained.model, trainer(steps_per_call=2).fit(model(), DATA, 6).model)


def test_unwritable_folder_is_known_before_training(tmp_path):
    (tmp_path / "file").write_text("")
    seen = []

    def batches():
        for one in DATA:
            seen.append(one)
            yield one

    with pytest.raises(adjoint.FileError, match="file"):
        trainer(folder=tmp_path / "file" / "run").fit(model(), batches(), 4)
    assert not seen


def test_flipped_bits_in_checkpoints(tmp_path):
    whole = trainer(steps_per_call=4, folder=tmp_path).fit(model(), DATA, 4)
    path, random = tmp_path / "checkpoint.npz", np.random.default_rng(1)
    written = path.read_bytes()
    # The heads of the parts of the archive, and any other bytes.
    heads = [at + k for at in range(len(written)) if written[at:at + 4] in (b"PK\3\4", b"PK\1\2") for k in range(4, 30)]
    for at in [*random.choice(heads, 120), *random.integers(0, len(written), 120)]:
        damaged = bytearray(written)
        damaged[at] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged)
        try:
            made = trainer(folder=tmp_path).fit(model(), DATA, 4)
        except (adjoint.OptionError, adjoint.FileError):
            continue
        assert equal(made.model, whole.model)
