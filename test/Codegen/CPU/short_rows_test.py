#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Rows that are no longer than a vector are computed as columns: softmax, norms and sums over rows of 1 to 17 elements
have the bits of the reference interpreter, in whole vectors of rows and in the rest after them, for vectors of each
width. Closes with `short rows: N run, N failed`."""

import pathlib
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

LENGTHS = range(1, 18)
CPUS = {"512-bit vectors": "x86-64-v4", "256-bit vectors": "x86-64-v3"}
TARGETS = {**{name: ["--cpu", cpu] for name, cpu in CPUS.items() if runner.runs_here(cpu)},
           "two threads": ["--threads", "2"]}
BODIES = {
    "softmax": "%y = ad.softmax %x axis 1 : {m}",
    "layer_norm": "%y = ad.layer_norm %x, %r, %r epsilon 1.0e-5 : {m}, {v}",
    "rms_norm": "%y = ad.rms_norm %x, %r epsilon 1.0e-5 : {m}, {v}",
    "scaled by the sum": "%s = ad.reduce_sum %x axes [1] keep_dims : {m} -> {c}\n  %p = ad.mul %x, %s : {m}, {c}\n"
                         "  %y = ad.add %p, %r : {m}, {v}",
}


def failures(folder, kind, body):
    numbers = np.random.default_rng(len(body))
    functions, arguments, results, names = [], [], [], {}
    for length in LENGTHS:
        rows = int(numbers.choice([16, 17, 31, 33, 64]))
        m, v, c = f"tensor<{rows}x{length}x{kind}>", f"tensor<{length}x{kind}>", f"tensor<{rows}x1x{kind}>"
        text = body.format(m=m, v=v, c=c)
        for name in ("x", "r", "s", "p", "y"):
            text = text.replace(f"%{name} ", f"%{name}{length} ").replace(f"%{name},", f"%{name}{length},")
        functions.append("  " + text)
        for name, type, shape in (("x", m, (rows, length)), ("r", v, (length,))):
            given = (f"{name}{length}", kind, elements.random(numbers, kind, shape))
            arguments.append((f"%{name}{length}: {type} {{ad.name = \"{name}{length}\"}}", given))
        results.append((f"%y{length}", m))
        names[f"y{length}"] = (rows, length)
    types = ", ".join(f'{type} {{ad.name = "{name[1:]}"}}' for name, type in results)
    values, kinds = (", ".join(part) for part in zip(*results))
    text = "\n".join([f"func.func @main({', '.join(text for text, _ in arguments)}) -> ({types}) {{", *functions,
                      f"  return {values} : {kinds}", "}", ""])
    outputs = [(name, kind) for name in names]
    given = [given for _, given in arguments]
    for target, name, expected, found in runner.match_reference(folder, text, given, outputs, TARGETS):
        differ = np.argwhere(~elements.same_bits(kind, expected, found))
        if differ.size:
            rows, length = names[name]
            yield f"{target}: {rows} rows of {length} differ at {differ[:3].tolist()}"


def main():
    found = [(f"{name}, {kind}", lambda folder, kind=kind, body=body: failures(folder, kind, body))
             for name, body in BODIES.items() for kind in ("f32", "bf16", "f64")]
    return checks.run_checks("short rows", found)


if __name__ == "__main__":
    sys.exit(main())
