#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Elementwise kernels with several elementary functions compute several vectors together. Random chains over sizes
around multiples of a vector, of every float type and in every vector width, have the bits of the reference interpreter.
The arguments hold the bounds of the functions' branches. Closes with `function chains: N run, N failed`."""

import os
import pathlib
import random
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED", "1"))
PROGRAMS, CHAINS = 8, 5
FUNCTIONS = ["exp", "sin", "cos", "tanh", "sigmoid", "silu", "gelu", "erf", "softplus", "expm1"]
KINDS = ["f32", "f32", "bf16", "f16", "f64"]
# Bounds of branches: where sin and cos reduce another way, where exp leaves the normal numbers or vanishes.
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 8191.9, 8192.0, -8192.1, 1e6, 86.9, 87.0, -87.1, -103.9, -105.0, -105.1,
           -1e30, 1e-40]
TARGETS = {"cpu": [], "two threads": ["--threads", "2"], "256-bit vectors": ["--cpu", "x86-64-v3"],
           "gpu-sim": ["--target", "gpu-sim"]}


class Program:
    def __init__(self, seed):
        self.draw, self.numbers = random.Random(seed), np.random.default_rng(seed)
        self.chains = [self.chain(number) for number in range(CHAINS)]

    def size(self):
        """Near a multiple of four vectors of 16, or of fewer lanes."""
        return max(1, self.draw.choice([1, 2, 4, 8, 64, 64, 128, 1024]) * self.draw.choice([1, 2, 3, 16, 17])
                   + self.draw.randint(-9, 9))

    def chain(self, number):
        kind, size = self.draw.choice(KINDS), self.size()
        functions = [self.draw.choice(FUNCTIONS) for _ in range(self.draw.randint(2, 4))]
        array = elements.random(self.numbers, kind, (size,))
        for special in SPECIAL:
            if self.draw.random() < 0.3:
                array[self.draw.randrange(size)] = elements.encode(kind, np.array([special]))[0]
        return number, kind, array, functions

    def text(self):
        arguments, lines, results = [], [], []
        for number, kind, array, functions in self.chains:
            type, value = f"tensor<{array.size}x{kind}>", f"%a{number}"
            arguments.append(f'{value}: {type} {{ad.name = "a{number}"}}')
            for step, function in enumerate(functions):
                name = f"%v{number}_{step}"
                lines.append(f"  {name} = ad.{function} {value} : {type}")
                value = name
            lines.append(f"  %r{number} = ad.mul {value}, %a{number} : {type}")
            results.append((f"%r{number}", type))
        types = ", ".join(f'{type} {{ad.name = "{name[1:]}"}}' for name, type in results)
        ends = f"  return {', '.join(name for name, _ in results)} : {', '.join(type for _, type in results)}\n}}\n"
        return f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n" + "\n".join(lines) + f"\n{ends}"

    def failures(self, folder):
        chains = {f"r{number}": chain for number, *chain in self.chains}
        arguments = [(f"a{number}", kind, array) for number, kind, array, _ in self.chains]
        results = [(name, kind) for name, (kind, *_) in chains.items()]
        for target, name, expected, found in runner.match_reference(folder, self.text(), arguments, results, TARGETS):
            kind, array, functions = chains[name]
            differ = np.flatnonzero(~elements.same_bits(kind, expected, found))
            if differ.size:
                yield f"{target}: {functions} of {array.size}x{kind} differ at {differ[:5]} from {array[differ[:5]]}"


def main():
    return checks.run_checks("function chains", [(f"seed {seed}", Program(seed).failures)
                                                 for seed in checks.sample(range(SEED, SEED + PROGRAMS), 3)])


if __name__ == "__main__":
    sys.exit(main())
