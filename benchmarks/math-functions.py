#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Debian packages: libsleef-dev
"""Elementary functions in f32 on one core: ours in `strict` compared with libm in a loop and SLEEF's AVX-512
functions of 1 ULP.

Nanoseconds per element on 64 Ki elements, which stay in the second cache. All read the same numbers. Where SLEEF lacks
a function, libm's column is the formula that one would write, and nothing is compared.
"""

import pathlib
import tempfile

import measure

measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

NAME = "math"
ROUNDS = 9
ELEMENTS = 1 << 16
BURST = 0.01  # seconds that the calls of one round take, about
SPEED = 0.3e-9  # seconds per element: a guess, only to find the number of calls
SLEEF = measure.Library("sleef", "sleef.h", "-lsleef", "libsleef-dev")
SYMMETRIC, POSITIVE = (-10.0, 10.0), (1e-3, 1e3)
# The operation and the range of its arguments.
FUNCTIONS = {
    **{name: (f"ad.{name} %a", [SYMMETRIC]) for name in ("exp", "exp2", "expm1")},
    **{name: (f"ad.{name} %a", [POSITIVE]) for name in ("log", "log2", "log1p")},
    **{name: (f"ad.{name} %a", [SYMMETRIC]) for name in ("sin", "cos", "tan", "tanh")},
    **{name: (f"ad.{name} %a", [POSITIVE]) for name in ("sqrt", "rsqrt", "recip")},
    **{name: (f"ad.{name} %a", [(-4.0, 4.0)]) for name in ("erf", "sigmoid", "silu", "softplus", "gelu")},
    "gelu_tanh": ("ad.gelu %a form tanh", [(-4.0, 4.0)]),
    "pow": ("ad.pow %a, %b", [(0.1, 10.0), SYMMETRIC]),
    "atan2": ("ad.atan2 %a, %b", [SYMMETRIC, SYMMETRIC]),
}


def program(name):
    operation, ranges = FUNCTIONS[name]
    t = f"tensor<{ELEMENTS}xf32>"
    arguments = ", ".join(f'%{letter}: {t} {{ad.name = "{letter}"}}' for letter in "ab"[:len(ranges)])
    types = ", ".join([t] * len(ranges))
    return f"func.func @main({arguments}) -> {t} {{\n  %y = {operation} : {types}\n  return %y : {t}\n}}\n"


def measure_function(name, peers, folder, rounds):
    random, files, sources = np.random.default_rng(0), [], {}
    for letter, (low, high) in zip("ab", FUNCTIONS[name][1]):
        numbers = random.uniform(low, high, ELEMENTS).astype(np.float32)
        sources[letter] = folder / f"{name}-{letter}.npy"
        np.save(sources[letter], numbers)
        files.append(folder / f"{name}-{letter}.raw")
        numbers.tofile(files[-1])
    ours = measure.Ours(folder, program(name), sources)
    calls = measure.calls_for(BURST, SPEED * ELEMENTS)
    contenders = {"ours": lambda: ours.time(calls)}
    for library in ("libm", "sleef"):
        if peers.number(library, name, "has"):
            contenders[library] = lambda library=library: peers.number(library, name, calls, *files)
    seconds = measure.take_turns(contenders, rounds)
    return {"case": name, "numerics": "strict", "ns": {key: 1e9 * value / ELEMENTS for key, value in seconds.items()}}


def ratio(row, peer):
    return row["ns"][peer] / row["ns"]["ours"]


def show(row, without):
    cells = [f"{row['ns'][name]:8.3f}" if name in row["ns"] else f"{without:>8}" for name in ("ours", "libm", "sleef")]
    shares = [f"{ratio(row, name):8.2f}" if name in row["ns"] else " " * 8 for name in ("libm", "sleef")]
    print(f"{row['case']:12} {' '.join(cells + shares)}", flush=True)


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    functions = measure.select(list(FUNCTIONS), options, NAME)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peers = measure.Peers(folder, "math_peers.cpp", ["-O2", "-march=native"], [SLEEF])
        print(f"ns per element of {ELEMENTS} in f32, one thread, ours strict, median of {options.rounds} interleaved rounds")
        print(f"{'function':12} {'ours':>8} {'libm':>8} {'sleef':>8} {'/libm':>8} {'/sleef':>8}")
        rows = []
        for function in functions:
            rows.append(measure_function(function, peers, folder, options.rounds))
            show(rows[-1], "none" if peers.libraries else "missing")
    ratios = {row["case"]: ratio(row, "sleef") for row in rows if "sleef" in row["ns"]}
    for case, value in ratios.items():
        measure.close(NAME, value, "sleef", case)
    measure.close_with_mean(NAME, {row["case"]: ratio(row, "libm") for row in rows}, "libm")
    measure.close_with_mean(NAME, ratios, "sleef")
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
