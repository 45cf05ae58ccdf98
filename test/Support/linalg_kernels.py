# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random kernels of linalg.generic as other compilers write them, and what they give in NumPy, bit for bit.

Loops come in any order, maps are permuted, reversed, repeated or windows, outs are arguments, fills or computed. The
sum of a reduction follows docs/numerics.md: partial results start at the neutral element, and outs that are another
value join last."""

import numpy as np

import elements
from draws import Draws
from generator import tensor_type
from linalg_sums import COMBINERS

SIZES = [1, 1, 2, 3, 4, 5, 8, 15, 16, 17, 33]
EXTENTS = [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 511, 512, 513, 600, 1024, 1025,
          2050, 4095,
          4096, 4097, 8200]
MAX_POINTS = 40000  # of an iteration space
CLASSES = ["generic", "generic", "row", "contraction", "elementwise", "transposition", "scan"]


class Value:
    def __init__(self, name, element, sizes, array, static=None, sources=None):
        self.name, self.element, self.sizes, self.array = name, element, tuple(sizes), array
        self.static = list(static or sizes)  # None: dynamic
        self.sources = list(sources or [None] * len(sizes))  # (argument, axis) of such a size

    @property
    def type(self):
        return tensor_type(self.element, self.static)

    def __str__(self):
        return "%" + self.name


class Index:
    """An index expression: the sum of loops times numbers, and a number."""

    def __init__(self, loops=(), constant=0):
        self.loops, self.constant = dict(loops), constant

    def __str__(self):
        terms = [f"d{loop}" if factor == 1 else f"d{loop} * {factor}" for loop, factor in self.loops.items()]
        return " + ".join(terms + [str(self.constant)] * (self.constant != 0 or not terms)).replace("+ -", "- ")

    def at(self, grid):
        return sum((grid[loop] * factor for loop, factor in self.loops.items()), np.int64(self.constant))


def affine_map(loops, exprs):
    return f"affine_map<({', '.join(f'd{i}' for i in range(loops))}) -> ({', '.join(map(str, exprs))})>"


class Kernel(Draws):
    """Grows one kernel; `results` are the values that it yields, with what they are."""

    def __init__(self, rng):
        self.rng, self.count = rng, 0
        self.arguments, self.lines, self.results = [], [], []
        self.order, self.refused = "", None  # why the kernel is to be refused
        self.special = float(rng.choice([0.0, 0.0, 0.1]))
        self.dynamic = float(rng.choice([0.0, 0.0, 0.5]))
        self.kernel_class = self.pick(CLASSES)

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def argument(self, element, sizes):
        array = np.asarray(elements.random(self.rng, element, sizes, self.special))
        static = [None if self.chance(self.dynamic) else size for size in sizes]
        value = Value(self.name("a"), element, sizes, array, static)
        value.sources = [(value, axis) if size is None else None for axis, size in enumerate(static)]
        self.arguments.append(value)
        return value

    def constant(self, element, number):
        name = "%" + self.name("c")
        text = f"0x{number.view(f'u{number.itemsize}'):X}" if elements.is_float(element) else str(int(number))
        self.lines.append(f"{name} = arith.constant {text} : {element}")
        return name

    def empty(self, element, sizes, sources):
        """A tensor without content, some of whose sizes come from arguments."""
        static, names = [], []
        for size, source in zip(sizes, sources):
            dynamic = source is not None and self.chance(0.5)
            static.append(None if dynamic else size)
            if dynamic:
                names.append("%" + self.name("n"))
                zero = self.name("z")
                self.lines += [f"%{zero} = arith.constant {source[1]} : index",
                               f"{names[-1]} = tensor.dim {source[0]}, %{zero} : {source[0].type}"]
        value = Value(self.name("e"), element, sizes, None, static,
                      [source if size is None else None for size, source in zip(static, sources)])
        self.lines.append(f"{value} = tensor.empty({', '.join(names)}) : {value.type}")
        return value

    def fill(self, element, sizes, sources, number):
        empty = self.empty(element, sizes, sources)
        scalar = self.constant(element, number)
        value = Value(self.name("f"), element, sizes, np.full(sizes, number), empty.static, empty.sources)
        self.lines.append(f"{value} = linalg.fill ins({scalar} : {element}) outs({empty} : {empty.type}) -> {value.type}")
        return value

    def generic(self, iterators, inputs, inits, body, yields, arrays):
        """inputs, inits: [(value, [Index])]; the names of block arguments are x0, x1, …, o0, o1, …"""
        maps = ", ".join(affine_map(len(iterators), exprs) for _, exprs in inputs + inits)
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
        results = [Value(self.name("v"), init.element, init.sizes, array, init.static, init.sources)
                   for (init, _), array in zip(inits, arrays)]
        group = lambda word, values: f" {word}({', '.join(map(str, values))} : {', '.join(v.type for v in values)})" if values else ""
        blocks = [f"%x{i}: {v.element}" for i, (v, _)
                  in enumerate(inputs)] + [f"%o{i}: {v.element}" for i, (v, _) in enumerate(inits)]
        types = ", ".join(v.type for v in results)
        base, shown = results[0].name, f"({types})" if len(results) > 1 else types
        if len(results) > 1:
            for i, value in enumerate(results):
                value.name = f"{base}#{i}"
        head = f"%{base}{f':{len(results)}' if len(results) > 1 else ''}"
        self.lines += [
            f"{head} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}"
            f"{group('ins', [v for v, _ in inputs])}{group('outs', [v for v, _ in inits])} {{",
            f"^bb0({', '.join(blocks)}):", *("  " + line for line in body),
            f"  linalg.yield {', '.join(yields)} : {', '.join(v.element for v in results)}", f"}} -> {shown}"]
        return results

    def function(self, name):
        arguments = ", ".join(f"{value}: {value.type}" for value in self.arguments)
        types = ", ".join(value.type for value in self.results)
        order = f", order = {self.order}" if self.order else ""
        body = "".join(f"  {line}\n" for line in self.lines)
        return (f"ad.kernel private @{name}({arguments}) -> ({types}) attributes "
                f"{{kernel_class = \"{self.kernel_class}\"{order}}} {{\n{body}"
                f"  ad.yield {', '.join(map(str, self.results))} : {types}\n}}\n")


class Body:
    """Scalar code over an iteration space: names of values, and their arrays."""

    def __init__(self, kernel, sizes):
        self.kernel, self.sizes, self.lines = kernel, sizes, []
        self.grid = np.indices(sizes, sparse=True)

    def emit(self, text, array):
        name = f"%s{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name, array

    def read(self, value, exprs, name):
        """A block argument; what has a small type is widened when it is used."""
        index = tuple(np.broadcast_to(expr.at(self.grid), self.sizes) for expr in exprs)
        return name, value.element, np.broadcast_to(value.array[index] if index else value.array, self.sizes)

    def widened(self, argument, element):
        name, own, array = argument
        if own == element:
            return name, array
        if elements.is_float(own):
            return self.emit(f"arith.extf {name} : {own} to {element}",
                             elements.decode(own, array).astype(elements.STORAGE[element]))
        if own == "i1":
            return self.emit(f"arith.extui {name} : i1 to {element}", array.astype(elements.STORAGE[element]))
        return self.emit(f"arith.extsi {name} : {own} to {element}", array.astype(elements.STORAGE[element]))

    def number(self, element):
        kind = elements.STORAGE[element]
        number = kind(self.kernel.pick([0.5, -1.25,
                                        3.0])) if elements.is_float(element) else kind(self.kernel.pick([1, -3, 7]))
        return self.kernel.constant(element, number), number

    def loop_index(self, element):
        loop = int(self.kernel.rng.integers(len(self.sizes)))
        index, _ = self.emit(f"linalg.index {loop} : index", None)
        numbers = np.broadcast_to(self.grid[loop], self.sizes)
        name, _ = self.emit(f"arith.index_cast {index} : index to i32", None)
        if elements.is_float(element):
            return self.emit(f"arith.sitofp {name} : i32 to {element}", numbers.astype(elements.STORAGE[element]))
        if element == "i64":
            return self.emit(f"arith.extsi {name} : i32 to i64", numbers.astype(np.int64))
        return name, numbers.astype(np.int32)

    def step(self, x, element, others):
        """The value after one more operation."""
        kind = self.kernel.pick(["constant", "other", "other", "select", "unary", "index"])
        if kind == "unary" and elements.is_float(element):
            op, apply = self.kernel.pick([("arith.negf", np.negative), ("math.absf", np.abs)])
            return self.emit(f"{op} {x[0]} : {element}", apply(x[1]))
        if kind == "index" and self.sizes and element in ("f32", "f64", "i32", "i64"):
            y = self.loop_index(element)
        else:
            y = self.kernel.pick(others) if others and kind != "constant" else self.number(element)
        if kind == "select":
            condition = ("cmpf olt", np.less) if elements.is_float(element) else ("cmpi slt", np.less)
            name, holds = self.emit(f"arith.{condition[0].replace(' ', ' ' )}, {x[0]}, {y[0]} : {element}",
                                    condition[1](x[1], y[1]))
            return self.emit(f"arith.select {name}, {x[0]}, {y[0]} : {element}", np.where(holds, x[1], y[1]))
        names = ["addf", "subf", "mulf", "maximumf", "minimumf"] if elements.is_float(element) else \
            ["addi", "subi", "muli", "maxsi", "minsi", "andi", "ori", "xori"]
        name = self.kernel.pick(names)
        return self.emit(f"arith.{name} {x[0]}, {y[0]} : {element}", COMBINERS[name](x[1], y[1]))

    def expression(self, arguments, element, length):
        values = [self.widened(argument, element) for argument in arguments]
        x = values[0] if values else self.loop_index(element) if self.sizes else self.number(element)
        for other in values[1:]:
            name = self.kernel.pick(["mulf", "addf", "mulf"] if elements.is_float(element) else ["muli", "addi"])
            x = self.emit(f"arith.{name} {x[0]}, {other[0]} : {element}", COMBINERS[name](x[1], other[1]))
        for _ in range(length):
            x = self.step(x, element, values)
        return x[0], np.broadcast_to(np.asarray(x[1], elements.STORAGE[element]), self.sizes)


def narrower(kernel, element):
    """An element type that widens to the given one."""
    return kernel.pick({"f32": ["f32", "f32", "f16", "bf16"], "f64": ["f64", "f64", "f32"], "f16": ["f16"],
                        "i32": ["i32", "i8", "i1"], "i64": ["i64", "i32", "i8"]}[element])


def static_sizes(value, exprs):
    """Makes the sizes of the axes static that a map does not index by one loop, as linalg's verifier requires."""
    for axis, expr in enumerate(exprs):
        if list(expr.loops.values()) != [1] or expr.constant:
            value.static[axis], value.sources[axis] = value.sizes[axis], None
    return value


