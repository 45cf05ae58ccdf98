# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Help texts and parsers agree about options that take one of a few names.

Each option gets a name that it does not have. The error lists the names that it takes; the help text of the option has
each of them, and each of them is taken.
"""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
PROGRAM = """func.func @main(%x: tensor<4x4xf32> {ad.name = "x"}) -> tensor<4x4xf32> {
  %y = ad.dot %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
"""
# Names that an option takes and that a test of every build cannot use: hardware and toolkits.
UNTRIED = {("--target", "cuda"), ("ad-to-gpu", "bin"), ("ad-to-gpu", "fatbin"), ("ad-serialize-kernels", "bin"),
           ("ad-serialize-kernels", "fatbin")}
# What goes with an option of ad-runner, so that it has a meaning.
RUNNER = {"--target": [], "--numerics": [], "--fuse": [], "--tiles": [], "--schedule": ["--target=gpu-sim"],
          "--chip": ["--target=gpu-sim"]}
# Passes and pipelines of ad-opt, the option, and what runs before a pass.
FRONT = ["--ad-to-cpu-frontend"]
LINALG = [*FRONT, "--ad-to-cpu-fusion", "--convert-ad-to-linalg"]
OPT = [
    ("ad-to-cpu", "fuse", []), ("ad-to-cpu", "tiles", []), ("ad-to-cpu", "numerics", []), ("ad-to-gpu", "chip", []),
    ("ad-to-gpu", "format", []), ("ad-to-gpu", "fuse", []), ("ad-to-cpu-fusion", "fuse", FRONT),
    ("ad-fuse", "policy", FRONT), ("ad-set-numerics", "numerics", []), ("ad-print-graph", "form", []),
    ("ad-prepack-operands", "tiles", LINALG), ("ad-emit-cpu", "tiles", [*LINALG, "--ad-outline-kernels"]),
    ("ad-emit-gpu", "chip", [*LINALG, "--ad-outline-kernels"]),
]


def run(tool, *options):
    return subprocess.run([str(BIN / tool), *map(str, options)], capture_output=True, text=True, timeout=120)


def expected_names(error):
    """The names in `expected A, B or C`, the last such list."""
    found = re.search(r"expected ([\w,. +-]+? or [\w+-]+)", error)
    return re.split(r", | or ", found[1]) if found else []


def help_of_runner(option):
    text = run("ad-runner", "--help").stdout
    found = re.search(rf"^  {option}[ =].*?(?=^  -|\Z)", text, re.M | re.S)
    return found[0] if found else ""


def help_of_pass(name, option):
    """The lines of an option below those of its pass or pipeline."""
    lines = iter(run("ad-opt", "--help").stdout.splitlines())
    found = []
    for line in lines:
        if re.match(rf"\s+--{name}\s", line):
            break
    for line in lines:
        if re.match(r"^ {2,6}--(ad|convert)-", line):
            break
        if found and re.match(r"\s+--", line):
            break
        if found or re.match(rf"\s+--{option}[=\s]", line):
            found.append(line)
    text = " ".join(found)
    other = re.search(r"As that of ([\w-]+)", text)
    return help_of_pass(other[1], option) if other else text


def disagreements(names, text, label, take):
    if len(names) < 2:
        yield "expected an error that lists the names"
    for name in names:
        if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
            yield f"the help does not name {name}: {' '.join(text.split())}"
        if (label, name) not in UNTRIED and (wrong := take(name)):
            yield f"{name} is listed and not taken: {wrong}"


def check_runner(option, more):
    def check(folder):
        file = folder / "program.mlir"
        file.write_text(PROGRAM)

        def take(name):
            done = run("ad-runner", file, "--arg=x=normal:1", "--cache=off", f"{option}={name}", *more)
            return done.stderr if done.returncode else ""

        yield from disagreements(expected_names(take("nonsense")), help_of_runner(option), option, take)

    return check


def check_opt(name, option, before):
    def check(folder):
        file = folder / "program.mlir"
        file.write_text(PROGRAM)

        def take(value):
            done = run("ad-opt", file, *before, f"--{name}={option}={value}", "-o", "/dev/null")
            return done.stderr if done.returncode else ""

        yield from disagreements(expected_names(take("nonsense")), help_of_pass(name, option), name, take)

    return check


def main():
    cases = [(f"ad-runner {option}", check_runner(option, more)) for option, more in RUNNER.items()]
    cases += [(f"--{name}={option}", check_opt(name, option, before)) for name, option, before in OPT]
    return checks.run_checks("options", cases)


if __name__ == "__main__":
    sys.exit(main())
