#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The memory of attention and of its gradients grows with the length of the sequences, not with its square: the arena
for four times as many queries and keys is at most four times as large, and smaller than the scores of one head. Lengths
are in the types or open."""

import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SHORT, LONG = 512, 2048  # more than a block
SCORES = 4 * LONG * LONG


def program(backward, size):
    t = f"tensor<1x1x{size}x16xf32>"
    results = 3 if backward else 1
    named = lambda letters: ", ".join(f'%{letter}: {t} {{ad.name = "{letter}"}}' for letter in letters)
    head = f"func.func @main({named('qkvg' if backward else 'qkv')}) -> ({', '.join([t] * results)}) {{\n"
    attention = f"  %y, %l = ad.attention %q, %k, %v causal : {t}, {t}, {t}\n"
    if not backward:
        return f"{head}{attention}  return %y : {t}\n}}\n"
    four = ", ".join([t] * 4)
    return (f"func.func private @f(%q: {t}, %k: {t}, %v: {t}) -> {t} {{\n{attention}  return %y : {t}\n}}\n{head}"
            f"  %r:4 = ad.vjp @f(%q, %k, %v) cotangents(%g) wrt [0, 1, 2] : ({four}) -> ({four})\n"
            f"  return %r#1, %r#2, %r#3 : {t}, {t}, {t}\n}}\n")


def arena(folder, backward, is_open, length):
    given = []
    for letter in "qkvg" if backward else "qkv":
        elements.save(folder / f"{letter}.npy", "f32", np.ones((1, 1, length, 16), np.float32))
        given.append(f"--arg={letter}={folder / letter}.npy")
    report = folder / "report.json"
    runner.run(program(backward, "?" if is_open else length), given, [], ["--target=cpu", f"--report={report}"])
    return json.loads(report.read_text())["arena_bytes"]


def check(backward, is_open):
    def run(folder):
        short, long = (arena(folder, backward, is_open, length) for length in (SHORT, LONG))
        if not 0 < long <= LONG // SHORT * short or long >= SCORES:
            yield f"an arena of {short} bytes at {SHORT}, of {long} at {LONG}; all scores are {SCORES}"
    return run


CHECKS = [(f"{'gradients' if backward else 'result'}, {'open' if is_open else 'static'} lengths",
           check(backward, is_open)) for backward in (False, True) for is_open in (False, True)]

if __name__ == "__main__":
    sys.exit(checks.run_checks("attention memory", CHECKS))
