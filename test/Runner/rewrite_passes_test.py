# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""--list-rewrites names the pass that applies each rewrite. Traces of random programs with and without a rewrite are
equal before that pass, and differ after it."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
TENSOR = "tensor<8x8xf32>"
FORMS = [f"ad.dot %A, %B : ({TENSOR}, {TENSOR}) -> {TENSOR}", f"ad.tanh %A : {TENSOR}", f"ad.gelu %A : {TENSOR}",
         f"ad.log_softmax %A axis 1 : {TENSOR}", f"ad.mul %A, %B : {TENSOR}", f"ad.neg %A : {TENSOR}",
         f"ad.sub %A, %B : {TENSOR}", f"ad.transpose %A [1, 0] : {TENSOR}"]
INVOLUTIONS = ["ad.neg", "ad.transpose"]
OPTIONS = ["", "--numerics fast", "--precision bf16", "--precision f16", "--target gpu-sim", "--kernel dot=pairwise",
           "--target gpu-sim --numerics fast", "--numerics fast --precision bf16"]
SAMPLES = 3  # rewrites of a program
HEADER = "rewrite\tpermission\toperation\tlocation\tpass"


def random_program(generator):
    names, lines = ["x", "w"], []
    for number in range(int(generator.integers(3, 8))):
        form = str(generator.choice(FORMS)) if number else FORMS[0]
        # Two of one name would cancel, as two of an involution may: then folding gives what the rewrite left out gives.
        a, b = (str(name) for name in generator.choice(names[-3:], 2, replace=False))
        if any(form.startswith(name) and name in line for name in INVOLUTIONS for line in lines):
            form = f"ad.tanh %A : {TENSOR}"
        lines.append(f"  %v{number} = " + form.replace("%A", f"%{a}").replace("%B", f"%{b}"))
        names.append(f"v{number}")
    return (f'func.func @main(%x: {TENSOR} {{ad.name = "x"}}, %w: {TENSOR} {{ad.name = "w"}})'
            f' -> ({TENSOR} {{ad.name = "y"}}) {{\n' + "\n".join(lines) + f"\n  return %{names[-1]} : {TENSOR}\n}}\n")


def trace(folder, name, options, left_out=None):
    """Each stage as (pass, text), and the list of rewrites; None if the program does not compile."""
    words = [BIN / "ad-runner", folder / "program.mlir", "--arg=x=normal:1", "--arg=w=normal:2", *options.split(),
             f"--list-rewrites={folder / name}.tsv", f"--trace={folder / name}"]
    if left_out:
        (folder / "except.tsv").write_text(f"{HEADER}\n{left_out}\n")
        words.append(f"--rewrites-except={folder / 'except.tsv'}")
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=not left_out)
    if done.returncode:
        return None
    stages = json.loads((folder / name / "run.json").read_text())["stages"]
    return ([(stage["after"], (folder / name / stage["file"]).read_text()) for stage in stages],
            (folder / f"{name}.tsv").read_text().splitlines())


def check(seed, folder):
    generator = np.random.default_rng(seed)
    options = str(generator.choice(OPTIONS))
    (folder / "program.mlir").write_text(random_program(generator))
    stages, (header, *rewrites) = trace(folder, "all", options)
    if header != HEADER:
        yield f"expected the columns {HEADER!r}, got {header!r}"
    for number, row in enumerate(generator.permutation(rewrites)[:SAMPLES]):
        traced = trace(folder, f"without{number}", options, row)
        if traced is None:
            continue  # the program needs the rewrite
        others = traced[0] + [("", "")]
        first = next((one[0] for one, other in zip(stages, others) if one != other), "")
        if row.split("\t")[4] != first:
            yield f"with {options!r} the programs first differ after {first!r}, but the list has {row!r}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("rewrite_passes", check, 6))
