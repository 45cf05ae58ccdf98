# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints the `ad` program of the Llama block in llama.py: its loss, and the gradients of weights and input.

Arguments are the parameters, x, target, and the tables of the rotary embedding, cos and sin. examples/models writes the
text.
"""

import argparse
import pathlib
import sys

from llama import EPSILON, HEADS, INNER, KEY_HEADS, WIDTH

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "examples/models"))
import llama_entries  # noqa: E402
import llama_text  # noqa: E402


def program(batch, length):
    return llama_entries.program(llama_text.Config(
        part="decoder", entry="gradient", batch=batch, length=length, width=WIDTH, heads=HEADS, key_heads=KEY_HEADS,
        inner=INNER, positions=0, epsilon=EPSILON))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=256)
    options = parser.parse_args()
    print(program(options.batch, options.length), end="")


if __name__ == "__main__":
    main()
