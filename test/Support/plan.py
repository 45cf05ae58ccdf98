# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Executes the host program of planned IR without data: for every tensor that a kernel reads it must still lie there.

Reads the text that ad-opt prints after --ad-plan-memory. Knows only where values are written and read, nothing of how the
planner counts lifetimes; so it judges the plan on its own. Loops make three turns, both sides of a branch are followed.
A place is (memory, offset, end), a memory being the home and the number of a buffer: a pool, an argument or a result."""

import re

NAME = re.compile(r"%[\w#]+")
RESULTS = re.compile(r"^(%\w+)(?::(\d+))? = ")
BUFFERS = re.compile(r"\bad\.buffer = array<i64(?:: ([-\d, ]*))?>")
BEFORE = re.compile(r"\bad\.buffer_before = array<i64(?:: ([-\d, ]*))?>")
SWAPS = re.compile(r"ad\.swap = array<i64(?:: ([-\d, ]*))?>")
ALIASES = ("ad.reshape", "ad.barrier", "tensor.cast")
TURNS = 3
ARGUMENT = 1


class Race(Exception):
    pass


def numbers(match):
    return [int(word) for word in (match[1] or "").split(",") if word.strip()] if match else []


def pairs(match):
    """The names on both sides of `%a = %b, …`."""
    both = [pair.split(" = ") for pair in match[1].split(", ")] if match else []
    return [a for a, _ in both], [b for _, b in both]


def overlap(a, b):
    return a[0] == b[0] and a[1] < b[2] and b[1] < a[2]


class Statement:
    """An operation: its line, and for each region the lines inside and what its closing line adds."""

    def __init__(self, line):
        self.line, self.regions, self.tail = line, [], ""

    def text(self):
        """Without the results."""
        return RESULTS.sub("", self.line)

    def name(self):
        match = re.match(r"[\w.]+", self.text())
        return match[0] if match else ""

    def results(self):
        match = RESULTS.match(self.line)
        if not match:
            return []
        return [f"{match[1]}#{i}" for i in range(int(match[2]))] if match[2] else [match[1]]

    def operands(self):
        """Names in the first parentheses."""
        inside = re.search(r"\(([^)]*)\)", self.text())
        return NAME.findall(inside[1]) if inside else []


def parse(lines):
    """Statements of a block, up to the line that closes it; [(statement)]."""
    block = []
    while lines:
        line = lines.pop(0).strip()
        if line.startswith("}"):
            return block, line
        statement = Statement(line)
        if line.endswith("{"):
            while True:
                region, closing = parse(lines)
                statement.regions.append(region)
                if not closing.endswith("{"):
                    statement.tail = closing
                    break
        block.append(statement)
    return block, ""


class Execution:
    """Values by name are tokens; memory is what tokens lie where."""

    def __init__(self, places):
        self.places = places      # buffer → place
        self.values = {}          # name → token
        self.alive = {}           # token → place while it lies in memory
        self.count = 0
        for buffer, ((home, number), _, _) in enumerate(places):
            if home == ARGUMENT:
                self.write(f"%arg{number}", buffer)

    def read(self, name, reader):
        token = self.values.get(name)
        if token is not None and token not in self.alive:
            raise Race(f"{reader}: {name} has been overwritten")
        return token

    def write(self, name, buffer):
        """The value is written into the buffer, over what lay there; None for values outside of the arena."""
        self.values[name] = None
        if buffer is None or buffer < 0:
            return
        self.count += 1
        self.values[name] = self.count
        place = self.places[buffer]
        for token in [t for t, other in self.alive.items() if overlap(other, place)]:
            del self.alive[token]
        self.alive[self.count] = place

    def launch(self, statement):
        buffers = numbers(BUFFERS.search(statement.line))
        read = [self.read(name, statement.line[:60]) for name in statement.operands()]
        inputs = [self.alive[token] for token in read if token is not None]
        written = [self.places[buffer] for buffer in buffers]
        for i, place in enumerate(written):
            # In place means exactly in the place of an operand.
            bad = [other for other in inputs if other != place] + written[:i]
            if any(overlap(other, place) for other in bad):
                raise Race(f"{statement.line[:60]}: writes where it reads or writes something else")
        for name, buffer in zip(statement.results(), buffers):
            self.write(name, buffer)

    def alias(self, statement):
        operands = statement.operands() or NAME.findall(statement.text().split(" : ")[0])
        for name, operand in zip(statement.results(), operands):
            self.values[name] = self.read(operand, statement.line[:60])

    def copies(self, names, targets, buffers, reader, swaps=()):
        """Each value into the buffer of its target; where a temporary is planned, through that."""
        for i, temporary in enumerate(swaps):
            if temporary >= 0:
                self.read(names[i], reader)
                self.write(f"swap {i}", temporary)
                names = names[:i] + [f"swap {i}"] + names[i + 1:]
        for name, target, buffer in zip(names, targets, buffers):
            token = self.read(name, reader)
            if token is not None and buffer >= 0 and self.alive[token] == self.places[buffer]:
                self.values[target] = token
            else:
                self.write(target, buffer)

    def for_loop(self, statement):
        arguments, names = pairs(re.search(r"iter_args\((.*?)\) ->", statement.line))
        buffers, swaps = numbers(BUFFERS.search(statement.tail)), numbers(SWAPS.search(statement.tail))
        self.copies(names, arguments, buffers, "scf.for")
        for _ in range(TURNS):
            yielded = self.block(statement.regions[0])
            self.copies(yielded, arguments, buffers, "scf.yield", swaps)
        for argument, result in zip(arguments, statement.results()):
            self.values[result] = self.values[argument]

    def while_loop(self, statement):
        arguments, names = pairs(re.search(r"scf\.while \((.*?)\) :", statement.line))
        buffers, before = numbers(BUFFERS.search(statement.tail)), numbers(BEFORE.search(statement.tail))
        inner = NAME.findall(statement.regions[1][0].line) if statement.regions[1][0].line.startswith("^") else []
        self.copies(names, arguments, before, "scf.while")
        for _ in range(TURNS):
            passed = self.block(statement.regions[0])
            self.copies(passed, statement.results(), buffers, "scf.condition")
            for argument, result in zip(inner, statement.results()):
                self.values[argument] = self.values[result]
            self.copies(self.block(statement.regions[1]), arguments, before, "scf.yield")
        self.copies(self.block(statement.regions[0]), statement.results(), buffers, "scf.condition")

    def branch(self, statement):
        buffers, ends = numbers(BUFFERS.search(statement.tail)), []
        for region in statement.regions:
            saved = dict(self.values), dict(self.alive)
            self.copies(self.block(region), statement.results(), buffers, "scf.yield")
            ends.append((self.values, self.alive))
            self.values, self.alive = saved
        # What either side destroyed is gone; the results are those of the last side.
        self.values, self.alive = ends[-1]
        for _, alive in ends[:-1]:
            mine = {self.values.get(name) for name in statement.results()}
            self.alive = {t: place for t, place in self.alive.items() if t in alive or t in mine}

    def block(self, statements):
        """What the block yields."""
        for statement in statements:
            name = statement.name()
            if name == "ad.launch":
                self.launch(statement)
            elif name == "scf.for":
                self.for_loop(statement)
            elif name == "scf.if":
                self.branch(statement)
            elif name == "scf.while":
                self.while_loop(statement)
            elif name in ALIASES:
                self.alias(statement)
            elif name in ("ad.feed", "arith.select"):
                for result in statement.results():
                    buffers = numbers(BUFFERS.search(statement.line))
                    self.write(result, buffers[0] if buffers else None)
            elif name in ("scf.yield", "scf.condition", "return", "func.return"):
                names = NAME.findall(statement.line.split(" : ")[0])[name == "scf.condition":]
                for value in names:
                    self.read(value, name)
                return names
            elif name == "ad.receive":
                for value in statement.operands():
                    self.read(value, name)
        return []


def functions(text):
    """(name, places of buffers, statements) of each host program."""
    for match in re.finditer(r"^  func\.func .*?@(\w+)\((.*)\{$", text, re.M):
        places = re.search(r"ad\.buffers = array<i64(?:: ([-\d, ]*))?>", match[2])
        if places:
            flat = numbers(places)
            body, _ = parse(text[match.end():].strip("\n").split("\n"))
            buffers = zip(flat[::4], flat[1::4], flat[2::4], flat[3::4])
            yield match[1], [((home, number), at, at + size) for home, number, at, size in buffers], body


def check(text):
    """Executes every host program of the module; the number of launches followed. Raises Race."""
    launches = 0
    for _, places, body in functions(text):
        Execution(places).block(body)
        launches += text.count("ad.launch @")
    return launches
