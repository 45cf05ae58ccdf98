# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random operations that order elements, and what they give by Python's sort, which is stable; see operations.py. Keys
are often equal. Of the results of one operation the program uses one."""

import numpy as np

from elements import ALL, NUMBERS, decode, is_float
from generator import Op
from operations import CATALOGUE, operation


class OneOfSeveral(Op):
    """An operation of which the result at `place` is used, one of `count`."""

    def __init__(self, op, count, place):
        super().__init__(op.mnemonic, op.result, op.operands, op.text, op.prelude, op.attributes)
        self.count, self.place = count, place

    def lines(self):
        names = [f"%{self.result.name}_{number}" for number in range(self.count)]
        names[self.place] = str(self.result)
        return [*self.prelude, f"{', '.join(names)} = {self.text}"]


def _several(g, count, place, *arguments, **attributes):
    result = g.add(*arguments, attributes=attributes)
    g.ops[-1] = OneOfSeveral(g.ops[-1], count, place)
    return result


def _key(g, element):
    """A value to order, and an axis."""
    x = g.operand(element, low=1)
    if g.chance(0.3) and element in ("f64", "f32", "f16", "i8", "i32", "i64"):  # many equal elements
        numbers = g.rng.choice([-2, -0.0, 0.0, 1, 3], x.sizes)
        x = g.argument(element, x.sizes, array=np.asarray(numbers).astype(decode_storage(element)))
    return x, g.rank(0, x.rank - 1)


def decode_storage(element):
    return {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32,
            "i64": np.int64}[element]


@operation("argsort", NUMBERS)
def _argsort(g, element):
    x, axis = _key(g, element)
    descending = g.chance(0.5)
    return g.add("argsort", "i64", x.static, x.sizes, [x],
                 f"ad.argsort {x} axis {axis}{' descending' if descending else ''} : {x.type}",
                 attributes={"axis": axis, "descending": descending})


@operation("sort", ALL)
def _sort(g, element):
    place = g.rank(0, 2) if element != "i1" else g.rank(1, 2)
    x, axis = _key(g, element if place == 0 else g.pick(NUMBERS if g.types is None else ["f64"]))
    operands = [x] + [g.argument(element, x.sizes) for _ in range(place)]
    descending = g.chance(0.5)
    names, types = ", ".join(map(str, operands)), ", ".join(value.type for value in operands)
    return _several(g, len(operands), place, "sort", element, operands[-1].static, x.sizes, operands,
                    f"ad.sort {names} axis {axis}{' descending' if descending else ''} : {types}",
                    axis=axis, descending=descending)


@operation("top_k", NUMBERS)
def _top_k(g, element):
    x, axis = _key(g, element)
    k, smallest = g.rank(0, x.sizes[axis]), g.chance(0.5)
    replaced = lambda shape: tuple(shape[:axis]) + (k,) + tuple(shape[axis + 1:])
    return _several(g, 2, 0, "top_k", element, replaced(x.static), replaced(x.sizes), [x],
                    f"ad.top_k {x} axis {axis} k {k}{' smallest' if smallest else ''} : {x.type}",
                    axis=axis, k=k, descending=not smallest)


# What they give.

def positions(element, x, axis, descending):
    """Those of ad.argsort."""
    lines = np.moveaxis(x, axis, -1)
    result = np.zeros(lines.shape, np.int64)
    for place in np.ndindex(lines.shape[:-1]):
        values = decode(element, lines[place]).tolist() if is_float(element) else lines[place].tolist()
        order = lambda i: (values[i] != values[i], 0 if values[i] != values[i] else -values[i] if descending else values[i])
        result[place] = sorted(range(len(values)), key=order)
    return np.moveaxis(result, -1, axis)


def argsort(op, arrays):
    return positions(op.operands[0].element, arrays[0], op.attributes["axis"], op.attributes["descending"])


def sort(op, arrays):
    return np.take_along_axis(arrays[len(op.operands) - 1], argsort(op, arrays), op.attributes["axis"])


def top_k(op, arrays):
    first = np.take(argsort(op, arrays), np.arange(op.attributes["k"]), op.attributes["axis"])
    return np.take_along_axis(arrays[0], first, op.attributes["axis"])


TABLE = {"argsort": argsort, "sort": sort, "top_k": top_k}
assert set(TABLE) <= set(CATALOGUE)
