#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Writes docs/reference/ and adjoint.ops from the TableGen files, and programs into docs/how-do-i.md; --check says what
differs.

--check also fails when an operation or pass lacks a summary, a description or an example.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

import python_ops

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON_OPS = ROOT / "python_bindings/adjoint/ops.py"
INCLUDE = ROOT / "include"
OPS = {
    "ad-dialect.md": ("adjoint/Dialect/AD/IR/AD.td", ["-gen-dialect-doc", "-dialect=ad"]),
    "check-dialect.md": ("adjoint/Dialect/Check/IR/CheckOps.td", ["-gen-dialect-doc", "-dialect=check"]),
}
PASSES = {
    "transform-passes.md": ("adjoint/Dialect/AD/Transforms/Passes.td", ["-gen-pass-doc"]),
    "kernel-passes.md": ("adjoint/Transforms/Passes.td", ["-gen-pass-doc"]),
    "conversion-passes.md": ("adjoint/Conversion/Passes.td", ["-gen-pass-doc"]),
    "codegen-passes.md": ("adjoint/Codegen/Passes.td", ["-gen-pass-doc"]),
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

    def dump(self, file):
        return json.loads(self.run(file, ["--dump-json"], "llvm-tblgen"))

    def records(self, file, base):
        """Records of a class that are defined, by name."""
        dump = self.dump(file)
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


# The first line of a program, if that is the licence, with the empty comment after it.
LICENCE = re.compile(r"\A// Part of Adjoint[^\n]*\n(?://\n)?")
# A comment names a program; the program follows it, without its licence line.
PROGRAM = re.compile(r"<!-- (examples/\S+\.mlir) -->\n(?:```mlir\n.*?^```\n)?", re.S | re.M)


def with_programs(page):
    """The page with each program as it is in its file."""

    def shown(match):
        text = LICENCE.sub("", (ROOT / match[1]).read_text())
        return f"<!-- {match[1]} -->\n```mlir\n{text}```\n"

    return PROGRAM.sub(shown, page)


def check_page(path, write):
    """What is wrong with the programs on a page; all of examples/how-do-i have to be there."""
    page = path.read_text()
    if write:
        page = with_programs(page)
        path.write_text(page)
    elif with_programs(page) != page:
        yield f"{path.relative_to(ROOT)} shows other programs than the files; run scripts/generate_docs.py"
    for empty in re.findall(r"<!-- (\S+) -->\n```mlir\n\s*```", page):
        yield f"{path.relative_to(ROOT)} shows nothing of {empty}"
    shown = {name for name in PROGRAM.findall(page)}
    for program in sorted((ROOT / "examples/how-do-i").glob("*.mlir")):
        if str(program.relative_to(ROOT)) not in shown:
            yield f"{path.relative_to(ROOT)} does not show {program.relative_to(ROOT)}"


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
    functions = python_ops.text(tablegen.dump(OPS["ad-dialect.md"][0]), ROOT / ".venv/bin/ruff")
    if not options.check:
        PYTHON_OPS.write_text(functions)
    elif PYTHON_OPS.read_text() != functions:
        problems.append("python_bindings/adjoint/ops.py is not what the operations say; run scripts/generate_docs.py")
    problems += check_page(ROOT / "docs" / "how-do-i.md", write=not options.check)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
