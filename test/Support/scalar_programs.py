# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Graphs of scalars (scalar_graphs.py) as programs that batch.py runs: host programs, and kernels of linalg.generic."""

import scalar_oracle as oracle
from generator import Value
from scalar_graphs import needed

RESULTS = 4  # at most, of one program


def results_of(graph):
    """What nothing reads; if that is too much, the last of it."""
    read = {operand.name for step in graph.steps for operand in step.operands}
    made = [scalar for step in graph.steps for scalar in step.results]
    return [scalar for scalar in made if scalar.name not in read][-RESULTS:]


class Program:
    def __init__(self, arguments, steps, results, lanes=None):
        self.sizes = () if lanes is None else (lanes,)
        self.steps, names = needed(steps, results)
        self.scalars, self.results = [a for a in arguments if a.name in names], results
        self.arguments = [(self.tensor(f"{s.name}_t", s.element), self.array(s.element, s.values))
                          for s in self.scalars]
        self.stored = [scalar.stored() for scalar in results]
        self.outputs = [self.tensor(s.name, element) for s, (_, _, element) in zip(results, self.stored)]
        self.expected = [self.array(element, s.values) for s, (_, _, element) in zip(results, self.stored)]

    def tensor(self, name, element):
        return Value(name, element, self.sizes, self.sizes)

    def array(self, element, values):
        return oracle.stored(element, values).reshape(self.sizes)

    def smaller(self):
        """The programs with one of the results."""
        lanes = self.sizes[0] if self.sizes else None
        programs = [type(self)(self.scalars, self.steps, [result], lanes) for result in self.results]
        return [program for program in programs if program.is_valid()]

    def is_valid(self):
        return True

    def lines(self):
        return [line for step in self.steps for line in step.lines] + [line for part in self.stored for line in part[0]]

    def head(self, name, prefix, visibility):
        label = lambda text: f' {{ad.name = "{prefix}{text}"}}' if prefix is not None else ""
        inputs = ", ".join(f"{value}: {value.type}{label(value.name)}" for value, _ in self.arguments)
        results = ", ".join(f"{value.type}{label(f'r{i}')}" for i, value in enumerate(self.outputs))
        return f"func.func {visibility}@{name}({inputs}) -> ({results}) {{\n"

    # Nothing is fed or received.

    def feeds(self):
        return {}

    def received(self):
        return []

    def all_ops(self):
        return []


class HostProgram(Program):
    """Tensors of rank 0 are its arguments and results."""

    def function(self, name, prefix="", visibility=""):
        lines = [f"{s} = tensor.extract {value}[] : {value.type}"
                 for s, (value, _) in zip(self.scalars, self.arguments)]
        lines += self.lines()
        lines += [f"{value}_r = ad.full {stored} : {value.element} -> {value.type}"
                  for value, (_, stored, _) in zip(self.outputs, self.stored)]
        lines.append(f"return {', '.join(f'{v}_r' for v in self.outputs)} : {', '.join(v.type for v in self.outputs)}")
        return self.head(name, prefix, visibility) + "".join(f"  {line}\n" for line in lines) + "}\n"


class KernelProgram(Program):
    """The steps are the body of a kernel, on vectors of one length."""

    def is_valid(self):
        return bool(self.arguments)  # which say how long the results are

    def function(self, name, prefix="", visibility=""):
        inputs, types = [value for value, _ in self.arguments], [value.type for value, _ in self.arguments]
        results = [value.type for value in self.outputs]
        returned = f"({', '.join(results)})" if len(results) > 1 else results[0]
        launch = f"  %r:{len(results)} = ad.launch @{name}_kernel({', '.join(map(str, inputs))}) : " \
                 f"({', '.join(types)}) -> {returned}\n"
        values = ", ".join(f"%r#{i}" for i in range(len(results)))
        return self.kernel(name, inputs, returned) + self.head(name, prefix, visibility) + launch + \
            f"  return {values} : {', '.join(results)}\n}}\n"

    def kernel(self, name, inputs, returned):
        taken = ", ".join(f"{value}: {value.type}" for value in inputs)
        block = [f"{s}: {s.element}" for s in self.scalars] + [f"{v}_out: {v.element}" for v in self.outputs]
        maps = ", ".join(["affine_map<(d0) -> (d0)>"] * len(block))
        named, types = ", ".join(map(str, inputs)), ", ".join(value.type for value in inputs)
        outs, results = ", ".join(f"{v}_e" for v in self.outputs), ", ".join(v.type for v in self.outputs)
        empty = "".join(f"  {v}_e = tensor.empty() : {v.type}\n" for v in self.outputs)
        yielded = ", ".join(stored for _, stored, _ in self.stored), ", ".join(v.element for v in self.outputs)
        body = "".join(f"    {line}\n" for line in [*self.lines(), f"linalg.yield {yielded[0]} : {yielded[1]}"])
        made = ", ".join(f"%k#{i}" for i in range(len(self.outputs)))
        attributes = "attributes {kernel_class = \"elementwise\"}"
        return f"""ad.kernel private @{name}_kernel({taken}) -> {returned} {attributes} {{
{empty}  %k:{len(self.outputs)} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({named} : {types}) outs({outs} : {results}) {{
  ^bb0({', '.join(block)}):
{body}  }} -> ({results})
  ad.yield {made} : {results}
}}
"""
