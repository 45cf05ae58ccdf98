# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels over rows: softmax, norms and their derivatives, with rows shorter and longer than vectors, lanes and the
chunks of a sum, and values kept from one pass over a row to the next. The CPU gives the bits of the reference
interpreter."""

import functools
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
SHAPES = [(3, 1), (3, 15), (5, 17), (3, 64), (3, 65), (2, 1000), (2, 4097), (2, 9000), (7, 129)]
# Values of a row of dynamic length are kept up to 4095 elements.
LENGTHS = [1, 17, 64, 129, 1000, 4032, 4094, 4095, 4096, 4097, 9000]
ELEMENTS = ("f32", "f64", "bf16", "f16")
CASES = [(element, *shape) for element in ELEMENTS for shape in SHAPES]
ARGUMENTS, RESULTS = "xwbg", 5


def program(element, rows, columns):
    t, v, s = f"tensor<{rows}x{columns}x{element}>", f"tensor<{columns}x{element}>", f"tensor<{element}>"
    arguments = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, kind in zip(ARGUMENTS, (t, v, v, t)))
    return f"""func.func private @loss(%x: {t}, %w: {v}, %b: {v}, %g: {t}) -> {s} {{
  %y = ad.softmax %x axis 1 : {t}
  %z = ad.layer_norm %y, %w, %b epsilon 1.0e-5 : {t}, {v}
  %u = ad.log_softmax %z axis 1 : {t}
  %m = ad.mul %u, %g : {t}
  %e = ad.tanh %m : {t}
  %l = ad.reduce_sum %e axes [0, 1] : {t} -> {s}
  return %l : {s}
}}
func.func @main({arguments}) -> ({s}, {t}, {v}, {v}, {t}) {{
  %y = ad.softmax %x axis 1 : {t}
  %l, %d:3 = ad.value_and_grad @loss(%x, %w, %b, %g) wrt [0, 1, 2] : ({t}, {v}, {v}, {t}) -> ({s}, {t}, {v}, {v})
  return %l, %d#0, %d#1, %d#2, %y : {s}, {t}, {v}, {v}, {t}
}}
"""


def results(folder, target, columns=None):
    """The bytes of all results on one target; `columns` is the length of rows that the program leaves open."""
    command = [RUNNER, str(folder / "program.mlir"), "--numerics", "reproducible", "--target", target, "--cache",
               str(folder / "cache"), "--out-dir", str(folder / target)]
    for seed, name in enumerate(ARGUMENTS):
        command += ["--arg", f"{name}=normal:{seed}"]
        command += ["--dim", f"{name}.{int(name in 'xg')}={columns}"] if columns else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{target}: exit {done.returncode}: {done.stderr.strip()}")
    return [(folder / target / f"res{i}.npy").read_bytes() for i in range(RESULTS)]


def differing(folder, columns=None):
    pairs = zip(results(folder, "reference", columns), results(folder, "cpu", columns))
    return [i for i, (a, b) in enumerate(pairs) if a != b]


def wrong(case, folder):
    (folder / "program.mlir").write_text(program(*case))
    found = differing(folder)
    return f"results {found} differ from the reference" if found else None


def wrong_of_open_length(element, folder):
    """One program for rows of any length, which is compiled once: that takes seconds."""
    (folder / "program.mlir").write_text(program(element, 2, "?"))
    for length in LENGTHS:
        if found := differing(folder, length):
            yield f"{length} elements: results {found} differ from the reference"


def main():
    cases = [(case, functools.partial(wrong, case)) for case in checks.sample(CASES, 5)]
    cases += [(f"{element}, open length", functools.partial(wrong_of_open_length, element))
              for element in checks.sample(ELEMENTS, 2)]
    return checks.run_checks("rows", cases)


if __name__ == "__main__":
    sys.exit(main())
