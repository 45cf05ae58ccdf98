#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No kernel of the training programs of examples/training only casts, says the report: the digits transformer and the
Llama in each precision, for CPUs with and without dot-product instructions of bf16 and for GPUs. `-O0` has such
kernels. One kernel checks all gradients of a scaled loss. Closes with `cast kernels: N run, N failed`."""

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


def check_gradients(folder):
    """All gradients are checked by one kernel: the largest magnitudes are in one fusion with what follows from them."""
    text = next(text for label, _, text in programs() if label == "digits f16")
    (folder / "program.mlir").write_text(text)
    for target in ("cpu", "gpu"):
        command = [runner.binary("ad-opt"), folder / "program.mlir", "--ad-to-cpu-frontend=precision=f16",
                   f"--ad-to-{target}-fusion"]
        fused = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        checks_of = [body for body in fused.split(" ad.fusion ")[1:] if "ad.abs" in body and "ad.reduce_max" in body]
        gradients = sum(body.count("ad.reduce_max") for body in checks_of)
        if len(checks_of) != 1 or gradients != 10 or "ad.is_finite" not in checks_of[0]:
            yield f"{target}: {len(checks_of)} kernels check {gradients} gradients, expected 1 and 10"


if __name__ == "__main__":
    cases = [(f"{label}, {target}", functools.partial(check, text, policy, options))
             for label, policy, text in programs() for target, options in TARGETS.items()]
    sys.exit(checks.run_checks("cast kernels", [*checks.sample(cases, 2), ("as written", check_written),
                                                  ("check of gradients", check_gradients)]))
