#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The memory that a process needs for attention, for its gradients and for those of convolutions: what the kernel counts
as resident at most, with the arena, pools, stacks and the scratch of threads. Of attention it grows with the length of
the sequences, not with its square; that of a convolution holds no copy of each window. A first program with small
tensors shows what the process needs anyway. Closes with `peak memory: N run, N failed`."""

import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

THREADS = 2
SIZE = 16  # of a head
LENGTHS = (512, 4096, 16384)
CONVOLUTIONS = {"3x3": ((16, 56, 56, 32), (3, 3, 32, 32), 1), "5x5": ((32, 61, 61, 16), (5, 5, 16, 32), 2)}
# In a process of its own that has loaded little: a child begins with the peak of the process that makes it.
MEASURE = """import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))"""
FEW = 4 << 20  # pages that allocators keep


def with_gradients(types, body, result):
    """A program that gives the cotangents of all arguments for one of the result."""
    names = [f"%a{i}" for i in range(len(types))]
    arguments = ", ".join(f"{name}: {type}" for name, type in zip(names, types))
    named = ", ".join(f'{name}: {type} {{ad.name = "{name[1:]}"}}' for name, type in zip([*names, "%g"], [*types, result]))
    given, returned = ", ".join(types), ", ".join(f"%r#{i + 1}" for i in range(len(types)))
    return (f"func.func private @f({arguments}) -> {result} {{\n  {body}\n  return %y : {result}\n}}\n"
            f"func.func @main({named}) -> ({given}) {{\n"
            f"  %r:{len(types) + 1} = ad.vjp @f({', '.join(names)}) cotangents(%g) wrt {list(range(len(types)))} : "
            f"({given}, {result}) -> ({result}, {given})\n  return {returned} : {given}\n}}\n")


def forward(types, body, result):
    arguments = ", ".join(f'%a{i}: {type} {{ad.name = "a{i}"}}' for i, type in enumerate(types))
    return f"func.func @main({arguments}) -> {result} {{\n  {body}\n  return %y : {result}\n}}\n"


def attention(length):
    t = f"tensor<1x1x{length}x{SIZE}xf32>"
    return [t] * 3, f"%y, %l = ad.attention %a0, %a1, %a2 causal : {t}, {t}, {t}", t


def tensor(sizes):
    return f"tensor<{'x'.join(map(str, sizes))}xf32>"


def convolution(name):
    x, w, stride = CONVOLUTIONS[name]
    made = [x[0], *((size - kernel) // stride + 1 for size, kernel in zip(x[1:3], w)), w[3]]
    types = [tensor(x), tensor(w)]
    result, dims = tensor(made), 'dims "b01c,01co->b01o"'
    return types, f"%y = ad.conv %a0, %a1 {dims} strides [{stride}, {stride}] : ({', '.join(types)}) -> {result}", result


def peak(folder, text):
    """Bytes, of a process that runs the program and has compiled nothing."""
    program, compiled = folder / "program.mlir", folder / "program.adx"
    program.write_text(text)
    subprocess.run([runner.binary("ad-runner"), program, "--target=cpu", "--cache=off", f"--emit={compiled}"], check=True,
                   capture_output=True, text=True)
    names = [f"a{i}" for i in range(text.count('ad.name = "a'))] + ["g"] * ('ad.name = "g"' in text)
    given = [f"--arg={name}=normal:{i}" for i, name in enumerate(names)]
    command = [runner.binary("adrt-run"), compiled, f"--threads={THREADS}", *given]
    said = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, *map(str, command)], check=True, capture_output=True,
                          text=True)
    return int(said.stdout) * 1024


def check_attention(make):
    def check(folder):
        first = peak(folder, make(*attention(LENGTHS[0])))
        for length in LENGTHS[1:]:
            growth = peak(folder, make(*attention(length))) - first
            tensors = 4 * length * SIZE
            if growth > 12 * tensors + FEW:
                yield f"{growth} bytes more at {length} than at {LENGTHS[0]}, where each tensor has {tensors}"
    return check


def check_convolution(name, make):
    def check(folder):
        (x, w, _), (_, _, made) = CONVOLUTIONS[name], convolution(name)
        places = elements_of(made) // w[3]
        windows = 4 * places * w[0] * w[1] * w[2]
        small = peak(folder, make(*attention(LENGTHS[0])))
        needed = peak(folder, make(*convolution(name))) - small
        tensors = 4 * (elements_of(tensor(x)) + elements_of(tensor(w)) + elements_of(made))
        if needed > 3 * tensors + FEW or needed > windows:
            yield f"{needed} bytes, for tensors of {tensors}; its windows have {windows}"
    return check


def elements_of(type):
    count = 1
    for size in type[len("tensor<"):].split("x")[:-1]:
        count *= int(size)
    return count


CHECKS = [(f"{what} of {name}", check) for what, make in (("result", forward), ("gradients", with_gradients))
          for name, check in [("attention", check_attention(make)),
                              *((f"convolution {name}", check_convolution(name, make)) for name in CONVOLUTIONS)]]

if __name__ == "__main__":
    sys.exit(checks.run_checks("peak memory", CHECKS))
