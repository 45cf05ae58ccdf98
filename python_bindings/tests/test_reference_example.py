# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The examples of the reference system in Python (examples/python/linear.py and encoder.py): lines of code, values, and
how they print beside the recorded graph and procedure of test/Dialect/AD/Transforms/Inputs."""

import collections
import importlib.util
import pathlib
import re

import numpy as np
import pytest
from test_newcomer import EXAMPLES, code_lines, load

import adjoint
import adjoint.numpy as anp

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "test/Dialect/AD/Transforms/Inputs"
#: Lines of code of the reference system's own examples: that of its README, and examples/transformer.py, which takes
#: the encoder from its library.
LINES = {"linear": 33, "encoder": 31}
GRAPH = "ad-print-graph{{form=recorded file={}}}"
PROCEDURE = "ad-fuse{{policy=layers}},ad-print-procedure{{file={}}}"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the package is tested without the tree")


def module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def printed(program, passes, file):
    program.lowered(passes.format(file))
    return file.read_text()


def recorded(name):
    return (RECORDED / f"linear-{name}.txt").read_text()


@pytest.mark.parametrize("name", LINES)
def test_lines(name):
    assert code_lines((EXAMPLES / f"{name}.py").read_text()) <= LINES[name]


# The linear example.


def test_linear_example_trains():
    """Against the same steps in NumPy, in f64, on the batch of the example (random ones magnify any rounding, since the
    sum of the outputs has no lower bound). The host is called once for each step, and once at the end."""
    program, asked, received = load("linear"), [], []
    x = np.full((2, 255), 0.2, np.float32)

    def feed(shape):
        asked.append(shape)
        return x

    model = program.model.astype("f64")
    program.train(model, feeds={"x": feed}, receives={"saving params": lambda *values: received.append(values)})
    assert asked == [(2, 255)] * 1000 and len(received) == 1
    w1, b1, w2, b2 = (leaf.copy() for leaf in model.parameters())
    for _ in range(1000):
        h = 1 / (1 + np.exp(-(x @ w1.T + b1)))
        d = np.ones((2, 255)) @ w2 * h * (1 - h)
        w2, b2 = w2 - 0.01 * np.ones((255, 2)) @ h, b2 - 0.02
        w1, b1 = w1 - 0.01 * d.T @ x, b1 - 0.01 * d.sum(0)
    for one, other in zip(received[0], (w1, b1, w2, b2)):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9 * abs(other).max())


def number(value, *shape):
    return anp.asarray(np.full(shape, value))


def recorded_step(_, parameters):
    """A step as the reference system differentiates, simplifies and orders it."""
    w1, b1, w2, b2 = parameters
    ones = number(1.0, 2, 255)
    d2 = ones @ w2.T
    b2 = b2 + ones.T.sum(1).reshape(1, 255).reshape(255) * number(-0.01, 255)
    x = adjoint.feed("x", adjoint.spec("2 255", "f64"))
    y = x @ w1 + anp.broadcast_to(b1.reshape(1, 255), (2, 255))
    power = anp.exp2(y * number(-1.4426950408889634, 2, 255))
    below = power + number(1.0, 2, 255)
    h = anp.reciprocal(below)
    slope = anp.reciprocal(below * below) * number(-1.0, 2, 255)
    d1 = d2 * slope * number(0.6931471805599453, 2, 255) * power * number(-1.4426950408889634, 2, 255)
    w1 = w1 + x.T @ d1 * number(-0.01, 255, 255)
    b1 = b1 + d1.T.sum(1).reshape(1, 255).reshape(255) * number(-0.01, 255)
    w2 = w2 + h.T @ ones * number(-0.01, 255, 255)
    return w1, b1, w2, b2


@pytest.mark.parametrize("name, passes", [("graph", GRAPH), ("procedure", PROCEDURE)])
def test_the_recorded_steps_print_as_recorded(name, passes, tmp_path):
    """Line by line, up to white space, the numbers of nodes and the name of the stream, which has none there."""

    @adjoint.jit
    def train(*parameters):
        adjoint.receive("saving params", *adjoint.fori_loop(0, 1000, recorded_step, parameters))

    weight, bias = adjoint.spec("255 255", "f64"), adjoint.spec("255", "f64")
    text = printed(train.trace(weight, bias, weight, bias), passes, tmp_path / "printed")
    same_form = module(RECORDED / "same_form.py")
    difference, renaming = same_form.difference(*(
        [line for line in (" ".join(line.split()) for line in one.splitlines()) if line]
        for one in (recorded(name), text)))
    assert difference is None and len(renaming) > 30


def outline(graph):
    """The arguments, loops, updates and streams of a graph, without the numbers of nodes."""
    lines = re.findall(r"^ {0,2}\d+: (?:\d+ = )?(.*?) *$", graph, re.M)
    return [re.sub(r"id: \d+", "id", line).replace("SUB", "ADD") for line in lines]


def kernels(procedure):
    """How often there is each kind of kernel: what it begins with, and the last operation of a fusion."""
    found: list[list[str]] = []
    for line in procedure.replace('Feeder ""', 'Feeder "x"').replace("SUB", "ADD").splitlines():
        text = re.sub(r"^\s*(Mat \(id: .*\)|\d+) = | -->.*", "", line).strip()
        if line.startswith("        "):  # in a fusion
            found[-1][1:] = [text]
        elif text and not text.startswith("Tensor"):
            found.append([re.sub(r" Fusion.*| [\[(].*", "", text)])
    return collections.Counter(map(tuple, found))


def test_outline_of_the_example(tmp_path):
    """Differentiated by our own rules the example has the outline of the recorded graph: the same tensors are updated
    in place in the same order. The counter of the optimizer's steps comes on top."""
    program = load("linear")
    traced = program.train.trace(program.model)
    found = outline(printed(traced, "ad-to-cpu-frontend," + GRAPH, tmp_path / "graph"))
    counter = ["Const(val: 0, dim: [])", "ADD IN PLACE (1)"]
    assert [line for line in found if line not in counter] == outline(recorded("graph"))


