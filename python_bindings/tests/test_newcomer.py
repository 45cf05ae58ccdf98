# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The programs of examples/python and the same programs in JAX (examples/python/in_jax): values, and lines of code.

data/newcomer.json has the values of the programs in JAX, for the parameters that ours begin with: "exact" in f64, "own"
in the types of the program. Where JAX 0.10.2 and optax 0.2.8 are installed the tests run the programs in JAX, too, and
compare the file with them; it is written again by

    PYTHONPATH=build/release/python python python_bindings/tests/test_newcomer.py --write
"""

import ast
import dataclasses
import functools
import importlib.util
import io
import json
import pathlib
import re
import runpy
import sys
import tokenize
from collections.abc import Callable
from typing import Any

import ml_dtypes  # noqa: F401
import numpy as np
import pytest

import adjoint

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/python"
VALUES = pathlib.Path(__file__).with_name("data") / "newcomer.json"
LIMIT = 1.5  # lines of ours, as a multiple of JAX's

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the package is tested without the tree")


@functools.cache
def load(name):
    """The program examples/python/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Parameters of ours in the trees of JAX's programs.


def linear(layer):
    return layer.weight.T, layer.bias


def layers(model):
    return [linear(layer) for layer in model if hasattr(layer, "weight")]


def autoencoder(model):
    return {name: layers(part) for name, part in model.items()}


def recurrent(model, add=np.add):
    """The program in JAX has one bias, the sum of ours, whose gradient is that of each of them."""
    lstm, head = model
    return {"input": lstm.weight_ih_l0.T, "hidden": lstm.weight_hh_l0.T, "bias": add(lstm.bias_ih_l0, lstm.bias_hh_l0),
            "head": linear(head)}


def block(model):
    parts = {name: linear(getattr(model, name)) for name in ("qkv", "project", "expand", "contract")}
    parts |= {name: (one.weight, one.bias) for name, one in (("ln_1", model.ln_1), ("ln_2", model.ln_2))}
    return {name: {"weight": weight, "bias": bias} for name, (weight, bias) in parts.items()}


# What is compared of a program.


def trained(data):
    def run(program, model, cast):
        model, losses, *scales = program.train(model, *data(program, cast))
        return {"losses": np.array(losses), "model": model, **({"scales": np.array(scales[0])} if scales else {})}

    return run


def gradient(data):
    def run(program, model, cast):
        library = program.jax if hasattr(program, "jax") else adjoint
        value, found = library.value_and_grad(program.loss)(model, *data(program, cast))
        return {"value": value, "model": found}

    return run


def of_run(program, model, cast):
    return {"results": program.run(*cast(program.inputs()))}


def of_block(program, model, cast):
    value, found = program.run(model, *cast(program.inputs()[1:]))
    return {"value": value, "model": found}


def of_ode(program, model, cast):
    return {"results": program.run(*cast((program.RATES, program.START)))}


def of_products(program, model, cast):
    inputs = cast(program.inputs())
    return {"product": program.product(*inputs), "largest": program.largest_eigenvalue(*inputs)}


def noise(program):
    return np.random.default_rng(1).standard_normal((16, program.LATENT)).astype(np.float32)


@dataclasses.dataclass
class Case:
    #: What is compared, of a program, its parameters, and a cast of its data.
    run: Callable[[Any, Any, Callable[[Any], Any]], dict[str, Any]]
    #: From a model of ours, and from its gradient, to the tree of JAX's program.
    convert: Callable[[Any], Any] = layers
    convert_back: Callable[[Any], Any] | None = None
    #: How far our program in f64 may be from JAX's; None if the program itself says that its types are others.
    bound: float | None = 1e-9
    #: The same in the types of the program.
    own_bound: float = 1e-5
    has_exact: bool = True


CASES = {
    "attention": Case(of_run),
    "dynamic_batches": Case(trained(lambda program, cast: [[cast(one) for one in program.batches(12)]]), bound=None),
    "gpt2_block": Case(of_block, block, bound=1e-6, own_bound=2e-2),  # JAX has the softmax of attention in f32
    "gradient_accumulation": Case(trained(lambda program, cast: [cast(program.batches(10))])),
    "hessian_vector_product": Case(of_products),
    "loss_scaling": Case(trained(lambda program, cast: (*cast(program.points(64)), 50)), bound=None,
                         own_bound=2e-2, has_exact=False),
    "lstm": Case(gradient(lambda program, cast: cast(program.sequences(16))), recurrent,
                 lambda model: recurrent(model, lambda one, other: one)),
    "mlp": Case(trained(lambda program, cast: (*cast(program.spirals(60)), 20))),
    "ode": Case(of_ode),
    "vae": Case(gradient(lambda program, cast: cast((program.bars(16), noise(program)))), autoencoder),
}
NAMES = list(CASES)


def model_of(name):
    """The first parameters of our program, if it has some that are no inputs."""
    program = load(name)
    if hasattr(program, "make_model"):
        return program.make_model()
    return program.inputs()[0] if name == "gpt2_block" else None


def to_f64(tree):
    """Its floats in f64."""
    return adjoint.tree.map(lambda leaf: leaf.astype(np.float64) if leaf.dtype.kind in "fV" else leaf, tree)


