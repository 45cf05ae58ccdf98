#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Scalar code in kernels that another compiler wrote: divisions, shifts and conversions of drawn and extreme numbers,
against integers of Python, on the CPU and on the emulated GPU. Lengths leave whole vectors and masked lanes,
which may not trap.
"""

import argparse
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import checks
import runner
import scalar_oracle as oracle

TARGETS = ["cpu", "gpu-sim"]
INTEGERS = ["i8", "i32", "i64"]
NUMPY = {"i8": np.int8, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}


OPERATIONS = [*oracle.DIVISIONS, "shli", "shrui", "shrsi"]


def kernel(inputs, result, body):
    """A parallel kernel over vectors of one length."""
    taken = ", ".join(f"%x{i}: tensor<?x{t}>" for i, t in enumerate(inputs))
    named = ", ".join(f'%x{i}: tensor<?x{t}> {{ad.name = "x{i}"}}' for i, t in enumerate(inputs))
    values, types = ", ".join(f"%x{i}" for i in range(len(inputs))), ", ".join(f"tensor<?x{t}>" for t in inputs)
    block = ", ".join(f"%a{i}: {t}" for i, t in enumerate(inputs))
    maps, size = ", ".join(["#m"]
                           * (len(inputs)
                              + 1)), f"%c0 = arith.constant 0 : index\n  %n = tensor.dim %x0, %c0 : tensor<?x{inputs[0]}>"
    return f"""#m = affine_map<(d0) -> (d0)>
ad.kernel private @k({taken}) -> tensor<?x{result}> attributes {{kernel_class = "elementwise"}} {{
  {size}
  %e = tensor.empty(%n) : tensor<?x{result}>
  %0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} ins({values} : {types}) outs(%e : tensor<?x{result}>) {{
  ^bb0({block}, %o: {result}):
    {body}
    linalg.yield %s : {result}
  }} -> tensor<?x{result}>
  ad.yield %0 : tensor<?x{result}>
}}
func.func @main({named}) -> (tensor<?x{result}> {{ad.name = "y"}}) {{
  {size}
  %r = ad.launch @k({values}) sizes(%n) : ({types}) -> tensor<?x{result}>
  return %r : tensor<?x{result}>
}}
"""


def problems(folder, text, arrays, result, expected):
    arguments = []
    for i, array in enumerate(arrays):
        np.save(folder / f"x{i}.npy", array)
        arguments.append(f"--arg=x{i}={folder / f'x{i}.npy'}")
    for target in TARGETS:
        got = runner.run(text, arguments, [("y", result)], [f"--target={target}"])["y"]
        for i in np.flatnonzero(got != expected)[:1]:
            yield f"{target}: of {[array[i] for array in arrays]} {got[i]}, expected {expected[i]}\n{text}"


def integers(rng, operation):
    element = rng.choice(INTEGERS)
    width, length = oracle.WIDTH[element], rng.randint(1, 70)
    extreme = [0, 1, -1, 2, -7, width - 1, width, -(2 ** (width - 1)), 2 ** (width - 1) - 1]
    draw = lambda: [rng.choice(extreme) if rng.random() < 0.6 else oracle.wrapped(rng.getrandbits(width), width)
                    for _ in range(length)]
    lhs, rhs = draw(), draw()
    if operation in oracle.DIVISIONS:
        rhs = [b or 1 for b in rhs]
    expected = [oracle.integer(operation, element, a, b) for a, b in zip(lhs, rhs)]
    flags = rng.choice(["", " overflow<nsw>"]) if operation == "shli" else ""
    text = kernel([element, element], element, f"%s = arith.{operation} %a0, %a1{flags} : {element}")
    array = lambda values: np.array(values, NUMPY[element])
    return lambda folder: problems(folder, text, [array(lhs), array(rhs)], element, array(expected))


def saturations(rng):
    """Floats to integers: towards zero, NaN to 0, the rest to the nearest integer there is."""
    source, element = rng.choice(["f32", "f64"]), rng.choice(INTEGERS)
    width, length = oracle.WIDTH[element], rng.randint(1, 70)
    extreme = [0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, -1e30, 127.9, -128.9, 2.0 ** (width - 1),
               -(2.0 ** (width - 1))]
    given = np.array([rng.choice(extreme) if rng.random() < 0.6 else rng.gauss(0, 1000) for _ in range(length)],
                     NUMPY[source])
    expected = [oracle.convert("fptosi", source, element, float(x)) for x in given]
    text = kernel([source], element, f"%s = arith.fptosi %a0 : {source} to {element}")
    return lambda folder: problems(folder, text, [given], element, np.array(expected, NUMPY[element]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2, help="kernels of each operation")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    each = lambda: random.Random(rng.random())
    cases = [(op, integers(each(), op)) for op in OPERATIONS for _ in range(options.rounds)]
    cases += [("fptosi", saturations(each())) for _ in range(2 * options.rounds)]
    return checks.run_checks("kernel-scalars", cases)


if __name__ == "__main__":
    sys.exit(main())
