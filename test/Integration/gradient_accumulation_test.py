# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradients of a batch that is computed in parts: if each part but the last has 512 examples times a power of two, a
sum over the parts with the order <block = 1> gives the bits of the gradient of the whole batch, for weights, biases and
norms, on every target. Parts of other sizes give other bits."""

import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402
from elements import tensor  # noqa: E402

TARGETS = {
    "the reference": ["--target=reference"],
    "the CPU": ["--threads=3"],
    "AVX2 in small tiles": ["--cpu=x86-64-v3", "--tiles=small", "--threads=2"],
    "no FMA": ["--cpu=x86-64"],
}
GPU = {"the emulated GPU": ["--target=gpu-sim", "--no-race-detection", "--threads=2"]}
MAX_EMULATED = 1200  # examples of a batch on the emulated GPU
INPUTS, HIDDEN, CLASSES = 5, 17, 3
WEIGHTS = {"w": (INPUTS, HIDDEN), "b": (HIDDEN,), "scale": (HIDDEN,), "shift": (HIDDEN,), "v": (HIDDEN, CLASSES)}
# The examples of a batch and of a part.
EXACT = [(1024, 512), (1025, 512), (2048, 1024), (2500, 512), (4700, 2048)]
OTHER = [(1024, 256), (1536, 768), (1200, 500)]


class Split:
    def __init__(self, element, examples, part):
        self.element, self.examples = element, examples
        self.parts = [(first, min(part, examples - first)) for first in range(0, examples, part)]

    def types(self, size):
        """Of the weights, the examples and their classes."""
        weights = [tensor(self.element, shape) for shape in WEIGHTS.values()]
        return [*weights, tensor(self.element, (size, INPUTS)), tensor("i32", (size,))]

    def loss(self, size):
        """The share of so many examples in the mean over the batch."""
        names = [*WEIGHTS, "x", "classes"]
        inputs = ", ".join(f"%{name}: {kind}" for name, kind in zip(names, self.types(size)))
        scalar, rows = tensor(self.element, ()), tensor(self.element, (size,))
        x, h, y = (tensor(self.element, (size, width)) for width in (INPUTS, HIDDEN, CLASSES))
        w, b, _, _, v = (tensor(self.element, shape) for shape in WEIGHTS.values())
        return f"""func.func private @loss{size}({inputs}) -> {scalar} {{
  %0 = ad.dot %x, %w : ({x}, {w}) -> {h}
  %1 = ad.add %0, %b : {h}, {b}
  %2 = ad.layer_norm %1, %scale, %shift epsilon 1.0e-5 : {h}, {b}
  %3 = ad.tanh %2 : {h}
  %4 = ad.dot %3, %v : ({h}, {v}) -> {y}
  %5 = ad.cross_entropy %4, %classes : {y}, {tensor("i32", (size,))} -> {rows}
  %6 = ad.reduce_sum %5 axes [0] : {rows} -> {scalar}
  %examples = ad.constant dense<{self.examples}.0> : {scalar}
  %7 = ad.div %6, %examples : {scalar}
  return %7 : {scalar}
}}
"""

    def gradient(self, name, size, x, classes):
        """The lines that compute the gradients %NAME#0, … of some examples."""
        weights, scalar = self.types(size)[:-2], tensor(self.element, ())
        operands = ", ".join([*(f"%{weight}" for weight in WEIGHTS), x, classes])
        return (f"  %{name}_loss, %{name}:{len(WEIGHTS)} = ad.value_and_grad @loss{size}({operands}) "
                f"wrt {list(range(len(WEIGHTS)))}\n"
                f"      : ({', '.join(self.types(size))}) -> ({scalar}, {', '.join(weights)})\n")

    def part(self, number, first, size):
        x, classes = self.types(self.examples)[-2:]
        part_x, part_classes = self.types(size)[-2:]
        return (f"  %x{number} = ad.slice %x [{first}, 0] strides [1, 1] : {x} -> {part_x}\n"
                f"  %c{number} = ad.slice %classes [{first}] strides [1] : {classes} -> {part_classes}\n"
                + self.gradient(f"g{number}", size, f"%x{number}", f"%c{number}"))

    def join(self, number, shape):
        """The sum of one gradient over the parts: a tree over a stack of them."""
        kind, row = tensor(self.element, shape), tensor(self.element, (1, *shape))
        count = len(self.parts)
        rows = "".join(f"  %r{number}_{i} = ad.reshape %g{i}#{number} : {kind} -> {row}\n" for i in range(count))
        stack = tensor(self.element, (count, *shape))
        order = "{order = #ad.order<block = 1>}"
        return (f"{rows}  %s{number} = ad.concat axis 0 {', '.join(f'%r{number}_{i}' for i in range(count))} : "
                f"{', '.join([row] * count)}\n"
                f"  %j{number} = ad.reduce_sum %s{number} axes [0] {order} : {stack} -> {kind}\n")

    def text(self):
        names = [*WEIGHTS, "x", "classes"]
        inputs = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}'
                           for name, kind in zip(names, self.types(self.examples)))
        kinds = self.types(self.examples)[:-2] * 2
        results = ", ".join(f'{kind} {{ad.name = "{name}"}}' for kind, (name, _) in zip(kinds, self.results()))
        sizes = dict.fromkeys([self.examples, *(size for _, size in self.parts)])
        body = "".join(self.part(i, *part) for i, part in enumerate(self.parts))
        body += "".join(self.join(i, shape) for i, shape in enumerate(WEIGHTS.values()))
        returned = [f"%{kind}{i}" for kind in ("whole#", "j") for i in range(len(WEIGHTS))]
        return (f"{''.join(map(self.loss, sizes))}func.func @main({inputs}) -> ({results}) {{\n"
                f"{self.gradient('whole', self.examples, '%x', '%classes')}{body}"
                f"  return {', '.join(returned)} : {', '.join(kinds)}\n}}\n")

    def results(self):
        return [(f"{kind}_{name}", self.element) for kind in ("whole", "joined") for name in WEIGHTS]

    def arguments(self, folder):
        rng = np.random.default_rng(self.examples)
        arrays = {name: rng.standard_normal(shape) for name, shape in WEIGHTS.items()}
        arrays["x"] = rng.standard_normal((self.examples, INPUTS))
        for name, array in arrays.items():
            elements.save(folder / f"{name}.npy", self.element, elements.encode(self.element, array))
        np.save(folder / "classes.npy", rng.integers(CLASSES, size=self.examples).astype(np.int32))
        return [f"--arg={name}={folder / name}.npy" for name in (*arrays, "classes")]


def check(split, exact, folder):
    first = None
    for target, options in {**TARGETS, **(GPU if split.examples <= MAX_EMULATED else {})}.items():
        found = runner.run(split.text(), split.arguments(folder), split.results(),
                           [*options, "--numerics=reproducible"])
        first = first or found
        differing = [name for name in WEIGHTS if found[f"whole_{name}"].tobytes() != found[f"joined_{name}"].tobytes()]
        if bool(differing) == exact:
            yield f"on {target}: the gradients of {differing} differ from those of the whole batch"
        if any(first[name].tobytes() != found[name].tobytes() for name in first):
            yield f"on {target}: other bits than on the reference"


def main():
    cases = [(element, *sizes, exact) for exact, list_of_sizes in ((True, EXACT), (False, OTHER))
             for number, sizes in enumerate(list_of_sizes) for element in (("f32", "f64") if number == 1 else ("f32",))]
    return checks.run_checks("gradient accumulation", [
        (f"{element}, {examples} examples in parts of {part}",
         functools.partial(check, Split(element, examples, part), exact))
        for element, examples, part, exact in checks.sample(cases, 4)])


if __name__ == "__main__":
    sys.exit(main())
