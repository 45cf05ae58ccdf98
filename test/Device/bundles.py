# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the tests of this folder share: small bundles, runs of what is in them, and an adrt-run that hangs or crashes
where it is told to."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "benchmarks"), str(ROOT / "test" / "Support")]
sys.dont_write_bytecode = True
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
GRAPHS = 6  # random ones in a bundle
FAKE_CUDA = BIN.parent / "lib" / "libad-fake-cuda.so"  # a driver that computes nothing


kept = tempfile.TemporaryDirectory()


@functools.cache
def made(only, target):
    """Several tests want the same bundle."""
    folder = pathlib.Path(kept.name) / f"{only}-{target}"
    subprocess.run([sys.executable, HERE / "bundle.py", folder, "--target", target, "--only", only], check=True,
                   capture_output=True, text=True)
    return folder


def make(folder, only, target="gpu-sim"):
    """A copy that the test may change."""
    return pathlib.Path(shutil.copytree(made(only, target), folder))


def add_benchmarks(bundle, target="gpu-sim"):
    subprocess.run([sys.executable, ROOT / "benchmarks" / "gpu.py", "--make", bundle / "benchmark", "--target", target,
                    "--small", "--seed", "1", "--count", str(GRAPHS)], check=True,
                   capture_output=True, text=True)


def environment(**more):
    """Without the project's own programs, as on another machine; with the driver that the test wants."""
    others = {name: value for name, value in os.environ.items() if name not in ("ADJOINT_BIN", "ADJOINT_LIBCUDA")}
    return {**others, "PYTHONDONTWRITEBYTECODE": "1", **{name: str(value) for name, value in more.items()}}


def start(bundle, *options, **more):
    return subprocess.Popen([sys.executable, bundle / "run.py", *map(str, options)], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True,
                            cwd=bundle.parent, **{"env": environment(), **more})


def run(bundle, *options, **more):
    """(exit code, what it said)."""
    process = start(bundle, *options, **more)
    said, _ = process.communicate()
    return process.returncode, said


def disturb(bundle, **cases):
    """Puts a program in the place of adrt-run that does what the shell is told for a case or a benchmark, and else what
    adrt-run does."""
    (bundle / "adrt-run").rename(bundle / "adrt-run-itself")
    choices = "".join(f'  *"/{name} "*|*/{name}.adx) {what} ;;\n' for name, what in cases.items())
    (bundle
     / "adrt-run").write_text(f'#!/bin/bash\ncase "$PWD $1" in\n{choices}esac\nexec "${{0%/*}}/adrt-run-itself" "$@"\n')
    (bundle / "adrt-run").chmod(0o755)


def tool(folder, name, text):
    """A program of that name, for PATH."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/bash\n{text}\n")
    (folder / name).chmod(0o755)
