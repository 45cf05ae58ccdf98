# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random operations of linalg: each function adds one construct to a program and returns its result."""

import elements
from import_bodies import Code

NAMED_UNARY = ["exp", "abs", "negf", "tanh", "square", "erf", "floor", "ceil", "round"]
NAMED_SMOOTH = ["exp", "negf", "tanh", "square", "erf"]
NAMED_BINARY = ["add", "sub", "mul", "max", "min"]
COMBINERS = {True: ["arith.addf"] * 3 + ["arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
                                          "arith.minnumf", "arith.subf"],
             False: ["arith.addi"] * 2 + ["arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"]}


def maps(texts, loops):
    names = ", ".join(f"d{i}" for i in range(loops))
    return "[" + ", ".join(f"affine_map<({names}) -> ({text})>" for text in texts) + "]"


def generic(p, ins, outs, texts, kinds, body):
    """A linalg.generic; ins are values, outs (value, name of the init), body(code, names) gives what is yielded."""
    lines, letters = [], {"p": "parallel", "r": "reduction"}
    arguments = [p.name() for _ in [*ins, *outs]]
    types = [value.element for value in ins] + [value.element for value, _ in outs]
    yielded = body(Code(p, lines.append), arguments)
    block = ", ".join(f"{name}: {kind}" for name, kind in zip(arguments, types))
    given = f"ins({', '.join(v.name for v in ins)} : {', '.join(v.type for v in ins)}) " if ins else ""
    results = ", ".join(value.type for value, _ in outs)
    names = f"{outs[0][0].name}" if len(outs) == 1 else ", ".join(value.name for value, _ in outs)
    attributes = (f"indexing_maps = {maps(texts, len(kinds))}, iterator_types = "
                  f"[{', '.join(chr(34) + letters[k] + chr(34) for k in kinds)}]")
    p.emit(f"{names} = linalg.generic {{{attributes}}} {given}outs({', '.join(n for _, n in outs)} : {results}) {{")
    p.emit(f"^bb0({block}):")
    for line in lines:
        p.emit("  " + line)
    p.emit(f"  linalg.yield {', '.join(yielded)} : {', '.join(v.element for v, _ in outs)}")
    p.emit(f"}} -> {results if len(outs) == 1 else f'({results})'}")


def dims(order):
    return ", ".join(f"d{i}" for i in order)


def elementwise(p):
    """Operands in any order of axes, broadcast along some, and at times the init, several results, or indices."""
    x = p.source(low=1)
    order = [int(i) for i in p.rng.permutation(x.rank)]
    kept = sorted(int(i) for i in p.rng.choice(x.rank, int(p.rng.integers(0, x.rank + 1)), replace=False))
    y = p.argument(x.element, [x.sizes[i] for i in kept])
    z = p.argument(x.element, [x.sizes[i] for i in order])
    z.static = tuple(x.static[i] for i in order)
    out = p.result(x.element, [x.sizes[i] for i in order], [x.static[i] for i in order])
    extents = p.extents(x)
    reads = p.chance(0.3)
    init = z.name if reads else p.empty_like(out, [extents[i] for i in order])
    uses_index = p.chance(0.3)

    def body(code, names):
        known = names[:2] + (names[2:] if reads else [])
        if uses_index:
            axis = int(p.rng.integers(0, x.rank))
            code.write(f"{(at := p.name())} = linalg.index {axis} : index")
            code.write(f"{(number := p.name())} = arith.index_cast {at} : index to i32")
            if elements.is_float(x.element):
                number = code.cast("arith.sitofp", number, "i32", x.element)
            elif x.element != "i32":
                number = code.cast("arith.extsi" if x.element == "i64" else "arith.trunci", number, "i32", x.element)
            known.append(number)
        return [code.any(x.element, known)]

    generic(p, [x, y], [(out, init)], [dims(range(x.rank)), dims(kept), dims(order)], "p" * x.rank, body)
    return p.add(out)


