# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random chains: kernels of two to five operations, each of which reads what earlier ones compute.

Indices are loops, constants, strides, reversals, windows, repeated loops, and computed by `tensor.extract`. So there
are products of products, of transposes and of gathered rows, sums of products, and products inside of row sums. All
numbers are small integers: sums are exact, whatever their order is."""

import numpy as np

import elements
from linalg_cases import choose_order, combine, from_result, onto, order_text, output_map, rows_of, start_value, sum_of
from linalg_kernels import Body, Index, Kernel
from linalg_sums import COMBINERS

SIZES = [1, 2, 2, 3, 4, 5, 8, 9, 15, 16, 17, 32, 33, 64]
MAX_POINTS = 20000  # of one operation
MAX_WORK = [100000, 400000]  # of a kernel that stores nothing between its operations
# The operations of a chain, the sizes that it starts from, and the share of indices that are no loop.
STYLES = {"maps": (["map"], SIZES, [0.2, 0.4]),
          "products": (["matmul", "matmul", "matmul", "transpose", "map", "reduce"], [5, 8, 9, 15, 16, 17, 32, 33],
                       [0.0, 0.05]),
          "any": (["map", "map", "product", "matmul", "reduce"], SIZES, [0.05, 0.15, 0.35])}
SMALL = {"f16": 2}  # a larger number is cut off before it is used
ARITHMETIC = {True: ["fma", "addf", "addf", "maximumf", "minimumf"], False: ["addi", "addi", "maxsi", "minsi", "xori"]}


class ChainKernel(Kernel):
    def __init__(self, rng):
        super().__init__(rng)
        self.special, self.work, self.outside = 0.0, {}, None
        self.kinds, self.start_sizes, odd = STYLES[self.pick(["maps", "products", "products", "any", "any"])]
        self.odd, self.max_work = self.pick(odd), self.pick(MAX_WORK)
        self.dynamic = float(rng.choice([0.0, 0.0, 0.0, 0.4]))

    def argument(self, element, sizes):
        value = super().argument(element, sizes)
        numbers = self.rng.integers(0, 2, sizes) if element == "i1" else self.rng.integers(-2, 3, sizes)
        value.array = np.asarray(numbers.astype(np.bool_) if element == "i1" else elements.encode(element, numbers))
        return value

    def indices(self, sizes, size):
        """An argument of indices into an axis."""
        value = super().argument(self.pick(["i32", "i64"]), sizes)
        value.static, value.sources = list(sizes), [None] * len(sizes)
        value.array = np.asarray(self.rng.integers(0, size, sizes), elements.STORAGE[value.element])
        return value


class ChainBody(Body):
    def number(self, element):
        number = elements.STORAGE[element](self.kernel.pick([1, -1, 2]))
        return self.kernel.constant(element, number), number

    def widened(self, argument, element):
        """Cuts off what an earlier operation has made large."""
        name, array = super().widened(argument, element)
        limit = SMALL.get(element, 8)
        if not elements.is_float(element) or not array.size or np.max(np.abs(array)) <= limit:
            return name, array
        for op, bound in (("minimumf", limit), ("maximumf", -limit)):
            number = elements.STORAGE[element](bound)
            constant = self.kernel.constant(element, number)
            name, array = self.emit(f"arith.{op} {name}, {constant} : {element}", COMBINERS[op](array, number))
        return name, array


class Space:
    """The loops of one operation while its operands are chosen."""

    def __init__(self, kernel):
        self.kernel, self.sizes, self.sources, self.plain = kernel, [], [], set()

    def add(self, size, source=None):
        self.sizes.append(int(size))
        self.sources.append(source)
        return len(self.sizes) - 1

    def index(self, value, axis, shares):
        """An index along an axis of a value: of a new loop, of one that is there, or of neither."""
        kernel, size = self.kernel, value.sizes[axis]
        fitting = [loop for loop, n in enumerate(self.sizes) if n == size]
        if value.static[axis] is None or not kernel.chance(kernel.odd):
            again = fitting and kernel.chance(0.75 if shares else 0.12)
            loop = kernel.pick(fitting) if again else self.add(size, value.sources[axis])
            self.plain.add(loop)
            return Index({loop: 1})
        kind = kernel.pick(["constant", "constant", "constant", "constant", "stride", "stride", "reverse", "shift",
                            "window", "shorter"])
        shorter = [loop for loop, n in enumerate(self.sizes) if n < size]
        if kind == "stride" and size > 2:
            step = int(kernel.pick([2, 2, 3]))
            return Index({self.add((size + step - 1) // step): step}) if kernel.chance(0.5) else \
                Index({self.add((size - 2) // step + 1): step}, 1)
        if kind == "reverse":
            return Index({kernel.pick(fitting) if fitting else self.add(size): -1}, size - 1)
        if kind == "shift" and size > 1:
            first = int(kernel.rng.integers(1, size))
            return Index({self.add(size - first): 1}, first)
        if kind == "window" and size > 2:
            first = int(kernel.rng.integers(1, size))
            return Index({self.add(first): 1, self.add(size + 1 - first): 1})
        if kind == "shorter" and shorter:
            loop = kernel.pick(shorter)
            return Index({loop: 1}, int(kernel.rng.integers(0, size - self.sizes[loop] + 1)) or 1)
        return Index({}, 0 if kernel.chance(0.4) else int(kernel.rng.integers(0, size)))

    def access(self, value, shares=False):
        return value, [self.index(value, axis, shares) for axis in range(len(value.sizes))]

    def with_last(self, reduced, inputs):
        """Makes these loops the last ones; the numbers and operands that they have then."""
        order = [loop for loop in range(len(self.sizes)) if loop not in reduced] + sorted(reduced)
        number = {loop: i for i, loop in enumerate(order)}
        self.sizes, self.sources = [self.sizes[loop] for loop in order], [self.sources[loop] for loop in order]
        self.plain = {number[loop] for loop in self.plain}
        renamed = [(value, [Index({number[loop]: factor for loop, factor in e.loops.items()}, e.constant)
                            for e in exprs]) for value, exprs in inputs]
        return {number[loop] for loop in reduced}, renamed

    def provide(self, element, loop_set):
        """An argument that the loops index alone."""
        loops = [int(loop) for loop in self.kernel.rng.permutation(sorted(loop_set))]
        self.plain.update(loops)
        value = self.kernel.argument(element, tuple(self.sizes[loop] for loop in loops))
        return value, [Index({loop: 1}) for loop in loops]


def narrow(kernel, element):
    return kernel.pick({"f32": ["f32", "f32", "f32", "f16", "bf16"], "f64": ["f64", "f64", "f32"], "f16": ["f16"],
                        "i32": ["i32", "i8", "i8", "i1"], "i64": ["i64", "i32", "i8"]}[element])


# Computed indices.


def gathered(kernel, body, table, inputs, space):
    """An element of the table at computed indices, as a block argument would be."""
    names, arrays = [], []
    for size in table.sizes:
        fitting = [loop for loop, n in enumerate(space.sizes) if n <= size]
        if fitting and kernel.chance(0.5):
            loop = kernel.pick(fitting)
            name, _ = body.emit(f"linalg.index {loop} : index", None)
            names.append(name)
            arrays.append(np.broadcast_to(body.grid[loop], body.sizes))
            if space.sizes[loop] * 2 <= size and kernel.chance(0.5):
                two = "%" + kernel.name("c")
                kernel.lines.append(f"{two} = arith.constant 2 : index")
                names[-1], _ = body.emit(f"arith.muli {names[-1]}, {two} : index", None)
                arrays[-1] = arrays[-1] * 2
            continue
        value, exprs = next(((v, e) for v, e in inputs if getattr(v, "into", None) == size), (None, None))
        if value is None:
            number = int(kernel.rng.integers(0, size))
            names.append("%" + kernel.name("c"))
            kernel.lines.append(f"{names[-1]} = arith.constant {number} : index")
            arrays.append(np.full(body.sizes, number))
            continue
        name, element, array = body.read(value, exprs, f"%x{[v for v, _ in inputs].index(value)}")
        names.append(body.emit(f"arith.index_cast {name} : {element} to index", None)[0])
        arrays.append(array.astype(np.int64))
    name, _ = body.emit(f"tensor.extract {table}[{', '.join(names)}] : {table.type}", None)
    return name, table.element, np.broadcast_to(table.array[tuple(arrays)] if arrays else table.array, body.sizes)


def index_operands(kernel, table, space):
    """Arguments of indices for some axes of the table."""
    made = []
    for size in table.sizes:
        if space.sizes and kernel.chance(0.7):
            loops = sorted({int(kernel.rng.integers(len(space.sizes)))})
            value = kernel.indices(tuple(space.sizes[loop] for loop in loops), size)
            value.into = size
            space.plain.update(loops)
            made.append((value, [Index({loop: 1}) for loop in loops]))
    return made


# Operations.


def choose_operands(kernel, values, element, space, product):
    """What is read, the newest value first, and a table that is read at computed indices, or None."""
    chosen = [values[-1]] if kernel.chance(0.85) else [kernel.pick(values)]
    inputs = [space.access(chosen[0])]
    if kernel.chance(0.25):
        space.add(kernel.pick(SIZES[:8]))
    if product or kernel.chance(0.4):
        other = kernel.pick(values) if kernel.chance(0.4) else None
        if other is None and space.sizes:
            loops = {loop for loop in range(len(space.sizes)) if kernel.chance(0.7)}
            if kernel.chance(0.6):
                loops.add(space.add(kernel.pick(SIZES)))
            inputs.append(space.provide(narrow(kernel, element), loops))
        elif other is not None:
            inputs.append(space.access(other, shares=True))
    tables = [value for value in values if None not in value.static and value.sizes and value.element == element]
    table = kernel.pick(tables) if tables and kernel.chance(0.25) else None
    return inputs + (index_operands(kernel, table, space) if table else []), table


def work_of(kernel, inputs, table, extent):
    read = [value for value, _ in inputs] + ([table] if table else [])
    return extent * (1 + sum(kernel.work.get(value.name, 0) for value in read))


def matmul_operands(kernel, values, element, space):
    """The newest value and a matrix that share one loop, which is the last axis of the matrix or the first."""
    value, exprs = space.access(values[-1])
    loops = sorted(space.plain)
    shared = loops[-1] if loops and kernel.chance(0.7) else kernel.pick(loops) if loops else space.add(5)
    column = space.add(kernel.pick([1, 2, 3, 5, 8, 16, 17, 17, 32, 33, 40]))
    order = [column, shared] if kernel.chance(0.6) else [shared, column]
    space.plain.update(order)
    right = kernel.argument(narrow(kernel, element), tuple(space.sizes[loop] for loop in order))
    inputs = [(value, exprs), (right, [Index({loop: 1}) for loop in order])]
    return inputs if kernel.chance(0.7) else inputs[::-1], shared


def choose_reduced(kernel, kind, inputs, space):
    loops = sorted(space.plain)
    if kind in ("map", "transpose") or not loops:
        return set()
    shared = [loop for loop in loops if all(any(loop in e.loops for e in exprs) for _, exprs in inputs[:2])]
    reduced = {kernel.pick(shared if kind == "product" and shared else loops)}
    return reduced | {kernel.pick(loops)} if kernel.chance(0.15) else reduced


def operation(kernel, values, element):
    """One more value; None where the operands that were drawn make too much work."""
    kind, space = kernel.pick(kernel.kinds), Space(kernel)
    if kind == "matmul":
        inputs, shared = matmul_operands(kernel, values, element, space)
        table, reduced = None, {shared}
    else:
        inputs, table = choose_operands(kernel, values, element, space, kind == "product")
        reduced = choose_reduced(kernel, kind, inputs, space)
    space.reverses = kind == "transpose"
    if kernel.chance(0.75):
        reduced, inputs = space.with_last(reduced, inputs)
    iterators = ["reduction" if loop in reduced else "parallel" for loop in range(len(space.sizes))]
    extent = int(np.prod([space.sizes[loop] for loop in reduced], dtype=np.int64))
    points = int(np.prod(space.sizes, dtype=np.int64))
    work = work_of(kernel, inputs, table, extent)
    if points > MAX_POINTS or points // extent * work > kernel.max_work or len(space.sizes) > 5:
        return None
    value = (reduce if reduced else compute)(kernel, space, inputs, table, iterators, element)
    kernel.work[value.name] = work
    return value


def read_all(kernel, body, inputs, table, space):
    arguments = [body.read(value, exprs, f"%x{i}") for i, (value, exprs) in enumerate(inputs)
                 if not hasattr(value, "into")]
    return arguments + ([gathered(kernel, body, table, inputs, space)] if table else [])


def result_of(kernel, space, iterators):
    out = [Index({loop: 1}) for loop, kind in enumerate(iterators) if kind == "parallel"]
    shape = [size for size, kind in zip(space.sizes, iterators) if kind == "parallel"]
    if space.reverses:
        out, shape = out[::-1], shape[::-1]
    elif kernel.chance(0.4):
        out, shape = output_map(kernel, space.sizes, iterators)
    return out, shape, [space.sources[next(iter(e.loops))] if e.loops else None for e in out]


def compute(kernel, space, inputs, table, iterators, element):
    out, shape, sources = result_of(kernel, space, iterators)
    init = kernel.empty(element, shape, sources)
    body = ChainBody(kernel, tuple(space.sizes))
    arguments = read_all(kernel, body, inputs, table, space)
    length = 0 if kernel.chance(0.4) else int(kernel.rng.integers(1, 2 if element == "f16" else 3))
    name, array = body.expression(arguments, element, length)
    return kernel.generic(iterators, inputs, [(init, out)], body.lines, [name], [onto(array, iterators, out)])[0]


def reduce(kernel, space, inputs, table, iterators, element):
    out, shape, sources = result_of(kernel, space, iterators)
    name = kernel.pick(ARITHMETIC[elements.is_float(element)])
    body = ChainBody(kernel, tuple(space.sizes))
    init = start_value(kernel, element, shape, sources, name, out)
    arguments = read_all(kernel, body, inputs, table, space)
    if name == "fma" and (len(arguments) < 2 or element == "f16"):
        name = "addf"
    split = [arguments[:1], arguments[1:]] if name == "fma" else [arguments]
    values = [body.expression(part, element, 0) for part in split]
    values = [(value, rows_of(array, iterators)) for value, array in values]
    yielded, step, join = combine(kernel, body, name, element, values)
    start = from_result(init.array, iterators, out).reshape(-1)
    lead = [n for n, kind in zip(space.sizes, iterators) if kind == "parallel"]
    extent = int(np.prod([n for n, kind in zip(space.sizes, iterators) if kind == "reduction"], dtype=np.int64))
    total = sum_of(name, element, init, start, kernel.chain_order, extent, step, join)
    array = onto(np.asarray(total, elements.STORAGE[element]).reshape(lead), iterators, out)
    return kernel.generic(iterators, inputs, [(init, out)], body.lines, [yielded], [array])[0]


def order_of(kernel):
    """Short chunks of lanes are rare: a sum of several chunks inside of another loop may be refused."""
    order = choose_order(kernel, 64)
    return order if order is None or order[0] == "block" or kernel.chance(0.2) else ("lanes", order[1], 4096)


def chain(rng):
    kernel = ChainKernel(rng)
    element = kernel.pick(["f32", "f32", "f32", "f64", "f16", "i32", "i32", "i64"])
    kernel.chain_order = order_of(kernel)
    kernel.order = order_text(kernel.chain_order)
    kernel.kernel_class = kernel.pick(["generic", "row", "contraction", "elementwise", "transposition"])
    sizes = tuple(int(kernel.pick(kernel.start_sizes)) for _ in range(int(kernel.pick([1, 2, 2, 2, 3, 3]))))
    values, made = [kernel.argument(element, sizes)], []
    wanted = int(kernel.rng.integers(2, 6))
    for _ in range(20):
        value = operation(kernel, values, element) if len(made) < wanted else None
        if value is not None:
            values.append(value)
            made.append(value)
    if len(made) < 2:
        return None
    # Results of one type have one size at run time, which dynamic ones may not.
    several = kernel.chance(0.2) and not kernel.dynamic
    kernel.results = made[-1:] + ([kernel.pick(made[:-1])] if several else [])
    return kernel


def leave_table(kernel):
    """One more operation, which extracts an element outside of the result at an index that an argument gives."""
    table = kernel.results[0]
    axis, rows = int(kernel.rng.integers(len(table.sizes))), int(kernel.pick(SIZES))
    size, at = table.sizes[axis], int(kernel.rng.integers(rows))
    indices = kernel.indices((rows,), size)
    indices.array[at] = wrong = int(kernel.pick([-1, size, size + 1, -(1 << 20), 1 << 20]))
    body, number = ChainBody(kernel, (rows,)), kernel.name("c")
    kernel.lines.append(f"%{number} = arith.constant 0 : index")
    index, _ = body.emit(f"arith.index_cast %x0 : {indices.element} to index", None)
    names = [index if i == axis else f"%{number}" for i in range(len(table.sizes))]
    name, _ = body.emit(f"tensor.extract {table}[{', '.join(names)}] : {table.type}", None)
    along, init = [Index({0: 1})], kernel.empty(table.element, (rows,), [None])
    kernel.results = kernel.generic(["parallel"], [(indices, along)], [(init, along)], body.lines, [name],
                                    [np.zeros(rows)])
    kernel.outside = f"dimension {axis}: index {wrong} is outside of size {size}"


def make(seed, number, outside=False):
    """`outside`: an index of the last operation is outside of its tensor, as kernel.outside says."""
    for attempt in range(100):
        with np.errstate(all="ignore"):
            kernel = chain(np.random.default_rng([seed, number, attempt]))
        if kernel and outside and (not kernel.results[0].sizes or 0 in kernel.results[0].sizes):
            continue
        if kernel:
            leave_table(kernel) if outside else None
            return kernel
    raise AssertionError("no chain in a hundred attempts")
