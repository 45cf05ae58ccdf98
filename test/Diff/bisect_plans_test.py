# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""ad-diff bisect blames a wrong memory plan, whatever else differs between A and B. Programs, faults and pairs of
options are random. All options keep all bits, so a plan is the only possible reason for a difference: the answer must
be the plan of a side whose results are not those of the reference interpreter, and no plan of the right build."""

import itertools
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
RUNNERS = {"right": BIN / "ad-runner", "faulty": BIN / "ad-runner-faulty"}
INPUTS = ["--arg=x=normal:1", "--arg=w=normal:2"]
OPTIONS = ["", "--fuse single", "--fuse layers", "-O0", "--target gpu-sim", "--target gpu-sim --fuse single"]
MAX_DRAWS = 60  # until a fault changes the results
TENSOR = "tensor<8x8xf32>"
FORMS = [f"ad.dot %A, %B : ({TENSOR}, {TENSOR}) -> {TENSOR}", f"ad.softmax %A axis 1 : {TENSOR}",
         f"ad.add %A, %B : {TENSOR}", f"ad.mul %A, %B : {TENSOR}", f"ad.tanh %A : {TENSOR}",
         f"ad.log_softmax %A axis 1 : {TENSOR}", f"ad.transpose %A [1, 0] : {TENSOR}"]
FIRST_LINE = 3  # of an operation


def random_program(generator):
    names, lines = ["x", "w"], []
    for number in range(int(generator.integers(4, 9))):
        a, b = (str(name) for name in generator.choice(names[-4:], 2))
        lines.append(f"  %v{number} = " + str(generator.choice(FORMS)).replace("%A", f"%{a}").replace("%B", f"%{b}"))
        names.append(f"v{number}")
    results = [names[-1], str(generator.choice(names[2:-1]))]
    return (f'func.func @main(%x: {TENSOR} {{ad.name = "x"}}, %w: {TENSOR} {{ad.name = "w"}})\n'
            f'    -> ({TENSOR} {{ad.name = "y"}}, {TENSOR} {{ad.name = "z"}}) {{\n' + "\n".join(lines)
            + f"\n  return %{results[0]}, %{results[1]} : {TENSOR}, {TENSOR}\n}}\n"), len(lines)


def random_sides(generator):
    """Options and builds of A and B, of which at least one is faulty."""
    runners = [["right", "faulty"], ["faulty", "right"], ["faulty", "faulty"]][int(generator.integers(3))]
    return [(str(generator.choice(OPTIONS)), runner) for runner in runners]


def run(folder, side, environment, number=itertools.count()):
    """The results; None if the fault makes no program."""
    options, runner = side
    out = folder / f"out{next(number)}"
    done = subprocess.run([RUNNERS[runner], folder / "program.mlir", *INPUTS, *options.split(), f"--out-dir={out}"],
                          env=environment, capture_output=True, text=True, timeout=120)
    return {path.name: path.read_bytes() for path in out.iterdir()} if done.returncode == 0 else None


def draw(folder, generator):
    """Sides whose results differ, the environment, and the names of the sides that are wrong."""
    for _ in range(MAX_DRAWS):
        text, count = random_program(generator)
        (folder / "program.mlir").write_text(text)
        over, line = sorted(FIRST_LINE + int(n) for n in generator.choice(count, 2, replace=False))
        environment = os.environ | {"ADJOINT_FAULT": f"after=ad-plan-memory op=ad.launch line={line} over={over}"}
        sides = random_sides(generator)
        results = [run(folder, side, environment) for side in sides]
        if None in results or results[0] == results[1] or sides[0] == sides[1]:
            continue
        right = run(folder, ("--target reference", "right"), environment)
        return sides, environment, {name for name, result in zip("AB", results) if result != right}
    raise RuntimeError(f"no fault of {MAX_DRAWS} changes the results")


def check(seed, folder):
    sides, environment, wrong = draw(folder, np.random.default_rng(seed))
    words = [word for name, (options, runner) in zip("ab", sides)
             for word in ([f"--{name}={options}"] if options else []) + [f"--runner-{name}={RUNNERS[runner]}"]]
    done = subprocess.run([BIN / "ad-diff", "bisect", folder / "program.mlir", *INPUTS, *words,
                           f"--json={folder / 'report.json'}"], env=environment, capture_output=True, text=True,
                          timeout=600)
    what = f"{environment['ADJOINT_FAULT']}, {sides}:\n{done.stdout}{done.stderr}{(folder / 'program.mlir').read_text()}"
    if done.returncode:
        yield f"bisect fails; {what}"
        return
    report = json.loads((folder / "report.json").read_text())
    reduced = report.get("reduced", {})
    if reduced.get("reduction") != "wrong_plan" or report["rewrites"]:
        yield f"expected the memory plan; {what}"
        return
    named = set(reduced["stage"]["side"].split(" and "))
    faulty = {name for name, side in zip("AB", sides) if side[1] == "faulty"}
    if not named & wrong or not named <= faulty or reduced["stage"]["pass"] != "ad-plan-memory":
        yield f"expected the plans of {wrong}; {what}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("bisect_plans", check, 6))
