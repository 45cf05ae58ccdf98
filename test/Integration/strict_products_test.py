#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of 8- and 16-bit floats in `strict` on the emulated GPU: random layouts and sizes, and elementwise
operations, sums and views that read the product. Fused and unfused programs, all tiles and all chips give the same
bits. Each product is within its bound of NumPy's, and one whose K has several blocks has the ascending order of tensor
cores. Closes with `strict products: N run, N failed`."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402
from elements import tensor  # noqa: E402
from program_text import ProgramText  # noqa: E402

TYPES = ("f16", "bf16", "f8E4M3FN", "f8E5M2")
CHIPS = ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100")
VARIANTS = {"one fusion for each operation": ["--fuse", "single"], "layers": ["--fuse", "layers"], "-O0": ["-O0"],
            "tile 64x64": ["--tile", "64x64"], "tile 128x128": ["--tile", "128x128"],
            **{chip: ["--chip", chip] for chip in CHIPS}}


class Program(ProgramText):
    def product(self):
        """Of operands whose axes have any order, with up to one batch axis."""
        rng = self.rng
        m, n = (int(rng.choice([1, 3, 8, 16, 24, 33, 65])) for _ in range(2))
        k = int(rng.choice([1, 7, 16, 24, 40, 65, 600, 1030]))
        batch = int(rng.choice([0, 0, 0, 2]))
        left = str(rng.choice(TYPES))
        right = str(rng.choice(TYPES[2:])) if left.startswith("f8") else left
        sides, kinds = [], []
        for free, element in ((m, left), (n, right)):
            axes = ([("b", batch)] if batch else []) + [("f", free), ("k", k)]
            axes = [axes[i] for i in rng.permutation(len(axes))]
            shape = tuple(size for _, size in axes)
            sides.append(([name for name, _ in axes], self.argument(element, shape)[0]))
            kinds.append(tensor(element, shape))
        at = {name: [names.index(name) for names, _ in sides] for name in ("bk" if batch else "k")}
        axes = f"contract [{at['k'][0]}] x [{at['k'][1]}]"
        if batch:
            axes = f"batch [{at['b'][0]}] x [{at['b'][1]}] {axes}"
        shape, result = ((batch,) if batch else ()) + (m, n), str(rng.choice([left, "f32"]))
        return self.add(f"ad.dot {sides[0][1]}, {sides[1][1]} {axes} : ({', '.join(kinds)}) -> {tensor(result, shape)}",
                        shape, result)

    def read(self, value):
        """One more operation on a value that depends on the product."""
        name, shape, element = value
        own, rng = tensor(element, shape), self.rng
        kind = rng.integers(8)
        if kind == 0:
            bias, _, _ = self.argument(element, shape[-1:])
            return self.add(f"ad.add {name}, {bias} : {own}, {tensor(element, shape[-1:])}", shape, element)
        if kind == 1:
            return self.add(f"ad.relu {name} : {own}", shape, element)
        if kind == 2:
            whole = shape[:-1] + (shape[-1] + 2,)
            source, _, _ = self.argument(element, whole[:-2] + (whole[-1], whole[-2]))
            swapped = list(range(len(shape) - 2)) + [len(shape) - 1, len(shape) - 2]
            turned = self.add(f"ad.transpose {source} {swapped} : {tensor(element, whole[:-2] + (whole[-1], whole[-2]))}",
                              whole, element)
            part = self.add(f"ad.slice {turned[0]} {[0] * (len(shape) - 1) + [2]} strides {[1] * len(shape)} : "
                            f"{tensor(element, whole)} -> {own}", shape, element)
            return self.add(f"ad.mul {name}, {part[0]} : {own}", shape, element)
        if kind == 3:
            column = shape[:-1] + (1,)
            source, _, _ = self.argument(element, column)
            scale = self.add(f"ad.neg {source} : {tensor(element, column)}", column, element)
            return self.add(f"ad.mul {name}, {scale[0]} : {own}, {tensor(element, column)}", shape, element)
        if kind == 4 or kind == 5:
            axis = len(shape) - 1 if kind == 4 else len(shape) - 2
            rest = shape[:axis] + shape[axis + 1:]
            self.results.append(self.add(f"ad.reduce_sum {name} axes [{axis}] : {own} -> {tensor(element, rest)}", rest,
                                         element))
            return value
        if kind == 6:
            order = list(range(len(shape) - 2)) + [len(shape) - 1, len(shape) - 2]
            turned = shape[:-2] + (shape[-1], shape[-2])
            moved = self.add(f"ad.transpose {name} {order} : {own}", turned, element)
            self.results.append(self.add(f"ad.abs {moved[0]} : {tensor(element, turned)}", turned, element))
            return value
        self.results.append(value)
        return self.add(f"ad.abs {name} : {own}", shape, element)


