#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Continues a text with the model of train.py, character by character."""

import argparse
import itertools
import pathlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import adjoint
import adjoint.numpy as anp
import numpy as np
from adjoint import Tensor, nn
from character_llama import CHARACTERS, Llama, encode

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import ending  # noqa: E402

CAPACITIES = range(1, 65537)


def choose(scores: Tensor, number: Tensor, temperature: Tensor, seed: Tensor) -> Tensor:
    """The character with the largest score. With a temperature it is drawn with the probabilities
    softmax(scores / temperature): so often is its score, with Gumbel noise, the largest. The noise follows from the
    seed and from the number of the character in the text."""
    key = adjoint.random.fold_in(adjoint.random.key(seed), number)
    noise = adjoint.random.gumbel(key, scores.shape)
    return anp.argmax(scores + temperature * noise, axis=-1).astype("i32")


def read(
    model: Llama, ids: Tensor, cache: list[Any], position: Tensor, temperature: Tensor, seed: Tensor
) -> tuple[Tensor, list[Any]]:
    """The character that follows `ids`, which begin at `position`, and the cache with them."""
    scores, cache = model.extend(ids, cache, position)
    return choose(scores[:, -1:], position + ids.shape[1], temperature, seed), cache


class Reader:
    """The programs: one for prompts of any length, and one for a character at any position. The cache is donated, so
    that they update it in place."""

    def __init__(self, target: str = "cpu"):
        options = {"donate_argnames": "cache", "numerics": "reproducible", "target": target}
        prompts = (None, adjoint.spec("1 length", "i32"), None, None, None, None)
        self.prompt, self.character = adjoint.jit(read, specs=prompts, **options), adjoint.jit(read, **options)

    def generate(
        self, model: Llama, prompt: np.ndarray, capacity: int, temperature: float = 0, seed: int = 0
    ) -> Iterator[int]:
        """The characters that follow the prompt, until the cache is full."""
        run, ids, position, cache = self.prompt, prompt[None], 0, model.make_cache(capacity)
        while position + ids.shape[1] <= capacity:
            following, cache = run(model, ids, cache, np.int32(position), np.float32(temperature), np.int64(seed))
            yield int(following[0, 0])
            run, ids, position = self.character, following, position + ids.shape[1]


def problem_of(options: argparse.Namespace) -> str | None:
    """What is wrong with the arguments."""
    unknown = sorted(set(options.prompt) - set(CHARACTERS))
    room = options.capacity - len(options.prompt) + 1  # the last character is not read
    if not options.prompt:
        return "the prompt is empty; the model needs a character to begin with"
    if unknown:
        return f"the model does not know {', '.join(map(repr, unknown))}; it knows {CHARACTERS!r}"
    if options.capacity not in CAPACITIES:
        return f"expected a capacity from {CAPACITIES[0]} to {CAPACITIES[-1]}, got {options.capacity}"
    if len(options.prompt) > options.capacity:
        return f"the prompt has {len(options.prompt)} characters, the cache has room for {options.capacity}"
    if not 1 <= options.length <= room:
        return f"expected a length from 1 to {room}, for which the cache has room, got {options.length}"
    if not 0 <= options.temperature < float("inf"):
        return f"expected a temperature of 0 or more, got {options.temperature}"
    if not -(2**63) <= options.seed < 2**63:
        return f"expected a seed of 64 bits, got {options.seed}"
    return None


def load(path: pathlib.Path) -> Llama:
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}, which examples/generate/train.py writes")
    try:
        return nn.load_safetensors(Llama(), path)
    except adjoint.OptionError as error:
        raise OSError(str(error)) from error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompt", default="In the beginning ", help="the text that is continued (%(default)r)")
    parser.add_argument("--length", type=int, default=200, help="characters that follow (%(default)s)")
    parser.add_argument("--temperature", type=float, default=0, help="0: always the likeliest one (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the characters that are drawn (%(default)s)")
    parser.add_argument("--capacity", type=int, default=512, help="characters in the cache (%(default)s)")
    parser.add_argument("--model", type=pathlib.Path, default=pathlib.Path("build/generate/model.safetensors"))
    options = parser.parse_args()
    problem = problem_of(options)
    if problem:
        parser.error(problem)
    model, prompt, times = load(options.model), encode(options.prompt), []
    print(options.prompt, end="", flush=True)
    following = Reader().generate(model, prompt, options.capacity, options.temperature, options.seed)
    for number in itertools.islice(following, options.length):
        print(CHARACTERS[number], end="", flush=True)
        times.append(time.monotonic())
    print()
    if len(times) > 2:  # the programs were compiled for the first two
        print(f"{(len(times) - 2) / (times[-1] - times[1]):.0f} characters per second", file=sys.stderr)


if __name__ == "__main__":
    ending.run(main)
