# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random well-typed `ad` functions: values with static and run-time sizes, and the program that they make.

The run-time sizes are known here, so that every program is valid at run time. The operations are listed in
operations.py."""

import numpy as np

import elements
from draws import Draws

LONG = [64, 65, 100, 130, 513, 600, 1030]


class Value:
    def __init__(self, name, element, static, sizes):
        self.name, self.element, self.static, self.sizes = name, element, tuple(static), tuple(sizes)

    @property
    def rank(self):
        return len(self.sizes)

    @property
    def type(self):
        return tensor_type(self.element, self.static)

    def __str__(self):
        return "%" + self.name


def tensor_type(element, static):
    return "tensor<" + "".join(("?" if size is None else str(size)) + "x" for size in static) + element + ">"


class Op:
    """One operation: `text` follows `%result =`; `prelude` are lines that make its index operands."""

    def __init__(self, mnemonic, result, operands, text, prelude, attributes):
        self.mnemonic, self.result, self.operands = mnemonic, result, operands
        self.text, self.prelude, self.attributes = text, prelude, attributes

    @property
    def results(self):
        return [self.result]

    def lines(self):
        return [*self.prelude, f"{self.result} = {self.text}"]

    def nested(self):
        """Operations in the regions of this one, or in the function that it calls."""
        return []

    def functions(self):
        """Text of the functions that it calls; the $ in their names is replaced by the program's name."""
        return [function for op in self.nested() for function in op.functions()]


class Program:
    def __init__(self, arguments, ops, outputs):
        self.arguments, self.ops, self.outputs = arguments, ops, outputs  # arguments: [(value, array)]

    def used(self):
        """The same program without what no output needs."""
        needed = {value.name for value in self.outputs}
        ops = []
        for op in reversed(self.ops):
            if any(result.name in needed for result in op.results):
                needed.update(value.name for value in op.operands)
                ops.append(op)
        return Program([a for a in self.arguments if a[0].name in needed], ops[::-1], self.outputs)

    def function(self, name, prefix="", visibility=""):
        """Text of the function, and of those that it calls; names of arguments and results in files start with the
        prefix."""
        return self.plain(name, prefix, visibility).replace("$", f"{name}_")

    def plain(self, name, prefix, visibility):
        label = lambda text: f' {{ad.name = "{prefix}{text}"}}' if prefix is not None else ""
        inputs = ", ".join(f"{value}: {value.type}{label(value.name)}" for value, _ in self.arguments)
        results = ", ".join(f"{value.type}{label('r' + str(i))}" for i, value in enumerate(self.outputs))
        body = "".join(f"  {line}\n" for op in self.ops for line in op.lines())
        returned = ", ".join(str(value) for value in self.outputs)
        types = ", ".join(value.type for value in self.outputs)
        text = f"func.func {visibility}@{name}({inputs}) -> ({results}) {{\n{body}  return {returned} : {types}\n}}\n"
        callees = "".join(function for op in self.ops for function in op.functions())
        return callees + text

    def feeds(self):
        """{name: array} of what feeds stream, along the first axis; the $ is replaced by the program's name."""
        return dict(op.attributes["feed"] for op in self.all_ops() if "feed" in op.attributes)

    def received(self):
        """What is received, as values whose first axis runs over the executions."""
        values = [op.attributes["receive"] for op in self.all_ops() if "receive" in op.attributes]
        return list({value.name: value for value in values}.values())

    def all_ops(self):
        """Operations with all that they hold."""
        ops = list(self.ops)
        for op in ops:
            ops += op.nested()
        return ops


def join_static(shapes):
    """The static shape of a broadcast: a size other than 1 wins, then `?`, then 1."""
    rank = max(len(shape) for shape in shapes)
    result = [1] * rank
    for shape in shapes:
        for axis, size in enumerate(shape, rank - len(shape)):
            if result[axis] in (1, None) and size != 1 and (result[axis] == 1 or size is not None):
                result[axis] = size
    return tuple(result)


def common_static(left, right):
    return right if left is None else left


