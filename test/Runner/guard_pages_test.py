#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No kernel reads or writes outside of its operands: programs run on operands that end right before an inaccessible
page, or begin right after one, and have the same results as on ordinary operands. Contractions of every kind, rows,
movements and random programs, in sizes that are no multiples of a vector, tile or panel. Closes with `guard pages: N
run, N failed`."""

import functools
import itertools
import os
import pathlib
import random
import subprocess
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Support"), str(HERE.parent / "Fuzz")]
sys.dont_write_bytecode = True
import batch  # noqa: E402
import checks  # noqa: E402
import clusters  # noqa: E402
import elements  # noqa: E402
import programs  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED", "1"))
MODES = ["reproducible", "strict", "fast"]
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 47, 63, 65, 95, 97, 127, 129, 200]
PACKED = 9 << 17  # bytes of an operand that is not read in place
WORK = 1 << 20  # multiplications of a contraction


def tensor(element, *shape):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Module:
    """Independent computations as one program."""

    def __init__(self, seed):
        self.draw, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.arguments, self.lines, self.results = [], [], []

    def argument(self, element, *shape, type=None):
        name = f"a{len(self.arguments)}"
        self.arguments.append((name, element, elements.random(self.numbers, element, shape),
                               type or tensor(element, *shape)))
        return f"%{name}", self.arguments[-1][3]

    def add(self, text, type):
        """An operation whose type is known; returns its value."""
        self.lines.append(f"  %v{len(self.lines)} = {text}\n")
        return f"%v{len(self.lines) - 1}", type

    def end(self, value):
        self.results.append(value)

    def write(self, folder):
        for name, element, array, _ in self.arguments:
            elements.save(folder / f"{name}.npy", element, array)
        arguments = ", ".join(f'%{name}: {type} {{ad.name = "{name}"}}' for name, _, _, type in self.arguments)
        values, types = (", ".join(part) for part in zip(*self.results))
        (folder
         / "program.mlir").write_text(f"func.func @main({arguments}) -> ({types}) {{\n{''.join(self.lines)}  return {values} : {types}\n}}\n")


def add_contraction(module, element, rows, columns, k, left, right, batches, unknown=False):
    """`left` and `right`: whether the contracted axis comes first. `unknown`: the number of rows is dynamic."""
    lead = [batches] if batches else []
    known = "?" if unknown or module.draw.random() < 0.3 else rows  # to the compiler
    depth = "?" if module.draw.random() < 0.3 else k
    a, at = module.argument(element, *lead, *((k, rows) if left else (rows, k)),
                            type=tensor(element, *lead, *((depth, known) if left else (known, depth))))
    b, bt = module.argument(element, *lead, *((k, columns) if right else (columns, k)),
                            type=tensor(element, *lead, *((depth, columns) if right else (columns, depth))))
    axes = f"contract [{1 - left}] x [{1 - right}]"
    if batches:
        axes = f"batch [0] x [0] contract [{2 - left}] x [{2 - right}]"
    out = tensor(element, *lead, known, columns)
    value = module.add(f"ad.dot {a}, {b} {axes} : ({at}, {bt}) -> {out}", out)
    if elements.is_float(element) and module.draw.random() < 0.5:
        bias, bias_type = module.argument(element, columns)
        value = module.add(f"ad.add {value[0]}, {bias} : {out}, {bias_type}", out)
        value = module.add(f"ad.relu {value[0]} : {out}", out)
    module.end(value)


def contractions(seed, element, large):
    module = Module(seed)
    draw = module.draw
    for left, right in itertools.product([False, True], repeat=2):
        if large:  # beyond the caches
            sizes = draw.choice([1, 5, 12, 33]), draw.choice([257, 511, 515, 700]), draw.choice([258, 301, 514, 1023])
            add_contraction(module, element, *sizes, left, right, 0)
            # A dynamic number of rows, smaller than a tile: a panel is packed before the first tile and not during
            # it.
            columns = draw.choice([257, 515, 1031])
            k = PACKED // (columns * elements.STORAGE[element]().itemsize) + draw.choice([1, 2, 3])
            add_contraction(module, element, draw.choice([1, 3, 5]), columns, k, left, right, 0, unknown=True)
            # Rows that two threads share: neither has as many as a tile.
            add_contraction(module, element, draw.choice([9, 11, 13]), columns, k, left, right, 0)
            continue
        # What is packed: panels of columns, vectors along K, and pairs of them, for several rows.
        add_contraction(module, element, draw.choice([4, 5, 12, 33]), draw.choice([17, 33, 47, 65]),
                        draw.choice([6, 8, 30, 46, 66]), left, right, 0)
        sizes = [WORK + 1]
        while np.prod(sizes) > WORK:
            sizes = [draw.choice(SIZES) for _ in range(3)]
        add_contraction(module, element, *sizes, left, right, draw.choice([0, 0, 1, 3]))
    return module


def rows_and_movements(seed, element):
    module = Module(seed)
    draw = module.draw
    for kind in ("softmax", "sum", "sum of columns", "cumsum", "transpose", "slice", "strided", "concat", "elementwise",
                 "broadcast", "reverse"):
        rows, columns = draw.choice(SIZES), draw.choice(SIZES)
        if kind == "strided":  # whole vectors, the last of which ends with the last element of the argument
            stride, count = draw.choice([2, 3, 5, 8]), draw.choice([16, 32, 48])
            first = draw.randrange(stride)
            columns = first + (count - 1) * stride + 1
        x, type = module.argument(element, rows, columns)
        if kind == "softmax":
            module.end(module.add(f"ad.softmax {x} axis 1 : {type}", type))
        elif kind.startswith("sum"):
            axis, size = (1, rows) if kind == "sum" else (0, columns)
            module.end(module.add(f"ad.reduce_sum {x} axes [{axis}] : {type} -> {tensor(element, size)}",
                                  tensor(element, size)))
        elif kind == "cumsum":
            module.end(module.add(f"ad.{draw.choice(['cumsum', 'cumprod', 'cummax'])} {x} axis {draw.randrange(2)} : {type}", type))
        elif kind == "transpose":
            turned = tensor(element, columns, rows)
            module.end(module.add(f"ad.transpose {x} [1, 0] : {type}", turned))
        elif kind == "slice":
            part = tensor(element, (rows + 1) // 2, columns)
            module.end(module.add(f"ad.slice {x} [0, 0] strides [2, 1] : {type} -> {part}", part))
        elif kind == "strided":
            part = tensor(element, rows, count)
            module.end(module.add(f"ad.slice {x} [0, {first}] strides [1, {stride}] : {type} -> {part}", part))
        elif kind == "concat":
            y, other = module.argument(element, rows, 3)
            both = tensor(element, rows, columns + 3)
            module.end(module.add(f"ad.concat axis 1 {x}, {y} : {type}, {other}", both))
        elif kind == "reverse":
            module.end(module.add(f"ad.reverse {x} axes [1] : {type}", type))
        else:
            y, other = module.argument(element, *((rows, columns) if kind == "elementwise" else (columns,)))
            product, _ = module.add(f"ad.mul {x}, {y} : {type}, {other}", type)
            module.end(module.add(f"ad.exp {product} : {type}", type))
    return module


def dynamic_rows(seed, element):
    """Reductions and norms of rows whose length is known at run time: the last vectors end with the argument."""
    module = Module(seed)
    draw = module.draw
    kinds = ["reduce_sum", "reduce_max", "reduce_min", "reduce_prod"]
    kinds += ["reduce_mean", "softmax", "log_softmax", "functions"] if element not in ("i8", "i32") else []
    for kind in kinds * 2:
        rows, columns = draw.choice([1, 3, 7, 16]), draw.choice([1, 5, 15, 17, 33, 49, 63, 65, 95, 191, 255, 1025])
        known = "?" if draw.random() < 0.3 else rows
        x, type = module.argument(element, rows, columns, type=tensor(element, known, "?"))
        if kind.endswith("softmax"):
            module.end(module.add(f"ad.{kind} {x} axis 1 : {type}", type))
            continue
        result = tensor(element, known)
        if kind == "functions":  # long code: the rest of a row is a loop over registers in memory
            for function in ("tanh", "exp", "sigmoid"):
                x, type = module.add(f"ad.{function} {x} : {type}", type)
            kind = "reduce_sum"
        module.end(module.add(f"ad.{kind} {x} axes [1] : {type} -> {result}", result))
    return module


def run(folder, mode, threads):
    command = [runner.binary("ad-guarded-run"), folder / "program.mlir", folder, mode, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    return f"exit code {done.returncode}: {done.stderr.strip()[:1000]}" if done.returncode else None


def written(make, modes, threads, folder):
    module = make()
    module.write(folder)
    for mode in modes:
        if wrong := run(folder, mode, threads):
            yield f"{mode}, {threads} threads: {wrong}, shapes {[(name, type) for name, _, _, type in module.arguments]}"


def drawn(make, first, folder):
    """Random programs, eight in one module."""
    drawn = [make(SEED, first + number) for number in range(8)]
    (folder / "program.mlir").write_text(batch.module(drawn))
    for number, program in enumerate(drawn):
        runner.write_arguments(folder, program.arguments, f"p{number}_")
    for mode in MODES[first // 8 % 3:][:1]:
        if wrong := run(folder, mode, 1 + first // 8 % 2):
            yield f"{mode}, cases {first} to {first + 7}: {wrong}"


def main():
    cases = []
    for number, element in enumerate(["f32", "f64", "bf16", "f16", "f8E4M3FN", "i8", "i32"]):
        for large in (False, True):
            make = functools.partial(contractions, number + 100 * large + 1000 * SEED, element, large)
            # Products of pairs take what `fast` permits; the others pack in every mode.
            modes = ["strict", "fast"] if element in ("bf16", "f16") else ["strict"]
            cases.append((f"contractions of {element}{', large' if large else ''}",
                          functools.partial(written, make, modes, 1 + large)))
    for number, element in enumerate(["f64", "f32", "f16", "bf16"]):
        make = functools.partial(rows_and_movements, 7 * SEED + number, element)
        cases.append((f"rows and movements of {element}", functools.partial(written, make, ["strict", "fast"], 1)))
    for number, element in enumerate(["f64", "f32", "f16", "bf16", "i32", "i8"]):
        make = functools.partial(dynamic_rows, 11 * SEED + number, element)
        cases.append((f"rows of dynamic length of {element}", functools.partial(written, make, ["strict", "fast"], 1)))
    for name, make in (("fused", clusters.random_program), ("random", programs.random_program)):
        cases += [(f"{name} programs {first}", functools.partial(drawn, make, first)) for first in range(0, 24, 8)]
    return checks.run_checks("guard pages", checks.sample(cases, 9))


if __name__ == "__main__":
    sys.exit(main())
