#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random products with a long K and few tiles on the emulated GPU (decision 0050). FMAs give the bits of the reference
interpreter, however K is divided. Tensor cores give those of chains that a balanced pairwise tree joins, as Python adds
them. Layouts, epilogues, numbers of rows and columns, and which sizes are open are drawn; static ones must be divided."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 60
EXTENTS = (1, 2, 3, 7, 8, 15, 16, 17, 33, 64, 65, 100, 130, 200, 257)
LENGTHS = (513, 640, 1023, 1024, 1025, 1100, 1536, 2047, 2050, 2600, 4100, 9000)
FMA_TYPES = {"f32": ("f32",), "bf16": ("f32", "bf16"), "f16": ("f16",), "f64": ("f64",), "f8E4M3FN": ("f32",)}
EPILOGUES = ("", "%r = ad.relu %y : {y}", "%r = ad.add %y, %c : {y}, {c}", "%r = ad.mul %y, %y : {y}")


class Product:
    """A product with drawn sizes and layouts: %y = a · b, and what follows it."""

    def __init__(self, rng, element, result):
        self.element, self.result = element, result
        self.batch = int(rng.choice([0, 0, 0, 2, 3]))
        self.m, self.n = (int(rng.choice(EXTENTS)) for _ in range(2))
        self.k = int(rng.choice(LENGTHS))
        self.transposed = rng.random(2) < 0.5  # K comes first in a, last in b
        self.open = set("mnk") if rng.random() < 0.2 else {axis for axis in "mnk" if rng.random() < 0.15}
        self.epilogue = str(rng.choice(EPILOGUES))
        # Enough numbers of both signs cancel, and some products are zeros of either sign.
        self.a, self.b = (elements.random(rng, element, shape) for shape in self.shapes()[:2])
        self.c = elements.random(rng, result, (self.n,))

    def shapes(self):
        batch = (self.batch,) if self.batch else ()
        a = (self.k, self.m) if self.transposed[0] else (self.m, self.k)
        b = (self.n, self.k) if self.transposed[1] else (self.k, self.n)
        return batch + a, batch + b, batch + (self.m, self.n)

    def types(self):
        names = [("km" if self.transposed[0] else "mk"), ("nk" if self.transposed[1] else "kn"), "mn"]
        kinds = (self.element, self.element, self.result)
        shapes = ["x".join([str(self.batch)] * bool(self.batch)
                           + ["?" if axis in self.open else str(getattr(self, axis)) for axis in axes])
                  for axes in names]
        bias = "?" if "n" in self.open else self.n
        return [f"tensor<{shape}x{kind}>" for shape, kind in zip(shapes, kinds)] + [f"tensor<{bias}x{self.result}>"]

    def text(self, attributes=""):
        a, b, y, c = self.types()
        first = int(bool(self.batch))
        batch = "batch [0] x [0] " if self.batch else ""
        contract = f"contract [{first + 1 - self.transposed[0]}] x [{first + self.transposed[1]}]"
        last = "%r" if self.epilogue else "%y"
        return (f'func.func @main(%a: {a} {{ad.name = "a"}}, %b: {b} {{ad.name = "b"}}, %c: {c} {{ad.name = "c"}}) -> '
                f'({y} {{ad.name = "r"}}) {{\n'
                f"  %y = ad.dot %a, %b {batch}{contract} {attributes}: ({a}, {b}) -> {y}\n"
                f"  {self.epilogue.format(y=y, c=c)}\n  return {last} : {y}\n}}\n")

    def save(self, folder):
        """Writes the arguments; the options that pass them."""
        for name, element, array in self.arguments():
            elements.save(folder / f"{name}.npy", element, array)
        return [f"--arg={name}={folder / name}.npy" for name in "abc"]

    def arguments(self):
        return [("a", self.element, self.a), ("b", self.element, self.b), ("c", self.result, self.c)]


def remarks(text, numerics, options=""):
    """The remarks of kernels."""
    passes = [f"--ad-to-gpu-frontend=numerics={numerics} {options}", "--ad-to-gpu-fusion", "--ad-to-gpu-kernels", "--ad-emit-gpu"]
    done = subprocess.run([runner.binary("ad-opt"), "-", *passes, "--remarks-filter=ad-gpu", "-o", os.devnull],
                          input=text, capture_output=True, text=True, check=True)
    return done.stderr


def check_fma(rng, folder):
    element = str(rng.choice(list(FMA_TYPES)))
    product = Product(rng, element, str(rng.choice(FMA_TYPES[element])))
    text = product.text()
    if not product.open and "divided-reduction" not in remarks(text, "reproducible"):
        yield f"is not divided:\n{text}"
    targets = {"gpu-sim": ["--target=gpu-sim", "--numerics=reproducible"]}
    for label, name, expected, found in runner.match_reference(folder, text, product.arguments(),
                                                               [("r", product.result)], targets):
        if not elements.same_bits(product.result, expected, found).all():
            yield f"{label}: other bits than the reference in {text}"


