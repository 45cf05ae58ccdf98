# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each command of docs/mixed-precision.md runs, and its program in the dialect parses."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

PAGE = (ROOT / "docs/mixed-precision.md").read_text()
MIN_COMMANDS = 5


def check_commands(folder):
    """In one folder, in their order: one writes the file that the next one reads."""
    commands = re.findall(r"^ad-(?:runner|opt) .*$", PAGE, re.M)
    if len(commands) < MIN_COMMANDS:
        yield f"expected at least {MIN_COMMANDS} commands, got {len(commands)}"
    (folder / "examples").symlink_to(ROOT / "examples")
    tools = pathlib.Path(runner.binary("ad-opt")).resolve().parent
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    for command in commands:
        done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=120)
        if done.returncode or not (done.stdout or ">" in command):
            yield f"{command}: exit code {done.returncode}: {done.stderr}"


def check_programs(folder):
    for text in re.findall(r"```mlir\n(.*?)```", PAGE, re.S):
        program = folder / "program.mlir"
        program.write_text(text)
        done = subprocess.run([runner.binary("ad-opt"), str(program), "--ad-autocast"], capture_output=True, text=True)
        if done.returncode:
            yield done.stderr


if __name__ == "__main__":
    sys.exit(checks.run_checks("mixed precision page", [("commands", check_commands), ("programs", check_programs)]))