def several_results(p):
    x = p.source()
    outs = [(p.like(x), p.empty_like(x, p.extents(x))) for _ in range(2)]
    generic(p, [x], outs, [dims(range(x.rank))] * 3, "p" * x.rank,
            lambda code, names: [code.any(x.element, names[:1]) for _ in outs])
    p.add(outs[1][0])
    return p.add(outs[0][0])


def reduction(p):
    """Any combiner over any loops, of a body, into an init that is neutral, another number, or an argument."""
    x = p.source(low=1)
    is_float = elements.is_float(x.element)
    combiner = p.pick(COMBINERS[is_float])
    kinds = [p.pick("pr") for _ in x.sizes]
    if "r" not in kinds:
        kinds[-1] = "r"
    kept = [i for i, kind in enumerate(kinds) if kind == "p"]
    kept = [kept[int(i)] for i in p.rng.permutation(len(kept))]
    out = p.result(x.element, [x.sizes[i] for i in kept], [x.static[i] for i in kept])
    if p.chance(0.4):
        init = p.argument(x.element, out.sizes)
        init.static = out.static
        start = init.name
    else:
        extents = [p.extent(x, i) for i in kept]
        start = p.filled(out, extents, p.pick([0, 1, 2]))

    def body(code, names):
        term = names[0] if p.chance(0.4) else code.any(x.element, names[:1])
        if combiner == "arith.mulf":  # products of many numbers leave the range of the type
            term = code.op(f"math.cos {term}", x.element)
        accumulator = names[1]
        if p.chance(0.3):  # several terms of one element
            other = code.any(x.element, names[:1])
            if combiner == "arith.mulf":
                other = code.op(f"math.cos {other}", x.element)
            accumulator = code.op(f"{combiner} {accumulator}, {other}", x.element)
        operands = [accumulator, term]
        if p.chance(0.3) and combiner != "arith.subf":
            operands.reverse()
        return [code.op(f"{combiner} {operands[0]}, {operands[1]}", x.element)]

    generic(p, [x], [(out, start)], [dims(range(x.rank)), dims(kept)], kinds, body)
    return p.add(out)


def other_reduction(p):
    """Several accumulators, or code that is no combiner of ad, over the last loop or all."""
    x = p.source(low=1, high=2, least=1)
    is_float, over_all = elements.is_float(x.element), x.rank == 1 or p.chance(0.3)
    f = "f" if is_float else "i"
    kept = [] if over_all else [0]
    sizes, static = [x.sizes[i] for i in kept], [x.static[i] for i in kept]
    extents = [p.extent(x, i) for i in kept]
    kind = p.pick(["largest", "moments", "last"])
    second = "i64" if kind == "largest" else x.element
    outs = [(p.result(element, sizes, static), element) for element in (x.element, second)]
    outs = [(value, p.filled(value, extents, -1 if kind == "largest" and value is outs[0][0] else 0)) for value, _ in outs]

    def largest(code, names):
        code.write(f"{(at := p.name())} = linalg.index {x.rank - 1} : index")
        number = code.op(f"arith.index_cast {at}", "index to i64")
        above = code.op(f"arith.cmp{f} {'ogt' if is_float else 'sgt'}, {names[0]}, {names[1]}", x.element)
        return [code.op(f"arith.select {above}, {names[0]}, {names[1]}", x.element),
                code.op(f"arith.select {above}, {number}, {names[2]}", "i64")]

    def moments(code, names):
        sums = code.op(f"arith.add{f} {names[1]}, {names[0]}", x.element)
        product = code.op(f"arith.mul{f} {names[0]}, {names[1]}", x.element)
        return [sums, code.op(f"arith.add{f} {names[2]}, {product}", x.element)]

    def last(code, names):
        return [names[0], code.op(f"arith.sub{f} {names[0]}, {names[2]}", x.element)]

    body = {"largest": largest, "moments": moments, "last": last}[kind]
    kinds = "r" * x.rank if over_all else "p" + "r" * (x.rank - 1)
    generic(p, [x], outs, [dims(range(x.rank)), dims(kept), dims(kept)], kinds, body)
    if kind != "largest":
        p.add(outs[1][0])
    return p.add(outs[0][0])


