#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Stable argsort along rows on one core: ours compared with NumPy's. Nanoseconds per element of a million random
numbers."""

import pathlib
import tempfile
import time

import measure

measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

NAME = "sorting"
ROUNDS = 5
ELEMENTS = 1_000_000
CALLS = 3
TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
CASES = [f"{element} rows of {length}" for element in TYPES for length in (16, 1000, ELEMENTS)]


def program(element, shape):
    t = f"tensor<{'x'.join(map(str, shape))}x"
    return (f'func.func @main(%a: {t}{element}> {{ad.name = "a"}}) -> {t}i64> {{\n'
            f"  %p = ad.argsort %a axis 1 : {t}{element}>\n  return %p : {t}i64>\n}}\n")


def numpy_time(numbers):
    start = time.perf_counter()
    np.argsort(numbers, axis=1, kind="stable")
    return time.perf_counter() - start


def measure_case(case, folder, rounds):
    element, length = case.split()[0], int(case.split()[-1])
    numbers = np.random.default_rng(0).normal(0, 1e6, (ELEMENTS // length, length)).astype(TYPES[element])
    path = folder / f"{case.replace(' ', '-')}.npy"
    np.save(path, numbers)
    ours = measure.Ours(folder, program(element, numbers.shape), {"a": path})
    seconds = measure.take_turns({"ours": lambda: ours.time(CALLS), "numpy": lambda: numpy_time(numbers)}, rounds)
    return {"case": case, "ns": {name: 1e9 * value / numbers.size for name, value in seconds.items()}}


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    print(f"ns per element, one thread, median of {options.rounds} interleaved rounds")
    print(f"{'case':22} {'ours':>8} {'numpy':>8}")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for case in measure.select(CASES, options, NAME):
            rows.append(measure_case(case, pathlib.Path(name), options.rounds))
            print(f"{case:22} {rows[-1]['ns']['ours']:8.2f} {rows[-1]['ns']['numpy']:8.2f}", flush=True)
    ratios = {row["case"]: row["ns"]["numpy"] / row["ns"]["ours"] for row in rows}
    for case, value in ratios.items():
        measure.close(NAME, value, "numpy", case)
    measure.close_with_mean(NAME, ratios, "numpy")
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
