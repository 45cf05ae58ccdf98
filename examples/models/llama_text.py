# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Writes Llama as text of the `ad` dialect: attention, a decoder layer, or the model, forward, backward and training.

  attention  concat_h(softmax(masked(rot(q_h) rot(k_g)^T / sqrt(columns))) v_g) Wo^T with q, k, v = x (Wq, Wk, Wv)^T
  decoder    h = x + attention(norm(x));  y = h + (silu(n Wg^T) * (n Wu^T)) Wd^T with n = norm(h)
  model      the rows of the embedding for the token ids, the decoder layers, a norm, and the head if there is one

norm(x) = x / sqrt(mean(x^2) + epsilon) * scale. `rot` rotates the pair (i, i + columns / 2) of a head by the angles of
its position ("rotate half"). Weights have the layout of PyTorch's `Linear`, outputs by inputs.

A size in this file is an int, or a letter: B is the batch, L the length; each is a number or `?` in the program.
"""

import dataclasses
import math

PARTS = ("attention", "decoder", "model")
ENTRIES = ("forward", "loss", "gradient", "step", "train")
MASKS = ("causal", "argument", "none")
HEADS = ("none", "tied", "separate")
OPTIMIZERS = ("sgd", "adam")
ATTENTION = ("query", "key", "value", "merge")


@dataclasses.dataclass(frozen=True)
class Config:
    """What to write. A batch or length of None is dynamic; `heads` query heads share `key_heads` key heads."""

    part: str = "decoder"
    entry: str = "forward"
    batch: int | None = 2
    length: int | None = 1024
    width: int = 512
    heads: int = 8
    key_heads: int = 0  # as many as heads
    inner: int = 2000
    layers: int = 1
    vocabulary: int = 4000
    positions: int = 2048  # rows of the rotary tables; 0: tables of exactly length x 1 x columns / 2
    mask: str = "causal"
    head: str = "none"  # what follows the last norm of the model
    optimizer: str = "sgd"
    steps: int = 100
    rate: float = 1e-3
    epsilon: float = 1e-5
    element: str = "f32"
    loss_scale: float = 1  # the cotangent of the loss, by whose inverse gradients are multiplied

    def __post_init__(self):
        for size in (self.width, self.heads, self.inner, self.layers, self.vocabulary, self.steps):
            if size < 1:
                raise ValueError("sizes and counts must be positive")
        for size in (self.batch, self.length):
            if size is not None and size < 1:
                raise ValueError("batch and length must be positive, or dynamic")
        if self.width % (2 * self.heads):
            raise ValueError(f"the width must be a multiple of twice the heads, got {self.width} and {self.heads}")
        if self.heads % self.shared_keys:
            raise ValueError(f"{self.shared_keys} key heads do not divide {self.heads} heads")
        if self.positions and self.length and self.length > self.positions:
            raise ValueError(f"the length {self.length} is more than the {self.positions} rows of the rotary tables")
        if not self.positions and not self.length:
            raise ValueError("rotary tables of exactly the length need a static length")

    @property
    def shared_keys(self):
        return self.key_heads or self.heads

    @property
    def columns(self):
        """Of a head."""
        return self.width // self.heads

    def has_labels(self):
        return self.part == "model" and self.head != "none"

    def layer_parameters(self):
        """Name and shape of the parameters of a layer."""
        width, keys = self.width, self.shared_keys * self.columns
        attention = {"query": (width, width), "key": (keys, width), "value": (keys, width), "merge": (width, width)}
        if self.part == "attention":
            return attention
        return {"attention_scale": (width,), **attention, "inner_scale": (width,), "gate": (self.inner, width),
                "up": (self.inner, width), "down": (width, self.inner)}

    def parameters(self):
        """Name and shape of all parameters, in the order of the program's arguments."""
        layer = self.layer_parameters()
        if self.part != "model":
            return layer
        table = {"embedding": (self.vocabulary, self.width)}
        table.update({f"layer{i}_{name}": shape for i in range(self.layers) for name, shape in layer.items()})
        table["final_scale"] = (self.width,)
        if self.head == "separate":
            table["head"] = (self.vocabulary, self.width)
        return table

    def input(self):
        """Name, shape and element type of what the part reads."""
        return ("ids", ("B", "L"), "i32") if self.part == "model" else ("x", ("B", "L", self.width), self.element)

    def target(self):
        """Name, shape and element type of what the loss compares the result with."""
        if self.has_labels():
            return "labels", ("B", "L"), "i32"
        return "target", ("B", "L", self.width), self.element

    def tables(self):
        """Name and shape of the arguments that are neither parameters nor data: rotary tables and the mask."""
        rotary = (self.positions, self.columns) if self.positions else ("L", 1, self.columns // 2)
        mask = {"mask": ("B", 1, "L", "L")} if self.mask == "argument" else {}
        return {"cos": rotary, "sin": rotary, **mask}


def listing(words):
    return ", ".join(words)


class Llama:
    """The text of the functions of a configuration."""

    def __init__(self, config):
        self.config = config
        self.rows = self.tensor("B", "L", config.width)
        self.scalar, self.scale = self.tensor(), self.tensor(config.width)

    def size(self, size):
        known = {"B": self.config.batch, "L": self.config.length}
        return known.get(size, size) or "?"

    def tensor(self, *shape, element=None):
        return f"tensor<{''.join(f'{self.size(size)}x' for size in shape)}{element or self.config.element}>"

    def sizes(self, *shape):
        """The operands that give an operation the dynamic sizes of its result."""
        names = {"B": "%batch", "L": "%length"}
        dynamic = [names[size] for size in shape if self.size(size) == "?"]
        return f"({listing(dynamic)})" if dynamic else ""

    def read_sizes(self, value, kind):
        """Defines %batch and %length where they are dynamic, from the first axes of a value."""
        lines = []
        for axis, (name, size) in enumerate((("batch", "B"), ("length", "L"))):
            if self.size(size) == "?":
                lines += [f"  %axis{axis} = arith.constant {axis} : index\n",
                          f"  %{name} = tensor.dim %{value}, %axis{axis} : {kind}\n"]
        return "".join(lines)

    def reshape(self, result, operand, before, after, element=None):
        return (f"  %{result} = ad.reshape %{operand}{self.sizes(*after)} : {self.tensor(*before, element=element)} -> "
                f"{self.tensor(*after, element=element)}\n")

    def linear(self, result, operand, weight, shape):
        """The product of rows with a transposed weight."""
        outputs, inputs = shape
        types = f"({self.tensor('B', 'L', inputs)}, {self.tensor(outputs, inputs)})"
        return (f"  %{result} = ad.dot %{operand}, %{weight} batch [] x [] contract [2] x [1]\n"
                f"      : {types} -> {self.tensor('B', 'L', outputs)}\n")

    def layer_linear(self, result, operand, weight):
        return self.linear(result, operand, weight, self.config.layer_parameters()[weight])

    # --- attention

    def table(self, name):
        """%NAME_rows: the rows of the table for the length, the left half of its columns, for all heads."""
        positions, half = self.config.positions, self.config.columns // 2
        if not positions:
            return ""
        return (f"  %{name}_left = ad.slice %{name} [0, 0] strides [1, 1] {self.sizes('L')} : "
                f"{self.tensor(positions, 2 * half)} -> {self.tensor('L', half)}\n"
                + self.reshape(f"{name}_rows", f"{name}_left", ("L", half), ("L", 1, half)))

    def rotate(self, r, operand, heads):
        """The rotary embedding of rows, which it splits into heads."""
        columns, half = self.config.columns, self.config.columns // 2
        whole_shape, half_shape = ("B", "L", heads, columns), ("B", "L", heads, half)
        whole, part, table = self.tensor(*whole_shape), self.tensor(*half_shape), self.tensor("L", 1, half)
        rows = "_rows" if self.config.positions else ""
        sizes = self.sizes(*half_shape)
        return f"""\
{self.reshape(f"{r}_heads", operand, ("B", "L", heads * columns), whole_shape)}\
  %{r}_low = ad.slice %{r}_heads [0, 0, 0, 0] strides [1, 1, 1, 1] {sizes} : {whole} -> {part}
  %{r}_high = ad.slice %{r}_heads [0, 0, 0, {half}] strides [1, 1, 1, 1] {sizes} : {whole} -> {part}
  %{r}_0 = ad.mul %{r}_low, %cos{rows} : {part}, {table}
  %{r}_1 = ad.mul %{r}_high, %sin{rows} : {part}, {table}
  %{r}_2 = ad.sub %{r}_0, %{r}_1 : {part}
  %{r}_3 = ad.mul %{r}_high, %cos{rows} : {part}, {table}
  %{r}_4 = ad.mul %{r}_low, %sin{rows} : {part}, {table}
  %{r}_5 = ad.add %{r}_3, %{r}_4 : {part}
  %{r} = ad.concat axis 3 %{r}_2, %{r}_5 : {part}, {part}
"""

    def masked(self, scores):
        """%masked: the scaled scores of the columns that a row sees; axes as in `weights`."""
        rule = self.config.mask
        if rule == "none":
            return "", "scaled"
        if rule == "argument":
            shape = ("B", 1, "L", 1, "L")
            return (self.reshape("mask_rows", "mask", ("B", 1, "L", "L"), shape)
                    + f"  %masked = ad.add %scaled, %mask_rows : {scores}, {self.tensor(*shape)}\n", "masked")
        row, column = self.tensor("L", 1, 1, element="i32"), self.tensor(1, 1, "L", element="i32")
        seen = self.tensor("L", 1, "L", element="i1")
        hidden = -6e4 if self.config.element == "f16" else -1e30
        return f"""\
  %row = ad.iota axis 0 {self.sizes("L")} : {row}
  %column = ad.iota axis 2 {self.sizes("L")} : {column}
  %seen = ad.compare le %column, %row : {column}, {row}
  %hidden = ad.constant dense<{hidden:e}> : {self.scalar}
  %masked = ad.select %seen, %scaled, %hidden : {seen}, {scores}, {self.scalar}
""", "masked"

    def weights(self):
        """The softmax of the scores; their axes are batch, key head, row, query head of the key head, column."""
        config = self.config
        groups, columns = config.shared_keys, config.columns
        shared = config.heads // groups
        scores, keys = self.tensor("B", groups, "L", shared, "L"), self.tensor("B", "L", groups, columns)
        grouped = ("B", "L", groups, shared, columns)
        mask, masked = self.masked(scores)
        return f"""\
{self.reshape("grouped", "turned_q", ("B", "L", config.heads, columns), grouped)}\
  %scores = ad.dot %grouped, %turned_k batch [0, 2] x [0, 2] contract [4] x [3]
      : ({self.tensor(*grouped)}, {keys}) -> {scores}
  %scale = ad.constant dense<{1 / math.sqrt(columns):.17e}> : {self.scalar}
  %scaled = ad.mul %scores, %scale : {scores}, {self.scalar}
{mask}\
  %weights = ad.softmax %{masked} axis 4 : {scores}
"""

    def attention(self):
        config = self.config
        groups, columns = config.shared_keys, config.columns
        shared = config.heads // groups
        scores, values = self.tensor("B", groups, "L", shared, "L"), ("B", "L", groups, columns)
        by_head, by_row = self.tensor("B", groups, "L", shared, columns), ("B", "L", groups, shared, columns)
        body = f"""\
{self.layer_linear("q", "x", "query")}{self.layer_linear("k", "x", "key")}{self.layer_linear("v", "x", "value")}\
{self.table("cos")}{self.table("sin")}\
{self.rotate("turned_q", "q", config.heads)}{self.rotate("turned_k", "k", groups)}{self.weights()}\
{self.reshape("v_heads", "v", ("B", "L", groups * columns), values)}\
  %by_head = ad.dot %weights, %v_heads batch [0, 1] x [0, 2] contract [4] x [1]
      : ({scores}, {self.tensor(*values)}) -> {by_head}
  %by_row = ad.transpose %by_head [0, 2, 1, 3, 4] : {by_head}
{self.reshape("joined", "by_row", by_row, ("B", "L", config.width))}\
{self.layer_linear("y", "joined", "merge")}"""
        return self.function("attention", self.arguments(ATTENTION), body, "y", self.rows, "x")

    # --- layers and model

    def decoder(self):
        names = [name for name in self.arguments(ATTENTION) if name != "x"]
        wide = self.tensor("B", "L", self.config.inner)
        body = f"""\
  %n1 = ad.rms_norm %x, %attention_scale epsilon {self.config.epsilon:e} : {self.rows}, {self.scale}
{self.call("value_of_attention", "attention", {"n1": self.rows, **{n: self.arguments(ATTENTION)[n] for n in names}},
           self.rows)}\
  %h = ad.add %x, %value_of_attention : {self.rows}
  %n2 = ad.rms_norm %h, %inner_scale epsilon {self.config.epsilon:e} : {self.rows}, {self.scale}
{self.layer_linear("gated", "n2", "gate")}{self.layer_linear("upped", "n2", "up")}\
  %silu = ad.silu %gated : {wide}
  %inner = ad.mul %silu, %upped : {wide}
{self.layer_linear("out", "inner", "down")}\
  %y = ad.add %h, %out : {self.rows}
"""
        return self.function("decoder", self.arguments(self.config.layer_parameters()), body, "y", self.rows)

    def lookup(self):
        """%h0: the rows of the embedding."""
        table, ids = self.tensor(self.config.vocabulary, self.config.width), self.tensor("B", "L", element="i32")
        return f"  %h0 = ad.embedding %embedding, %ids : {table}, {ids}\n"

    def model(self):
        config = self.config
        layer, tables = config.layer_parameters(), self.table_types()
        lines = [self.lookup()]
        for i in range(config.layers):
            weights = {f"layer{i}_{name}": self.tensor(*shape) for name, shape in layer.items()}
            lines.append(self.call(f"h{i + 1}", "decoder", {f"h{i}": self.rows, **weights, **tables}, self.rows))
        normed = "y" if config.head == "none" else "normed"
        lines.append(f"  %{normed} = ad.rms_norm %h{config.layers}, %final_scale epsilon {config.epsilon:e} : "
                     f"{self.rows}, {self.scale}\n")
        if config.head != "none":
            weight = "embedding" if config.head == "tied" else "head"
            lines.append(self.linear("y", "normed", weight, (config.vocabulary, config.width)))
        return self.function("model", self.forward_arguments(), "".join(lines), "y", self.result(), "ids")

    def result(self):
        return self.tensor("B", "L", self.config.vocabulary) if self.config.has_labels() else self.rows

    # --- signatures

    def table_types(self):
        return {name: self.tensor(*shape) for name, shape in self.config.tables().items()}

    def arguments(self, weights):
        """Name and type of what a function of a layer takes."""
        shapes = self.config.layer_parameters()
        return {"x": self.rows, **{name: self.tensor(*shapes[name]) for name in weights}, **self.table_types()}

    def parameter_types(self):
        return {name: self.tensor(*shape) for name, shape in self.config.parameters().items()}

    def data_types(self, *data):
        return {name: self.tensor(*shape, element=element) for name, shape, element in data}

    def forward_arguments(self):
        if self.config.part != "model":
            return self.arguments(self.config.layer_parameters())
        return {**self.parameter_types(), **self.data_types(self.config.input()), **self.table_types()}

    def loss_arguments(self):
        """Name and type of the arguments of @loss: parameters, what is read, what it is compared with, tables."""
        data = self.data_types(self.config.input(), self.config.target())
        return {**self.parameter_types(), **data, **self.table_types()}

    def function(self, name, arguments, body, result, kind, measured=None):
        """A private function; `measured` is the argument that tells the dynamic sizes, where its body needs them."""
        signature = listing(f"%{argument}: {type_}" for argument, type_ in arguments.items())
        sizes = self.read_sizes(measured, arguments[measured]) if measured else ""
        return f"func.func private @{name}({signature}) -> {kind} {{\n{sizes}{body}  return %{result} : {kind}\n}}\n"

    def call(self, result, name, arguments, kind):
        operands = listing(f"%{argument}" for argument in arguments)
        return (f"  %{result} = call @{name}({operands})\n"
                f"      : ({listing(arguments.values())}) -> {kind}\n")

    # --- the loss and its gradient

    def loss(self):
        """The mean cross entropy of logits, or the mean square of the difference to the target."""
        arguments, kind = self.forward_arguments(), self.result()
        if self.config.has_labels():
            losses = self.tensor("B", "L")
            tail = (f"  %losses = ad.cross_entropy %y, %labels : {kind}, {self.tensor('B', 'L', element='i32')} -> "
                    f"{losses}\n  %loss = ad.reduce_mean %losses axes [0, 1] : {losses} -> {self.scalar}\n")
        else:
            tail = (f"  %difference = ad.sub %y, %target : {kind}\n"
                    f"  %square = ad.mul %difference, %difference : {kind}\n"
                    f"  %loss = ad.reduce_mean %square axes [0, 1, 2] : {kind} -> {self.scalar}\n")
        body = self.call("y", self.config.part, arguments, kind) + tail
        return self.function("loss", self.loss_arguments(), body, "loss", self.scalar)

    def differentiated(self):
        """Name and type of what gradients are of: the parameters, and x where there is one."""
        given = {} if self.config.part == "model" else {"x": self.rows}
        return {**self.parameter_types(), **given}

    def gradient_of(self, number):
        """What `gradient` calls the gradient of an argument."""
        return f"%d#{number}" if self.config.loss_scale == 1 else f"%d_{number}"

    def gradient(self, table, renamed=lambda name: name):
        """%loss and the gradients of @loss with respect to the arguments of the table."""
        arguments = self.loss_arguments()
        places = [list(arguments).index(name) for name in table]
        results = [self.scalar, *table.values()]
        operands = listing(f"%{renamed(name)}" for name in arguments)
        wrt = f"wrt [{listing(map(str, places))}]"
        if self.config.loss_scale == 1:
            return (f"  %loss, %d:{len(table)} = ad.value_and_grad @loss({operands}) {wrt}\n"
                    f"      : ({listing(arguments.values())}) -> ({listing(results)})\n")
        return self.scaled_gradient(operands, wrt, [*arguments.values(), self.scalar], results)

    def scaled_gradient(self, operands, wrt, kinds, results):
        """The same with a loss scale. The products with its inverse are never in f16, where they would underflow."""
        scale, kept = self.config.loss_scale, "{ad.precision = #ad.precision<never>}"
        lines = (f"  %loss_scale = ad.constant dense<{scale:e}> : {self.scalar}\n"
                 f"  %unscale = ad.constant dense<{1 / scale:e}> : {self.scalar}\n"
                 f"  %loss, %scaled:{len(results) - 1} = ad.vjp @loss({operands}) cotangents(%loss_scale) {wrt}\n"
                 f"      : ({listing(kinds)}) -> ({listing(results)})\n")
        for number, kind in enumerate(results[1:]):
            lines += (f"  {self.gradient_of(number)} = ad.mul %scaled#{number}, %unscale {kept}\n"
                      f"      : {kind}, {self.scalar}\n")
        return lines

    def functions(self):
        """Everything that @main needs."""
        parts = [self.attention()]
        if self.config.part != "attention":
            parts.append(self.decoder())
        if self.config.part == "model":
            parts.append(self.model())
        if self.config.entry != "forward":
            parts.append(self.loss())
        return parts
