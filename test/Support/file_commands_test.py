# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the campaign of changed files must see: commands that crash, hang, end with another exit code or without a
message, print control characters, and touch, make or remove files outside. Calls of Python go through
file_worker.py."""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import file_commands  # noqa: E402

WRONG = {
    "kill -SEGV $$": "killed by SIGSEGV",
    "echo wrong; exit 9": "exit code 9",
    "exit 2": "without a message",
    "echo LLVM ERROR: out of memory; exit 1": "says 'LLVM ERROR'",
    "sleep 100": "hangs",
    "printf 'name \\033[31m'": "U+001B",
    "printf 'name \\302\\2331m'": "U+009B",
    "printf 'a\\000b'": "U+0000",
    "cat ../decoy/secret.npy >../case/copy": "decoy/secret.npy was opened",
    "ls ../decoy/tree/inputs": "decoy/tree/inputs was opened",
    "touch ../decoy/tree/new": "decoy/tree/new was created",
    "rm ../decoy/secret.yaml": "decoy/secret.yaml was deleted",
    "mv ../decoy/secret.yaml ../case/": "decoy/secret.yaml was moved",
    "touch ../new": "wrote new",
}
RIGHT = ["exit 0", "echo error: no; exit 1", "printf 'ä\\t∞\\n'; exit 3", "touch here", "ls -l ../fixed/trace"]


def make_place(folder):
    fixed = folder / "fixed"
    for name in ("x.npy", "first.mlir", "policy.yaml", "trace/records.tsv", "trace/run.json", "trace/inputs/x.npy"):
        (fixed / name).parent.mkdir(parents=True, exist_ok=True)
        (fixed / name).write_text(name)
    (folder / "case").mkdir()
    (folder / "bin").mkdir()
    os.environ["ADJOINT_BIN"] = str(folder / "bin")
    file_commands.Place.KEPT.add("bin")
    return file_commands.Place(folder)


def judge(place, script):
    """What the campaign says about a tool that does what the script says."""
    tool = place.root / "bin/ad-runner"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    file_commands.SECONDS = 1 if "sleep" in script else 30
    return place.run("ad-runner FILE")[1]


def check(folder):
    place = make_place(folder)
    for script, expected in WRONG.items():
        found = judge(place, script)
        if expected not in (found or ""):
            yield f"{script}: expected '{expected}', found {found}"
        (folder / "new").unlink(missing_ok=True)
        # Each of them is seen alone, and the tree is whole again.
        if found := judge(place, "exit 0"):
            yield f"after {script}: {found}"
    for script in RIGHT:
        if found := judge(place, script):
            yield f"{script}: {found}"
    place.close()


if __name__ == "__main__":
    sys.exit(checks.run_checks("file commands", [("what is wrong", check)]))