def contraction(p):
    """Products over loops of both operands, with free and batch loops in any order; at times with a narrow operand."""
    x = p.source(low=1)
    kinds = [p.pick(["batch", "free", "contract", "contract"]) for _ in x.sizes]
    if "contract" not in kinds:
        kinds[-1] = "contract"
    shared = [i for i, kind in enumerate(kinds) if kind != "free"]
    free = [x.rank + i for i in range(int(p.rng.integers(0, 2)))]
    sizes, static = list(x.sizes) + [p.size(1) for _ in free], list(x.static) + [True for _ in free]
    order = [int(i) for i in p.rng.permutation(shared + free)]
    y = p.argument(x.element, [sizes[i] for i in order])
    y.static = tuple(static[i] if i < x.rank else True for i in order)
    kept = [i for i in range(len(sizes)) if i >= x.rank or kinds[i] != "contract"]
    kept = [kept[int(i)] for i in p.rng.permutation(len(kept))]
    out = p.result(x.element, [sizes[i] for i in kept], [static[i] for i in kept])
    extents = [p.extent(x, i) if i < x.rank else str(sizes[i]) for i in kept]
    start = p.filled(out, extents, p.pick([0, 0, 1]))
    f = "f" if elements.is_float(x.element) else "i"

    def body(code, names):
        left = code.any(x.element, names[:1]) if p.chance(0.3) else names[0]
        product = code.op(f"arith.mul{f} {left}, {names[1]}", x.element)
        return [code.op(f"arith.add{f} {names[2]}, {product}", x.element)]

    loops = ["r" if i < x.rank and kinds[i] == "contract" else "p" for i in range(len(sizes))]
    generic(p, [x, y], [(out, start)], [dims(range(x.rank)), dims(order), dims(kept)], loops, body)
    return p.add(out)


def matmul(p):
    """Products by their names."""
    element = p.float if p.smooth or p.chance(0.8) else p.integer
    kind = p.pick(["matmul", "matmul", "batch_matmul", "matvec", "vecmat", "dot"])
    left, right, result = {"matmul": ("mk", "kn", "mn"), "batch_matmul": ("bmk", "bkn", "bmn"),
                           "matvec": ("mk", "k", "m"), "vecmat": ("k", "kn", "n"), "dot": ("k", "k", "")}[kind]
    x = p.source(element, len(left), len(left))
    sizes = dict(zip(left, zip(x.sizes, x.static)))
    for letter in right:
        sizes.setdefault(letter, (p.size(1), True))
    y = p.argument(element, [sizes[i][0] for i in right])
    y.static = tuple(sizes[i][1] for i in right)
    out = p.result(element, [sizes[i][0] for i in result], [sizes[i][1] for i in result])
    extents = [p.extent(x, left.index(i)) if i in left else str(sizes[i][0]) for i in result]
    start = p.filled(out, extents, p.pick([0, 0, 2]))
    p.emit(f"{out.name} = linalg.{kind} ins({x.name}, {y.name} : {x.type}, {y.type}) outs({start} : {out.type}) -> "
           f"{out.type}")
    return p.add(out)


def named_elementwise(p):
    x = p.source()
    is_float = elements.is_float(x.element)
    out = p.like(x)
    init = p.empty_like(out, p.extents(x))
    if is_float and p.chance(0.5):
        kind = p.pick(NAMED_SMOOTH if p.smooth else NAMED_UNARY)
        if kind == "exp":
            x = tensor_op(p, "math.tanh", x)
        p.emit(f"{out.name} = linalg.{kind} ins({x.name} : {x.type}) outs({init} : {out.type}) -> {out.type}")
    else:
        y = p.of_shape(x)
        p.emit(f"{out.name} = linalg.{p.pick(NAMED_BINARY)} ins({x.name}, {y.name} : {x.type}, {y.type}) "
               f"outs({init} : {out.type}) -> {out.type}")
    return p.add(out)


def tensor_op(p, operation, x):
    out = p.like(x)
    p.emit(f"{out.name} = {operation} {x.name} : {x.type}")
    return out


