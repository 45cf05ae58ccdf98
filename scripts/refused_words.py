#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Names each place where a tracked file has a word that docs/glossary.md refuses.

    refused_words.py [--glossary FILE] [FILE...]

Prints `FILE:LINE: refused word 'WORD', use X` for each, and exits with 1 when there is one. Without FILE, all tracked
files. A row that no line of the section can be read as, and a folder that does not exist, are errors.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
ROW = re.compile(r"^\| `(.+?)` \| ([\w /.-]+) \| (.+) \|$", re.M)


def read_rows(text):
    """(expression, folders, what to use instead) of each row of the section; a | in an expression is written \\|."""
    section = text.split("\n## Refused words\n", 1)[1].split("\n## ", 1)[0]
    rows = [(re.compile(expression.replace("\\|", "|")), folders.split(), instead) for expression, folders,
            instead in ROW.findall(section)]
    if not rows:
        raise SystemExit("the glossary refuses nothing; expected rows of `expression`, folders and what to use instead")
    if wrong := [line for line in section.splitlines() if line.startswith("| `") and not ROW.fullmatch(line)]:
        raise SystemExit(f"the glossary has a row that is not `expression`, folders and what to use instead: {wrong[0]}")
    if missing := sorted({folder for _, folders, _ in rows for folder in folders if not (ROOT / folder).is_dir()}):
        raise SystemExit(f"the glossary refuses words in folders that do not exist: {' '.join(missing)}")
    return rows


def refused(path, text, rows):
    """The complaints about one file."""
    mine = [row for row in rows if any(path.startswith(f"{folder}/") for folder in row[1])]
    for number, line in enumerate(text.splitlines(), 1):
        for expression, _, instead in mine:
            if found := expression.search(line):
                yield f"{path}:{number}: refused word '{found.group()}', use {instead}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--glossary", type=pathlib.Path, default=ROOT / "docs/glossary.md")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    rows = read_rows(options.glossary.read_text())
    files = options.files or subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                                            check=True).stdout.split()
    complaints = []
    for path in files:
        file = ROOT / path
        if file.is_file() and file.resolve() != options.glossary.resolve():
            complaints += refused(path, file.read_text(errors="replace"), rows)
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
