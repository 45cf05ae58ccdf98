# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The operations that random graphs of scalars (scalar_graphs.py) have: each makes one step of a graph."""

import scalar_oracle as oracle
from scalar_graphs import EXACT, FAST_MATH, Graph
from scalar_oracle import WIDTH, is_float

is_integer = lambda element: not is_float(element)
is_fixed = lambda element: is_integer(element) and element != "index"


def integer_flags(graph, name):
    if name in ("addi", "subi", "muli", "shli") and graph.chance(0.3):
        return f" overflow<{graph.pick(['nsw', 'nuw', 'nsw, nuw'])}>"
    return " exact" if name in EXACT and graph.chance(0.2) else ""


def float_flags(graph):
    return f" fastmath<{graph.pick(FAST_MATH)}>" if graph.chance(0.3) else ""


def integer_step(graph, name, element, a, b):
    flags = integer_flags(graph, name)
    return graph.apply(f"arith.{name} {a}, {b}{flags} : {element}", element, [a, b],
                       lambda x, y: oracle.integer(name, element, x, y))


def second_operand(graph, name, element):
    return graph.value(element, lambda scalar: all(scalar.values)) if name in oracle.DIVISIONS else graph.value(element)


def integer(graph):
    name, element = graph.pick(list(oracle.INTEGERS)), graph.element(is_integer)
    return integer_step(graph, name, element, graph.value(element), second_operand(graph, name, element))


def integer_chain(graph):
    """An operation of the result of another, often with constants or an operand of that: what patterns look for."""
    element, names = graph.element(is_integer), graph.pick(CHAINS)
    a, b = graph.value(element), graph.value(element)
    first, second = graph.pick(names), graph.pick(names)
    if first in oracle.DIVISIONS and not all(b.values):
        b = graph.constant(element, 1)
    inner = integer_step(graph, first, element, a, b)
    other = graph.pick([a, b, graph.constant(element)])
    if graph.chance(0.3) and second not in oracle.DIVISIONS:
        inner, other = other, inner
    if second in oracle.DIVISIONS and not all(other.values):
        other = graph.constant(element, graph.pick([1, -1]))
    integer_step(graph, second, element, inner, other)


def extended(graph):
    name = graph.pick(list(oracle.EXTENDED))
    element = graph.element(is_integer)
    a, b = graph.value(element), graph.value(element)
    high = "i1" if name == "addui_extended" else element
    pairs = [oracle.extended(name, element, x, y) for x, y in zip(a.values, b.values)]
    results = [graph.new(t, list(values)) for t, values in zip((element, high), zip(*pairs))]
    types = f"{element}, i1" if name == "addui_extended" else element
    graph.step(f"arith.{name}", results, [a, b],
               [f"{results[0]}, {results[1]} = arith.{name} {a}, {b} : {types}"])


def compare(graph):
    element = graph.element()
    a, b = graph.value(element), graph.value(element)
    if is_float(element):
        predicate = graph.pick(oracle.CMPF)
        flags = float_flags(graph)
        graph.apply(f"arith.cmpf {predicate}, {a}, {b}{flags} : {element}", "i1", [a, b],
                    lambda x, y: oracle.compare_floats(predicate, x, y))
    else:
        predicate = graph.pick(list(oracle.CMPI))
        graph.apply(f"arith.cmpi {predicate}, {a}, {b} : {element}", "i1", [a, b],
                    lambda x, y: oracle.compare_integers(predicate, element, x, y))


def choose(graph):
    element = graph.element()
    condition, a, b = graph.value("i1"), graph.value(element), graph.value(element)
    graph.apply(f"arith.select {condition}, {a}, {b} : {element}", element, [condition, a, b],
                lambda c, x, y: x if c else y)


def binary(graph):
    element = graph.element(is_float)
    name = graph.pick([n for n in oracle.FLOAT_BINARY if graph.on_host or not n.endswith("numf")])
    a, b = graph.value(element), graph.value(element)
    flags = float_flags(graph)
    graph.apply(f"{name} {a}, {b}{flags} : {element}", element, [a, b],
                lambda x, y: oracle.floating(name, element, x, y))


def unary(graph):
    element, name = graph.element(is_float), graph.pick(list(oracle.FLOAT_UNARY))
    a, flags = graph.value(element), float_flags(graph)
    graph.apply(f"{name} {a}{flags} : {element}", element, [a], lambda x: oracle.floating(name, element, x))


def width(element):
    return oracle.FLOAT_BITS[element] if is_float(element) else WIDTH[element]


