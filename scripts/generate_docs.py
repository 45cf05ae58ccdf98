#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Writes docs/reference/ from the TableGen files, or with --check says what differs.

--check also fails when an operation or pass lacks a summary, a description or an example.
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
OPS = {
    "ad-dialect.md": ("adjoint/Dialect/AD/IR/ADOps.td", ["-gen-dialect-doc", "-dialect=ad"]),
    "check-dialect.md": ("adjoint/Dialect/Check/IR/CheckOps.td", ["-gen-dialect-doc", "-dialect=check"]),
}
PASSES = {
    "transform-passes.md": ("adjoint/Dialect/AD/Transforms/Passes.td", ["-gen-pass-doc"]),
    "conversion-passes.md": ("adjoint/Conversion/Passes.td", ["-gen-pass-doc"]),
    "emulator-passes.md": ("adjoint/Emulator/Passes.td", ["-gen-pass-doc"]),
}


class TableGen:
    def __init__(self, llvm):
        self.folder = llvm / "bin"
        self.includes = ["-I", str(INCLUDE), "-I", str(llvm / "include")]

    def run(self, file, arguments, program="mlir-tblgen"):
        command = [str(self.folder / program), *arguments, *self.includes, str(INCLUDE / file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def records(self, file, base):
        """Records of a class that are defined, by name."""
        dump = json.loads(self.run(file, ["--dump-json"], "llvm-tblgen"))
        return {name: dump[name] for name in dump["!instanceof"].get(base, [])}


def incomplete(name, record):
    """What an operation's or pass's documentation lacks."""
    summary, description = record.get("summary") or "", record.get("description") or ""
    missing = []
    if not summary.strip():
        missing.append("summary")
    if len(description.strip()) < 40:
        missing.append("description")
    if "```mlir" not in description:
        missing.append("example")
    return f"{name} lacks: {', '.join(missing)}" if missing else None


def check_complete(tablegen):
    problems, counts = [], {}
    for files, base, dialects in [(OPS, "Op", ("AD_", "Check_")), (PASSES, "PassBase", None)]:
        counts[base] = 0
        for file, _ in files.values():
            for name, record in tablegen.records(file, base).items():
                if dialects and not name.startswith(dialects):
                    continue
                counts[base] += 1
                problem = incomplete(name, record)
                if problem:
                    problems.append(problem)
    print(f"{counts['Op']} operations and {counts['PassBase']} passes documented")
    if min(counts.values()) == 0:
        problems.append("found no operations or no passes: the check itself is broken")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something differs")
    parser.add_argument("--llvm", type=pathlib.Path, default=pathlib.Path("/usr/lib/llvm-22"))
    options = parser.parse_args()
    tablegen = TableGen(options.llvm)
    problems = check_complete(tablegen)
    folder = ROOT / "docs" / "reference"
    for name, (file, arguments) in {**OPS, **PASSES}.items():
        text = tablegen.run(file, arguments)
        if not options.check:
            folder.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        elif not (folder / name).exists() or (folder / name).read_text() != text:
            problems.append(f"docs/reference/{name} is not what {file} says; run scripts/generate_docs.py")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
