# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The expressions that --ad-print-procedure writes name the elements that the program reads.

Random chains of reshapes, broadcasts, transpositions, slices and concatenations lead to one elementwise operation. For
every element of its result the printed expression is evaluated, and must give the element of the input that NumPy finds
there.
"""

import os
import pathlib
import random
import re
import subprocess
import sys

import numpy as np

OPT = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-opt")
CASES = 60


def tensor(shape):
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


def factorings(count):
    """The shapes of rank 2 with so many elements."""
    return [(n, count // n) for n in range(1, count + 1) if count % n == 0]


def step(rng, name, value):
    """One operation on `value`: its text without the result, and what NumPy makes."""
    shape = value.shape
    kind = rng.choice(["reshape", "broadcast", "transpose", "slice", "concat"])
    if kind == "reshape":
        result = value.reshape(rng.choice(factorings(value.size)))
        return f"ad.reshape {name} : {tensor(shape)} -> {tensor(result.shape)}", result
    if kind == "broadcast":
        wide = [rng.randint(2, 3) if size == 1 else size for size in shape]
        result = np.broadcast_to(value, wide)
        return f"ad.broadcast {name} : {tensor(shape)} -> {tensor(wide)}", result
    if kind == "transpose":
        return f"ad.transpose {name} [1, 0] : {tensor(shape)}", value.T
    if kind == "slice":
        offsets, strides = [rng.randrange(size) for size in shape], [rng.randint(1, 2) for _ in shape]
        result = value[offsets[0] :: strides[0], offsets[1] :: strides[1]]
        return f"ad.slice {name} {offsets} strides {strides} : {tensor(shape)} -> {tensor(result.shape)}", result
    axis = rng.randrange(2)
    return f"ad.concat axis {axis} {name}, {name} : {tensor(shape)}, {tensor(shape)}", np.concatenate([value, value], axis)


def make_case(seed):
    """A function and the element of its input at each element of its result."""
    rng = random.Random(seed)
    start = (rng.randint(1, 4), rng.randint(1, 4))
    value, name = np.arange(start[0] * start[1]).reshape(start), "%x"
    lines = []
    for number in range(rng.randint(1, 4)):
        text, value = step(rng, name, value)
        name = f"%{number}"
        lines.append(f"  {name} = {text}")
    shape = tensor(value.shape)
    lines += [f"  %y = ad.exp {name} : {shape}", f"  return %y : {shape}"]
    return f"func.func @case{seed}(%x: {tensor(start)}) -> {shape} {{\n" + "\n".join(lines) + "\n}\n", value.ravel()


def evaluate(text, position):
    """The number of the element that the operand names."""
    text = text.replace("/", "//")
    text = re.sub(r"KConcat\(", "choose(", text).replace(" ? ", ", lambda: ").replace(" : ", ", lambda: ")
    text = re.sub(r"Mat \(id: 0, ", "(", text)
    return eval(text, {"Global": position, "choose": lambda test, a, b: a() if test else b()})


def main():
    cases = [make_case(seed) for seed in range(CASES)]
    command = [OPT, "--ad-print-procedure", "-o", os.devnull]
    done = subprocess.run(command, input="".join(text for text, _ in cases), capture_output=True, text=True,
                          check=False)
    operands = re.findall(r"= EXP \(\d+\) --> \((.*)\)\n", done.stdout)
    failed = abs(CASES - len(operands))
    if failed:
        print(f"{len(operands)} of {CASES} cases printed: {done.stderr}")
    for (text, expected), operand in zip(cases, operands):
        got = [evaluate(operand, position) for position in range(len(expected))]
        if got != list(expected):
            failed += 1
            print(f"FAILED: {text}reads {operand}: elements {got}, expected {list(expected)}")
    print(f"{CASES} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