def movement(p):
    """linalg.transpose, linalg.broadcast, linalg.map or linalg.reduce."""
    kind = p.pick(["transpose", "broadcast", "map", "reduce"])
    x = p.source(low=1, high=3)
    extents = p.extents(x)
    f = "f" if elements.is_float(x.element) else "i"
    if kind == "map":
        y, out = p.of_shape(x), p.like(x)
        p.emit(f"{out.name} = linalg.map {{ arith.add{f} }} ins({x.name}, {y.name} : {x.type}, {y.type}) "
               f"outs({p.empty_like(out, extents)} : {out.type})")
        return p.add(out)
    if kind == "transpose":
        order = [int(i) for i in p.rng.permutation(x.rank)]
        out = p.result(x.element, [x.sizes[i] for i in order], [x.static[i] for i in order])
        init = p.empty_like(out, [extents[i] for i in order])
        p.emit(f"{out.name} = linalg.transpose ins({x.name} : {x.type}) outs({init} : {out.type}) permutation = {order}")
        return p.add(out)
    axis = int(p.rng.integers(0, x.rank))
    sizes, static = list(x.sizes), list(x.static)
    if kind == "broadcast":
        sizes.insert(axis, size := p.size(1))
        static.insert(axis, True)
        extents.insert(axis, str(size))
        out = p.result(x.element, sizes, static)
        init = p.empty_like(out, extents)
    else:
        del sizes[axis], static[axis], extents[axis]
        out = p.result(x.element, sizes, static)
        init = p.filled(out, extents, p.pick([0, 1]))
        kind = f"reduce {{ arith.add{f} }}"
    p.emit(f"{out.name} = linalg.{kind} ins({x.name} : {x.type}) outs({init} : {out.type}) dimensions = [{axis}]")
    return p.add(out)


def gather_in_body(p):
    """tensor.extract at an index that data has, and at one that is a loop."""
    table = p.source(low=1, high=2, least=1)
    count = p.size(1)
    element = p.pick(["i32", "i64"])
    ids = p.indices([count], table.sizes[0], element)
    rest = list(table.sizes[1:])
    out = p.result(table.element, [count, *rest], [True, *table.static[1:]])
    init = p.empty_like(out, [str(count), *[p.extent(table, 1) for _ in rest]])

    def body(code, names):
        code.write(f"{(at := p.name())} = arith.index_cast {names[0]} : {element} to index")
        indices = [at]
        if rest:
            code.write(f"{(column := p.name())} = linalg.index 1 : index")
            indices.append(column)
        code.write(f"{(made := p.name())} = tensor.extract {table.name}[{', '.join(indices)}] : {table.type}")
        return [code.any(table.element, [made])]

    ids.static = (True,)
    generic(p, [ids], [(out, init)], ["d0", dims(range(out.rank))], "p" * out.rank, body)
    return p.add(out)


def windows(p):
    """One-dimensional convolution or pooling by its index map, with strides and dilations."""
    stride, dilation, window, places = p.pick([1, 1, 2, 3]), p.pick([1, 1, 2]), p.pick([1, 2, 3]), p.size(1)
    extra = p.pick([0, 0, 1, 4])
    length = (places - 1) * stride + (window - 1) * dilation + 1 + extra
    element = p.float if p.smooth or p.chance(0.8) else p.integer
    channels = p.pick([[], [p.size(1)]])
    x = p.argument(element, [*channels, length])
    f = "f" if elements.is_float(element) else "i"
    w = p.argument(element, [window])
    out = p.result(element, [*channels, places], [*x.static[:-1], True])
    start = p.filled(out, [*[p.extent(x, 0) for _ in channels], str(places)], p.pick([0, 1]))
    c, i, k = ("d0, ", "d1", "d2") if channels else ("", "d0", "d1")
    at = " + ".join(f"{loop} * {factor}" if factor > 1 else loop for loop, factor in ((i, stride), (k, dilation)))
    pools = p.chance(0.4)
    combiner = p.pick([f"arith.add{f}", "arith.maximumf" if f == "f" else "arith.maxsi"]) if pools else f"arith.add{f}"

    def body(code, names):
        term = names[0] if pools else code.op(f"arith.mul{f} {names[0]}, {names[1]}", element)
        return [code.op(f"{combiner} {names[2]}, {term}", element)]

    generic(p, [x, w], [(out, start)], [f"{c}{at}", k, f"{c}{i}"], ("p" if channels else "") + "pr", body)
    return p.add(out)


