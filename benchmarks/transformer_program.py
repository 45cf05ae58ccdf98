# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints the `ad` program of the encoder in encoder.py: `@gradients` (loss and gradients) and `@main` (training).

`@main` makes STEPS steps of gradient descent on one input, in one scf.for; it returns the parameters and the last loss.
"""

import argparse

from encoder import COLUMNS, EPSILON, HEADS, INNER, SCALE, TOKENS, WIDTH, layer_shapes, shapes

RATE = 0.01


def tensor(*shape):
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


ROWS, NARROW, SCORES, SCALAR = tensor(TOKENS, WIDTH), tensor(TOKENS, COLUMNS), tensor(TOKENS, TOKENS), tensor()
WIDE = tensor(TOKENS, INNER)


def listing(words):
    return ", ".join(words)


def signature(names_and_types):
    return listing(f"%{name}: {kind}" for name, kind in names_and_types)


def types_of(table):
    return [tensor(*shape) for shape in table.values()]


def attention_head(h):
    project = f"({ROWS}, {tensor(WIDTH, COLUMNS)}) -> {NARROW}"
    return f"""\
  %q{h} = ad.dot %x, %query{h} : {project}
  %k{h} = ad.dot %x, %key{h} : {project}
  %v{h} = ad.dot %x, %value{h} : {project}
  %s{h} = ad.dot %q{h}, %k{h} batch [] x [] contract [1] x [1] : ({NARROW}, {NARROW}) -> {SCORES}
  %t{h} = ad.mul %s{h}, %scale : {SCORES}, {SCALAR}
  %w{h} = ad.softmax %t{h} axis 1 : {SCORES}
  %h{h} = ad.dot %w{h}, %v{h} : ({SCORES}, {NARROW}) -> {NARROW}
"""


def layer_function():
    table = layer_shapes()
    arguments = [("x", ROWS), *zip(table, types_of(table))]
    return f"""\
func.func private @layer({signature(arguments)}) -> {ROWS} {{
  %scale = ad.constant dense<{SCALE:e}> : {SCALAR}
{"".join(attention_head(h) for h in range(HEADS))}\
  %joined = ad.concat axis 1 {listing(f"%h{h}" for h in range(HEADS))} : {listing([NARROW] * HEADS)}
  %0 = ad.dot %joined, %merge : ({ROWS}, {tensor(WIDTH, WIDTH)}) -> {ROWS}
  %1 = ad.add %x, %0 : {ROWS}
  %y = ad.layer_norm %1, %norm1_scale, %norm1_bias epsilon {EPSILON:e} : {ROWS}, {tensor(WIDTH)}
  %2 = ad.dot %y, %expand : ({ROWS}, {tensor(WIDTH, INNER)}) -> {WIDE}
  %3 = ad.add %2, %expand_bias : {WIDE}, {tensor(INNER)}
  %4 = ad.relu %3 : {WIDE}
  %5 = ad.dot %4, %contract : ({WIDE}, {tensor(INNER, WIDTH)}) -> {ROWS}
  %6 = ad.add %5, %contract_bias : {ROWS}, {tensor(WIDTH)}
  %7 = ad.add %y, %6 : {ROWS}
  %z = ad.layer_norm %7, %norm2_scale, %norm2_bias epsilon {EPSILON:e} : {ROWS}, {tensor(WIDTH)}
  return %z : {ROWS}
}}
"""


def loss_function(layers):
    table = shapes(layers)
    arguments = [*zip(table, types_of(table)), ("x", ROWS), ("target", ROWS)]
    layer_type = f"({listing([ROWS, *types_of(layer_shapes())])}) -> {ROWS}"
    calls, value = "", "%x"
    for layer in range(layers):
        operands = listing([value, *(f"%layer{layer}_{name}" for name in layer_shapes())])
        value = f"%z{layer}"
        calls += f"  {value} = call @layer({operands}) : {layer_type}\n"
    return f"""\
func.func private @loss({signature(arguments)}) -> {SCALAR} {{
{calls}\
  %difference = ad.sub {value}, %target : {ROWS}
  %square = ad.mul %difference, %difference : {ROWS}
  %loss = ad.reduce_mean %square axes [0, 1] : {ROWS} -> {SCALAR}
  return %loss : {SCALAR}
}}
"""


def call_gradients(operands, types):
    """The op that calls @loss; its results are %loss and %d#i."""
    count = len(types)
    return f"""%loss, %d:{count} = ad.value_and_grad @loss({listing([*operands, "%x", "%target"])})
      wrt [{listing(map(str, range(count)))}]
      : ({listing([*types, ROWS, ROWS])}) -> ({listing([SCALAR, *types])})
"""


def entry(name, table, results):
    """The head of an entry; its arguments and results bear the names of the parameters."""
    arguments = [f'%{key}: {kind} {{ad.name = "{key}", ad.parameter}}' for key, kind in zip(table, types_of(table))]
    arguments += [f'%{key}: {ROWS} {{ad.name = "{key}"}}' for key in ("x", "target")]
    named = [f'{kind} {{ad.name = "{key}"}}' for key, kind in results]
    return f"func.func @{name}({listing(arguments)})\n    -> ({listing(named)}) {{\n"


def gradients_function(table):
    types = types_of(table)
    results = [("loss", SCALAR), *((f"d_{name}", kind) for name, kind in zip(table, types))]
    values = listing(["%loss", *(f"%d#{i}" for i in range(len(types)))])
    return f"""{entry("gradients", table, results)}\
  {call_gradients([f"%{name}" for name in table], types)}\
  return {values} : {listing(kind for _, kind in results)}
}}
"""


def main_function(table, steps):
    types, count = types_of(table), len(table)
    results = [*zip(table, types), ("loss", SCALAR)]
    carried = listing(kind for _, kind in results)
    update = "".join(
        f"    %s{i} = ad.mul %d#{i}, %rate : {kind}, {SCALAR}\n    %n{i} = ad.sub %p{i}, %s{i} : {kind}\n"
        for i, kind in enumerate(types)
    )
    return f"""{entry("main", table, results)}\
  %first = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant {steps} : index
  %rate = ad.constant dense<{RATE}> : {SCALAR}
  %none = ad.constant dense<0.0> : {SCALAR}
  %r:{count + 1} = scf.for %step = %first to %steps step %one
      iter_args({listing([*(f"%p{i} = %{name}" for i, name in enumerate(table)), "%last = %none"])})
      -> ({carried}) {{
    {call_gradients([f"%p{i}" for i in range(count)], types)}\
{update}\
    scf.yield {listing([*(f"%n{i}" for i in range(count)), "%loss"])} : {carried}
  }}
  return {listing(f"%r#{i}" for i in range(count + 1))} : {carried}
}}
"""


def program(layers, steps):
    table = shapes(layers)
    parts = [layer_function(), loss_function(layers), gradients_function(table), main_function(table, steps)]
    return f"// The encoder of {layers} layers, {steps} training steps.\n\n" + "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    print(program(options.layers, options.steps), end="")


if __name__ == "__main__":
    main()
