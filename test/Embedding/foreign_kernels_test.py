#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels as another compiler writes them, on the reference interpreter, the CPU and the emulated GPU: constant and
repeated indices, contractions inside of other operations, and elements that are extracted at computed indices. Values
are those of NumPy. An element outside of its tensor is one located error on all targets."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import checks
import elements
import runner

TARGETS = [["--target=reference"], ["--target=cpu", "--threads=1"], ["--target=cpu", "--threads=2"],
           ["--target=gpu-sim"]]


def numbers(seed, element, *shape):
    drawn = np.random.default_rng(seed).integers(0, 2, shape) if element == "i1" else \
        np.random.default_rng(seed).integers(-3, 4, shape)
    return drawn.astype(np.bool_) if element == "i1" else elements.encode(element, drawn)


class Program:
    """One kernel, the launch of it, and what it gives."""

    def __init__(self, kernel_class="generic", order=""):
        self.attributes = f"kernel_class = \"{kernel_class}\"" + (f", order = {order}" if order else "")
        self.types, self.arguments, self.lines, self.dynamic = {}, [], [], {}

    def argument(self, name, element, array, dynamic=()):
        shape = ["?" if axis in dynamic else size for axis, size in enumerate(array.shape)]
        self.types[name] = (element, elements.tensor(element, shape))
        self.arguments.append((name, element, array))
        return name

    def generic(self, name, element, shape, maps, kinds, inputs, body, start=None, sizes=""):
        """`body` gives %s; the outs are filled with `start`, or empty."""
        made = elements.tensor(element, shape)
        self.lines.append(f"%{name}_e = tensor.empty({sizes}) : {made}")
        if start is not None:
            self.lines += [f"%{name}_z = arith.constant {start} : {element}",
                           f"%{name}_f = linalg.fill ins(%{name}_z : {element}) outs(%{name}_e : {made}) -> {made}"]
        blocks = "".join(f"%x{i}: {self.types[value][0]}, " for i, value in enumerate(inputs))
        ins = f"ins({', '.join('%' + value for value in inputs)} : {', '.join(self.types[value][1] for value in inputs)}) " \
            if inputs else ""
        self.lines += [
            f"%{name} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{m}>' for m in maps)}], iterator_types = "
            f"[{', '.join({'p': chr(34) + 'parallel' + chr(34), 'r': chr(34) + 'reduction' + chr(34)}[k] for k in kinds)}]}} "
            f"{ins}outs(%{name}_{'e' if start is None else 'f'} : {made}) {{", f"^bb0({blocks}%o: {element}):", *body,
            f"linalg.yield %s : {element}", f"}} -> {made}"]
        self.types[name] = (element, made)
        return name

    def product(self, name, element, shape, maps, kinds, left, right):
        zero = "0.0" if elements.is_float(element) else "0"
        if self.types[left][0] == "i8":
            body = ["%left = arith.extsi %x0 : i8 to i32", "%right = arith.extsi %x1 : i8 to i32",
                    "%both = arith.muli %left, %right : i32", "%s = arith.addi %o, %both : i32"]
        elif elements.is_float(element):
            body = [f"%s = math.fma %x0, %x1, %o : {element}"]
        else:
            body = [f"%both = arith.muli %x0, %x1 : {element}", f"%s = arith.addi %o, %both : {element}"]
        return self.generic(name, element, shape, maps, kinds, [left, right], body, start=zero)

    def text(self, result, sizes=""):
        taken = ", ".join(self.types[name][1] for name, _, _ in self.arguments)
        inside = ", ".join(f"%{name}: {self.types[name][1]}" for name, _, _ in self.arguments)
        outside = ", ".join(f'%{name}: {self.types[name][1]} {{ad.name = "{name}"}}' for name, _, _ in self.arguments)
        names, made = ", ".join(f"%{name}" for name, _, _ in self.arguments), self.types[result][1]
        lines = "\n".join("  " + line for line in self.lines)
        return (f"ad.kernel private @k({inside}) -> {made} attributes {{{self.attributes}}} {{\n{lines}\n"
                f"  ad.yield %{result} : {made}\n}}\n"
                f'func.func @main({outside}) -> ({made} {{ad.name = "r"}}) {{\n{sizes}'
                f"  %r = ad.launch @k({names}){' sizes(%n)' if sizes else ''} : ({taken}) -> {made}\n  return %r : {made}\n}}\n")

    def run(self, folder, result, target, sizes=""):
        given = []
        for name, element, array in self.arguments:
            elements.save(folder / f"{name}.npy", element, array)
            given.append(f"--arg={name}={folder / name}.npy")
        return runner.run(self.text(result, sizes), given, [("r", self.types[result][0])], target)["r"]


