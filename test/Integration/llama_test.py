#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The Llama programs of examples/models: values and gradients are those of NumPy in f64, training is repeated steps.

Gradients are compared with differences of NumPy's loss along a random direction for each parameter, on the CPU and the
reference interpreter. Closes with `N run, N failed`.
"""

import functools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "examples/models")]
sys.dont_write_bytecode = True

import numpy as np

import checks
import llama
import llama_oracle
import runner
from llama_entries import program
from llama_text import Config

TINY = llama.PRESETS["tiny"]
FORMS = [
    {"part": "attention"},
    {"part": "attention", "mask": "argument", "heads": 4, "key_heads": 2},
    {"part": "decoder", "heads": 4, "key_heads": 1, "mask": "none"},
    {"part": "decoder", "positions": 0},
    {"part": "decoder", "batch": None, "length": None, "mask": "argument"},
    {"part": "model", "layers": 2},
    {"part": "model", "head": "tied", "length": None},
    {"part": "model", "head": "separate", "layers": 2, "heads": 4, "key_heads": 2, "batch": None},
]
VALUES = {"f64": 1e-12, "f32": 1e-5}  # relative to the largest element
SLOPES = 1e-6
STEP = 1e-5


def in_double(config, values):
    """With tables of f64 instead of f32, so that both compute the same."""
    length = config.positions or values["cos"].shape[0]
    cos, sin = llama_oracle.angles(length, config.columns)
    if not config.positions:
        cos, sin = (t[:, None, : config.columns // 2] for t in (cos, sin))
    return {**values, "cos": cos, "sin": sin}


def run(config, values, feeds, folder, *options):
    """The results of the program, by name."""
    lines = llama.write_inputs(values, feeds, folder / "inputs")
    (folder / "program.mlir").write_text(program(config))
    command = [runner.binary("ad-runner"), folder / "program.mlir", *lines, "--out-dir", folder / "out", "--cache",
               folder / "cache", *options]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return {file.stem: np.load(file) for file in (folder / "out").glob("*.npy")}


def far(found, expected, bound, name):
    error = float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))
    if not error <= bound:  # a NaN is no success
        yield f"{name} is off by {error:.1e}, at most {bound}"


def mask_some(values, rng):
    if "mask" in values:
        values["mask"] = np.where(rng.random(values["mask"].shape) < 0.3, -4.0, 0.5).astype(values["mask"].dtype)
    return values


def check_values(form, element, target, folder):
    config = Config(**{**TINY, **form, "element": element})
    values, _ = llama.inputs(config, seed=3, sizes=(3, 7))
    values = mask_some(values, np.random.default_rng(1))
    if element == "f64":
        values = in_double(config, values)
    found = run(config, values, {}, folder, "--target", target)["y"]
    yield from far(found, llama_oracle.result(config, values), VALUES[element], "y")


def slope(config, values, name, direction):
    """Of NumPy's loss along a direction of one argument."""
    sides = [llama_oracle.loss(config, {**values, name: values[name] + sign * STEP * direction}) for sign in (1, -1)]
    return (sides[0] - sides[1]) / (2 * STEP)


def check_gradients(form, target, folder):
    config = Config(**{**TINY, **form, "element": "f64", "entry": "gradient"})
    values, _ = llama.inputs(config, seed=4, sizes=(3, 7))
    values, rng = in_double(config, mask_some(values, np.random.default_rng(1))), np.random.default_rng(2)
    found = run(config, values, {}, folder, "--target", target)
    yield from far(found.pop("loss"), llama_oracle.loss(config, values), 1e-12, "loss")
    expected = set(config.parameters()) | ({"x"} if config.part != "model" else set())
    if {name[2:] for name in found} != expected:
        yield f"gradients of {sorted(found)}, expected one for each of {sorted(expected)}"
        return
    for name in sorted(expected):
        direction = rng.standard_normal(values[name].shape)
        measured, scale = slope(config, values, name, direction), np.abs(found[f"d_{name}"]).max()
        error = abs((found[f"d_{name}"] * direction).sum() - measured) / (scale * np.sqrt(direction.size))
        if not error <= SLOPES:
            yield f"the gradient of {name} differs from the slope by {error:.1e}, at most {SLOPES}"


