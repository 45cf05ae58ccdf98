#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""No program falls off a cliff: neither the examples, nor a Llama block of 4 x 1024 tokens in four forms, nor random
graphs have a product or a long row that ends in the generic class for GPUs (the remark `slow-kernel`). Sizes are known
or open, chips and modes are drawn. docs/own-dialects.md explains the remark. Closes with `slow kernels: N run, N
failed`."""

import functools
import os
import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "test/Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import llama_program  # noqa: E402
import sweep_cases  # noqa: E402
import sweep_graph  # noqa: E402
import sweep_sizes  # noqa: E402

AD_OPT = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin")) / "ad-opt"
GRAPHS = 300
CHIPS = ("sm_80", "sm_90a")
MODES = ("strict", "reproducible", "fast", "fast,narrow")
FORMS = {"f32": "numerics=strict", "tf32": "numerics=fast,narrow", "bf16": "numerics=strict precision=bf16",
         "fast bf16": "numerics=fast precision=bf16"}

def compile_text(text, chip, frontend):
    """What ad-opt says about the kernels of a program."""
    passes = [f"--ad-to-gpu-frontend={frontend}", "--ad-to-gpu-fusion", "--ad-to-gpu-kernels",
              f"--ad-emit-gpu=chip={chip}"]
    done = subprocess.run([AD_OPT, "-", *passes, "--remarks-filter=ad-gpu", "-o", os.devnull], input=text,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def slow_kernels(text, chip, frontend):
    return [f"{chip}, {frontend}: {line}" for line in
            re.findall(r"slow-kernel .*", compile_text(text, chip, frontend))]


def graph_text(seed, number):
    """A random graph; in half of the cases some sizes are open."""
    _, graph = sweep_cases.random_graph(seed, number)
    if number % 2:
        sweep_sizes.open_sizes(graph, sweep_cases.Draw(seed, number))
    return sweep_graph.text(graph)


def check_graph(seed, number, _):
    rng = random.Random(f"{seed} {number}")
    return slow_kernels(graph_text(seed, number), rng.choice(CHIPS), f"numerics={rng.choice(MODES)}")


def check_block(chip, form, _):
    return slow_kernels(llama_program.program(4, 1024), chip, FORMS[form])


def check_example(path, _):
    return slow_kernels(path.read_text(), "sm_90a", "numerics=strict")


def main():
    seed = max(checks.SAMPLE, 1)
    numbers = range(GRAPHS if checks.SAMPLE < 0 else GRAPHS // 4)
    examples = sorted(path for path in (ROOT / "examples").rglob("*.mlir"))
    return checks.run_checks("slow kernels", [
        *((f"{form} block, {chip}", functools.partial(check_block, chip, form)) for form in FORMS for chip in CHIPS),
        *((str(path.relative_to(ROOT)), functools.partial(check_example, path)) for path in examples),
        *((f"graph {number} of seed {seed}", functools.partial(check_graph, seed, number)) for number in numbers)])


if __name__ == "__main__":
    sys.exit(main())