class Generator(Draws):
    """Grows one program. Operands are earlier values, arguments made for the purpose, or constants."""

    largest = 600  # elements of a value
    advance = None  # makes the next value of what loops carry, given one; None: an operation or two
    finish = None  # called at the end of a block, with what that yields

    def __init__(self, rng, special=None, dynamic=0.3, reuse=0.65, constants=0.1):
        self.rng = rng
        self.special = rng.choice([0.0, 0.0, 0.15]) if special is None else special
        self.dynamic, self.reuse, self.constants = dynamic, reuse, constants
        self.alike = 0.4  # how often a value that broadcasts with another is a known one of the same sizes
        self.repeated = 0.2  # how often an axis of such a value has size 1
        self.arguments, self.ops, self.values = [], [], []
        self.count = self.depth = 0
        self.loops = []  # those around what is made now (control.Iterations)
        self.focus = None  # a value that operands should be
        self.carried = None  # the element types of what loops carry; None for all
        self.types = None  # the element types of operations, where they have a choice; None for all
        self.long_axes = 0.05  # how often attention has more queries or keys than a block
        self.open_windows = False  # whether types leave open the sizes of windows, which derivatives need

    def name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    # Shapes.

    def size(self):
        return int(self.rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 33],
                                   p=[.04, .2, .14, .14, .12, .12, .07, .07, .04, .03, .03]))

    def sizes(self, rank, limit=None):
        sizes = [self.size() for _ in range(rank)]
        while int(np.prod(sizes, dtype=np.int64)) > (self.largest if limit is None else limit):
            sizes[int(np.argmax(sizes))] = int(self.rng.integers(1, 4))
        return tuple(sizes)

    def rank(self, low=0, high=4):
        return int(self.rng.integers(low, high + 1))

    def static(self, sizes):
        return tuple(None if self.chance(self.dynamic) else size for size in sizes)

    # Values.

    def argument(self, element, sizes, static=None, array=None):
        static = self.static(sizes) if static is None else static
        if array is None:
            array = np.asarray(elements.random(self.rng, element, sizes, self.special))
        if array.size and array.size <= 64 and None not in static and self.chance(self.constants):
            return self.constant(element, sizes, array)
        value = Value(self.name("a"), element, static, sizes)
        self.arguments.append((value, array))
        self.values.append(value)
        return value

    def adopt(self, value, array):
        """An argument that was made elsewhere."""
        self.arguments.append((value, array))
        self.values.append(value)

    def constant(self, element, sizes, array):
        if element == "i1":
            text = str(array.tolist()).replace("True", "true").replace("False", "false")
        else:
            text = '"0x' + np.ascontiguousarray(array).tobytes().hex().upper() + '"'
        type = tensor_type(element, sizes)
        # Other compilers write those of arith. A splat of one element would be read as one, so its type says all.
        name = "arith.constant" if self.chance(0.3) else "ad.constant"
        return self.add("constant", element, sizes, sizes, [], f"{name} dense<{text}> : {type}", [],
                        {"value": array})

    def operand(self, element, low=0, high=4, where=None):
        """A value of the element type with a rank in the range."""
        fits = lambda v: v.element == element and low <= v.rank <= high and (where is None or where(v))
        if self.focus is not None and fits(self.focus) and self.chance(0.8):
            return self.focus
        fitting = [v for v in self.values if fits(v)]
        if fitting and self.chance(self.reuse):
            return self.pick(fitting)
        while True:
            value_sizes = self.sizes(self.rank(low, high))
            probe = Value("", element, value_sizes, value_sizes)
            if where is None or where(probe):
                return self.argument(element, value_sizes)

    def like(self, value, element=None):
        """A value that broadcasts with the given one."""
        element = element or value.element
        equal = [v for v in self.values if v.element == element and v.sizes == value.sizes]
        if equal and self.chance(self.alike):
            return self.pick(equal)
        sizes, static = list(value.sizes), list(self.static(value.sizes))
        for axis in range(len(sizes)):
            if self.chance(self.repeated):
                sizes[axis] = 1
                static[axis] = None if self.chance(self.dynamic) else 1
            elif sizes[axis] == 1 and self.chance(0.3 if self.repeated else 0):
                sizes[axis] = self.pick([2, 3, 5])
                static[axis] = None if self.chance(self.dynamic) else sizes[axis]
        drop = self.rank(0, len(sizes)) if self.chance(0.25) else 0
        return self.argument(element, tuple(sizes[drop:]), tuple(static[drop:]))

    def add(self, mnemonic, element, static, sizes, operands, text, prelude=(), attributes=None):
        result = Value(self.name("v"), element, static, sizes)
        assert all(s is None or s == n for s, n in zip(result.static, result.sizes)), (mnemonic, static, sizes)
        self.ops.append(Op(mnemonic, result, list(operands), text, list(prelude), attributes or {}))
        self.values.append(result)
        return result

    def index(self, number, prelude, operands):
        """An index operand: a constant, or the size of an argument that is known at run time only."""
        name = self.name("n")
        if self.chance(0.5) or number < 0 or number > 40:
            prelude.append(f"%{name} = arith.constant {number} : index")
            return "%" + name
        carrier = next((a for a, _ in self.arguments if a.rank and a.sizes[0] == number and a.static[0] is None), None)
        if carrier is None:
            carrier = self.argument("i8", (number,), (None,), np.zeros(number, np.int8))
        prelude += [f"%{name}z = arith.constant 0 : index",
                    f"%{name} = tensor.dim {carrier}, %{name}z : {carrier.type}"]
        operands.append(carrier)
        return "%" + name

    def dynamic_sizes(self, static, sizes, prelude, operands):
        """The list `(%n, …)` of index operands for the `?` of a result, empty when there is none."""
        names = [self.index(n, prelude, operands) for s, n in zip(static, sizes) if s is None]
        return f"({', '.join(names)})" if names else ""

    def program(self):
        read = {value.name for op in self.ops for value in op.operands}
        outputs = [result for op in self.ops for result in op.results
                   if result.name not in read or self.chance(0.15)]
        return Program(self.arguments, self.ops, outputs).used()
