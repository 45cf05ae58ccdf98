# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Contractions on tensor cores as kernels of their own: max(0, a b + bias) rounded to the type of the operands, of bytes -(a b
+ bias) in i32, as the emulator takes it from ad-opt, and what it should give."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts/cost_sheet"))
import launch_config  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
SCHEDULES = [["eager"], ["lazy"], *(["shuffled", "--seed", str(seed)] for seed in (1, 2))]
WGMMA, MMA_SYNC = "fast,narrow", "strict"  # modes, by the instruction that kernels for sm_90a have in them


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def optimize(file, *options, numerics=WGMMA):
    stages = [f"--ad-to-cpu-frontend=numerics={numerics}", "--ad-to-gpu-fusion=optimize=0", "--ad-to-gpu-kernels"]
    return subprocess.run([BIN / "ad-opt", file, *stages, *options], capture_output=True, text=True, check=True).stdout


def to_bf16(values):
    """The bits of f32 numbers, rounded to nearest even."""
    bits = values.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def to_tf32(values):
    """f32 numbers rounded to 10 bits of mantissa, to nearest even."""
    bits = values.view(np.uint32).astype(np.uint64)
    return (bits + 0xFFF + (bits >> 13 & 1) & 0xFFFFE000).astype(np.uint32).view(np.float32)


class Product:
    """One contraction: operands in the layout (t: transposed) with random values, and its kernel with tiles of that
    name. A question mark after the layout makes M dynamic."""

    def __init__(self, folder, m, n, k, layout, element, batch, tile, numerics=WGMMA):
        self.folder, self.element, self.numerics, outer = folder, element, numerics, [batch] if batch else []
        self.sum, self.out = ("i32", "i32") if element == "i8" else ("f32", element)
        self.a_shape = outer + ([m, k] if layout[0] == "n" else [k, m])
        self.b_shape = outer + ([k, n] if layout[1] == "n" else [n, k])
        self.layout, self.shape, self.unknown = layout, outer + [m, n], layout.endswith("?")
        self.write_program()
        self.write_arrays()
        self.compile(tile)

    def write_program(self):
        written = [["?" if self.unknown and shape is not self.b_shape and axis == len(shape) - 2 else size for axis,
                    size in enumerate(shape)]
                   for shape in (self.a_shape, self.b_shape, self.shape)]
        a, b = (tensor(shape, self.element) for shape in written[:2])
        y, sums, bias = tensor(written[2], self.out), tensor(written[2], self.sum), tensor(self.shape[-1:], self.sum)
        shortened = y != sums
        first = len(self.shape) - 2
        axes = f"contract [{first + (self.layout[0] == 'n')}] x [{first + (self.layout[1] == 't')}]"
        batches = "batch [0] x [0]" if first else "batch [] x []"
        (self.folder / "program.mlir").write_text(f"""func.func @main(%a: {a}, %b: {b}, %r: {bias}) -> {y} {{
  %0 = ad.dot %a, %b {batches} {axes} : ({a}, {b}) -> {sums}
  %1 = ad.add %0, %r : {sums}, {bias}
  %2 = ad.{"neg" if self.element == "i8" else "relu"} %1 : {sums}
  {f"%3 = ad.cast %2 : {sums} -> {y}" if shortened else ""}
  return {"%3" if shortened else "%2"} : {y}
}}
""")

    def random(self, random, shape):
        """The storage of an operand, and the numbers that are multiplied."""
        if self.element == "i8":
            values = random.integers(-128, 128, shape, np.int8)
            return values, values.astype(np.int32)
        values = random.standard_normal(shape).astype(np.float32)
        return (values, to_tf32(values)) if self.element == "f32" else self.short(values)

    def short(self, values):
        """The values encoded as bits, and the values of these bits."""
        if self.element == "f16":
            return values.astype(np.float16), values.astype(np.float16).astype(np.float32)
        bits = to_bf16(values)
        return bits.view("V2"), (bits.astype(np.uint32) << 16).view(np.float32)

    def write_arrays(self):
        random = np.random.default_rng(sum(self.shape))
        a_bits, a = self.random(random, self.a_shape)
        b_bits, b = self.random(random, self.b_shape)
        if self.sum == "i32":
            bias = random.integers(-1 << 31, 1 << 31, self.shape[-1]).astype(np.int32)
        else:
            bias = random.standard_normal(self.shape[-1]).astype(np.float32)
        for name, array in (("a", a_bits), ("b", b_bits), ("r", bias)):
            np.save(self.folder / f"{name}.npy", array)
        a, b = (v if kept else np.swapaxes(v, -1, -2) for v,
                kept in ((a, self.layout[0] == "n"), (b, self.layout[1] == "n")))
        sums = np.zeros(self.shape, bias.dtype)
        for k in range(a.shape[-1]):  # in ascending order; products of 16-bit floats and tf32 are exact in f32
            sums += a[..., :, k, None] * b[..., None, k, :]
        if self.sum == "i32":
            self.expected = -(sums + bias)
        else:
            result = np.maximum(sums + bias, np.float32(0))
            self.expected = result if self.element == "f32" else self.short(result)[0]

    def compile(self, tile):
        file = self.folder / "program.mlir"
        option = f"chip=sm_90a tile={tile}"
        head = optimize(file, f"--ad-emit-gpu={option}", numerics=self.numerics)
        launch = launch_config.read(head)
        self.blocks, self.shared = launch.get("grid_size"), launch["dynamic_shared_bytes"]
        self.threads = launch.get("threads_per_block", 256)
        self.maps = [(f"box={box},swizzle={swizzle}{',tf32' if rounds else ''}", "abr"[operand])
                     for operand, box, swizzle, rounds in launch["tensor_maps"]]
        code = optimize(file, f"--ad-to-gpu-code={option}", numerics=self.numerics)
        self.text = re.search(r"^  gpu\.module .*?^  }$", code, re.S | re.M)[0]

    def run(self, schedule, blocks=None, text=None, out="y.npy", more=()):
        """One run of the kernel, or of a changed text of it."""
        module = self.folder / "kernel.mlir"
        module.write_text(text or self.text)
        path = lambda name: f"{self.element}:{self.folder / name}.npy"  # noqa: E731
        size = [f"i64:{self.shape[-2]}"] if self.unknown else []
        result = f"out:{self.out}:{'x'.join(map(str, self.shape))}"
        arguments = [path("a"), *size, path("b"), str(self.folder / "r.npy"), *size, result, *size]
        arguments += [f"map:{tiles}:{path(name)}" for tiles, name in self.maps]
        command = [BIN / "ad-gpu-emulate", module, "--grid", blocks or self.blocks, "--block", self.threads, "--shared",
                   self.shared,
                   *(word for argument in arguments for word in ("--arg", argument)), "--out", self.folder / out, *more,
                   "--schedule", *schedule]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True)

    def result(self, out="y.npy"):
        return np.load(self.folder / out)

    def wrong_bits(self, blocks=None):
        """A complaint about the first schedule in which the kernel does not give the expected result."""
        for schedule in SCHEDULES:
            done = self.run(schedule, blocks)
            if done.returncode:
                return f"{' '.join(schedule)}: exit {done.returncode}: {done.stderr.strip()}"
            if self.result().tobytes() != self.expected.tobytes():
                return f"{' '.join(schedule)}: other bits than those of sums in ascending order"
        return None
