# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The sets that ad-diff precision finds in random programs: the program that it writes keeps the bound, and does not if
any operation of the set is left out. Here the programs run by ad-runner and are compared by NumPy."""

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
INPUTS = ["--arg=x=normal:1", "--arg=y=normal:2"]
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


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)


def result_of(text, folder, *options):
    path = folder / "trial.mlir"
    path.write_text(text)
    done = run(BIN / "ad-runner", path, *INPUTS, "--target=reference", f"--out-dir={folder / 'out'}", *options)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "out" / "z.npy").astype(np.float64)


def check_program(seed):
    def check(folder):
        generator = np.random.default_rng(seed)
        text = make_program(generator, count=8)
        exact = result_of(text, folder, "--precision=none")

        def difference(program, *options):
            return float(np.abs(result_of(program, folder, *options) - exact).max())

        policy = str(generator.choice(["bf16", "f16"]))
        bound = difference(text, f"--precision={policy}") * float(generator.choice([0.9, 0.3, 0.01, 0]))
        path, output = folder / "program.mlir", folder / "kept.mlir"
        path.write_text(text)
        done = run(BIN / "ad-diff", "precision", path, *INPUTS, f"--policy={policy}", f"--bound=abs={bound!r}",
                   f"--output={output}", "--json=-")
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


def main():
    return checks.run_checks("precision", [(f"seed {seed}", check_program(seed)) for seed in range(12)])


if __name__ == "__main__":
    sys.exit(main())
