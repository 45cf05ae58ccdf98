# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No kernel of the training programs of examples/training only casts, says the report: the digits transformer and the
Llama in each precision, for CPUs with and without dot-product instructions of bf16 and for GPUs. `-O0` has such
kernels. One kernel checks all gradients of a scaled loss."""

import importlib.util
import json
import pathlib
import shutil
import subprocess

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples/training"
STEPS = 5
TARGETS = {"bf16 instructions": ["--cpu", "znver4"], "reproducible": ["--cpu", "znver4", "--numerics", "reproducible"],
           "AVX-512": ["--cpu", "x86-64-v4"], "gpu": ["--target", "gpu-sim"]}
DIGITS = ("f32", "bf16", "f16", "bf16-stochastic", "f8")
LLAMAS = ("none", "bf16", "f16")
CASES = [(name, target) for name in (*(f"digits {one}" for one in DIGITS), *(f"llama {one}" for one in LLAMAS))
         for target in TARGETS]

pytestmark = [
    pytest.mark.skipif(not EXAMPLES.exists(), reason="the package is tested without the tree"),
    pytest.mark.skipif(not shutil.which("ad-runner"), reason="ad-runner is not on the path"),
]


@pytest.fixture(scope="module")
def example():
    def load(name):
        # Its own module is called like one of examples/models.
        spec = importlib.util.spec_from_file_location(f"training_{name}", EXAMPLES / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    loaded = {}
    return lambda name: loaded.get(name) or loaded.setdefault(name, load(name))


def program(example, name):
    """The text and the policy."""
    kind, precision = name.split()
    if kind == "llama":
        llama = example("llama")
        return llama.models.program(llama.configure(STEPS)), precision
    digits = example("digits")
    assert set(digits.PRECISIONS) == set(DIGITS)
    policy, _, scaling = digits.PRECISIONS[precision]
    parameters, _ = digits.prepare.make_inputs("transformer", 0)
    return digits.training_program(parameters, STEPS, precision, scaling), policy


def cast_kernels(text, policy, folder, *options):
    (folder / "program.mlir").write_text(text)
    command = ["ad-runner", folder / "program.mlir", "--precision", policy, "--emit", folder / "program.adx",
               "--report", folder / "report.json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "report.json").read_text())["cast_kernels"]


@pytest.mark.long
@pytest.mark.parametrize("name, target", CASES)
def test_no_kernel_only_casts(name, target, example, tmp_path):
    assert cast_kernels(*program(example, name), tmp_path, *TARGETS[target]) == []


def test_as_written_there_are_such_kernels(example, tmp_path):
    """Else the test above shows nothing."""
    assert cast_kernels(*program(example, "digits bf16"), tmp_path, "-O0")


@pytest.mark.parametrize("target", ["cpu", "gpu"])
def test_one_kernel_checks_all_gradients(target, example, tmp_path):
    """The largest magnitudes are in one fusion with what follows from them."""
    text, policy = program(example, "digits f16")
    (tmp_path / "program.mlir").write_text(text)
    command = ["ad-opt", tmp_path / "program.mlir", f"--ad-to-cpu-frontend=precision={policy}", f"--ad-to-{target}-fusion"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    checks = [body for body in done.stdout.split(" ad.fusion ")[1:] if "ad.abs" in body and "ad.reduce_max" in body]
    assert len(checks) == 1 and checks[0].count("ad.reduce_max") == 10 and "ad.is_finite" in checks[0]
