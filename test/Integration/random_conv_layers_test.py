#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random layers of convolutional networks with their gradients by the input and the filter: the CPU with one thread and
with several, with other tiles and vectors, and the emulated GPU give the bits of the reference interpreter. Sums are
longer than a block of the order and operands larger than a first-level cache, so that sums are divided and operands
packed. Layouts, element types, groups, kernels, strides, paddings, dilations, open sizes, and which of result and
gradients a program has, are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 45
ELEMENTS = ("f32", "f32", "f32", "f64", "bf16", "f16", "i32")
VARIANTS = {"in small tiles": ["--target=cpu", "--threads=3", "--tiles=small"],
            "on AVX2": ["--target=cpu", "--threads=1", "--cpu=x86-64-v3"]}
MAX_PRODUCTS = 3_000_000


class Layer:
    def __init__(self, rng):
        pick = lambda *values: int(rng.choice(values))
        self.rank, self.count = pick(1, 2, 2), pick(1, 2, 3)
        self.kind = str(rng.choice(["dense", "dense", "dense", "depthwise", "grouped"]))
        self.last = rng.random() < 0.7
        self.channels, self.made, self.groups = pick(1, 3, 8, 16, 33), pick(1, 5, 8, 16, 24, 40), pick(2, 3)
        each = lambda *values: [pick(*values) for _ in range(self.rank)]
        self.kernel, self.strides, self.dilation = each(1, 2, 3, 3, 5), each(1, 1, 2, 2, 3), each(1, 1, 1, 2)
        self.low, self.high = each(0, 1, 1, 2), each(0, 1, 1, 2)
        self.sizes = each(30, 500, 1100) if self.rank == 1 else each(5, 14, 23, 32)
        while self.products > MAX_PRODUCTS and max(self.sizes) > 9:
            self.sizes[int(np.argmax(self.sizes))] //= 2
        self.opened = rng.random() < 0.2
        drawn = [name for name in ("y", "dx", "dw") if rng.random() < 0.6]
        self.made_names = drawn or ["y"]

    @property
    def places(self):
        padded = [n + low + high for n, low, high in zip(self.sizes, self.low, self.high)]
        return [max((p - (k - 1) * d - 1) // s + 1, 0) for p, k, d, s in zip(padded, self.kernel, self.dilation, self.strides)]

    @property
    def products(self):
        return np.prod([self.count, *self.places, self.channels, self.made, *self.kernel], dtype=np.int64)

    @property
    def dims(self):
        digits = "01"[:self.rank]
        inner = {"dense": ("c", "co", "o"), "depthwise": ("c", "c", "c"), "grouped": ("gc", "gco", "go")}[self.kind]
        if self.last:
            return f"b{digits}{inner[0]}", f"{digits}{inner[1]}", f"b{digits}{inner[2]}"
        return f"b{inner[0]}{digits}", f"{inner[1][::-1]}{digits}", f"b{inner[2]}{digits}"

    def shapes(self):
        size = {"b": self.count, "c": self.channels, "o": self.made, "g": self.groups}
        along = lambda part, spatial: tuple(spatial[int(c)] if c.isdigit() else size[c] for c in part)
        return [along(part, spatial) for part, spatial in zip(self.dims, (self.sizes, self.kernel, self.places))]

    def text(self, element):
        def tensor(part, shape):
            opened = [self.opened and c.isdigit() for c in part]
            return f"tensor<{''.join('?x' if open_ else f'{n}x' for n, open_ in zip(shape, opened))}{element}>"

        source, of_filter, result = self.dims
        shapes = self.shapes()
        x, y = tensor(source, shapes[0]), tensor(result, shapes[2])
        w = f"tensor<{''.join(f'{n}x' for n in shapes[1])}{element}>"
        lists = " ".join(f"{name} {values}" for name, values in
                         (("strides", self.strides), ("low", self.low), ("high", self.high), ("filter_dilation", self.dilation)))
        conv = f'ad.conv %x, %w dims "{source},{of_filter}->{result}" {lists} : ({x}, {w}) -> {y}'
        arguments = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, kind in (("x", x), ("w", w), ("g", y)))
        if element.startswith("i"):
            return (f'func.func @main({arguments}) -> ({y} {{ad.name = "y"}}) {{\n  %y = {conv}\n  return %y : {y}\n}}\n', ["y"])
        names, types = self.made_names, {"y": y, "dx": x, "dw": w}
        results = ", ".join(f'{types[name]} {{ad.name = "{name}"}}' for name in names)
        return (f"func.func private @f(%x: {x}, %w: {w}) -> {y} {{\n  %y = {conv}\n  return %y : {y}\n}}\n"
                f"func.func @main({arguments}) -> ({results}) {{\n"
                f"  %y, %dx, %dw = ad.vjp @f(%x, %w) cotangents(%g) wrt [0, 1] : ({x}, {w}, {y}) -> ({y}, {x}, {w})\n"
                f"  return {', '.join(f'%{name}' for name in names)} : {', '.join(types[name] for name in names)}\n}}\n", names)


def check(seed, folder):
    rng = np.random.default_rng(seed)
    layer, element = Layer(rng), str(rng.choice(ELEMENTS))
    text, names = layer.text(element)
    given = [(name, element, elements.encode(element, rng.normal(size=shape)) if element[0] != "i"
              else rng.integers(-9, 9, shape).astype(np.int32)) for name, shape in zip("xwg", layer.shapes())]
    targets = {**runner.everywhere(rng), **{label: [*options, "--numerics=reproducible"] for label, options in VARIANTS.items()}}
    yield from runner.other_bits(folder, text, given, [(name, element) for name in names], targets)


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random layers of convolutions", check, COUNT))
