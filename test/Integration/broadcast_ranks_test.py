# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Operands of 0 to 3 axes: sizes that only run time knows broadcast like NumPy, with gradients, on both targets; sizes
that do not fit are an error with both of them and the place. dynamic-broadcast.mlir is the same for one axis each."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
# The sizes of both operands along an axis that both have; the other axes have size 2.
KINDS = [(1, 3), (3, 1), (3, 3), (1, 1), (0, 1)]


def program(ranks):
    """The product of x + 2 and y + 5, and the gradients of its sum. Returns also the line of the product."""
    x, y, z = (f"tensor<{'?x' * rank}f32>" for rank in (*ranks, max(ranks)))
    axes = list(range(max(ranks)))
    text = f"""func.func private @product(%x: {x}, %y: {y}) -> (tensor<f32>, {z}) {{
  %two = ad.constant dense<2.0> : tensor<f32>
  %five = ad.constant dense<5.0> : tensor<f32>
  %a = ad.add %x, %two : {x}, tensor<f32>
  %b = ad.add %y, %five : {y}, tensor<f32>
  %z = ad.mul %a, %b : {x}, {y}
  %s = ad.reduce_sum %z axes {axes} : {z} -> tensor<f32>
  return %s, %z : tensor<f32>, {z}
}}
func.func @main(%x: {x} {{ad.name = "x"}}, %y: {y} {{ad.name = "y"}})
    -> ({z} {{ad.name = "product"}}, {x} {{ad.name = "dx"}}, {y} {{ad.name = "dy"}}) {{
  %s, %z, %dx, %dy = ad.value_and_grad @product(%x, %y) wrt [0, 1] has_aux : ({x}, {y}) -> (tensor<f32>, {z}, {x}, {y})
  return %z, %dx, %dy : {z}, {x}, {y}
}}
"""
    return text, next(number for number, line in enumerate(text.splitlines(), 1) if "ad.mul" in line)


def shapes(ranks, kinds):
    """Axes count from the last; `kinds` says the sizes along the axes that both have."""
    return [tuple(reversed([kind[number] for kind in kinds[: min(ranks)]] + [2] * (rank - min(ranks))))
            for number, rank in enumerate(ranks)]


def run(file, target, sizes):
    command = [RUNNER, str(file), "--target", target, "--cache", str(file.parent / "cache"),
               "--out-dir", str(file.parent)]
    for name, shape in zip("xy", sizes):
        command += ["--arg", f"{name}=arange", *(f"--dim={name}.{axis}={size}" for axis, size in enumerate(shape))]
    return subprocess.run(command, capture_output=True, text=True)


def sum_to(shape, value):
    value = value.sum(axis=tuple(range(value.ndim - len(shape))))
    return value.sum(axis=tuple(axis for axis, size in enumerate(shape) if size == 1), keepdims=True)


def expected(sizes):
    a, b = (np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) + add for shape,
            add in zip(sizes, (2, 5)))
    product = a * b
    ones = np.ones_like(product)
    return {"product": product, "dx": sum_to(a.shape, ones * b), "dy": sum_to(b.shape, ones * a)}


def problem_of_values(file, target, sizes):
    done = run(file, target, sizes)
    if done.returncode:
        return f"exit code {done.returncode}, {done.stderr.strip()[:400]}"
    for name, value in expected(sizes).items():
        actual = np.load(file.parent / f"{name}.npy")
        if actual.shape != value.shape or not np.array_equal(actual, value):
            return f"{name} is {actual.tolist()}, but expected {value.tolist()}"
    return None


def problem_of_refusal(file, target, sizes, axis, line):
    done = run(file, target, sizes)
    message = f"'ad.mul' op broadcast: dimension {axis} has sizes 2 and 3, neither is 1"
    if done.returncode != 1 or message not in done.stderr or f"{file.name}:{line}:" not in done.stderr:
        return f"exit code {done.returncode}, {done.stderr.strip()[:400]}, but expected at line {line}: {message}"
    return None


def cases(ranks):
    """Sizes, and the axis of the result along which they do not fit, or None. Every axis goes through every kind."""
    common = min(ranks)
    for shift in range(len(KINDS) if common else 1):
        yield shapes(ranks, [KINDS[(axis + shift) % len(KINDS)] for axis in range(common)]), None
    for wrong in range(common):
        yield shapes(ranks, [(2, 3) if axis == wrong else (3, 3) for axis in range(common)]), max(ranks) - 1 - wrong


def main():
    count = failed = 0
    for ranks in checks.sample(itertools.product(range(4), repeat=2), 3):
        with tempfile.TemporaryDirectory() as name:
            file = pathlib.Path(name) / "program.mlir"
            text, line = program(ranks)
            file.write_text(text)
            for (sizes, axis), target in itertools.product(cases(ranks), ("reference", "cpu")):
                problem = (problem_of_values(file, target, sizes) if axis is None
                           else problem_of_refusal(file, target, sizes, axis, line))
                count += 1
                failed += problem is not None
                if problem:
                    print(f"FAILED: {sizes} on {target}: {problem}")
    print(f"broadcast: {count} run, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
