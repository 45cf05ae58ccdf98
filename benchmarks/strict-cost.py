#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What `strict` costs: the same program in `strict` and in `fast`, f32 on one core, no peer.

Functions of 64 Ki elements, which stay in the second cache; `fast` may take shorter forms with larger bounds
(docs/numerics-functions.md). Nanoseconds per element, and how many times as long `strict` takes. The table in README.md
comes from here.
"""

import pathlib
import tempfile

import measure

measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

NAME = "strict-cost"
ROUNDS = 9
ELEMENTS = 1 << 16
BURST = 0.01  # seconds that the calls of one round take, about
SPEED = 0.3e-9  # seconds per element: a guess, only to find the number of calls
FUNCTIONS = {
    "exp": "ad.exp %x", "log": "ad.log %x", "tanh": "ad.tanh %x", "erf": "ad.erf %x", "sigmoid": "ad.sigmoid %x",
    "silu": "ad.silu %x", "gelu": "ad.gelu %x", "gelu_tanh": "ad.gelu %x form tanh", "softmax": "ad.softmax %x axis 1",
    "sin": "ad.sin %x", "add": "ad.add %x, %x",
}


def program(name):
    t = "tensor<64x1024xf32>"
    operation = FUNCTIONS[name]
    return f'func.func @main(%x: {t} {{ad.name = "x"}}) -> {t} {{\n  %y = {operation} : {t}\n  return %y : {t}\n}}\n'


def measure_function(name, folder, rounds):
    source = folder / f"{name}.npy"
    np.save(source, np.random.default_rng(0).uniform(0.001, 4, (64, 1024)).astype(np.float32))
    calls = measure.calls_for(BURST, SPEED * ELEMENTS)
    ours = {mode: measure.Ours(folder, program(name), {"x": source}, mode) for mode in ("strict", "fast")}
    seconds = measure.take_turns({mode: lambda mode=mode: ours[mode].time(calls) for mode in ours}, rounds)
    return {"case": name, "ns": {mode: 1e9 * value / ELEMENTS for mode, value in seconds.items()}}


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    functions = measure.select(list(FUNCTIONS), options, NAME)
    print(f"ns per element of {ELEMENTS} in f32, one thread, median of {options.rounds} interleaved rounds")
    print(f"{'function':12} {'strict':>8} {'fast':>8} {'strict/fast':>12}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for function in functions:
            row = measure_function(function, pathlib.Path(name), options.rounds)
            strict, fast = row["ns"]["strict"], row["ns"]["fast"]
            print(f"{function:12} {strict:8.3f} {fast:8.3f} {strict / fast:12.2f}", flush=True)
            rows.append(row)
    ratios = {row["case"]: row["ns"]["strict"] / row["ns"]["fast"] for row in rows}
    for case, value in ratios.items():
        print(f"{NAME}: strict takes {value:.2f} times as long as fast ({case})")
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
