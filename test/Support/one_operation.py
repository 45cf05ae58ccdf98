# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs of one operation of the catalogue, with a negation after it at times."""

from generator import Generator
from operations import CATALOGUE


def program(rng, names, sizes, largest):
    """(text, arguments, the operation, whether it is alone) of one of the operations `names`, whose axes have some of the
    sizes and whose tensors have at most as many elements."""
    generator = Generator(rng, dynamic=float(rng.choice([0.0, 0.0, 0.5])), constants=0.0)
    generator.largest, generator.size = largest, lambda: int(rng.choice(sizes))
    types, make = CATALOGUE[str(rng.choice(names))]
    make(generator, str(rng.choice(types)))
    op = generator.ops[-1]
    lines, last = op.lines(), str(op.result)
    if op.result.element != "i1" and rng.random() < 0.3:
        lines.append(f"%after = ad.neg {op.result} : {op.result.type}")
        last = "%after"
    parameters = ", ".join(f'{value}: {value.type} {{ad.name = "{value.name}"}}' for value, _ in generator.arguments)
    body = "\n  ".join(lines)
    text = (f'func.func @main({parameters}) -> ({op.result.type} {{ad.name = "r"}}) {{\n  {body}\n'
            f"  return {last} : {op.result.type}\n}}\n")
    return text, generator.arguments, op, last == str(op.result)