def check_training(optimizer, sizes, folder):
    """The loop gives what NumPy makes of the gradients of separate runs."""
    form = {**TINY, "part": "model", "head": "tied", "steps": 3, "rate": 0.01, "element": "f64", **sizes}
    config = Config(**form, entry="train", optimizer=optimizer)
    arguments, feeds = llama.inputs(config, seed=5, sizes=(3, 5))
    (folder / "loop").mkdir()
    trained = run(config, arguments, feeds, folder / "loop")
    p = {name: arguments[name] for name in config.parameters()}
    tables = {name: x for name, x in arguments.items() if name not in p}
    m, v, losses = {name: 0.0 for name in p}, {name: 0.0 for name in p}, []
    for t in range(1, config.steps + 1):
        (folder / f"{t}").mkdir()
        batch = {name: feeds[name][t - 1] for name in ("ids", "labels")}
        d = run(Config(**form, entry="gradient"), {**p, **tables, **batch}, {}, folder / f"{t}")
        losses.append(d["loss"])
        for name in p:
            g = d[f"d_{name}"]
            m[name], v[name] = 0.9 * m[name] + 0.1 * g, 0.999 * v[name] + 0.001 * g * g
            fair = m[name] / (1 - 0.9**t) / (np.sqrt(v[name] / (1 - 0.999**t)) + 1e-8)
            p[name] = p[name] - config.rate * (fair if optimizer == "adam" else g)
    yield from far(trained.pop("loss"), np.array(losses), 1e-12, "the losses")
    for name in p:
        yield from far(trained[name], p[name], 1e-9, f"trained {name}")


def check_step(folder):
    """A step in place is one iteration of the loop."""
    found = {}
    for entry in ("step", "train"):
        config = Config(**{**TINY, "part": "model", "head": "separate", "steps": 1, "entry": entry})
        (folder / entry).mkdir()
        found[entry] = run(config, *llama.inputs(config, seed=6), folder / entry)
    for name, values in found["step"].items():
        if not np.array_equal(values, found["train"][name].reshape(values.shape)):
            yield f"{name} of the step is not that of the loop"


def check_learning(folder):
    config = Config(**llama.PRESETS["training"], entry="train")
    losses = run(config, *llama.inputs(config), folder)["loss"]
    if not losses[-10:].mean() < 0.1 * losses[0]:
        yield f"the loss fell from {losses[0]:.2f} to {losses[-10:].mean():.2f} only"


def check_dynamic_sizes(folder):
    """Programs with dynamic sizes give the bits of those with static ones."""
    found = []
    for sizes in ({}, {"batch": None, "length": None}):
        config = Config(**{**TINY, "part": "model", "head": "tied", "entry": "gradient", **sizes})
        values, _ = llama.inputs(config, seed=7, sizes=(TINY["batch"], TINY["length"]))
        (folder / str(len(found))).mkdir()
        found.append(run(config, values, {}, folder / str(len(found)), "--numerics", "reproducible"))
    for name, values in found[0].items():
        if values.tobytes() != found[1][name].tobytes():
            yield f"{name} has other bits with dynamic sizes"


def fingerprint(values):
    return "".join(chr(65 + int(x) % 26) for x in np.asarray(values, np.float64).reshape(4, -1).sum(1))


def check_rotary_tables(_folder):
    """2048 positions, 64 columns: the fingerprints of the tables that Hugging Face's Llama computes."""
    cos, sin = llama.rotary(2048, 64)
    expected = {"MDRB": cos, "ZHDU": sin, "CJYF": cos[:1024], "GSEC": sin[:1024]}
    for letters, table in expected.items():
        if fingerprint(table) != letters:
            yield f"{fingerprint(table)}, expected {letters}"


REFUSED = {
    "the width must be a multiple": ["--width", "24", "--heads", "8"],
    "do not divide": ["--heads", "8", "--key-heads", "3"],
    "more than the 8 rows": ["--positions", "8"],
    "need a static length": ["--positions", "0", "--length", "?"],
    "invalid choice": ["--part", "encoder"],
    "expected a positive number or ?": ["--batch", "0"],
}


def check_refusal(message, options, folder):
    command = [sys.executable, ROOT / "examples/models/llama.py", *options, "--out", folder / "out"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 2 or message not in result.stderr or (folder / "out").exists():
        yield f"exit code {result.returncode}, {result.stderr.strip()}"


def main():
    cases = [("the rotary tables", check_rotary_tables), ("a step", check_step), ("learning", check_learning),
             ("dynamic sizes", check_dynamic_sizes)]
    for form in FORMS:
        for target, element in (("reference", "f64"), ("cpu", "f32"), ("gpu-sim", "f32")):
            cases.append((f"values of {form}, {element}, {target}",
                          functools.partial(check_values, form, element, target)))
        for target in ("reference", "cpu"):
            cases.append((f"gradients of {form}, {target}", functools.partial(check_gradients, form, target)))
    for optimizer in ("sgd", "adam"):
        for sizes in ({}, {"batch": None, "length": None}):
            cases.append((f"training by {optimizer}, {sizes}", functools.partial(check_training, optimizer, sizes)))
    cases += [(" ".join(options), functools.partial(check_refusal, message, options))
              for message, options in REFUSED.items()]
    return checks.run_checks("llama", checks.sample(cases, 6))


if __name__ == "__main__":
    sys.exit(main())
