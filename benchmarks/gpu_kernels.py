# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What gpu.py measures: single kernels as programs that apply them again and again, and how much of everything."""

import measure

BURST = 0.05  # seconds that the steps of a kernel take, about
FLOPS, BANDWIDTH = {"bf16": 600e12, "f32": 40e12}, 3.5e12  # guesses, only to find the number of steps
LAYERS = [1, 2, 4, 6]
TRAINING_STEPS = 1000


class Kernel:
    """One operation from a matrix to one of its shape, and the operands beside it as (name, shape, source)."""

    def __init__(self, name, text, element, rows, columns, mode, operands=(), flops=0):
        self.name, self.text, self.element, self.shape, self.mode = name, text, element, (rows, columns), mode
        self.operands, self.flops = list(operands), flops
        self.bytes = 2 * rows * columns * {"f32": 4, "bf16": 2}[element]
        self.steps = measure.calls_for(BURST, flops / FLOPS[element] if flops else self.bytes / BANDWIDTH)

    def __str__(self):
        return f"{self.name} {self.element} {self.shape[0]}x{self.shape[1]}"

    def tensor(self, shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.element}>"

    def program(self, steps):
        t = self.tensor(self.shape)
        inputs = [("x", self.shape), *((name, shape) for name, shape, _ in self.operands)]
        arguments = ", ".join(f'%{name}: {self.tensor(shape)} {{ad.name = "{name}"}}' for name, shape in inputs)
        types = {f"t{name}": self.tensor(shape) for name, shape, _ in self.operands}
        return f"""func.func @main({arguments}) -> {t} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {steps} : index
  %last = scf.for %i = %c0 to %steps step %c1 iter_args(%v = %x) -> {t} {{
    {self.text.format(t=t, **types)}
    scf.yield %y : {t}
  }}
  return %last : {t}
}}
"""

    def arguments(self):
        return [f"--arg={name}={source}" for name, source in [("x", "normal:1"), *((n, s) for n, _, s in self.operands)]]


def product(size, element="bf16", mode="fast"):
    operand = ("b", (size, size), f"normal:2:{size ** -0.5}")
    return Kernel("dot", "%y = ad.dot %v, %b : ({t}, {tb}) -> {t}", element, size, size, mode, [operand], 2 * size**3)


def gradient(size, rows):
    """A layer of many rows and the gradient of its weight: a small result, whose depth processors share."""
    operands = [("b", (size, rows), f"normal:2:{size ** -0.5}"), ("c", (rows, size), f"normal:3:{rows ** -0.5}")]
    text = """%p = ad.dot %b, %v contract [0] x [0] : ({tb}, {t}) -> {tc}
    %y = ad.dot %c, %p contract [0] x [0] : ({tc}, {tc}) -> {t}"""
    return Kernel("gradient", text, "bf16", size, size, "fast", operands, 2 * 2 * rows * size**2)


def product_as_tf32(size):
    """Both operands along the depth, as warpgroups take them."""
    operand = ("b", (size, size), f"normal:2:{size ** -0.5}")
    text = "%y = ad.dot %v, %b batch [] x [] contract [1] x [1] : ({t}, {tb}) -> {t}"
    return Kernel("dot_nt", text, "f32", size, size, "fast,narrow", [operand], 2 * size**3)


def layer_norm(rows, columns):
    operands = [("scale", (columns,), "uniform:2"), ("bias", (columns,), "normal:3")]
    text = "%y = ad.layer_norm %v, %scale, %bias epsilon 1.0e-5 : {t}, {tscale}"
    return Kernel("layer_norm", text, "f32", rows, columns, "strict", operands)


def kernels(extent):
    for kernel in every_kernel(extent):
        kernel.steps = min(kernel.steps, extent["most_steps"])
        yield kernel


def every_kernel(extent):
    yield from map(product, extent["sizes"])
    for size in extent["f32_sizes"]:
        yield product(size, "f32", "strict")
    yield from (gradient(*sizes) for sizes in extent["gradients"])
    for rows, columns in extent["shapes"]:
        yield Kernel("softmax", "%y = ad.softmax %v axis 1 : {t}", "f32", rows, columns, "strict")
        yield layer_norm(rows, columns)
        yield Kernel("gelu", "%y = ad.gelu %v : {t}", "f32", rows, columns, "strict")
        if rows == columns:
            yield Kernel("transpose", "%y = ad.transpose %v [1, 0] : {t}", "f32", rows, columns, "strict")
    yield from map(product_as_tf32, extent["sizes"])


LARGE = {"sizes": [1024, 2048, 4096, 8192], "f32_sizes": [1024, 4096], "gradients": [(256, 65536)],
         "shapes": [(4096, 1024), (16384, 4096), (8192, 8192)], "layers": LAYERS,
         "training_steps": TRAINING_STEPS, "digit_steps": 880, "most_steps": 5000}
SMALL = {"sizes": [64], "f32_sizes": [64], "gradients": [(64, 1024)], "shapes": [(32, 64), (64, 64)], "layers": [1],  # for tests of this program
         "training_steps": 2, "digit_steps": 10, "most_steps": 3}
