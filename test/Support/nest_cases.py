# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random loop nests and ordered writes in the dialect of ad-runner-nests, and what they give, by plain loops over NumPy
scalars."""

import dataclasses
import itertools
import re

import numpy as np

TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i32": np.int32, "i8": np.int8, "i64": np.int64, "i1": np.bool_}
MAX_ELEMENTS = 20000  # of an operand whose indices lie far apart
REDUCTIONS = ["sum", "max", "argmax", "linear"]


class Refused(Exception):
    """A program that is an error; these are words of the message."""


class Outside(Refused):
    """An index that means an error."""

    def __init__(self, axis, index, size):
        super().__init__(f"dimension {axis}: index {index} is outside of size {size}")
        self.axis, self.index, self.size = axis, index, size


@dataclasses.dataclass
class Operand:
    name: str
    element: str
    array: np.ndarray
    indices: list  # one text per axis, of d0 … and s0 …
    symbols: list  # numbers of operands
    outside: str = "error"
    padding: object = None
    open: tuple = ()  # axes whose size the type leaves open
    negations: int = 0  # by operations before the nest
    named: bool = False  # these are one named kernel

    @property
    def type(self):
        sizes = ["?" if axis in self.open else str(size) for axis, size in enumerate(self.array.shape)]
        return f"tensor<{'x'.join(sizes + [self.element])}>"

    def access(self, loops):
        dims = ", ".join(f"d{i}" for i in range(loops))
        symbols = f"[{', '.join(f's{i}' for i in range(len(self.symbols)))}]" if self.symbols else ""
        parts = [f"map = affine_map<({dims}){symbols} -> ({', '.join(self.indices)})>"]
        if self.symbols:
            parts.append(f"indices = array<i32: {', '.join(map(str, self.symbols))}>")
        if self.outside != "error":
            parts.append(f'outside = "{self.outside}"')
        if self.padding is not None:
            parts.append(f"padding = {self.padding} : {self.element}")
        return "{" + ", ".join(parts) + "}"


@dataclasses.dataclass
class Case:
    loops: str
    extents: list
    operands: list
    results: list  # lists of loops
    elements: list  # of results
    combine: str
    sizes: bool  # the operation says the sizes of its loops
    open: bool  # the type of the result leaves its sizes open
    after: str  # "", "negate" or "rows": what follows the first result
    writes: bool = False
    lie: object = None  # a loop of which the operation says another size than the result has

    def result_type(self, number):
        if self.writes:
            return self.operands[0].type
        sizes = ["?" if self.open else str(self.extents[loop]) for loop in self.results[number]]
        return f"tensor<{'x'.join(sizes + [self.elements[number]])}>"

    def values(self):
        """The types of what the function returns, and its body."""
        lines, names = [], []
        for operand in self.operands:
            names.append(f"%{operand.name}")
            if operand.negations:
                made = (f'"nest.kernel"(%{operand.name}) {{depth = {operand.negations - 1}}} : ({operand.type}) -> '
                        f'{operand.type}' if operand.named else f"ad.neg %{operand.name} : {operand.type}")
                lines.append(f"%{operand.name}n = {made}")
                names[-1] += "n"
        count = len(self.elements)
        types = [self.result_type(number) for number in range(count)]
        dims = ", ".join(f"d{i}" for i in range(len(self.loops)))
        maps = ", ".join(f"affine_map<({dims}) -> ({', '.join(f'd{loop}' for loop in loops)})>" for loops in self.results)
        attributes = [f'loops = "{self.loops}"', f'combine = "{self.combine}"',
                      f"accesses = [{', '.join(operand.access(len(self.loops)) for operand in self.operands)}]"]
        if not self.writes:
            attributes.append(f"results = [{maps}]")
        if self.sizes:
            said = [size + (loop == self.lie) for loop, size in enumerate(self.extents)]
            attributes.append(f"sizes = array<i64: {', '.join(map(str, said))}>" if said else "sizes = array<i64>")
        lines.append(f'%r:{count} = "nest.{"write" if self.writes else "loops"}"({", ".join(names)}) '
                     f'{{{", ".join(attributes)}}} : ({", ".join(o.type for o in self.operands)}) -> '
                     f'({", ".join(types)})')
        returned = [f"%r#{number}" for number in range(count)]
        if self.after:
            lines.append(f"%a = ad.neg {returned[0]} : {types[0]}")
            returned[0] = "%a"
        if self.after == "rows":
            sizes = types[0][len("tensor<"):-1].split("x")
            reduced = f"tensor<{'x'.join(sizes[:-2] + sizes[-1:])}>"
            lines.append(f"%m = ad.reduce_max %a axes [{len(sizes) - 2}] : {types[0]} -> {reduced}")
            returned.append("%m")
            types.append(reduced)
        return types, lines, returned

    def expected(self):
        """The results; raises Refused or Outside."""
        if self.lie is not None:
            raise Refused(f"expected {self.extents[self.lie]} iterations of loop d{self.lie}, the size of axis "
                          f"{self.results[0].index(self.lie)} of result 0, but got {self.extents[self.lie] + 1}")
        arrays = [np.asarray(-operand.array if operand.negations % 2 else operand.array) for operand in self.operands]
        with np.errstate(all="ignore"):
            results = (written if self.writes else computed)(self, arrays)
            if self.after:
                results[0] = np.asarray(-results[0])
            if self.after == "rows":
                results.append(results[0].max(axis=-1))
        return results


class Wrapped(int):
    """A number of 64 bits."""

    def __new__(cls, value):
        return super().__new__(cls, (int(value) + 2**63) % 2**64 - 2**63)

    def __add__(self, other):
        return Wrapped(int(self) + int(other))

    def __sub__(self, other):
        return Wrapped(int(self) - int(other))

    def __mul__(self, other):
        return Wrapped(int(self) * int(other))

    def __floordiv__(self, other):
        return Wrapped(int(self) // int(other))

    def __mod__(self, other):
        return Wrapped(int(self) % int(other))


def evaluate(text, loops, symbols):
    loops, symbols = (list(map(Wrapped, numbers)) for numbers in (loops, symbols))
    values = {f"d{i}": loop for i, loop in enumerate(loops)} | {f"s{i}": symbol for i, symbol in enumerate(symbols)}
    return eval(text.replace("floordiv", "//").replace("mod", "%"), {}, values)


def position(case, arrays, operand, loops):
    """Where the iteration accesses the operand; None where that is outside and no error."""
    symbols = [int(read(case, arrays, case.operands[number], loops)) for number in operand.symbols]
    found = []
    array = arrays[case.operands.index(operand)]
    for axis, text in enumerate(operand.indices):
        index, size = evaluate(text, loops, symbols), array.shape[axis]
        if not 0 <= index < size:
            if operand.outside == "error":
                raise Outside(axis, index, size)
            if operand.outside != "clamp":
                return None
            index = min(max(index, 0), size - 1)
        found.append(index)
    return tuple(found)


def read(case, arrays, operand, loops):
    at = position(case, arrays, operand, loops)
    return operand.array.dtype.type(operand.padding) if at is None else arrays[case.operands.index(operand)][at]


def check(case, arrays):
    """Raises for the first access outside, as the reference interpreter looks for it: operand by operand, those with
    indices of other operands last."""
    for operand in sorted(case.operands, key=lambda operand: bool(operand.symbols)):
        for loops in itertools.product(*map(range, case.extents)):
            position(case, arrays, operand, loops)


def wide(value):
    return np.float32(value) if value.dtype == np.float16 else value


def product_of(case, arrays, loops, first=0):
    indices = {number for operand in case.operands for number in operand.symbols}
    value = None
    for number, operand in enumerate(case.operands):
        if number < first or number in indices:
            continue
        scalar = wide(read(case, arrays, operand, loops))
        value = scalar if value is None else value * scalar
    return value


def computed(case, arrays):
    check(case, arrays)
    results = [np.zeros([case.extents[loop] for loop in loops], TYPES[element])
               for loops, element in zip(case.results, case.elements)]
    parallel = [range(size) if kind == "p" else (0,) for kind, size in zip(case.loops, case.extents)]
    reduced = [range(size) if kind == "r" else (0,) for kind, size in zip(case.loops, case.extents)]
    for point in itertools.product(*parallel):
        iterations = [tuple(p + r for p, r in zip(point, step)) for step in itertools.product(*reduced)]
        for result, loops, value in zip(results, case.results, combined(case, arrays, iterations)):
            result[tuple(point[loop] for loop in loops)] = value
    return results


def lowest(dtype):
    return dtype(-np.inf) if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


def combined(case, arrays, iterations):
    if "r" not in case.loops:
        value = product_of(case, arrays, iterations[0])
        return [value, value * value]
    dtype = TYPES[case.elements[0]]
    dtype = np.float32 if dtype == np.float16 else dtype
    if case.combine == "linear":
        scale, total = dtype(1), dtype(0)
        for loops in iterations:
            value = product_of(case, arrays, loops)
            scale, total = scale * value, total * value + dtype(1)
        return [total, scale]
    total, best = dtype(0) if case.combine == "sum" else dtype(lowest(dtype)), -1
    for loops in iterations:
        value = product_of(case, arrays, loops)
        if case.combine == "sum":
            total = total + value
        elif value > total:
            total, best = value, loops[-1]
    return [total, best]


def written(case, arrays):
    check(case, arrays)
    target = np.array(arrays[0], np.float32 if arrays[0].dtype == np.float16 else arrays[0].dtype)
    for loops in itertools.product(*map(range, case.extents)):
        at = position(case, arrays, case.operands[0], loops)
        if at is not None:
            value = product_of(case, arrays, loops, first=1)
            target[at] = value if case.combine == "set" else target[at] + value
    return [target.astype(arrays[0].dtype)]


class Maker:
    """Draws one case."""

    def __init__(self, seed, number):
        self.rng = np.random.default_rng([seed, number, 11])

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share):
        return self.rng.random() < share

    def array(self, element, shape, low=-9, high=10):
        numbers = self.rng.integers(low, high, shape)
        return (numbers / 4).astype(TYPES[element]) if element[0] == "f" else numbers.astype(TYPES[element])

    def index(self, loops):
        """An index expression over some of the loops."""
        if not loops:
            return str(self.pick([0, 1, 2]))
        one, other = (f"d{self.pick(loops)}" for _ in range(2))
        return self.pick([one, one, one, f"{one} + {other}", f"{one} * 2 + {other}", f"{one} + {other} - 1", f"{one} - 2",
                          f"{one} floordiv 2", f"({one} + {other}) mod 3", f"{one} * -1 + 3", str(self.pick([0, 1])),
                          self.wrapping(one)])

    def wrapping(self, one):
        """Products that 64 bits may not hold. MLIR simplifies an expression as if they did, where it has a divisor of
        the factor."""
        factor = self.pick([2**62 + 1, 2**54 + 1, 2**63 - 3, -2**62 - 1])
        divisor = self.pick([number for number in (3, 5, 7, 11) if factor % number])
        return self.pick([f"({one} * {factor}) mod {divisor}", f"({one} * {factor}) floordiv {2**61}",
                          f"({one} * {factor} + {2**62}) mod {divisor}"])

    def operand(self, number, element, case_loops, extents, indexed):
        """`indexed`: numbers of operands that hold indices."""
        loops = list(range(len(extents)))
        rank = self.pick([1, 1, 2, 2, 3])
        # A plain part of the loops: the usual operand.
        if not indexed and self.chance(0.35) and loops:
            chosen = [loop for loop in loops if self.chance(0.7)] or [self.pick(loops)]
            shape = [extents[loop] for loop in chosen]
            return self.opened(Operand(f"x{number}", element, self.array(element, shape), [f"d{i}" for i in chosen], []))
        symbols = indexed
        indices = [self.index(loops) for _ in range(rank)]
        for symbol, axis in zip(range(len(symbols)), self.rng.permutation(rank)):
            indices[axis] = self.pick([f"s{symbol}", f"s{symbol}", f"s{symbol} + 1", f"{indices[axis]} + s{symbol}"])
        symbols = [s for i, s in enumerate(symbols) if any(re.search(rf"\bs{i}\b", text) for text in indices)]
        outside = self.pick(["error", "clamp", "value", "value"])
        made = Operand(f"x{number}", element, None, indices, symbols, outside)
        if outside == "value":
            made.padding = "1.5" if element[0] == "f" else "3"
        return made

    def opened(self, operand):
        if self.chance(0.3):
            operand.open = tuple(axis for axis in range(operand.array.ndim) if self.chance(0.6))
        return operand

    def finish(self, case, operand):
        """The array of an operand whose indices may leave it: an axis has all indices that mean an error, in most
        cases."""
        shape = self.shape(case, operand)
        if np.prod(shape, dtype=np.int64) > MAX_ELEMENTS:
            operand.outside = "clamp"
            shape = self.shape(case, operand)
        operand.array = self.array(operand.element, shape)
        self.opened(operand)

    def shape(self, case, operand):
        shape = []
        for text in operand.indices:
            indices = [evaluate(text, loops, [int(read(case, [o.array for o in case.operands], case.operands[n], loops))
                                              for n in operand.symbols])
                       for loops in itertools.product(*map(range, case.extents))] or [0]
            size = max(max(indices) + 1, 1) if operand.outside == "error" else self.pick([1, 2, 3, 5])
            alone = re.fullmatch(r"d(\d)", text)
            if operand.outside == "error" and alone:
                size = case.extents[int(alone[1])]
            elif operand.outside == "error" and self.chance(0.06) and size > 1:
                size -= 1
            shape.append(size)
        return shape

    def nest(self):
        element = self.pick(["f32", "f32", "f64", "f16", "i32"])
        writes = self.chance(0.3)
        loops = "".join(self.pick("ppr") for _ in range(self.pick([1, 2, 2, 3, 4]))) if not writes else "p" * self.pick([1, 2, 3])
        extents = [self.pick([1, 2, 3, 4, 5, 17, 40] if len(loops) < 3 else [1, 2, 3, 4, 5]) for _ in loops]
        if len(loops) == 1 and self.chance(0.3):
            extents = [self.pick([130, 517])]
        if self.chance(0.04):
            extents[self.pick(range(len(extents)))] = 0
        parallel = [i for i, kind in enumerate(loops) if kind == "p"]
        combine = self.pick(["set", "add"]) if writes else self.pick(REDUCTIONS) if "r" in loops else "product"
        case = Case(loops, extents, [], [parallel], [element], combine, True, False, "", writes)
        if writes:
            case.operands.append(None)
        tables = []
        for _ in range(self.pick([0, 1, 1, 2])):
            tables.append(len(case.operands))
            chosen = [loop for loop in range(len(loops)) if self.chance(0.7)]
            kind = self.pick(["i32", "i64", "i8", "i1"])
            array = self.array(kind, [extents[loop] for loop in chosen],
                               *((0, 2) if kind == "i1" else self.pick([(0, 4), (0, 4), (-2, 7)])))
            case.operands.append(self.opened(Operand(f"x{len(case.operands)}", kind, array,
                                                     [f"d{loop}" for loop in chosen], [])))
        for number in range(len(case.operands), len(case.operands) + self.pick([1, 1, 2])):
            indexed = [table for table in tables if self.chance(0.7)]
            case.operands.append(self.operand(number, element, loops, extents, indexed))
        if writes:
            case.operands[0] = self.destination(element, extents, tables)
        used = {number for operand in case.operands for number in operand.symbols}
        # Numbers that no access uses would be factors of another type.
        for table in set(tables) - used:
            target = case.operands[-1]
            if target.array is None or not target.symbols:
                target.symbols = [*target.symbols, table]
                target.indices = [*target.indices[:-1], f"{target.indices[-1]} + s{len(target.symbols) - 1}"]
                target.array, target.open = None, ()
            else:
                target.symbols.append(table)
                target.indices[-1] += f" + s{len(target.symbols) - 1}"
        for operand in case.operands:
            if operand.array is None:
                self.finish(case, operand)
        self.results(case)
        return case

    def destination(self, element, extents, tables):
        loops = list(range(len(extents)))
        indices = [self.index(loops) for _ in range(self.pick([0, 1, 2, 2]))]
        symbols = [table for table in tables if self.chance(0.8)][:len(indices)]
        for number in range(len(symbols)):
            indices[number] = self.pick([f"s{number}", f"s{number}", f"s{number} + {indices[number]}"])
        return Operand("x0", element, None, indices, symbols, self.pick(["drop", "drop", "clamp", "error"]))

    def results(self, case):
        """More results, sizes that operands say, and neighbours."""
        if not case.writes and self.chance(0.4) and case.combine not in ("sum", "max"):
            second = [case.results[0][i] for i in self.rng.permutation(len(case.results[0]))]
            case.results.append(second if self.chance(0.3) else case.results[0])
            case.elements.append("i64" if case.combine == "argmax" else case.elements[0])
        known = {int(index[1:]) for operand in case.operands[case.writes:] if operand.outside == "error"
                 for index in operand.indices if re.fullmatch(r"d\d", index)}
        reads = set(range(len(case.extents))) <= known
        case.open = reads and not case.writes and self.chance(0.4)
        statics = set() if case.writes or case.open else set(case.results[0])
        case.sizes = not (set(range(len(case.extents))) <= known | statics and self.chance(0.7))
        if case.open and case.sizes:
            case.open = False
        rank = case.operands[0].array.ndim if case.writes else len(case.results[0])
        last = case.operands[0].array.shape[-1:] if case.writes else [case.extents[i] for i in case.results[0][-1:]]
        case.after = self.pick(["", "negate", "rows"] if rank and last[0] else ["", "negate"])
        floats = [o for o in case.operands if o.element[0] == "f"]
        if floats and self.chance(0.4):
            chosen = self.pick(floats)
            chosen.named = self.chance(0.5)
            chosen.negations = self.pick([1, 2, 3]) if chosen.named else 1
        if case.sizes and not case.writes and not case.open and case.results[0] and self.chance(0.15):
            case.lie = self.pick(case.results[0])


def make(seed, number):
    return Maker(seed, number).nest()
