#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No kernel of the training programs of examples/training only casts, says the report: the digits transformer and the
Llama in each precision, for CPUs with and without dot-product instructions of bf16 and for GPUs. `-O0` has such
kernels. Closes with `cast kernels: N run, N failed`."""

import functools
import importlib.util
import json
import pathlib
import subprocess
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "examples/training")]
sys.dont_write_bytecode = True
# adjoint.text writes programs without the extension module of the package.
sys.modules["adjoint"] = types.ModuleType("adjoint")
sys.modules["adjoint"].__path__ = [str(ROOT / "python_bindings/adjoint")]

import checks  # noqa: E402
import digits  # noqa: E402
import runner  # noqa: E402

STEPS = 5
TARGETS = {"bf16 instructions": ["--cpu", "znver4"], "reproducible": ["--cpu", "znver4", "--numerics", "reproducible"],
           "AVX-512": ["--cpu", "x86-64-v4"], "gpu": ["--target", "gpu-sim"]}


def example(name):
    # Its own module is called like one of examples/models.
    spec = importlib.util.spec_from_file_location(f"training_{name}", ROOT / "examples/training" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs():
    """(label, policy, text)"""
    parameters, _ = digits.prepare.make_inputs("transformer", 0)
    for precision, (policy, _, scaling) in digits.PRECISIONS.items():
        yield f"digits {precision}", policy, digits.training_program(parameters, STEPS, precision, scaling)
    llama = example("llama")
    for policy in ("none", "bf16", "f16"):
        yield f"llama {policy}", policy, llama.models.program(llama.configure(STEPS))


def report_of(text, policy, folder, *options):
    (folder / "program.mlir").write_text(text)
    command = [runner.binary("ad-runner"), folder / "program.mlir", "--precision", policy, "--emit",
               folder / "program.adx", "--report", folder / "report.json", *options]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads((folder / "report.json").read_text())


def check(text, policy, options, folder):
    found = report_of(text, policy, folder, *options)["cast_kernels"]
    return f"kernels that only cast: {found}" if found else None


def check_written(folder):
    """As it is written, the program has them."""
    text = next(text for label, _, text in programs() if label == "digits bf16")
    if not report_of(text, "bf16", folder, "-O0")["cast_kernels"]:
        return "-O0 has no kernel that only casts, so that the test shows nothing"
    return None


if __name__ == "__main__":
    cases = [(f"{label}, {target}", functools.partial(check, text, policy, options))
             for label, policy, text in programs() for target, options in TARGETS.items()]
    sys.exit(checks.run_checks("cast kernels", [*cases, ("as written", check_written)]))
