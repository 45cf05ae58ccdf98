#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Names each Python package that is installed without a version and a hash.

    unpinned.py [FOLDER]

Prints one line for each, and exits with 1 when there is one. FOLDER is the root of the project. It looks at

- the lists of packages (requirements.txt): each line pins a version and has hashes, and those of requirements.in beside
  it are in it with the version that they name,
- python_bindings/pyproject.toml: scripts/requirements.in has what the package is built with, since it is built without
  an environment of its own,
- the scripts: pip installs lists with --require-hashes, or nothing from an index.
"""

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PINNED = re.compile(r"([\w.-]+)==(\S+)( --hash=sha256:[0-9a-f]{64})+")
NAME = re.compile(r"[\w.-]+")
# Its builds differ between indexes: benchmarks/torch.txt says so.
WITHOUT_HASHES = "benchmarks/torch.txt"


def read(path):
    """The requirements of a file, without comments, each in one line."""
    text = re.sub(r"\\\n\s*", "", path.read_text())
    lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def check_list(path, label):
    pinned = {}
    for line in read(path):
        if found := PINNED.fullmatch(line):
            pinned[normal(found[1])] = found[2]
        else:
            yield f"{label}: expected NAME==VERSION and hashes, got '{line[:60]}'"
    source = path.with_suffix(".in")
    if not source.exists():
        yield f"{label}: expected {source.name} beside it"
        return
    for line in read(source):
        name, _, version = line.partition("==")
        if pinned.get(normal(name)) not in ({version} if version else set(pinned.values())):
            yield f"{label}: expected {line}, as {source.name} has it; make it again as its head says"


def check_build(root):
    project = tomllib.loads((root / "python_bindings/pyproject.toml").read_text())
    known = {normal(NAME.match(line)[0]) for line in read(root / "scripts/requirements.in")}
    for wanted in project["build-system"]["requires"]:
        if normal(NAME.match(wanted)[0]) not in known:
            yield f"python_bindings/pyproject.toml: '{wanted}' is not in scripts/requirements.in"


def check_script(path, label):
    text = re.sub(r"\\\n\s*", "", path.read_text())
    for line in text.splitlines():
        if "pip install" in line.split("#")[0] and not re.search(
                rf"--require-hashes|--no-index|{re.escape(WITHOUT_HASHES)}", line):
            yield f"{label}: pip installs without --require-hashes: '{line.strip()[:60]}'"


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    problems = [problem for folder in ("scripts", "benchmarks")
                for problem in check_list(root / folder / "requirements.txt", f"{folder}/requirements.txt")]
    problems += check_build(root)
    for path in sorted((root / "scripts").glob("*.sh")):
        problems += check_script(path, f"scripts/{path.name}")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
