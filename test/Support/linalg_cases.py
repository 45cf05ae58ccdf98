# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random kernels: reductions with outs of every kind, parallel operations, and reductions that an order forbids."""

import numpy as np

import elements
from linalg_kernels import EXTENTS, MAX_POINTS, SIZES, Body, Index, Kernel, narrower, operand, sources_of, static_sizes
from linalg_sums import COMBINERS, fused, in_order, nested_chains, neutral

JOINED = {True: ["addf", "addf", "fma", "fma", "mulf", "maximumf", "minimumf"],
          False: ["addi", "addi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori"]}
CHAINS = {True: ["subf", "horner", "twice", "last"], False: ["subi", "horner", "twice", "last"]}


def iteration_space(kernel, reduced):
    """Sizes and iterator types of loops in a random order, with a limit to their product."""
    parallel = [kernel.pick(SIZES) for _ in range(int(kernel.rng.integers(0, 4)))]
    extents = [kernel.pick(EXTENTS) if i == 0 else kernel.pick([1, 2, 3, 5, 8]) for i in range(reduced)]
    while np.prod(parallel + extents, dtype=np.int64) > MAX_POINTS:
        largest = parallel if parallel and max(parallel) > 1 else extents
        largest[int(np.argmax(largest))] //= 2
    loops = [(size, "parallel") for size in parallel] + [(size, "reduction") for size in extents]
    loops = [loops[i] for i in kernel.rng.permutation(len(loops))] if kernel.chance(0.6) else loops
    return [size for size, _ in loops], [kind for _, kind in loops]


