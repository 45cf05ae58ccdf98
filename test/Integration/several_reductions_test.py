#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""One kernel reduces several tensors of random shapes, each to one number, as the check of all gradients does. All
targets and numbers of threads give the bits of the reference interpreter in `reproducible`. Closes with `several
reductions: N run, N failed`."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import checks  # noqa: E402
import runner  # noqa: E402
from elements import same_bits, tensor  # noqa: E402

TARGETS = {"one thread": ["--threads", "1"], "seven threads": ["--threads", "7"],
           "small tiles": ["--threads", "3", "--tiles", "small"], "gpu-sim": ["--target", "gpu-sim"]}


def reduction(rng, number, kind):
    """Lines that reduce %aN to %nN in f32, and its type."""
    element = str(rng.choice(["f32", "f16", "bf16"]))
    size = int(rng.choice([0, 1, 7, 64, 513, 5000, 20000]))
    shape = (size,) if size % 4 or rng.random() < 0.5 else (4, size // 4)
    lines, name = [], f"%a{number}"
    if len(shape) > 1:
        lines.append(f"%v{number} = ad.reshape {name} : {tensor(element, shape)} -> {tensor(element, (size,))}")
        name = f"%v{number}"
    flat, scalar = tensor(element, (size,)), tensor(element, ())
    if rng.random() < 0.7:
        lines.append(f"%e{number} = ad.{rng.choice(['abs', 'neg', 'relu'])} {name} : {flat}")
        name = f"%e{number}"
    lines.append(f"%r{number} = ad.reduce_{kind} {name} axes [0] : {flat} -> {scalar}")
    lines.append(f"%n{number} = ad.cast %r{number} : {scalar} -> tensor<f32>" if element != "f32" else
                 f"%n{number} = ad.neg %r{number} : {scalar}")
    return lines, tensor(element, shape)


def make_program(rng):
    count, kinds, lines = int(rng.integers(2, 9)), [], []
    ops = ["max"] if rng.random() < 0.5 else ["sum", "max", "min"]
    for number in range(count):
        more, kind = reduction(rng, number, str(rng.choice(ops)))
        lines += more
        kinds.append(kind)
    lines.append("%t0 = ad.neg %n0 : tensor<f32>")
    for number in range(1, count):
        lines.append(f"%t{number} = ad.{rng.choice(['max', 'add'])} %t{number - 1}, %n{number} : tensor<f32>")
    arguments = ", ".join(f'%a{i}: {kind} {{ad.name = "a{i}"}}' for i, kind in enumerate(kinds))
    body = "".join(f"  {line}\n" for line in lines)
    last = f"%t{count - 1}"
    return count, (f"func.func @main({arguments}) -> (tensor<f32>, tensor<i1>) {{\n{body}"
                   f"  %finite = ad.is_finite {last} : tensor<f32> -> tensor<i1>\n"
                   f"  return {last}, %finite : tensor<f32>, tensor<i1>\n}}\n")


def fusions_that_reduce(program, folder):
    (folder / "fused.mlir").write_text(program)
    done = subprocess.run([runner.binary("ad-opt"), folder / "fused.mlir", "--ad-to-cpu-frontend",
                           "--ad-to-cpu-fusion"], check=True, capture_output=True, text=True)
    return len(re.findall(r"ad\.fusion reduce ", done.stdout))


def check(seed, folder):
    rng = np.random.default_rng(seed)
    count, program = make_program(rng)
    if (found := fusions_that_reduce(program, folder)) != 1:
        return f"{found} kernels reduce, expected 1:\n{program}"
    arguments = [f"--arg=a{i}=normal:{seed + i}" for i in range(count)]
    results = [("res0", "f32"), ("res1", "i1")]
    mode = ["--numerics", "reproducible"]
    expected = runner.run(program, arguments, results, ["--target", "reference", *mode])
    for label, options in TARGETS.items():
        found = runner.run(program, arguments, results, [*mode, *options])
        if not all(same_bits(element, found[name], expected[name]).all() for name, element in results):
            return f"{label}: {found} instead of {expected}:\n{program}"
    return None


if __name__ == "__main__":
    sys.exit(checks.run_seeds("several reductions", check, count=6))
