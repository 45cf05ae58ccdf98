#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The comparison of wgmma and mma.sync, on the emulated GPU: equal where both add alike, and different where one is made
to add in another order. The published model agrees with sums that are made by hand, and results that are no sums give
no answer. Closes with `accumulation: N run, N failed`."""

import functools
import os
import subprocess
import sys

import bundles

import numpy as np  # isort: skip

import accumulation
import accumulation_kernels
import accumulation_vectors
import checks

# The smallest and the largest N, and one whose columns fill no swizzle of a tensor map.
SHAPES = (8, 40, 256)


def both(element, major, folder):
    row = accumulation.measure(accumulation.OnEmulator(), element, major, SHAPES)
    if row["equal"] is not True or row["wrong"] or row["values"] != 6 * 3 * 64 * sum(SHAPES):
        yield f"expected equal bits: {row}"


def by_the_model(element, folder):
    """The emulator and NumPy have the published model alike, and a GPU on which wgmma alone adds so is noticed."""
    row = accumulation.measure(accumulation.OnEmulator("aligned"), element, "n", SHAPES)
    if row["equal"] is not True or row["wrong"] or row["modelled"] != row["values"]:
        yield f"expected the sums of the model: {row}"
    row = accumulation.measure(accumulation.OnEmulator("aligned-wgmma"), element, "n", SHAPES)
    # Not all numbers show it in bf16: few of its products have bits that are cut off.
    if row["equal"] is not False or row["wrong"] or row["different_n"] != [*SHAPES] or not row["by_kind"]["exponents"]:
        yield f"expected differences for every N: {row}"


def infinities(_folder):
    """They and NaN are sums, too, whatever is aligned."""
    problem = accumulation_vectors.Problem("random", "bf16", 8, 1)
    problem.a[0, :, 3], problem.b[0, :, 3] = 1, 1
    problem.a[0, 5, 3], problem.a[0, 6, 3], problem.a[0, 6, 4], problem.c[7, 2] = np.inf, np.inf, -np.inf, -np.inf
    problem.b[0, :, 4] = 1
    results = [accumulation.results_of(accumulation.OnEmulator(sums), "bf16", "k", [problem], False)
               for sums in ("ascending", "aligned")]
    for one, other in zip(*results):
        one, other = (accumulation_vectors.by_place(problem, values[0])[1] for values in (one, other))
        if not (np.isposinf(one[5]).all() and np.isnan(one[6]).all() and np.isneginf(one[7, 2])):
            yield f"ascending sums are {one[5:8]}"
        if not np.array_equal(one[~np.isfinite(one)], other[~np.isfinite(one)], equal_nan=True):
            yield f"aligned sums are {other[5:8]}"


def in_another_order(element, folder):
    """A difference is seen, and its place is named: the numbers there give both results."""
    row = accumulation.measure(accumulation.OnEmulator(), element, "k", SHAPES[:1], swapped=True)
    first = row["first"]
    if row["equal"] is not False or row["wrong"] or row["different_n"] != [8] or not all(row["by_kind"].values()):
        yield f"expected differences for each kind of numbers: {row}"
        return
    for name, order in (("wgmma", range(16)), ("mma.sync", [*range(8, 16), *range(8)])):
        total = np.float32(first["c"])
        for k in order:
            total = np.float32(np.float64(total) + first["a"][k] * first["b"][k])
        given = np.frombuffer(bytes.fromhex(first[name])[::-1], np.float32)[0]
        if total != given:
            yield f"{name}: {first} is {given}, expected {total}"


def model(_folder):
    """Terms are cut at 25 bits below the largest exponent, before they are added, and the sum is cut to f32."""
    a, b = np.zeros((1, 16)), np.ones((1, 16))
    for terms, c, expected in [
            ([1.0, 2.0**-25], 0.0, 1.0), ([1.0, *[2.0**-25] * 8], 0.0, 1 + 2.0**-22), ([1.0, *[2.0**-26] * 15], 0.0, 1.0),
            ([1.0, -(2.0**-26)], 0.0, 1.0), ([1.0, -(2.0**-25)], 0.0, 1 - 2.0**-24), ([2.0**-26] * 16, 1.0, 1.0),
            ([1.5, 1.5], -3.0, 0.0), ([1.0, 2.0**-23], 0.0, 1 + 2.0**-23), ([1.0, 2.0**-24], 0.0, 1.0)]:
        a[0] = [*terms, *[0.0] * (16 - len(terms))]
        given = accumulation_vectors.modelled(a[:, None, :] * b[None], a, b, np.array([[c]]))[0, 0]
        if given != np.float32(expected):
            yield f"{terms} and {c} give {given!r}, expected {expected!r}"


def no_sums(_folder):
    """Zeros are no answer, and neither are results with one that is wrong."""
    def run(name, _module, _grid, _shared, _inputs, result):
        return result

    row = accumulation.measure(run, "bf16", "k", (8,))
    if row["equal"] is not None or not row["wrong"]:
        yield f"zeros give {row}"
    problem = accumulation_vectors.Problem("random", "f16", 8, 1)
    right = accumulation.results_of(accumulation.OnEmulator(), "f16", "k", [problem], False)[0][0]
    wrong = right.copy()
    wrong[2, 77, 1] += 1
    found = accumulation_vectors.compare(problem, right, wrong)
    if (found["different"], found["wrong"], found["first"]["slot"]) != (1, 1, 2):
        yield f"one wrong result gives {found}"


def layouts(_folder):
    """Each accumulator has one place."""
    for n in accumulation_kernels.SHAPES:
        row, column = accumulation_vectors.Problem("random", "bf16", n, 1).places()
        if len({*zip(row.ravel().tolist(), column.ravel().tolist())} if row.shape == column.shape else
               {*zip(*(x.ravel().tolist() for x in np.broadcast_arrays(row, column)))}) != 64 * n:
            yield f"n = {n}: accumulators share places"


def without_gpu(folder):
    done = subprocess.run([sys.executable, bundles.HERE / "accumulation.py", folder], capture_output=True, text=True,
                          env={**os.environ, "ADJOINT_LIBCUDA": str(folder / "nowhere.so")})
    if done.returncode != 4 or "there is no GPU here" not in done.stderr:
        yield f"exit code {done.returncode}: {done.stderr}"


def main():
    return checks.run_checks("accumulation", [
        *((f"{element}, B along {major}", functools.partial(both, element, major))
          for element in accumulation_kernels.ELEMENTS for major in accumulation_kernels.MAJORS),
        *((f"{element} in another order", functools.partial(in_another_order, element))
          for element in accumulation_kernels.ELEMENTS),
        *((f"{element} by the model", functools.partial(by_the_model, element))
          for element in accumulation_kernels.ELEMENTS),
        ("infinities", infinities), ("the model", model), ("no sums", no_sums), ("layouts", layouts), ("without a GPU", without_gpu)])


if __name__ == "__main__":
    sys.exit(main())