# Which types each conversion takes.
CONVERSIONS = {
    "extsi": lambda a, b: is_fixed(a) and is_fixed(b) and width(a) < width(b),
    "extui": lambda a, b: is_fixed(a) and is_fixed(b) and width(a) < width(b),
    "trunci": lambda a, b: is_fixed(a) and is_fixed(b) and width(a) > width(b),
    "index_cast": lambda a, b: is_fixed(a) and b == "index" or a == "index" and is_fixed(b),
    "index_castui": lambda a, b: is_fixed(a) and b == "index" or a == "index" and is_fixed(b),
    "sitofp": lambda a, b: is_fixed(a) and is_float(b),
    "uitofp": lambda a, b: is_fixed(a) and is_float(b),
    "fptosi": lambda a, b: is_float(a) and is_fixed(b),
    "fptoui": lambda a, b: is_float(a) and is_fixed(b),
    "extf": lambda a, b: is_float(a) and is_float(b) and width(a) < width(b),
    "truncf": lambda a, b: is_float(a) and is_float(b) and width(a) > width(b),
    "bitcast": lambda a, b: a != "index" != b and a != b and width(a) == width(b),
}


def convert_step(graph, name, a, target):
    source = a.element
    return graph.apply(f"arith.{name} {a} : {source} to {target}", target, [a],
                       lambda x: oracle.bitcast(source, target, x) if name == "bitcast" else oracle.convert(
                           name, source, target, x))


def convert(graph):
    name = graph.pick(list(CONVERSIONS))
    pairs = [(a, b) for a in graph.all_types for b in graph.all_types if CONVERSIONS[name](a, b)]
    source, target = graph.pick([pair for pair in pairs if pair[0] in graph.types] or pairs)
    return convert_step(graph, name, graph.value(source), target)


def convert_chain(graph):
    """To another type and on, often back."""
    made = convert(graph)
    source = graph.steps[-1].operands[0].element
    onward = [(name, target) for name, fits in CONVERSIONS.items() for target in graph.all_types
              if fits(made.element, target)]
    back = [pair for pair in onward if pair[1] == source]
    if onward:
        name, target = graph.pick(back if back and graph.chance(0.6) else onward)
        convert_step(graph, name, made, target)


def branch(graph):
    """scf.if, whose branches compute."""
    element, condition = graph.element(), graph.value("i1")
    before, steps = list(graph.values), graph.steps
    lines, yielded, operands, inside = [], [], [condition], set()
    for _ in range(2):
        graph.steps, graph.values = [], list(before)
        for _ in range(graph.rng.integers(0, 3)):
            graph.pick(FLAT)(graph)
        result = graph.value(element)
        lines.append([f"  {line}" for step in graph.steps for line in step.lines] +
                     [f"  scf.yield {result} : {element}"])
        yielded.append(result)
        operands += [operand for step in graph.steps for operand in step.operands] + [result]
        inside |= {made.name for step in graph.steps for made in step.results}
    graph.steps, graph.values = steps, before
    result = graph.new(element, yielded[0 if condition.values[0] else 1].values)
    text = [f"{result} = scf.if {condition} -> ({element}) {{", *lines[0], "} else {", *lines[1], "}"]
    graph.step("scf.if", [result], [o for o in operands if o.name not in inside], text)


def loop(graph):
    """scf.for, which carries a value and runs one operation on it, as often as the oracle."""
    element, trips = graph.element(is_integer), int(graph.rng.integers(0, 4))
    name = graph.pick([n for n in oracle.INTEGERS if n not in oracle.DIVISIONS])
    start, by = graph.value(element), graph.value(element)
    value = start.values[0]
    for _ in range(trips):
        value = oracle.integer(name, element, value, by.values[0])
    result = graph.new(element, [value])
    bounds = [graph.constant("index", number) for number in (0, trips, 1)]
    low, high, one = bounds
    graph.step("scf.for", [result], [start, by, *bounds], [
        f"{result} = scf.for {result}_i = {low} to {high} step {one} iter_args({result}_x = {start}) -> ({element}) {{",
        f"  {result}_y = arith.{name} {result}_x, {by} : {element}", f"  scf.yield {result}_y : {element}", "}"])


# Groups of operations that patterns join.
CHAINS = [["addi", "subi", "muli"], ["andi", "ori", "xori"], ["muli", "divsi", "divui", "remsi"],
          ["shli", "shrsi", "shrui"], ["minsi", "maxsi", "minui", "maxui"]]
# Each as often as it is listed.
FLAT = [integer] * 4 + [integer_chain] * 3 + [binary] * 4 + [convert] * 3 + [convert_chain] * 4 + [compare] * 2 + \
    [choose] * 2 + [unary]
ON_HOST = FLAT + [extended] * 2 + [branch, loop]


def grow(rng, types, lanes=None, count=12, **options):
    """A graph of up to as many operations."""
    graph = Graph(rng, types, lanes, **options)
    kinds = ON_HOST if graph.on_host else FLAT
    for _ in range(rng.integers(2, count)):
        graph.pick(kinds)(graph)
    return graph
