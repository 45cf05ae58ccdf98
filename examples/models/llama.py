#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Writes a Llama program, and with --out its inputs too.

  examples/models/llama.py --part model --entry train --preset training --out build/llama
  ad-runner build/llama/program.mlir $(cat build/llama/arguments) --out-dir build/llama/trained

Parts: attention, decoder (a layer), model. Entries: forward, loss, gradient (the loss and the gradients of the
parameters, of x too where there is one), step (of gradient descent, in place), train (a loop in the program that is fed
a batch per iteration, and sends its loss).
"""

import argparse
import dataclasses
import math
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ending  # noqa: E402
import llama_text  # noqa: E402
from llama_entries import program  # noqa: E402
from llama_text import Config  # noqa: E402

# Two layers that learn in a minute: the next token of sequences that count upwards with a stride of their own.
TRAINING = {"part": "model", "batch": 8, "length": 32, "width": 128, "heads": 4, "inner": 344, "layers": 2,
            "vocabulary": 64, "positions": 64, "head": "separate", "optimizer": "adam", "steps": 100, "rate": 2e-3}
PRESETS = {"default": {}, "training": TRAINING,
           "tiny": {"batch": 2, "length": 8, "width": 16, "heads": 2, "inner": 16, "vocabulary": 32, "positions": 16}}
NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32}
BASE = 10000.0  # of the rotary angles


def rotary(positions, columns):
    """Cosine and sine of the angles of each position, positions x columns; both halves of the columns are equal."""
    inverse = 1.0 / BASE ** (np.arange(0, columns, 2, dtype=np.float32) / np.float32(columns))
    angles = np.outer(np.arange(positions, dtype=np.float32), inverse.astype(np.float32)).astype(np.float32)
    both = np.concatenate([angles, angles], axis=1)
    return np.cos(both), np.sin(both)


def parameters(config, rng):
    """Random weights: of variance 1 / inputs, scales near 1."""
    table = {}
    for name, shape in config.parameters().items():
        values = rng.standard_normal(shape)
        table[name] = 1 + 0.1 * values if name.endswith("_scale") else values / math.sqrt(shape[-1])
    return table


def tokens(config, batch, length, rng):
    """Ids and the ids that follow them: each sequence counts with a stride of its own."""
    start, stride = rng.integers(0, config.vocabulary, (batch, 1)), rng.integers(1, 4, (batch, 1))
    ids = (start + stride * np.arange(length + 1)) % config.vocabulary
    return ids[:, :-1].astype(np.int32), ids[:, 1:].astype(np.int32)


def data(config, rng, batch, length):
    """What one run of the part reads, and what the loss compares with."""
    ids, labels = tokens(config, batch, length, rng)
    rows = (batch, length, config.width)
    read = {"ids": ids} if config.part == "model" else {"x": rng.standard_normal(rows)}
    if config.entry == "forward":
        return read
    return {**read, **({"labels": labels} if config.has_labels() else {"target": np.ones(rows)})}


def tables(config, batch, length):
    cos, sin = rotary(config.positions or length, config.columns)
    if not config.positions:
        cos, sin = (t[:, None, : config.columns // 2] for t in (cos, sin))
    mask = {"mask": np.zeros((batch, 1, length, length))} if config.mask == "argument" else {}
    return {"cos": cos, "sin": sin, **mask}


def inputs(config, seed=0, sizes=(2, 8)):
    """Arguments and feeds by name, floats in the element type; `sizes` are batch and length where they are dynamic."""
    rng = np.random.default_rng(seed)
    batch, length = config.batch or sizes[0], config.length or sizes[1]
    arguments, feeds = {**parameters(config, rng), **tables(config, batch, length)}, {}
    if config.entry == "train":
        batches = [data(config, rng, batch, length) for _ in range(config.steps)]
        feeds = {name: np.stack([one[name] for one in batches]) for name in batches[0]}
        for name, known, size in (("batch", config.batch, batch), ("length", config.length, length)):
            if not known:
                feeds[name] = np.full(config.steps, size, np.int64)
    else:
        arguments.update(data(config, rng, batch, length))
    kind = NUMPY[config.element]
    cast = {name: x if x.dtype.kind == "i" else x.astype(kind) for name, x in {**arguments, **feeds}.items()}
    return {name: cast[name] for name in arguments}, {name: cast[name] for name in feeds}


def write_inputs(arguments, feeds, folder):
    """Saves all as .npy; the options that name them are the lines of `arguments`."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for kind, table in (("arg", arguments), ("feed", feeds)):
        for name, values in table.items():
            ending.save_whole(folder / f"{name}.npy", np.ascontiguousarray(values))
            lines += [f"--{kind}", f"{name}={folder / name}.npy"]
    ending.write_whole(folder / "arguments", "\n".join(lines) + "\n")
    return lines


def size(text):
    """A positive number, or None for `?`."""
    if text == "?":
        return None
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a positive number or ?, got {text}")
    return value


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choices = {"part": llama_text.PARTS, "entry": llama_text.ENTRIES, "mask": llama_text.MASKS,
               "head": llama_text.HEADS, "optimizer": llama_text.OPTIMIZERS, "element": ("f32", "f64", "f16")}
    helps = {"batch": "a number, or ? for a dynamic size", "length": "the same",
             "key_heads": "0: as many as heads", "mask": "causal: computed; argument: added to the scores",
             "positions": "rows of the rotary tables; 0: tables of exactly length x 1 x half a head",
             "head": "what follows the last norm; with none the loss is the mean square of the distance to a target"}
    for field in dataclasses.fields(Config):
        kind = size if field.name in ("batch", "length") else type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, choices=choices.get(field.name),
                            default=argparse.SUPPRESS, help=f"{helps.get(field.name, '')} ({field.default})".strip())
    parser.add_argument("--preset", choices=PRESETS, default="default", help="sizes that other options change")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs")
    parser.add_argument("--sizes", default="2x8", help="batch x length of inputs for dynamic sizes (2x8)")
    parser.add_argument("--out", type=pathlib.Path, help="a folder for program.mlir, inputs and `arguments`; without "
                        "it the program is printed")
    options = vars(parser.parse_args())
    rest = {name: options.pop(name) for name in ("preset", "seed", "sizes", "out")}
    try:
        config, sizes = Config(**{**PRESETS[rest["preset"]], **options}), tuple(map(int, rest["sizes"].split("x")))
    except ValueError as problem:
        parser.error(str(problem))
    if len(sizes) != 2 or min(sizes) < 1 or (config.positions and sizes[1] > config.positions):
        parser.error(f"--sizes expects BATCHxLENGTH with at most {config.positions} positions")
    return config, rest["seed"], sizes, rest["out"]


def main():
    config, seed, sizes, out = parse()
    if not out:
        with ending.naming("standard output"):
            print(program(config), end="")
        return
    with ending.naming(out):
        write_inputs(*inputs(config, seed, sizes), out)
    ending.write_whole(out / "program.mlir", program(config))


if __name__ == "__main__":
    ending.run(main)
