# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No subcommand of ad-diff approves a result that is replaced by zeros, or half wrong, whatever its magnitude. Norms
are those of NumPy, and a warning says where `rel` says nothing. The programs have gradients that underflow in f16."""

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
BLIND = re.compile(r"warning: rel says nothing about .*: it adds 0\.001 to the magnitude of each expected element")
# Cotangents of the product round to zero in f16 (less than 2^-25), or to the smallest f16 (2^-24), about half wrong.
ZEROS, HALF = 1e-9, 4e-8
W, X, Y, S = "tensor<8x4xf32>", "tensor<16x8xf32>", "tensor<16x4xf32>", "tensor<f32>"


def gradient(size):
    """The gradient of SIZE times the sum of all elements of x w, and the loss, which is large."""
    return f"""\
func.func private @loss(%w: {W}, %x: {X}) -> {S} {{
  %y = ad.dot %x, %w : ({X}, {W}) -> {Y}
  %sum = ad.reduce_sum %y axes [0, 1] : {Y} -> {S}
  %size = ad.constant dense<{size:e}> : {S}
  %small = ad.mul %sum, %size : {S}
  %one = ad.constant dense<1.0> : {S}
  %loss = ad.add %small, %one : {S}
  return %loss : {S}
}}
func.func @main(%w: {W} {{ad.name = "w"}}, %x: {X} {{ad.name = "x"}})
    -> ({S} {{ad.name = "loss"}}, {W} {{ad.name = "dw"}}) {{
  %loss, %dw = ad.value_and_grad @loss(%w, %x) wrt [0] : ({W}, {X}) -> ({S}, {W})
  return %loss, %dw : {S}, {W}
}}
"""


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)


def diff(*words):
    return run(BIN / "ad-diff", *words)


def write(folder, size):
    program = folder / "program.mlir"
    program.write_text(gradient(size))
    return program, ["--arg=w=normal:1", "--arg=x=uniform:2"]


def check_arrays(folder):
    """tensors and matrix: of every magnitude, alone, and beside a large tensor that is right."""
    generator = np.random.default_rng(1)
    for name in "ab":
        (folder / name).mkdir()
    large = generator.standard_normal(1000) * 1e6
    for side in "ab":
        np.save(folder / side / "large.npy", large)
    for size in (1e-300, 1e-30, 1e-9, 1e-4, 1.0, 1e30, 1e300):
        expected = generator.standard_normal((30, 5)) * size
        np.save(folder / "a/small.npy", expected)
        for wrong, factor in {"zeros": 0, "halved": 0.5, "half zeros": np.arange(5) < 3, "negated": -1}.items():
            np.save(folder / "b/small.npy", expected * factor)
            for measure in ("l2", "max"):
                for bound in (f"{measure}=0.4", *(["0.4"] if measure == "l2" else [])):
                    done = diff("tensors", folder / "a", folder / "b", "--bound", bound)
                    if done.returncode != 1 or f"bound {measure}=0.4 does not hold for small\n" not in done.stdout:
                        yield f"tensors approves {wrong} of {size} by {bound}: {done.stdout}{done.stderr}"
                    if bool(BLIND.search(done.stderr)) != (np.abs(expected).max() < 1e-3):
                        yield f"tensors of {size}: {done.stderr}"
                    done = diff("matrix", folder / "a/small.npy", folder / "b/small.npy", "--bound", bound)
                    if done.returncode != 1:
                        yield f"matrix approves {wrong} of {size} by {bound}: {done.stdout}{done.stderr}"
    done = diff("tensors", folder / "a", folder / "a", "--bound=l2=0,max=0")
    if done.returncode or done.stderr:
        yield f"equal tensors: {done.stdout}{done.stderr}"


def check_matrix(folder):
    """The measures of a matrix, by NumPy; rows are the expected tensors."""
    generator = np.random.default_rng(2)
    arrays = [generator.standard_normal(40) * size for size in (1, 2, 1e-5)]
    files = [folder / f"{number}.npy" for number in range(3)]
    for file, array in zip(files, arrays):
        np.save(file, array)
    norms = {"l2": np.linalg.norm, "max": lambda x: np.abs(x).max()}
    wanted = {name: [[norm(b - a) / norm(a) for b in arrays] for a in arrays] for name, norm in norms.items()}
    wanted["abs"] = [[np.abs(b - a).max() for b in arrays] for a in arrays]
    wanted["rel"] = [[(np.abs(b - a) / (np.abs(a) + 1e-3)).max() for b in arrays] for a in arrays]
    for measure, values in wanted.items():
        done = diff("matrix", *files, "--measure", measure, "--json", folder / "matrix.json")
        found = json.loads((folder / "matrix.json").read_text())
        if found["measure"] != measure or not np.allclose(found["values"], values, rtol=1e-12, atol=0):
            yield f"{measure} is {found['values']}, expected {values}"
        if f"max={np.max(values)}"[:12] not in done.stdout or not np.isclose(found["max"], np.max(values), rtol=1e-12):
            yield f"the largest {measure} is not {np.max(values)}: {done.stdout}"
        if bool(BLIND.search(done.stderr)) != (measure == "rel"):
            yield f"{measure}: {done.stderr}"


def refuses(command, folder, words, size, tells="dw"):
    """What is wrong unless the bound of l2 fails, and that of rel holds with a warning."""
    done = diff(command, *words, "--bound", "0.1", "--json", folder / "report.json")
    if done.returncode != 1 or tells not in done.stdout or json.loads((folder / "report.json").read_text())["holds"]:
        yield f"{command} approves {size}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    done = diff(command, *words, "--bound", "rel=0.1")
    if done.returncode or not BLIND.search(done.stderr):
        yield f"{command} with rel={size}: exit code {done.returncode}: {done.stdout}{done.stderr}"


def wrong_norms(dw, size):
    for name in ("l2", "max"):
        if not (dw[name] == 1 if size == ZEROS else 0.4 < dw[name] < 0.6):
            yield f"{name} of {size} is {dw[name]}"


def check_sides(folder):
    """bisect and reduce compare f32 with f16, and the difference of the program has a finite amplification."""
    for size in (ZEROS, HALF):
        program, inputs = write(folder, size)
        sides = [program, *inputs, "--b=--precision f16"]
        for command in ("bisect", "reduce"):
            yield from refuses(command, folder, sides, size)
            done = diff(command, *sides, "--bound=0.1", "--json", folder / "report.json")
            found = json.loads((folder / "report.json").read_text())
            dw = next(row for row in found["differences"] if row["name"] == "dw")
            yield from wrong_norms(dw, size)
            if [row["name"] for row in found["differences"]] != ["dw"]:
                yield f"{command}: {found['differences']}"
        if not 0.5 < found.get("amplification", 0) < 2:  # that of reduce, which ran last
            yield f"the amplification of {size} is {found.get('amplification')}: {done.stdout}"


def check_precision(folder):
    """f16 is refused for a gradient that underflows; bf16 has the range of f32."""
    for size in (ZEROS, HALF):
        program, inputs = write(folder, size)
        for policy, against, kept in (("f16", "f32", True), ("f16", "f64", True), ("bf16", "f32", False)):
            words = ["precision", program, *inputs, f"--policy={policy}", f"--against={against}"]
            done = diff(*words, "--bound=0.1", f"--json={folder / 'report.json'}")
            found = json.loads((folder / "report.json").read_text())
            if bool(found["kept"]) != kept or not found["holds"]:
                yield f"{policy} against {against} of {size}: {found}"
            dw = next(row for row in found["results"] if row["name"] == "dw")
            if not dw["l2"] <= 0.1:
                yield f"the program that was found has dw {dw}"
            done = diff(*words, "--bound=rel=0.1")
            if kept and ("all operations may follow" not in done.stdout or not BLIND.search(done.stderr)):
                yield f"{policy} against {against} of {size}, rel: {done.stdout}{done.stderr}"


def check_traces(folder):
    for size in (ZEROS, HALF):
        program, inputs = write(folder, size)
        for name, options in {"f32": [], "f16": ["--precision=f16"]}.items():
            trace = folder / f"{name}-{size}"
            done = run(BIN / "ad-runner", program, *inputs, "--cache=off", f"--trace={trace}", "--trace-tensors=all",
                       *options)
            if done.returncode:
                raise RuntimeError(done.stderr)
        yield from refuses("runs", folder, [folder / f"f32-{size}", folder / f"f16-{size}"], size)


def check_stages(folder):
    """The shorter tanh of `fast` differs by about 1e-7, of whatever size the result is."""
    program = folder / "tanh.mlir"
    program.write_text(f"""\
