# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Installs the package into a folder of its own and builds an outside CMake project against it. One program embeds the
compiler: it gives the sum of three times a tensor and its gradient. The other has a dialect with an elementwise
operation and a reduction of rows, which implement Adjoint's interfaces: they are fused with operations of `ad` into one
kernel, and their values and gradients are right on the reference interpreter, the CPU and the emulated GPU. A third one
has rules for scalars, complex numbers and types of its own, whose derivatives are right or refused by name. A fourth one has code of its own for the kernels that it knows, on the CPU
and on GPUs. A fifth one has loop nests, an ordered write and a named kernel.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy

BUILD = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")).resolve().parent
LLVM = pathlib.Path("/usr/lib/llvm-22/bin")
PROJECT = pathlib.Path(__file__).resolve().parent / "project"


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def build(folder):
    """The folder with the programs of the outside project; None when they cannot be built."""
    prefix, programs = folder / "prefix", folder / "build"
    shutil.rmtree(prefix, ignore_errors=True)  # a header that is gone must not be found there
    if run("cmake", "--install", BUILD, "--prefix", prefix).returncode:
        return None
    configure = ["cmake", "-G", "Ninja", "-S", PROJECT, "-B", programs,
                 f"-DCMAKE_PREFIX_PATH={prefix}"]
    # By their paths: CMake looks for names below the prefixes too, and takes another path for another compiler.
    configure += [f"-DCMAKE_CXX_COMPILER={LLVM / 'clang++'}", f"-DCMAKE_C_COMPILER={LLVM / 'clang'}"]
    # Not optimized: the programs run for less time than an optimizer takes.
    configure += ["-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22", "-DCMAKE_BUILD_TYPE=Release",
                  "-DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG"]
    if run(*configure).returncode or run("cmake", "--build", programs).returncode:
        return None
    return programs


def embedded_compiler(programs):
    done = run(programs / "embedder")
    # The sum of 3 x for x = (1, 2, 3.5, -4), then its gradient.
    if done.returncode or done.stdout.splitlines() != ["7.5 3 3 3 3 ", "embedded: differentiated and lowered"]:
        yield f"embedder: other values than expected: {done.stdout}"


def fusions_of(function):
    """The operations of each `ad.fusion`, in order."""
    bodies = re.findall(r"ad\.fusion.*?\{\n(.*?)\n    \}", function, re.S)
    return [re.findall(r'= "?((?:ad|toy)\.\w+)', body) for body in bodies]


def expected_results():
    """The values of the rows, and the gradients of their sum, in f64: the formulas of rows.cpp."""
    numbers = numpy.arange(1200)
    x, w = (numbers * 37 % 101 - 50) / 32, (numbers * 53 % 89 - 44) / 16
    x, w = x.reshape(6, 200), w.reshape(6, 200)
    product = x * w
    root = numpy.sqrt(product**2 + 4)
    difference = (product + root) / 2 - x
    squares = (difference**2).sum(axis=1, keepdims=True)
    slope = 2 * difference / squares
    inner = slope * (1 + product / root) / 2
    return {"values": numpy.log(squares), "gradient of x": inner * w - slope, "gradient of w": inner * x,
            "shifted": x + w.max(axis=0)}


def precision(done):
    """A policy computes toy.squareplus in bf16, which it supports, leaves it in f32 for f16, and cannot compute it in f16
    where the operation asks for that."""
    found = re.findall(r"^\S*?(b?f16)(.yaml)?: .*computed_in = (\w+).*-> tensor<6x200x(\w+)>$", done.stdout, re.M)
    if found != [("bf16", "", "bf16", "bf16"), ("bf16", ".yaml", "bf16", "bf16"), ("f16", ".yaml", "f32", "f32")]:
        yield f"rows: precision: found {found}"
    if done.stderr.count("'toy.squareplus' op cannot be computed in 'f16', which 'ad.precision' asks for") != 1:
        yield f"rows: precision: said {done.stderr}"


def foreign_dialect(programs):
    policies = []
    for narrow in ("bf16", "f16"):
        policies.append(programs / f"{narrow}.yaml")
        policies[-1].write_text(f"compute: {narrow}\nalways: [toy.squareplus]\n")
    done = run(programs / "rows", *policies)
    if done.returncode:
        yield f"rows: exit {done.returncode}: {done.stderr}"
        return
    yield from precision(done)
    for reason in ("a value of type 'f32', but got one of type 'f64'", "a value of type 'f64', but got none",
                   "operand #0 must be floating-point-like, but got 'i32'"):
        if done.stderr.count(reason) != 1:
            yield f"rows: expected the refusal '{reason}', found {done.stderr}"
    module, *outputs = re.split(r"^(reference|cpu|gpu-sim)\n", done.stdout, flags=re.M)
    rows = ["ad.mul", "toy.squareplus", "ad.sub", "toy.sum_squares"]
    functions = re.findall(r"func\.func @f\(.*?\n  \}\n", module, re.S)
    if [fusions_of(function) for function in functions] != [[rows, ["ad.log"]], [[*rows, "ad.log"]]]:
        yield f"rows: expected one fusion of all operations, the logarithm apart by the policy, but got\n{functions}"
    results = {target: text.splitlines() for target, text in zip(outputs[::2], outputs[1::2])}
    if list(results) != ["reference", "cpu", "gpu-sim"]:
        yield f"rows: ran on {list(results)}"
    for target, lines in results.items():
        if lines != results["reference"]:
            yield f"rows: {target} has other bits than the reference interpreter"
        for (name, expected), line in zip(expected_results().items(), lines, strict=True):
            got = numpy.array(line.split(), dtype=float)
            if got.size != expected.size or not numpy.allclose(got, expected.ravel(), rtol=2e-5, atol=2e-6):
                yield f"rows: {name} on {target}: expected {expected.ravel()[:4]}, but got {got[:4]}"


