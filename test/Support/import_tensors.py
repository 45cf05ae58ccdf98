# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random operations of tensor, arith, math, scf, func and cf: each function adds one construct to a program and returns
its result."""

import numpy as np

import elements
from import_bodies import Code


def bounds(numbers):
    return "[" + ", ".join(str(number) for number in numbers) + "]"


def arithmetic(p):
    x = p.source(low=0)
    shape = x.type[len("tensor<"):-1 - len(x.element)]
    if x.rank == 0 or not all(x.static):  # constants of tensors have static shapes
        x = p.argument(x.element, [p.size(1) for _ in range(2)])
        x.static = (True, True)
        shape = "".join(f"{size}x" for size in x.sizes)
    out = p.like(x)
    out.name = Code(p, p.emit, shape).any(x.element, [x.name, p.of_shape(x).name])
    return p.add(out)


def some_index(p, number):
    """An index that is known, or one that is read from a tensor."""
    if p.chance(0.5):
        return str(number)
    value = p.argument("i64", [], np.array(number, np.int64))
    p.values.remove(value)
    read, made = p.name(), p.name()
    p.emit(f"{read} = tensor.extract {value.name}[] : {value.type}")
    p.emit(f"{made} = arith.index_cast {read} : i64 to index")
    return made


def part(p, sizes, strided):
    """Offsets, sizes and strides inside of a tensor of these sizes."""
    strides = [p.pick([1, 1, 2, 3]) if strided else 1 for _ in sizes]
    counts = [int(p.rng.integers(1, (size - 1) // stride + 2)) for size, stride in zip(sizes, strides)]
    # Upstream has a fault in parts of one element with a stride.
    strides = [1 if count == 1 else stride for count, stride in zip(counts, strides)]
    spans = [(count - 1) * stride + 1 for count, stride in zip(counts, strides)]
    return [int(p.rng.integers(0, size - span + 1)) for size, span in zip(sizes, spans)], counts, strides


def extract_slice(p):
    x = p.source(low=1, least=1)
    offsets, sizes, strides = part(p, x.sizes, p.chance(0.5))
    dropped = [size == 1 and p.chance(0.5) for size in sizes]
    out = p.result(x.element, [size for size, drop in zip(sizes, dropped) if not drop],
                   [True for drop in dropped if not drop])
    offsets = [some_index(p, offset) for offset in offsets]
    p.emit(f"{out.name} = tensor.extract_slice {x.name}{bounds(offsets)}{bounds(sizes)}{bounds(strides)} : {x.type} to "
           f"{out.type}")
    return p.add(out)


def insert_slice(p):
    x = p.source(low=1, least=1)
    offsets, sizes, strides = part(p, x.sizes, p.chance(0.4))
    dropped = [size == 1 and p.chance(0.5) for size in sizes]
    y = p.argument(x.element, [size for size, drop in zip(sizes, dropped) if not drop])
    y.static = (True,) * y.rank
    out = p.like(x)
    offsets = [some_index(p, offset) for offset in offsets]
    p.emit(f"{out.name} = tensor.insert_slice {y.name} into {x.name}{bounds(offsets)}{bounds(sizes)}{bounds(strides)} : "
           f"{y.type} into {out.type}")
    return p.add(out)


def pad(p):
    """By a number, an argument or a function of the indices; by counts that are known or not."""
    x = p.source(low=1)
    low, high = ([p.pick([0, 1, 2]) for _ in x.sizes] for _ in range(2))
    named = [some_index(p, count) for count in low]
    known = [known and name.isdigit() for known, name in zip(x.static, named)]
    out = p.result(x.element, [a + size + b for a, size, b in zip(low, x.sizes, high)], known)
    of_indices = p.chance(0.3)
    scalar = p.constant(x.element, p.pick([0, 1, 3]))
    arguments = [p.name() for _ in x.sizes]
    p.emit(f"{out.name} = tensor.pad {x.name} low{bounds(named)} high{bounds(high)} {{")
    p.emit(f"^bb0({', '.join(f'{name}: index' for name in arguments)}):")
    if of_indices:
        scalar = index_number(p, x.element, arguments[-1])
    p.emit(f"  tensor.yield {scalar} : {x.element}")
    p.emit(f"}} : {x.type} to {out.type}")
    return p.add(out)


def index_number(p, element, index):
    """An index as a number of the element type."""
    number = p.name()
    p.emit(f"{number} = arith.index_cast {index} : index to i32")
    if element == "i32":
        return number
    operation = "arith.sitofp" if elements.is_float(element) else "arith.extsi" if element == "i64" else "arith.trunci"
    made = p.name()
    p.emit(f"{made} = {operation} {number} : i32 to {element}")
    return made


def reassociation(groups):
    return "[" + ", ".join(f"[{', '.join(map(str, group))}]" for group in groups) + "]"


def collapse(p):
    x = p.source(low=2)
    cut = int(p.rng.integers(1, x.rank + 1))
    groups = [list(range(cut)), *[[i] for i in range(cut, x.rank)]]
    out = p.result(x.element, [int(np.prod([x.sizes[i] for i in g])) for g in groups],
                   [all(x.static[i] for i in g) for g in groups])
    p.emit(f"{out.name} = tensor.collapse_shape {x.name} {reassociation(groups)} : {x.type} into {out.type}")
    return p.add(out)


def expand(p):
    x = p.source(low=1)
    axis = int(p.rng.integers(0, x.rank))
    factor = p.pick([f for f in (1, 2, 3, 4) if x.sizes[axis] % f == 0])
    sizes = [*x.sizes[:axis], factor, x.sizes[axis] // factor, *x.sizes[axis + 1:]]
    static = [*x.static[:axis], True, x.static[axis], *x.static[axis + 1:]]
    groups = [[i + (i > axis)] if i != axis else [i, i + 1] for i in range(x.rank)]
    extents = p.extents(x)
    if not x.static[axis]:
        whole, extents[axis] = extents[axis], p.name()
        p.emit(f"{extents[axis]} = arith.divui {whole}, {p.index(factor)} : index")
    else:
        extents[axis] = str(sizes[axis + 1])
    extents.insert(axis, str(factor))
    out = p.result(x.element, sizes, static)
    p.emit(f"{out.name} = tensor.expand_shape {x.name} {reassociation(groups)} output_shape {bounds(extents)} : {x.type} "
           f"into {out.type}")
    return p.add(out)


def concat(p):
    """Upstream lowers it by a rewrite of the transform dialect only, so its text there inserts slices."""
    x = p.source(low=1)
    axis = int(p.rng.integers(0, x.rank))
    y = p.argument(x.element, [p.size() if i == axis else size for i, size in enumerate(x.sizes)])
    y.static = tuple(True if i == axis else known for i, known in enumerate(x.static))
    sizes = [size + (y.sizes[axis] if i == axis else 0) for i, size in enumerate(x.sizes)]
    out = p.result(x.element, sizes, x.static)
    p.emit(f"{out.name} = tensor.concat dim({axis}) {x.name}, {y.name} : ({x.type}, {y.type}) -> {out.type}",
           upstream=False)
    ours, p.lines = p.lines, []
    before = p.extents(x)
    extents = list(before)
    if not x.static[axis]:
        extents[axis] = p.name()
        p.emit(f"{extents[axis]} = arith.addi {before[axis]}, {p.index(y.sizes[axis])} : index")
    first, zeros, ones = p.name(), ["0"] * x.rank, ["1"] * x.rank
    p.emit(f"{first} = tensor.insert_slice {x.name} into {p.empty_like(out, extents)}{bounds(zeros)}{bounds(before)}"
           f"{bounds(ones)} : {x.type} into {out.type}")
    zeros[axis] = before[axis]
    parts = [str(y.sizes[axis]) if i == axis else extent for i, extent in enumerate(before)]
    p.emit(f"{out.name} = tensor.insert_slice {y.name} into {first}{bounds(zeros)}{bounds(parts)}{bounds(ones)} : "
           f"{y.type} into {out.type}")
    p.lines = ours
    return p.add(out)


def gather(p):
    """Upstream lowers it nowhere, so its text there reads element by element."""
    x = p.source(low=1, high=2, least=1)
    axes = sorted(int(i) for i in p.rng.choice(x.rank, p.rank(1, x.rank), replace=False))
    count, element = p.size(1), p.pick(["index", "i32", "i64"])
    ids = p.indices([count, len(axes)], min(x.sizes[axis] for axis in axes), element)
    ids.static = (True, True)
    keeps = p.chance(0.5)
    rest = [i for i in range(x.rank) if keeps or i not in axes]
    out = p.result(x.element, [count, *[1 if i in axes else x.sizes[i] for i in rest]],
                   [True, *[i in axes or x.static[i] for i in rest]])
    p.emit(f"{out.name} = tensor.gather {x.name}[{ids.name}] gather_dims([{', '.join(map(str, axes))}]) : "
           f"({x.type}, {ids.type}) -> {out.type}", upstream=False)
    ours, p.lines = p.lines, []
    extents = [extent for extent, known in zip([str(count), *[p.extent(x, i) for i in rest]], out.static) if not known]
    arguments = [p.name() for _ in range(out.rank)]
    p.emit(f"{out.name} = tensor.generate {', '.join(extents)} {{")
    p.emit(f"^bb0({', '.join(f'{name}: index' for name in arguments)}):")
    at = {axis: arguments[1 + place] for place, axis in enumerate(rest)}
    for place, axis in enumerate(axes):
        read = p.name()
        p.emit(f"  {read} = tensor.extract {ids.name}[{arguments[0]}, {p.index(place)}] : {ids.type}")
        at[axis] = read if element == "index" else p.name()
        if element != "index":
            p.emit(f"  {at[axis]} = arith.index_cast {read} : {element} to index")
    made = p.name()
    p.emit(f"  {made} = tensor.extract {x.name}[{', '.join(at[axis] for axis in range(x.rank))}] : {x.type}")
    p.emit(f"  tensor.yield {made} : {x.element}")
    p.emit(f"}} : {out.type}")
    p.lines = ours
    return p.add(out)


def scatter(p):
    """Upstream lowers it nowhere, so its text there inserts one slice after another."""
    x = p.source(low=1, high=2, least=1)
    count = int(p.rng.integers(1, x.sizes[0] + 1))
    ids = p.indices([count, 1], 1, p.pick(["index", "i64"]))
    ids.static = (True, True)
    p.arguments[-1] = (ids, p.rng.permutation(x.sizes[0])[:count].reshape(count, 1).astype(np.int64))
    keeps = p.chance(0.5)
    y = p.argument(x.element, [count, *([1] if keeps else []), *x.sizes[1:]])
    y.static = (True,) * (1 + keeps) + x.static[1:]
    out = p.like(x)
    p.emit(f"{out.name} = tensor.scatter {y.name} into {x.name}[{ids.name}] scatter_dims([0]) unique : "
           f"({y.type}, {x.type}, {ids.type}) -> {out.type}", upstream=False)
    ours, p.lines = p.lines, []
    zero, one, last = p.index(0), p.index(1), p.index(count)
    i, carried, read, row, written = (p.name() for _ in range(5))
    rest = [p.extent(x, axis) for axis in range(1, x.rank)]
    part = p.result(x.element, [1, *x.sizes[1:]], [True, *x.static[1:]])
    p.emit(f"{out.name} = scf.for {i} = {zero} to {last} step {one} iter_args({carried} = {x.name}) -> ({x.type}) {{")
    p.emit(f"  {read} = tensor.extract {ids.name}[{i}, {zero}] : {ids.type}")
    at = read if ids.element == "index" else p.name()
    if at != read:
        p.emit(f"  {at} = arith.index_cast {read} : i64 to index")
    taken = [i, *["0"] * (y.rank - 1)], ["1", *(["1"] if keeps else []), *rest], ["1"] * y.rank
    p.emit(f"  {row} = tensor.extract_slice {y.name}{''.join(map(bounds, taken))} : {y.type} to {part.type}")
    put = [at, *["0"] * (x.rank - 1)], ["1", *rest], ["1"] * x.rank
    p.emit(f"  {written} = tensor.insert_slice {row} into {carried}{''.join(map(bounds, put))} : {part.type} into {x.type}")
    p.emit(f"  scf.yield {written} : {x.type}")
    p.emit("}")
    p.lines = ours
    return p.add(out)


def generate(p):
    x = p.source(low=1, high=2)
    out, arguments, read = p.like(x), [p.name() for _ in x.sizes], p.name()
    extents = [extent for extent, known in zip(p.extents(x), x.static) if not known]
    p.emit(f"{out.name} = tensor.generate {', '.join(extents)} {{")
    p.emit(f"^bb0({', '.join(f'{name}: index' for name in arguments)}):")
    p.emit(f"  {read} = tensor.extract {x.name}[{', '.join(arguments)}] : {x.type}")
    number = index_number(p, x.element, arguments[0])
    made = Code(p, lambda line: p.emit("  " + line)).any(x.element, [read, number])
    p.emit(f"  tensor.yield {made} : {x.element}")
    p.emit(f"}} : {out.type}")
    return p.add(out)


def first_element(p, x):
    name, zero = p.name(), p.index(0)
    p.emit(f"{name} = tensor.extract {x.name}[{', '.join([zero] * x.rank)}] : {x.type}")
    return name


def scalars(p):
    """Elements as scalars, scalar code, and tensors of scalars: splat, from_elements, insert."""
    x = p.source(low=1, high=2, least=1)
    scalar = first_element(p, x)
    made = Code(p, p.emit).any(x.element, [scalar])
    kind = p.pick(["splat", "from_elements", "insert"])
    if kind == "splat":
        out = p.like(x)
        dynamic = [extent for extent, known in zip(p.extents(x), x.static) if not known]
        p.emit(f"{out.name} = tensor.splat {made}{bounds(dynamic) if dynamic else ''} : {out.type}")
    elif kind == "from_elements":
        out = p.result(x.element, [3], [True])
        p.emit(f"{out.name} = tensor.from_elements {made}, {scalar}, {made} : {out.type}")
    else:
        out = p.like(x)
        places = [p.index(int(p.rng.integers(0, size))) for size in x.sizes]
        p.emit(f"{out.name} = tensor.insert {made} into {x.name}[{', '.join(places)}] : {out.type}")
    return p.add(out)


def cast(p):
    x = p.source(low=1)
    open_type, out, between = p.result(x.element, x.sizes, [False] * x.rank), p.like(x), p.name()
    p.emit(f"{open_type.name} = tensor.cast {x.name} : {x.type} to {open_type.type}")
    p.emit(f"{between} = arith.{'addf' if elements.is_float(x.element) else 'addi'} {open_type.name}, {open_type.name} : "
           f"{open_type.type}")
    p.emit(f"{out.name} = tensor.cast {between} : {open_type.type} to {out.type}")
    return p.add(out)


def allocated(p):
    x = p.source(low=1)
    copy, out = p.name(), p.like(x)
    p.emit(f"{copy} = bufferization.alloc_tensor() copy({x.name}) : {x.type}")
    p.emit(f"{out.name} = arith.{'mulf' if elements.is_float(x.element) else 'muli'} {copy}, {x.name} : {x.type}")
    return p.add(out)


#- Control flow -#


def step(p, x, name):
    """One operation that keeps the type, on a value of that name."""
    made = p.name()
    operation = "math.sin" if elements.is_float(x.element) else "math.absi"
    p.emit(f"  {made} = {operation} {name} : {x.type}")
    return made


def loop(p):
    x = p.source(low=1)
    zero, one = p.index(0), p.index(1)
    last = p.pick([p.index(p.pick([0, 1, 3])), some_trip(p)])
    out, i, carried = p.like(x), p.name(), p.name()
    p.emit(f"{out.name} = scf.for {i} = {zero} to {last} step {one} iter_args({carried} = {x.name}) -> ({x.type}) {{")
    p.emit(f"  scf.yield {step(p, x, carried)} : {x.type}")
    p.emit("}")
    return p.add(out)


def some_trip(p):
    count = some_index(p, p.pick([1, 2, 4]))
    return p.index(int(count)) if count.isdigit() else count


def condition(p):
    value = p.argument("i1", [], np.array(bool(p.rng.integers(0, 2))))
    p.values.remove(value)
    name = p.name()
    p.emit(f"{name} = tensor.extract {value.name}[] : {value.type}")
    return name


def branch(p):
    x = p.source(low=1)
    out = p.like(x)
    p.emit(f"{out.name} = scf.if {condition(p)} -> ({x.type}) {{")
    p.emit(f"  scf.yield {step(p, x, x.name)} : {x.type}")
    p.emit("} else {")
    p.emit(f"  scf.yield {x.name} : {x.type}")
    p.emit("}")
    return p.add(out)


def switch(p):
    x = p.source(low=1)
    number = some_trip(p)
    out = p.like(x)
    p.emit(f"{out.name} = scf.index_switch {number} -> {x.type}")
    for case in (1, 2):
        p.emit(f"case {case} {{")
        p.emit(f"  scf.yield {step(p, x, x.name if case == 1 else step(p, x, x.name))} : {x.type}")
        p.emit("}")
    p.emit("default {")
    p.emit(f"  scf.yield {x.name} : {x.type}")
    p.emit("}")
    return p.add(out)


def while_loop(p):
    """Not in programs that are differentiated, since its number of iterations is open, and of static shape, as compiled
    targets carry tensors."""
    if p.smooth:
        return loop(p)
    x = p.source(low=1)
    if not all(x.static):
        x = p.argument(x.element, x.sizes)
        x.static = (True,) * x.rank
    zero, one, last = (p.constant("i32", number) for number in (0, 1, p.pick([1, 3])))
    out, after = p.like(x), p.name()
    carried, count, holds, value, number, following = (p.name() for _ in range(6))
    p.emit(f"{out.name}, {after} = scf.while ({carried} = {x.name}, {count} = {zero}) : ({x.type}, i32) -> ({x.type}, i32) {{")
    p.emit(f"  {holds} = arith.cmpi slt, {count}, {last} : i32")
    p.emit(f"  scf.condition({holds}) {carried}, {count} : {x.type}, i32")
    p.emit("} do {")
    p.emit(f"^bb0({value}: {x.type}, {number}: i32):")
    made = step(p, x, value)
    p.emit(f"  {following} = arith.addi {number}, {one} : i32")
    p.emit(f"  scf.yield {made}, {following} : {x.type}, i32")
    p.emit("}")
    return p.add(out)


def forall(p):
    x = p.source(low=1, high=2, least=1)
    out, i, shared, read = p.like(x), p.name(), p.name(), p.name()
    row = p.result(x.element, [1, *x.sizes[1:]], [True, *x.static[1:]])
    rest, offsets = [p.extent(x, axis) for axis in range(1, x.rank)], ["0"] * (x.rank - 1)
    place = f"{bounds([i, *offsets])}{bounds(['1', *rest])}{bounds(['1'] * x.rank)}"
    p.emit(f"{out.name} = scf.forall ({i}) in ({p.extent(x, 0)}) shared_outs({shared} = {x.name}) -> ({x.type}) {{")
    p.emit(f"  {read} = tensor.extract_slice {x.name}{place} : {x.type} to {row.type}")
    made = step(p, row, read)
    p.emit("  scf.forall.in_parallel {")
    p.emit(f"    tensor.parallel_insert_slice {made} into {shared}{place} : {row.type} into {x.type}")
    p.emit("  }")
    p.emit("}")
    return p.add(out)


def checked(p):
    """cf.assert of a size."""
    x = p.source(low=1)
    size, holds, out = p.name(), p.name(), p.like(x)
    p.emit(f"{size} = tensor.dim {x.name}, {p.index(0)} : {x.type}")
    p.emit(f"{holds} = arith.cmpi eq, {size}, {p.index(x.sizes[0])} : index")
    p.emit(f'cf.assert {holds}, "size"')
    p.emit(f"{out.name} = arith.{'subf' if elements.is_float(x.element) else 'subi'} {x.name}, {p.of_shape(x).name} : "
           f"{x.type}")
    return p.add(out)


CONSTRUCTS = {"arith, math": arithmetic, "extract_slice": extract_slice, "insert_slice": insert_slice, "pad": pad,
              "collapse_shape": collapse, "expand_shape": expand, "concat": concat, "gather": gather, "scatter": scatter,
              "generate": generate, "splat, from_elements, insert": scalars, "cast": cast, "alloc_tensor": allocated,
              "for": loop, "if": branch, "index_switch": switch, "while": while_loop, "forall": forall,
              "assert": checked}
