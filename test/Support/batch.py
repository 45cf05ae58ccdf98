# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Many programs in one module, since a process and a compilation cost more than most programs."""

import tempfile

import runner


def donations(program, first):
    """Of arguments by name, the results of @main that take their memory: half of the results whose type an argument
    has. The results of the program begin with number `first`."""
    donated = {}
    for number, value in enumerate(program.outputs, first):
        of_type = [a.name for a, _ in program.arguments if a.type == value.type and a.name not in donated]
        if number % 2 == 0 and of_type:
            donated[of_type[0]] = number
    return donated


def module(programs):
    """A function per program, and a @main that calls each; argument and result k of program i are p<i>_…"""
    text, inputs, outputs, body, returned = [], [], [], [], []
    for i, program in enumerate(programs):
        text.append(program.function(f"p{i}", prefix=None, visibility="private "))
        names = [f"%p{i}_{value.name}" for value, _ in program.arguments]
        donated = donations(program, len(outputs))
        inputs += [f'{name}: {value.type} {{ad.name = "{name[1:]}"'
                   + (f", ad.donated = {donated[value.name]}}}" if value.name in donated else "}")
                   for name, (value, _) in zip(names, program.arguments)]
        types = ", ".join(value.type for value, _ in program.arguments)
        results = [value.type for value in program.outputs]
        outputs += [f'{type} {{ad.name = "p{i}_r{k}"}}' for k, type in enumerate(results)]
        body.append(f"  %r{i}:{len(results)} = func.call @p{i}({', '.join(names)}) : ({types}) -> ({', '.join(results)})\n")
        returned += [(f"%r{i}#{k}", type) for k, type in enumerate(results)]
    values, types = ", ".join(v for v, _ in returned), ", ".join(t for _, t in returned)
    main = f"func.func @main({', '.join(inputs)}) -> ({', '.join(outputs)}) {{\n{''.join(body)}  return {values} : {types}\n}}\n"
    return "".join(text) + main


def received(i, program):
    return [(value.name.replace("$", f"p{i}_"), value.element) for value in program.received()]


def run(programs, options, change=None, folder=None):
    """The results of each program, then what it received, None where that was never: a list of lists of arrays.
    `change` may rewrite the module first. Raises runner.Failure when any of them fails. See runner.run for the
    folder."""
    with tempfile.TemporaryDirectory() as inputs:
        arguments = []
        for i, program in enumerate(programs):
            arguments += runner.write_arguments(inputs, program.arguments, f"p{i}_")
            arguments += runner.write_feeds(inputs, program, f"p{i}")
        names = [(f"p{i}_r{k}", value.element) for i, p in enumerate(programs) for k, value in enumerate(p.outputs)]
        names += [pair for i, p in enumerate(programs) for pair in received(i, p)]
        text = change(module(programs)) if change else module(programs)
        arrays = runner.run(text, arguments, names, options, folder=folder)
    return [[arrays[f"p{i}_r{k}"] for k in range(len(p.outputs))] + [arrays.get(name) for name, _ in received(i, p)]
            for i, p in enumerate(programs)]


def run_each(programs, options, change=None, folder=None):
    """As run, but a program that fails has its Failure instead of results; the others still run."""
    if not programs:
        return []
    try:
        return run(programs, options, change, folder)
    except runner.Failure as failure:
        if len(programs) == 1:
            return [failure]
        half = len(programs) // 2
        return run_each(programs[:half], options, change) + run_each(programs[half:], options, change)
