# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random control flow around random operations: scf.if, scf.for, scf.while and func.call."""

import operator

import numpy as np

from generator import Op, Program, Value, tensor_type
from operations import CATALOGUE

DEEPEST = 2
LONG_LOOP = 12  # trips; short loops have at most 4
COMPARISONS = {"slt": operator.lt, "eq": operator.eq, "ne": operator.ne}
# Operations whose result has the shape and the element type of their operands, where the type allows them: those that
# fuse with adjacent operations, and others.
ELEMENTWISE = ["neg", "abs", "add", "sub", "mul", "max", "min", "clamp", "sign", "relu", "tanh", "sigmoid", "sin",
               "select", "not",
               "and", "xor"]
MOVING = ["reverse", "cumsum", "softmax", "dynamic_update_slice"]


class Iterations:
    """The iterations of a loop: the name of its index, what that is first, and how far it moves."""

    def __init__(self, index, indices):
        self.index, self.first, self.last = index, indices.start, indices.step * max(len(indices) - 1, 0)


class Block:
    """The operations of a region, its arguments and what it yields."""

    def __init__(self, arguments, ops, yields):
        self.arguments, self.ops, self.yields = arguments, ops, yields  # yields: [Value]

    def free(self):
        """Values from outside."""
        inside = {value.name for value in self.arguments} | {v.name for op in self.ops for v in op.results}
        used = [value for op in self.ops for value in op.operands] + self.yields
        return [value for value in used if value.name not in inside]

    def lines(self, results):
        """The lines inside the braces; what is yielded is known as little as the results are."""
        lines, names = [line for op in self.ops for line in op.lines()], []
        for value, result in zip(self.yields, results):
            names.append(str(value))
            if value.type != result.type:
                names[-1] = f"{value}_as_{result.name}"
                lines.append(f"{names[-1]} = tensor.cast {value} : {value.type} to {result.type}")
        lines.append(f"scf.yield {', '.join(names)} : {', '.join(result.type for result in results)}")
        return ["  " + line for line in lines]


class Control(Op):
    """An operation with blocks."""

    def __init__(self, mnemonic, results, operands, prelude, blocks, attributes):
        super().__init__(mnemonic, results[0], [], "", prelude, attributes)
        self.more, self.blocks = results[1:], blocks
        for value in operands + [value for block in blocks for value in block.free()]:
            if value not in self.operands:
                self.operands.append(value)

    @property
    def results(self):
        return [self.result, *self.more]

    def nested(self):
        return [op for block in self.blocks for op in block.ops]

    def head(self):
        names, types = (", ".join(part) for part in zip(*((str(v), v.type) for v in self.results)))
        return names, types


class If(Control):
    def lines(self):
        names, types = self.head()
        then, other = (block.lines(self.results) for block in self.blocks)
        return [*self.prelude, f"{names} = scf.if {self.attributes['condition']} -> ({types}) {{", *then, "} else {",
                *other, "}"]


class For(Control):
    def lines(self):
        names, types = self.head()
        carried = ", ".join(f"{a} = {init}" for a, init in zip(self.blocks[0].arguments, self.attributes["inits"]))
        low, high, step = self.attributes["names"]
        return [*self.prelude, f"{names} = scf.for {self.attributes['index']} = {low} to {high} step {step} "
                f"iter_args({carried}) -> ({types}) {{", *self.blocks[0].lines(self.results), "}"]


class While(Control):
    """Counts in a scalar. The first block is the condition, which forwards the count and the values in another order
    than the second takes them; the second is the body."""

    def lines(self):
        names, types = self.head()
        low, high, step = self.attributes["names"]
        index, order, inits = self.attributes["index"], self.attributes["order"], self.attributes["inits"]
        before, after = (block.arguments for block in self.blocks)
        carried = ", ".join(f"{a} = {init}" for a, init in zip(before, inits))
        forwarded = ", ".join(str(before[k]) for k in order)
        given = ", ".join(f"{a}: {a.type}" for a in after)
        body = self.blocks[1].lines(after)
        yielded = body[-1].replace("scf.yield ", f"scf.yield {index}_next, ").replace(" : ", " : index, ", 1)
        return [*self.prelude, f"{index}_end, {names} = scf.while ({index}_now = {low}, {carried}) : "
                f"(index, {', '.join(a.type for a in before)}) -> (index, {types}) {{",
                f"  {index}_more = arith.cmpi slt, {index}_now, {high} : index",
                f"  scf.condition({index}_more) {index}_now, {forwarded} : index, {types}", "} do {",
                f"^bb0({index}: index, {given}):", *body[:-1],
                f"  {index}_next = arith.addi {index}, {step} : index", yielded, "}"]


