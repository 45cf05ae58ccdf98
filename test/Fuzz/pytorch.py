#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random configurations of attention, convolutions, windows, lookups, scatters, sorts, scans and norms against PyTorch,
forward and gradients, --count of each operation, in f32 and f64, on the reference interpreter, the CPU and the emulated
GPU.

PyTorch computes in f64 on the same values. Ours differs by at most 1e-10 of the largest element in f64 and 1e-5 in f32.
No two values of one argument are equal: where they are, gradients of maxima are each library's own.

Needs the package, which scripts/build_python.sh makes, and PyTorch: .venv/bin/pip install torch==2.13.0. Closes with
`pytorch: N run, N failed`."""

import argparse
import collections
import concurrent.futures
import functools
import os
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
sys.path[:0] = [str(BIN.parent / "python"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True

try:
    import adjoint
    import torch
except ImportError as error:
    sys.exit(f"pytorch: {error}; scripts/build_python.sh makes the package, and .venv/bin/pip install torch==2.13.0 "
             "installs PyTorch")
import peer_operations  # noqa: E402

BOUNDS = {np.float64: 1e-10, np.float32: 1e-5}
TARGETS = ("cpu", "cpu", "cpu", "reference", "gpu-sim")


def results_of_ours(case, weights, options):
    def loss(*arrays):
        return sum((made * weight).sum() for made, weight in zip(case.ours(*arrays), weights))

    wanted = case.wanted()
    both = lambda *arrays: (case.ours(*arrays), adjoint.grad(loss, argnums=wanted)(*arrays) if wanted else ())
    values, gradients = adjoint.jit(both, **options)(*case.arrays)
    return [*values, *gradients]


def results_of_theirs(case, weights):
    arrays = [torch.tensor(array.astype(np.float64) if array.dtype.kind == "f" else array) for array in case.arrays]
    wanted = [arrays[i].requires_grad_() for i in case.wanted()]
    values = case.theirs(*arrays)
    if not wanted:
        return [value.detach().numpy() for value in values]
    loss = sum((value * torch.tensor(weight.astype(np.float64))).sum() for value, weight in zip(values, weights))
    loss.backward()
    gradients = [torch.zeros_like(array) if array.grad is None else array.grad for array in wanted]
    return [value.detach().numpy() for value in (*values, *gradients)]


def distance(found, expected):
    """The largest difference, divided by the largest element."""
    if found.shape != expected.shape:
        return f"has the shape {found.shape}, expected {expected.shape}"
    if not found.size:
        return 0.0
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    if not np.array_equal(np.isfinite(found), np.isfinite(expected)):
        return "has other infinities or NaNs"
    scale = np.abs(expected, where=np.isfinite(expected), out=np.zeros_like(expected)).max()
    return float(np.abs(np.where(found == expected, 0, found - expected)).max() / (scale or 1))


def complaint(case, rng):
    shapes = [value.shape for value in case.theirs(*map(torch.tensor, case.arrays))]
    weights = [rng.normal(size=shape).astype(case.dtype) for shape in shapes]
    options = {"target": TARGETS[rng.integers(len(TARGETS))], "numerics": ["strict", "reproducible"][rng.integers(2)]}
    expected = results_of_theirs(case, weights)
    found = results_of_ours(case, weights, options)
    names = [f"result {i}" for i in range(len(shapes))] + [f"gradient by argument {i}" for i in case.wanted()]
    for name, ours, theirs in zip(names, found, expected, strict=True):
        far = distance(np.asarray(ours), theirs)
        if isinstance(far, str) or far > BOUNDS[case.dtype]:
            return f"{options}: {name} is {far} away, {case.said}"
    return None


def run_one(name, seed, number):
    """What is wrong with a case, or nothing; a fault of either library is."""
    rng = np.random.default_rng([seed, number, peer_operations.OPERATIONS.index(name)])
    torch.set_num_threads(1)
    try:
        case = peer_operations.draw(name, rng)
        return complaint(case, rng)
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="configurations of each operation")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first one, to run it again")
    parser.add_argument("--only", default="", help="operations whose names contain this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    given = parser.parse_args()
    names = [name for name in peer_operations.OPERATIONS if given.only in name]
    cases = [(name, number) for name in names for number in range(given.first, given.first + given.count)]
    failed = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(given.jobs) as pool:
        run = functools.partial(run_one, seed=given.seed)
        found = [(name, number, pool.submit(run, name, number=number)) for name, number in cases]
        for name, number, future in found:
            if problem := future.result():
                failed[name] += 1
                print(f"FAILED: {name} {number}: {problem}; --seed {given.seed} --first {number} --count 1 --only '{name}'",
                      flush=True)
    print(", ".join(f"{name} {given.count} ({failed[name]} failed)" for name in names))
    print(f"pytorch: {len(cases)} run, {sum(failed.values())} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
