#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""How much do means and normalized rows depend on the order of their elements?

The published magnitudes are those of the example "Reproducible Parallelized Reduction is difficult" of onnx-diagnostic.
"""

import numpy as np

import svg
from experiment import NUMPY, Experiment, run_program

SIZES = [2, 4, 8, 16, 512, 1024, 2048, 4096, 8192]
ELEMENTS = ["f16", "f32", "f64"]
DISTRIBUTIONS = ["normal", "fixed", "pareto"]
ORDERS = 129  # as given, random, ascending, descending, and random ones
EPSILON = 1e-6
STRATEGIES = {"written": [], "serial": "serial", "pairwise": "pairwise"}
PUBLISHED = {  # the largest delta over all sizes: of means, of normalized rows
    "normal": {"f16": (0, 9.8e-4), "f32": (1.2e-7, 4.8e-7), "f64": (2.2e-16, 8.9e-16)},
    "fixed": {"f16": (0, 0), "f32": (4.8e-7, 3.8e-6), "f64": (3.6e-15, 7.1e-15)},
    "pareto": {"f16": (0, 6.1e-5), "f32": (1.9e-6, 3.8e-6), "f64": (5.3e-15, 1.4e-14)},
}


def values_of(distribution, size, rng):
    if distribution == "normal":
        return rng.standard_normal(size)
    if distribution == "pareto":
        return rng.pareto(1, size)
    values = np.full(size, -1e-4)
    values[::128] = 100
    return values


def orders(values, rng):
    """The same values in ORDERS orders, a row each."""
    ascending = np.sort(values)
    return np.stack([values, rng.permutation(values), ascending, ascending[::-1],
                     *(rng.permutation(values) for _ in range(ORDERS - 4))])


def program(element, sizes):
    """The mean of each row, and the rows normalized: (x - mean) / (deviation + epsilon); f16 computes in f32."""
    wide = "f32" if element == "f16" else element
    arguments = ", ".join(f'%x{n}: tensor<{ORDERS}x{n}x{element}> {{ad.name = "x{n}"}}' for n in sizes)
    results, values, body = [], [], ""
    for n in sizes:
        rows, row = f"tensor<{ORDERS}x{n}x{element}>", f"tensor<{ORDERS}x{element}>"
        wide_rows, column = f"tensor<{ORDERS}x{n}x{wide}>", f"tensor<{ORDERS}x1x{wide}>"
        results += [f'{row} {{ad.name = "mean{n}"}}', f'{rows} {{ad.name = "norm{n}"}}']
        values += [(f"%mean{n}", row), (f"%norm{n}", rows)]
        up = f"  %w{n} = ad.cast %x{n} : {rows} -> {wide_rows}\n" if wide != element else ""
        down = f"  %norm{n} = ad.cast %scaled{n} : {wide_rows} -> {rows}\n" if wide != element else ""
        source, target = (f"%w{n}", f"%scaled{n}") if up else (f"%x{n}", f"%norm{n}")
        body += f"""\
  %mean{n} = ad.reduce_mean %x{n} axes [1] : {rows} -> {row}
{up}\
  %middle{n} = ad.reduce_mean {source} axes [1] keep_dims : {wide_rows} -> {column}
  %centred{n} = ad.sub {source}, %middle{n} : {wide_rows}, {column}
  %square{n} = ad.mul %centred{n}, %centred{n} : {wide_rows}
  %variance{n} = ad.reduce_mean %square{n} axes [1] keep_dims : {wide_rows} -> {column}
  %deviation{n} = ad.sqrt %variance{n} : {column}
  %divisor{n} = ad.add %deviation{n}, %epsilon : {column}, tensor<{wide}>
  {target} = ad.div %centred{n}, %divisor{n} : {wide_rows}, {column}
{down}"""
    return f"""\
// Means and normalized rows of the same values in {ORDERS} orders, for each size.
func.func @main({arguments})
    -> ({", ".join(results)}) {{
  %epsilon = ad.constant dense<{EPSILON:e}> : tensor<{wide}>
{body}  return {", ".join(v for v, _ in values)}
      : {", ".join(t for _, t in values)}
}}
"""


def deltas(results, sizes):
    """By size: how far apart the means are, and the largest elements' distance of the sorted normalized rows."""
    found = {}
    for n in sizes:
        means, rows = results[f"mean{n}"].astype(np.float64), np.sort(results[f"norm{n}"].astype(np.float64), axis=1)
        distances = np.abs(rows - rows[0]).max(axis=1)
        found[n] = {"mean": float(means.max() - means.min()), "norm": float(distances.max()),
                    "scale": float(max(1, np.abs(means).max())), "norm_scale": float(max(1, np.abs(rows).max()))}
    return found