def operand(kernel, element, sizes, loops, window=None):
    """An argument that the loops index in a random order, with what its map says; unit axes may come between."""
    exprs, shape = [], []
    for loop in kernel.rng.permutation(loops):
        loop, size = int(loop), sizes[int(loop)]
        if window and loop == window[0]:  # in a sum with another loop: a convolution
            exprs.append(Index({loop: 1, window[1]: 1}))
            shape.append(size + sizes[window[1]] - 1)
        elif kernel.chance(0.08):
            exprs.append(Index({loop: -1}, size - 1))
            shape.append(size)
        elif kernel.chance(0.06):
            exprs.append(Index({loop: 2}, 1))
            shape.append(2 * size)
        else:
            exprs.append(Index({loop: 1}))
            shape.append(size)
        if kernel.chance(0.08):
            exprs.append(Index())
            shape.append(1)
    value = kernel.argument(element, tuple(shape))
    return static_sizes(value, exprs), exprs


def sources_of(operands, loops):
    """For each loop an argument axis of its size, if the size is dynamic."""
    found = {}
    for value, exprs in operands:
        for axis, expr in enumerate(exprs):
            if len(expr.loops) == 1 and value.sources[axis] is not None:
                found[next(iter(expr.loops))] = value.sources[axis]
    return [found.get(loop) for loop in loops]
