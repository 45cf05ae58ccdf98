#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random loops over few elements have the bits of the reference interpreter: carries of no axis, of one vector and of
several, of every kind of number, two and three that are permuted; loops in loops, branches, scf.while, dynamic
bounds, more iterations than run between two polls, values that are received inside the loop. Also the launches in a
report. Closes with `small loops: N run, N failed`."""

import json
import os
import pathlib
import random
import subprocess
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED", "1"))
PROGRAMS, LOOPS = 16, 5
KINDS = ["f32", "f32", "f64", "bf16", "f16", "i32", "i64", "i8"]
SHAPES = [(), (), (1,), (2,), (3,), (5,), (8,), (10,), (15,), (16,), (17,), (2, 3), (31,), (48,), (64,), (65,), (100,),
          "?"]
RANGES = [(0, 7, 1), (-3, 9, 2), (5, 5, 1), (4, -4, 3), (0, 1, 1), (-20, 25, 4), (0, 12000, 1), (-9000, 17001, 2)]
TARGETS = {"one thread": ["--threads", "1"], "two threads": ["--threads", "2"], "timed": ["--report", "/dev/null"],
           "as written": ["-O0"]}


def tensor(kind, shape):
    sizes = "?x" if shape == "?" else "".join(f"{size}x" for size in shape)
    return f"tensor<{sizes}{kind}>"


class Program:
    """Loops one after the other, each from arguments of its own to results of its own."""

    def __init__(self, seed):
        self.draw, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.arguments, self.results, self.lines, self.count = [], [], [], 0
        for number in range(LOOPS):
            self.kind, self.number = self.draw.choice(KINDS), number
            self.loop()

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, text):
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def argument(self, shape, kind=None, values=None):
        name, kind = f"a{len(self.arguments)}", kind or self.kind
        size = (7,) if shape == "?" else shape
        array = elements.random(self.numbers, kind,
                                size) if values is None else np.array(values, elements.STORAGE[kind])
        self.arguments.append((name, kind, shape, array))
        return f"%{name}"

    def binary(self, op, left, right):
        """Of two values (name, shape): of one shape, or the right one a scalar."""
        types = tensor(self.kind, left[1]) + (f", {tensor(self.kind, right[1])}" if left[1] != right[1] else "")
        return self.emit(f"ad.{op} {left[0]}, {right[0]} : {types}"), left[1]

    def limited(self, value):
        """Numbers stay small."""
        scalar = tensor(self.kind, ())
        for op, bound in (("min", 3), ("max", -3)):
            text = f"{bound}.0" if elements.is_float(self.kind) else bound
            value = self.binary(op, value, (self.emit(f"ad.constant dense<{text}> : {scalar}"), ()))
        return value

    def step(self, value, values, index):
        """A new value of the same shape."""
        others = [other for other in values if other[1] in ((), value[1])]
        for _ in range(self.draw.randint(1, 3)):
            value = self.binary(self.draw.choice(["mul", "add", "sub", "max"]), value, self.draw.choice(others))
        if elements.is_float(self.kind) and self.draw.random() < 0.2:
            value = self.emit(f"ad.tanh {value[0]} : {tensor(self.kind, value[1])}"), value[1]
        if self.draw.random() < 0.3:
            wide = self.emit(f"ad.full {self.emit(f'arith.index_cast {index} : index to i64')} : i64 -> tensor<i64>")
            number = wide
            if self.kind != "i64":
                number = self.emit(f"ad.cast {wide} : tensor<i64> -> {tensor(self.kind, ())}")
            value = self.binary("add", value, self.limited((number, ())))
        return self.limited(value)

    def branch(self, value, values, index):
        """What depends on the index."""
        type, low = tensor(self.kind, value[1]), self.emit(f"arith.constant {self.draw.randint(-2, 6)} : index")
        condition = self.emit(f"arith.cmpi sle, {index}, {low} : index")
        result = self.name()
        self.lines.append(f"{result} = scf.if {condition} -> ({type}) {{")
        self.lines.append(f"scf.yield {self.step(value, values, index)[0]} : {type}\n}} else {{")
        other = self.step(value, values, index) if self.draw.random() < 0.5 else value
        self.lines.append(f"scf.yield {other[0]} : {type}\n}}")
        return result, value[1]

    def body(self, carried, captured, index, depth):
        """The next carries; they may be permuted."""
        values = carried + captured
        next_values = []
        for value in carried:
            kind = self.draw.random()
            if kind < 0.2:
                next_values.append(self.branch(value, values, index))
            elif kind < 0.35 and depth == 0:
                next_values.append(self.nest([value], captured, (0, self.draw.randint(0, 5), 1), 1)[0])
            elif kind < 0.45:
                same = [other for other in carried if other[1] == value[1]]
                next_values.append(self.draw.choice(same))
            else:
                next_values.append(self.step(value, values, index))
        return next_values

    def bounds(self, numbers):
        """Constants or dynamic values."""
        if self.draw.random() < 0.6:
            return [self.emit(f"arith.constant {number} : index") for number in numbers]
        reads = [self.emit(f"tensor.extract {self.argument((), 'i64', number)}[] : tensor<i64>") for number in numbers]
        return [self.emit(f"arith.index_cast {read} : i64 to index") for read in reads]

    def nest(self, starts, captured, numbers, depth):
        lower, upper, step = self.bounds(numbers)
        types = ", ".join(tensor(self.kind, shape) for _, shape in starts)
        carried, results = [(self.name(), shape) for _, shape in starts], self.name()
        index = self.name()
        assigned = ", ".join(f"{name} = {start}" for (name, _), (start, _) in zip(carried, starts))
        self.lines.append(f"{results}:{len(starts)} = scf.for {index} = {lower} to {upper} step {step} "
                          f"iter_args({assigned}) -> ({types}) {{")
        if depth == 0 and numbers[1] < 100 and self.draw.random() < 0.2:
            self.lines.append(f'ad.receive "r{self.number}"({carried[0][0]}) : {tensor(self.kind, carried[0][1])}')
            self.results.append((f"r{self.number}", self.kind))
        next_values = self.body(carried, captured, index, depth)
        self.lines.append(f"scf.yield {', '.join(name for name, _ in next_values)} : {types}\n}}")
        return [(f"{results}#{i}", shape) for i, (_, shape) in enumerate(starts)]

    def loop_while(self, starts, captured, limit):
        """As many iterations as the limit says, counted by an index or by a tensor."""
        limit, one, zero = (self.emit(f"arith.constant {number} : index") for number in (limit, 1, 0))
        types = ", ".join([tensor(self.kind, shape) for _, shape in starts] + ["index"])
        before = [self.name() for _ in (*starts, None)]
        assigned = ", ".join(f"{name} = {start}" for name, start in zip(before,
                                                                        [*(start for start, _ in starts), zero]))
        results = self.name()
        self.lines.append(f"{results}:{len(before)} = scf.while ({assigned}) : ({types}) -> ({types}) {{")
        again = self.emit(f"arith.cmpi slt, {before[-1]}, {limit} : index")
        self.lines.append(f"scf.condition({again}) {', '.join(before)} : {types}\n}} do {{")
        after = [self.name() for _ in before]
        self.lines.append(f"^bb0({', '.join(f'{name}: {type}' for name, type in zip(after, types.split(', ')))}):")
        carried = [(name, shape) for name, (_, shape) in zip(after, starts)]
        next_values = [name for name, _ in self.body(carried, captured, after[-1], 0)]
        next_values.append(self.emit(f"arith.addi {after[-1]}, {one} : index"))
        self.lines.append(f"scf.yield {', '.join(next_values)} : {types}\n}}")
        return [(f"{results}#{i}", shape) for i, (_, shape) in enumerate(starts)]

    def loop(self):
        shape = self.draw.choice(SHAPES)
        shapes = [shape, *(self.draw.choice([shape, ()]) for _ in range(self.draw.randint(0, 2)))]
        starts = [(self.argument(shape), shape) for shape in shapes]
        captured = [(self.argument(()), ()), (self.argument(shape), shape)]
        if shape != "?" and self.draw.random() < 0.25:
            ends = self.loop_while(starts, captured, self.draw.choice([0, 1, 9, 12000]))
        else:
            ends = self.nest(starts, captured, self.draw.choice(RANGES), 0)
        for i, (name, end_shape) in enumerate(ends):
            self.results.append((f"s{self.number}_{i}", self.kind))
            self.lines.append(f"//return {name} {tensor(self.kind, end_shape)}")

    def text(self):
        arguments = ", ".join(f'%{name}: {tensor(kind, shape)} {{ad.name = "{name}"}}' for name, kind, shape,
                              _ in self.arguments)
        returned = [line.split()[1:] for line in self.lines if line.startswith("//return")]
        names = [name for name, _ in self.results if name.startswith("s")]
        types = ", ".join(f'{type} {{ad.name = "{name}"}}' for name, (_, type) in zip(names, returned, strict=True))
        values = f"{', '.join(value for value, _ in returned)} : {', '.join(type for _, type in returned)}"
        return f"func.func @main({arguments}) -> ({types}) {{\n" + "\n".join(self.lines) + f"\nreturn {values}\n}}\n"

    def check(self, folder):
        arguments = [(name, kind, array) for name, kind, _, array in self.arguments]
        for target, name, expected, found in runner.match_reference(folder, self.text(), arguments, self.results,
                                                                     TARGETS):
            if expected.tobytes() != found.tobytes():
                yield f"{target}: {name} is {found.ravel()[:4]}, expected {expected.ravel()[:4]}\n{self.text()}"


def counted(folder):
    """A report counts the launches of a kernel that has become a part of the loop."""
    trips, scalar = 12345, "tensor<f32>"
    (folder / "p.mlir").write_text(f"""func.func @main(%a: {scalar} {{ad.name = "a"}}) -> {scalar} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {trips} : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> ({scalar}) {{
    %0 = ad.mul %v, %a : {scalar}
    scf.yield %0 : {scalar}
  }}
  return %s : {scalar}
}}
""")
    report = folder / "report.json"
    subprocess.run([runner.binary("ad-runner"), folder / "p.mlir", "--arg", "a=uniform:1", "--cache", "off", "--report",
                    report],
                   check=True, capture_output=True, text=True)
    calls = [kernel["calls"] for kernel in json.loads(report.read_text())["kernels"]]
    return None if calls == [trips] else f"the report counts {calls} launches, expected {[trips]}"


def zeros(folder):
    """Carries that start as zeros, as zeros of the other sign, and as zeros if the run says so."""
    wide = "tensor<16x64xf32>"
    (folder / "p.mlir").write_text(f"""func.func @main(%a: {wide} {{ad.name = "a"}}, %p: tensor<i64> {{ad.name = "p"}})
    -> ({wide} {{ad.name = "x"}}, {wide} {{ad.name = "y"}}, {wide} {{ad.name = "z"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 3 : index
  %which = tensor.extract %p[] : tensor<i64>
  %none = arith.constant 0 : i64
  %is = arith.cmpi eq, %which, %none : i64
  %zero = ad.constant dense<0.0> : {wide}
  %negative = ad.constant dense<-0.0> : {wide}
  %chosen = arith.select %is, %zero, %a : {wide}
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%u = %zero, %v = %negative, %w = %chosen) -> ({wide}, {wide}, {wide}) {{
    %0 = ad.add %u, %u : {wide}
    %1 = ad.add %v, %v : {wide}
    %2 = ad.add %w, %w : {wide}
    scf.yield %0, %1, %2 : {wide}, {wide}, {wide}
  }}
  return %r#0, %r#1, %r#2 : {wide}, {wide}, {wide}
}}
""")
    a = np.random.default_rng(0).uniform(1, 2, (16, 64)).astype(np.float32)
    np.save(folder / "a.npy", a)
    for number, chosen in ((0, np.zeros_like(a)), (1, 8 * a)):
        np.save(folder / "p.npy", np.int64(number))
        found = runner.run((folder / "p.mlir").read_text(), [f"--arg={name}={folder / name}.npy" for name in "ap"],
                           [(name, "f32") for name in "xyz"])
        for name, expected in zip("xyz", (np.zeros_like(a), -np.zeros_like(a), chosen), strict=True):
            if found[name].tobytes() != expected.tobytes():
                yield f"{name} begins with {found[name].flat[0]}, expected {expected.flat[0]}"


def main():
    programs = [(f"seed {SEED * 1000 + i}", Program(SEED * 1000 + i).check) for i in checks.sample(range(PROGRAMS), 3)]
    return checks.run_checks("small loops", [("report", counted), ("zeros", zeros), *programs])


if __name__ == "__main__":
    sys.exit(main())
