#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The lists of each built-in precision policy have operations of `ad` that compute tensors, each at most once, and
other operations compute in f32; the policies differ in their type only. Closes with `policies: N run, N failed`."""

import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import policies  # noqa: E402
import records  # noqa: E402
import runner  # noqa: E402

FOLDER = ROOT / "lib/Numerics/Policies"
OPERATIONS = "adjoint/Dialect/AD/IR/ADOps.td"
# It computes nothing, but has the type of its operand.
IDENTITIES = {"stop_gradient"}


@functools.lru_cache(maxsize=None)
def operations():
    table = records.TableGen(pathlib.Path("/usr/lib/llvm-22"))
    return {record["opName"] for record in table.records(OPERATIONS, "AD_ComputeOp").values()} | IDENTITIES


def check_lists(name, folder):
    policy = policies.parse((FOLDER / f"{name}.yaml").read_text())
    for operation in sorted(operations()):
        lists = [rule for rule in policies.RULES if operation in policy[rule]]
        if len(lists) > 1:
            yield f"ad.{operation} is in {lists}, expected one list at most"
    if policy["default"] != "never":
        yield f"default is {policy['default']}, but an operation that no list has computes in f32"
    for rule in policies.RULES:
        for operation in sorted(set(policy[rule]) - operations()):
            yield f"{rule} has {operation}, which is no operation that computes tensors"
        if policy[rule] != sorted(policy[rule]):
            yield f"{rule} is not sorted"


def check_printed(name, folder):
    """The binary has the file as it is in the tree."""
    command = [runner.binary("ad-runner"), "--print-precision", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if done.stdout != (FOLDER / f"{name}.yaml").read_text():
        return "--print-precision prints something else than the file"
    return None


def check_equal(folder):
    bf16, f16 = ((FOLDER / f"{name}.yaml").read_text() for name in ("bf16", "f16"))
    if re.sub(r"\bbf16\b", "f16", bf16.replace("bf16 or f16", "TYPES")) != f16.replace("bf16 or f16", "TYPES"):
        return "bf16.yaml and f16.yaml differ in more than the type"
    return None


def main():
    names = sorted(file.stem for file in FOLDER.glob("*.yaml"))
    listed = [(f"{name}: {label}", functools.partial(check, name)) for name in names
              for label, check in (("lists", check_lists), ("printed", check_printed))]
    return checks.run_checks("policies", [*listed, ("policies differ in the type", check_equal)])


if __name__ == "__main__":
    sys.exit(main())
