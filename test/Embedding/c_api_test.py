#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""C programs against the installed package alone, built by a C compiler with what pkg-config and CMake say: training the
digits gives the bits of ad-runner; a gradient over MLIR's C API is right; what is wrong with a call, a program or a file
is an error with its place, and never the end of the process. Closes with `c api: N run, N failed`."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import hostile_modules  # noqa: E402
import numpy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")).resolve()
PREFIX = BIN.parent / "c-prefix"
SOURCES = [ROOT / "examples/c", ROOT / "test/Embedding/c"]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=600,
                          errors="replace", **options)


def must_run(*command, **options):
    done = run(*command, **options)
    if done.returncode:
        raise RuntimeError(f"{command[0]}: exit {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


@functools.lru_cache(None)
def installed():
    shutil.rmtree(PREFIX, ignore_errors=True)
    must_run("cmake", "--install", BIN.parent, "--prefix", PREFIX)
    return PREFIX


@functools.lru_cache(None)
def program(name):
    """A C program by its name, built with the flags of pkg-config."""
    prefix = installed()
    flags = must_run("pkg-config", "--cflags", "--libs", "adjoint",
                     env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}).split()
    source = next(folder / f"{name}.c" for folder in SOURCES if (folder / f"{name}.c").exists())
    binary = prefix / name
    must_run("clang-22", "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", source, *flags, "-pthread", "-o", binary)
    return binary


def digits(folder):
    inputs, ours, theirs = folder / "inputs", folder / "c", folder / "runner"
    must_run(sys.executable, ROOT / "examples/digits/prepare.py", "mlp", inputs)
    ours.mkdir()
    model = ROOT / "examples/digits/mlp.mlir"
    said = must_run(program("train_digits"), model, inputs, ours, "cache=off", "threads=1", "numerics=reproducible")
    must_run(BIN / "ad-runner", model, *(inputs / "arguments").read_text().split(), "--out-dir", theirs,
             "--cache=off", "--threads=1", "--numerics=reproducible")
    names = sorted(file.name for file in theirs.glob("*.npy"))
    if len(names) != 6 or names != sorted(file.name for file in ours.glob("*.npy")):
        yield f"files: {names}"
    for name in names:
        a, b = numpy.load(ours / name), numpy.load(theirs / name)
        if a.shape != b.shape or a.tobytes() != b.tobytes():
            yield f"{name}: other bits"
    if float(said.split()[1]) < 0.94:
        yield f"accuracy: {said}"


def gradient(_):
    """Of the sum of x^3 at (1, 2, 3, -0.5): 3 x^2. Then the code that computes it, without ad.value_and_grad."""
    for target in ("reference", "cpu", "gpu-sim"):
        first, code = must_run(program("gradient"), target).split("\n", 1)
        if first != "value 35.875, gradient 3 12 27 0.75":
            yield f"{target}: {first}"
    if "func.func @gradient" not in code or "value_and_grad" in code:
        yield code


# What the calls of misuse.c give: the reason, and what its text has.
MISUSE = {
    "unknown option": (0, "no option 'speed'"), "threads": (0, "found 'many'"), "target": (0, "unknown target 'moon'"),
    "empty": (0, "is empty"), "parse": (1, "misuse.mlir:1:27: error:"), "entry": (0, "no function @other"),
    "file": (0, "not a compiled program"), "few arguments": (0, "expected 2 arguments, found 1"),
    "no feed": (5, "misuse.mlir:3:12: 'ad.feed' op feed 'batch': it has no source"),
    "refused feed": (5, "the disk is gone"), "sizes": (3, "misuse.mlir:4:8: 'ad.add' op broadcast: dimension 0 has sizes 3 and 2"),
    "type": (0, "argument 'x' has elements of f64, expected f32"), "unknown type": (0, "argument 'x' has elements of unknown, expected f32"),
    "rank": (0, "argument 'x' has rank 0, expected 1"), "no data": (0, "argument 'x' has no data"),
    "negative size": (0, "has a negative size"), "device": (0, "is not in host memory"),
    "outputs": (0, "expected 1 outputs, found 2"), "output": (0, "output 'y' has the shape [3], expected [2]"),
    "right": (-1, "no error"), "interrupted": (6, "interrupted"), "module": (1, "cut.mlir:1:13: error:"),
    "pipeline": (0, "there are no passes 'ad-nothing'"), "no function": (0, "no function 'f'"),
    "nested pipeline": (0, "ad-to-cpu is for builtin.module, and cannot be nested in func.func"),
    "nested device pipeline": (0, "ad-to-gpu is for builtin.module, and cannot be nested in func.func"),
    "open pipeline": (0, "expected ')' at the end of 'builtin.module(ad-to-cpu'"),
    "whole pipeline": (1, "as the numerics mode, but got 'slow'"),
    **{f"null {what}": (0, f"the {text} is a null pointer") for what, text in (
        ("pipeline", "pipeline"), ("name", "name"), ("source", "source"), ("module", "module"),
        ("module compiled", "module"), ("arguments", "argument"), ("program", "program"), ("title", "name"),
        ("results", "place for the results"), ("text", "source"), ("options", "list of options"),
        ("place", "place for the program"), ("file", "file"))},
    "no argument": (0, "'main' has no argument 7"), "taken": (0, "has a symbol 'main' already"),
    "no name": (0, "the gradient needs a name"),
    "no scalar": (1, "square.mlir:1:1: error: 'ad.value_and_grad' op expected the first result"),
    "still valid": (-1, "no error"),
}