def foreign_scalars(programs):
    done = run(programs / "scalars")
    errors = ["'toy.pack' op has no derivative rule",
              "'toy.complex' op has no derivative: expected one use of its result in the same block, since cotangents of "
              "type 'complex<f32>' cannot be added"]
    # The square of 3 a^3 - 2 b and its gradient, for a = 0.5 and b = 2.
    if done.returncode or done.stdout.splitlines() != [*errors, "13.1406 -16.3125 14.5 "]:
        yield f"scalars: other errors or values than expected: {done.stdout}"


def foreign_classes(programs):
    """The products of f32 are emitted by the project's own classes, everything else by Adjoint's."""
    done = run(programs / "classes")
    if done.returncode:
        yield "classes: failed"
        return
    parts = re.split(r"^(reference|cpu|gpu-sim)\n", done.stdout, flags=re.M)[1:]
    results = {target: text.splitlines() for target, text in zip(parts[::2], parts[1::2])}
    numbers = numpy.arange(210)
    x = ((numbers * 37 % 101 - 50) / 32).reshape(30, 7)
    y = ((numbers * 53 % 89 - 44) / 16).reshape(30, 7)
    emitted = {"reference": "emitted 0 0", "cpu": "emitted 1 0", "gpu-sim": "emitted 1 1"}
    if list(results) != list(emitted):
        yield f"classes: ran on {list(results)}"
    b = (numpy.arange(256) * 7 % 5 - 2).reshape(16, 16)
    for target, (first, second, third, count) in results.items():
        if count != emitted[target]:
            yield f"classes: {target}: expected '{emitted[target]}', but got '{count}'"
        if numpy.array(first.split(), dtype=numpy.float32).tolist() != numpy.float32(-x * y).T.ravel().tolist():
            yield f"classes: {target} has other products: {first[:100]}"
        if numpy.array(second.split(), dtype=float).tolist() != (x.ravel()[:11] ** 2).tolist():
            yield f"classes: {target} has other squares: {second[:100]}"
        if numpy.array(third.split(), dtype=float).tolist() != (b @ b).ravel().tolist():
            yield f"classes: {target} has other contractions: {third[:100]}"


def tier_results():
    """The formulas of tiers.cpp. What is exact there is f32 here, the moments are f64."""
    x = ((numpy.arange(60) * 37 % 101 - 50) / numpy.float32(32)).astype(numpy.float32).reshape(5, 12)
    ids, w = [4, 0, 4, -1, 2, 9, 4], numpy.float32([0.25, 0.5, 0.125])
    rows = numpy.stack([x[i] if 0 <= i < 5 else numpy.full(12, -1, numpy.float32) for i in ids])
    padded = numpy.pad(rows * rows, [(0, 0), (1, 1)])
    blurred = -((padded[:, :-2] * w[0] + padded[:, 1:-1] * w[1]) + padded[:, 2:] * w[2])
    added = x.copy()
    for i, row in zip(ids, blurred):
        if 0 <= i < 5:
            added[i] += row
    polynomial = added * numpy.float32(0.5)
    for coefficient in (1, -2, 3):
        polynomial = (polynomial if coefficient == 1 else polynomial * added) + numpy.float32(coefficient)
    wide = blurred.astype(numpy.float64)
    slope = 1.5 * x.astype(numpy.float64)**2 + 2 * x - 2
    exact = {"rows": blurred, "sums": added, "polynomial": polynomial}
    return exact, {"mean": wide.mean(axis=1), "variance": wide.var(axis=1), "gradient": slope}


def foreign_tiers(programs):
    """Loop nests, an ordered write and a named kernel, with code of the project's own for both targets."""
    done = run(programs / "tiers")
    if done.returncode:
        yield "tiers: failed"
        return
    parts = re.split(r"^(reference|cpu|gpu-sim)\n", done.stdout, flags=re.M)[1:]
    results = {target: text.splitlines() for target, text in zip(parts[::2], parts[1::2])}
    emitted = {"reference": "emitted 0 0", "cpu": "emitted 1 0", "gpu-sim": "emitted 1 1"}
    if list(results) != list(emitted):
        yield f"tiers: ran on {list(results)}"
    exact, near = tier_results()
    names = ["rows", "mean", "variance", "sums", "polynomial", "gradient"]
    for target, (*lines, count) in results.items():
        if count != emitted[target]:
            yield f"tiers: {target}: expected '{emitted[target]}', but got '{count}'"
        if lines != results["reference"][:-1]:
            yield f"tiers: {target} has other bits than the reference interpreter"
        for name, line in zip(names, lines, strict=True):
            got = numpy.array(line.split(), dtype=numpy.float32)
            if name in exact and got.tolist() != exact[name].ravel().tolist():
                yield f"tiers: {name} on {target}: expected {exact[name].ravel()[:4]}, but got {got[:4]}"
            if name in near and not numpy.allclose(got, near[name].ravel(), rtol=1e-5, atol=1e-6):
                yield f"tiers: {name} on {target}: expected {near[name].ravel()[:4]}, but got {got[:4]}"


def main():
    # The folder stays: installed headers have the times of the sources, so that only what changed is compiled again.
    programs = build(BUILD / "outside")
    complaints = ([["expected programs that build"]] if programs is None
                  else [list(check(programs)) for check in (embedded_compiler, foreign_dialect, foreign_scalars,
                                                            foreign_classes, foreign_tiers)])
    for complaint in sum(complaints, []):
        print(complaint)
    failed = sum(bool(found) for found in complaints)
    print(f"embedding: {len(complaints)} run, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
