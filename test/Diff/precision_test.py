# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The sets that ad-diff precision finds in random programs: the program that it writes keeps the bound, and does not if
any operation of the set is left out. Here the programs run by ad-runner and are compared by NumPy, which also computes
the exact results of --against f64."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
TENSOR = "tensor<6x6xf32>"
RULE = " {ad.precision = #ad.precision<never>}"


def make_program(generator, count):
    """Products, whose operands a policy rounds, and elementwise operations between them."""
    lines = [f'func.func @main(%0: {TENSOR} {{ad.name = "x"}}, %1: {TENSOR} {{ad.name = "y"}})',
             f'    -> ({TENSOR} {{ad.name = "z"}}) {{']
    for number in range(2, count + 2):
        a, b = (int(generator.integers(max(0, number - 4), number)) for _ in range(2))
        name = str(generator.choice(["dot", "dot", "add", "mul", "tanh"]))
        lines.append(f"  %{number} = ad.{name} " + {
            "dot": f"%{a}, %{b} : ({TENSOR}, {TENSOR}) -> {TENSOR}",
            "tanh": f"%{a} : {TENSOR}",
        }.get(name, f"%{a}, %{b} : {TENSOR}"))
    return "\n".join([*lines, f"  return %{count + 1} : {TENSOR}", "}", ""])


def evaluate(text, inputs):
    """The program in f64."""
    functions = {"dot": np.matmul, "add": np.add, "mul": np.multiply, "tanh": np.tanh}
    values = [array.astype(np.float64) for array in inputs]
    for name, operands in re.findall(r"= ad\.(\w+) ((?:%\d+(?:, )?)+)", text):
        values.append(functions[name](*(values[int(operand[1:])] for operand in operands.split(", "))))
    return values[-1]


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)


def inputs_of(folder):
    return [f"--arg={name}={folder / name}.npy" for name in "xy"]


def result_of(text, folder, *options):
    path = folder / "trial.mlir"
    path.write_text(text)
    done = run(BIN / "ad-runner", path, *inputs_of(folder), "--target=reference", f"--out-dir={folder / 'out'}",
               *options)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out" / "z.npy").astype(np.float64)


def check_program(seed, against):
    def check(folder):
        generator = np.random.default_rng(seed)
        text = make_program(generator, count=8)
        inputs = [generator.normal(size=(6, 6)).astype(np.float32) for _ in "xy"]
        for name, array in zip("xy", inputs):
            np.save(folder / f"{name}.npy", array)
        in_f32 = result_of(text, folder, "--precision=none")
        exact = in_f32 if against == "f32" else evaluate(text, inputs)

        def difference(program, *options):
            return float(np.abs(result_of(program, folder, *options) - exact).max())

        policy = str(generator.choice(["bf16", "f16"]))
        # In f64, the bound is above the error of f32, which no set is below.
        least = float(np.abs(in_f32 - exact).max())
        bound = least + (difference(text, f"--precision={policy}") - least) * float(
            generator.choice([0.9, 0.3, 0.01, 0 if against == "f32" else 0.1]))
        path, output = folder / "program.mlir", folder / "kept.mlir"
        path.write_text(text)
        done = run(BIN / "ad-diff", "precision", path, *inputs_of(folder), f"--policy={policy}",
                   f"--bound=abs={bound!r}", f"--against={against}", f"--output={output}", "--json=-")
        assert done.returncode == 0, done.stderr + done.stdout
        report, kept = json.loads(done.stdout), output.read_text()
        if kept.count(RULE) != len(report["kept"]):
            yield f"{kept.count(RULE)} operations have a rule, {len(report['kept'])} were found\n{kept}"
        if not difference(kept) <= bound:
            yield f"the bound {bound} does not hold: {difference(kept)}\n{kept}"
        for found in re.finditer(re.escape(RULE), kept):
            if difference(kept[:found.start()] + kept[found.end():]) <= bound:
                yield f"a rule can be left out for the bound {bound}\n{kept}"
    return check


def check_f32_is_not_enough(folder):
    """A bound below the error of f32 itself: no operations keep it, and the text says so."""
    generator = np.random.default_rng(100)
    text = make_program(generator, count=8)
    inputs = [generator.normal(size=(6, 6)).astype(np.float32) for _ in "xy"]
    for name, array in zip("xy", inputs):
        np.save(folder / f"{name}.npy", array)
    (folder / "program.mlir").write_text(text)
    error = float(np.abs(result_of(text, folder, "--precision=none") - evaluate(text, inputs)).max())
    words = [BIN / "ad-diff", "precision", folder / "program.mlir", *inputs_of(folder), "--policy=bf16"]
    done = run(*words, f"--bound=abs={error * 0.9!r}", "--against=f64")
    if done.returncode != 1 or "does not hold even with all" not in done.stdout or "against f64" not in done.stdout:
        yield f"{done.returncode}: {done.stdout}{done.stderr}"
    done = run(*words, f"--bound=abs={error * 0.9!r}")
    if done.returncode != 0:
        yield f"against f32: {done.stdout}{done.stderr}"


def main():
    cases = [(f"seed {seed}, {against}", check_program(seed, against))
             for against, count in (("f32", 12), ("f64", 8)) for seed in range(count)]
    return checks.run_checks("precision", [*cases, ("f32 is not enough", check_f32_is_not_enough)])


if __name__ == "__main__":
    sys.exit(main())