class Call(Op):
    """A call of a function of its own: `callee` is a Program whose arguments have no arrays."""

    def __init__(self, results, operands, callee, name):
        super().__init__("func.call", results[0], operands, "", [], {"callee": callee})
        self.more, self.callee, self.name = results[1:], callee, name

    @property
    def results(self):
        return [self.result, *self.more]

    def nested(self):
        return self.callee.ops

    def functions(self):
        return [self.callee.plain(self.name, None, "private ")]

    def lines(self):
        names = ", ".join(str(v) for v in self.results)
        given, taken = (", ".join(v.type for v in values) for values in (self.operands, self.results))
        return [f"{names} = func.call @{self.name}({', '.join(map(str, self.operands))}) : ({given}) -> ({taken})"]


# Making them.

def copy_type(g, value, letter):
    return Value(g.name(letter), value.element, value.static, value.sizes)


def next_value(g, value):
    """A value of the element type and sizes of the given one, usually computed from it."""
    if g.advance:
        return g.advance(value)
    for _ in range(5):
        name = g.pick(ELEMENTWISE if g.chance(0.5) else MOVING)
        types, make = CATALOGUE[name]
        if value.element not in types or (name in ("cumsum", "softmax") and not value.rank):
            continue
        g.focus = value
        result = make(g, value.element)
        g.focus = None
        if result.element == value.element and result.sizes == value.sizes:
            value = result
            if g.chance(0.3):
                break
    return value


def combine(g, x, y):
    """One of the elementwise operations of two values of the same type."""
    name = g.pick([n for n in ("add", "max", "and") if x.element in CATALOGUE[n][0]])
    return g.add(name, x.element, x.static, x.sizes, [x, y], f"ad.{name} {x}, {y} : {x.type}, {y.type}")


def make_block(g, arguments, starts, grow, kept=(), held=None, index=None):
    """A block that yields one value per start: the start itself where it is in `kept`. The first is also computed from
    `held`, perhaps in blocks inside of this one. Loops give the name of their index, which some blocks read."""
    ops, values, made = g.ops, g.values, len(g.arguments)
    g.ops, g.values, g.depth = [], values + arguments, g.depth + 1
    counter = loop_index(g, index, starts[0].element) if index and g.chance(0.6) else None
    for _ in range(g.rank(0, 3) if grow else 0):
        grow(g)
    yields = []
    for number, start in enumerate(starts):
        if number == 0 and held is not None:
            start = combine_inside(g, start, held, g.rank(0, 2))
        if number == 0 and counter is not None and start.element == counter.element:
            start = g.add("add", start.element, start.static, start.sizes, [start, counter],
                          f"ad.add {start}, {counter} : {start.type}, {counter.type}")
        yields.append(start if number in kept else next_value(g, start))
    if g.finish:
        g.finish(yields)
    block = Block(arguments, g.ops, yields)
    # Arguments of the function that were made for the block are seen everywhere.
    g.ops, g.values, g.depth = ops, values + [value for value, _ in g.arguments[made:]], g.depth - 1
    return block


def loop_index(g, index, element):
    """The index of a loop as a number of the element type; None where no number has that type."""
    if element == "i1":
        return None
    name = g.name("n")
    prelude = [f"%{name} = arith.index_cast {index} : index to i64"]
    number = g.add("loop_index", "i64", (), (), [], f"ad.full %{name} : i64 -> tensor<i64>", prelude, {"index": index})
    if element == "i64":
        return number
    type = tensor_type(element, ())
    return g.add("cast", element, (), (), [number], f"ad.cast {number} : {number.type} -> {type}")


def combine_inside(g, x, held, depth):
    """combine(x, held), that many blocks further inside: values from outside are read in loops of loops and in
    branches."""
    if not depth:
        return combine(g, x, held)
    if g.chance(0.5):
        return make_for(g, None, [x], held)
    return make_if(g, None, [x], held)


