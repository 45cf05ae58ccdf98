# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs one program of a bundle, and says what is wrong with its results, or nothing."""

import numpy as np

import canonical
import processes


def command(bundle, target, case, program, more=()):
    return [bundle / "adrt-run", program["program"], "--target", target, *case["options"], *more]


def run(bundle, target, case, program, out, seconds, more=()):
    return processes.run([*command(bundle, target, case, program, more), "--out-dir", out], seconds,
                         bundle / "cases" / case["name"])


def wrong_names(expected, out):
    given = {file.stem for file in out.glob("*") if file.name != "manifest.json"}
    return f"wrote {sorted(given)}, expected {sorted(expected)}" if given != set(expected) else None


def wrong_bits(case, out):
    """Which results are not those of the reference."""
    if wrong := wrong_names(case["results"], out):
        return wrong
    given = canonical.digests(out, case["elements"])
    different = sorted(name for name, digest in case["results"].items() if given[name] != digest)
    return f"differs from the reference in {', '.join(f'{name}.npy' for name in different)}" if different else None


def outside(bound, expected, out):
    """What leaves the bound around the results of a contraction. `sum` is `dot` and an operand, rounded once more."""
    if wrong := wrong_names(["dot", "sum"], out):
        return wrong
    exact, given = ({name: canonical.widened(np.load(folder / f"{name}.npy"), bound["element"])
                     for name in ("dot", "sum")}
                    for folder in (expected, out))
    for name, values in exact.items():
        if given[name].shape != values.shape:
            return f"{name}.npy has the shape {given[name].shape}, expected {values.shape}"
        allowed = bound["relative"] * (np.abs(exact["dot"]) + np.abs(values)) + bound["absolute"]
        error = np.abs(given[name] - values) - allowed
        if not (error <= 0).all():
            return f"{name}.npy leaves the bound by {np.nanmax(error)}"
    return None
