#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of 8- and 16-bit floats in `strict` on the emulated GPU: random layouts and sizes, and elementwise
operations, sums and views that read the product. Fused and unfused programs, all tiles and all chips give the same
bits. Each product is within its bound of NumPy's, and one whose K has several blocks has the ascending order of tensor
cores. Sums that are promoted to f32, those of 8-bit floats and others where the program says so, are as NumPy
computes them. Closes with
`strict products: N run, N failed`."""

import math
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
from split_products import PROMOTE, chain_of  # noqa: E402

TYPES = ("f16", "bf16", "f8E4M3FN", "f8E5M2")
CHIPS = ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100")
VARIANTS = {"one fusion for each operation": ["--fuse", "single"], "layers": ["--fuse", "layers"], "-O0": ["-O0"],
            "tile 64x64": ["--tile", "64x64"], "tile 128x128": ["--tile", "128x128"],
            **{chip: ["--chip", chip] for chip in CHIPS}}


class Program(ProgramText):
    def operand(self, element, shape):
        """An argument, or a cast of one, which the kernel may make while it stages the operand."""
        if self.rng.random() < 0.6:
            return self.argument(element, shape)[0]
        wide = self.argument("f32", shape)[0]
        return self.add(f"ad.cast {wide} : {tensor('f32', shape)} -> {tensor(element, shape)}", shape, element)[0]

    def free_sizes(self):
        """The sizes of one to three free axes."""
        size = int(self.rng.choice([1, 3, 8, 16, 24, 33, 65]))
        return [int(self.rng.choice([1, 2, 3])) for _ in range(int(self.rng.choice([0, 0, 1, 2])))] + [size]

    def product(self):
        """Of operands whose axes have any order, with one to three free axes each and up to one batch axis."""
        rng = self.rng
        k = int(rng.choice([1, 7, 16, 24, 40, 65, 600, 1030]))
        batch = [int(rng.choice([2, 3]))] if rng.random() < 0.25 else []
        left = str(rng.choice(TYPES))
        right = str(rng.choice(TYPES[2:])) if left.startswith("f8") else left
        sides, kinds, free_shape = [], [], []
        for element in (left, right):
            free = [("f", size) for size in self.free_sizes()]
            axes = [("b", size) for size in batch] + free + [("k", k)]
            if rng.random() < 0.5:
                axes = [axes[i] for i in rng.permutation(len(axes))]
            elif rng.random() < 0.5:
                axes = [("k", k)] + axes[:-1]
            shape = tuple(size for _, size in axes)
            free_shape += [size for name, size in axes if name == "f"]
            sides.append(([name for name, _ in axes], self.operand(element, shape)))
            kinds.append(tensor(element, shape))
        at = {name: [names.index(name) for names, _ in sides] for name in ("bk" if batch else "k")}
        axes = f"contract [{at['k'][0]}] x [{at['k'][1]}]"
        if batch:
            axes = f"batch [{at['b'][0]}] x [{at['b'][1]}] {axes}"
        shape, result = (*batch, *free_shape), str(rng.choice([left, "f32"]))
        return self.add(f"ad.dot {sides[0][1]}, {sides[1][1]} {axes} : ({', '.join(kinds)}) -> {tensor(result, shape)}",
                        shape, result)

    def read(self, value):
        """One more operation on a value that depends on the product."""
        name, shape, element = value
        own, rng = tensor(element, shape), self.rng
        kind = rng.integers(8)
        if kind == 0:
            last = shape[int(rng.integers(len(shape))):]
            bias, _, _ = self.argument(element, last)
            return self.add(f"ad.add {name}, {bias} : {own}, {tensor(element, last)}", shape, element)
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


def saved(folder, element, array, name):
    elements.save(folder / f"{name}.npy", element, array)
    return f"--arg={name}={folder / name}.npy"


def ascending(element, folder):
    """K has two blocks of the canonical order; steps of the instruction continue one chain, or the chain of their
    promotion (docs/emulator.md)."""
    k = 1030
    text = (f'func.func @main(%a: tensor<16x{k}x{element}> {{ad.name = "a"}}, %b: tensor<{k}x8x{element}> '
            f'{{ad.name = "b"}}) -> tensor<16x8xf32> {{\n  %0 = ad.dot %a, %b : (tensor<16x{k}x{element}>, '
            f'tensor<{k}x8x{element}>) -> tensor<16x8xf32>\n  return %0 : tensor<16x8xf32>\n}}\n')
    rng = np.random.default_rng(5)
    # Products of E4M3 that are all about 1 have exact sums.
    arrays = {name: elements.encode(element, rng.normal(size=shape) * np.exp2(rng.integers(-6, 6, shape)))
              for name, shape in (("a", (16, k)), ("b", (k, 8)))}
    given = [saved(folder, element, array, name) for name, array in arrays.items()]
    a, b = (elements.decode(element, array).astype(np.float32) for array in arrays.values())
    chain = chain_of(a, b, PROMOTE if element.startswith("f8") else 0)
    found = runner.run(text, given, [("res0", "f32")], ["--target", "gpu-sim", "--numerics", "strict"])["res0"]
    if found.tobytes() != chain.tobytes():
        yield f"{element}: strict does not have the ascending order"
    written = runner.run(text, given, [("res0", "f32")], ["--target", "gpu-sim", "--numerics", "reproducible"])["res0"]
    if written.tobytes() == chain.tobytes():
        yield f"{element}: the two orders have the same bits, so this test shows nothing"
    if element.startswith("f8") and chain_of(a, b).tobytes() == chain.tobytes():
        yield f"{element}: one chain has the same bits, so this test shows nothing"


def random_types(rng):
    """The types of both operands, and how often a program has their sums promoted; 0 if it does not say."""
    left = str(rng.choice(TYPES))
    if left.startswith("f8"):
        return [left, str(rng.choice(TYPES[2:]))], int(rng.choice([0, 32, 64, 96, 160, 256]))
    return [left, left], int(rng.choice([0, 16, 48, 64, 128, 272]))


def instruction(element, promote):
    return f"ad.instruction = #ad.instruction<m = 16, n = 8, k = {32 if element.startswith('f8') else 16}, promote = {promote}>"


def promoted(seed, folder):
    """Floats of random types, layouts and sizes, some dynamic, with a promotion that the pass or the program chooses:
    the bits are those of NumPy on chips with and without products of 8-bit floats."""
    rng = np.random.default_rng(seed)
    m, n, k = (int(rng.choice(sizes)) for sizes in (
        (1, 5, 16, 70), (1, 8, 24, 130), (1, 7, 31, 33, 64, 127, 129, 300, 520)))
    batch = int(rng.choice([0, 0, 2]))
    types, written = random_types(rng)
    dynamic = rng.random() < 0.3
    given, kinds, order, wide = [], [], [], []
    for name, free, element in (("a", m, types[0]), ("b", n, types[1])):
        axes = [("b", batch)] * bool(batch) + ([("m", m), ("k", k)] if name == "a" else [("k", k), ("n", n)])
        axis_order = rng.permutation(len(axes))
        shape = [size for _, size in axes]
        array = elements.encode(element, rng.normal(size=shape) * np.exp2(rng.integers(-6, 6, shape)))
        wide.append(elements.decode(element, array).astype(np.float32))
        given.append(saved(folder, element, np.ascontiguousarray(array.transpose(axis_order)), name))
        order.append([axes[i][0] for i in axis_order])
        kinds.append(tensor(element, ["?" if dynamic else axes[i][1] for i in axis_order]))
    at = {axis: [names.index(axis) for names in order] for axis in ("bk" if batch else "k")}
    pairs = " ".join(f"{what} [{at[axis][0]}] x [{at[axis][1]}]" for what, axis in (("batch", "b"), ("contract", "k"))
                     if axis in at)
    result = tensor("f32", ["?" if dynamic else size for size in ((batch,) if batch else ()) + (m, n)])
    attribute = f" {{{instruction(types[0], written)}}}" if written else ""
    text = (f'func.func @main(%a: {kinds[0]} {{ad.name = "a"}}, %b: {kinds[1]} {{ad.name = "b"}}) -> {result} {{\n'
            f"  %0 = ad.dot %a, %b {pairs}{attribute} : ({', '.join(kinds)}) -> {result}\n  return %0 : {result}\n}}\n")
    promote = written or PROMOTE * types[0].startswith("f8")
    expected = chain_of(*wide, promote)
    # In `fast`, too, a kernel has the instruction that the program writes.
    for mode in ("strict", "fast") if written else ("strict",):
        for chip in (CHIPS[0], str(rng.choice(CHIPS[1:]))):
            options = ["--target", "gpu-sim", "--numerics", mode, "--chip", chip]
            found = runner.run(text, given, [("res0", "f32")], options)
            if found["res0"].tobytes() != expected.tobytes():
                yield f"seed {seed}, {mode}, {chip}: the sums are not promoted every {promote}\n{text}"


def rewritten(seed, folder):
    """Rewrites of a product keep the promotion that the program writes: of transposed operands and results, and of two
    contracted axes, simplified or not."""
    rng = np.random.default_rng(seed)
    m, n, outer, inner = (int(rng.choice(sizes)) for sizes in ((5, 16), (8, 24), (4, 10), (32, 51)))
    (element, _), written = random_types(rng)
    written = written or 64
    shapes = {"a": (outer, inner, m), "b": (outer, inner, n)}
    arrays = {name: elements.encode(element, rng.normal(size=shape) * np.exp2(rng.integers(-6, 6, shape)))
              for name, shape in shapes.items()}
    given = [saved(folder, element, array, name) for name, array in arrays.items()]
    a, b = (elements.decode(element, array).astype(np.float32).reshape(outer * inner, -1) for array in arrays.values())
    kinds = [tensor(element, shape) for shape in shapes.values()]
    moved, product, result = tensor(element, (m, outer, inner)), tensor("f32", (m, n)), tensor("f32", (n, m))
    text = (f'func.func @main(%a: {kinds[0]} {{ad.name = "a"}}, %b: {kinds[1]} {{ad.name = "b"}}) -> {result} {{\n'
            f"  %t = ad.transpose %a [2, 0, 1] : {kinds[0]}\n"
            f"  %p = ad.dot %t, %b contract [1, 2] x [0, 1] {{{instruction(element, written)}}} "
            f": ({moved}, {kinds[1]}) -> {product}\n"
            f"  %r = ad.transpose %p [1, 0] : {product}\n  return %r : {result}\n}}\n")
    expected = np.ascontiguousarray(chain_of(np.ascontiguousarray(a.T), b, written).T)
    for mode in ("strict", "fast"):
        for more in ([], ["-O0"]):
            found = runner.run(text, given, [("res0", "f32")], ["--target", "gpu-sim", "--numerics", mode, *more])
            if found["res0"].tobytes() != expected.tobytes():
                yield f"seed {seed}, {mode} {' '.join(more)}: the sums are not promoted every {written}\n{text}"


def several_free_axes(seed, folder):
    """Operands with one to three free axes each, adjacent or apart, in any order with one or two contracted ones, some
    dynamic, and a value that is added along the last axes: tensor cores compute the sums, whatever axes the kernel
    makes one."""
    rng = np.random.default_rng(seed)
    element, k = str(rng.choice(TYPES)), int(rng.choice([7, 16, 33, 130, 600]))
    deep = {"k": k} if rng.random() < 0.5 else {"k": int(rng.choice([2, 5])), "l": k}
    letters, given, kinds, names, wide, result = "bcdefg", [], [], [], [], []
    opened = {letter for letter in letters if rng.random() < 0.2}
    for name, own in (("a", letters[:3]), ("b", letters[3:])):
        sizes = {letter: int(rng.choice([1, 2, 3, 8, 12])) for letter in own[:int(rng.integers(1, 4))]} | deep
        if len(deep) > 1:
            sizes[own[0]] = 16  # so that a transposition of the other operand pays
        axes = [list(sizes)[i] for i in rng.permutation(len(sizes))]
        if rng.random() < 0.5:
            axes = sorted(axes, key=lambda letter: letter in deep) if rng.random() < 0.5 else sorted(axes)[::-1]
        array = elements.encode(element, rng.normal(size=[sizes[letter] for letter in axes]))
        given.append(saved(folder, element, array, name))
        kinds.append(tensor(element, ["?" if letter in opened else sizes[letter] for letter in axes]))
        names.append(axes)
        free = [letter for letter in axes if letter not in deep]
        result += [(letter, sizes[letter]) for letter in free]
        order = [axes.index(letter) for letter in (free + [*deep] if name == "a" else [*deep] + free)]
        matrix, count = elements.decode(element, array).astype(np.float32).transpose(order), math.prod(deep.values())
        wide.append(matrix.reshape((-1, count) if name == "a" else (count, -1)))
    shape = tuple(size for _, size in result)
    last = [1 if letter in opened else size for letter, size in result[int(rng.integers(len(result))):]]
    added = rng.normal(size=last).astype(np.float32)
    given.append(saved(folder, "f32", added, "c"))
    kinds += [tensor("f32", last), tensor("f32", ["?" if letter in opened else size for letter, size in result])]
    # Written, since the compiler may divide a long K into several chains (divided_products_test.py).
    promote = PROMOTE if element.startswith("f8") else 0
    text = (f'func.func @main(%a: {kinds[0]} {{ad.name = "a"}}, %b: {kinds[1]} {{ad.name = "b"}}, '
            f'%c: {kinds[2]} {{ad.name = "c"}}) -> {kinds[3]} {{\n'
            f"  %0 = ad.dot %a, %b contract {' x '.join(str([axes.index(i) for i in deep]) for axes in names)} "
            f"{{{instruction(element, promote)}}} : ({kinds[0]}, {kinds[1]}) -> {kinds[3]}\n"
            f"  %1 = ad.add %0, %c : {kinds[3]}, {kinds[2]}\n  return %1 : {kinds[3]}\n}}\n")
    expected = chain_of(*wide, promote).reshape(shape) + added
    options = ["--target", "gpu-sim", "--numerics", "strict", "--chip", str(rng.choice(CHIPS))]
    for more in ([], ["--fuse", "single"]):
        found = runner.run(text, given, [("res0", "f32")], options + more)
        if found["res0"].tobytes() != expected.tobytes():
            yield f"seed {seed}, {' '.join(more)}: the sums are not those of tensor cores\n{text}"


def check(seed, folder):
    """The order of one type, promoted sums, several free axes, and a random program."""
    yield from ascending(TYPES[seed % len(TYPES)], folder)
    yield from promoted(seed, folder)
    yield from rewritten(seed, folder)
    yield from several_free_axes(seed, folder)
    yield from fused_and_unfused(seed, folder)


if __name__ == "__main__":
    sys.exit(checks.run_seeds("strict products", check, count=8))
