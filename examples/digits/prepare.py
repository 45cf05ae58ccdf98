#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Makes the inputs of one training run on the hand-written digits.

Everything random comes from one seed: which digits are held out, the initial parameters, and the order in which the
digits are seen. The folder then holds one .npy file per argument and stream of the program, and `arguments`, the
options of ad-runner that name them, one per line.
"""

import argparse
import math
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import ending  # noqa: E402

BATCH = 32
CLASSES = 10
HELD_OUT = 5  # one digit in five is never trained on
NOT_A_DIGIT = -1  # class of the rows that fill the last batch of the held-out digits


def split(classes, rng):
    """Indices of the digits to train on and of those held out: of each class the same share."""
    train, held_out = [], []
    for digit in range(CLASSES):
        members = rng.permutation(np.flatnonzero(classes == digit))
        count = round(len(members) / HELD_OUT)
        held_out.append(members[:count])
        train.append(members[count:])
    return np.concatenate(train), np.concatenate(held_out)


def training_stream(train, epochs, rng):
    """One row of indices per step: each epoch sees the digits in a new order and drops the incomplete last batch."""
    steps = len(train) // BATCH
    return np.concatenate([rng.permutation(train)[: steps * BATCH].reshape(steps, BATCH) for _ in range(epochs)])


def held_out_stream(pixels, classes, held_out):
    """The held-out digits as whole batches; rows that fill the last one have no class."""
    fill = -len(held_out) % BATCH
    images = np.concatenate([pixels[held_out], np.zeros((fill, pixels.shape[1]), np.int8)])
    labels = np.concatenate([classes[held_out], np.full(fill, NOT_A_DIGIT, np.int8)])
    return images.reshape(-1, BATCH, pixels.shape[1]), labels.reshape(-1, BATCH)


def normal(rng, shape, scale):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def matrix(rng, inputs, outputs, gain=1.0):
    """A weight whose products keep the variance of their input times the square of the gain."""
    return normal(rng, (inputs, outputs), gain / math.sqrt(inputs))


def zeros(*shape):
    return np.zeros(shape, np.float32)


def ones(*shape):
    return np.ones(shape, np.float32)


def mlp_parameters(rng, hidden=128):
    return {
        "hidden_weight": matrix(rng, 64, hidden, gain=math.sqrt(2.0)),
        "hidden_bias": zeros(hidden),
        "output_weight": matrix(rng, hidden, CLASSES),
        "output_bias": zeros(CLASSES),
    }


def transformer_parameters(rng, width=64, inner=128, layers=2):
    """As the program holds them: one tensor for all layers; attention is query, key, value and merge, norms are scale
    and bias twice."""
    return {
        "embed": matrix(rng, 8, width),
        "position": normal(rng, (8, width), 0.1),
        "attention": normal(rng, (layers, 4, width, width), 1.0 / math.sqrt(width)),
        "norms": np.stack([ones(layers, width), zeros(layers, width)] * 2, axis=1),
        "expand": normal(rng, (layers, width, inner), 1.0 / math.sqrt(width)),
        "expand_bias": zeros(layers, inner),
        "contract": normal(rng, (layers, inner, width), 1.0 / math.sqrt(inner)),
        "contract_bias": zeros(layers, width),
        "head": matrix(rng, width, CLASSES),
        "head_bias": zeros(CLASSES),
    }


def convolution_parameters(rng):
    """Filters have the axes of the window, then the channels that come in and those that come out."""
    return {
        "first": normal(rng, (3, 3, 1, 16), math.sqrt(2.0 / 9)),
        "first_bias": zeros(16),
        "second": normal(rng, (3, 3, 16, 32), math.sqrt(2.0 / (9 * 16))),
        "second_bias": zeros(32),
        "head": matrix(rng, 2 * 2 * 32, CLASSES),
        "head_bias": zeros(CLASSES),
    }


def falling(start):
    """A rate that falls from `start` to 0 in a straight line."""
    return lambda steps: start * (1.0 - np.arange(steps) / steps)


# Per model: epochs, initial parameters, and the learning rate at each step where the program does not fix it.
MODELS = {
    "mlp": (20, mlp_parameters, None),
    "convolution": (20, convolution_parameters, falling(0.05)),
    "transformer": (12, transformer_parameters, falling(0.05)),
}


def make_inputs(model, seed):
    """The initial parameters and the streams of a run, each by the name that the program gives it."""
    epochs, initial, rate = MODELS[model]
    pixels, classes = np.load(HERE / "pixels.npy"), np.load(HERE / "classes.npy")
    rng = np.random.default_rng(seed)
    train, held_out = split(classes, rng)
    parameters = initial(rng)
    order = training_stream(train, epochs, rng)
    streams = {"images": pixels[order], "labels": classes[order]}
    streams["test_images"], streams["test_labels"] = held_out_stream(pixels, classes, held_out)
    if rate:
        streams["rate"] = rate(len(order)).astype(np.float32)
    return parameters, streams


def write_inputs(parameters, streams, folder):
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for kind, tensors in (("arg", parameters), ("feed", streams)):
        for name, tensor in tensors.items():
            file = folder / f"{name}.npy"
            ending.save_whole(file, np.ascontiguousarray(tensor))
            lines += [f"--{kind}", f"{name}={file}"]
    ending.write_whole(folder / "arguments", "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=sorted(MODELS))
    parser.add_argument("folder", type=pathlib.Path, help="is made if it does not exist")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    write_inputs(*make_inputs(options.model, options.seed), options.folder)


if __name__ == "__main__":
    ending.run(main)