def starts(g, high):
    """Values to begin with."""
    known = [value for value in g.values if not g.carried or value.element in g.carried]
    return [g.pick(known) if known and g.chance(0.8) else g.operand(g.pick(g.carried or ["f32", "f64", "i32", "bf16"]))
            for _ in range(g.rank(1, high))]


def another(g, value):
    """A value of the same type."""
    if g.chance(0.2):
        return value
    known = [v for v in g.values if v.type == value.type and v.sizes == value.sizes]
    return g.pick(known) if g.chance(0.5) else g.argument(value.element, value.sizes, value.static)


def add(g, op):
    g.ops.append(op)
    g.values += op.results
    return op.result


def condition(g):
    """(name of an i1, lines that make it, operands, its value from the arrays by name): a constant, a comparison of
    sizes, or an element of a tensor."""
    name, kind = "%" + g.name("c"), g.rank(0, 9)
    if kind == 0:
        text = g.pick(["true", "false"])
        return name, [f"{name} = arith.constant {text}"], [], lambda arrays: text == "true"
    if kind <= 2:
        prelude, operands, numbers, predicate = [], [], (g.rank(0, 4), g.rank(0, 4)), g.pick(list(COMPARISONS))
        left, right = (g.index(number, prelude, operands) for number in numbers)
        prelude.append(f"{name} = arith.cmpi {predicate}, {left}, {right} : index")
        return name, prelude, operands, lambda arrays: COMPARISONS[predicate](*numbers)
    tensor = g.operand("i1", high=2, where=lambda v: 0 not in v.sizes)
    place, names = tuple(g.rank(0, size - 1) for size in tensor.sizes), ["%" + g.name("n") for _ in tensor.sizes]
    prelude = [f"{index} = arith.constant {number} : index" for index, number in zip(names, place)]
    prelude.append(f"{name} = tensor.extract {tensor}[{', '.join(names)}] : {tensor.type}")
    return name, prelude, [tensor], lambda arrays: bool(arrays[tensor.name][place])


def make_if(g, grow, begin=None, held=None):
    """What is held from outside is read in one branch or in both."""
    name, prelude, operands, decide = condition(g)
    begin = begin or starts(g, 2)
    readers = g.pick([(held, held), (held, None), (None, held)])
    blocks = [make_block(g, [], begin, grow, held=reader) for reader in readers]
    results = []
    for k, value in enumerate(begin):
        known = [block.yields[k].static for block in blocks]
        static = [a if a == b else None for a, b in zip(*known)]
        results.append(Value(g.name("v"), value.element, static, value.sizes))
    return add(g, If("scf.if", results, operands, prelude, blocks, {"condition": name, "decide": decide}))


def bounds(g):
    """(names of lower bound, upper bound and step, lines that make them, operands, range of the index)"""
    low, step, trips = g.pick([0, 0, 1, 3, -1, -4]), g.pick([1, 1, 2, 3]), g.rank(0, 4)
    if not g.depth and g.chance(0.3):
        trips = g.rank(5, LONG_LOOP)
    high = low + step * trips - (g.rank(0, step - 1) if trips else g.rank(0, 3))
    prelude, operands, names = [], [], []
    for number in (low, high, step):
        if g.carried:  # a derivative needs a static number of iterations
            names.append("%" + g.name("n"))
            prelude.append(f"{names[-1]} = arith.constant {number} : index")
        else:
            names.append(g.index(number, prelude, operands))
    return names, prelude, operands, range(low, high, step)


def make_for(g, grow, inits=None, held=None):
    """The first value that is carried also comes from `held`, which the generator finds unless the values to begin with
    are given."""
    names, prelude, operands, indices = bounds(g)
    if not inits:
        inits = starts(g, 2)
        held = next_value(g, inits[0]) if g.chance(0.5) else None
        if held is not None and held.type != inits[0].type:
            held = None
        if g.chance(0.6):
            inits.append(another(g, inits[0]))
    carried = [copy_type(g, value, "b") for value in inits]
    begin, kept = list(carried), []
    # The last takes what the first was, perhaps they swap.
    if (carried[-1].type, carried[-1].sizes) == (carried[0].type, carried[0].sizes) and g.chance(0.5):
        begin[-1], kept = carried[0], [len(carried) - 1]
        if g.chance(0.4):
            begin[0], kept = carried[-1], [0, len(carried) - 1]
    index = "%" + g.name("i")
    g.loops.append(Iterations(index, indices))
    block = make_block(g, carried, begin, grow, kept, held, index)
    g.loops.pop()
    results = [copy_type(g, value, "v") for value in inits]
    return add(g, For("scf.for", results, operands + inits, prelude, [block],
                      {"names": names, "index": index, "inits": inits, "indices": indices}))


