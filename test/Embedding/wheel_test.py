#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The wheel of the Python package runs without LLVM: where the folder of LLVM is empty, from a folder of its own. A sample
of commits builds it."""

import glob
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

LLVM = "/usr/lib/llvm-22"

PROGRAM = """
import adjoint, numpy as np
x = np.random.default_rng(0).normal(size=(100, 3)).astype(np.float32)
y = x @ np.array([1, -2, 3], np.float32)
w = np.zeros(3, np.float32)
step = adjoint.jit(lambda w, x, y: w - 0.1 * adjoint.grad(lambda w: ((x @ w - y) ** 2).mean())(w), cache="off")
for _ in range(100):
    w = step(w, x, y)
print(w.round(3), adjoint.jit(lambda x: (x * 0 + 1).sum(), target="gpu-sim", cache="off")(x))
libraries = {line.split()[-1] for line in open("/proc/self/maps") if "LLVM" in line or "MLIR" in line}
print(all("adjoint_mlir.libs" in library for library in libraries), len(libraries))
adjoint.jit(lambda w, x: x @ w).trace(w, x).save("predict.adx", bound={"w": w})
adjoint.jit(lambda w, x: x @ w).trace(w, x).save("open.mlir")
np.save("x.npy", x)
loaded = adjoint.load("predict.adx")(x)  # NumPy may add in another order
print(np.array_equal(loaded, adjoint.jit(lambda w, x: x @ w, cache="off")(w, x)), np.allclose(loaded, x @ w, 1e-5, 1e-6))
"""
# Each tool of the wheel, as a command.
TOOLS = {
    "adrt-run": ["predict.adx", "--arg=x=x.npy", "--print"],
    "ad-runner": ["predict.adx", "--arg=x=x.npy", "--print"],
    "ad-opt": ["--list-passes"],
    "ad-diff": ["tensors", "x.npy", "x.npy"],
    "ad-gpu-emulate": ["--help"],
    "ad-lsp-server": ["--help"],
}


def runs_alone(folder):
    subprocess.run([ROOT / "scripts/build_wheel.sh"], check=True, capture_output=True, text=True)
    (wheel,) = glob.glob(str(ROOT / "dist/adjoint_mlir-*.whl"))
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps",
                    "--target", folder / "site", wheel], check=True, capture_output=True, text=True)
    (folder / "empty").mkdir()
    hide = ["unshare", "-rm", "bash", "-c", f'mount --bind {folder / "empty"} {LLVM} && exec "$@"', "bash"]
    # Where namespaces are forbidden, the paths of the libraries are what is tested.
    may_hide = os.path.isdir(LLVM) and subprocess.run([*hide, "true"], capture_output=True).returncode == 0
    environment = {**os.environ, "PYTHONPATH": str(folder / "site"), "PATH": "/usr/bin:/bin"}

    def run(*command):
        return subprocess.run([*(hide if may_hide else []), *command], capture_output=True, text=True, cwd=folder,
                              env=environment)

    done = run(sys.executable, "-c", PROGRAM)
    if done.stdout.splitlines() != ["[ 1. -2.  3.] 300.0", "True 2", "True True"]:
        yield f"got {done.stdout}{done.stderr}"
    for tool, words in TOOLS.items():
        done = run(folder / "site/bin" / tool, *words)
        if done.returncode or not done.stdout:
            yield f"{tool} {' '.join(words)}: exit code {done.returncode}, {done.stdout}{done.stderr}"
    # Its linker is beside the tools of the wheel.
    done = run(folder / "site/bin/ad-runner", "open.mlir", "--emit", "open.adx")
    if done.returncode or not (folder / "open.adx").exists():
        yield f"ad-runner --emit: exit code {done.returncode}, {done.stderr}"


def refuses_arguments(_folder):
    done = subprocess.run([ROOT / "scripts/build_wheel.sh", "--other"], capture_output=True, text=True)
    if done.returncode == 0 or "unknown argument '--other'" not in done.stderr:
        yield f"got {done.returncode} and {done.stderr}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("wheel", [("arguments", refuses_arguments),
                                         *checks.sample([("alone", runs_alone)], 3)]))
