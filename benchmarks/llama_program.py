# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints the `ad` program of the Llama block in llama.py: its loss, and the gradients of weights and input.

Arguments are the parameters, x, target, and the tables of the rotary embedding, cos and sin.
"""

import argparse

from llama import COLUMNS, EPSILON, HALF, HEADS, HIDDEN, INNER, KEY_HEADS, SCALE, SHARED, WIDTH, shapes


def tensor(*shape, element="f32"):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def listing(words):
    return ", ".join(words)


SCALAR, SCALES = tensor(), tensor(WIDTH)


class Block:
    """The text of the block for one batch and length."""

    def __init__(self, batch, length):
        self.batch, self.length = batch, length
        self.rows, self.wide = tensor(batch, length, WIDTH), tensor(batch, length, INNER)
        self.table = tensor(length, 1, HALF)

    def linear(self, result, operand, weight):
        """The product of rows with a transposed weight."""
        outputs, inputs = shapes()[weight]
        types = f"({tensor(self.batch, self.length, inputs)}, {tensor(outputs, inputs)})"
        return (f"  %{result} = ad.dot %{operand}, %{weight} batch [] x [] contract [2] x [1]\n"
                f"      : {types} -> {tensor(self.batch, self.length, outputs)}\n")

    def rotate(self, result, operand, heads):
        """The rotary embedding of rows, which it splits into heads."""
        whole, half = tensor(self.batch, self.length, heads, COLUMNS), tensor(self.batch, self.length, heads, HALF)
        flat, r = tensor(self.batch, self.length, heads * COLUMNS), result
        return f"""\
  %{r}_heads = ad.reshape %{operand} : {flat} -> {whole}
  %{r}_low = ad.slice %{r}_heads [0, 0, 0, 0] strides [1, 1, 1, 1] : {whole} -> {half}
  %{r}_high = ad.slice %{r}_heads [0, 0, 0, {HALF}] strides [1, 1, 1, 1] : {whole} -> {half}
  %{r}_0 = ad.mul %{r}_low, %cos : {half}, {self.table}
  %{r}_1 = ad.mul %{r}_high, %sin : {half}, {self.table}
  %{r}_2 = ad.sub %{r}_0, %{r}_1 : {half}
  %{r}_3 = ad.mul %{r}_high, %cos : {half}, {self.table}
  %{r}_4 = ad.mul %{r}_low, %sin : {half}, {self.table}
  %{r}_5 = ad.add %{r}_3, %{r}_4 : {half}
  %{r} = ad.concat axis 3 %{r}_2, %{r}_5 : {half}, {half}
"""

    def weights(self):
        """The softmax of the causal scores; their axes are batch, key head, row, shared, column."""
        b, n = self.batch, self.length
        flat, grouped = tensor(b, n, HEADS, COLUMNS), tensor(b, n, KEY_HEADS, SHARED, COLUMNS)
        scores, keys = tensor(b, KEY_HEADS, n, SHARED, n), tensor(b, n, KEY_HEADS, COLUMNS)
        row, column, seen = (tensor(*shape, element="i32") for shape in ((n, 1, 1), (1, 1, n), (n, 1, n)))
        return f"""\
  %grouped = ad.reshape %turned_q : {flat} -> {grouped}
  %scores = ad.dot %grouped, %turned_k batch [0, 2] x [0, 2] contract [4] x [3] : ({grouped}, {keys}) -> {scores}
  %scale = ad.constant dense<{SCALE:e}> : {SCALAR}
  %scaled = ad.mul %scores, %scale : {scores}, {SCALAR}
  %row = ad.iota axis 0 : {row}
  %column = ad.iota axis 2 : {column}
  %seen = ad.compare le %column, %row : {column}, {row}
  %hidden = ad.constant dense<{HIDDEN:e}> : {SCALAR}
  %causal = ad.select %seen, %scaled, %hidden : {seen.replace("i32", "i1")}, {scores}, {SCALAR}
  %weights = ad.softmax %causal axis 4 : {scores}
