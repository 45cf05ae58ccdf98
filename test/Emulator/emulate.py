# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Shared by the emulator's tests: the kernels in Inputs with arguments and results, and runs of the tool."""

import os
import pathlib
import subprocess
import tempfile

import numpy as np

TOOL = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-gpu-emulate")
INPUTS = pathlib.Path(__file__).resolve().parent / "Inputs"
SCHEDULES = [["eager"], ["lazy"], *(["shuffled", "--seed", str(seed)] for seed in (1, 2, 3))]


def to_bf16(values):
    """The upper halves of f32 numbers whose lower halves are zero."""
    bits = values.astype(np.float32).view(np.uint32)
    assert not (bits & 0xFFFF).any()
    return (bits >> 16).astype(np.uint16)


def emulate(file, options, schedule=("eager",)):
    return subprocess.run([TOOL, str(file), *map(str, options), "--schedule", *schedule], capture_output=True,
                          text=True)


class Kernel:
    """A kernel of Inputs, its launch, its arrays and its expected results."""

    def __init__(self, name, launch, arrays, arguments, expected):
        self.file, self.launch, self.arrays = INPUTS / name, launch, arrays
        self.arguments, self.expected = arguments, expected

    def options(self, folder):
        """Writes the arrays; arguments name them as {name}."""
        paths = {name: folder / f"{name}.npy" for name in self.arrays}
        for name, array in self.arrays.items():
            np.save(paths[name], array.view("V2") if array.dtype == np.uint16 else array)
        words = list(self.launch)
        for argument in self.arguments:
            words += ["--arg", argument.format(**paths)]
        return [*words, "--out", folder / "result.npy"]

    def run(self, folder, schedule=("eager",), file=None, more=()):
        return emulate(file or self.file, [*self.options(folder), *more], schedule)


def kernels():
    random = np.random.default_rng(0)
    rows = random.integers(-8, 9, (4, 256)).astype(np.float32)
    line = random.standard_normal(500).astype(np.float32)
    a, b = (random.integers(-4, 5, (size, 256)).astype(np.float32) for size in (64, 32))
    wide = random.standard_normal((3, 1024)).astype(np.float32)
    wide = (wide.view(np.uint32) & 0xFFFF0000).view(np.float32)
    power = np.exp2((wide - wide.max(1, keepdims=True)).astype(np.float64) * np.float64(np.float32(1.44269504)))
    product = ["bf16:{a}", "bf16:{b}", "out:f32:64x32", "i32:32", "i32:256"]
    tiles = ["map:box=64x64,swizzle=128:bf16:{a}", "map:box=16x64,swizzle=128:bf16:{b}", "map:box=64x16:out:f32:64x32",
             "i32:256"]
    matrices = {"a": to_bf16(a), "b": to_bf16(b)}
    return {
        "elementwise": Kernel("elementwise.mlir", ["--kernel", "affine", "--grid", 2, "--block", 256], {"x": line},
                              ["{x}", "out:f32:500", "i32:500"], line * np.float32(2) + np.float32(1)),
        "reduction": Kernel("block-reduction.mlir", ["--grid", 2, "--block", 256], {"x": rows}, ["{x}", "out:f32:4"],
                            rows.sum(1)),
        "softmax": Kernel("softmax.mlir", ["--grid", 3, "--block", 128], {"x": to_bf16(wide)},
                          ["bf16:{x}", "out:f32:3x1024"],
                          power / power.sum(1, keepdims=True)),
        "mma": Kernel("gemm-mma.mlir", ["--grid", "2,2", "--block", 64], matrices, product, a @ b.T),
        "wgmma": Kernel("gemm-wgmma.mlir", ["--grid", "2,1", "--block", 256, "--shared", 24608], matrices, tiles,
                        a @ b.T),
    }


# Kernels of one instruction: they read %x, write %y and have 32 KiB of shared memory.
PREFIX = """gpu.module @kernels {
  llvm.mlir.global internal @memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<32768 x i8>
  llvm.func @test(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel} {
    %memory = llvm.mlir.addressof @memory : !llvm.ptr<3>
    %lane = nvvm.read.ptx.sreg.tid.x : i32
    %all = llvm.mlir.constant(-1 : i32) : i32
"""
SUFFIX = "    llvm.return\n  }\n}\n"


def constants(*values):
    return "".join(f"    %c{v} = llvm.mlir.constant({v} : i32) : i32\n" for v in sorted(set(values)))


def load(name, element, index, base="%x", space=1):
    return (f"    %p_{name} = llvm.getelementptr {base}[{index}] : (!llvm.ptr<{space}>, i32) -> !llvm.ptr<{space}>, {element}\n"
            f"    %{name} = llvm.load %p_{name} : !llvm.ptr<{space}> -> {element}\n")


def store(value, element, index, base="%y", space=1):
    name = value.strip("%")
    return (f"    %q_{name} = llvm.getelementptr {base}[{index}] : (!llvm.ptr<{space}>, i32) -> !llvm.ptr<{space}>, {element}\n"
            f"    llvm.store {value}, %q_{name} : {element}, !llvm.ptr<{space}>\n")


class Bench:
    """Runs kernels of one block and counts failures."""

    def __init__(self, folder):
        self.folder, self.run, self.problems = folder, 0, []

    def check(self, name, body, values, out, expected, threads=32, equal=np.array_equal, launch=(), finding=None):
        """Compares the results, or expects a finding of the checks."""
        self.run += 1
        file, source, result = (self.folder / f"{name}.{end}" for end in ("mlir", "in.npy", "out.npy"))
        file.write_text(PREFIX + body + SUFFIX)
        np.save(source, values)
        done = emulate(file, [*launch, "--block", threads, "--arg", source, "--arg", f"out:{out}:{expected.size}",
                              "--out", result])
        if finding:
            if done.returncode != 1 or f"error: {finding}" not in done.stderr:
                self.problems.append(f"{name}: expected the finding {finding!r}, got {done.returncode}: {done.stderr.strip()}")
            return
        if done.returncode:
            self.problems.append(f"{name}: exit {done.returncode}: {done.stderr.strip()}")
            return
        found = np.load(result).view(expected.dtype).reshape(expected.shape)
        if not equal(found, expected):
            bad = np.flatnonzero((found != expected).ravel())
            self.problems.append(f"{name}: element {bad[:4]} is {found.ravel()[bad[:4]]}, expected {expected.ravel()[bad[:4]]}")

    def close(self, name):
        """Prints the outcome; returns the exit code."""
        print("\n".join(self.problems))
        print(f"{name}: {self.run} run, {len(self.problems)} failed")
        return bool(self.problems)


def run_families(name, *families):
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder))
        for family in families:
            family(bench)
        return bench.close(name)