def make(seed):
    program = Program(np.random.default_rng(seed))
    value = program.product()
    for _ in range(int(program.rng.integers(0, 5))):
        value = program.read(value)
    program.results.append(value)
    return program


def fused_and_unfused(seed, folder):
    program = make(seed)
    given = [f"--arg=a{i}=normal:{seed + i}" for i in range(len(program.arguments))]
    results = [(f"res{i}", element) for i, (_, _, element) in enumerate(program.results)]
    common = ["--target", "gpu-sim", "--numerics", "strict"]
    expected = runner.run(program.program(), given, results, common)
    exact = runner.run(program.program(), given, results, ["--target", "reference", "--numerics", "reproducible"])
    for name, element in results:
        near, found = (elements.decode(element, values[name]).astype(np.float64) for values in (exact, expected))
        largest = np.abs(near).max(initial=1)
        if not np.all(np.abs(found - near) <= 2 * 2.0 ** -elements.MANTISSA[element] * largest + 1e-4 * largest):
            yield f"seed {seed}: {name} is far from the reference\n{program.program()}"
    for label, options in VARIANTS.items():
        found = runner.run(program.program(), given, results, common + options)
        for name, _ in results:
            if found[name].tobytes() != expected[name].tobytes():
                yield f"seed {seed}, {label}: {name} has other bits\n{program.program()}"


def ascending(element, folder):
    """K has two blocks of the canonical order; steps of the instruction continue one chain (docs/emulator.md)."""
    k = 1030
    text = (f'func.func @main(%a: tensor<16x{k}x{element}> {{ad.name = "a"}}, %b: tensor<{k}x8x{element}> '
            f'{{ad.name = "b"}}) -> tensor<16x8xf32> {{\n  %0 = ad.dot %a, %b : (tensor<16x{k}x{element}>, '
            f'tensor<{k}x8x{element}>) -> tensor<16x8xf32>\n  return %0 : tensor<16x8xf32>\n}}\n')
    rng = np.random.default_rng(5)
    arrays = {name: elements.encode(element, rng.normal(size=shape)) for name, shape in
              (("a", (16, k)), ("b", (k, 8)))}
    given = []
    for name, array in arrays.items():
        elements.save(folder / f"{name}.npy", element, array)
        given.append(f"--arg={name}={folder / name}.npy")
    a, b = (elements.decode(element, array).astype(np.float32) for array in arrays.values())
    chain = np.zeros((16, 8), np.float32)
    for i in range(k):
        chain = (chain + np.outer(a[:, i], b[i])).astype(np.float32)  # the products are exact
    found = runner.run(text, given, [("res0", "f32")], ["--target", "gpu-sim", "--numerics", "strict"])["res0"]
    if found.tobytes() != chain.tobytes():
        yield f"{element}: strict does not have the ascending order"
    written = runner.run(text, given, [("res0", "f32")], ["--target", "gpu-sim", "--numerics", "reproducible"])["res0"]
    if written.tobytes() == chain.tobytes():
        yield f"{element}: the two orders have the same bits, so this test shows nothing"


def check(seed, folder):
    """The order of one type, and a random program."""
    yield from ascending(TYPES[seed % len(TYPES)], folder)
    yield from fused_and_unfused(seed, folder)


if __name__ == "__main__":
    sys.exit(checks.run_seeds("strict products", check, count=8))
