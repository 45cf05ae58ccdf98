#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Training loops in mixed precision have no kernel that only casts floats, and placing casts keeps all bits: optimized
and unoptimized programs agree on the CPU and the emulated GPU in `reproducible`. Closes with `placed casts: N run, N
failed`."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import checks  # noqa: E402
import runner  # noqa: E402

LOOP = """
func.func private @loss({params}, %x: tensor<{rows}x{inner}xf32>) -> tensor<f32> {{
{body}
  %s = ad.mul %h{layers}, %h{layers} : tensor<{rows}x{inner}xf32>
  %l = ad.reduce_mean %s axes [0, 1] : tensor<{rows}x{inner}xf32> -> tensor<f32>
  return %l : tensor<f32>
}}
func.func @main({args}, %x: tensor<{rows}x{inner}xf32> {{ad.name = "x"}}) -> ({types}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.constant 3 : index
  %rate = ad.constant dense<0.25> : tensor<f32>
  %r:{layers} = scf.for %i = %zero to %n step %one iter_args({carries}) -> ({types}) {{
    %l, %g:{layers} = ad.value_and_grad @loss({names}, %x) wrt [{wrt}]
        : ({types}, tensor<{rows}x{inner}xf32>) -> (tensor<f32>, {types})
{updates}
    scf.yield {nexts} : {types}
  }}
  return {results} : {types}
}}
"""


def training_loop(rng):
    """A network whose layers are products of operands through random views and concatenations."""
    rows, inner, layers = int(rng.integers(2, 9)), 2 * int(rng.integers(2, 9)), int(rng.integers(1, 4))
    kind, act, body = f"tensor<{inner}x{inner}xf32>", f"tensor<{rows}x{inner}xf32>", []
    body.append(f"  %h0 = ad.relu %x : {act}")
    for i in range(layers):
        source = f"%h{i}"
        if rng.random() < 0.5:
            half = f"tensor<{rows}x{inner // 2}xf32>"
            body += [f"  %a{i} = ad.slice %h{i} [0, 0] strides [1, 1] : {act} -> {half}",
                     f"  %b{i} = ad.slice %h{i} [0, {inner // 2}] strides [1, 1] : {act} -> {half}",
                     f"  %na{i} = ad.neg %a{i} : {half}", f"  %eb{i} = ad.exp %b{i} : {half}",
                     f"  %c{i} = ad.concat axis 1 %eb{i}, %na{i} : {half}, {half}"]
            source = f"%c{i}"
        if rng.random() < 0.5:
            turned = f"tensor<{inner}x{rows}xf32>"
            body += [f"  %t{i} = ad.transpose {source} [1, 0] : {act}", f"  %q{i} = ad.tanh %t{i} : {turned}",
                     f"  %u{i} = ad.transpose %q{i} [1, 0] : {turned}"]
            source = f"%u{i}"
        body += [f"  %d{i} = ad.dot {source}, %w{i} : ({act}, {kind}) -> {act}",
                 f"  %h{i + 1} = ad.{rng.choice(['tanh', 'relu', 'sigmoid'])} %d{i} : {act}"]
    each = range(layers)
    return LOOP.format(
        rows=rows, inner=inner, layers=layers, body="\n".join(body), types=", ".join([kind] * layers),
        params=", ".join(f"%w{i}: {kind}" for i in each), names=", ".join(f"%p{i}" for i in each),
        args=", ".join(f'%v{i}: {kind} {{ad.name = "w{i}"}}' for i in each), wrt=", ".join(map(str, each)),
        carries=", ".join(f"%p{i} = %v{i}" for i in each), nexts=", ".join(f"%next{i}" for i in each),
        results=", ".join(f"%r#{i}" for i in each),
        updates="\n".join(f"    %s{i} = ad.mul %g#{i}, %rate : {kind}, tensor<f32>\n"
                          f"    %next{i} = ad.sub %p{i}, %s{i} : {kind}" for i in each)), layers


def kernels_that_cast(program, precision):
    """The lines of loops in the printed procedure that are a kernel of a float cast alone."""
    command = [runner.binary("ad-opt"), str(program), f"--ad-to-cpu-frontend=precision={precision}",
               "--ad-to-cpu-fusion", "--ad-print-procedure", "-o", "/dev/null"]
    text = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    found, block, inside = [], [], -1
    for line in text.splitlines() + ["end"]:
        indent = len(line) - len(line.lstrip())
        if inside >= 0 and indent > inside:
            block.append(line)
            continue
        if inside > 0 and block and all("= CAST" in member for member in block):
            found += block
        inside, block = (indent, []) if "Fusion (fuse_id" in line else (-1, [])
        if indent > 0 and "= CAST" in line:
            found.append(line)
    return found


def check(seed, folder):
    rng = np.random.default_rng(seed)
    precision = str(rng.choice(["bf16", "f16", "f8"]))
    text, layers = training_loop(rng)
    program = folder / "program.mlir"
    program.write_text(text)
    if found := kernels_that_cast(program, precision):
        return f"{precision}: kernels that only cast:\n" + "\n".join(found) + "\n" + text
    sources = [f"--arg=w{i}=normal:{i + 1}:0.3" for i in range(layers)] + ["--arg=x=normal:9"]
    outputs = {}
    for name, options in {"cpu": [], "cpu -O0": ["-O0"], "reference": ["--target", "reference"],
                          "gpu-sim": ["--target", "gpu-sim"]}.items():
        command = [runner.binary("ad-runner"), str(program), *sources, "--precision", precision, "--numerics",
                   "reproducible", "--print", *options]
        outputs[name] = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    different = [name for name in outputs if outputs[name] != outputs["reference"]]
    return f"{precision}: {different} differ from reference:\n{text}" if different else None


if __name__ == "__main__":
    sys.exit(checks.run_seeds("placed casts", check, count=6))