def gives(make):
    """A check that all targets compute what make() says: (program, result, expected, ...)."""
    def check(folder):
        program, result, expected, *sizes = make()
        for target in TARGETS:
            found = program.run(folder, result, target, *sizes)
            if not np.array_equal(found, expected):
                yield f"{' '.join(target)}: {np.sum(found != expected)} of {expected.size} elements differ"
    return check


def fails(make):
    """A check that all targets end with the error that make() says: (program, result, dimension, index, size, ...)."""
    def check(folder):
        program, result, dimension, index, size, *sizes = make()
        text = f"'tensor.extract' op dimension {dimension}: index {index} is outside of size {size}"
        line = next(i for i, line in enumerate(program.text(result).splitlines(), 1) if "tensor.extract" in line)
        for target in TARGETS:
            try:
                program.run(folder, result, target, *sizes)
            except runner.Failure as failure:
                if failure.code != 1 or text not in failure.text or f"program.mlir:{line}:" not in failure.text:
                    yield f"{' '.join(target)}: expected line {line}: {text}, but got {failure}"
                continue
            yield f"{' '.join(target)}: expected {text}, but the program ran"
    return check


# Indices.


def constant_index(element, index):
    def make():
        program, a = Program("elementwise"), numbers(1, element, 64, 5, 3)
        program.argument("a", element, a)
        maps = [f"(i, j) -> (i, j, {index})", "(i, j) -> (i, j)"]
        program.generic("r", element, (64, 5), maps, "pp", ["a"], [f"%s = arith.bitcast %x0 : {element} to {element}"])
        return program, "r", a[:, :, index]
    return make


def copy(element, shape, index, pick):
    """One operation that only moves elements."""
    def make():
        program, a = Program("elementwise"), numbers(2, element, *shape)
        program.argument("a", element, a)
        expected = pick(a)
        loops = ", ".join("ijk"[:expected.ndim])
        program.generic("r", element, expected.shape, [f"({loops}) -> ({index})", f"({loops}) -> ({loops})"],
                        "p" * expected.ndim, ["a"], [f"%s = arith.bitcast %x0 : {element} to {element}"])
        return program, "r", expected
    return make


def diagonal_rows():
    """Adjacent rows that are one matrix and one row apart."""
    program, a = Program("row", "#ad.order<lanes = 64, chunk = 4096>"), numbers(3, "f32", 32, 32, 8)
    program.argument("a", "f32", a)
    program.generic("r", "f32", (32,), ["(i, j) -> (i, i, j)", "(i, j) -> (i)"], "pr", ["a"],
                    ["%s = arith.addf %o, %x0 : f32"], start="0.0")
    return program, "r", np.einsum("iij->i", a)


# Contractions inside of other operations.


def product_of_product(element, left="f32", kernel_class="generic", n=64, k=32):
    def make():
        program = Program(kernel_class)
        q, w, v = numbers(1, left, n, k), numbers(2, left, n, k), numbers(3, element, n, k)
        for name, kind, array in (("q", left, q), ("w", left, w), ("v", element, v)):
            program.argument(name, kind, array)
        program.product("p", element, (n, n), ["(i, j, k) -> (i, k)", "(i, j, k) -> (j, k)", "(i, j, k) -> (i, j)"],
                        "ppr", "q", "w")
        program.product("r", element, (n, k), ["(i, d, j) -> (i, j)", "(i, d, j) -> (j, d)", "(i, d, j) -> (i, d)"],
                        "ppr", "p", "v")
        wide = elements.STORAGE[element]
        return program, "r", (q.astype(wide) @ w.astype(wide).T) @ v
    return make


def product_and_transpose(element, left, m, n, k):
    def make():
        program, a, b = Program("row"), numbers(1, left, m, k), numbers(2, left, n, k)
        program.argument("a", left, a)
        program.argument("b", left, b)
        program.product("p", element, (m, n), ["(i, j, k) -> (i, k)", "(i, j, k) -> (j, k)", "(i, j, k) -> (i, j)"],
                        "ppr", "a", "b")
        program.generic("r", element, (n, m), ["(i, j) -> (j, i)", "(i, j) -> (i, j)"], "pp", ["p"],
                        [f"%s = arith.bitcast %x0 : {element} to {element}"])
        wide = elements.STORAGE[element]
        return program, "r", (a.astype(wide) @ b.astype(wide).T).T
    return make


