# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""ad-diff bisect finds faults of a compiler that no rewrite stands for, in a training step of a Llama model with two
layers: a wrong derivative rule, decomposition, fusion, conversion, memory plan, kernel, instruction, or a fault of one
target. The program ad-runner-faulty has the faults. Each answer names the operation, its line, the stage and the pass,
and the program that it writes differs when both builds run it."""

import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
FAULTY = BIN / "ad-runner-faulty"
RIGHT = BIN / "ad-runner"
MAX_EXECUTIONS = 15  # the median
executions = []


class Fault:
    """`words` are the fault, in which LINE is the line of the first operation `op` whose text has `text`."""

    def __init__(self, words, op, text, stage, passed, side="B", kind="found", a="", b="", runners=(RIGHT, FAULTY)):
        self.words, self.op, self.text, self.kind = words, op, text, kind
        self.stage, self.passed, self.side = stage, passed, side
        self.options, self.runners = (a, b), runners


FAULTS = [
    # Derivative rules. Functions with `__` in their names are derivatives.
    Fault("after=ad-differentiate in=__ op=ad.recip line=LINE ad.abs", "ad.silu", "ad.silu", "differentiation",
          "ad-differentiate", kind="derivative"),
    Fault("after=ad-differentiate in=__ op=ad.reduce_sum line=LINE round", "ad.softmax", "ad.softmax",
          "differentiation", "ad-differentiate", kind="derivative"),
    # Passes in the ad dialect.
    Fault("after=ad-decompose op=ad.rsqrt ad.abs", "ad.rms_norm", "%n1 = ad.rms_norm", "simplification",
          "ad-decompose"),
    Fault("after=ad-decompose op=ad.rsqrt ad.abs", "ad.rms_norm", "%n1 = ad.rms_norm", "simplification",
          "ad-decompose", side="A", runners=(FAULTY, RIGHT)),
    Fault("after=ad-decompose op=ad.div line=LINE forward", "ad.reduce_mean", "ad.reduce_mean", "simplification",
          "ad-decompose"),  # the mean is the sum
    Fault("after=ad-simplify op=ad.sub line=LINE ad.add", "ad.sub", "%turned_q_2 = ad.sub", "simplification",
          "ad-simplify"),
    Fault("after=ad-fuse op=ad.mul line=LINE ad.add", "ad.mul", "%inner = ad.mul", "fusion", "ad-fuse"),
    # Lowering.
    Fault("after=convert-ad-to-linalg op=arith.mulf line=LINE arith.addf", "ad.mul", "%inner = ad.mul", "kernels",
          "convert-ad-to-linalg"),
    Fault("after=ad-emit-cpu op=ad.elementary round", "ad.rms_norm", "%n1 = ad.rms_norm", "code", "ad-emit-cpu"),
    Fault("after=ad-lower-to-llvm op=llvm.fdiv llvm.fmul", "ad.rms_norm", "%n1 = ad.rms_norm", "code",
          "ad-lower-to-llvm"),
    # One target of a build is wrong, and another one is right.
    Fault("after=ad-emit-gpu op=ad.elementary round", "ad.rms_norm", "%n1 = ad.rms_norm", "code", "",
          b="--target gpu-sim", runners=(FAULTY, FAULTY)),
    Fault("after=ad-emit-cpu op=ad.elementary round", "ad.rms_norm", "%n1 = ad.rms_norm", "code", "", side="A",
          b="--target gpu-sim", runners=(FAULTY, FAULTY)),
    Fault("after=ad-emit-cpu op=ad.elementary round", "ad.rms_norm", "%n1 = ad.rms_norm", "code", "",
          a="--target reference", runners=(FAULTY, FAULTY)),
]


def write_step(folder):
    """The program, and its arguments as words."""
    subprocess.run([sys.executable, ROOT / "examples/models/llama.py", "--part", "model", "--entry", "step", "--layers",
                    "2", "--preset", "tiny", "--out", folder], check=True, capture_output=True)
    return folder / "program.mlir", (folder / "arguments").read_text().split()


def bisect(folder, fault, words):
    program, arguments = write_step(folder / "step")
    sides = [f"--{side}={text}" for side, text in zip("ab", fault.options) if text]
    done = subprocess.run([BIN / "ad-diff", "bisect", program, *arguments, *sides, f"--runner-a={fault.runners[0]}",
                           f"--runner-b={fault.runners[1]}", "--json=-", f"--output={folder / 'reduced'}"],
                          env=os.environ | {"ADJOINT_FAULT": words}, capture_output=True, text=True, timeout=600)
    return done, program.read_text()


def line_of(text, program):
    return next(number for number, line in enumerate(program.splitlines(), start=1) if text in line)


def run_reduced(folder, fault, words, side):
    out = folder / f"out{side}"
    words_of = (folder / "reduced/arguments").read_text().split()
    subprocess.run([fault.runners[side], folder / "reduced/program.mlir", *words_of, *fault.options[side].split(),
                    "--out-dir", out], env=os.environ | {"ADJOINT_FAULT": words}, check=True, capture_output=True)
    return {path.name: path.read_bytes() for path in out.iterdir()}


def check_fault(fault):
    def check(folder):
        program = write_step(folder / "text")[0].read_text()
        line = line_of(fault.text, program)
        words = fault.words.replace("LINE", str(line))
        done, _ = bisect(folder, fault, words)
        if done.returncode != 0:
            yield done.stdout + done.stderr
            return
        report = json.loads(done.stdout)
        executions.append(report["executions"])
        reduced = report.get("reduced", {})
        found = [(row["operation"], int(row["location"].split(":")[-2])) for row in reduced.get("operations", [])]
        if found != [(fault.op, line)] or reduced["reduction"] != fault.kind:
            yield f"expected {fault.op} at line {line}: {report}"
            return
        stage = reduced["stage"]
        if (stage["stage"], stage["pass"], stage["side"]) != (fault.stage, fault.passed, fault.side):
            yield f"expected {fault.stage}, {fault.passed} of {fault.side}, but got {stage}"
        required = {row["rewrite"] for row in report["required"]}
        if fault.passed == "ad-decompose" and not required & {"decompose", "mean-as-sum"}:
            yield f"expected the rewrite that needs the pass: {report}"
        if not reduced["reduced"] or not any(row.get("ulp", 0) > 0 for row in reduced["reduced"]):
            yield f"expected an error in ulp: {reduced}"
        if run_reduced(folder, fault, words, 0) == run_reduced(folder, fault, words, 1):
            yield "the written program gives equal results"
        # Where results are not finite, their norms are infinite, and so would be the amplification.
        is_finite = all(row["l2"] != "inf" for row in report["differences"])
        if is_finite != (reduced.get("amplification", 0) > 0):
            yield f"expected {'an' if is_finite else 'no'} amplification: {reduced}"
    return check


def check_no_fault(folder):
    """A fault in an operation that the program does not have is no cause."""
    done, _ = bisect(folder, Fault("", "", "", "", ""), "after=ad-decompose op=ad.atan2 swap")
    report = json.loads(done.stdout)
    if report["cause"] != "none" or report["executions"] != 2 or "reduced" in report:
        yield f"expected no cause: {report}"


# The launch at the first line writes into the memory of the one at the second line, and the third one reads that later.
WRONG_PLANS = [
    ("%by_row = ad.transpose", "%h0 = ad.embedding", "%h = ad.add", "B", (RIGHT, FAULTY)),
    ("%by_row = ad.transpose", "%h0 = ad.embedding", "%h = ad.add", "A", (FAULTY, RIGHT)),
    ("%turned_q = ad.concat", "%n1 = ad.rms_norm", None, "B", (RIGHT, FAULTY)),  # into a smaller buffer
]


def rows_of(report, key):
    return [(row["operation"], int(row["location"].split(":")[-2])) for row in report["reduced"][key]]


def check_wrong_plan(case, with_output):
    """The plan of the faulty build lets a kernel write over a value that is read later: no part of the program shows
    that, since it has another plan."""
    writer, overwritten, reader, side, runners = case

    def check(folder):
        program, arguments = write_step(folder / "step")
        lines = [line_of(text, program.read_text()) for text in (writer, overwritten, reader) if text]
        words = f"after=ad-plan-memory op=ad.launch line={lines[0]} {'over' if reader else 'into'}={lines[1]}"
        output = [f"--output={folder / 'reduced'}", "--seconds=1"] if with_output else []
        done = subprocess.run([BIN / "ad-diff", "bisect", program, *arguments, f"--runner-a={runners[0]}",
                               f"--runner-b={runners[1]}", f"--json={folder / 'report.json'}", *output],
                              env=os.environ | {"ADJOINT_FAULT": words}, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            yield done.stdout + done.stderr
            return
        report = json.loads((folder / "report.json").read_text())
        operations = [text.split()[2] for text in (writer, overwritten, reader) if text]
        expected = list(zip(operations, lines))[:3 if reader else 1]
        if rows_of(report, "whole_program") != expected or report["reduced"]["reduction"] != "wrong_plan":
            yield f"expected {expected}: {report}"
            return
        stage = report["reduced"]["stage"]
        if (stage["stage"], stage["pass"], stage["side"]) != ("kernels", "ad-plan-memory", side):
            yield f"expected the memory plan of {side}, but got {stage}"
        message = ("an operand was overwritten before it is read here" if reader else
                   "a buffer is smaller than its tensor")
        if f"the memory plan of {side} is wrong: {message}" not in done.stdout:
            yield f"expected the words about it: {done.stdout}"
        if with_output:
            fault = Fault(words, "", "", "", "", runners=runners)
            if run_reduced(folder, fault, words, 0) == run_reduced(folder, fault, words, 1):
                yield "the written program gives equal results"
        elif report["executions"] > MAX_EXECUTIONS:
            yield f"expected at most {MAX_EXECUTIONS} executions, but got {report['executions']}"
    return check


def chain():
    """Four products, whose kernels differ: their shapes do."""
    names = "xabcd"
    arguments = ", ".join(f'%w{n}: tensor<{3 + n}x{4 + n}xf32> {{ad.name = "w{n}"}}' for n in range(1, 5))
    lines = [f'func.func @main(%x: tensor<4x4xf32> {{ad.name = "x"}}, {arguments})',
             '    -> (tensor<4x8xf32> {ad.name = "y"}) {']
    for n in range(1, 5):
        lines.append(f"  %{names[n]} = ad.dot %{names[n - 1]}, %w{n} batch [] x [] contract [1] x [0]"
                     f" : (tensor<4x{3 + n}xf32>, tensor<{3 + n}x{4 + n}xf32>) -> tensor<4x{4 + n}xf32>")
    return "\n".join([*lines, "  return %d : tensor<4x8xf32>", "}", ""]), [
        "--arg=x=normal:1", *(f"--arg=w{n}=normal:{1 + n}" for n in range(1, 5))]


# In its traces the first product is another operation with another value, as in a build that rewrites it: whether the
# two are one value is a guess.
GUESSED_RUNNER = """#!{python}
import pathlib, subprocess, sys
words = sys.argv[1:]
status = subprocess.run([{runner!r}, *words]).returncode
if status == 0 and "--trace" in words:
    records = pathlib.Path(words[words.index("--trace") + 1]) / "records.tsv"
    header, *rows = [row.split("\\t") for row in records.read_text().splitlines()]
    for row in rows:
        if row[header.index("name")] == "%a" and row[0] == "RESULT":
            row[header.index("op")], row[header.index("hash")] = "ad.gemm", "0" * 16
    records.write_text("".join("\\t".join(row) + "\\n" for row in [header, *rows]))
