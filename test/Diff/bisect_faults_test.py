# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""ad-diff bisect finds faults of a compiler that no rewrite stands for, in a training step of a Llama model with two
layers: a wrong derivative rule, decomposition, fusion, conversion, kernel, instruction, or a fault of one target. The
program ad-runner-faulty has the faults. Each answer names the operation, its line, the stage and the pass, and the
program that it writes differs when both builds run it."""

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
    Fault("after=ad-differentiate in=__ op=ad.sub line=LINE ad.add", "ad.silu", "ad.silu", "differentiation",
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
        if reduced.get("amplification", 0) <= 0:
            yield f"expected an amplification: {reduced}"
    return check


def check_no_fault(folder):
    """A fault in an operation that the program does not have is no cause."""
    done, _ = bisect(folder, Fault("", "", "", "", ""), "after=ad-decompose op=ad.atan2 swap")
    report = json.loads(done.stdout)
    if report["cause"] != "none" or report["executions"] != 2 or "reduced" in report:
        yield f"expected no cause: {report}"


def check_median(folder):
    """Comes last."""
    if statistics.median(executions) > MAX_EXECUTIONS:
        yield f"expected a median of at most {MAX_EXECUTIONS} executions, but got {executions}"


def main():
    cases = [(f"{fault.words} | {' | '.join(fault.options)} | {fault.side}", check_fault(fault)) for fault in FAULTS]
    return checks.run_checks("bisect_faults", [*cases, ("no fault", check_no_fault), ("median", check_median)])


if __name__ == "__main__":
    sys.exit(main())
