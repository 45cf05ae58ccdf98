# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reductions with few results and much to reduce, which a grid of the GPU shares in two kernels (decision 0018). Random
shapes, axes, types and modes, dynamic sizes, empty and unit axes, operands and results that belong to
the fusion, give on the emulated GPU the bits of the reference interpreter, with no finding of its checks; so do graphs
and programs that are compiled ahead of time. A driver that only counts proves that launches fill the machine. Takes
--seed and --count; closes with `divided reductions on gpus: N run, N failed`."""

import argparse
import functools
import math
import os
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 20  # programs
CASES = 4  # of a program
MAX_ELEMENTS = 1 << 18  # elements of an operand
LONG = [513, 777, 1024, 1025, 2048, 3001, 5000, 8193]
OTHERS = [1, 1, 2, 3, 5, 17, 33]
# More chunks than the groups of a block take at once.
LONG_ROWS = [65_537, 66_000, 81_920, 131_072, 140_001]
FLOATS = ["f32", "f32", "f64", "f16", "bf16"]
INTEGERS = ["i8", "i32", "i64"]
# Of sums and products that name their own: short leaves, of which there are many.
ORDERS = ["block = 8", "block = 24", "block = 1", "lanes = 16, chunk = 64", "lanes = 64, chunk = 128"]
MODES = {"reproducible": ["--numerics=reproducible"], "strict": [], "fast": ["--numerics=fast"],
         "few SMs": ["--numerics=reproducible", "--sm-count=3"], "shuffled": ["--schedule=shuffled", "--seed=7"]}
LIBRARY = pathlib.Path(runner.binary("ad-runner")).parents[1] / "lib/libad-fake-cuda.so"
SM_COUNTS = (16, 132)  # of the driver that counts: few, and those of an H100
MIN_BLOCKS = 2 * SM_COUNTS[0]  # that each counted program has leaves for
ELEMENTS_OF_BLOCK = 32 * 1024  # of operands that fill the larger GPU: a warp, whose threads take 1024 elements each


class Case:
    """A reduction: the lines of the program, the argument and the results."""

    def __init__(self, name, draw):
        self.name, self.draw, self.results = name, draw, []
        self.element = draw.choice(FLOATS + INTEGERS)
        self.kind = draw.choice(["arg", "arg", "max", "min", "sum", "sum", "sum", "prod"])
        shape = [draw.choice(OTHERS) for _ in range(draw.randint(0, 3))]
        while shape and math.prod(shape) > 200:
            shape.pop()
        self.axis = draw.randint(0, len(shape))
        rows = self.axis == len(shape) and self.kind != "arg" and math.prod(shape) <= 2
        length = draw.choice(LONG_ROWS if rows and draw.random() < 0.7 else LONG)
        if draw.random() < 0.06:
            length = draw.choice([0, 1]) if self.kind != "arg" else 1
        while length > 1 and math.prod(shape) * length > MAX_ELEMENTS:
            shape[shape.index(max(shape))] = 1
        shape.insert(self.axis, length)
        if shape.count(1) == 0 and draw.random() < 0.05 and len(shape) > 1:
            shape[(self.axis + 1) % len(shape)] = 0
        self.shape = shape
        self.known = [draw.choice([size, size, "?"]) for size in shape]
        self.write()

    def write(self):
        draw, name, kind = self.draw, self.name, self.kind
        self.type = elements.tensor(self.element, self.known)
        operand, lines = f"%{name}", []
        floats = self.element in FLOATS
        if floats and draw.random() < 0.5:  # becomes a part of the reduction
            lines.append(f"%{name}_in = ad.{draw.choice(['neg', 'abs', 'relu'])} {operand} : {self.type}")
            operand = f"%{name}_in"
        axes = [self.axis]
        if kind != "arg" and len(self.shape) > 1 and draw.random() < 0.3:
            axes = sorted({self.axis, draw.randrange(len(self.shape))})
        kept = [size for axis, size in enumerate(self.known) if axis not in axes]
        if kind == "arg":
            self.add(lines, f"ad.arg{draw.choice(['max', 'min'])} {operand} axis {self.axis} : {self.type}", "i64",
                     kept, "")
        else:
            order = (f" {{order = #ad.order<{draw.choice(ORDERS)}>}}"
                     if kind in ("sum", "prod") and draw.random() < 0.4 else "")
            self.add(lines, f"ad.reduce_{kind} {operand} axes {axes}{order} : {self.type}", self.element, kept)
            if draw.random() < 0.4:  # of the same space, and perhaps in the same kernel
                self.add(lines, f"ad.reduce_{draw.choice(['max', 'min'])} {operand} axes {axes} : {self.type}",
                         self.element, kept)
            if floats and draw.random() < 0.5:
                own = elements.tensor(self.element, kept)
                value, kind_of = f"%{name}_{len(self.results)}", f"{own}"
                lines.append(f"{value} = ad.{draw.choice(['neg', 'abs'])} %{name}_0 : {kind_of}")
                self.results.append((f"{name}_{len(self.results)}", self.element, own))
        self.text = "".join(f"  {line}\n" for line in lines)

    def add(self, lines, text, element, kept, arrow=" -> {}"):
        own = elements.tensor(element, kept)
        lines.append(f"%{self.name}_{len(self.results)} = {text}{arrow.format(own)}")
        self.results.append((f"{self.name}_{len(self.results)}", element, own))

    def values(self, rng):
        """Of products, whose order shows: near one. Of selections: many equal ones."""
        if self.kind == "arg":
            values = rng.integers(-3, 4, self.shape).astype(np.float64)
        elif self.kind == "prod" and self.element in FLOATS:
            values = 1 + rng.uniform(-1, 1, self.shape) / 64
        elif self.element in FLOATS:
            values = rng.standard_normal(self.shape)
            values[rng.random(self.shape) < 0.01] = -0.0
            if self.kind != "sum" and rng.random() < 0.2:
                values[rng.random(self.shape) < 1e-4] = np.nan
        else:
            return elements.random(rng, self.element, self.shape)
        return elements.encode(self.element, values)


COLUMNS = [[1], [2], [2], [3], [4], [5], [6], [7], [8], [2, 3], [1, 4], [11], [15], [16], [31]]


class FewColumns(Case):
    """Along an axis before a few columns, whose warps copy runs of memory to shared memory: of few and of many results,
    and of several operands in one reduction."""

    def __init__(self, name, draw):
        super().__init__(name, draw)
        self.results, columns = [], draw.choice(COLUMNS)
        length = draw.choice([64, 65, 100, 127, 256, 300, 511, 512, *LONG])
        most = max(MAX_ELEMENTS // 4 // length // math.prod(columns), 1)
        outer = [draw.randint(1, min(most, 40))] if draw.random() < 0.8 else []
        self.shape, self.axis = [*outer, length, *columns], len(outer)
        self.known = [draw.choice([size, size, "?"]) for size in self.shape[:self.axis + 1]] + columns
        self.write()

    def write(self):
        super().write()
        if self.element in FLOATS and self.draw.random() < 0.5:  # of x² or x + |x|
            operation, other = self.draw.choice([("mul", f"%{self.name}"), ("add", f"%{self.name}_abs")])
            lines = (f"  %{self.name}_abs = ad.abs %{self.name} : {self.type}\n"
                     f"  %{self.name}_two = ad.{operation} %{self.name}, {other} : {self.type}\n")
            self.text = lines + self.text.replace(f" %{self.name} ", f" %{self.name}_two ")


def program(cases):
    arguments = ", ".join(f'%{case.name}: {case.type} {{ad.name = "{case.name}"}}' for case in cases)
    results = [result for case in cases for result in case.results]
    types = ", ".join(f'{kind} {{ad.name = "{name}"}}' for name, _, kind in results)
    return (f"func.func @main({arguments}) -> ({types}) {{\n{''.join(case.text for case in cases)}"
            f"  return {', '.join(f'%{name}' for name, _, _ in results)} : {', '.join(kind for _, _, kind in results)}\n}}\n")


def wrong(seed, folder):
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    kinds = [FewColumns if draw.random() < 0.4 else Case for _ in range(CASES)]
    cases = [kind(f"c{number}", draw) for number, kind in enumerate(kinds)]
    arguments = [(case.name, case.element, case.values(rng)) for case in cases]
    results = [(name, element) for case in cases for name, element, _ in case.results]
    modes = ["reproducible", draw.choice(list(MODES)[1:])]
    targets = {mode: ["--target=gpu-sim", *MODES[mode]] for mode in modes}
    for label, name, expected, found in runner.match_reference(folder, program(cases), arguments, results, targets):
        if not elements.same_bits(dict(results)[name], found, expected).all():
            case = cases[int(name.split("_")[0][1:])]
            yield f"{label}: {name} of\n{case.text}differs from the reference: sizes {case.shape}"


# Nodes that threads join, and those of a product of two vectors.
FORMS = [("ad.reduce_sum %x axes [0] {order = #ad.order<block = 8>} : {0} -> {1}", "60x9000xf32", "9000xf32"),
         ("ad.reduce_max %x axes [0] : {0} -> {1}", "1030x8200xi8", "8200xi8"),
         ("ad.dot %x, %x batch [] x [] contract [0] x [0] : ({0}, {0}) -> {1}", "20001xf32", "f32"),
         ("ad.dot %x, %x batch [] x [] contract [0] x [0] : ({0}, {0}) -> {1}", "9000xbf16", "bf16"),
         ("ad.dot %x, %x batch [] x [] contract [0] x [0] : ({0}, {0}) -> {1}", "8193xi8", "i32")]


def wrong_form(text, operand, result, folder):
    *shape, element = operand.split("x")
    types = [f"tensor<{operand}>", f"tensor<{result}>"]
    for order in "{order", ">}":
        text = text.replace(order, order.replace("{", "{{").replace("}", "}}"))
    program = (f'func.func @main(%x: {types[0]} {{ad.name = "x"}}) -> ({types[1]} {{ad.name = "y"}}) {{\n  %y = {text.format(*types)}\n'
               f"  return %y : {types[1]}\n}}\n")
    values = elements.random(np.random.default_rng(3), element, tuple(map(int, shape)))
    modes = {mode: ["--target=gpu-sim", *MODES[mode]] for mode in ("reproducible", "strict")}
    for label, _, expected, found in runner.match_reference(folder, program, [("x", element, values)],
                                                             [("y", result.split("x")[-1])], modes):
        if not elements.same_bits(result.split("x")[-1], found, expected).all():
            yield f"{label}: differs from the reference"


# The gradients of a norm's weight and bias and of a bias after a product are sums of columns with much of the program
# in them; one size of each shape is open.
GRADIENTS = """func.func private @loss(%w: tensor<24xf32>, %b: tensor<24xf32>, %o: tensor<5xf32>, %x: tensor<?x24xELEMENT>, %m: tensor<24x5xf32>) -> tensor<f32> {
  %0 = ad.cast %x : tensor<?x24xELEMENT> -> tensor<?x24xf32>
  %1 = ad.layer_norm %0, %w, %b epsilon 1.0e-5 : tensor<?x24xf32>, tensor<24xf32>
  %2 = ad.rms_norm %1, %w epsilon 1.0e-5 : tensor<?x24xf32>, tensor<24xf32>
  %3 = ad.dot %2, %m : (tensor<?x24xf32>, tensor<24x5xf32>) -> tensor<?x5xf32>
  %4 = ad.add %3, %o : tensor<?x5xf32>, tensor<5xf32>
  %5 = ad.silu %4 : tensor<?x5xf32>
  %loss = ad.reduce_sum %5 axes [0, 1] : tensor<?x5xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @main(%w: tensor<24xf32> {ad.name = "w"}, %b: tensor<24xf32> {ad.name = "b"}, %o: tensor<5xf32> {ad.name = "o"},
                %x: tensor<?x24xELEMENT> {ad.name = "x"}, %m: tensor<24x5xf32> {ad.name = "m"})
    -> (tensor<f32> {ad.name = "l"}, tensor<24xf32> {ad.name = "dw"}, tensor<24xf32> {ad.name = "db"}, tensor<5xf32> {ad.name = "do"}) {
  %l, %dw, %db, %do = ad.value_and_grad @loss(%w, %b, %o, %x, %m) wrt [0, 1, 2]
      : (tensor<24xf32>, tensor<24xf32>, tensor<5xf32>, tensor<?x24xELEMENT>, tensor<24x5xf32>)
      -> (tensor<f32>, tensor<24xf32>, tensor<24xf32>, tensor<5xf32>)
  return %l, %dw, %db, %do : tensor<f32>, tensor<24xf32>, tensor<24xf32>, tensor<5xf32>
}
"""


def wrong_gradients(element, rows, mode, folder):
    rng = np.random.default_rng(rows)
    shapes = [("w", "f32", (24,)), ("b", "f32", (24,)), ("o", "f32", (5,)), ("x", element, (rows, 24)),
              ("m", "f32", (24, 5))]
    arguments = [(name, kind, elements.encode(kind, rng.standard_normal(shape))) for name, kind, shape in shapes]
    results = [(name, "f32") for name in ("l", "dw", "db", "do")]
    targets = {mode: ["--target=gpu-sim", *MODES[mode]]}
    for label, name, expected, found in runner.match_reference(folder, GRADIENTS.replace("ELEMENT", element),
                                                                arguments, results, targets):
        if found.tobytes() != expected.tobytes():
            yield f"{label}: {name} differs from the reference"


# The kernels of iterations, of which the second is replayed; sizes of two iterations differ in the second program.
ITERATIONS = """func.func @main(%x: tensor<1500x7xf32> {ad.name = "x"}, %n: tensor<?x3xf32> {ad.name = "n"}) -> (tensor<7xf32> {ad.name = "y"}, tensor<3xf32> {ad.name = "z"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %y0 = ad.constant dense<0.0> : tensor<7xf32>
  %z0 = ad.constant dense<0.0> : tensor<3xf32>
  %y, %z = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %y0, %b = %z0) -> (tensor<7xf32>, tensor<3xf32>) {
    %0 = ad.add %x, %a : tensor<1500x7xf32>, tensor<7xf32>
    %1 = ad.reduce_sum %0 axes [0] : tensor<1500x7xf32> -> tensor<7xf32>
    %k = ad.constant dense<1.0e-4> : tensor<7xf32>
    %2 = ad.mul %1, %k : tensor<7xf32>
    %3 = ad.reduce_sum %n axes [0] : tensor<?x3xf32> -> tensor<3xf32>
    %4 = ad.add %3, %b : tensor<3xf32>
    scf.yield %2, %4 : tensor<7xf32>, tensor<3xf32>
  }
  return %y, %z : tensor<7xf32>, tensor<3xf32>
}
"""


def inputs_of_iterations(folder):
    rng = np.random.default_rng(5)
    for name, shape in (("x", (1500, 7)), ("n", (2000, 3))):
        np.save(folder / f"{name}.npy", rng.standard_normal(shape).astype(np.float32))
    return [f"--arg={name}={folder / name}.npy" for name in "xn"]


def wrong_iterations(folder):
    """Replayed, one by one, and ahead of time."""
    results, given = [("y", "f32"), ("z", "f32")], inputs_of_iterations(folder)
    expected = runner.run(ITERATIONS, given, results, ["--target=reference", "--numerics=reproducible"])
    for options in [], ["--no-replay"], ["--repeat=3"]:
        found = runner.run(ITERATIONS, given, results, ["--target=gpu-sim", "--numerics=reproducible", *options])
        yield from (f"{options}: {name} differs" for name in expected
                    if found[name].tobytes() != expected[name].tobytes())
    text, made = folder / "iterations.mlir", folder / "iterations.adx"
    text.write_text(ITERATIONS)
    subprocess.run([runner.binary("ad-runner"), text, "--target=gpu-sim", "--numerics=reproducible", f"--emit={made}"],
                   check=True)
    subprocess.run([runner.binary("adrt-run"), made, f"--out-dir={folder}", *given], check=True, capture_output=True)
    yield from (f"ahead of time: {name} differs" for name in expected
                if np.load(folder / f"{name}.npy").tobytes() != expected[name].tobytes())


def launches(text, options, sm_count, folder):
    """(kernel, blocks, threads of a block) of each launch, as the driver received it."""
    file = folder / "counted.mlir"
    file.write_text(text)
    done = subprocess.run([runner.binary("ad-runner"), file, "--target=cuda", "--no-replay", "--cache=off", *options],
                          text=True,
                          capture_output=True,
                          env={**os.environ, "ADJOINT_LIBCUDA": str(LIBRARY), "AD_FAKE_CUDA": "",
                               "AD_FAKE_CUDA_SM_COUNT": str(sm_count)})
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return [(name, int(blocks), int(threads)) for blocks, threads, name in
            re.findall(r"^fake: cuLaunchKernel (\d+) x (\d+)\D[^\n]*?(\w[\w$]*)\(", done.stderr, re.M)]


# Text, operand and result.
COUNTED = [
    ("ad.reduce_sum %x axes [0]", "65536x1024xf32", "1024xf32"), ("ad.reduce_sum %x axes [0]", "1048576xf32", "f32"),
    ("ad.reduce_max %x axes [0]", "20000x40xf16", "40xf16"),
    ("ad.reduce_sum %x axes [1]", "4x1300x513xbf16", "4x513xbf16"),
    ("ad.reduce_prod %x axes [1]", "20x200000xf64", "20xf64"), ("ad.reduce_min %x axes [0]", "1500000xi8", "i8"),
    ("ad.reduce_sum %x axes [0, 1]", "3000x1000xf32", "f32"),
    ("ad.reduce_sum %x axes [1]", "4x300x513xbf16", "4x513xbf16"),
    ("ad.reduce_mean %x axes [0]", "16384x256xf32", "256xf32"), ("ad.reduce_sum %x axes [0]", "2000000x1xf32", "1xf32"),
    ("ad.argmax %x axis 1", "3x2000000xi8", "3xi64"), ("ad.argmin %x axis 0", "300000x30xf32", "30xi64"),
]


def open_sizes(kind):
    *shape, element = kind.split("x")
    return elements.tensor(element, ["?"] * len(shape))


def too_few_blocks(case, is_open, sm_count, folder):
    """The kernel that reads the operand has two blocks for each multiprocessor, or as many as the operand is worth."""
    text, *kinds = case
    worth = math.prod(map(int, kinds[0].split("x")[:-1])) // ELEMENTS_OF_BLOCK
    expected = min(2 * sm_count, max(MIN_BLOCKS, worth))
    types = [open_sizes(kind) if is_open else f"tensor<{kind}>" for kind in kinds]
    sizes = [f"--dim=x.{axis}={size}" for axis, size in enumerate(kinds[0].split("x")[:-1])] if is_open else []
    arrow = "" if "arg" in text else f" -> {types[1]}"
    program = (f'func.func @main(%x: {types[0]} {{ad.name = "x"}}) -> {types[1]} {{\n  %y = {text} : {types[0]}{arrow}\n'
               f"  return %y : {types[1]}\n}}\n")
    found = launches(program, ["--arg=x=zeros", *sizes], sm_count, folder)
    _, blocks, _ = found[0]
    return None if blocks >= expected else f"expected {expected} blocks at first, found {found}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=COUNT)
    options = parser.parse_args()
    first = options.seed * 100_000
    found = [(f"case {seed}", functools.partial(wrong, seed)) for seed in range(first, first + options.count)]
    found += [(form, functools.partial(wrong_form, *form)) for form in FORMS]
    found.append(("iterations", wrong_iterations))
    found += [((*case, "gradients"), functools.partial(wrong_gradients, *case))
              for case in (("f32", 1100, "reproducible"), ("bf16", 2049, "strict"), ("f16", 300, "strict"),
                           ("f32", 0, "reproducible"))]
    found += [((*case, "dynamic sizes" if is_open else "static sizes", f"{sm_count} SMs"),
               functools.partial(too_few_blocks, case, is_open, sm_count))
              for case in COUNTED for is_open in (False, True) for sm_count in SM_COUNTS]
    return checks.run_checks("divided reductions on gpus", checks.sample(found, 4))


if __name__ == "__main__":
    sys.exit(main())
