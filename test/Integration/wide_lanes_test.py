# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Sums over many lanes: up to 4096 of them, more than a vector of the CPU has. Results have the bits of the reference
interpreter on cpu (AVX-512, AVX2, portable) and gpu-sim, and no program takes long to compile."""

import argparse
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-runner"
SECONDS = 60  # of a process that compiles and runs, on a machine with other work; it takes 0.3 s on one without
TARGETS = [[], ["--cpu=x86-64-v3"], ["--cpu=x86-64"], ["--target=gpu-sim"]]


def reduction(op, shape, axis, element, order, dynamic=False):
    """The program, and its inputs as options."""
    sizes = ["?" if dynamic else str(size) for size in shape]
    operand = f"tensor<{'x'.join(sizes)}x{element}>"
    result = f"tensor<{''.join(size + 'x' for size in sizes[:axis] + sizes[axis + 1:])}{element}>"
    text = (f'func.func @main(%x: {operand} {{ad.name = "x"}}) -> ({result} {{ad.name = "y"}}) {{\n'
            f"  %y = ad.{op} %x axes [{axis}] {{order = {order}}} : {operand} -> {result}\n  return %y : {result}\n}}\n")
    return text, ["--arg=x=normal:1", *(f"--dim=x.{i}={size}" for i, size in enumerate(shape) if dynamic)]


def product(size, element, order):
    operand = f"tensor<{size}x{element}>"
    return (f'func.func @main(%x: {operand} {{ad.name = "x"}}, %w: {operand} {{ad.name = "w"}}) -> (tensor<{element}> '
            f'{{ad.name = "y"}}) {{\n  %y = ad.dot %x, %w batch [] x [] contract [0] x [0] {{order = {order}}} : ({operand}, '
            f"{operand}) -> tensor<{element}>\n  return %y : tensor<{element}>\n}}\n"), ["--arg=x=normal:1", "--arg=w=normal:2"]


def share(rows, columns, order):
    """Each row divided by its sum, which is read twice."""
    wide, narrow = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x1xf32>"
    return (f'func.func @main(%x: {wide} {{ad.name = "x"}}) -> ({wide} {{ad.name = "y"}}) {{\n  %e = ad.exp %x : {wide}\n'
            f"  %s = ad.reduce_sum %e axes [1] keep_dims {{order = {order}}} : {wide} -> {narrow}\n"
            f"  %y = ad.div %e, %s : {wide}, {narrow}\n  return %y : {wide}\n}}\n"), ["--arg=x=normal:1"]


def random_program(generator):
    lanes = int(2 ** generator.integers(9, 13))
    order = f"#ad.order<lanes = {lanes}, chunk = {lanes * int(generator.integers(1, 4))}>"
    # Fewer elements than lanes, a last chunk that is not whole, several chunks.
    length = int(generator.choice([generator.integers(1, lanes), lanes, generator.integers(lanes, 9000)]))
    form = generator.choice(["columns", "rows", "dot", "share"])
    element = str(generator.choice(["f32", "f32", "bf16", "f64"]))
    if form == "dot":
        return product(length, element, order)
    if form == "share":
        return share(int(generator.integers(1, 9)), length, order)
    op = str(generator.choice(["reduce_sum", "reduce_sum", "reduce_max", "reduce_mean"]))
    other = int(generator.integers(1, 20))
    shape, axis = ((length, other), 0) if form == "columns" else ((other, length), 1)
    return reduction(op, shape, axis, element, order, dynamic=bool(generator.integers(2)))


def results_of(folder, arguments, options):
    out = folder / "out"
    done = subprocess.run([RUNNER, folder / "program.mlir", *arguments, *options, "--cache=off", f"--out-dir={out}"],
                          capture_output=True, text=True, timeout=SECONDS)
    if done.returncode:
        raise RuntimeError(f"{options}: {done.stderr}")
    return (out / "y.npy").read_bytes()


def check_program(make, targets=TARGETS):
    def check(folder):
        text, arguments = make()
        (folder / "program.mlir").write_text(text)
        expected = results_of(folder, arguments, ["--target=reference"])
        for options in targets:
            try:
                if results_of(folder, arguments, options) != expected:
                    yield f"{options}: other bits than the reference\n{text}"
            except subprocess.TimeoutExpired:
                yield f"{options}: more than {SECONDS} s\n{text}"
    return check


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=12)
    options = parser.parse_args()
    most = "#ad.order<lanes = 4096, chunk = 8192>"
    cases = [("columns", lambda: reduction("reduce_sum", (9000, 64), 0, "f32", most)),
             ("columns of bf16", lambda: reduction("reduce_sum", (9000, 8), 0, "bf16", most)),
             ("largest of columns", lambda: reduction("reduce_max", (9000, 8), 0, "f32", most)),
             ("dynamic columns", lambda: reduction("reduce_sum", (9000, 5), 0, "f32", most, dynamic=True)),
             ("product", lambda: product(9000, "f32", most)), ("rows read twice", lambda: share(4, 9000, most))]
    cases = checks.sample(cases, 2)
    for seed in checks.sample(range(options.seed, options.seed + options.count), 3):
        cases.append((f"seed {seed}", lambda seed=seed: random_program(np.random.default_rng(seed))))
    return checks.run_checks("wide_lanes", [(name, check_program(make)) for name, make in cases])


if __name__ == "__main__":
    sys.exit(main())
