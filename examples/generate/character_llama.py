# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A Llama that reads and writes characters."""

import string
from typing import Any

import numpy as np
from adjoint import Tensor, nn

CHARACTERS = "\n !'(),-.:;?" + string.digits + string.ascii_letters
NUMBERS = {character: number for number, character in enumerate(CHARACTERS)}


def encode(text: str) -> np.ndarray:
    """The numbers of characters, which are all known."""
    return np.array([NUMBERS[character] for character in text], np.int32)


class Llama(nn.Module):
    def __init__(self, size: int = 128, layers: int = 4, heads: int = 4, key: int = 0):
        draw, count = nn.Initializer(key), len(CHARACTERS)
        self.embedding = nn.Embedding(count, size, key=draw)
        self.layers = [nn.LlamaDecoderLayer(size, 3 * size, heads, key=draw) for _ in range(layers)]
        self.norm, self.head = nn.RMSNorm(size), nn.Linear(size, count, bias=False, key=draw)

    def forward(self, ids: Tensor) -> Tensor:
        """The scores of what follows each character of texts (batch, length)."""
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))

    def make_cache(self, capacity: int) -> list[Any]:
        return [layer.make_cache(1, capacity) for layer in self.layers]

    def extend(self, ids: Tensor, cache: list[Any], position: Tensor) -> tuple[Tensor, list[Any]]:
        """The same for characters from `position` on, and the next cache: it has the keys and values of all before."""
        x, extended = self.embedding(ids), []
        for layer, seen in zip(self.layers, cache):
            x, seen = layer.extend(x, seen, position)
            extended.append(seen)
        return self.head(self.norm(x)), extended
