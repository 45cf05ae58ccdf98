#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs of test/Integration leave Adjoint by --ad-to-plain-linalg: mlir-opt and mlir-runner of upstream, which know
nothing of ad, give the bits of the reference interpreter in `reproducible`. Run-time errors are assertions. Closes with `plain linalg: N run, N
failed`."""

import functools
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import numpy as np  # noqa: E402
import plain  # noqa: E402
import runner  # noqa: E402
import targets_test  # noqa: E402


def tensors(folder, entries):
    """[(element type, array)] of the inputs or outputs of a trace."""
    return [(element, elements.load(folder / entry["file"], element)) for entry in entries
            for element in [plain.TENSOR.fullmatch(entry["type"])[2]]]


def check(path, options, folder):
    trace = folder / "trace"
    subprocess.run([runner.binary("ad-runner"), path, *options, "--target=reference", "--numerics=reproducible",
                    "--cache=off", f"--trace={trace}"], check=True, capture_output=True, text=True)
    run = json.loads((trace / "run.json").read_text())
    try:
        count = plain.differences(plain.convert(path), run["options"]["entry"], tensors(trace, run["inputs"]),
                                  tensors(trace, run["outputs"]))
    except plain.Failure as failure:
        return str(failure)
    return f"{count} elements differ from those of the reference interpreter" if count else None


# Programs that end with an error on all targets: an assertion that names the place, the operation and the reason.
DYNAMIC = """func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %y: tensor<?xf32> {ad.name = "y"}) -> (tensor<?xf32> {ad.name = "z"}) {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  BODY
  return %z : tensor<?xf32>
}
"""
ERRORS = {
    "%z = ad.add %x, %y : tensor<?xf32>": "'ad.add' op sizes of a dimension do not broadcast",
    "%z = ad.exp %x : tensor<?xf32>\n  check.expect_eq(%x, %y) : tensor<?xf32>":
        "'check.expect_eq' op failed: the shapes differ",
    "%z = ad.exp %x : tensor<?xf32>\n  check.expect_almost_eq(%z, %x) : tensor<?xf32>":
        "'check.expect_almost_eq' op failed: elements differ by more than the tolerance",
    "%c = tensor.cast %x : tensor<?xf32> to tensor<2xf32>\n  %e = ad.exp %c : tensor<2xf32>\n"
    "  %z = tensor.cast %e : tensor<2xf32> to tensor<?xf32>": "'tensor.cast' op sizes of a dimension differ",
    "%n = tensor.dim %x, %zero : tensor<?xf32>\n  %m = arith.subi %n, %n : index\n"
    "  %z = scf.for %i = %zero to %n step %m iter_args(%a = %x) -> tensor<?xf32> {\n"
    "    %b = ad.exp %a : tensor<?xf32>\n    scf.yield %b : tensor<?xf32>\n  }":
        "'scf.for' op requires a positive step",
    "%z = scf.for %i = %zero to %one step %one iter_args(%a = %x) -> tensor<?xf32> {\n"
    "    scf.yield %y : tensor<?xf32>\n  }": "'scf.for' op a loop changes the size of a carried tensor",
    "%n = tensor.dim %x, %zero : tensor<?xf32>\n  %z = ad.reshape %x(%one) : tensor<?xf32> -> tensor<?xf32>":
        "'ad.reshape' op the number of elements changes",
}


def check_error(body, message, folder):
    path = folder / "program.mlir"
    path.write_text(DYNAMIC.replace("BODY", body))
    arrays = {"x": np.arange(3, dtype=np.float32), "y": np.arange(5, dtype=np.float32)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    done = subprocess.run([runner.binary("ad-runner"), path, "--target=reference", f"--arg=x={folder}/x.npy",
                           f"--arg=y={folder}/y.npy"], capture_output=True, text=True)
    if done.returncode not in (1, 3):
        return f"the reference interpreter ends with {done.returncode}: {done.stderr}"
    try:
        plain.differences(plain.convert(path), "main", [("f32", array) for array in arrays.values()],
                          [("f32", arrays["x"])])
    except plain.Failure as failure:
        text = str(failure)
        return None if re.search(rf"program\.mlir:\d+:\d+: {re.escape(message)}", text) else text
    return f"expected {message!r}, but the program ends"


def main():
    errors = [(message, functools.partial(check_error, body, message)) for body, message in ERRORS.items()]
    cases = [(path, options) for path, options in targets_test.programs()
             if not any(option.startswith("--feed") for option in options) and "ad.feed" not in path.read_text()]
    assert len({path for path, _ in cases}) >= targets_test.MIN_PROGRAMS, "the programs of test/Integration are not found"
    return checks.run_checks("plain linalg", errors + [(f"{path.name} {' '.join(options)}",
                                                        functools.partial(check, path, options))
                                                       for path, options in checks.sample(cases, 6)])


if __name__ == "__main__":
    sys.exit(main())
