#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs of parts that fuse, with random groups: no kernel has operations of two groups, for CPUs and GPUs, with
each policy of fusion, and the values are those without groups. Closes with `fuse groups: N run, N failed`."""

import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import batch  # noqa: E402
import checks  # noqa: E402
import clusters  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

GROUPS = ['"a"', '"b"', "distinct"]
# What only says which element is read, and numbers: copied into kernels of the same group, or of any.
FREE = {"constant", "full", "broadcast", "slice", "dynamic_slice", "transpose", "reshape", "yield"}
PIPELINES = [[f"--ad-to-{target}-frontend=numerics=strict", f"--ad-to-{target}-fusion=fuse={policy}"]
             for target in ("cpu", "gpu") for policy in ("grow", "layers")]


def with_groups(seed):
    """A change of a module: a third of the operations on one line get a group."""
    def change(text):
        draw, lines = random.Random(seed), []
        for number, line in enumerate(text.splitlines()):
            if re.match(r"\s+%\w+(:\d+)? = ad\.(?!feed|value_and_grad|vjp|constant)\w+ .*[^{]$", line) and draw.random() < 1 / 3:
                group = draw.choice(GROUPS).replace("distinct", f"distinct[{number}]<>")
                line += f" loc(fused<{{ad.fuse_group = {group}}}>[unknown])"
            lines.append(line)
        return "\n".join(lines) + "\n"
    return change


def group_of(line):
    found = re.search(r"ad\.fuse_group = (\"\w+\"|distinct\[\d+\]<>)", line)
    return found and found[1]


def mixed_fusions(text):
    """The computing operations of each fusion that have several groups, or none beside one."""
    body = None
    for line in text.splitlines():
        if " = ad.fusion " in line:
            body = []
        elif body is not None and re.match(r"\s+ad\.yield ", line):
            if len({group_of(member) for member in body}) > 1:
                yield "\n".join(body)
            body = None
        elif body is not None and (member := re.match(r"\s+%[\w:]+ = ad\.(\w+) ", line)) and member[1] not in FREE:
            body.append(line)


def check(seed, folder):
    programs = [clusters.random_program(seed, number) for number in range(3)]
    change = with_groups(seed)
    module = folder / "module.mlir"
    module.write_text(change(batch.module(programs)))
    if not group_of(module.read_text()):
        yield "no operation has a group"
    for pipeline in PIPELINES:
        done = subprocess.run([runner.binary("ad-opt"), module, *pipeline, "--mlir-print-debuginfo",
                               "--mlir-print-local-scope"], capture_output=True, text=True, check=False)
        if done.returncode or " = ad.fusion " not in done.stdout or not group_of(done.stdout):
            yield f"{pipeline}: exit {done.returncode}: {done.stderr[-1000:]}"
        yield from (f"{pipeline}: one kernel has\n{body}" for body in mixed_fusions(done.stdout))
    free, grouped = (batch.run(programs, ["--numerics=reproducible"], change=text) for text in (None, change))
    for program, *results in zip(programs, free, grouped):
        for value, left, right in zip(program.outputs, *results):
            if not elements.same_bits(value.element, left, right).all():
                yield f"{value}: other bits in groups"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("fuse groups", check, 45))
