# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The answers of ad-diff bisect about random programs under random pairs of options are true. ad-runner itself leaves
out each rewrite that is named, which must change the results of its side; if no rewrite is named, the results must
differ without all rewrites that change bits, too. The exchange of A and B gives the same causes."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
INPUTS = ["--arg=x=normal:1", "--arg=w=normal:2"]
TENSOR = "tensor<8x8xf32>"
OPTIONS = ["", "--precision bf16", "--precision f16", "--numerics fast", "--numerics strict,approx",
           "--target reference", "--numerics strict,algebra", "--kernel dot=pairwise",
           "--numerics fast --precision bf16"]
FORMS = {"dot": f"ad.dot %A, %B : ({TENSOR}, {TENSOR}) -> {TENSOR}", "tanh": f"ad.tanh %A : {TENSOR}",
         "gelu": f"ad.gelu %A : {TENSOR}", "add": f"ad.add %A, %B : {TENSOR}",
         "log_softmax": f"ad.log_softmax %A axis 1 : {TENSOR}", "mul": f"ad.mul %A, %B : {TENSOR}"}
TWO = f"""func.func @main(%x: {TENSOR} {{ad.name = "x"}}, %w: {TENSOR} {{ad.name = "w"}})
    -> ({TENSOR} {{ad.name = "y"}}, {TENSOR} {{ad.name = "z"}}) {{
  %y = ad.dot %x, %w : ({TENSOR}, {TENSOR}) -> {TENSOR}
  %z = ad.tanh %x : {TENSOR}
  return %y, %z : {TENSOR}, {TENSOR}
}}
"""
TWO_PRODUCTS = TWO.replace("ad.tanh %x :", f"ad.dot %w, %x : ({TENSOR}, {TENSOR}) ->")


def random_program(generator):
    names, lines = ["x", "w"], []
    for number in range(int(generator.integers(2, 6))):
        form = FORMS[str(generator.choice(list(FORMS))) if number else "dot"]  # which options about products need
        a, b = (str(generator.choice(names)) for _ in range(2))
        lines.append(f"  %v{number} = " + form.replace("%A", f"%{a}").replace("%B", f"%{b}"))
        names.append(f"v{number}")
    results = [names[-1], "v0"]
    return (f'func.func @main(%x: {TENSOR} {{ad.name = "x"}}, %w: {TENSOR} {{ad.name = "w"}})\n'
            f'    -> ({TENSOR} {{ad.name = "y"}}, {TENSOR} {{ad.name = "z"}}) {{\n' + "\n".join(lines)
            + f"\n  return %{results[0]}, %{results[1]} : {TENSOR}, {TENSOR}\n}}\n")


