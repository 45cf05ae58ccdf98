# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Transpositions of large and small tensors, with and without whole blocks, on the CPU and on the emulated GPU,
against NumPy, exactly."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
# The last one is too large for the caches: blocks of it are written past them.
SHAPES = [(16, 16), (15, 40), (17, 33), (130, 70), (1, 64), (3, 18, 35), (20, 2, 19), (2, 17, 3, 16), (1088, 1000)]
ELEMENTS = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i64": np.int64, "i1": np.bool_}


def cases(target):
    for shape in SHAPES[:-1] if target == "gpu-sim" else SHAPES:
        for order in itertools.permutations(range(len(shape))):
            if list(order) != sorted(order):
                yield shape, order


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def program(element, target):
    """One function for all shapes and orders: argument a<k>, result r<k>."""
    arguments, results, body, values = [], [], [], []
    for k, (shape, order) in enumerate(cases(target)):
        result = tensor([shape[axis] for axis in order], element)
        arguments.append(f'%a{k}: {tensor(shape, element)} {{ad.name = "a{k}"}}')
        results.append((f'{result} {{ad.name = "r{k}"}}', result))
        body.append(f"  %r{k} = ad.transpose %a{k} {list(order)} : {tensor(shape, element)}\n")
        values.append(f"%r{k}")
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(named for named, _ in results)}) {{\n{''.join(body)}"
            f"  return {', '.join(values)} : {', '.join(plain for _, plain in results)}\n}}\n")


def wrong(folder, element, kind, target):
    """The cases that are wrong for one element type on a target."""
    generator = np.random.default_rng(1)
    (folder / "program.mlir").write_text(program(element, target))
    command = [RUNNER, str(folder / "program.mlir"), "--cache", "off", "--target", target, "--out-dir", str(folder)]
    inputs = []
    for k, (shape, _) in enumerate(cases(target)):
        inputs.append(generator.integers(0, 2 if element == "i1" else 100, shape).astype(kind))
        np.save(folder / f"a{k}.npy", inputs[-1])
        command += ["--arg", f"a{k}={folder}/a{k}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{element}: exit {done.returncode}: {done.stderr.strip()}")
    return [case for k, case in enumerate(cases(target))
            if not np.array_equal(np.load(folder / f"r{k}.npy"), inputs[k].transpose(case[1]))]


def main():
    run = failed = 0
    for target, (element, kind) in itertools.product(("cpu", "gpu-sim"), ELEMENTS.items()):
        with tempfile.TemporaryDirectory() as name:
            problems = wrong(pathlib.Path(name), element, kind, target)
        for case in problems:
            print(f"{element} {case} on {target}: differs from NumPy")
        run, failed = run + len(list(cases(target))), failed + len(problems)
    print(f"transpositions: {run} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