def tree(parts):
    """Neighbours are joined, level by level; one that is left over goes up as it is."""
    while len(parts) > 1:
        parts = [parts[i] + parts[i + 1] if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


def chain(a, b, begin, end):
    """The products from `begin` to before `end`, added in ascending order to +0, in f32. They are exact."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(begin, end):
        total = total + a[:, k:k + 1] * b[k:k + 1]
    return total


def promoted(a, b, begin, end, promote):
    """Each sum of so many products is added to those before it."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for first in range(begin, end, promote):
        total = total + chain(a, b, first, min(first + promote, end))
    return total


def chains(a, b, length, promote):
    """a · b of [m, k] and [k, n]: a tree over chains, whose sums are promoted unless `promote` is 0."""
    ends = [(begin, min(begin + length, a.shape[1])) for begin in range(0, a.shape[1], length)]
    return tree([promoted(a, b, *part, promote) if promote else chain(a, b, *part) for part in ends])


def check_tensor_cores(rng, folder):
    product = Product(rng, str(rng.choice(["bf16", "f16", "f8E4M3FN", "f8E5M2"])), "f32")
    product.epilogue = ""
    # Small enough that f32 holds each product of two of them.
    product.a, product.b = (elements.encode(product.element, rng.integers(-60, 60, shape) * 2.0 ** rng.integers(-4, 4, shape))
                            for shape in product.shapes()[:2])
    is_byte = product.element.startswith("f8")
    promote = 128 if is_byte else int(rng.choice([0, 64, 128]))
    length = 512 * int(rng.integers(1, 4)) if promote != 128 * is_byte or rng.random() < 0.5 else None
    step = f"k = {32 if is_byte else 16}, promote = {promote}"
    attributes = f"{{ad.instruction = #ad.instruction<m = 16, n = 8, {step}, chain = {length}>}} " if length else ""
    text = product.text(attributes)
    said = remarks(text, "strict")
    chosen = re.search(r"tensor-cores .*chain=(\d+)", said)
    if length and (not chosen or int(chosen[1]) != length):
        yield f"the written chain is not used:\n{said}\n{text}"
    length = int(chosen[1]) if chosen else product.k
    if not product.open and product.k > length and "divided-reduction" not in said:
        yield f"is not divided:\n{text}"
    given = product.save(folder)
    found = runner.run(text, given, [("r", "f32")], ["--target=gpu-sim", "--numerics=strict"])["r"]
    a, b = (elements.decode(product.element, array).astype(np.float32) for array in (product.a, product.b))
    a = np.swapaxes(a, -1, -2) if product.transposed[0] else a
    b = np.swapaxes(b, -1, -2) if product.transposed[1] else b
    each = zip(a, b) if product.batch else [(a, b)]
    expected = np.stack([chains(left, right, length, promote) for left, right in each]).reshape(found.shape)
    if not elements.same_bits("f32", expected, found).all():
        yield f"other bits than chains of {length}, promoted every {promote}: {text}"


def check_split_floats(rng, folder):
    """f32 as a sum of bf16 numbers, whose products tensor cores sum in chains: within the bounds of docs/named-kernels.md."""
    product = Product(rng, "f32", "f32")
    product.epilogue, product.open, product.k = "", set(), int(rng.choice([2600, 4100]))
    product.a, product.b = (elements.random(rng, "f32", shape) for shape in product.shapes()[:2])
    kernel = str(rng.choice(["bf16x3", "bf16x6"]))
    numerics = "strict,narrow" if kernel == "bf16x3" else "strict"
    text = product.text()
    if "divided-reduction" not in remarks(text, numerics, f"kernels=dot={kernel}"):
        yield f"{kernel} is not divided: {text}"
    given = product.save(folder)
    found = runner.run(text, given, [("r", "f32")], ["--target=gpu-sim", f"--numerics={numerics}", f"--kernel=dot={kernel}"])["r"]
    a = np.swapaxes(product.a, -1, -2) if product.transposed[0] else product.a
    b = np.swapaxes(product.b, -1, -2) if product.transposed[1] else product.b
    exact, magnitude = (np.matmul(f(a.astype(np.float64)), f(b.astype(np.float64))) for f in (np.array, np.abs))
    roundings = 1.04 * (2.5 * min(product.k, 128) + -(-product.k // 128)) + 4
    bound = magnitude * (roundings * 2.0**-24 + (2.0**-15 + 2.0**-21) * (kernel == "bf16x3"))
    if not (np.abs(found - exact) <= bound).all():
        yield f"{kernel} is off by {np.max(np.abs(found - exact) / bound)} of the bound: {text}"


def check(seed, folder):
    rng = np.random.default_rng(seed)
    if seed % 10 == 9:
        return check_split_floats(rng, folder)
    return (check_tensor_cores if seed % 3 == 0 else check_fma)(rng, folder)


if __name__ == "__main__":
    sys.exit(checks.run_seeds("divided products", check, COUNT))
