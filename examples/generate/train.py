#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Trains a Llama on the characters of the King James Bible, and saves it for generate.py."""

import argparse
import pathlib
import sys
import time
from collections.abc import Iterator

import adjoint
import numpy as np
from adjoint import Tensor, nn, optim
from character_llama import Llama, encode

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ending  # noqa: E402
from book import book  # noqa: E402


def loss(model: Llama, batch: tuple[Tensor, Tensor]) -> Tensor:
    ids, following = batch
    return nn.functional.cross_entropy(model(ids), following)


def batches(text: np.ndarray, count: int, length: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random parts of the text, and the same parts one character later."""
    random = np.random.default_rng(0)
    while True:
        at = random.integers(0, len(text) - length, (count, 1)) + np.arange(length)
        yield text[at], text[at + 1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500, help="(%(default)s)")
    parser.add_argument("--model", type=pathlib.Path, default=pathlib.Path("build/generate/model.safetensors"),
                        help="where the model is saved (%(default)s)")
    options = parser.parse_args()
    if options.steps < 1:
        parser.error(f"argument --steps: expected at least 1, got {options.steps}")
    options.model.parent.mkdir(parents=True, exist_ok=True)

    start, text = time.monotonic(), encode(book().tobytes().decode())
    optimizer = optim.AdamW(optim.cosine(4e-3, options.steps, warmup=20))
    trainer = adjoint.Trainer(loss, optimizer, clip_norm=1.0, steps_per_call=20)
    trained = trainer.fit(Llama(), batches(text, 4, 256), options.steps)
    nn.save_safetensors(trained.model, options.model)
    print(f"loss {trained.losses[0]:.2f}, after {trained.step} steps {np.mean(trained.losses[-20:]):.2f}, "
          f"{time.monotonic() - start:.0f} s; the model is in {options.model}")


if __name__ == "__main__":
    ending.run(main)
