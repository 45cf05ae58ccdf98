# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""`models`: the gradients in f64 that it holds everything against are slopes of its losses, ours are right in tiny
models, and a wrong result ends it.

Needs NumPy alone for the first; the others are skipped without the Python package (scripts/build_python.sh). Peers that
are not installed take no part. Closes with `N run, N failed`.
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import models_cases  # noqa: E402
import numpy as np  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
STEP, TOLERANCE = 1e-5, 1e-6  # of central differences
# Runs the benchmark with one result of ours that is a little off.
SPOILED = """
import sys
import models
import models_adjoint
right, name = models_adjoint.Contender.results, sys.argv.pop(1)
def wrong(self):
    results = right(self)
    return {**results, name: 1.01 * results[name]}
models_adjoint.Contender.results = wrong
models.main()
"""


def benchmark(*command):
    """Exit code and output of the benchmark with tiny models."""
    environment = {**os.environ, "ADJOINT_BIN": str(BIN), "PYTHONPATH": str(ROOT / "benchmarks")}
    done = subprocess.run([sys.executable, "-B", *command, "--small", "--rounds", "1"], capture_output=True, text=True,
                          env=environment)
    return done.returncode, done.stdout + done.stderr


def unit(values):
    return values / np.linalg.norm(values)


def check_truth(case, _folder):
    """The slope of the loss in the direction of the gradient, turned by another one, of each parameter and of x."""
    random, (x, *others) = np.random.default_rng(5), case.data
    values = {**case.parameters, **({"x": x} if case.has_input_gradient else {})}
    values = {name: value.astype(np.float64) for name, value in values.items()}

    def at(given):
        return case.gradients(given, (given.get("x", x), *others))

    for name, gradient in at(values)[1].items():
        along = unit(gradient) + unit(random.standard_normal(gradient.shape))
        after, before = (at({**values, name: values[name] + step * along})[0] for step in (STEP, -STEP))
        slope, got = (after - before) / (2 * STEP), float((gradient * along).sum())
        if not abs(got - slope) <= TOLERANCE * abs(slope):
            yield f"the gradient of {name} gives the slope {got}, differences give {slope}"


def check_right(cases, folder):
    written = folder / "rows.json"
    code, output = benchmark(ROOT / "benchmarks/models.py", "--json", written)
    assert code == 0, output
    rows = json.loads(written.read_text())
    assert [row["case"] for row in rows] == [case.name for case in cases], rows
    assert all(0 < row["seconds"]["ours"] for row in rows), rows
    if any("ratios" in row and row["ratios"] for row in rows):
        assert re.search(r"^models: [0-9.]+x of best peer \(geometric mean of 5\)$", output, re.MULTILINE), output
    else:
        print("models: comparison skipped, no peer is installed")


def check_wrong(case, result, _folder):
    code, output = benchmark("-c", SPOILED, result, "--only", case)
    assert code == 1 and f"{result} of ours is off by " in output, output


def main():
    cases = models_cases.cases(small=True)
    every = [(f"f64 of {case}", functools.partial(check_truth, case)) for case in cases if case.model]
    if (BIN.parent / "python").exists():
        every.append(("right results", functools.partial(check_right, cases)))
        every += [(f"wrong {result}", functools.partial(check_wrong, case, result))
                  for case, result in (("lstm", "d_weight_hh_l0"), ("adamw", "change_norm1.weight"))]
    else:
        print("models: ours is skipped, there is no Python package; scripts/build_python.sh makes it")
    return checks.run_checks("models", every)


if __name__ == "__main__":
    sys.exit(main())
