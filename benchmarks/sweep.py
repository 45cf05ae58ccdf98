#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Named and random cases on one core: ours in `strict` compared with NumPy, JAX and PyTorch (eager and compiled).

Before a case is timed, the results of each contender are held against an evaluation in f64: ours must be right, and a
peer whose results are wrong is left out. The contenders take turns in each round. Ours is the time of a run within
ad-runner, a peer's is that of a call from Python. The ratio of a case is the time of the best peer divided by ours:
above 1 we are faster. Our arrays begin where large ones of NumPy do, those of a random case also elsewhere. In some
random cases the types of the arguments leave sizes open; then the program with static sizes takes turns, too. The ten
worst cases are named with the kernels that take most of their time. A random case follows from --seed and its number
alone, so that it can be run again with --first and --count.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import measure

measure.use_one_core()
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

import sweep_cases  # noqa: E402
import sweep_named  # noqa: E402
import sweep_peers  # noqa: E402

NAME = "sweep"
ROUNDS = 5
BURST = 0.03  # seconds that the calls of one contender take in a round, about
WORST = 10
LARGEST_F16 = 65504.0  # beyond, a sum in f16 is infinite


class Ours:
    """Our program of a case, compiled once into a cache."""

    def __init__(self, folder, case, numerics, text=None):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "program.mlir").write_text(text or case.text)
        binaries = pathlib.Path(os.environ.get("ADJOINT_BIN", measure.ROOT / "build/release/bin"))
        sources = ["--threads", "1"]
        for name, (values, element) in case.arguments.items():
            np.save(folder / f"{name}.npy", storage(values, element))
            sources += ["--arg", f"{name}={folder / name}.npy"]
        for name, values in getattr(case, "feeds", {}).items():
            np.save(folder / f"{name}.npy", values)
            sources += ["--feed", f"{name}={folder / name}.npy"]
        self.compile = [binaries / "ad-runner", folder / "program.mlir", "--numerics", numerics,
                        "--cache", folder / "cache"]
        self.sources = sources
        self.compiled = [binaries / "adrt-run", folder / "program.adx", *sources]
        self.environment = {**os.environ, "ADJOINT_ARRAY_OFFSET": str(getattr(case, "offset", measure.NUMPY_OFFSET))}

    def run(self, *options):
        execute([*self.compile, *self.sources, *options], self.environment)

    def results(self, elements):
        out = self.folder / "out"
        self.run("--out-dir", out)
        return [load(out / f"{name}.npy") for name in elements]

    def time(self, calls):
        """Seconds of a run, from a program that times no kernels: to read the clock takes longer than the shortest of
        them."""
        if not self.compiled[1].exists():
            execute([*self.compile, "--emit", self.compiled[1]])
        report = self.folder / "report.json"
        execute([*self.compiled, "--warmup", "1", "--repeat", str(calls), "--report", report], self.environment)
        return json.loads(report.read_text())["median_seconds"]

    def kernels(self):
        """The kernels that take most of the time, with their shares."""
        path = self.folder / "kernels.json"
        self.run("--warmup", "1", "--repeat", "3", "--report", path)
        report = json.loads(path.read_text())
        kernels, total = report["kernels"], sum(report["runs"])
        kernels = sorted(kernels, key=lambda kernel: -kernel["seconds"])[:3]
        return ", ".join(f"{kernel['name']} {100 * kernel['seconds'] / total:.0f} %" for kernel in kernels)


def execute(command, environment=None):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{command[0].name} failed: {first_line(done.stderr) or done.returncode}")


def first_line(text):
    return text.strip().split("\n")[0][:100]


def storage(values, element):
    if element == "bf16":
        return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")
    return np.asarray(values, sweep_peers.Numpy.DTYPES[element])


def load(path):
    values = np.load(path)
    if values.dtype.kind == "V":
        values = (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return values


def error_of(results, truth):
    """The largest error of a result, relative to its largest element."""
    worst = 0.0
    for got, expected in zip(results, truth, strict=True):
        is_f16 = str(got.dtype).endswith("float16") and "bfloat16" not in str(got.dtype)  # of NumPy, JAX or PyTorch
        got = np.asarray(got.float() if hasattr(got, "float") else got).astype(np.float64)
        if got.shape != np.shape(expected):
            raise RuntimeError(f"a result has shape {got.shape}, expected {np.shape(expected)}")
        if is_f16 and np.abs(expected).max() > LARGEST_F16:
            expected, got = (np.clip(values, -LARGEST_F16, LARGEST_F16) for values in (expected, got))
        worst = max(worst, float(np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30)))
    return worst


def right_contenders(case, notes):
    """The peers that run and are right, each with an estimate of its time."""
    kept = {}
    for name, run in case.contenders.items():
        try:
            error = error_of(run(), case.truth.values())
            if not error <= case.tolerance:
                notes.append(f"{name} is off by {error:.1e}")
                continue
            start = time.perf_counter()
            run()
            kept[name] = (run, time.perf_counter() - start)
        except Exception as problem:  # whatever a library raises that lacks something
            notes.append(f"{name}: {type(problem).__name__}: {first_line(str(problem))}")
    return kept


def median_time(run, calls):
    seconds = []
    for _ in range(calls):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def calls_for(estimate):
    return max(1, min(200, round(BURST / max(estimate, 1e-7))))