def symmetric_product():
    """A product that is read at its own points and transposed."""
    program, a, b = Program("contraction"), numbers(1, "f32", 48, 40), numbers(2, "f32", 48, 40)
    program.argument("a", "f32", a)
    program.argument("b", "f32", b)
    program.product("p", "f32", (48, 48), ["(i, j, k) -> (i, k)", "(i, j, k) -> (j, k)", "(i, j, k) -> (i, j)"], "ppr",
                    "a", "b")
    program.generic("r", "f32", (48, 48), ["(i, j) -> (i, j)", "(i, j) -> (j, i)", "(i, j) -> (i, j)"], "pp",
                    ["p", "p"], ["%s = arith.addf %x0, %x1 : f32"])
    s = a @ b.T
    return program, "r", s + s.T


def sum_of_product():
    program, a, b = Program("row"), numbers(1, "f32", 33, 40), numbers(2, "f32", 40, 65)
    program.argument("a", "f32", a)
    program.argument("b", "f32", b)
    program.product("p", "f32", (33, 65), ["(i, j, k) -> (i, k)", "(i, j, k) -> (k, j)", "(i, j, k) -> (i, j)"], "ppr",
                    "a", "b")
    program.generic("r", "f32", (33,), ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", ["p"],
                    ["%s = arith.addf %o, %x0 : f32"], start="0.0")
    return program, "r", (a @ b).sum(1)


# Computed indices.


def gather(rows, index_type="i64", dynamic=False):
    program, t = Program(), numbers(1, "f32", 10, 4)
    program.argument("t", "f32", t, dynamic=(0,) if dynamic else ())
    program.argument("i", index_type, np.array(rows, elements.STORAGE[index_type]))
    program.generic("r", "f32", (len(rows), 4), ["(i, j) -> (i)", "(i, j) -> (i, j)"], "pp", ["i"],
                    [f"%c = arith.index_cast %x0 : {index_type} to index", "%j = linalg.index 1 : index",
                     f"%s = tensor.extract %t[%c, %j] : {program.types['t'][1]}"])
    return program, t


def gathered(rows, **options):
    def make():
        program, t = gather(rows, **options)
        return program, "r", t[list(rows)]
    return make


def outside(rows, index, **options):
    return lambda: (gather(rows, **options)[0], "r", 0, index, 10)


def fixed(row):
    """An index that is a constant."""
    program, t = Program(), numbers(1, "f32", 10, 4)
    program.argument("t", "f32", t)
    program.generic("r", "f32", (4,), ["(j) -> (j)"], "p", [],
                    ["%j = linalg.index 0 : index", f"%c = arith.constant {row} : index",
                     f"%s = tensor.extract %t[%c, %j] : {program.types['t'][1]}"])
    return program, t


def of_loop(rows, size):
    """The index of a loop of dynamic size, which an argument of `rows` elements gives."""
    program, t, x = Program(), numbers(1, "f32", size), numbers(2, "f32", rows)
    program.argument("t", "f32", t, dynamic=(0,))
    program.argument("x", "f32", x, dynamic=(0,))
    program.lines += ["%z = arith.constant 0 : index", "%d = tensor.dim %x, %z : tensor<?xf32>"]
    program.generic("r", "f32", ("?",), ["(i) -> (i)", "(i) -> (i)"], "p", ["x"],
                    ["%i = linalg.index 0 : index", "%e = tensor.extract %t[%i] : tensor<?xf32>",
                     "%s = arith.addf %x0, %e : f32"], sizes="%d")
    return program, t, x


SIZE_OF_X = "  %z = arith.constant 0 : index\n  %n = tensor.dim %x, %z : tensor<?xf32>\n"


def inside_loop():
    program, t, x = of_loop(7, 9)
    return program, "r", x + t[:7], SIZE_OF_X


def of_computed(shift):
    """Indices that the kernel computes, into a table that it computes: squares of the rows, by sums of indices."""
    program, t, i = Program(), numbers(1, "f32", 10, 4), np.arange(12, dtype=np.int32).reshape(3, 4)
    program.argument("t", "f32", t)
    program.argument("i", "i32", i)
    program.generic("q", "f32", (10, 4), ["(i, j) -> (i, j)", "(i, j) -> (i, j)"], "pp", ["t"],
                    ["%s = arith.mulf %x0, %x0 : f32"])
    program.generic("m", "i32", (3,), ["(i, j) -> (i, j)", "(i, j) -> (i)"], "pr", ["i"],
                    ["%s = arith.maxsi %o, %x0 : i32"], start="-2147483648")
    program.generic("r", "f32", (3, 4), ["(i, j) -> (i)", "(i, j) -> (i, j)"], "pp", ["m"],
                    [f"%d = arith.constant {shift} : i32", "%h = arith.addi %x0, %d : i32",
                     "%c = arith.index_cast %h : i32 to index", "%j = linalg.index 1 : index",
                     "%s = tensor.extract %q[%c, %j] : tensor<10x4xf32>"])
    return program, t**2, i.max(1) + shift


