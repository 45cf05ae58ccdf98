# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The benchmarks beside compiled peers start, measure a small case and close with a line for each comparison.

Each says what it is on --help. Cases whose peers are not installed are skipped with the reason. Closes with `N run, N failed`.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The program, a small case of it, and what closes its output.
CASES = [
    ("gemm", "2x255x255", r"^gemm: [0-9.]+x of best plain peer \(worst: 2x255x255\)$"),
    ("rows", "layer_norm 64", r"^rows: [0-9.]+x of clang \(worst: layer_norm 64x1024\)$"),
    ("math-functions", "tanh", r"^math: [0-9.]+x of libm \(worst: (gelu_)?tanh\)$"),
    ("strict-cost", "gelu_tanh", r"^strict-cost: strict takes [0-9.]+ times as long as fast \(gelu_tanh\)$"),
]


def run(name, *options):
    """The output of a benchmark."""
    command = [sys.executable, "-B", ROOT / "benchmarks" / f"{name}.py", *options]
    environment = {"ADJOINT_BIN": str(ROOT / "build/release/bin"), **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def check(name, case, closing):
    if "--rounds" not in run(name, "--help"):
        raise RuntimeError("expected --rounds among the options")
    with tempfile.TemporaryDirectory() as folder:
        written = pathlib.Path(folder) / "rows.json"
        output = run(name, "--rounds", "1", "--only", case, "--json", str(written))
        if not json.loads(written.read_text()):
            raise RuntimeError("expected measurements in the file of --json")
    missing = re.search(r"^.*: missing; install it with: .*$", output, re.MULTILINE)
    if missing:
        print(f"{name}: comparison skipped, {missing[0]}")
    elif not re.search(closing, output, re.MULTILINE):
        raise RuntimeError(f"expected a line as '{closing}', but got:\n{output}")


def main():
    failed = 0
    for case in CASES:
        try:
            check(*case)
        except RuntimeError as error:
            failed += 1
            print(f"{case[0]}: {error}")
    print(f"{len(CASES)} run, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
