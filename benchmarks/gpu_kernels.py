# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What gpu.py measures: single kernels as programs that apply them again and again, and how much of everything. Peers
take it from here, too."""

BURST = 0.05  # seconds that the steps of a kernel take, about
FLOPS, BANDWIDTH = {"bf16": 600e12, "f32": 40e12}, 3.5e12  # guesses, only to find the number of steps
UNROLLED = 8  # applications in an iteration of the loop: iterations of several kernels are replayed as a graph
BYTES = {"f32": 4, "bf16": 2}


def calls_for(estimate):
    """As many as fill a burst."""
    return max(3, min(5000, round(BURST / estimate)))


class Kernel:
    """One operation from a matrix to one of its shape, and its other operands as (name, shape, source). `unrolled`
    is how often an iteration of the program applies it; `autotuned` kernels are compiled by torch in its slowest mode,
    too."""

    def __init__(self, name, text, element, rows, columns, mode, operands=(), flops=0, unrolled=1, autotuned=False):
        self.name, self.text, self.element, self.shape, self.mode = name, text, element, (rows, columns), mode
        self.operands, self.flops, self.unrolled, self.autotuned = list(operands), flops, unrolled, autotuned
        self.bytes = 2 * rows * columns * BYTES[element]
        self.steps = calls_for(flops / FLOPS[element] if flops else self.bytes / BANDWIDTH)
        self.repeat = 10  # runs of the program

    def __str__(self):
        return f"{self.name} {self.element} {self.shape[0]}x{self.shape[1]}"

    def limit(self, steps, repeat):
        """At most so many steps, in whole iterations, and runs."""
        self.repeat = min(self.repeat, repeat)
        self.unrolled = min(self.unrolled, steps)
        self.steps = max(1, min(self.steps, steps) // self.unrolled) * self.unrolled
        return self

    def tensor(self, shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.element}>"

    def signature(self):
        inputs = [("x", self.shape), *((name, shape) for name, shape, _ in self.operands)]
        return ", ".join(f'%{name}: {self.tensor(shape)} {{ad.name = "{name}"}}' for name, shape in inputs)

    def application(self, number):
        """From %v<number> to the next."""
        types = {f"t{name}": self.tensor(shape) for name, shape, _ in self.operands}
        return "    " + self.text.format(t=self.tensor(self.shape), v=f"%v{number}", y=f"%v{number + 1}",
                                         p=f"%p{number}", **types)

    def program(self):
        t = self.tensor(self.shape)
        iteration = "\n".join(map(self.application, range(self.unrolled)))
        return f"""func.func @main({self.signature()}) -> {t} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %iterations = arith.constant {self.steps // self.unrolled} : index
  %last = scf.for %i = %c0 to %iterations step %c1 iter_args(%v0 = %x) -> {t} {{
{iteration}
    scf.yield %v{self.unrolled} : {t}
  }}
  return %last : {t}
}}
"""

    def arguments(self):
        return [f"--arg={name}={source}"
                for name, source in [("x", "normal:1"), *((n, s) for n, _, s in self.operands)]]


class Once(Kernel):
    """An operation that the program applies once: a sum, whose result is no operand of the next, or what cannot work in
    place, so that a loop would copy."""

    def __init__(self, name, text, rows, columns, result, bytes_of):
        super().__init__(name, text, "f32", rows, columns, "strict")
        self.result, self.steps, self.repeat = result, 1, 50
        self.bytes = bytes_of

    def program(self):
        t, result = self.tensor(self.shape), self.tensor(self.result)
        return f"""func.func @main({self.signature()}) -> {result} {{
  {self.text.format(t=t, r=result)}
  return %y : {result}
}}
"""


def sum_over(name, rows, columns, axes):
    result = [size for axis, size in enumerate((rows, columns)) if axis not in axes]
    return Once(name, f"%y = ad.reduce_sum %x axes {axes} : {{t}} -> {{r}}", rows, columns, result, 4 * rows * columns)


def product(size, element="bf16", mode="fast"):
    operand = ("b", (size, size), f"normal:2:{size ** -0.5}")
    return Kernel("dot", "{y} = ad.dot {v}, %b : ({t}, {tb}) -> {t}", element, size, size, mode, [operand], 2 * size**3,
                  UNROLLED,
                  (element, size) in AUTOTUNED)


def gradient(size, rows):
    """A layer of many rows and the gradient of its weight: a small result, whose K dimension is split over SMs."""
    operands = [("b", (size, rows), f"normal:2:{size ** -0.5}"), ("c", (rows, size), f"normal:3:{rows ** -0.5}")]
    text = """{p} = ad.dot %b, {v} contract [0] x [0] : ({tb}, {t}) -> {tc}
    {y} = ad.dot %c, {p} contract [0] x [0] : ({tc}, {tc}) -> {t}"""
    return Kernel("gradient", text, "bf16", size, size, "fast", operands, 2 * 2 * rows * size**2, UNROLLED)


def product_as_tf32(size):
    """Both operands are K-major, as wgmma reads them."""
    operand = ("b", (size, size), f"normal:2:{size ** -0.5}")
    text = "{y} = ad.dot {v}, %b batch [] x [] contract [1] x [1] : ({t}, {tb}) -> {t}"
    return Kernel("dot_nt", text, "f32", size, size, "fast,narrow", [operand], 2 * size**3, UNROLLED)


def layer_norm(rows, columns):
    operands = [("scale", (columns,), "uniform:2"), ("bias", (columns,), "normal:3")]
    text = "{y} = ad.layer_norm {v}, %scale, %bias epsilon 1.0e-5 : {t}, {tscale}"
    return Kernel("layer_norm", text, "f32", rows, columns, "strict", operands)


def kernels(extent):
    """All of them, those first that say most when time is short."""
    for kernel in every_kernel(extent):
        yield kernel.limit(extent["max_steps"], extent["max_repeat"])


def every_kernel(extent):
    yield from map(product, reversed(extent["sizes"]))
    yield from (sum_over(*each) for each in extent["sums"])
    for size in reversed(extent["f32_sizes"]):
        yield product(size, "f32", "strict")
    yield from (gradient(*sizes) for sizes in extent["gradients"])
    for rows, columns in reversed(extent["shapes"]):
        yield Kernel("softmax", "{y} = ad.softmax {v} axis 1 : {t}", "f32", rows, columns, "strict")
        yield layer_norm(rows, columns)
        yield Kernel("gelu", "{y} = ad.gelu {v} : {t}", "f32", rows, columns, "strict")
        if rows == columns:
            yield Once("transpose", "%y = ad.transpose %x [1, 0] : {t}", rows, columns, (columns, rows),
                       8 * rows * columns)
    yield from map(product_as_tf32, reversed(extent["sizes"]))


def tiles(extent):
    """(tile, kernel): the largest product in three forms. A name of its own tells them from the one that the compiler
    chooses."""
    for tile in extent["tiles"]:
        yield tile, product(extent["sizes"][-1]).limit(extent["max_steps"], extent["max_repeat"])


AUTOTUNED = [("bf16", 8192), ("f32", 4096)]
LARGE = {"sizes": [1024, 2048, 4096, 8192], "f32_sizes": [1024, 4096], "gradients": [(256, 65536)],
         "sums": [("column_sum", 65536, 1024, [0]), ("sum", 65536, 1024, [0, 1])],
         "tiles": ["2x128x256", "128x256", "128x128"],
         "shapes": [(4096, 1024), (16384, 4096), (8192, 8192)], "layers": [1, 6], "training_steps": 1000,
         "digit_steps": 880,
         "block": [4, 1024], "max_steps": 4000, "max_repeat": 50}
SMALL = {"sizes": [64], "f32_sizes": [64], "gradients": [(64, 1024)],
         "sums": [("column_sum", 2000, 32, [0]), ("sum", 2000, 32, [0, 1])],
         "tiles": ["128x128", "64x64"], "shapes": [(32, 64), (64, 64)], "layers": [1], "training_steps": 2,
         "digit_steps": 4, "block": None,
         "max_steps": 3, "max_repeat": 2}  # for tests of this program