class Runs:
    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def run(self, options, left_out=None):
        """Results and rewrites; None if the program does not compile."""
        self.count += 1
        out, listed, lacking = (self.folder / f"{name}{self.count}" for name in ("out", "listed", "lacking"))
        words = [BIN / "ad-runner", self.folder / "program.mlir", *INPUTS, *options.split(), f"--out-dir={out}",
                 f"--list-rewrites={listed}"]
        if left_out is not None:
            rows = ["rewrite\tpermission\toperation\tlocation", *("\t".join(row) for row in left_out)]
            lacking.write_text("\n".join(rows) + "\n")
            words.append(f"--rewrites-except={lacking}")
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return None
        rewrites = {tuple(line.split("\t")[:4]) for line in listed.read_text().splitlines()[1:]}
        return {path.name: path.read_bytes() for path in out.iterdir()}, rewrites

    def bisect(self, a, b):
        sides = [f"--{side}={options}" for side, options in (("a", a), ("b", b)) if options]
        done = subprocess.run([BIN / "ad-diff", "bisect", self.folder / "program.mlir", *INPUTS, *sides, "--json=-"],
                              capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return json.loads(done.stdout)


def rows_of(cause):
    return [tuple(row[key] for key in ("rewrite", "permission", "operation", "location")) for row in cause["rewrites"]]


def causes_of(report):
    """The rewrites that one side alone applies, by side."""
    causes = [report, *report.get("others", [])] if report["cause"] == "rewrites" else []
    return {(cause["side"], row) for cause in causes for row in rows_of(cause)}


def check_named(runs, report, sides):
    for side, row in causes_of(report):
        whole, rest = runs.run(sides[side]), runs.run(sides[side], [row])
        if row not in whole[1]:
            yield f"{side} does not apply {row}"
        if rest and rest[0] == whole[0] and row[1] != "none":
            yield f"without {row}, {side} gives the same results"


def check_counts(report, full):
    """The number that the text gives is that of the lists of both sides."""
    own = {"A": full["A"][1] - full["B"][1], "B": full["B"][1] - full["A"][1]}
    for cause in [report, *report["others"]] if report["cause"] in ("rewrites", "shared") else []:
        kinds = {row[:2] for row in rows_of(cause)}
        expected = (own[cause["side"]] if cause["side"] else
                    {row for row in full["A"][1] & full["B"][1] if row[:2] in kinds})
        if cause["candidates"] != len(expected):
            yield f"expected {len(expected)} rewrites of '{cause['side']}' as candidates, got {cause['candidates']}"


def check_nothing(runs, report, sides):
    """Nothing is named, so that the results differ without all rewrites that change bits and only one side applies."""
    full = {side: runs.run(options) for side, options in sides.items()}
    if report["cause"] == "none":
        if full["A"][0] != full["B"][0]:
            yield "the results differ, and the report has no cause"
        return
    own = {"A": full["A"][1] - full["B"][1], "B": full["B"][1] - full["A"][1]}
    bases = [runs.run(sides[side], [row for row in own[side] if row[1] != "none"]) for side in "AB"]
    if all(bases) and bases[0][0] == bases[1][0]:
        yield f"no rewrite is named, but the results are equal without {own}"


def check_pair(text, a, b, expected=None):
    def check(folder):
        (folder / "program.mlir").write_text(text)
        runs, sides = Runs(folder), {"A": a, "B": b}
        report = runs.bisect(a, b)
        what = f"A {a!r}, B {b!r}: {report}\n{text}"
        found = check_named if report["cause"] == "rewrites" else check_nothing
        full = {side: runs.run(options) for side, options in sides.items()}
        yield from (f"{problem}; {what}" for problem in check_counts(report, full))
        if report["cause"] != "shared":
            yield from (f"{problem}; {what}" for problem in found(runs, report, sides))
        if report.get("reduced", {}).get("reduction") == "earlier":
            yield f"the differentiated program is the program, and it differs; {what}"
        swapped = {({"A": "B", "B": "A"}[side], row) for side, row in causes_of(runs.bisect(b, a))}
        if swapped != causes_of(report):
            yield f"the exchange gives {swapped}; {what}"
        if expected is not None:
            names = {(side, row[0], row[2]) for side, row in causes_of(report)}
            if report["cause"] == "shared":
                names = {("", row[0], row[2]) for row in rows_of(report)}
            if names != expected:
                yield f"expected {expected}; {what}"
    return check


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    product = f"ad.dot %x, %w : ({TENSOR}, {TENSOR}) -> {TENSOR}"
    needing = TWO.replace(product, f"ad.log_softmax %x axis 1 : {TENSOR}").replace("ad.tanh", "ad.gelu")
    cases = [
        ("a rewrite of each side", check_pair(TWO, "--precision bf16", "--numerics fast", {
            ("A", "ad-autocast", "ad.dot"), ("B", "approximate-function", "ad.tanh")})),
        ("two casts to other types", check_pair(TWO_PRODUCTS, "--precision bf16", "--precision f16", {
            ("", "ad-autocast", "ad.dot")})),
        ("a side that needs exact rewrites", check_pair(needing, "--target reference", "--numerics fast", None)),
    ]
    for seed in checks.sample(range(options.seed, options.seed + options.count), 3):
        generator = np.random.default_rng(seed)
        a, b = (str(option) for option in generator.choice(OPTIONS, 2, replace=False))
        cases.append((f"seed {seed}", check_pair(random_program(generator), a, b)))
    return checks.run_checks("bisect_pairs", cases)


if __name__ == "__main__":
    sys.exit(main())