sys.exit(status)
"""


def check_first_value(folder, runner=FAULTY):
    """Only the third kernel of a program is wrong. One or two operations have no third kernel."""
    text, arguments = chain()
    (folder / "chain.mlir").write_text(text)
    words = "after=ad-outline-kernels op=math.fma in=dot_0_1 forward"
    done = subprocess.run([BIN / "ad-diff", "bisect", folder / "chain.mlir", *arguments, f"--runner-b={runner}",
                            f"--json={folder / 'report.json'}"],
                          env=os.environ | {"ADJOINT_FAULT": words}, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        yield done.stdout + done.stderr
        return
    report = json.loads((folder / "report.json").read_text())
    if rows_of(report, "whole_program") != [("ad.dot", 5)] or report["reduced"]["reduction"] != "in_program":
        yield f"expected the third product: {report}"
        return
    stage = report["reduced"]["stage"]
    if (stage["stage"], stage["pass"]) != ("kernels", "ad-outline-kernels"):
        yield f"expected the kernels: {stage}"
    for text in ("an operation computes the first value that differs in the whole program", "computes %c"):
        if text not in done.stdout:
            yield f"expected '{text}': {done.stdout}"


def check_guess(folder):
    """A guessed pair is not the first value that differs."""
    runner = folder / "guessed-runner"
    runner.write_text(GUESSED_RUNNER.format(python=sys.executable, runner=str(FAULTY)))
    runner.chmod(0o755)
    yield from check_first_value(folder, runner)


def check_median(folder):
    """Comes last."""
    if statistics.median(executions) > MAX_EXECUTIONS:
        yield f"expected a median of at most {MAX_EXECUTIONS} executions, but got {executions}"


def main():
    cases = [(f"{fault.words} | {' | '.join(fault.options)} | {fault.side}", check_fault(fault))
             for fault in checks.sample(FAULTS, 20)]
    plans = [(f"{case[0]} over {case[1]} of {case[3]}, {output}", check_wrong_plan(case, output))
             for case, output in checks.sample([*((case, False) for case in WRONG_PLANS), (WRONG_PLANS[0], True)], 9)]
    others = [("first value", check_first_value), ("guess", check_guess), ("no fault", check_no_fault),
              # A sample may be of the slow ones.
              *([("median", check_median)] if checks.SAMPLE < 0 else [])]
    return checks.run_checks("bisect_faults", [*cases, *plans, *others])


if __name__ == "__main__":
    sys.exit(main())