"""

    def attention(self):
        b, n = self.batch, self.length
        scores, values = tensor(b, KEY_HEADS, n, SHARED, n), tensor(b, n, KEY_HEADS, COLUMNS)
        by_head, by_row = tensor(b, KEY_HEADS, n, SHARED, COLUMNS), tensor(b, n, KEY_HEADS, SHARED, COLUMNS)
        return f"""\
  %n1 = ad.rms_norm %x, %attention_scale epsilon {EPSILON:e} : {self.rows}, {SCALES}
{self.linear("q", "n1", "query")}{self.linear("k", "n1", "key")}{self.linear("v", "n1", "value")}\
{self.rotate("turned_q", "q", HEADS)}{self.rotate("turned_k", "k", KEY_HEADS)}{self.weights()}\
  %v_heads = ad.reshape %v : {tensor(b, n, KEY_HEADS * COLUMNS)} -> {values}
  %by_head = ad.dot %weights, %v_heads batch [0, 1] x [0, 2] contract [4] x [1] : ({scores}, {values}) -> {by_head}
  %by_row = ad.transpose %by_head [0, 2, 1, 3, 4] : {by_head}
  %joined = ad.reshape %by_row : {by_row} -> {self.rows}
{self.linear("merged", "joined", "merge")}\
  %h = ad.add %x, %merged : {self.rows}
"""

    def feed_forward(self):
        return f"""\
  %n2 = ad.rms_norm %h, %inner_scale epsilon {EPSILON:e} : {self.rows}, {SCALES}
{self.linear("gated", "n2", "gate")}{self.linear("upped", "n2", "up")}\
  %silu = ad.silu %gated : {self.wide}
  %inner = ad.mul %silu, %upped : {self.wide}
{self.linear("out", "inner", "down")}\
  %y = ad.add %h, %out : {self.rows}
"""

    def arguments(self):
        """Name and type of what @loss and @main take."""
        table = {name: tensor(*shape) for name, shape in shapes().items()}
        return {**table, "x": self.rows, "target": self.rows, "cos": self.table, "sin": self.table}

    def loss(self):
        signature = listing(f"%{name}: {kind}" for name, kind in self.arguments().items())
        return f"""\
func.func private @loss({signature}) -> {SCALAR} {{
{self.attention()}{self.feed_forward()}\
  %difference = ad.sub %y, %target : {self.rows}
  %square = ad.mul %difference, %difference : {self.rows}
  %loss = ad.reduce_mean %square axes [0, 1, 2] : {self.rows} -> {SCALAR}
  return %loss : {SCALAR}
}}
"""

    def main(self):
        table = self.arguments()
        signature = listing(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, kind in table.items())
        trained = {name: kind for name, kind in table.items() if name in shapes() or name == "x"}
        results = {"loss": SCALAR, **{f"d_{name}": kind for name, kind in trained.items()}}
        named = listing(f'{kind} {{ad.name = "{name}"}}' for name, kind in results.items())
        count = len(trained)
        values = listing(["%loss", *(f"%d#{i}" for i in range(count))])
        operands = listing(f"%{name}" for name in table)
        return f"""\
func.func @main({signature})
    -> ({named}) {{
  %loss, %d:{count} = ad.value_and_grad @loss({operands}) wrt [{listing(map(str, range(count)))}]
      : ({listing(table.values())}) -> ({listing(results.values())})
  return {values} : {listing(results.values())}
}}
"""


def program(batch, length):
    block = Block(batch, length)
    return f"// The Llama block for {batch}x{length}x{WIDTH}, forward and backward.\n\n{block.loss()}\n{block.main()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--length", type=int, default=256)
    options = parser.parse_args()
    print(program(options.batch, options.length), end="")


if __name__ == "__main__":
    main()