def summary(value):
    """All numbers of a small array; of others some, their mean and the root of their mean square."""
    flat = np.asarray(value).astype(np.float64).ravel()
    if flat.size <= 50:
        return flat.tolist()
    picked = np.linspace(0, flat.size - 1, 20).astype(int)
    return [*flat[picked].tolist(), float(flat.mean()), float(np.sqrt(np.mean(flat * flat)))]


def summaries(results):
    leaves, form = adjoint.tree.flatten(results)
    return {name: summary(leaf) for name, leaf in zip(adjoint.tree.names(form), leaves)}


def ours(name, is_exact):
    """What our program computes, by the names of JAX's trees."""
    case, cast = CASES[name], to_f64 if is_exact else lambda tree: tree
    model = model_of(name)
    results = case.run(load(name), cast(model), cast)
    if "model" in results:
        results["model"] = (case.convert_back or case.convert)(results["model"])
    return summaries(results)


def theirs(name, is_exact):
    """What the program in JAX computes."""
    import jax

    case, cast = CASES[name], to_f64 if is_exact else lambda tree: tree
    program, model = load(f"in_jax/{name}"), model_of(name)
    model = None if model is None else case.convert(cast(model))
    with jax.enable_x64(is_exact or name in ("ode", "hessian_vector_product")):
        return summaries(jax.tree.map(np.asarray, case.run(program, model, cast)))


def close(found, expected, bound):
    """Differences are measured by the largest number of each array."""
    assert found.keys() == expected.keys()
    for key, numbers in expected.items():
        scale = max(map(abs, numbers))
        np.testing.assert_allclose(found[key], numbers, rtol=0, atol=bound * scale, err_msg=key)


def error(found, exact):
    """The largest difference, measured in the same way."""
    return max(np.abs(np.subtract(found[key], numbers)).max() / max(map(abs, numbers))
               for key, numbers in exact.items())


@functools.cache
def known(name, kind):
    """What the file has; None if the program has no values of the kind."""
    return json.loads(VALUES.read_text()).get(f"{name} {kind}")


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in NAMES if CASES[name].bound])
def test_values_in_f64(name):
    """The same functions, up to the order of sums."""
    close(ours(name, True), known(name, "exact"), CASES[name].bound)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_values_in_own_types(name):
    """The same up to rounding, whose errors are not larger than in JAX, which has up to 2e-4 where Adam divides by
    1 - 0.999^n in f32."""
    found, own, exact = ours(name, False), known(name, "own"), known(name, "exact")
    close(found, exact or own, CASES[name].own_bound)
    if exact:
        assert error(found, exact) <= 2 * error(own, exact) + 1e-6


def test_the_same_steps_are_left_out():
    """The scale halves at each step that is left out."""
    found = ours("loss_scaling", False)["scales"]
    assert found == known("loss_scaling", "own")["scales"] and len(set(found)) == 5


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_jax(name):
    """The file has what JAX computes, where it is installed."""
    pytest.importorskip("jax", reason="JAX is not installed")
    pytest.importorskip("optax", reason="optax is not installed")
    if CASES[name].has_exact:
        close(theirs(name, True), known(name, "exact"), 1e-9)
    close(theirs(name, False), known(name, "own"), CASES[name].own_bound)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_programs_print_numbers(name, capsys):
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert re.search(r"\w .*\d", capsys.readouterr().out)


def test_one_program_takes_all_batches():
    program = load("dynamic_batches")
    before = len(program.step._programs)
    program.train(program.make_model().astype("f64"), program.batches(5))
    assert len(program.step._programs) == before + 1


def test_the_autoencoder_draws_its_noise():
    program = load("vae")
    _, losses = program.train(program.make_model(), program.bars(64), 150)
    assert losses[-1] < 0.5 * losses[0]
    assert losses == program.train(program.make_model(), program.bars(64), 150)[1]


# Lines.

LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text):
    """How many lines have code: without blank lines, comments and docstrings."""
    lines = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            lines -= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(lines)


def test_lines_of_code():
    text = '"""One."""\n\n# Two.\ndef f(x):\n    """Three\n    four."""\n    return (x +\n            1)\n'
    assert code_lines(text) == 3


@pytest.mark.parametrize("name", NAMES)
def test_lines(name):
    mine, its = (code_lines((EXAMPLES / folder / f"{name}.py").read_text()) for folder in ("", "in_jax"))
    assert mine <= LIMIT * its, f"{mine} lines, JAX has {its}"
    assert re.search(f"^\\| `{name}.py` .*\\| {mine} \\| {its} \\|$", (EXAMPLES / "README.md").read_text(), re.M)


def test_each_program_is_compared():
    found = [{path.stem for path in folder.glob("*.py")} for folder in (EXAMPLES, EXAMPLES / "in_jax")]
    assert found == [{*NAMES, "linear", "encoder"}, set(NAMES)]


if __name__ == "__main__":
    assert sys.argv[1:] == ["--write"], "expected --write"
    made = {f"{name} {kind}": theirs(name, kind == "exact") for name, case in CASES.items()
            for kind in ("exact", "own") if kind == "own" or case.has_exact}
    lines = [f'"{name}": {{\n' + ",\n".join(f'  "{key}": {numbers}' for key, numbers in values.items()) + "\n}"
             for name, values in made.items()]
    VALUES.write_text("{\n" + ",\n".join(lines) + "\n}\n")
