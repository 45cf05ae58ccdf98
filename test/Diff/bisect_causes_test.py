# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The causes that ad-diff bisect finds. Options of B change one operation each, and a faulty ad-runner, which changes
a bit of the result if certain rewrites are applied, stands for a wrong compiler. Here ad-runner itself applies the
found rewrites alone, all others without them, and, of several, all but one of them."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
INPUTS = ["causes.mlir", "--arg=x=normal:1", "--arg=w=normal:2", "--arg=b=normal:3"]
MAX_EXECUTIONS = 15

# WRONG: rewrites, as NAME@LINE, that change a bit together, or `always`. NEEDED: those without which no program
# compiles.
FAULTY_RUNNER = """#!{python}
import os, pathlib, subprocess, sys
words = sys.argv[1:]
status = subprocess.run([{runner!r}, *words]).returncode
if status:
    sys.exit(status)
out, listed = (pathlib.Path(words[words.index(name) + 1]) for name in ("--out-dir", "--list-rewrites"))
rows = [row.split("\\t") for row in listed.read_text().splitlines()[1:]]
applied = {{"always"}} | {{row[0] + "@" + row[3].split(":")[1] for row in rows}}
if not set(os.environ.get("NEEDED", "always").split(",")) <= applied:
    sys.exit(1)
if set(os.environ.get("WRONG", "never").split(",")) <= applied:
    data = bytearray((out / "y.npy").read_bytes())
    data[-4] ^= 1
    (out / "y.npy").write_bytes(bytes(data))
"""

# A, B, and the rewrites as (name, operation, line). `faulty` sides run the faulty ad-runner.
SINGLE = [
    ("", "--numerics strict,algebra", ("combine-constants", "ad.mul", 9)),
    ("", "--numerics strict,contract", ("contract-multiply-add", "ad.add", 10)),
    ("", "--numerics strict,widen", ("skip-rounding", "ad.cast", 13)),
    ("", "--numerics strict,approx", ("approximate-function", "ad.tanh", 11)),
    ("", "--precision bf16", ("ad-autocast", "ad.dot", 5)),
    ("", "--kernel dot=tf32", ("exchange-kernel", "ad.dot", 5)),
    ("", "--kernel dot=pairwise", ("exchange-kernel", "ad.dot", 5)),
    ("", "--kernel layer_norm=welford", ("exchange-kernel", "ad.layer_norm", 10)),
    ("--kernel layer_norm=welford", "", ("exchange-kernel", "ad.layer_norm", 10)),
    ("", "--kernel reduce_sum=serial", ("exchange-kernel", "ad.reduce_sum", 18)),
    ("--fuse single", "WRONG=fuse@15", ("fuse", "ad.sqrt", 15)),
    ("--fuse single", "WRONG=fuse@7", ("fuse", "ad.mul", 7)),
]
TOGETHER = [
    ("--fuse single", "WRONG=fuse@7,fuse@15", {("fuse", "ad.mul", 7), ("fuse", "ad.sqrt", 15)}),
    ("--fuse single", "WRONG=fuse@7,fuse@11,fuse@16",
     {("fuse", "ad.mul", 7), ("fuse", "ad.tanh", 11), ("fuse", "ad.sub", 16)}),
]
# Kernels of A and B, and the lines of their operations in kernels.mlir: two kernels of one operation, of which some
# need a decomposition in their place that neither side applies, and kernels of two operations.
EXCHANGED = [("dot=pairwise", "dot=tf32", [5, 8]), ("dot=tf32", "dot=bf16x3", [5, 8]),
             ("softmax=online", "softmax=unshifted", [7, 9]), ("softmax=online", "softmax=pairwise", [7, 9]),
             ("log_softmax=unshifted", "log_softmax=online", [10]), ("reduce_sum=serial", "reduce_sum=pairwise", [12]),
             ("layer_norm=welford", "layer_norm=one_pass", [6]), ("softmax=online", "log_softmax=online", [7, 9, 10]),
             ("dot=tf32", "softmax=online", [5, 7, 8, 9])]