def computed():
    program, table, rows = of_computed(-2)
    return program, "r", table[rows]


def in_sum(rows):
    """Extracted elements that are summed."""
    program, t, w = Program("contraction"), numbers(1, "f32", 10, 40), numbers(2, "f32", len(rows), 5)
    program.argument("t", "f32", t)
    program.argument("i", "i32", np.array(rows, np.int32))
    program.argument("w", "f32", w)
    program.generic("r", "f32", (40, 5), ["(n, c, k) -> (k)", "(n, c, k) -> (k, c)", "(n, c, k) -> (n, c)"], "ppr",
                    ["i", "w"], ["%c = arith.index_cast %x0 : i32 to index", "%n = linalg.index 0 : index",
                                 "%e = tensor.extract %t[%c, %n] : tensor<10x40xf32>",
                                 "%s = math.fma %e, %x1, %o : f32"], start="0.0")
    return program, t, w


def summed():
    rows = [3, 9, 0, 0, 7]
    program, t, w = in_sum(rows)
    return program, "r", t[rows].T @ w


def nothing():
    """No iteration, no access."""
    program, t = gather([11])
    program.arguments, program.lines, program.types = program.arguments[:1], [], {"t": program.types["t"]}
    program.argument("i", "i64", np.zeros(0, np.int64))
    program.generic("r", "f32", (0, 4), ["(i, j) -> (i)", "(i, j) -> (i, j)"], "pp", ["i"],
                    ["%c = arith.constant 11 : index", "%j = linalg.index 1 : index",
                     "%s = tensor.extract %t[%c, %j] : tensor<10x4xf32>"])
    return program, "r", np.zeros((0, 4), np.float32)


def cases():
    for element in ("f32", "f64", "f16", "i8", "i32", "i64"):
        for index in (0, 2):
            yield f"constant index {index} of {element}", gives(constant_index(element, index))
    yield "reversed rows", gives(copy("f32", (64, 9), "i, j * -1 + 8", lambda a: a[:, ::-1]))
    yield "every second column", gives(copy("f32", (64, 9), "i, j * 2 + 1", lambda a: a[:, 1:8:2]))
    yield "diagonal", gives(copy("f32", (48, 48), "i, i", np.diagonal))
    yield "diagonal of bytes", gives(copy("i8", (48, 48, 3), "i, i, j", lambda a: np.einsum("iij->ij", a)))
    yield "constant row", gives(copy("f32", (5, 33), "3, i", lambda a: a[3]))
    yield "diagonal rows", gives(diagonal_rows)
    yield "product of product", gives(product_of_product("f32"))
    yield "product of product, class contraction", gives(product_of_product("f32", kernel_class="contraction"))
    yield "product of product of bytes", gives(product_of_product("i32", "i8", "contraction"))
    yield "product of product of f64", gives(product_of_product("f64", "f64", n=33, k=17))
    yield "product and transpose", gives(product_and_transpose("f32", "f32", 2, 17, 64))
    yield "product and transpose of bytes", gives(product_and_transpose("i32", "i8", 40, 17, 64))
    yield "product and its transpose", gives(symmetric_product)
    yield "sum of product", gives(sum_of_product)
    yield "gather", gives(gathered([9, 0, 3]))
    yield "gather from a dynamic size", gives(gathered([9, 0, 3], dynamic=True))
    yield "loop inside", gives(inside_loop)
    yield "computed table", gives(computed)
    yield "gather in a sum", gives(summed)
    yield "no iterations", gives(nothing)
    yield "constant inside", gives(lambda: (fixed(9)[0], "r", fixed(9)[1][9]))
    yield "constant outside", fails(lambda: (fixed(10)[0], "r", 0, 10, 10))
    yield "negative constant", fails(lambda: (fixed(-1)[0], "r", 0, -1, 10))
    yield "index outside", fails(outside([9, 0, 10], 10))
    yield "first index outside", fails(outside([0, -7, 3, 10], -7))
    yield "large index", fails(outside([0] * 100 + [10**12], 10**12))
    yield "index of a byte", fails(outside([0, -128], -128, index_type="i8"))
    yield "index outside of a dynamic size", fails(outside([1, 11], 11, dynamic=True))
    yield "loop outside", fails(lambda: (of_loop(9, 7)[0], "r", 0, 7, 7, SIZE_OF_X))
    yield "outside of a computed table", fails(lambda: (of_computed(3)[0], "r", 0, 10, 10))
    yield "outside in a sum", fails(lambda: (in_sum([3, 9, 10, 0, 7])[0], "r", 0, 10, 10))


if __name__ == "__main__":
    sys.exit(checks.run_checks("foreign_kernels", checks.sample(cases(), 3)))
