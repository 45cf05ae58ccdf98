#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Debian packages: g++ python3-dev
"""Training steps of five models, called from Python on one core, compared with JAX and PyTorch, in f32.

A multi-layer perceptron with an update by AdamW, the gradients of a GPT-2 block, of a Llama block and of an LSTM, and
an update of many parameters by AdamW: ours in adjoint.nn and adjoint.optim, `jax.jit`, and PyTorch, compiled and eager.
All have the same weights and data, and an update is in place. Before a case is timed, the loss, the gradients, and
after two updates the changes of the parameters and both moments are held against f64. The contenders take turns in
each round. The ratio of a case is the median over the rounds of the time of the best peer divided by ours: above 1 we
are faster. A first call traces and compiles, with empty caches. Needs the package (scripts/build_python.sh) next to the
tools.
"""

import argparse
import importlib
import os
import pathlib
import statistics
import sys
import tempfile
import time

import measure

measure.use_one_core()
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
TORCH_CACHE = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = TORCH_CACHE.name
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

import models_cases  # noqa: E402

NAME = "models"
TOOLS = pathlib.Path(os.environ.get("ADJOINT_BIN", measure.ROOT / "build/release/bin"))
sys.path.insert(0, str(TOOLS.parent / "python"))
try:
    import models_adjoint  # noqa: E402
except ImportError as error:
    sys.exit(f"{NAME}: no Python package in {TOOLS.parent / 'python'} ({error}); run scripts/build_python.sh")

ROUNDS = 7
SECONDS = 0.5  # of a contender in a round
# Of a result against f64, by the norm of the difference and that of the result: of a loss and of gradients, and of what
# AdamW updates.
TOLERANCE, OF_UPDATES = 1e-4, 1e-3
PEERS = ("jax", "torch-compile", "torch-eager")


def load_peers():
    """The modules that can be imported."""
    found = []
    for name in ("jax", "torch"):
        try:
            found.append(importlib.import_module(f"models_{name}"))
        except ImportError as error:
            print(f"{name}: missing ({error})")
    return found


def error_of(results, truth):
    """The largest relative error of a result, and the name of that result."""
    if results.keys() != truth.keys():
        sys.exit(f"{NAME}: expected the results {', '.join(truth)}, got {', '.join(results)}")
    errors = {}
    for name, expected in truth.items():
        got = np.asarray(results[name])
        if got.shape != np.shape(expected):
            sys.exit(f"{NAME}: {name} has shape {got.shape}, expected {np.shape(expected)}")
        error = float(np.linalg.norm(got - expected) / max(np.linalg.norm(expected), 1e-30))
        errors[name] = error if error == error else float("inf")
    worst = max(errors, key=errors.get)
    return errors[worst], worst


def first_seconds(contender):
    """Seconds of the first call. After it the contender has done all steps before the results are compared."""
    contender.restart()
    begin = time.perf_counter()
    contender.step()
    seconds = time.perf_counter() - begin
    for _ in range(models_cases.STEPS - 1 if contender.case.has_update else 0):
        contender.step()
    return seconds


def timed(contender):
    """A function that gives the median seconds of a step. Each round begins with the same parameters: those of a
    training that goes on come to gradients that vanish."""
    def time_once():
        begin = time.perf_counter()
        contender.step()
        return time.perf_counter() - begin

    def median():
        contender.restart()
        calls = measure.calls_for(SECONDS, time_once())
        return statistics.median(time_once() for _ in range(calls))
    return median


def measure_case(case, peers, options):
    """The row of a case, or an error if a contender is wrong."""
    truth = case.truth()
    contenders = models_adjoint.contenders(case, options.numerics)
    for peer in peers:
        contenders.update(peer.contenders(case))
    row = {"case": case.name, "first_seconds": {}, "errors": {}}
    tolerance = OF_UPDATES if case.has_update else TOLERANCE
    for name, contender in contenders.items():
        row["first_seconds"][name] = first_seconds(contender)
        error, result = row["errors"][name] = error_of(contender.results(), truth)
        if not error <= tolerance:
            sys.exit(f"{NAME}: {case}: {result} of {name} is off by {error:.1e}, expected at most {tolerance:.0e}")
    rounds = measure.take_rounds({name: timed(contender) for name, contender in contenders.items()}, options.rounds)
    row["seconds"] = {name: statistics.median(seconds) for name, seconds in rounds.items()}
    row["ratios"] = {name: statistics.median(peer / ours for peer, ours in zip(rounds[name], rounds["ours"]))
                     for name in rounds if name != "ours"}
    if row["ratios"]:
        row["best"] = min(row["ratios"], key=row["ratios"].get)
    return row


def show(row):
    cells = [f"{1e3 * row['seconds'][name]:10.3f} ({row['first_seconds'][name]:5.2f})" if name in row["seconds"]
             else f"{'missing':>18}" for name in ("ours", *PEERS)]
    best = f"{row['ratios'][row['best']]:6.2f}" if "best" in row else f"{'':6}"
    print(f"{row['case']:42} {' '.join(cells)} {best} {row['errors']['ours'][0]:8.1e}", flush=True)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds that count (default: {ROUNDS})")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    parser.add_argument("--small", action="store_true", help="tiny models, to see that everything works")
    parser.add_argument("--numerics", default="strict", help="ours (default: strict)")
    return parser.parse_args()


def main():
    options = parse_options()
    cases = measure.select(models_cases.cases(options.small), options, NAME)
    peers, rows = load_peers(), []
    versions = "".join(f", {peer.VERSION}" for peer in peers)
    print(f"milliseconds of a step on one core (in brackets: seconds of the first call), ours {options.numerics}"
          f"{versions}, median of {options.rounds} interleaved rounds")
    print(f"{'case':42} {' '.join(f'{name:>18}' for name in ('ours', *PEERS))}  ratio error/f64")
    for case in cases:
        rows.append(measure_case(case, peers, options))
        show(rows[-1])
        measure.write_json(options, rows)
    ratios = {row["case"]: row["ratios"][row["best"]] for row in rows if "best" in row}
    for row in rows:
        if "best" in row:
            measure.close(NAME, ratios[row["case"]], row["best"], row["case"])
    measure.close_with_mean(NAME, ratios, "best peer")


if __name__ == "__main__":
    main()
