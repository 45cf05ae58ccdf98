# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs of nested control flow (control_flow.py): loops of every integer type with bounds at the ends of the
type, loops with a condition, branches, and carries that are forwarded, duplicated, swapped and dropped."""

import numpy as np

from control_flow import WIDTHS, Block, For, If, Number, Op, Program, Value, While, is_integer, signed, wrapped
from draws import Draws

INTEGERS = ["i64", "i64", "index", "i32", "i8", "i16", "i1", "i5", "i24"]
FLOATS = {"tensor<f64>": (), "tensor<1xf64>": (1,), "tensor<3xf64>": (3,)}
DYNAMIC = "tensor<?xf64>"  # three elements
COUNTS = "tensor<i64>"
DEEPEST = 3
PREDICATES = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
              "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
ARITHMETIC = {"addi": lambda a, b: a + b, "subi": lambda a, b: a - b, "muli": lambda a, b: a * b,
              "andi": lambda a, b: a & b, "xori": lambda a, b: a ^ b}


class ControlGenerator(Draws):
    """Grows one program. With `smooth`, its first output has a derivative: f64 goes through no scf.while and no
    arith.select."""

    def __init__(self, rng, smooth):
        self.rng, self.smooth, self.count, self.depth, self.ops = rng, smooth, 0, 0, []
        self.numbers = []  # the elements of %n, which are known at run time only
        self.x, self.n = Value("x", "tensor<3xf64>"), Value("n", None)
        self.scope = [self.x]

    def rank(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def fresh(self, letter, type):
        self.count += 1
        return Value(f"{letter}{self.count}", type)

    # Single operations.

    def add(self, type, operands, text, run, letter="v"):
        result = self.fresh(letter, type)
        self.ops.append(Op(result, operands, text.format(*operands), run))
        self.scope.append(result)
        return result

    def constant(self, number, type):
        text = ("true" if number else "false") if type == "i1" else f"{signed(number, WIDTHS[type])} : {type}"
        return self.add(type, [], f"arith.constant {text}", lambda: number, "c")

    def known(self, number, type, later=0.5):
        """The number as a constant, or as one that is known at run time only."""
        number = wrapped(number, type)
        if not self.chance(later):
            return self.constant(number, type)
        place = len(self.numbers)
        self.numbers.append(signed(wrapped(number, "i64"), 64))
        at = self.constant(place, "index")
        value = self.add("i64", [self.n, at], "tensor.extract {0}[{1}] : N",
                         lambda n, i: wrapped(int(n.value[i]), "i64"))
        return self.resized(value, type, False)

    def resized(self, value, type, is_signed):
        """The integer in another type, extended by its sign or by zeros."""
        if value.type == type:
            return value
        if "index" in (value.type, type):
            if type != "i64" and value.type != "i64" and self.chance(0.3):
                value = self.resized(value, "i64", is_signed)
                return self.resized(value, type, is_signed)
            name = "index_cast" if is_signed else "index_castui"
        else:
            grows = WIDTHS[type] > WIDTHS[value.type]
            name = "trunci" if not grows else "extsi" if is_signed else "extui"
        width = WIDTHS[value.type]
        return self.add(type, [value], f"arith.{name} {{0}} : {value.type} to {type}",
                        lambda a: wrapped(signed(a, width) if is_signed else a, type))

    def integer(self, type=None):
        """An integer in scope, or a new one."""
        found = [v for v in self.scope if is_integer(v.type) and type in (None, v.type)]
        if found and self.chance(0.8):
            return self.pick(found[-8:])
        type = type or self.pick(INTEGERS)
        return self.known(self.number(type), type)

    def number(self, type):
        width = WIDTHS[type]
        ends = [0, 1, 2, 3, (1 << width) - 1, (1 << width) - 2, 1 << (width - 1), (1 << (width - 1)) - 1]
        return wrapped(self.pick(ends), type)

    def condition(self):
        found = [v for v in self.scope if v.type == "i1"]
        if found and self.chance(0.5):
            return self.pick(found[-4:])
        return self.compare(a := self.integer(), self.integer(a.type), self.chance(0.5), self.pick(list(PREDICATES)))

    def compare(self, a, b, is_signed, name):
        width, holds = WIDTHS[a.type], PREDICATES[name]
        code = name if name in ("eq", "ne") else ("s" if is_signed else "u") + name
        number = (lambda n: signed(n, width)) if is_signed else (lambda n: n)
        return self.add("i1", [a, b], f"arith.cmpi {code}, {{0}}, {{1}} : {a.type}",
                        lambda p, q: int(holds(number(p), number(q))))

    def value(self, type):
        """A value of the type in scope, or a new one."""
        if is_integer(type):
            return self.integer(type)
        found = [v for v in self.scope if v.type == type]
        if found and self.chance(0.9):
            return self.pick(found[-6:])
        if type == COUNTS:
            return self.count_tensor(self.integer())
        if type == DYNAMIC:
            return self.add(DYNAMIC, [a := self.value("tensor<3xf64>")], f"tensor.cast {{0}} : {a.type} to {DYNAMIC}",
                            lambda v: v)
        return self.window(type) if type != "tensor<3xf64>" or self.chance(0.3) else self.x

    def count_tensor(self, number):
        wide = self.resized(number, "i64", self.chance(0.5))
        return self.add(COUNTS, [wide], f"ad.full {{0}} : i64 -> {COUNTS}", lambda a: Number(np.int64(signed(a, 64))))

    def place(self, high):
        """An index below `high`, from any integer."""
        index = self.resized(self.integer(), "index", self.chance(0.5))
        size = self.constant(high, "index")
        return self.add("index", [index, size], "arith.remui {0}, {1} : index", lambda a, b: a % b)

    def window(self, type):
        at, source = self.place(3), self.pick([v for v in self.scope if v.type == "tensor<3xf64>"])
        one = self.add("tensor<1xf64>", [source, at], "ad.dynamic_slice {0}[{1}] : tensor<3xf64> -> tensor<1xf64>",
                       lambda v, i: Number(v.value[i:i + 1], v.slope[i:i + 1]))
        if type == "tensor<1xf64>":
            return one
        return self.add(type, [one], f"ad.{'reshape' if type == 'tensor<f64>' else 'broadcast'} {{0}} : tensor<1xf64> -> {type}",
                        lambda v: Number(np.resize(v.value, FLOATS[type]), np.resize(v.slope, FLOATS[type])))

    # New values of a type, from values in scope.

    def next(self, start):
        """A value of the type of `start`, usually computed from it."""
        type = start.type
        if is_integer(type):
            return self.next_integer(start)
        if type == COUNTS:
            other = self.count_tensor(self.integer()) if self.chance(0.7) else self.value(COUNTS)
            name = self.pick(["add", "sub", "mul"])
            compute = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[name]
            return self.add(type, [start, other], f"ad.{name} {{0}}, {{1}} : {type}",
                            lambda a, b: Number(compute(a.value, b.value)))
        return self.next_float(start, type)

    def next_integer(self, start):
        kind, type = self.rank(0, 4), start.type
        if kind == 0:
            return self.resized(self.integer(), type, self.chance(0.5))
        if kind == 1:
            other, condition = self.integer(type), self.condition()
            return self.add(type, [condition, start, other], f"arith.select {{0}}, {{1}}, {{2}} : {type}",
                            lambda c, a, b: a if c else b)
        name = self.pick(list(ARITHMETIC))
        compute = ARITHMETIC[name]
        return self.add(type, [start, self.integer(type)], f"arith.{name} {{0}}, {{1}} : {type}",
                        lambda a, b: wrapped(compute(a, b), type))

    def next_float(self, start, type):
        """Elements stay between -1 and 1."""
        kind = self.rank(0, 4)
        if kind == 0 and type == "tensor<3xf64>":
            part = self.value("tensor<1xf64>")
            at = self.place(3)

            def update(whole, piece, i):
                parts = [np.array(whole.value), np.array(whole.slope)]
                parts[0][i:i + 1], parts[1][i:i + 1] = piece.value, piece.slope
                return Number(*parts)
            return self.add(type, [start, part, at], f"ad.dynamic_update_slice {{0}}, {{1}}[{{2}}] : {type}, {part.type}", update)
        if kind == 1 and not self.smooth:
            other, condition = self.value(type), self.condition()
            return self.add(type, [condition, start, other], f"arith.select {{0}}, {{1}}, {{2}} : {type}",
                            lambda c, a, b: a if c else b)
        other = self.value(type if type == DYNAMIC or self.chance(0.7) else "tensor<f64>")
        types = type if other.type == type else f"{type}, {other.type}"
        if kind == 2:
            product = self.add(type, [start, other], f"ad.mul {{0}}, {{1}} : {types}",
                               lambda a, b: Number(a.value * b.value, a.slope * b.value + a.value * b.slope))
            return self.add(type, [product], f"ad.tanh {{0}} : {type}",
                            lambda a: Number(t := np.tanh(a.value), a.slope * (1 - t * t)))
        name, sign = self.pick([("add", 1), ("sub", -1)])
        both = self.add(type, [start, other], f"ad.{name} {{0}}, {{1}} : {types}",
                        lambda a, b: Number(a.value + sign * b.value, a.slope + sign * b.slope))
        half = self.add("tensor<f64>", [], "ad.constant dense<0.5> : tensor<f64>",
                        lambda: Number(np.float64(0.5), np.float64(0)), "c")
        types = type if type == "tensor<f64>" else f"{type}, tensor<f64>"
        return self.add(type, [both, half], f"ad.mul {{0}}, {{1}} : {types}",
                        lambda a, b: Number(a.value * b.value, a.slope * b.value))

    # Control flow.

    def block(self, arguments, starts, extra=()):
        """A block that yields one value for each start."""
        ops, scope = self.ops, self.scope
        self.ops, self.scope, self.depth = [], [*scope, *extra, *arguments], self.depth + 1
        self.grow(self.rank(0, 2))
        yields = [self.yielded(start) for start in starts]
        found = self.ops
        self.ops, self.scope, self.depth = ops, scope, self.depth - 1
        return Block(arguments, found, yields)

    def yielded(self, start):
        """The start itself, another value of its type, or a new one."""
        kind = self.rank(0, 5)
        if kind == 0:
            return start
        if kind <= 2:
            return self.value(start.type)
        return self.next(start)

    def types(self, floats=True):
        kinds = [*INTEGERS, COUNTS, COUNTS]
        if floats:
            kinds += [*FLOATS, *FLOATS]
        return kinds

    def inits(self, high, types):
        """Values to begin with, some of them twice."""
        found = [self.value(self.pick(types)) for _ in range(self.rank(1, high))]
        if self.chance(0.5):
            found.append(self.pick(found))
        if self.chance(0.5):
            found.append(self.value(self.pick(found).type))
        return found

    def grow(self, number):
        for _ in range(number):
            if self.depth < DEEPEST and self.chance(0.5 if self.depth else 0.9):
                self.pick([self.grow_for, self.grow_for, self.grow_while, self.grow_if])()
            else:
                self.next(self.value(self.pick(self.types())))

    def results(self, values):
        results = [self.fresh("r", value.type) for value in values]
        self.scope += results
        return results

    def grow_if(self):
        condition = self.condition()
        starts = self.inits(2, self.types() + [DYNAMIC])
        if self.chance(0.2):
            return self.nested_if(condition, self.condition(), starts)
        self.choose(condition, starts, self.chance(0.3))
        if self.chance(0.3):  # the same condition at once
            self.choose(condition, [self.pick(self.scope) for _ in starts], False)

    def choose(self, condition, starts, says):
        """A branch. It also says which side it took, where `says`."""
        then, other = self.block([], starts), self.block([], starts)
        if says:
            known = self.pick([(1, 0), (0, 1), (1, 1)])
            starts = [*starts, *(Value("", "i1") for _ in known[:1])]
            for block, number in zip((then, other), known):
                block.yields.append(self.constant(number, "i1"))
        self.ops.append(If(self.results(starts), condition, then, other))

    def nested_if(self, outer, inner, starts):
        """Both conditions choose between two sets of values."""
        others = [self.yielded(start) for start in starts]
        results = [self.fresh("r", start.type) for start in starts]
        branch = If(results, inner, self.block([], starts), Block([], [], others))
        blocks = [Block([], [branch], results), Block([], [], others)]
        if self.chance(0.3):
            blocks.reverse()
        self.ops.append(If(self.results(starts), outer, *blocks))

    def bounds(self, type, is_unsigned):
        """(lower, upper, step) of a loop with few iterations."""
        width = WIDTHS[type]
        least, largest = (0, (1 << width) - 1) if is_unsigned else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
        trips = self.rank(0, 3 if self.depth else 5)
        if trips == 0:
            upper = self.between(least, largest)
            return self.between(upper, largest), upper, self.between(1, largest)
        step = self.between(1, max(1, min(largest, (largest - least) // max(trips - 1, 1))))
        trips = min(trips, (largest - least - 1) // step + 1)
        distance = self.between((trips - 1) * step + 1, min(trips * step, largest - least))
        lower = self.between(least, largest - distance)
        return lower, lower + distance, step

    def between(self, low, high):
        """A number from low to high, often one of the ends or near to one."""
        kind = self.rank(0, 5)
        if kind == 0:
            return min(high, low + self.rank(0, 3))
        if kind == 1:
            return max(low, high - self.rank(0, 3))
        if kind <= 3:
            return min(max(self.rank(-3, 3), low), high)
        distance = high - low
        return low + int(self.rng.integers(min(distance, 2**63 - 1) + 1, dtype=np.uint64)) * max(1, distance >> 63)

    def grow_for(self):
        type = self.pick(INTEGERS)
        is_unsigned = type == "i1" or self.chance(0.4)
        later = self.pick([0.0, 0.0, 0.5, 1.0])
        bounds = [self.known(number, type, later) for number in self.bounds(type, is_unsigned)]
        inits = self.inits(3, self.types() + [DYNAMIC])
        index, arguments = self.fresh("i", type), [self.fresh("a", value.type) for value in inits]
        starts = list(arguments)
        if self.chance(0.3):  # those of one type change places
            same = [k for k, v in enumerate(starts) if v.type == starts[-1].type]
            moved = [starts[k] for k in self.rng.permutation(same)]
            for k, value in zip(same, moved):
                starts[k] = value
        body = self.block(arguments, starts, [index])
        self.ops.append(For(self.results(inits), index, bounds, is_unsigned, inits, body))

    def grow_while(self):
        """A number counts up to a limit, among other values; what the condition computes is forwarded in any order,
        once, twice or not at all."""
        type = self.pick(["i64", "index", "i32", "i8"])
        counter, limit = self.known(self.rank(0, 2), type), self.known(self.rank(0, 5), type)
        others = self.inits(2, self.types(floats=not self.smooth))
        inits = [counter, *others]
        arguments = [self.fresh("a", value.type) for value in inits]
        state = self.ops, self.scope
        self.ops, self.scope, self.depth = [], [*self.scope, *arguments], self.depth + 1
        self.grow(self.rank(0, 1))
        go = self.compare(arguments[0], limit, self.chance(0.5), "lt")
        if self.chance(0.4):  # the form that upstream moves into the body
            starts = [self.pick(arguments) for _ in range(self.rank(1, 2))]
            then, other = self.block([], starts), self.block([], starts)
            self.ops.append(If(self.results(starts), go, then, other))
        names = {v.name for v in arguments} | {r.name for op in self.ops for r in op.results}
        mine = [v for v in self.scope if v.name in names and (not self.smooth or v.type not in FLOATS)
                and v.type != DYNAMIC]
        forwarded = [self.pick(mine) for _ in range(self.rank(0, 3))]
        forwarded += [self.pick(forwarded)] if forwarded and self.chance(0.5) else []
        forwarded.insert(self.rank(0, len(forwarded)), arguments[0])
        at = next(k for k, value in enumerate(forwarded) if value is arguments[0])
        before = Block(arguments, self.ops, forwarded)
        (self.ops, self.scope), self.depth = state, self.depth - 1
        passed = [self.fresh("b", value.type) for value in forwarded]
        after = self.after(passed, passed[at], others, limit)
        self.ops.append(While(self.results(forwarded), go, inits, before, after))

    def after(self, passed, counter, others, limit):
        block = self.block(passed, others)
        ops, scope = self.ops, self.scope
        self.ops, self.scope = block.ops, [*scope, *passed]
        one = self.constant(1, counter.type)
        if self.chance(0.3):  # the condition once more, which is true here
            self.compare(counter, limit, self.chance(0.5), "lt")
            block.yields = [self.value(v.type) if v.type == "i1" else v for v in block.yields]
        block.yields.insert(0, self.add(counter.type, [counter, one], f"arith.addi {{0}}, {{1}} : {counter.type}",
                                        lambda a, b: wrapped(a + b, counter.type)))
        self.ops, self.scope = ops, scope
        return block

    # The program.

    def as_output(self, value):
        """Tensors of the runtime's types: scalars become i64."""
        if is_integer(value.type):
            return self.count_tensor(value)
        if value.type == DYNAMIC:
            return self.add("tensor<3xf64>", [value], f"tensor.cast {{0}} : {DYNAMIC} to tensor<3xf64>", lambda v: v)
        return value

    def loss(self, values):
        """The sum of all elements of the floats."""
        total = self.add("tensor<f64>", [self.x], "ad.reduce_sum {0} axes [0] : tensor<3xf64> -> tensor<f64>",
                         lambda a: Number(a.value.sum(), a.slope.sum()))
        for value in values:
            if value.type not in FLOATS:
                continue
            if value.type != "tensor<f64>":
                value = self.add("tensor<f64>", [value], f"ad.reduce_sum {{0}} axes [0] : {value.type} -> tensor<f64>",
                                 lambda a: Number(a.value.sum(), a.slope.sum()))
            total = self.add("tensor<f64>", [total, value], "ad.add {0}, {1} : tensor<f64>",
                             lambda a, b: Number(a.value + b.value, a.slope + b.slope))
        return total

    def program(self):
        results = [result for op in self.ops if not isinstance(op, Op) for result in op.results]
        self.rng.shuffle(results)
        outputs = [self.as_output(value) for value in results[:self.rank(1, 6)]]
        outputs.insert(0, self.loss(outputs))
        self.n.type = f"tensor<{max(1, len(self.numbers))}xi64>"
        for op in Program([], self.ops, []).all_ops():
            if isinstance(op, Op):
                op.text = op.text.replace(" : N", f" : {self.n.type}")
        arguments = [(self.x, self.rng.uniform(-1, 1, 3)), (self.n, np.array(self.numbers or [0], np.int64))]
        program = Program(arguments, self.ops, outputs, self.x if self.smooth else None, self.rng.normal(size=3))
        return program


def random_program(seed, number):
    rng = np.random.default_rng([seed, number])
    generator = ControlGenerator(rng, smooth=bool(rng.random() < 0.5))
    while not any(not isinstance(op, Op) for op in generator.ops):
        generator.grow(generator.rank(1, 3))
    return generator.program()
