# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The benchmarks with compiled peers start, measure a small case and close with a line for each comparison.

Each says what it is on --help. Cases whose peers are not installed are skipped with the reason. Closes with `N run, N
failed`.
"""

import functools
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

# The program, a small case of it, and what closes its output.
CASES = [
    ("gemm", "2x255x255", r"^gemm: [0-9.]+x of best plain peer \(worst: 2x255x255\)$"),
    ("rows", "layer_norm 64", r"^rows: [0-9.]+x of clang \(worst: layer_norm 64x1024\)$"),
    ("math-functions", "tanh", r"^math: [0-9.]+x of libm \(worst: (gelu_)?tanh\)$"),
    ("strict-cost", "gelu_tanh", r"^strict-cost: strict takes [0-9.]+ times as long as fast \(gelu_tanh\)$"),
    ("reproducible-cost", "sums of rows",
     r"^reproducible-cost: reproducible takes [0-9.]+ times as long as fast \(sums of rows, f32\)$"),
    ("split-accuracy", "normal, K = 128", r"^split-accuracy: [0-9.]+x of the error of f32 by FMA \(normal, K = 128\)$"),
]


def run(name, *options):
    """The output of a benchmark."""
    command = [sys.executable, "-B", ROOT / "benchmarks" / f"{name}.py", *options]
    environment = {"ADJOINT_BIN": str(ROOT / "build/release/bin"), **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def check(name, case, closing, folder):
    if "--rounds" not in run(name, "--help"):
        raise RuntimeError("expected --rounds among the options")
    written = folder / "rows.json"
    output = run(name, "--rounds", "1", "--only", case, "--json", str(written))
    if not json.loads(written.read_text()):
        raise RuntimeError("expected measurements in the file of --json")
    missing = re.search(r"^.*: missing; install it with: .*$", output, re.MULTILINE)
    if missing:
        print(f"{name}: comparison skipped, {missing[0]}")
    elif not re.search(closing, output, re.MULTILINE):
        raise RuntimeError(f"expected a line as '{closing}', but got:\n{output}")


def check_list(_folder):
    """bench.sh runs whatever may be executed here, and gives each the options of a benchmark."""
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        if os.access(path, os.X_OK) and not re.search(r'parse_options|"--json"', path.read_text()):
            yield f"{path.name} may be executed and reads no options of a benchmark: bench.sh would run it as a benchmark"


def main():
    cases = [(name, functools.partial(check, name, case, closing)) for name, case, closing in CASES]
    return checks.run_checks("peers", [*cases, ("the list of benchmarks", check_list)])


if __name__ == "__main__":
    sys.exit(main())
