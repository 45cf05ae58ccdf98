#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A Llama decoder layer with weights and activations in bf16 needs at most 0.6 of the arena of the layer in f32, says
the report: its result, its gradients, and a step of gradient descent. Closes with `bf16 memory: N run, N failed`.

On CPUs without instructions for products of bf16, ad-widen-operands converts operands of larger products to f32 before,
and the copies are in the arena, too. There the layer of few tokens is all that runs."""

import functools
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "examples/models")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import llama_entries  # noqa: E402
import llama_text  # noqa: E402
import runner  # noqa: E402

MAX_RATIO = 0.6


def arena_bytes(entry, element, batch, length, folder):
    text = llama_entries.program(llama_text.Config(
        part="decoder", entry=entry, batch=batch, length=length, width=256, heads=4, key_heads=2, inner=688,
        positions=0, element=element))
    (folder / "program.mlir").write_text(text)
    names = re.findall(r'ad\.name = "(\w+)"', text.split("func.func @main(")[1].split("->")[0])
    arguments = [f"--arg={name}=normal:{number}:0.1" for number, name in enumerate(names)]
    subprocess.run([runner.binary("ad-runner"), folder / "program.mlir", *arguments, "--cache=off", "--report",
                    folder / "report.json"], check=True, capture_output=True, text=True)
    return json.loads((folder / "report.json").read_text())["arena_bytes"]


def check(entry, batch, length, folder):
    wide, narrow = (arena_bytes(entry, element, batch, length, folder) for element in ("f32", "bf16"))
    print(f"{entry}, {batch} x {length} tokens: {narrow} bytes in bf16, {wide} in f32, {narrow / wide:.3f}")
    return None if 0 < narrow <= MAX_RATIO * wide else f"expected at most {MAX_RATIO} of f32"


if __name__ == "__main__":
    cases = [(entry, *size) for entry in ("forward", "gradient", "step") for size in ((1, 32), (2, 128))]
    if not re.search(r"\bavx512f\b", pathlib.Path("/proc/cpuinfo").read_text()):
        print("not run: all but the first, which need AVX-512")
        cases = cases[:1]
    sys.exit(checks.run_checks("bf16 memory", [
        (f"{entry}, {batch} x {length}", functools.partial(check, entry, batch, length))
        for entry, batch, length in cases]))