class Study:
    def __init__(self):
        self.e = Experiment("parallel-reduction", "Do sums depend on the order of their elements?",
                            "Means and normalized rows of the same values in 129 orders: f32 and f64 change in the last "
                            "digits with each order, and with the strategy of the reduction; the same order gives the "
                            "same bits.")
        self.e.explain({"normal": "values of the standard normal distribution",
                        "fixed": "-1e-4, and 100 at each 128th place",
                        "pareto": "values of the Pareto distribution with shape 1: few are very large",
                        "normalized": "(x - mean) / (standard deviation + 1e-6)",
                        "written": "sums in the order of docs/numerics.md; serial: from the first to the last; pairwise: "
                                   "in a balanced tree"})
        self.sizes = [n for n in SIZES if n <= 512] if self.e.target == "gpu-sim" else SIZES
        self.sets = {}
        for number, name in enumerate(DISTRIBUTIONS):
            rng = np.random.default_rng(number)
            whole = values_of(name, max(SIZES), rng)
            self.sets[name] = {n: orders(whole[:n], rng) for n in self.sizes}

    def run(self, distribution, element, options=()):
        with np.errstate(over="ignore"):  # Pareto's tail is infinite in f16
            arrays = {f"x{n}": np.minimum(x, 6e4).astype(NUMPY[element]) for n, x in self.sets[distribution].items()}
        return self.e.run(f"reduction-{element}", program(element, self.sizes), arrays, options)

    def tables(self):
        """One table for each distribution, and the largest deltas beside the published ones."""
        found = {d: {t: deltas(self.run(d, t), self.sizes) for t in ELEMENTS} for d in DISTRIBUTIONS}
        for d, by_element in found.items():
            for what, words in (("mean", "means"), ("norm", "normalized rows")):
                rows = [[n, *(by_element[t][n][what] for t in ELEMENTS)] for n in self.sizes]
                self.e.table(f"{d}-{what}", f"{d}: largest minus smallest of {ORDERS} orders, {words}",
                             ["size", *ELEMENTS], rows)
        summary = []
        for d in DISTRIBUTIONS:
            for i, what in enumerate(("mean", "norm")):
                largest = [max(found[d][t][n][what] for n in self.sizes) for t in ELEMENTS]
                summary.append([d, what, *largest, *(PUBLISHED[d][t][i] for t in ELEMENTS)])
        self.e.table("summary", "largest over all sizes, beside the published magnitudes",
                     ["distribution", "of", *ELEMENTS, *(f"published {t}" for t in ELEMENTS)], summary)
        self.charts(found)
        return found

    def charts(self, found):
        for what, words in (("norm", "normalized rows"), ("mean", "means")):
            groups = [(d, [max(found[d][t][n][what] for n in self.sizes) for t in ELEMENTS]) for d in DISTRIBUTIONS]
            self.e.picture(f"largest-{what}", svg.bars(
                f"How far apart 129 orders are: {words}", "Largest over all sizes. Lower is better; 0: all orders gave "
                "equal results.", groups, ELEMENTS, "largest difference", "distribution of the values"),
                f"Largest differences of {words} between orders, by type.")
        groups = [(str(n), [found["pareto"][t][n]["norm"] for t in ELEMENTS]) for n in self.sizes]
        self.e.picture("pareto-sizes", svg.bars("Normalized rows of Pareto values, by size",
                                                "Lower is better; 0: all orders gave equal results.", groups, ELEMENTS,
                                                "largest difference", "elements of a row"),
                       "The same for each size of Pareto's values.")

    def strategies(self):
        """The orders of summation that a program may name: how far their means are from each other."""
        means = {}
        for name, kernel in STRATEGIES.items():
            results = self.run("pareto", "f32", ["--kernel", f"reduce_mean={kernel}"] if kernel else [])
            means[name] = results[f"mean{self.sizes[-1]}"].astype(np.float64)
        exact = self.sets["pareto"][self.sizes[-1]].astype(np.float32).astype(np.float64).mean(axis=1)
        rows, errors = [], {}
        for name, value in means.items():
            errors[name] = float(np.abs(value - exact).max())
            rows.append([name, errors[name], float(np.abs(value - means["written"]).max()),
                         float(value.max() - value.min())])
        self.e.table("strategies", f"strategies, f32, pareto, size {self.sizes[-1]}: means", [
            "strategy", "largest error to f64", "largest difference to written", "delta over orders"], rows)
        self.e.picture("strategies", svg.bars(
            "Error of the mean, by strategy", "f32, Pareto values, all orders. Lower is better.",
            [(name, [error]) for name, error in errors.items()], ["largest error"], "distance to the mean in f64",
            "strategy of the reduction"), "What the order of summation costs in accuracy.")
        return {name: rows[i][2] for i, name in enumerate(means)}

    def repeats(self):
        """The same order again: on one thread, on seven, and with --numerics reproducible on the reference."""
        first = self.run("pareto", "f32", ["--threads", "1", "--numerics", "reproducible"])
        again = self.run("pareto", "f32", ["--threads", "7", "--numerics", "reproducible"])
        equal = all(first[name].tobytes() == again[name].tobytes() for name in first)
        self.e.say(f"the same order on 1 and on 7 threads: {'equal bits' if equal else 'OTHER BITS'}")
        return equal


def main():
    study = Study()
    found = study.tables()
    differences = study.strategies()
    study.e.finish(deltas=found, strategies=differences, repeats=study.repeats(), orders=ORDERS, sizes=study.sizes)


if __name__ == "__main__":
    run_program(main)