func.func @main(%x: {X} {{ad.name = "x"}}) -> ({X} {{ad.name = "y"}}) {{
  %size = ad.constant dense<1.0e-9> : {S}
  %t = ad.tanh %x : {X}
  %y = ad.mul %t, %size : {X}, {S}
  return %y : {X}
}}
""")
    words = ["stages", program, "--arg=x=normal:1", "--numerics=fast", "--cache=off"]
    for bound, code in (("1e-9", 1), ("max=1e-9", 1), ("l2=1e-6,max=1e-6", 0), ("rel=1e-9", 0)):
        done = diff(*words, "--bound", bound, f"--json={folder / 'report.json'}")
        if done.returncode != code or not BLIND.search(done.stderr):
            yield f"stages of bound {bound}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    last = json.loads((folder / "report.json").read_text())["stages"][-1]["from_written"]
    if not 1e-8 < last["l2"] < 1e-6 or not 1e-8 < last["max"] < 1e-6:
        yield f"the last stage is {last}"


def check_shadow(folder):
    """The gradient in f16 itself, against f64."""
    for size in (ZEROS, HALF):
        program, inputs = write(folder, size)
        words = [program, *inputs, "--precision=f16"]
        done = diff("shadow", *words, "--bound=0.1", f"--json={folder / 'report.json'}")
        found = json.loads((folder / "report.json").read_text())
        dw = next(row["total"] for row in found["results"] if row["name"] == "dw")
        yield from wrong_norms(dw, size)
        if done.returncode != 1 or found["holds"] or "bound l2=0.1 does not hold for dw\n" not in done.stdout:
            yield f"shadow approves {size}: exit code {done.returncode}: {done.stdout}{done.stderr}"
        if (done := diff("shadow", *words, "--bound=2")).returncode:
            yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"


def main():
    return checks.run_checks("measures", [
        ("arrays", check_arrays), ("matrix", check_matrix), ("bisect and reduce", check_sides),
        ("precision", check_precision), ("runs", check_traces), ("stages", check_stages), ("shadow", check_shadow)])


if __name__ == "__main__":
    sys.exit(main())
