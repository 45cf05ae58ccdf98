# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs of nested control flow, and what they compute: exact integers of any width and f64 with a derivative, by
Python and NumPy alone.

An integer is a Python number without sign, below 2 to the width of its type. A tensor is a Number: its elements, and
for f64 how they change along a direction of the argument."""


WIDTHS = {"i1": 1, "i5": 5, "i8": 8, "i16": 16, "i24": 24, "i32": 32, "i64": 64, "index": 64}


class Value:
    def __init__(self, name, type):
        self.name, self.type = name, type

    def __str__(self):
        return "%" + self.name


def is_integer(type):
    return type in WIDTHS


def signed(number, width):
    return number - (1 << width) if number >> (width - 1) else number


def wrapped(number, type):
    return number & ((1 << WIDTHS[type]) - 1)


class Number:
    """A tensor and its derivative, which is None for integers."""

    def __init__(self, value, slope=None):
        self.value, self.slope = value, slope


class Op:
    """One line, `text` after `%result =`; run(*operands) gives its value."""

    def __init__(self, result, operands, text, run):
        self.results, self.operands, self.text, self.compute = [result], operands, text, run

    def lines(self):
        return [f"{self.results[0]} = {self.text}"]

    def run(self, env):
        env[self.results[0].name] = self.compute(*(env[value.name] for value in self.operands))


class Block:
    def __init__(self, arguments, ops, yields):
        self.arguments, self.ops, self.yields = arguments, ops, yields

    def lines(self, terminator="scf.yield", first=()):
        lines = [line for op in self.ops for line in op.lines()]
        names = [str(value) for value in (*first, *self.yields)]
        types = f" : {types_of(self.yields)}" if self.yields else ""
        if first:
            names = [f"({names[0]}) {', '.join(names[1:])}".rstrip()]
        return ["  " + line for line in [*lines, f"{terminator} {', '.join(names)}{types}".rstrip()]]

    def run(self, env, given=()):
        env.update({argument.name: value for argument, value in zip(self.arguments, given)})
        for op in self.ops:
            op.run(env)
        return [env[value.name] for value in self.yields]


def types_of(values):
    return ", ".join(value.type for value in values)


def head_of(op):
    return f"{', '.join(map(str, op.results))} = " if op.results else ""


def give(env, values, given):
    env.update({value.name: one for value, one in zip(values, given)})


class If:
    def __init__(self, results, condition, then, other):
        self.results, self.condition, self.blocks = results, condition, [then, other]

    def lines(self):
        then, other = (block.lines() for block in self.blocks)
        return [f"{head_of(self)}scf.if {self.condition} -> ({types_of(self.results)}) {{", *then, "} else {", *other, "}"]

    def run(self, env):
        give(env, self.results, self.blocks[0 if env[self.condition.name] else 1].run(env))


class For:
    """The iterations are ceil((upper - lower) / step) of exact numbers, where lower < upper."""

    def __init__(self, results, index, bounds, is_unsigned, inits, body):
        self.results, self.index, self.bounds, self.is_unsigned = results, index, bounds, is_unsigned
        self.inits, self.blocks = inits, [body]

    def lines(self):
        lower, upper, step = self.bounds
        carried = ", ".join(f"{a} = {init}" for a, init in zip(self.blocks[0].arguments, self.inits))
        type = "" if self.index.type == "index" else f" : {self.index.type}"
        return [f"{head_of(self)}scf.for {'unsigned ' * self.is_unsigned}{self.index} = {lower} to {upper} step {step} "
                f"iter_args({carried}) -> ({types_of(self.results)}){type} {{", *self.blocks[0].lines(), "}"]

    def run(self, env):
        width = WIDTHS[self.index.type]
        lower, upper, step = (env[v.name] if self.is_unsigned else signed(env[v.name], width) for v in self.bounds)
        carried = [env[value.name] for value in self.inits]
        for number in range(lower, upper, step):
            env[self.index.name] = wrapped(number, self.index.type)
            carried = self.blocks[0].run(env, carried)
        give(env, self.results, carried)


class While:
    """The condition is a value of the first block, which forwards what it yields."""

    def __init__(self, results, condition, inits, before, after):
        self.results, self.condition, self.inits, self.blocks = results, condition, inits, [before, after]

    def lines(self):
        before, after = self.blocks
        carried = ", ".join(f"{a} = {init}" for a, init in zip(before.arguments, self.inits))
        arguments = ", ".join(f"{value}: {value.type}" for value in after.arguments)
        return [f"{head_of(self)}scf.while ({carried}) : ({types_of(self.inits)}) -> ({types_of(self.results)}) {{",
                *before.lines("scf.condition", (self.condition,)), "} do {", f"^bb0({arguments}):", *after.lines(), "}"]

    def run(self, env):
        before, after = self.blocks
        carried = [env[value.name] for value in self.inits]
        while True:
            forwarded = before.run(env, carried)
            if not env[self.condition.name]:
                return give(env, self.results, forwarded)
            carried = after.run(env, forwarded)


class Program:
    """A function of tensors. `active` is the one with respect to which it is differentiated, or None. The first output
    is the value that is differentiated."""

    def __init__(self, arguments, ops, outputs, active=None, direction=None):
        self.arguments, self.ops, self.outputs = arguments, ops, outputs  # arguments: [(value, array)]
        self.active, self.direction = active, direction

    def function(self, name):
        inputs = ", ".join(f"{value}: {value.type}" for value, _ in self.arguments)
        body = "".join(f"  {line}\n" for op in self.ops for line in op.lines())
        returned = ", ".join(map(str, self.outputs))
        return (f"func.func private @{name}({inputs}) -> ({types_of(self.outputs)}) {{\n{body}"
                f"  return {returned} : {types_of(self.outputs)}\n}}\n")

    def expected(self):
        """The outputs, and the derivative of the first along the direction."""
        env = {value.name: Number(array, self.direction if value is self.active else 0 * array)
               for value, array in self.arguments}
        for op in self.ops:
            op.run(env)
        return [env[value.name].value for value in self.outputs], env[self.outputs[0].name].slope

    def all_ops(self):
        ops = list(self.ops)
        for op in ops:
            ops += [inner for block in getattr(op, "blocks", []) for inner in block.ops]
        return ops

    def used(self):
        """Without operations that no output needs."""
        ops = live(self.ops, {value.name for value in self.outputs})
        return Program(self.arguments, ops, self.outputs, self.active, self.direction)


def reads(op):
    """Names of the values that the operation and its blocks read."""
    found = [*getattr(op, "operands", []), *getattr(op, "inits", []), *getattr(op, "bounds", [])]
    found += [op.condition] if hasattr(op, "condition") else []
    names = {value.name for value in found}
    for block in getattr(op, "blocks", []):
        names |= {value.name for value in block.yields} | {name for inner in block.ops for name in reads(inner)}
    return names


def live(ops, needed):
    kept = []
    for op in reversed(ops):
        if any(result.name in needed for result in op.results):
            needed = needed | reads(op)
            kept.append(op)
    return kept[::-1]