SHARED = [("", "WRONG=fuse@15", ("fuse", "ad.sqrt", 15)), ("", "WRONG=fuse@11", ("fuse", "ad.tanh", 11)),
          ("--numerics fast", "--numerics fast WRONG=skip-rounding@13", ("skip-rounding", "ad.cast", 13))]
WITHOUT_CAUSE = [("", "--target reference", "none"), ("", "--fuse single", "none"), ("", "WRONG=never", "none"),
                 ("", "WRONG=always", "elsewhere")]


def is_assignment(word):
    return word.split("=")[0] in ("WRONG", "NEEDED")


def text_of(side):
    """The text of --a or --b: assignments come first."""
    return " ".join(sorted(side.split(), key=lambda word: not is_assignment(word)))


def executable_of(side, folder):
    if not any(map(is_assignment, side.split())):
        return BIN / "ad-runner"
    path = folder / "faulty-runner"
    path.write_text(FAULTY_RUNNER.format(python=sys.executable, runner=str(BIN / "ad-runner")))
    path.chmod(0o755)
    return path


def execute(words, environment=()):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300,
                          cwd=ROOT / "test/Diff/Inputs", env=os.environ | dict(environment))


def run_kernels(choice, folder, left_out=None):
    """The bytes of the result, without these rewrites."""
    words = [BIN / "ad-runner", "kernels.mlir", *INPUTS[1:], f"--kernel={choice}", "--out-dir", folder / "out"]
    if left_out is not None:
        (folder / "except.tsv").write_text("\n".join("\t".join(rewrite) for rewrite in left_out))
        words += ["--rewrites-except", folder / "except.tsv"]
    done = execute(words)
    assert done.returncode == 0, done.stderr
    return (folder / "out/y.npy").read_bytes()


def run_side(side, folder, only=None):
    """The bytes of the result and the applied rewrites; (None, None) if the program does not compile."""
    words, restriction = side.split(), []
    if only is not None:
        (folder / "allowed.tsv").write_text("\n".join("\t".join(rewrite) for rewrite in sorted(only)))
        restriction = ["--rewrites-only", folder / "allowed.tsv"]
    done = execute([executable_of(side, folder), *INPUTS, *(word for word in words if not is_assignment(word)),
                    "--out-dir", folder / "out", "--list-rewrites", folder / "applied.tsv", *restriction],
                   (word.split("=", 1) for word in words if is_assignment(word)))
    if done.returncode != 0:
        return None, None
    rows = (folder / "applied.tsv").read_text().splitlines()[1:]
    return (folder / "out/y.npy").read_bytes(), {tuple(row.split("\t")[:4]) for row in rows}


def bisect(a, b, folder):
    given = [f"--{name}={text_of(side)}" for name, side in (("a", a), ("b", b)) if side]
    done = execute([BIN / "ad-diff", "bisect", *INPUTS, *given, f"--runner-a={executable_of(a, folder)}",
                    f"--runner-b={executable_of(b, folder)}", "--json=-"])
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def rows_of(report):
    return [(row["rewrite"], row["permission"], row["operation"], row["location"]) for row in report["rewrites"]]


def check_found(report, expected):
    found = {(row[0], row[2], int(row[3].split(":")[1])) for row in rows_of(report)}
    if found != expected:
        yield f"expected {expected}, but got {report}"


def check_one_sided(a, b, report, folder):
    """The rewrites are a cause in the side that applies them, and none of them can be left out."""
    varied, base = (b, a) if report["side"] == "B" else (a, b)
    reference, kept = run_side(base, folder)
    every = run_side(varied, folder)[1] | kept
    found = set(rows_of(report))
    if run_side(varied, folder, kept | found)[0] in (reference, None):
        yield f"the found rewrites do not differ alone: {report}"
    if (run_side(varied, folder, every - found)[0] != reference) != report["others_remain"]:
        yield f"others_remain is wrong: {report}"
    for row in found:
        if run_side(varied, folder, (kept | found) - {row})[0] not in (reference, None):
            yield f"the results differ without {row}: {report}"


