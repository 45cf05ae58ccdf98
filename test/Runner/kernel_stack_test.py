# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels of many products run on the smallest stack that a compiled program requires, with the bits of the reference:
the copies of operands and the trees of sums of one kernel share it."""

import pathlib
import random
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

STACK = 1700 << 10  # a little more than what adrt_context::run requires: the main function has some of it
RUNNER = runner.binary("ad-runner")


def program(element, result, products):
    """Products of one shape, which become one kernel: (rows, columns, K, left has K first, K is dynamic)."""
    arguments, lines, types, options = [], [], [], []
    for number, (rows, columns, depth, first, dynamic) in enumerate(products):
        k = "?" if dynamic else depth
        left = f"tensor<{k}x{rows}x{element}>" if first else f"tensor<{rows}x{k}x{element}>"
        right, out = f"tensor<{k}x{columns}x{element}>", f"tensor<{rows}x{columns}x{result}>"
        for name, type, axis in (("a", left, int(not first)), ("b", right, 0)):
            arguments.append(f'%{name}{number}: {type} {{ad.name = "{name}{number}"}}')
            options.append(f"--arg={name}{number}=" + ("uniform:3:100" if element == "i8" else f"normal:{number}"))
            options += [f"--dim={name}{number}.{axis}={depth}"] if dynamic else []
        lines.append(f"  %r{number} = ad.dot %a{number}, %b{number} contract [{int(not first)}] x [0] : "
                     f"({left}, {right}) -> {out}\n")
        types.append(out)
    results = ", ".join(f"%r{number}" for number in range(len(products)))
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(types)}) {{\n{''.join(lines)}"
            f"  return {results} : {', '.join(types)}\n}}\n", options)


def small_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, STACK))


def results_of(folder, path, target, options, limit):
    out = folder / target
    done = subprocess.run([RUNNER, str(path), "--cache=off", "--numerics=reproducible", f"--target={target}",
                           f"--out-dir={out}", *options],
                          capture_output=True, text=True, preexec_fn=limit)
    if done.returncode:
        raise RuntimeError(f"{target}: exit code {done.returncode}: {done.stderr[:300]}")
    return [file.read_bytes() for file in sorted(out.glob("*.npy"))]


def check(element, result, count, seed):
    def run(folder):
        draw = random.Random(seed)
        rows, columns = draw.choice([40, 300]), draw.choice([17, 64])
        products = [(rows, columns, draw.choice([3, 70, 300]), draw.random() < 0.7, draw.random() < 0.5)
                    for _ in range(count)]
        text, options = program(element, result, products)
        path = folder / "program.mlir"
        path.write_text(text)
        expected = results_of(folder, path, "reference", options, None)
        if results_of(folder, path, "cpu", options, small_stack) != expected:
            yield f"cpu differs from the reference\n{text}"

    return f"{count} products of {element}, {seed}", run


if __name__ == "__main__":
    sys.exit(checks.run_checks("kernel stack", checks.sample([
        check(element, result, count, seed)
        for element, result in (("i8", "i32"), ("f32", "f32"), ("bf16", "bf16")) for count in (2, 7, 34)
        for seed in range(2)], 3)))
