# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Executes the host program of planned IR without data: every tensor that a kernel reads must still be in its buffer.

Reads the text that ad-opt prints after --ad-plan-memory. Knows only which buffers are written and read, nothing of how
the planner counts lifetimes; so it judges the plan on its own. Loops make three iterations, both sides of a branch are
followed. A buffer is (memory, offset, end), a memory being the storage kind and the number: the arena, a pool, an
argument or a result."""

import re

NAME = re.compile(r"%[\w#]+")
RESULTS = re.compile(r"^(%\w+)(?::(\d+))? = ")
INTO = re.compile(r"\binto\(([^)]*)\)")
BUFFER = re.compile(r"ad\.buffer <(\w+)(?:, number = (\d+))?(?:, offset = (\d+))?, bytes = (\d+)>")
ALIASES = ("ad.reshape", "ad.barrier", "tensor.cast")
ITERATIONS = 3


class Race(Exception):
    pass


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

    def destinations(self):
        """Names of buffers after `into`."""
        match = INTO.search(self.line)
        return NAME.findall(match[1]) if match else []

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
    """Values by name are tokens; memory maps tokens to buffers."""

    def __init__(self):
        self.buffers = {}         # name → buffer
        self.values = {}          # name → token
        self.alive = {}           # token → buffer while nothing overwrites it
        self.count = 0

    def declare(self, statement):
        storage, number, offset, size = BUFFER.search(statement.line).groups()
        number, begin, name = int(number or 0), int(offset or 0), statement.results()[0]
        self.buffers[name] = ((storage, number), begin, begin + int(size))
        if storage == "argument":
            self.write(f"%arg{number}", name)

    def read(self, name, reader):
        token = self.values.get(name)
        if token is not None and token not in self.alive:
            raise Race(f"{reader}: {name} has been overwritten")
        return token

    def write(self, name, destination):
        """The value is written into the buffer, over everything that overlaps it."""
        self.count += 1
        self.values[name] = self.count
        buffer = self.buffers[destination]
        for token in [t for t, other in self.alive.items() if overlap(other, buffer)]:
            del self.alive[token]
        self.alive[self.count] = buffer

    def launch(self, statement):
        destinations = statement.destinations()
        read = [self.read(name, statement.line[:60]) for name in statement.operands()]
        inputs = [self.alive[token] for token in read if token is not None]
        written = [self.buffers[name] for name in destinations]
        for i, buffer in enumerate(written):
            # In place means exactly in the buffer of an operand.
            bad = [other for other in inputs if other != buffer] + written[:i]
            if any(overlap(other, buffer) for other in bad):
                raise Race(f"{statement.line[:60]}: writes where it reads or writes something else")
        for name, destination in zip(statement.results(), destinations, strict=True):
            self.write(name, destination)

    def copy(self, statement):
        source = NAME.findall(statement.text())[0]
        token = self.read(source, statement.line[:60])
        if token is not None and overlap(self.alive[token], self.buffers[statement.destinations()[0]]):
            raise Race(f"{statement.line[:60]}: copies what it overlaps")
        self.write(statement.results()[0], statement.destinations()[0])

    def alias(self, statement):
        operands = statement.operands() or NAME.findall(statement.text().split(" : ")[0])
        for name, operand in zip(statement.results(), operands):
            self.values[name] = self.read(operand, statement.line[:60])

    def rename(self, names, targets, reader):
        """Loops and branches give values other names."""
        tokens = [self.read(name, reader) for name in names]
        self.values.update(zip(targets, tokens))

    def for_loop(self, statement):
        arguments, names = pairs(re.search(r"iter_args\((.*?)\) ->", statement.line))
        self.rename(names, arguments, "scf.for")
        for _ in range(ITERATIONS):
            self.rename(self.block(statement.regions[0]), arguments, "scf.yield")
        self.rename(arguments, statement.results(), "scf.for")

    def while_loop(self, statement):
        arguments, names = pairs(re.search(r"scf\.while \((.*?)\) :", statement.line))
        inner = NAME.findall(statement.regions[1][0].line) if statement.regions[1][0].line.startswith("^") else []
        self.rename(names, arguments, "scf.while")
        for _ in range(ITERATIONS):
            self.rename(self.block(statement.regions[0]), statement.results(), "scf.condition")
            self.rename(statement.results(), inner, "scf.while")
            self.rename(self.block(statement.regions[1]), arguments, "scf.yield")
        self.rename(self.block(statement.regions[0]), statement.results(), "scf.condition")

    def branch(self, statement):
        ends = []
        for region in statement.regions:
            saved = dict(self.values), dict(self.alive)
            self.rename(self.block(region), statement.results(), "scf.yield")
            ends.append((self.values, self.alive))
            self.values, self.alive = saved
        # What either side destroyed is gone; the results are those of the last side.
        self.values, self.alive = ends[-1]
        for _, alive in ends[:-1]:
            mine = {self.values.get(name) for name in statement.results()}
            self.alive = {t: buffer for t, buffer in self.alive.items() if t in alive or t in mine}

    def block(self, statements):
        """What the block yields."""
        for statement in statements:
            name = statement.name()
            # Consecutive blocks use the same names.
            self.values.update(dict.fromkeys(statement.results()))
            if name == "ad.buffer":
                self.declare(statement)
            elif name == "ad.launch":
                self.launch(statement)
            elif name == "ad.copy":
                self.copy(statement)
            elif name == "scf.for":
                self.for_loop(statement)
            elif name == "scf.if":
                self.branch(statement)
            elif name == "scf.while":
                self.while_loop(statement)
            elif name in ALIASES:
                self.alias(statement)
            elif name == "ad.feed":
                self.write(statement.results()[0], statement.destinations()[0])
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
    """(name, statements) of each host program."""
    for match in re.finditer(r"^  func\.func .*?@(\w+)\(.*\{$", text, re.M):
        body, _ = parse(text[match.end():].strip("\n").split("\n"))
        yield match[1], body


def check(text):
    """Executes every host program of the module; the number of launches followed. Raises Race."""
    launches = 0
    for _, body in functions(text):
        Execution().block(body)
        launches += text.count("ad.launch @")
    return launches
