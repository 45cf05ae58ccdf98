# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Functions of upstream's dialects as campaigns draw them: arguments with their values, and text. Where upstream lowers
an operation nowhere, its text has other operations that compute the same."""

import numpy as np

import elements

SIZES = [1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17]


class Value:
    def __init__(self, name, element, sizes, static=None):
        self.name, self.element, self.sizes = name, element, tuple(int(size) for size in sizes)
        self.static = tuple(static) if static is not None else (True,) * len(self.sizes)

    @property
    def rank(self):
        return len(self.sizes)

    @property
    def type(self):
        return elements.tensor(self.element, [size if known else "?" for size, known in zip(self.sizes, self.static)])

    @property
    def storage(self):
        """The element type of the memory: an index has 64 bits."""
        return "i64" if self.element == "index" else self.element


class ImportProgram:
    """One function. `smooth` ones are differentiable nearly everywhere, in f64."""

    def __init__(self, rng, smooth):
        self.rng, self.smooth = rng, smooth
        self.float = "f64" if smooth else self.pick(["f32", "f32", "f32", "f64", "f16", "bf16"])
        self.integer = self.pick(["i32", "i64", "i8"])
        self.dynamic = self.pick([0.0, 0.0, 0.5])
        self.empty = self.pick([0.0] * 9 + [0.3])
        self.arguments, self.values, self.used = [], [], []
        self.lines, self.upstream_lines, self.count = [], [], 0

    #- Drawing -#

    def pick(self, items):
        return items[int(self.rng.integers(0, len(items)))]

    def chance(self, share):
        return self.rng.random() < share

    def size(self, low=0):
        return 0 if low == 0 and self.chance(self.empty) else max(low, self.pick(SIZES))

    def rank(self, low=1, high=3):
        return int(self.rng.integers(low, high + 1))

    def element(self):
        return self.float if self.smooth or self.chance(0.75) else self.integer

    #- Text -#

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    def emit(self, line, ours=True, upstream=True):
        if ours:
            self.lines.append(line)
        if upstream:
            self.upstream_lines.append(line)

    def constant(self, element, value):
        name = self.name()
        text = f"{float(value)!r}" if elements.is_float(element) else f"{int(value)}"
        self.emit(f"{name} = arith.constant {text} : {element}")
        return name

    def index(self, number):
        return self.constant("index", number)

    def extent(self, value, axis):
        """The size of an axis as it is written: a number, or the name of an index."""
        if value.static[axis]:
            return str(value.sizes[axis])
        name = self.name()
        self.emit(f"{name} = tensor.dim {value.name}, {self.index(axis)} : {value.type}")
        return name

    def extents(self, value):
        return [self.extent(value, axis) for axis in range(value.rank)]

    def result(self, element, sizes, static):
        return Value(self.name(), element, sizes, static)

    def like(self, value, element=None):
        return self.result(element or value.element, value.sizes, value.static)

    def empty_like(self, value, extents):
        """The name of a tensor of the value's type that nobody has written."""
        name = self.name()
        dynamic = [extent for extent, known in zip(extents, value.static) if not known]
        self.emit(f"{name} = tensor.empty({', '.join(dynamic)}) : {value.type}")
        return name

    def filled(self, value, extents, number):
        scalar, empty, name = self.constant(value.element, number), self.empty_like(value, extents), self.name()
        self.emit(f"{name} = linalg.fill ins({scalar} : {value.element}) outs({empty} : {value.type}) -> {value.type}")
        return name

    #- Values -#

    def argument(self, element, sizes, array=None):
        value = Value(f"%a{len(self.arguments)}", element, sizes, [not self.chance(self.dynamic) for _ in sizes])
        if array is None and elements.is_float(element):
            array = elements.encode(element, self.rng.normal(size=value.sizes))
        elif array is None:
            array = self.rng.integers(-9, 10, value.sizes).astype(elements.STORAGE[element])
        self.arguments.append((value, np.asarray(array)))
        self.values.append(value)
        return value

    def indices(self, sizes, limit, element):
        """An argument of indices below the limit, which no other operation reads."""
        array = np.asarray(self.rng.integers(0, limit, sizes)).astype(np.int32 if element == "i32" else np.int64)
        value = self.argument(element, sizes, array)
        self.values.remove(value)
        return value

    def source(self, element=None, low=1, high=3, least=0):
        """A value that is there already, or a new argument."""
        fits = [v for v in self.values if low <= v.rank <= high and (element or v.element) == v.element and
                all(size >= least for size in v.sizes)]
        if fits and self.chance(0.75):
            value = fits[-1] if self.chance(0.7) else self.pick(fits)
            self.used.append(value)
            return value
        return self.argument(element or self.element(), [self.size(least) for _ in range(self.rank(low, high))])

    def of_shape(self, value, element=None):
        """Another value of that shape, which is not known less."""
        fits = [v for v in self.values if v.sizes == value.sizes and v.static == value.static and
                v.element == (element or value.element)]
        if fits and self.chance(0.5):
            return self.pick(fits)
        made = self.argument(element or value.element, value.sizes)
        if made.static != value.static:
            made.static = value.static
        return made

    def add(self, value):
        self.values.append(value)
        return value

    #- The whole -#

    def function(self, name, upstream=False, returned=None):
        arguments = ", ".join(f"{value.name}: {value.type}" for value, _ in self.arguments)
        value = returned or self.values[-1]
        body = "\n  ".join(self.upstream_lines if upstream else self.lines)
        attribute = " attributes {llvm.emit_c_interface}" if upstream else ""
        visibility = "" if upstream else "private "
        return (f"func.func {visibility}@{name}({arguments}) -> {value.type}{attribute} {{\n  {body}\n"
                f"  return {value.name} : {value.type}\n}}\n")
