# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arguments of all layers, losses, optimizers and random functions that are no sizes, numbers or texts of theirs: the
message names the argument."""

import inspect
import re

import numpy as np
import pytest

import adjoint
import adjoint.numpy as anp
from adjoint import nn, optim, random

F = nn.functional
X, LABELS = np.ones((2, 3), np.float32), np.zeros(2, np.int32)
SIZES = [-3, 2.0, "4", None, True, (3,)]  # no size is one of these
NUMBERS = ["1", None, np.nan, (1, 2), True]
TEXTS = ["other", None, 3]
FLAGS = ["yes", None, 3]

#: Right arguments of each function, and what is wrong for some of them.
LAYERS = {
    nn.Linear: ({"in_features": 4, "out_features": 4}, {"in_features": SIZES, "out_features": SIZES, "bias": FLAGS}),
    nn.Embedding: ({"num_embeddings": 4, "embedding_dim": 4},
                   {"num_embeddings": [*SIZES, 0], "embedding_dim": [*SIZES, 0], "padding_idx": [1.0, "1", 4, -5]}),
    nn.LayerNorm: ({"normalized_shape": 4}, {"normalized_shape": [*SIZES, 0], "eps": [*NUMBERS, -1.0]}),
    nn.RMSNorm: ({"normalized_shape": 4}, {"normalized_shape": [*SIZES, 0], "eps": [*NUMBERS, -1.0]}),
    nn.MultiheadAttention: ({"embed_dim": 4, "num_heads": 2},
                            {"embed_dim": [*SIZES, 0], "num_heads": [*SIZES, 0, 3], "bias": FLAGS}),
    nn.TransformerEncoderLayer: (
        {"d_model": 4, "nhead": 2},
        {"d_model": [*SIZES, 0], "nhead": [*SIZES, 0, 3], "dim_feedforward": [*SIZES, 0], "activation": TEXTS,
         "layer_norm_eps": [*NUMBERS, -1.0], "norm_first": FLAGS, "bias": FLAGS}),
    nn.LlamaDecoderLayer: (
        {"hidden_size": 8, "intermediate_size": 4, "num_attention_heads": 4},
        {"hidden_size": [*SIZES, 0, 4], "intermediate_size": [*SIZES, 0], "num_attention_heads": [*SIZES, 0, 3],
         "num_key_value_heads": [-3, 2.0, "4", 0, 3], "rms_norm_eps": [*NUMBERS, -1.0], "rope_theta": [*NUMBERS, 0]}),
    nn.LSTM: ({"input_size": 4, "hidden_size": 4}, {"input_size": [*SIZES, 0], "hidden_size": [*SIZES, 0],
                                                    "bias": FLAGS}),
    nn.GRU: ({"input_size": 4, "hidden_size": 4}, {"input_size": [*SIZES, 0], "hidden_size": [*SIZES, 0],
                                                   "bias": FLAGS}),
    nn.TransformerEncoder: ({"encoder_layer": []}, {"encoder_layer": [3, None, [3]], "num_layers": [2, 0, "2"], "norm": [3, "norm"]}),
    nn.Sequential: (None, {}), nn.ReLU: ({}, {}), nn.SiLU: ({}, {}), nn.Sigmoid: ({}, {}), nn.Tanh: ({}, {}),
    nn.LeakyReLU: ({}, {"negative_slope": NUMBERS}), nn.ELU: ({}, {"alpha": NUMBERS}),
    nn.GELU: ({}, {"approximate": TEXTS}), nn.Softplus: ({}, {"beta": [*NUMBERS, 0, -1]}),
    nn.Softmax: ({}, {"dim": [1.0, "1", None]}), nn.LogSoftmax: ({}, {"dim": [1.0, "1", None]}),
    nn.MSELoss: ({}, {"reduction": TEXTS}), nn.L1Loss: ({}, {"reduction": TEXTS}), nn.KLDivLoss: ({},
                                                                                                  {"reduction": TEXTS}),
    nn.SmoothL1Loss: ({}, {"reduction": TEXTS, "beta": [*NUMBERS, -1]}),
    nn.HuberLoss: ({}, {"reduction": TEXTS, "delta": [*NUMBERS, 0, -1]}),
    nn.CrossEntropyLoss: ({}, {"reduction": TEXTS, "ignore_index": [1.0, "1", None]}),
    nn.NLLLoss: ({}, {"reduction": TEXTS, "ignore_index": [1.0, "1", None]}),
    nn.BCELoss: ({}, {"reduction": TEXTS}), nn.BCEWithLogitsLoss: ({}, {"reduction": TEXTS}),
}

OF_WINDOWS = [-3, 2.0, "4", None, True, (3, 3, 3, 3)]
CONVOLUTION = {"in_channels": [*SIZES, 0, 3], "out_channels": [*SIZES, 0, 3], "kernel_size": [*OF_WINDOWS, 0],
               "stride": [*OF_WINDOWS, 0], "padding": [*OF_WINDOWS, "other"], "dilation": [*OF_WINDOWS, 0],
               "groups": [*SIZES, 0], "bias": FLAGS}
POOL = {"kernel_size": [*OF_WINDOWS, 0], "stride": [-3, 2.0, "4", 0], "padding": OF_WINDOWS, "ceil_mode": FLAGS}
RIGHT = {"in_channels": 4, "out_channels": 4, "kernel_size": 3, "groups": 2}
LAYERS |= {
    **{kind: (RIGHT, {**CONVOLUTION, "padding_mode": TEXTS}) for kind in (nn.Conv1d, nn.Conv2d, nn.Conv3d)},
    **{kind: (RIGHT, {**CONVOLUTION, "output_padding": OF_WINDOWS})
       for kind in (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)},
    **{kind: ({"kernel_size": 3}, {**POOL, "dilation": [*OF_WINDOWS, 0], "return_indices": [*FLAGS, True]})
       for kind in (nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d)},
    **{kind: ({"kernel_size": 3}, {**POOL, "count_include_pad": FLAGS})
       for kind in (nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d)},
    **{kind: ({"output_size": 3}, {"output_size": [*OF_WINDOWS, 0]})
       for kind in (nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)},
    nn.GroupNorm: ({"num_groups": 2, "num_channels": 4},
                   {"num_groups": [*SIZES, 0, 3], "num_channels": [*SIZES, 0, 3], "eps": [*NUMBERS, -1.0], "affine": FLAGS}),
    **{kind: ({"num_features": 4}, {"num_features": [*SIZES, 0], "eps": [*NUMBERS, -1.0], "affine": FLAGS})
       for kind in (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)},
    **{kind: ({"num_features": 4}, {"num_features": [*SIZES, 0], "eps": [*NUMBERS, -1.0], "momentum": [*NUMBERS, -1.0],
                                    "affine": FLAGS, "track_running_stats": FLAGS})
       for kind in (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)},
    nn.Flatten: ({}, {"start_dim": [1.0, "1", None], "end_dim": [1.0, "1", None]}),
}

TWO = {"input": X, "target": X}
SHAPES = [-3, 2.0, "4", None, (2, -1), (2, 2.0), ("2",), {"a": 2}]
FUNCTIONS = {
    F.leaky_relu: ({"x": X}, {"negative_slope": NUMBERS}), F.elu: ({"x": X}, {"alpha": NUMBERS}),
    F.gelu: ({"x": X}, {"approximate": TEXTS}), F.softplus: ({"x": X}, {"beta": [*NUMBERS, 0]}),
    F.softmax: ({"x": X}, {"dim": [1.0, "1", 5]}), F.log_softmax: ({"x": X}, {"dim": [1.0, "1", 5]}),
    F.logsumexp: ({"x": X, "dim": 0}, {"dim": [1.0, "1", 5], "keepdim": [1, "1", None]}),
    F.rotary_embedding: ({"x": np.ones((2, 4), np.float32), "positions": LABELS},
                         {"positions": [X, 1.5, "1"], "base": [*NUMBERS, 0, -1.0], "interleaved": [1, "1", None]}),
    F.layer_norm: ({"x": X, "weight": X[0], "bias": X[0]}, {"eps": [*NUMBERS, -1.0]}),
    F.group_norm: ({"input": X, "num_groups": 1},
                   {"num_groups": [*SIZES, 0, 5], "weight": [X, X[0, :1]], "bias": [X, X[0, :1]], "eps": [*NUMBERS, -1.0]}),
    F.batch_norm: ({"input": X, "running_mean": X[0], "running_var": X[0]},
                   {"running_mean": [X, X[0, :1]], "running_var": [X, X[0, :1]], "weight": [X, X[0, :1]],
                    "bias": [X, X[0, :1]], "eps": [*NUMBERS, -1.0]}),
    F.instance_norm: ({"input": X}, {"weight": [X, X[0, :1]], "bias": [X, X[0, :1]], "eps": [*NUMBERS, -1.0]}),
    F.rms_norm: ({"x": X, "weight": X[0]}, {"eps": [*NUMBERS, -1.0]}),
    F.embedding: ({"input": LABELS, "weight": X}, {"padding_idx": [1.0, "1", 2, -3]}),
    F.dropout: ({"x": X}, {"p": [*NUMBERS, -0.1, 1.0]}),
    F.scaled_dot_product_attention: ({"query": X, "key": X, "value": X}, {"scale": ["1", np.nan, (1, 2)]}),
    F.mse_loss: (TWO, {"reduction": TEXTS}), F.l1_loss: (TWO, {"reduction": TEXTS}), F.kl_div: (TWO,
                                                                                                {"reduction": TEXTS}),
    F.smooth_l1_loss: (TWO, {"reduction": TEXTS, "beta": [*NUMBERS, -1]}),
    F.huber_loss: (TWO, {"reduction": TEXTS, "delta": [*NUMBERS, 0]}),
    F.cross_entropy: ({"input": X, "target": LABELS}, {"reduction": TEXTS, "ignore_index": [1.0, "1", None, 2**40]}),
    F.nll_loss: ({"input": X, "target": LABELS}, {"reduction": TEXTS, "ignore_index": [1.0, "1", None, 2**40]}),
    F.binary_cross_entropy: (TWO, {"reduction": TEXTS}), F.binary_cross_entropy_with_logits: (TWO,
                                                                                              {"reduction": TEXTS}),
    F.one_hot: ({"labels": LABELS, "num_classes": 3}, {"num_classes": [*SIZES, 0]}),
    random.key: ({"seed": 1}, {"seed": [1.5, "1", None]}),
    random.split: ({"key": 1}, {"key": [1.5, "1", None, X], "num": [*SIZES]}),
    random.fold_in: ({"key": 1, "data": 2}, {"key": [1.5, "1", None, X], "data": [1.5, "1", None]}),
    random.bits: ({"key": 1}, {"key": [1.5, "1", None, X], "shape": SHAPES}),
    random.uniform: ({"key": 1}, {"key": [1.5, "1", None, X], "shape": SHAPES, "minval": ["1", None], "maxval": ["1",
                                                                                                                 None]}),
    random.normal: ({"key": 1}, {"key": [1.5, "1", None, X], "shape": SHAPES}),
    random.gumbel: ({"key": 1}, {"key": [1.5, "1", None, X], "shape": SHAPES}),
    random.truncated_normal: ({"key": 1, "lower": -1, "upper": 1},
                              {"key": [1.5, "1", None], "shape": SHAPES, "lower": ["1", None, np.nan], "upper": ["1",
                                                                                                                 None]}),
    random.bernoulli: ({"key": 1}, {"key": [1.5, "1", None], "p": ["1", None, 1.5, -0.1, np.nan], "shape": [-3, 2.0, "4"]}),
    random.randint: ({"key": 1, "shape": 3, "minval": 0, "maxval": 5},
                     {"key": [1.5, "1", None], "shape": SHAPES, "minval": [0.5, "1", None, 5], "maxval": [0.5, "1",
                                                                                                          None]}),
    random.categorical: ({"key": 1, "logits": X}, {"key": [1.5, "1", None], "axis": [1.5, "1", 7]}),
    optim.clip_by_global_norm: ({"gradients": [X], "max_norm": 1.0}, {"max_norm": [*NUMBERS, 0, -1]}),
}

RATES = ["1", None, np.nan, -1, (1, 2)]
OPTIMIZERS = {
    optim.SGD: ({}, {"lr": RATES, "momentum": [*NUMBERS, -1, 1.5], "dampening": NUMBERS, "weight_decay": [*NUMBERS, -1],
                     "nesterov": FLAGS}),
    **{kind: ({}, {"lr": RATES, "betas": [3, None, "ab", (0.9,), (0.9, "b"), (0.9, 1.0), (-1, 0.9)], "eps": [*NUMBERS,
                                                                                                             -1],
                   "weight_decay": [*NUMBERS, -1]}) for kind in (optim.Adam, optim.AdamW)},
    optim.Masters: ({"optimizer": optim.SGD()}, {"optimizer": [3, None, "SGD", optim.SGD]}),
    optim.StochasticRounding: ({"optimizer": optim.SGD()}, {"optimizer": [3, None, optim.SGD], "seed": [1.5, "1",
                                                                                                        None]}),
    optim.LossScale: ({}, {"initial": [*NUMBERS, 0], "growth_interval": [0, 1.5, "1"], "growth_factor": [*NUMBERS, 1],
                           "backoff_factor": [*NUMBERS, 1]}),
    optim.DelayedScales: ({"contractions": 1}, {"contractions": [*SIZES, 0], "history": [*SIZES, 0], "margin": SIZES,
                                                "types": ["f8", None, ("f8E5M2",), ("a", "b", "c")]}),
    optim.cosine: ({"peak": 1.0, "total": 10}, {"peak": [*NUMBERS, -1], "total": SIZES, "warmup": SIZES,
                                                "floor": [*NUMBERS, -1]}),
    optim.linear_warmup: ({"peak": 1.0, "steps": 10}, {"peak": [*NUMBERS, -1], "steps": SIZES, "total": [-3, 2.0,
                                                                                                         "4"]}),
}

#: Where the message has another word for the argument.
WORDS = {"dim": "dim|axis|axes", "axis": "axis|axes", "beta": "beta", "p": r"\bp\b", "betas": "beta", "seed": "seed",
         "layers": "layers", "data": "data of fold_in", "maxval": "maxval", "lower": "lower|bounds"}


def cases(table):
    return [pytest.param(function, right, name, value, id=f"{getattr(function, '__name__', function)}-{name}-{value!r}")
            for function, (right, wrong) in table.items() for name, values in wrong.items() for value in values]


def check(call, name, value):
    with pytest.raises(adjoint.Error, match=WORDS.get(name, rf"\b{name}\b")) as caught:
        call()
    assert isinstance(caught.value, (ValueError, TypeError)) and re.match(r"expected|axis", str(caught.value))
    assert "got" in str(caught.value) or "out of range" in str(caught.value)


@pytest.mark.parametrize("kind, right, name, value", cases(LAYERS))
def test_layers(kind, right, name, value):
    check(lambda: kind(**{**right, name: value}), name, value)


@pytest.mark.parametrize("kind, right, name, value", cases(OPTIMIZERS))
def test_optimizers(kind, right, name, value):
    check(lambda: kind(**{**right, name: value}), name, value)


@pytest.mark.parametrize("function, right, name, value", cases(FUNCTIONS))
def test_functions(function, right, name, value):
    given = {**right, name: value}
    fixed = {key: one for key, one in given.items() if not isinstance(one, np.ndarray)}
    arrays = {key: one for key, one in given.items() if key not in fixed}
    check(lambda: adjoint.jit(lambda one, arrays: (one, function(**fixed, **arrays)))(X, arrays), name, value)
    if function.__module__ == "adjoint.random":
        check(lambda: function(**given), name, value)


def test_probabilities_of_arrays():
    check(lambda: random.bernoulli(1, np.float32([0.5, 2])), "p", np.float32([0.5, 2]))


def test_the_tables_are_whole():
    """What is public has its arguments here."""
    layers = {getattr(nn, name) for name in nn.__all__}
    layers = {one for one in layers if isinstance(one, type) and issubclass(one, nn.Module)} - {nn.Module}
    assert layers == set(LAYERS)
    assert {getattr(random, name) for name in random.__all__} - set(FUNCTIONS) == {random.permutation}
    public = {getattr(optim, name) for name in optim.__all__}
    assert public - set(OPTIMIZERS) - set(FUNCTIONS) == {optim.all_finite, optim.global_norm}
    functions = {one for name, one in vars(F).items() if inspect.isfunction(one) and one.__module__ == F.__name__
                 and name[0] != "_"}
    # These take tensors alone.
    assert functions - set(FUNCTIONS) == {F.linear, F.relu, F.silu, F.sigmoid, F.tanh}
    for kind, (right, wrong) in {**LAYERS, **OPTIMIZERS}.items():
        if right is not None:
            kind(**right)
            assert set(inspect.signature(kind).parameters) - {"key", "dtype"} == {*right, *wrong}, kind


@pytest.mark.parametrize("kind", [nn.Linear, nn.LSTM, nn.MultiheadAttention])
def test_keys_and_types(kind):
    for value in ("1", 1.5):
        with pytest.raises(adjoint.OptionTypeError, match=f"expected key as an int, got {value!r}"):
            kind(4, 4, key=value)
    with pytest.raises(adjoint.OptionError, match="dtype as a type of floats for parameters, got i32"):
        kind(4, 4, dtype="i32")
    with pytest.raises(adjoint.OptionError, match="unknown element type 'f31'"):
        kind(4, 4, dtype="f31")
    kind(np.int64(4), np.int32(4))


@pytest.mark.parametrize("name", ["mse_loss", "cross_entropy", "nll_loss", "kl_div", "huber_loss",
                                  "binary_cross_entropy"])
def test_what_is_no_tensor(name):
    for given in (None, "text", {"a": 1}):
        with pytest.raises(adjoint.TracingError, match="expected a tensor, an array or a number, got"):
            adjoint.jit(lambda x: getattr(F, name)(x, given))(X)  # noqa: B023
        with pytest.raises(adjoint.TracingError, match="expected a tensor, an array or a number, got"):
            adjoint.jit(lambda x: getattr(F, name)(given, x))(X)  # noqa: B023


@pytest.mark.parametrize("use, message", [
    (lambda x: anp.concat([]), "concat needs one tensor at least"), (lambda x: anp.stack([]), "stack needs one tensor"),
    (lambda x: anp.concat(3), "concat takes a list of tensors, got 3"), (lambda x: anp.concat("ab"), "takes a list"),
    (lambda x: anp.split(x, 0), "indices_or_sections as an int of at least 1"), (lambda x: anp.arange(0, 3, 0),
                                                                                 "is not 0"),
    (lambda x: anp.linspace(0, 1, -1), "num as an int of at least 0"), (lambda x: anp.eye(-1), "n_rows as an int"),
    (lambda x: anp.repeat(x, -1), "repeats as an int"), (lambda x: x.sum("0"), "expected an axis as an int"),
    (lambda x: anp.zeros(("a",)), "a shape of ints and sizes"), (lambda x: x.reshape(2.0, 3),
                                                                 "a shape of ints and sizes"),
    (lambda x: nn.Sequential(3), "layers of Sequential as modules or functions, got 3"),
])
def test_shapes(use, message):
    with pytest.raises(adjoint.Error, match=message):
        adjoint.jit(lambda x: (x, use(x)))(X)


@pytest.mark.parametrize("options, message", [
    ({"specs": adjoint.spec("2 3")}, r"such as \(spec,\), got tensor<2x3xf32>"), ({"specs": {"x": None}}, "got dict"),
    ({"specs": "2 3"}, "specs as a tuple"), ({"specs": ("2 3",)}, "expected adjoint.spec.* got '2 3'"),
    ({"static_argnums": 1.5}, "by their names or numbers"), ({"donate_argnames": 3}, "by their names or numbers"),
    ({"targets": "cpu"}, "jit has no option 'targets'; it has target, numerics"),
])
def test_options_of_jit(options, message):
    with pytest.raises(adjoint.OptionTypeError, match=message):
        adjoint.jit(lambda x: x, **options)
