# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What stops training: losses and parameters that are not finite; and checkpoints of something else."""

import dataclasses
import json
import warnings

import ml_dtypes  # noqa: F401
import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint import nn, optim

RANDOM = np.random.default_rng(5)
DATA = [RANDOM.standard_normal(4).astype(np.float32) for _ in range(40)]
START = {"w": np.ones(4, np.float32)}


def loss(model, batch):
    return anp.mean((model["w"] - batch) ** 2)


def batches(*bad, value=np.nan):
    """The data; those of the steps `bad`, counted from 1, have one value more."""
    return [
        np.where(np.arange(4) == 2, np.float32(value), one) if step in bad else one for step, one in enumerate(DATA, 1)
    ]


def trainer(loss=loss, optimizer=None, **options):
    return adjoint.Trainer(loss, optimizer or optim.Adam(0.01), progress=False, **{"steps_per_call": 4, **options})


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_loss_that_is_not_finite_stops(tmp_path, value):
    whole = trainer().fit(START, DATA, 8)
    with pytest.raises(
        adjoint.NonFiniteLossError, match=rf"the loss of step 11 is {value}; the model of step 8 .*in '"
    ) as caught:
        trainer(folder=tmp_path).fit(START, batches(11, value=value), 20)
    error = caught.value
    assert isinstance(error, FloatingPointError) and "find_nonfinite" in str(error)
    reached = error.trained
    assert reached.step == 8 and len(reached.losses) == 11 and reached.losses[:8] == whole.losses
    assert (reached.model["w"] == whole.model["w"]).all() and "<polyline" in reached.loss_curve()
    # The checkpoint is that of step 8, from which it goes on with other data.
    assert trainer(folder=tmp_path).fit(START, DATA, 12).losses == trainer().fit(START, DATA, 12).losses


def test_the_operation_is_named():
    def loss(model, batch):
        return anp.mean(anp.log(batch) * model["w"])

    data = [np.full(4, 2 if step != 6 else 0, np.float32) for step in range(1, 13)]
    train = trainer(loss)
    with pytest.raises(adjoint.NonFiniteLossError, match="step 6 is -inf") as caught:
        train.fit(START, data, 12)
    found = train.find_nonfinite(caught.value.trained, data)
    first = found.origins[0]
    assert first.operation == "ad.log" and first.iterations == (1,) and first.value == -np.inf, str(found)
    assert not train.find_nonfinite(train.fit(START, data[:5] + data[6:], 4), data).origins  # the next step is finite


def test_it_may_go_on():
    with pytest.warns(RuntimeWarning, match="the loss of step 6 is nan") as caught:
        made = trainer(on_nonfinite="warn").fit(START, batches(6), 12)
    assert made.step == len(made.losses) == 12 and len(caught) == 2 and caught[0].filename == __file__
    with pytest.raises(adjoint.OptionError, match="on_nonfinite as 'stop' or 'warn', got 'go'"):
        trainer(on_nonfinite="go")


