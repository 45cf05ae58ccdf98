# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Opens sizes of the graphs of sweep.py: the types of inputs get `?`, and so do those of all values that follow."""

OPEN = 0.15  # of the sizes, next to one that is the first axis of an argument
MIXED = 0.1  # of the programs know a size in some types and leave it open in others


def joined(shapes):
    """The type of a broadcast: a number other than 1 wins, then `?`, then 1."""
    rank = max(map(len, shapes))
    axes = zip(*((1,) * (rank - len(shape)) + tuple(shape) for shape in shapes))
    return tuple(next((s for s in sizes if s not in (1, None)), None if None in sizes else 1) for sizes in axes)


def known(*sizes):
    return next((size for size in sizes if size is not None), None)


def of_dot(node, x, y):
    p = node.parameters
    batch = [known(x[i], y[j]) for i, j in zip(*p["batch"])]
    return (*batch, *(x[a] for a in p["free"][0]), *(y[a] for a in p["free"][1]))


def of_concat(node, *shapes):
    axis = node.parameters["axis"]
    return tuple((None if None in sizes else sum(sizes)) if a == axis else known(*sizes)
                 for a, sizes in enumerate(zip(*shapes)))


def of_pad(node, x, _):
    p = node.parameters
    return tuple(None if s is None else a + s + b for a, s, b in zip(p["low"], x, p["high"]))


def of_reduce(node, x):
    p = node.parameters
    return tuple(1 if a in p["axes"] else s for a, s in enumerate(x) if p["keep"] or a not in p["axes"])


def first(_, x, *others):
    return x


# Not in the table: operations whose text would need the sizes of the result as values.
RULES = {
    **dict.fromkeys(("unary", "cast", "cumsum", "softmax", "reverse", "layer_norm", "rms_norm"), first),
    "binary": lambda node, *shapes: joined(shapes),
    "transpose": lambda node, x: tuple(x[a] for a in node.parameters["permutation"]),
    "dot": of_dot, "concat": of_concat, "pad": of_pad, "reduce": of_reduce,
}


def closed_inputs(graph):
    """The inputs that reach an operation without a rule."""
    closed = set()
    for node in reversed(graph.nodes):
        if node.kind not in ("input", "constant") and (node.kind not in RULES or node in closed):
            closed.update(node.operands)
    return closed


def open_sizes(graph, draw):
    """Opens sizes of the inputs at random: those that are one number, as a program has them for a batch or a length.
    False, and no change, if that leaves none open in two inputs."""
    closed, shapes = closed_inputs(graph), {}
    numbers = sorted({size for node in graph.inputs if node not in closed for size in node.shape if size > 1})
    if not numbers:
        return False
    # Batches and lengths are open in most programs, and first axes of some argument.
    leading = sorted({node.shape[0] for node in graph.inputs if node.shape} & set(numbers)) or numbers
    opened = {draw.pick(leading)} | {number for number in numbers if draw.chance(OPEN)}
    forgets = 0.5 if draw.chance(MIXED) else 0.0
    for node in graph.inputs:
        shapes[node] = tuple(None if node not in closed and size in opened and not draw.chance(forgets) else size
                             for size in node.shape)
    for node in graph.nodes:
        if node.kind == "layer_norm":  # scale and bias are written with one type
            shapes[node.operands[2]] = shapes[node.operands[1]]
    if sum(None in shapes[node] for node in graph.inputs) < 2:
        return False
    for node in graph.nodes:
        if node not in shapes:
            operands = [shapes[x] for x in node.operands]
            shapes[node] = RULES[node.kind](node, *operands) if node.kind in RULES else node.shape
        node.static = shapes[node]
    return True