def choose_order(kernel, extent):
    kind = kernel.pick(["none", "block", "block", "lanes", "lanes"])
    if kind == "none":
        return None
    if kind == "block":
        return ("block", kernel.pick([4, 64, 512, 512, max(extent, 1)]))
    lanes = kernel.pick([2, 8, 32, 64, 64])
    return ("lanes", lanes, lanes * kernel.pick([1, 2, 4096 // lanes, 4096 // lanes]))


def order_text(order):
    if order is None:
        return ""
    if order[0] == "block":
        return f"#ad.order<block = {order[1]}>"
    return f"#ad.order<lanes = {order[1]}, chunk = {order[2]}>"


def inputs_over(kernel, sizes, iterators, element, count, window=False):
    """Operands that together index every reduction loop; perhaps one with a window."""
    loops = list(range(len(sizes)))
    reduced = [loop for loop in loops if iterators[loop] == "reduction"]
    subsets = [[loop for loop in loops if kernel.chance(0.7)] for _ in range(count)]
    if count and not kernel.chance(0.2):
        subsets[-1] = loops if count == 1 else subsets[-1]
    pair = None
    if window and count > 1 and reduced and len(reduced) < len(loops):
        pair = (kernel.pick([loop for loop in loops if loop not in reduced]), kernel.pick(reduced))
        subsets[0] = [loop for loop in loops if loop != pair[1]]
        subsets[1] = sorted(set(subsets[1]) | set(reduced))
    missing = [loop for loop in reduced if not any(loop in subset for subset in subsets)]
    if subsets:
        subsets[-1] = sorted(set(subsets[-1]) | set(missing))
    made = [operand(kernel, narrower(kernel, element), sizes, subset, pair if i == 0 else None) for i,
            subset in enumerate(subsets)]
    plain = {loop for value, exprs in made for expr in exprs if list(expr.loops.values()) == [1] and not expr.constant
             for loop in expr.loops}
    if any(loop not in plain for loop in reduced):  # linalg takes the size of a loop from an axis that it indexes alone
        made.append(operand_alone(kernel, narrower(kernel, element), sizes, reduced))
    return made


def operand_alone(kernel, element, sizes, loops):
    value = kernel.argument(element, tuple(sizes[loop] for loop in loops))
    return value, [Index({loop: 1}) for loop in loops]


def output_map(kernel, sizes, iterators):
    parallel = [loop for loop, kind in enumerate(iterators) if kind == "parallel"]
    exprs = [Index({int(loop): 1}) for loop in (kernel.rng.permutation(parallel) if kernel.chance(0.5) else parallel)]
    if kernel.chance(0.15):
        exprs.insert(int(kernel.rng.integers(len(exprs) + 1)), Index())
    return exprs, [sizes[next(iter(e.loops))] if e.loops else 1 for e in exprs]


def start_value(kernel, element, shape, sources, combiner, out):
    """The outs: the neutral fill of this compiler, another fill, an argument, or what the kernel computes."""
    kind, number = kernel.pick(["neutral", "neutral", "fill", "argument", "argument",
                                "computed"]), elements.STORAGE[element]
    if kind == "neutral" and combiner in (*JOINED[True], *JOINED[False]):
        own = number(0.0) if combiner in ("addf", "fma") and kernel.chance(0.7) else neutral(combiner, number)
        return kernel.fill(element, shape, sources, number(own))
    if kind in ("neutral", "fill"):
        return kernel.fill(element, shape, sources, number(kernel.pick([1, 0, 3, 5])))
    value = static_sizes(kernel.argument(element, tuple(shape)), out)
    if kind == "argument":
        return value
    body = Body(kernel, value.sizes)
    exprs = [Index({axis: 1}) for axis in range(len(shape))]
    name, array = body.expression([body.read(value, exprs, "%x0")], element, 1)
    return kernel.generic(["parallel"] * len(shape), [(value, exprs)], [(value, exprs)], body.lines, [name], [array])[0]


def onto(array, iterators, exprs):
    """An array over the parallel loops in their order, transposed by the map of the result."""
    parallel = [loop for loop, kind in enumerate(iterators) if kind == "parallel"]
    moved = array.transpose([parallel.index(next(iter(e.loops))) for e in exprs if e.loops])
    for axis, expr in enumerate(exprs):
        if not expr.loops:
            moved = np.expand_dims(moved, axis)
    return moved


def from_result(array, iterators, exprs):
    """The inverse."""
    parallel = [loop for loop, kind in enumerate(iterators) if kind == "parallel"]
    kept = array.reshape([size for size, e in zip(array.shape, exprs) if e.loops])
    loops = [next(iter(e.loops)) for e in exprs if e.loops]
    return kept.transpose([loops.index(loop) for loop in parallel])


def rows_of(array, iterators):
    """An array over all loops as (results, elements), the last reduced loop fastest."""
    loops = range(len(iterators))
    parallel, reduced = ([loop for loop in loops if iterators[loop] == kind] for kind in ("parallel", "reduction"))
    extent = int(np.prod([array.shape[loop] for loop in reduced], dtype=np.int64))
    return array.transpose(parallel + reduced).reshape(-1, extent)


def combine(kernel, body, name, element, values):
    """(yielded name, step, join) of a body that adds values[0], or values[0] * values[1], to the accumulator %o0."""
    x = values[0]
    if name == "fma":
        result, _ = body.emit(f"math.fma {x[0]}, {values[1][0]}, %o0 : {element}", None)
        return result, lambda a, k, n: fused(x[1][:, k:k + n], values[1][1][:, k:k + n], a), COMBINERS["addf"]
    if name in COMBINERS:
        exchange = name not in ("subf", "subi") and kernel.chance(0.4)
        left, right = (x[0], "%o0") if exchange else ("%o0", x[0])
        result, _ = body.emit(f"arith.{name} {left}, {right} : {element}", None)
        return result, lambda a, k, n: COMBINERS[name](a, x[1][:, k:k + n]), COMBINERS[name]
    kind = "f" if elements.is_float(element) else "i"
    if name == "last":
        return x[0], lambda a, k, n: x[1][:, k:k + n], None
    factor = "%o0" if name == "twice" else body.number(element)
    scale = factor if name == "twice" else factor[0]
    scaled, _ = body.emit(f"arith.mul{kind} %o0, {scale} : {element}", None)
    result, _ = body.emit(f"arith.add{kind} {scaled}, {x[0]} : {element}", None)
    return result, lambda a, k, n: a * (a if name == "twice" else factor[1]) + x[1][:, k:k + n], None


def reduction(kernel, legal):
    """One reduction, sometimes followed by an operation."""
    element = kernel.pick(["f32", "f32", "f32", "f64", "f16", "i32", "i64"])
    is_float = elements.is_float(element)
    chain = not legal or kernel.chance(0.2)
    name = kernel.pick((CHAINS if chain else JOINED)[is_float])
    if name == "fma" and element != "f32":
        name = "addf"
    sizes, iterators = iteration_space(kernel, 1 if kernel.chance(0.75) else 2)
    extent = int(np.prod([n for n, kind in zip(sizes, iterators) if kind == "reduction"], dtype=np.int64))
    order = choose_order(kernel, extent)
    if chain and legal:
        order = None if kernel.dynamic else kernel.pick([None, ("block", max(extent, 1))])
    if not legal and (order is None or (order[0] == "block" and order[1] >= extent)):
        order = ("lanes", 8, 64)
    kernel.order, kernel.refused = order_text(order), None if legal else "partial results can be joined"
    inputs = inputs_over(kernel, sizes, iterators, element, kernel.pick([1, 2, 2]), window=kernel.chance(0.3))
    out, shape = output_map(kernel, sizes, iterators)
    sources = [next(iter(sources_of(inputs, e.loops)), None) if e.loops else None for e in out]
    init = start_value(kernel, element, shape, sources, name, out)
    body = Body(kernel, sizes)
    arguments = [body.read(value, exprs, f"%x{i}") for i, (value, exprs) in enumerate(inputs)]
    values = [body.expression(arguments[:1], element, 0), body.expression(arguments[1:] or arguments, element, 0)] \
        if name == "fma" else [body.expression(arguments, element, int(kernel.rng.integers(0, 3)))]
    values = [(value, rows_of(array, iterators)) for value, array in values]
    yielded, step, join = combine(kernel, body, name, element, values)
    start = from_result(init.array, iterators, out).reshape(-1)
    lead = [n for n, kind in zip(sizes, iterators) if kind == "parallel"]
    total = sum_of(name, element, init, start, order, extent, step, join) if legal else start
    array = onto(np.asarray(total, elements.STORAGE[element]).reshape(lead), iterators, out)
    result = kernel.generic(iterators, inputs, [(init, out)], body.lines, [yielded], [array])[0]
    kernel.results.append(epilogue(kernel, result) if kernel.chance(0.3) else result)


def running(kernel):
    """A running reduction: the steps are the result, made from the accumulator before or after each of them."""
    element = kernel.pick(["f32", "f32", "f32", "f64", "f16", "i32", "i64"])
    order = kernel.pick([None, (128, 128), (32, 2), (4, 3), (64, 64), (96, 2), (160, 128)])
    kernel.kernel_class = kernel.pick([kernel.kernel_class, "scan", "scan"])
    name = kernel.pick((JOINED if order or kernel.chance(0.5) else CHAINS)[elements.is_float(element)])
    if name == "fma" and element != "f32":
        name = "addf"
    kernel.order = f"#ad.order<chain = {order[0]}, chain = {order[1]}, chain>" if order else ""
    sizes, iterators = iteration_space(kernel, 1)
    inputs = inputs_over(kernel, sizes, iterators, element, kernel.pick([1, 1, 2]))
    out = [expr for expr in output_map(kernel, sizes, iterators)[0] if expr.loops]
    shape = [sizes[next(iter(expr.loops))] for expr in out]
    start = start_value(kernel, element, shape, [None] * len(shape), name, out)
    loops = [int(loop) for loop in (kernel.rng.permutation(len(sizes)) if kernel.chance(0.4) else range(len(sizes)))]
    steps = kernel.empty(element, tuple(sizes[loop] for loop in loops),
                         [next(iter(sources_of(inputs, [loop])), None) for loop in loops])
    body = Body(kernel, sizes)
    arguments = [body.read(value, exprs, f"%x{i}") for i, (value, exprs) in enumerate(inputs)]
    values = [body.expression(arguments[:1], element, 0), body.expression(arguments[1:] or arguments, element, 0)] \
        if name == "fma" else [body.expression(arguments, element, int(kernel.rng.integers(0, 3)))]
    rows = [(value, rows_of(array, iterators)) for value, array in values]
    following, step, join = combine(kernel, body, name, element, rows)
    body.lines = [line.replace("%o0", "%o1") for line in body.lines]
    first = from_result(start.array, iterators, out).reshape(-1)
    own = neutral(name, elements.STORAGE[element]) if name in (*JOINED[True], *JOINED[False]) else None
    before, after = nested_chains(order, rows[0][1].shape[-1], first, own, step, join)
    yielded, array = kernel.pick([(following, after), (following, after), ("%o1", before)])
    scanned = iterators.index("reduction")
    parallel_first = [loop for loop in range(len(sizes)) if loop != scanned] + [scanned]
    array = array.reshape([sizes[loop] for loop in parallel_first]).transpose(np.argsort(parallel_first))
    if kernel.chance(0.3):
        yielded, array = body.step((yielded, array), element, values)
    array = np.asarray(array, elements.STORAGE[element]).transpose(loops)
    last = onto(after[:, -1].reshape([n for loop, n in enumerate(sizes) if loop != scanned]), iterators, out)
    inits = [(steps, [Index({loop: 1}) for loop in loops]), (start, out)]
    kernel.results.append(kernel.generic(iterators, inputs, inits, body.lines, [yielded, following], [array, last])[0])


def sum_of(name, element, init, start, order, extent, step, join):
    """Starts from the outs where they are a neutral fill, and in one chain; else they join last."""
    if join is None or name in ("subf", "subi"):
        return in_order(order, extent, start, step, join)
    kind = elements.STORAGE[element]
    own = neutral(name, kind)
    is_fill = init.name.startswith("f") and (init.array.size == 0 or init.array.flat[0] == own)
    if is_fill:
        return in_order(order, extent, start, step, join)
    return join(start, in_order(order, extent, np.full_like(start, own), step, join))


def epilogue(kernel, value):
    """An operation on every element of the result, which may read what it writes over."""
    shape, element = value.sizes, value.element
    order = [int(axis)
             for axis in kernel.rng.permutation(len(shape))] if kernel.chance(0.4) else list(range(len(shape)))
    source = [Index({order.index(axis): 1}) for axis in range(len(shape))]
    target = [Index({axis: 1}) for axis in range(len(shape))]
    sizes = tuple(shape[axis] for axis in order)
    inputs = [(value, source)]
    if kernel.chance(0.5):
        inputs.append(operand(kernel, narrower(kernel, element), sizes,
                              [i for i in range(len(sizes)) if kernel.chance(0.7)]))
    init = kernel.empty(element, sizes, [value.sources[axis] for axis in order])
    reads = kernel.chance(0.3)
    if reads:
        init = kernel.argument(element, sizes)
    body = Body(kernel, sizes)
    arguments = [body.read(v, exprs, f"%x{i}") for i, (v, exprs) in enumerate(inputs)]
    if reads:
        arguments.append(body.read(init, target, "%o0"))
    name, array = body.expression(arguments, element, int(kernel.rng.integers(0, 3)))
    return kernel.generic(["parallel"] * len(sizes), inputs, [(init, target)], body.lines, [name], [array])[0]


def parallel(kernel):
    """Parallel operations in a row, one or two results each; some only copy."""
    element = kernel.pick(["f32", "f32", "f64", "f16", "i32", "i64"])
    sizes, iterators = iteration_space(kernel, 0)
    inputs = inputs_over(kernel, sizes, iterators, element, kernel.pick([1, 2, 3]))
    out, shape = output_map(kernel, sizes, iterators)
    sources = [next(iter(sources_of(inputs, e.loops)), None) if e.loops else None for e in out]
    body, count = Body(kernel, tuple(sizes)), kernel.pick([1, 1, 2])
    arguments = [body.read(value, exprs, f"%x{i}") for i, (value, exprs) in enumerate(inputs)]
    inits, yields, arrays = [], [], []
    for number in range(count):
        own, reads = list(arguments), kernel.chance(0.25)
        given = reads or kernel.chance(0.3)
        init = static_sizes(kernel.argument(element, tuple(shape)),
                                   out) if given else kernel.empty(element, shape, sources)
        if reads:
            own.append(body.read(init, out, f"%o{number}"))
        same = [argument for argument in own if argument[1] == element]
        if same and kernel.chance(0.25):  # yields a block argument
            name, _, array = kernel.pick(same)
        else:
            name, array = body.expression(own, element, int(kernel.rng.integers(0, 4)))
        inits.append((init, out))
        yields.append(name)
        arrays.append(onto(np.broadcast_to(array, tuple(sizes)), iterators, out))
    results = kernel.generic(iterators, inputs, inits, body.lines, yields, arrays)
    results[0] = epilogue(kernel, results[0]) if kernel.chance(0.3) and count == 1 else results[0]
    kernel.results += results


def make(seed, number, illegal):
    kernel = Kernel(np.random.default_rng([seed, number]))
    with np.errstate(all="ignore"):
        if illegal:
            reduction(kernel, legal=False)
        elif kernel.chance(0.15):
            running(kernel)
        elif kernel.chance(0.7):
            reduction(kernel, legal=True)
        else:
            parallel(kernel)
    return kernel
