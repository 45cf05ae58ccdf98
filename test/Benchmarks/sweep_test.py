# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""`sweep`: its random programs are legal and follow from the seed, it times right results, and a wrong one fails the
case.

Needs NumPy alone: peers that are not installed take no part. Closes with `N run, N failed`.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import sweep_cases  # noqa: E402
import sweep_graph  # noqa: E402
import sweep_sizes  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
CASES = 40
# Runs the real program, then adds one to every result.
SPOILER = """#!/bin/sh
{runner} "$@" || exit
out=
for word; do [ "$last" = --out-dir ] && out=$word; last=$word; done
[ -z "$out" ] || exec {python} -c 'import sys, glob, numpy
for path in glob.glob(sys.argv[1] + "/*.npy"):
    numpy.save(path, numpy.load(path) + 1)' "$out"
"""


def sweep(only, folder):
    """Exit code and output of the benchmark on a case, with the tools of a folder."""
    command = [sys.executable, "-B", ROOT / "benchmarks/sweep.py", "--rounds", "1", "--count", "0", "--only", only]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "ADJOINT_BIN": str(folder)})
    return done.returncode, done.stdout + done.stderr


def check_programs(folder):
    texts = [[sweep_graph.text(sweep_cases.random_graph(3, number)[1]) for number in range(CASES)] for _ in range(2)]
    assert texts[0] == texts[1], "expected the same programs from the same seed"
    assert len(set(texts[0])) == CASES, "expected different programs"
    file = folder / "programs.mlir"
    file.write_text("\n// -----\n".join(texts[0]))
    done = subprocess.run([BIN / "ad-opt", "--split-input-file", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:1000]


def check_dynamic_programs(folder):
    """The same graphs with open sizes: legal, with a `?` in two arguments, and otherwise the same program."""
    texts = []
    for number in range(CASES):
        graph = sweep_cases.random_graph(3, number)[1]
        static = sweep_graph.text(graph)
        if not sweep_sizes.open_sizes(graph, sweep_cases.Draw(number, 11)):
            continue
        texts.append(sweep_graph.text(graph))
        assert sum("?" in node.type for node in graph.inputs) >= 2, texts[-1]
        assert re.sub(r"tensor<[^>]*>", "", texts[-1]) == re.sub(r"tensor<[^>]*>", "", static), texts[-1]
    assert len(texts) > CASES / 3, f"only {len(texts)} of {CASES} programs have open sizes"
    file = folder / "programs.mlir"
    file.write_text("\n// -----\n".join(texts))
    done = subprocess.run([BIN / "ad-opt", "--split-input-file", file], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:1000]


def check_right(_folder):
    code, output = sweep("cumsum", BIN)
    closing = r"^sweep: [0-9.]+x of [a-z-]+ \(cumsum along rows 2048x1024\)$"
    assert code == 0 and re.search(closing, output, re.MULTILINE), output


def check_wrong(folder):
    tool = folder / "ad-runner"
    tool.write_text(SPOILER.format(runner=(BIN / "ad-runner").resolve(), python=shutil.which(sys.executable)))
    tool.chmod(0o755)
    code, output = sweep("cumsum", folder)
    assert code == 1 and re.search(r"^sweep: cumsum .*: a result is off by ", output, re.MULTILINE), output


def main():
    every = (check_programs, check_dynamic_programs, check_right, check_wrong)
    return checks.run_checks("sweep", [(check.__name__, check) for check in every])


if __name__ == "__main__":
    sys.exit(main())