def make_while(g, grow):
    """Of known sizes: compiled loops with a condition carry no others."""
    names, prelude, operands, indices = bounds(g)
    inits = [value for value in starts(g, 3) if None not in value.static]
    if not inits:
        return make_for(g, grow)
    inits += [another(g, inits[0])] if g.chance(0.6) else []
    before = [copy_type(g, value, "b") for value in inits]
    after = [copy_type(g, value, "b") for value in inits]
    kinds = [(value.type, value.sizes) for value in inits]
    order = list(range(len(inits)))
    if g.chance(0.5):  # those of one type change places, or one of them is forwarded twice
        order = [g.pick([k for k, kind in enumerate(kinds) if kind == own]) for own in kinds]
    index = "%" + g.name("i")
    g.loops.append(Iterations(index, indices))
    body = make_block(g, after, list(after), grow, index=index)
    g.loops.pop()
    results = [copy_type(g, value, "v") for value in inits]
    return add(g, While("scf.while", results, operands + inits, prelude, [Block(before, [], []), body],
                        {"names": names, "index": index, "inits": inits, "order": order}))


def make_call(g, grow):
    """The function begins with some of the values that there are; what else it needs becomes arguments of the
    program."""
    given, inner = starts(g, 3), type(g)(g.rng)
    inner.count, inner.depth = g.count, g.depth + 1  # names differ across functions
    inner.dynamic, inner.reuse, inner.alike, inner.types = g.dynamic, g.reuse, g.alike, g.types
    parameters = [copy_type(inner, value, "a") for value in given]
    inner.values = list(parameters)
    for _ in range(g.rank(1, 4)):
        grow(inner)
    outputs = [next_value(inner, parameter) for parameter in parameters[:g.rank(1, len(parameters))]]
    g.count = inner.count
    for value, array in inner.arguments:
        given.append(copy_type(g, value, "a"))
        g.adopt(given[-1], array)
    callee = Program([(v, None) for v in parameters] + inner.arguments, inner.ops, outputs)
    results = [copy_type(g, value, "v") for value in outputs]
    return add(g, Call(results, given, callee, "$" + g.name("f")))


def evaluate(op, arrays, leaf):
    """Puts the results into `arrays`; leaf(op, arrays) does so for all other operations, and says whether to go on."""
    def run(ops):
        return all(evaluate(inner, arrays, leaf) for inner in ops)

    def give(values, results):
        arrays.update({result.name: array for result, array in zip(values, results)})

    if isinstance(op, If):
        block = op.blocks[0 if op.attributes["decide"](arrays) else 1]
        done = run(block.ops)
        return done and give(op.results, [arrays[value.name] for value in block.yields]) is None
    if isinstance(op, For):
        carried, block = [arrays[value.name] for value in op.attributes["inits"]], op.blocks[0]
        for number in op.attributes["indices"]:
            give(block.arguments, carried)
            arrays[op.attributes["index"]] = np.asarray(number, np.int64)
            if not run(block.ops):
                return False
            carried = [arrays[value.name] for value in block.yields]
        return give(op.results, carried) is None
    if isinstance(op, Call):
        give([value for value, _ in op.callee.arguments], [arrays[value.name] for value in op.operands])
        return run(op.callee.ops) and give(op.results, [arrays[value.name] for value in op.callee.outputs]) is None
    if op.mnemonic == "loop_index":
        return give([op.result], [arrays[op.attributes["index"]]]) is None
    if "moving" in op.attributes:
        axis, index, shift = op.attributes["moving"]
        op.attributes["offsets"][axis] = int(arrays[index]) + shift
    return leaf(op, arrays)


def grow_control(g, grow):
    """Adds control flow; `grow` adds an operation to a block."""
    kinds = [make_if, make_for, make_for, make_call]
    g.pick(kinds if g.carried else [*kinds, make_while])(g, grow)  # scf.while has no reverse
