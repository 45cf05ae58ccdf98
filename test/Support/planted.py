# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""One change of the text of a random program: an operation that is another one, has another constant, axis, order or
operand, or is deleted or inserted. A change is known by the lines that it touches on each side."""

import re

UNARY = ["exp", "exp2", "log", "sin", "cos", "tanh", "sqrt", "recip", "floor", "ceil", "sigmoid", "relu", "silu",
         "softplus", "abs", "neg", "sign"]
BINARY = ["add", "sub", "mul", "div", "max", "min"]
LOGICAL = ["and", "or", "xor"]
REDUCTIONS = ["reduce_sum", "reduce_max", "reduce_min", "reduce_mean", "reduce_prod"]
PREDICATES = ["eq", "ne", "lt", "le", "gt", "ge"]
LINE = re.compile(r"^(\s*)(%\w+) = (ad\.(\w+)) (.*)$")


class Change:
    """The changed text; the numbers of the lines, from 1 on, that only the left and only the right program has."""

    def __init__(self, kind, lines, left, right):
        self.kind, self.text, self.left, self.right = kind, "".join(f"{line}\n" for line in lines), left, right


def other(rng, names, name):
    return str(rng.choice([n for n in names if n != name]))


def replaced(kind, lines, at, line):
    return Change(kind, [*lines[:at], line, *lines[at + 1:]], {at + 1}, {at + 1})


def other_operation(rng, lines, at, match):
    """The same operands in another operation of the family."""
    for family in (UNARY, BINARY, LOGICAL, REDUCTIONS):
        if match[4] in family:
            return replaced("operation", lines, at, f"{match[1]}{match[2]} = ad.{other(rng, family, match[4])} {match[5]}")
    if match[4] == "compare":
        predicate, rest = match[5].split(" ", 1)
        return replaced("operation", lines, at,
                        f"{match[1]}{match[2]} = ad.compare {other(rng, PREDICATES, predicate)} {rest}")
    return None


def other_order(rng, lines, at, match):
    """Two operands of one type change places."""
    found = re.match(r"(%\w+), (%\w+) : ([^,]+), ([^,]+)$", match[5])
    if not found or found[1] == found[2] or found[3] != found[4] or match[4] not in ("sub", "div", "rem", "pow"):
        return None
    return replaced("order", lines, at, f"{match[1]}{match[2]} = {match[3]} {found[2]}, {found[1]} : {found[3]}, {found[4]}")


def other_constant(rng, lines, at, match):
    """Another digit of a constant of the program."""
    if match[4] != "constant":
        return None
    digits = [m.start() for m in re.finditer(r"[0-9A-F]", match[5].split(":")[0])]
    digits = [i for i in digits if i > match[5].find("0x") + 1] if "0x" in match[5] else []
    if not digits:
        return None
    place = int(rng.choice(digits))
    digit = f"{int(match[5][place], 16) ^ int(rng.integers(1, 16)):X}"
    return replaced("constant", lines, at, f"{match[1]}{match[2]} = ad.constant {match[5][:place]}{digit}{match[5][place + 1:]}")


def other_axis(rng, lines, at, match):
    found = re.search(r"\b(axis |axes \[)(\d)", match[5])
    if not found:
        return None
    axis = other(rng, "0123", found[2])
    return replaced("axis", lines, at,
                    f"{match[1]}{match[2]} = {match[3]} {match[5][:found.start(2)]}{axis}{match[5][found.end(2):]}")


def types_of(lines):
    """{name: type} of the operations whose line ends with the type of their operands and result alone."""
    types = {}
    for line in lines:
        match = LINE.match(line)
        if match and match[4] in UNARY + BINARY:
            parts = set(match[5].split(" : ")[-1].split(", "))
            if len(parts) == 1:
                types[match[2]] = parts.pop()
    return types


def other_operand(rng, lines, at, match):
    types = types_of(lines[:at])
    operands = re.findall(r"%\w+", match[5])
    given = str(rng.choice(operands)) if operands else None
    values = [name for name in types if name != given and types[name] == types.get(given)]
    if not values:
        return None
    rest = re.sub(rf"{given}\b", str(rng.choice(values)), match[5], count=1)
    return replaced("operand", lines, at, f"{match[1]}{match[2]} = {match[3]} {rest}")


def renamed(lines, name, to):
    return [re.sub(rf"{name}\b", to, line) for line in lines]


def deleted(rng, lines, at, match):
    """An operation without effect on the type: what reads it reads its operand."""
    if match[4] not in UNARY:
        return None
    after = renamed(lines[at + 1:], match[2], re.search(r"%\w+", match[5])[0])
    right = {at + 1 + i for i, (old, new) in enumerate(zip(lines[at + 1:], after)) if old != new}
    return Change("deleted", [*lines[:at], *after], {at + 1} | {line + 1 for line in right}, right)


def inserted(rng, lines, at, match):
    """An operation after this one, which all later ones read."""
    types = types_of(lines[:at + 1])
    if match[2] not in types:
        return None
    new = f"{match[1]}%planted = ad.{rng.choice(['neg', 'abs', 'sign'])} {match[2]} : {types[match[2]]}"
    after = renamed(lines[at + 1:], match[2], "%planted")
    left = {at + 2 + i for i, (old, new_line) in enumerate(zip(lines[at + 1:], after)) if old != new_line}
    return Change("inserted", [*lines[:at + 1], new, *after], left, {at + 2} | {line + 1 for line in left})


MUTATORS = [other_operation, other_order, other_constant, other_axis, other_operand, deleted, inserted]


def changes(rng, text):
    """Changes of the text in random order, without end but the number of tries. Not all of them are programs."""
    lines = text.splitlines()
    places = [(at, match) for at, line in enumerate(lines) if (match := LINE.match(line))]
    for at, match in shuffled(rng, places):
        for mutator in shuffled(rng, MUTATORS):
            change = mutator(rng, lines, at, match)
            if change and change.text != text:
                yield change
                break


def shuffled(rng, items):
    return [items[i] for i in rng.permutation(len(items))]
