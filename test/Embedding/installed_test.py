#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The target adjoint-installed builds all that `cmake --install` copies from the build, and no test:
scripts/build_python.sh needs nothing that was built before. Closes with `installed: N run, N failed`."""

import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BUILD = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")).resolve().parent


def commands():
    """Those that ninja runs for the target in an empty build; they name what they make."""
    done = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "adjoint-installed"], check=True,
                          capture_output=True, text=True)
    return done.stdout


def installed_files_are_built(folder):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, capture_output=True, text=True)
    made = set(commands().split())
    taken = {f"{place}/{file.name}" for place, pattern in (("lib", "*.so*"), ("bin", "*"))
             for file in (folder / place).glob(pattern)}
    if not {"lib/libAdjoint.so", "lib/AdjointPlugin.so", "bin/ad-runner", "bin/ad-diff"} <= taken:
        yield f"expected libraries and tools, found {sorted(taken)}"
    # What shares libAdjoint.so is linked into a folder of its own.
    if missing := {name for name in taken if not {name, name.replace("bin/", "bin/shared/")} & made}:
        yield f"not built: {', '.join(sorted(missing))}"


def installed_tools_run(folder):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder], check=True, capture_output=True, text=True)
    tools = sorted((folder / "bin").iterdir())
    if len(tools) < 5:
        yield f"expected tools, found {tools}"
    for tool in tools:
        done = subprocess.run([tool, "--help"], capture_output=True, text=True)
        if done.returncode:
            yield f"{tool.name} --help: exit code {done.returncode}, {done.stderr}"


def tests_are_not(_):
    if tests := [word for word in commands().split() if word.startswith("test/") or word.endswith("-unit")]:
        yield f"builds tests: {', '.join(tests[:5])}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("installed", [("installed files", installed_files_are_built),
                                             ("installed tools", installed_tools_run), ("tests", tests_are_not)]))