def check_shared(a, b, report, folder):
    every = run_side(a, folder)[1] & run_side(b, folder)[1]
    without = every - set(rows_of(report))
    if run_side(a, folder, without)[0] != run_side(b, folder, without)[0]:
        yield f"the results differ without the found rewrites: {report}"
    if run_side(a, folder, every)[0] == run_side(b, folder, every)[0]:
        yield f"the results are equal with the found rewrites: {report}"


def check_single(a, b, expected):
    def check(folder):
        report = bisect(a, b, folder)
        yield from check_found(report, {expected})
        yield from check_one_sided(a, b, report, folder)
        if report["executions"] > MAX_EXECUTIONS:
            yield f"expected at most {MAX_EXECUTIONS} executions: {report}"
    return check


def check_together(a, b, expected):
    def check(folder):
        report = bisect(a, b, folder)
        yield from check_found(report, expected)
        yield from check_one_sided(a, b, report, folder)
    return check


def check_exchanged(a, b, lines):
    """Each side has a cause, which is its kernel: the found exchanges alone change the results of their side."""
    def check(folder):
        done = execute([BIN / "ad-diff", "bisect", "kernels.mlir", *INPUTS[1:], f"--a=--kernel {a}",
                        f"--b=--kernel {b}", "--json=-"])
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(done.stdout)
        plain = run_kernels(a, folder, exchanges_of(a, lines))
        causes = {cause["side"]: cause["rewrites"] for cause in [report, *report["others"]]}
        if set(causes) != {"A", "B"}:
            yield f"expected a cause of A and one of B, but got {report}"
        for side, choice in (("A", a), ("B", b)):
            op, kernel = choice.split("=")
            found = causes.get(side, [])
            expected = {"exchange-kernel", kernel, f"ad.{op}"}
            if not found or any({row["rewrite"], row["permission"], row["operation"]} != expected for row in found):
                yield f"expected {choice} of {side}, but got {report}"
            places = {int(row["location"].split(":")[1]) for row in found}
            if run_kernels(choice, folder, exchanges_of(choice, set(lines) - places)) == plain:
                yield f"the found kernels of {side} alone change nothing: {report}"
    return check


def exchanges_of(choice, lines):
    """The rewrites of a kernel in these lines of kernels.mlir."""
    op, kernel = choice.split("=")
    texts = (ROOT / "test/Diff/Inputs/kernels.mlir").read_text().splitlines()
    return [("exchange-kernel", kernel, f"ad.{op}", f"kernels.mlir:{line}:{texts[line - 1].index('ad.') + 1}")
            for line in lines]


def check_shared_cause(a, b, expected):
    def check(folder):
        report = bisect(a, b, folder)
        if report["cause"] != "shared":
            yield f"expected a shared cause, but got {report}"
        yield from check_found(report, {expected})
        yield from check_shared(a, b, report, folder)
    return check


def check_without_cause(a, b, kind):
    def check(folder):
        report = bisect(a, b, folder)
        if report["cause"] != kind or report["rewrites"]:
            yield f"expected {kind}, but got {report}"
    return check


def check_needed(folder):
    """Programs that do not compile without the cause: it is found, and said to be needed."""
    report = bisect("--fuse single", "WRONG=fuse@15 NEEDED=fuse@15", folder)
    yield from check_found(report, {("fuse", "ad.sqrt", 15)})
    if not report["needed_to_compile"]:
        yield f"expected needed_to_compile, but got {report}"


def main():
    cases = [(f"single: {a} | {b}", check_single(a, b, expected)) for a, b, expected in SINGLE]
    cases += [(f"together: {a} | {b}", check_together(a, b, expected)) for a, b, expected in TOGETHER]
    cases += [(f"exchanged: {a} | {b}", check_exchanged(a, b, lines)) for a, b, lines in EXCHANGED]
    cases += [(f"shared: {a} | {b}", check_shared_cause(a, b, expected)) for a, b, expected in SHARED]
    cases += [(f"no rewrite: {a} | {b}", check_without_cause(a, b, kind)) for a, b, kind in WITHOUT_CAUSE]
    return checks.run_checks("bisect_causes", [*checks.sample(cases, 12), ("needed to compile", check_needed)])


if __name__ == "__main__":
    sys.exit(main())
