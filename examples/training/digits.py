#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Trains the transformer of examples/digits in a chosen precision and prints its accuracy on held-out digits.

The training loop is written by adjoint.text.loop: gradient descent with momentum 0.9, parameters in f32 (in bf16 alone
for bf16-stochastic), a dynamic loss scale for f16, and for f8 scales of each contraction from the last 16 steps. It
needs the Python package.
"""

import argparse
import pathlib
import sys

import adjoint
import numpy as np
from adjoint.text.delayed import DelayedScaling
from adjoint.text.loop import Training, training_function
from adjoint.text.optim import SGD, Storage
from adjoint.text.scaling import DynamicScale

EXAMPLES = pathlib.Path(__file__).resolve().parents[1]
DIGITS = EXAMPLES / "digits"
sys.path[:0] = [str(DIGITS), str(EXAMPLES / "support")]
sys.dont_write_bytecode = True
import ending  # noqa: E402
import prepare  # noqa: E402

# The policy, how parameters are kept, and the scale of the loss.
PRECISIONS = {
    "f32": ("none", Storage(), None),
    "bf16": ("bf16", Storage(), None),
    "f16": ("f16", Storage(), DynamicScale()),
    "bf16-stochastic": ("bf16", Storage(stochastic="bf16"), None),
    "f8": ("f8", Storage(), None),
}
# 8 in each of the two layers of the transformer, and 2 around them.
CONTRACTIONS = 18
FEEDS = {"images": "!digits", "labels": "!labels"}


def functions():
    """The functions of the model and of its loss, without the training loop of the file."""
    text = (DIGITS / "transformer.mlir").read_text()
    return text[: text.index("// Trains for")]


def aliases(parameters):
    return [f"!{name}" for name in parameters]


def narrow_loss(parameters, element):
    """@narrow_loss, which reads parameters of 16 bits."""
    kinds = [f"tensor<{'x'.join(map(str, value.shape))}x{element}>" for value in parameters.values()]
    arguments = ", ".join(f"%n{i}: {kind}" for i, kind in enumerate(kinds))
    casts = "".join(f"  %w{i} = ad.cast %n{i} : {kind} -> {alias}\n"
                    for i, (kind, alias) in enumerate(zip(kinds, aliases(parameters))))
    values = ", ".join([*[f"%w{i}" for i in range(len(kinds))], "%images", "%labels"])
    wide = ", ".join([*aliases(parameters), *FEEDS.values()])
    return (f"func.func private @narrow_loss({arguments}, %images: !digits, %labels: !labels) -> tensor<f32> {{\n{casts}"
            f"  %loss = call @loss({values}) : ({wide}) -> tensor<f32>\n  return %loss : tensor<f32>\n}}\n")


def training_program(parameters, steps, precision, scaling):
    policy, storage, _ = PRECISIONS[precision]
    delayed = DelayedScaling(CONTRACTIONS) if policy == "f8" else None
    text, loss = functions(), "loss"
    if storage.read != "f32":
        text, loss = text + narrow_loss(parameters, storage.read), "narrow_loss"
    shapes = {name: value.shape for name, value in parameters.items()}
    training = Training(loss, shapes, FEEDS, steps, SGD(momentum=0.9), storage=storage, scaling=scaling,
                        delayed=delayed)
    return text + training_function("main", training)


def scoring_program(parameters):
    """Which class the model reads in each image of a batch."""
    arguments = ", ".join(f"%w{i}: {alias}" for i, alias in enumerate(aliases(parameters)))
    values = ", ".join(f"%w{i}" for i in range(len(parameters)))
    return functions() + (
        f"func.func @main({arguments}, %images: !digits) -> tensor<32xi64> {{\n"
        f"  %scores = call @model({values}, %images) : ({', '.join(aliases(parameters))}, !digits) -> !scores\n"
        "  %classes = ad.argmax %scores axis 1 : !scores\n  return %classes : tensor<32xi64>\n}\n")


def to_bf16(value, dtype):
    """Rounded to nearest, to even; finite numbers only."""
    bits = value.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16).view(dtype)


def from_bf16(value):
    return (np.asarray(value).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def train(precision, seed, scaling="default", steps=None, **options):
    """The accuracy in percent, and what each step sent by name: loss, scale, finite."""
    policy, storage, own = PRECISIONS[precision]
    scaling = own if scaling == "default" else scaling
    parameters, streams = prepare.make_inputs("transformer", seed)
    steps = min(steps or len(streams["images"]), len(streams["images"]))
    run = adjoint.compile(training_program(parameters, steps, precision, scaling), precision=policy, **options)
    values = list(parameters.values())
    if storage.element == "bf16":
        values = [to_bf16(value, spec.dtype) for value, spec in zip(values, run.signature.arguments)]
    sent = {name: [] for name in (("loss", "scale", "finite") if scaling else ("loss",))}
    feeds = {name: streams[name][:steps] for name in ("images", "labels", "rate")}
    trained = run(*values, feeds=feeds,
                  receives={name: lambda value, to=to: to.append(value.item()) for name, to in sent.items()})
    if storage.element == "bf16":
        trained = [from_bf16(value) for value in trained]
    score = adjoint.compile(scoring_program(parameters), precision=policy, **options)
    classes = np.stack([score(*trained, images) for images in streams["test_images"]])
    known = streams["test_labels"] != prepare.NOT_A_DIGIT
    return 100 * float((classes == streams["test_labels"])[known].mean()), sent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", choices=PRECISIONS, action="append",
                        help="may be given more than once; without it, all")
    parser.add_argument("--seeds", type=int, default=3, help="train with the seeds 0 to SEEDS-1 (default: 3)")
    options = parser.parse_args()
    if options.seeds < 1:
        parser.error(f"argument --seeds: expected at least 1, got {options.seeds}")
    for precision in options.precision or PRECISIONS:
        accuracies, skipped = [], 0
        for seed in range(options.seeds):
            accuracy, sent = train(precision, seed)
            accuracies.append(accuracy)
            skipped += sent.get("finite", []).count(False)
        text = " ".join(f"{accuracy:.1f}" for accuracy in accuracies)
        print(f"{precision}: test accuracy mean {np.mean(accuracies):.1f} % ({text}), {skipped} steps skipped", flush=True)


if __name__ == "__main__":
    ending.run(main)
