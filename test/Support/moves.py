# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs that move elements without a transposition: slices, concatenations, paddings, updates of parts,
operands that are repeated along axes, and chains of these. Sizes are odd more often than not, of one to six axes."""

import dataclasses

import elements

TYPES = ["f64", "f32", "f32", "bf16", "f16", "i8", "i64"]


@dataclasses.dataclass
class Move:
    """@main takes operands %x0, %x1, … of these shapes and gives %y."""
    element: str
    shapes: list
    whole: tuple
    lines: list

    def text(self):
        names = ", ".join(f'%x{number}: {elements.tensor(self.element, shape)} {{ad.name = "x{number}"}}'
                          for number, shape in enumerate(self.shapes))
        kind = elements.tensor(self.element, self.whole)
        body = "".join(f"  {line}\n" for line in self.lines)
        return f'func.func @main({names}) -> ({kind} {{ad.name = "y"}}) {{\n{body}  return %y : {kind}\n}}\n'


def factors(rng, most, axes):
    """Sizes of so many axes whose product is about `most` at most."""
    sizes = [1] * axes
    while True:
        axis = rng.randrange(axes)
        grown = sizes[axis] * rng.choice((2, 3, 3, 5, 7)) + rng.choice((0, 0, 1))
        product = grown
        for other, size in enumerate(sizes):
            product *= size if other != axis else 1
        if product > most:
            return tuple(sizes)
        sizes[axis] = grown


class Chain:
    """Grows a move: %v0, %v1, … are values of the program."""

    def __init__(self, rng, element, most):
        self.rng, self.element, self.most = rng, element, most
        self.shapes, self.lines, self.count = [], [], 0

    def operand(self, shape):
        self.shapes.append(tuple(shape))
        return f"%x{len(self.shapes) - 1}"

    def kind(self, shape):
        return elements.tensor(self.element, shape)

    def emit(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = ad.{text}")
        return f"%v{self.count}"

    def slice(self, value, shape):
        """Of most axes all elements."""
        starts, sizes, strides = [], [], []
        for size in shape:
            cut = self.rng.random() < 0.5
            stride = self.rng.choice((1, 1, 1, 2)) if cut and size > 3 else 1
            starts.append(self.rng.randrange(size) if cut else 0)
            left = -(-(size - starts[-1]) // stride)
            sizes.append(self.rng.randint(1, left) if cut else left)
            strides.append(stride)
        return self.emit(f"slice {value} {starts} strides {strides} : {self.kind(shape)} -> {self.kind(sizes)}"), sizes

    def concat(self, value, shape):
        axis, values, kinds, whole = self.rng.randrange(len(shape)), [value], [self.kind(shape)], list(shape)
        for _ in range(self.rng.randint(1, 2)):
            part = list(shape)
            part[axis] = self.rng.randint(1, max(1, shape[axis]))
            values.append(self.operand(part))
            kinds.append(self.kind(part))
            whole[axis] += part[axis]
        order = self.rng.sample(range(len(values)), len(values))
        names, types = ", ".join(values[i] for i in order), ", ".join(kinds[i] for i in order)
        return self.emit(f"concat axis {axis} {names} : {types}"), whole

    def pad(self, value, shape):
        low, high = ([self.rng.choice((0, 0, 1, 3)) for _ in shape] for _ in range(2))
        whole = [size + before + after for size, before, after in zip(shape, low, high)]
        filler = self.kind(())
        number = "3" if self.element.startswith("i") else "1.5"
        zero = self.emit(f"constant dense<{number}> : {filler}")
        interior = [0] * len(shape)
        return self.emit(f"pad {value}, {zero} low {low} high {high} interior {interior} : {self.kind(shape)}, "
                         f"{filler}"), whole

    def repeat(self, value, shape):
        """A sum with an operand that lacks leading axes or has one element along others."""
        lacking = self.rng.randrange(len(shape))
        other = [size if self.rng.random() < 0.5 else 1 for size in shape[lacking:]]
        name = self.operand(other)
        same = list(shape) == other
        types = self.kind(shape) if same else f"{self.kind(shape)}, {self.kind(other)}"
        return self.emit(f"max {value}, {name} : {types}"), shape

    def move(self, steps):
        shape = factors(self.rng, self.most, self.rng.randint(1, 6))
        value = self.operand(shape)
        for _ in range(steps):
            step = self.rng.choice((self.slice, self.concat, self.pad, self.repeat))
            value, shape = step(value, list(shape))
        self.lines[-1] = "%y" + self.lines[-1][len(f"%v{self.count}"):]
        return Move(self.element, self.shapes, tuple(shape), self.lines)


def random_move(rng, most=3000, steps=None, element=None):
    return Chain(rng, element or rng.choice(TYPES), most).move(steps or rng.choice((1, 1, 2, 3)))
