# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""cost_gate.py [--tighten]: holds the cost sheets of all classes of kernels against the model of scripts/cost_sheet.

cost-exceptions.json lists each miss of a bound, with its figure and the reason: a kernel may be better than
that, not worse, and what meets its bound has to leave the table. --tighten takes out of the table what is better now;
it lets nothing in. $ADJOINT_SEED chooses random variants of the named programs; an exception of theirs holds for a
class of kernels and a type of elements, and stays: another seed may need it. What is said of registers is compared with
what nvdisasm infers, which takes a second to start: a sample has the first program and each third of the others."""

import argparse
import concurrent.futures
import functools
import json
import os
import pathlib
import random
import sys
import tempfile

INPUTS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(INPUTS), str(INPUTS.parents[3] / "scripts" / "cost_sheet"), str(INPUTS.parents[2] / "Support")]
import checks  # noqa: E402
import cost_cases  # noqa: E402
import cost_faults  # noqa: E402
import kernels  # noqa: E402
import model  # noqa: E402
import ranges  # noqa: E402
import report  # noqa: E402
import sass  # noqa: E402
import sheet  # noqa: E402

TABLE = INPUTS / "cost-exceptions.json"
SEED = int(os.environ.get("ADJOINT_SEED", "1"))
VARIANTS = 16 if checks.SAMPLE < 0 else 8
ONE_IN = 10  # of a sample
ANY = "*"  # kernel and chip of an exception for a class of random variants


def examine(case, chip, with_ranges):
    """(key of the kernel, its line, misses) of each kernel, and what nvdisasm says otherwise."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(case.text)
        found, listing = kernels.compile_module(path, chip, case.numerics, with_ranges)
    rows = []
    for kernel in found:
        cost = sheet.make(kernel, chip)
        rows.append(((case.name, kernel.name, chip), report.line(cost), list(model.misses(kernel, cost))))
    count, wrong = ranges.disagreements(listing) if with_ranges else (1, [])
    return rows, wrong if count else ["no instruction was compared"]


def faults():
    """What is wrong with how planted faults are found, by what ptxas makes of them."""
    tensor = kernels.Tensor((4096, 4096), 4)
    for name, (ptx, expected) in cost_faults.FAULTS.items():
        for chip in cost_cases.BOTH:
            used, listing = kernels.assemble(ptx.replace("{chip}", chip), chip)
            launch = {"level": "thread", "axes": 2, "elements": 1 if "4 bytes" in name else 4}
            code, = sass.parse(listing)
            kernel = kernels.Compiled(name, "elementwise", [tensor], [tensor], {0: 0, 8: 1}, 0, launch, *used["kernel"],
                                      code)
            missed = {miss.bound for miss in model.misses(kernel, sheet.make(kernel, chip))}
            if not expected <= missed or (not expected and missed):
                yield f"{name} on {chip}: expected misses of {sorted(expected)}, found {sorted(missed)}"


class Exceptions:
    """The table: for each kernel and bound a figure that is no better than the bound."""

    def __init__(self):
        self.rows = json.loads(TABLE.read_text())
        self.known = {self.key(row): row for row in self.rows}
        self.met = set()
        self.better = {}

    @staticmethod
    def key(row):
        return row["case"], row["kernel"], row["chip"], row["bound"]

    def complaint_of_class(self, kind, miss):
        """What is wrong with a miss of a random variant, or None."""
        row = self.known.get((f"variant-{kind}", ANY, ANY, miss.bound))
        if row and not miss.is_worse_than(row["figure"]):
            return None
        return report.complaint(miss) + (f"; the exception of its class has {row['figure']}" if row else "")

    def complaint(self, key, miss):
        """What is wrong with a miss, or None."""
        row = self.known.get((*key, miss.bound))
        if not row:
            return report.complaint(miss)
        self.met.add(self.key(row))
        if rounded(miss) == row["figure"]:
            return None
        if miss.is_worse_than(row["figure"]):
            return f"{report.complaint(miss)}; its exception has {row['figure']}"
        self.better[self.key(row)] = rounded(miss)
        return None

    def unused(self, left_out):
        return [key for key in self.known if key not in self.met and ANY not in key and key[0] not in left_out]

    def tighten(self):
        rows = [dict(row, figure=self.better.get(self.key(row), row["figure"])) for row in self.rows if self.key(row)
                in self.met or ANY in self.key(row)]
        text = "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"
        whole = TABLE.with_suffix(".new")
        whole.write_text(text)
        whole.replace(TABLE)


def rounded(miss):
    return round(miss.figure, 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tighten", action="store_true")
    options = parser.parse_args()
    print(f"seed {SEED}", flush=True)
    rng, failed, count, exceptions = random.Random(SEED), 0, 0, Exceptions()
    for wrong in faults():
        failed += 1
        print(f"  WRONG: planted fault {wrong}")
    named = cost_cases.named()
    cases = named if options.tighten else named[:1] + checks.sample(named[1:], ONE_IN)
    jobs = [(case, chip, chip == rng.choice(case.chips)) for case in cases for chip in case.chips]
    jobs += [(case, rng.choice(case.chips), True) for case in cost_cases.variants(rng, VARIANTS)]
    with concurrent.futures.ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for (case, chip, _), (rows, wrong) in zip(jobs, pool.map(examine, *zip(*jobs))):
            wrong = wrong or ([] if rows else ["no kernel"])
            for key, line, misses in rows:
                count += 1
                print(f"{' '.join(key)}: {line}")
                judge = functools.partial(exceptions.complaint_of_class,
                                          case.kind) if case.kind else functools.partial(exceptions.complaint, key)
                complaints = [text for miss in misses if (text := judge(miss))]
                wrong += [f"{key[1]}: {text}" for text in complaints]
            failed += bool(wrong)
            for text in wrong[:5]:
                print(f"  WRONG: {case.name} on {chip}: {text}")
            if wrong and case not in cases:
                print(f"  numerics={case.numerics or 'strict'}\n{case.text}")
            sys.stdout.flush()
    for key, figure in exceptions.better.items():
        print(f"better than its exception: {', '.join(key)}: {figure}")
    if options.tighten:
        exceptions.tighten()
    else:
        for key in exceptions.unused({case.name for case in named} - {case.name for case in cases}):
            failed += 1
            print(f"  WRONG: {', '.join(key)} meets its bound, or is not there: take it out of {TABLE.name} (--tighten)")
    print(f"cost sheets: {count} run, {failed} failed")
    return failed != 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