def convolution(p):
    """Convolutions and pooling of images by their names."""
    element = p.float if p.smooth or p.chance(0.8) else p.integer
    kind = p.pick(["conv_2d_nchw_fchw", "conv_2d_nhwc_hwcf", "depthwise_conv_2d_nhwc_hwc", "pooling_nhwc_sum",
                   "pooling_nhwc_max" if elements.is_float(element) else "pooling_nhwc_min"])
    stride, dilation = p.pick([1, 2]), p.pick([1, 2])
    window, places = [p.pick([1, 2, 3]) for _ in "hw"], [p.pick([1, 2, 3, 4]) for _ in "hw"]
    n, c, out_channels = p.pick([1, 2]), p.pick([1, 2, 3]), p.pick([1, 2, 4])
    image = [(o - 1) * stride + (k - 1) * dilation + 1 for o, k in zip(places, window)]
    layouts = {"conv_2d_nchw_fchw": ([n, c, *image], [out_channels, c, *window], [n, out_channels, *places]),
               "conv_2d_nhwc_hwcf": ([n, *image, c], [*window, c, out_channels], [n, *places, out_channels]),
               "depthwise_conv_2d_nhwc_hwc": ([n, *image, c], [*window, c], [n, *places, c])}
    x_sizes, w_sizes, out_sizes = layouts.get(kind, ([n, *image, c], window, [n, *places, c]))
    x, w = p.argument(element, x_sizes), p.argument(element, w_sizes)
    out = p.result(element, out_sizes, [True] * 4)
    start = p.filled(out, [str(size) for size in out_sizes], p.pick([0, 1]))
    attributes = f"{{dilations = dense<{dilation}> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}}"
    p.emit(f"{out.name} = linalg.{kind} {attributes} ins({x.name}, {w.name} : {x.type}, {w.type}) "
           f"outs({start} : {out.type}) -> {out.type}")
    return p.add(out)


def softmax(p):
    """Upstream lowers it by a rewrite of the transform dialect only, so its text there is written out."""
    x = p.source(p.float, 1, 3, least=1)
    axis = int(p.rng.integers(0, x.rank))
    out, init = p.like(x), p.empty_like(x, p.extents(x))
    p.emit(f"{out.name} = linalg.softmax dimension({axis}) ins({x.name} : {x.type}) outs({init} : {out.type}) -> "
           f"{out.type}", upstream=False)
    ours, p.lines = p.lines, []  # what follows is upstream's alone
    e, total, whole = p.like(x), None, dims(range(x.rank))
    generic(p, [x], [(e, init)], [whole] * 2, "p" * x.rank,
            lambda code, names: [code.op(f"math.exp {names[0]}", x.element)])
    kept = [i for i in range(x.rank) if i != axis]
    total = p.result(x.element, [x.sizes[i] for i in kept], [x.static[i] for i in kept])
    start = p.filled(total, [p.extent(x, i) for i in kept], 0)
    generic(p, [e], [(total, start)], [whole, dims(kept)], ["r" if i == axis else "p" for i in range(x.rank)],
            lambda code, names: [code.op(f"arith.addf {names[1]}, {names[0]}", x.element)])
    generic(p, [e, total], [(out, init)], [whole, dims(kept), whole], "p" * x.rank,
            lambda code, names: [code.op(f"arith.divf {names[0]}, {names[1]}", x.element)])
    p.lines = ours
    return p.add(out)


CONSTRUCTS = {"generic": elementwise, "several results": several_results, "reduction": reduction,
              "other reduction": other_reduction, "contraction": contraction, "matmul": matmul, "named elementwise": named_elementwise,
              "transpose, broadcast, map, reduce": movement, "extract in a body": gather_in_body, "windows": windows,
              "convolution": convolution, "softmax": softmax}