def test_skipped_steps_do_not_stop():
    train = trainer(loss_scale=optim.LossScale(2.0**10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = train.fit(START, batches(6, 7), 12)
    assert made.step == 12 and np.isnan(made.losses[5:7]).all() and np.isfinite(made.model["w"]).all()
    assert made.scales[0]["scale"] == 2.0**8
    endless = [batches(1)[0]] * 300
    with pytest.raises(adjoint.NonFiniteLossError, match="step 100 is nan and those of the 99 steps before it"):
        train.fit(START, endless, 300)


def test_a_model_that_is_not_finite_is_not_saved(tmp_path):
    """The last step of a part has a finite loss, and a gradient that is not finite."""

    def loss(model, batch):
        return anp.mean(anp.sqrt(model["w"] * batch))

    data = [np.ones(4, np.float32) * (step != 8) for step in range(1, 20)]
    with pytest.raises(adjoint.NonFiniteLossError, match="w is not finite after step 8; the model of step 4") as caught:
        trainer(loss, optim.SGD(0.01), folder=tmp_path).fit(START, data, 16)
    assert trainer(loss, optim.SGD(0.01), folder=tmp_path).fit(START, data, 4).step == 4
    assert np.isfinite(caught.value.trained.model["w"]).all() and len(caught.value.trained.losses) == 8
    # What has infinities from the start, such as a mask, is none.
    masked = {**START, "mask": np.float32([0, 0, 0, -np.inf])}
    made = trainer(lambda m, b: anp.mean(anp.exp(adjoint.stop_gradient(m["mask"])) * (m["w"] - b) ** 2)).fit(
        masked, DATA, 8
    )
    assert made.step == 8


# Checkpoints.


def layers(activation, heads=2):
    return {
        "layer": nn.Sequential(nn.Linear(4, 4, key=1), activation),
        "attention": nn.MultiheadAttention(4, heads, key=2),
    }


def loss_of_layers(model, batch):
    return anp.mean(model["attention"](*[anp.reshape(model["layer"](batch), (1, 1, 4))] * 3) ** 2)


def resume(folder, model, **options):
    return trainer(loss_of_layers, folder=folder, **options).fit(model, DATA, 4)


def test_other_layers_are_refused(tmp_path):
    resume(tmp_path, layers(nn.GELU()))
    with pytest.raises(
        adjoint.OptionError, match="of another model or optimizer: model.layer.1 was GELU and is Tanh; use"
    ):
        resume(tmp_path, layers(nn.Tanh()))
    with pytest.raises(adjoint.OptionError, match="optimizer was Adam and is AdamW"):
        resume(tmp_path, layers(nn.GELU()), optimizer=optim.AdamW(0.01))
    with pytest.raises(adjoint.OptionError, match="model.layer was Sequential and is list"):
        resume(tmp_path, {**layers(nn.GELU()), "layer": list(layers(nn.GELU())["layer"])})
    with pytest.raises(adjoint.OptionError, match="loss_scale was None and is LossScale"):
        resume(tmp_path, layers(nn.GELU()), loss_scale=optim.LossScale())
    renamed = {("fitted" if name == "attention" else name): layer for name, layer in layers(nn.GELU()).items()}
    with pytest.raises(adjoint.OptionError, match="model.attention was MultiheadAttention and is missing.*and .* more"):
        resume(tmp_path, renamed)


def test_other_settings_are_told(tmp_path):
    def check(message, model, **options):
        with pytest.warns(RuntimeWarning, match=message) as caught:
            resume(tmp_path, model, **options)
        assert caught[0].filename == __file__ and len(caught) == 1

    schedule = optim.Adam(optim.cosine(0.01, 100))
    resume(tmp_path, layers(nn.GELU()), optimizer=schedule, clip_norm=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resume(
            tmp_path,
            layers(nn.GELU()),
            optimizer=optim.Adam(optim.cosine(0.01, 100)),
            clip_norm=1.0,
            target="reference",
        )
    check(
        r"optimizer.lr was cosine\(.*peak=0.01.*\) and is cosine\(.*peak=0.1.*\); the new ones hold",
        layers(nn.GELU()),
        optimizer=optim.Adam(optim.cosine(0.1, 100)),
        clip_norm=1.0,
    )
    check("clip_norm was 1.0 and is None", layers(nn.GELU()), optimizer=schedule)
    check("model.attention.num_heads was 2 and is 4", layers(nn.GELU(), 4), optimizer=schedule, clip_norm=1.0)
    check(
        "model.layer.1.arguments was .'none'. and is .'tanh'.",
        layers(nn.GELU("tanh")),
        optimizer=schedule,
        clip_norm=1.0,
    )
    check(
        "numerics was None and is 'reproducible'",
        layers(nn.GELU()),
        optimizer=schedule,
        clip_norm=1.0,
        numerics="reproducible",
    )


def test_masters_are_an_optimizer_of_an_optimizer(tmp_path):
    narrow = {"w": np.ones(4, "bfloat16")}

    def fit(inner):
        return trainer(lambda m, b: loss({"w": m["w"].astype("f32")}, b), optim.Masters(inner), folder=tmp_path).fit(
            narrow, DATA, 4
        )

    fit(optim.Adam(0.01))
    with pytest.raises(adjoint.OptionError, match="optimizer.optimizer was Adam and is AdamW"):
        fit(optim.AdamW(0.01))
    with pytest.warns(RuntimeWarning, match="optimizer.optimizer.lr was 0.01 and is 0.02"):
        fit(optim.Adam(0.02))


def test_checkpoints_without_a_description(tmp_path):
    """Those of earlier versions."""
    train = trainer(folder=tmp_path)
    train.fit(START, DATA, 4)
    with np.load(tmp_path / "checkpoint.npz") as file:
        arrays = dict(file)
    about = {key: value for key, value in json.loads(arrays["about"].tobytes()).items() if key in ("step", "losses")}
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(tmp_path / "checkpoint.npz", **arrays)
    assert train.fit(START, DATA, 8).losses == trainer().fit(START, DATA, 8).losses


# Scales of 8-bit floats.


def product(model, batch):
    return anp.mean((anp.expand_dims(batch, axis=0) @ model["w"]) ** 2)


def test_delayed_scales(tmp_path):
    start = {"w": RANDOM.standard_normal((4, 4)).astype(np.float32)}
    delayed, optimizer = optim.DelayedScales(1, history=3), optim.Adam(0.01)

    @adjoint.jit(precision="f8")
    def step(model, state, history, batch):
        value, gradient, history = delayed.value_and_grad(product)(history, model, batch)
        return *optimizer.update(model, gradient, state), history, value

    values, losses = (start, optimizer.init(start), delayed.init()), []
    for batch in DATA[:10]:
        *values, value = step(*values, batch)
        losses.append(float(value))
    options = {"delayed_scales": delayed, "precision": "f8"}
    trainer(product, optimizer, folder=tmp_path, **options).fit(start, DATA, 4)
    made = trainer(product, optimizer, folder=tmp_path, **options).fit(start, DATA, 10)
    assert made.losses == losses and (made.scales[1] == values[2]).all() and (made.scales[1] > 0).all()
    assert (made.model["w"] != trainer(product, optimizer, precision="f8").fit(start, DATA, 10).model["w"]).any()
    both = trainer(product, optimizer, loss_scale=optim.LossScale(2.0**4), **options).fit(start, DATA, 10)
    np.testing.assert_allclose(both.losses, losses, rtol=0.2)
    wrong = dataclasses.replace(delayed, contractions=2)
    with pytest.raises(adjoint.CompileError, match="contraction"):
        trainer(product, optimizer, delayed_scales=wrong, precision="f8").fit(start, DATA, 4)
    for name in ("delayed_scales", "loss_scale"):
        with pytest.raises(adjoint.OptionError, match=f"{name} as adjoint.optim"):
            trainer(**{name: 2.0})
    with pytest.raises(adjoint.OptionError, match="Trainer has no option 'learning_rate'"):
        trainer(learning_rate=0.1)