def test_kernels_of_the_example(tmp_path):
    """It has the kernels of the recorded procedure, but for the update of the second bias, whose sum of ones is a
    number here. (What is between the first and the last operation of a kernel differs: the slope of our sigmoid does
    not overflow.)"""
    program = load("linear")
    traced = program.train.trace(program.model)
    text = printed(traced, "ad-to-cpu-frontend," + PROCEDURE, tmp_path / "procedure")
    found, expected = kernels(text), kernels(recorded("procedure"))
    assert expected - found == {("ReduceElwFuse", "ADD IN PLACE (255)"): 1}
    assert found - expected == {("ADD IN PLACE",): 1}  # of the bias
    assert text.count("Dot Prod") == 4
    assert traced.lowered("fusion").count("ad.fusion ") <= 6


# The encoder.


def named(model):
    """Its tensors by their names in benchmarks/encoder.py."""
    found = {}
    for index, layer in enumerate(model):
        parts = {f"{kind}{head}": one.weight.T for head, three in enumerate(layer.attention.heads)
                 for kind, one in zip(("query", "key", "value"), three)}
        parts["merge"] = layer.attention.merge.weight.T
        for name, one in (("norm1", layer.norm1), ("norm2", layer.norm2)):
            parts |= {f"{name}_scale": one.weight, f"{name}_bias": one.bias}
        for name, one in (("expand", layer.feed_forward[0]), ("contract", layer.feed_forward[2])):
            parts |= {name: one.weight.T, f"{name}_bias": one.bias}
        found |= {f"layer{index}_{name}": value for name, value in parts.items()}
    return found


@pytest.mark.parametrize("layers", [1, 2, 6])
def test_gradients_of_the_encoder(layers, monkeypatch):
    """Against the backward pass in NumPy of benchmarks/encoder.py."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    encoder = module(ROOT / "benchmarks/encoder.py")
    parameters, x, target = encoder.make_inputs(layers)
    model = load("encoder").make_model(layers)
    for name, leaf in named(model).items():
        leaf[...] = parameters[name]
    assert len(list(model.parameters())) == 21 * layers
    assert sum(leaf.size for leaf in model.parameters()) == 33216 * layers
    value, gradients = adjoint.value_and_grad(lambda model, x: ((model(x) - target) ** 2).mean())(model, x)
    loss, expected = encoder.loss_and_gradients(parameters, x, target, layers)
    np.testing.assert_allclose(value, loss, rtol=1e-5)
    found = named(gradients)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        np.testing.assert_allclose(found[name], gradient, rtol=0, atol=1e-4 * abs(gradient).max(), err_msg=name)


def test_encoder_trains():
    program = load("encoder")
    data = [np.full((2, 64), 0.3, np.float32)] * 20
    trained = adjoint.Trainer(lambda model, x: model(x).sum(), program.optim.SGD(0.01), progress=False).fit(
        program.make_model(1), data, 20)
    assert trained.step == 20 and np.isfinite(trained.losses).all() and trained.losses[-1] < trained.losses[0]