def measure_case(case, peers, options, folder):
    """The row of a case."""
    notes, row = [], {"case": case.name}
    case.prepare(peers)
    ours = Ours(folder, case, options.numerics)
    row["error"] = error_of(ours.results(case.truth), case.truth.values())
    if not row["error"] <= case.tolerance:
        return {**row, "failed": f"a result is off by {row['error']:.1e}, expected at most {case.tolerance:.0e}"}
    kept = right_contenders(case, notes)
    calls = calls_for(ours.time(1))
    contenders = {"ours": lambda: ours.time(calls)}
    for name, (run, estimate) in kept.items():
        contenders[name] = lambda run=run, calls=calls_for(estimate): median_time(run, calls)
    if static_text := getattr(case, "static_text", None):
        static = Ours(folder / "static", case, options.numerics, static_text)
        contenders["static"] = lambda: static.time(calls)
    row["seconds"] = measure.take_turns(contenders, options.rounds)
    if static_text:
        row["of_static"] = row["seconds"]["static"] / row["seconds"]["ours"]
    row["kernels"], row["notes"] = ours.kernels(), notes
    if kept:
        row["best"] = min(kept, key=row["seconds"].get)
        row["ratio"] = row["seconds"][row["best"]] / row["seconds"]["ours"]
    return row


def show(row):
    if "failed" in row:
        print(f"{row['case'][:76]:76} FAILED: {row['failed']}", flush=True)
        return
    seconds, peer = row["seconds"], "no peer"
    if "best" in row:
        peer = f"{1e3 * seconds[row['best']]:10.3f} {row['ratio']:6.2f} {row['best']}"
    of_static = f", {row['of_static']:.2f} of static" if "of_static" in row else ""
    print(f"{row['case'][:76]:76} {1e3 * seconds['ours']:10.3f} {peer}{of_static}", flush=True)


def close_dynamic(rows):
    """The programs with dynamic sizes, compared with the same programs with static ones."""
    ratios = [(row["of_static"], row["case"]) for row in rows if "of_static" in row]
    if ratios:
        tenth = float(np.quantile([ratio for ratio, _ in ratios], 0.1))
        measure.close(NAME, tenth, "static sizes", f"10th percentile of {len(ratios)} with dynamic sizes")
        measure.close(NAME, min(ratios)[0], "static sizes", f"worst: {min(ratios)[1]}")


def close(rows):
    """Quantiles, the worst cases with their kernels, and the closing lines."""
    failed = [row for row in rows if "failed" in row]
    close_dynamic(rows)
    rows = sorted((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])
    if rows:
        ratios = [row["ratio"] for row in rows]
        print(f"\nthe {min(WORST, len(rows))} worst:")
        for row in rows[:WORST]:
            print(f"  {row['ratio']:.2f}x of {row['best']}: {row['case']} ({row['kernels']})")
        print(f"quantiles of {len(rows)}: minimum {ratios[0]:.2f}, 10th percentile {np.quantile(ratios, 0.1):.2f}, "
              f"median {np.median(ratios):.2f}")
        for row in rows:
            if not row["case"][0].isdigit():
                measure.close(NAME, row["ratio"], row["best"], row["case"])
        measure.close(NAME, float(np.quantile(ratios, 0.1)), "best peer", f"10th percentile of {len(rows)}")
        measure.close(NAME, ratios[0], "best peer", f"worst: {rows[0]['case']}")
    for row in failed:
        print(f"{NAME}: {row['case']}: {row['failed']}")
    return len(failed)


def parser_of_cases(doc, count):
    """Options of a benchmark over named and random cases, of which it draws `count`."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds that count (default: {ROUNDS})")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    parser.add_argument("--seed", type=int, default=1, help="of the random cases (default: 1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first random case (default: 0)")
    parser.add_argument("--count", type=int, default=count, help=f"random cases (default: {count})")
    parser.add_argument("--no-named", action="store_true", help="leave the named cases out")
    return parser


def chosen_cases(options, named):
    """Those of the named and the random cases that --only leaves."""
    numbers = range(options.first, options.first + options.count)
    drawn = [sweep_named.GraphCase(*sweep_cases.random_graph(options.seed, number), number) for number in numbers]
    return [case for case in ([] if options.no_named else named) + drawn if options.only in case.name]


def measure_all(cases, options, row_of, show_row):
    """The rows of the cases: row_of(case, folder), or why there is none. What is done is on disk."""
    rows = []
    for case in cases:
        with tempfile.TemporaryDirectory() as folder:
            try:
                rows.append(row_of(case, pathlib.Path(folder)))
            except RuntimeError as error:
                rows.append({"case": case.name, "failed": str(error)})
        show_row(rows[-1])
        measure.write_json(options, rows)
    return rows


def main():
    parser = parser_of_cases(__doc__, count=60)
    parser.add_argument("--numerics", default="strict")
    options = parser.parse_args()
    cases = chosen_cases(options, sweep_named.cases())
    if not cases:
        sys.exit(f"{NAME}: no case contains '{options.only}'")
    peers = sweep_peers.load()
    print(f"milliseconds, one core, ours {options.numerics}, seed {options.seed}, "
          f"median of {options.rounds} interleaved rounds")
    print(f"{'case':76} {'ours':>10} {'best peer':>10} {'ratio':>6}")
    return close(measure_all(cases, options, lambda case, folder: measure_case(case, peers, options, folder),
                             show)) != 0


if __name__ == "__main__":
    sys.exit(main())