def misuse(_):
    said = must_run(program("misuse"))
    found = {name: (int(reason), text) for name, reason, text in re.findall(r"^([\w ]+): (-?\d+) (.*)$", said, re.M)}
    for name, (reason, text) in MISUSE.items():
        got = found.get(name, (None, ""))
        if got[0] != reason or text not in got[1]:
            yield f"{name}: expected {reason} {text}, found {got}"
    for line in ("argument x, type 1, rank 1, dynamic 1", "result 2 3 in its output: 1", "wrong elements: 0"):
        if line not in said.splitlines():
            yield f"expected '{line}' in\n{said}"


def hostile(folder):
    """Each is an error, which names the file if it was read, or compiles after all."""
    files = hostile_modules.hostile_modules(folder)
    lines = must_run(program("refusals"), *files).splitlines()
    if len(lines) != 2 * len(files):
        yield f"{len(files)} files gave {len(lines)} lines"
    for file, line in zip([file for file in files for _ in range(2)], lines):
        if not re.match(r"(program|module) (refused [01] (un)?located .|compiled)", line):
            yield f"{file.name}: {line}: {file.read_bytes()[:2000]}"
        elif " refused 1 unlocated " in line:
            yield f"{file.name}: no place: {line}: {file.read_bytes()[:2000]}"


def dialects(_):
    """Functions of MLIR's C API for dialects come with the library, for the one MLIR of the process."""
    said = must_run(program("dialects"))
    if said != "func parsed\n":
        yield said


PROJECT = """cmake_minimum_required(VERSION 3.22)
project(C LANGUAGES C)
find_package(Adjoint REQUIRED COMPONENTS C)
add_executable(gradient {source})
target_link_libraries(gradient PRIVATE Adjoint::C)
"""


def cmake(folder):
    """A project in C alone finds the package, and none of LLVM."""
    (folder / "CMakeLists.txt").write_text(PROJECT.format(source=ROOT / "examples/c/gradient.c"))
    must_run("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build", "-DCMAKE_C_COMPILER=clang-22",
             f"-DCMAKE_PREFIX_PATH={installed()}", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22")
    must_run("cmake", "--build", folder / "build")
    said = must_run(folder / "build" / "gradient")
    if not said.startswith("value 35.875"):
        yield said


VERSION = """#include "adjoint-c/Program.h"
#include <stdio.h>
int main(void) { return puts(adjointGetVersion()) < 0; }
"""


def compiler_alone(folder):
    """Without the headers of MLIR, programs are compiled and run all the same; a component that is none has a reason."""
    prefix = folder / "prefix"
    must_run("cmake", "--install", BIN.parent, "--prefix", prefix)
    config = next(prefix.rglob("AdjointConfig.cmake"))
    text = config.read_text()
    if "/usr/lib/llvm-22/include" not in text:
        yield "the package names no headers of MLIR"
    config.write_text(text.replace("/usr/lib/llvm-22/include", "/nonexistent"))
    (folder / "version.c").write_text(VERSION)
    words = ["cmake", "-G", "Ninja", "-S", folder, "-DCMAKE_C_COMPILER=clang-22", f"-DCMAKE_PREFIX_PATH={prefix}",
             "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22"]
    listed = folder / "CMakeLists.txt"
    listed.write_text(PROJECT.format(source="version.c"))
    must_run(*words, "-B", folder / "build")
    must_run("cmake", "--build", folder / "build")
    if not re.match(r"\d+\.\d+\.\d+\n", must_run(folder / "build" / "gradient")):
        yield "no version"
    listed.write_text(PROJECT.format(source="version.c").replace("COMPONENTS C", "COMPONENTS Foo"))
    done = run(*words, "-B", folder / "other")
    if done.returncode == 0 or "there is no component Foo, only Compiler, C and Runtime" not in done.stderr:
        yield f"component: exit {done.returncode}: {done.stderr}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("c api", [("digits", digits), ("gradient", gradient), ("misuse", misuse),
                                         ("hostile files", hostile),
                                         ("dialects", dialects), ("CMake", cmake), ("a C compiler alone", compiler_alone)]))
