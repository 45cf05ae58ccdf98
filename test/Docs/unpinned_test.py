#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""scripts/unpinned.py names each Python package without a version or a hash. Closes with `N run, N failed`."""

import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

FILES = ["scripts/requirements.in", "scripts/requirements.txt", "benchmarks/requirements.in",
         "benchmarks/requirements.txt", "python_bindings/pyproject.toml", "scripts/common.sh", "scripts/setup.sh"]
# What is changed in which file, and words of the complaint.
FAULTS = [
    ("scripts/requirements.txt", r"(numpy==\S+) \\\n( *--hash=\S+( \\)?\n)+", r"\1\n", "got 'numpy=="),
    ("scripts/requirements.txt", r"\Z", "six\n", "got 'six'"),
    ("benchmarks/requirements.txt", r"\Z", "six==1.17.0\n", "got 'six==1.17.0'"),
    ("scripts/requirements.txt", r"numpy==\S+", "numpy>=2", "got 'numpy>=2"),
    ("scripts/requirements.txt", r"sha256:\w", "sha256:", "expected NAME==VERSION and hashes"),
    ("scripts/requirements.in", r"numpy==\S+", "numpy==1.0", "expected numpy==1.0, as requirements.in has it"),
    ("benchmarks/requirements.in", r"\Z", "six\n", "expected six, as requirements.in has it"),
    ("python_bindings/pyproject.toml", r'requires = \[', 'requires = ["six", ', "'six' is not in"),
    ("scripts/setup.sh", r"\Z", "python3 -m pip install six\n", "without --require-hashes"),
    ("scripts/common.sh", " --require-hashes", "", "without --require-hashes"),
]


def complaints(root):
    done = subprocess.run([sys.executable, ROOT / "scripts/unpinned.py", root], stdout=subprocess.PIPE, text=True)
    assert done.returncode == bool(done.stdout), f"exit code {done.returncode}: {done.stdout}"
    return done.stdout


def copy(folder):
    for name in FILES:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)


def check_ours(_folder):
    return complaints(ROOT) or None


def check_faults(folder):
    for name, expression, text, words in FAULTS:
        copy(folder)
        before = (folder / name).read_text()
        after = re.sub(expression, text, before, count=1)
        assert before != after, f"{name} has no {expression}"
        (folder / name).write_text(after)
        if words not in (found := complaints(folder)):
            yield f"{name} with {text!r}: expected '{words}', got '{found}'"


if __name__ == "__main__":
    sys.exit(checks.run_checks("unpinned", [("lists of the project", check_ours), ("faults", check_faults)]))
