#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""check_text.py --max-lines N --banner TEXT FILE...: what scripts/lint.sh refuses in the text of any file, a line each."""

import argparse
import pathlib
import re

WITH_BANNER = {".cpp", ".c", ".h", ".def", ".td", ".py", ".sh", ".cmake"}
OF_LINES = {".cpp", ".c", ".h", ".def", ".td", ".py", ".sh", ".mlir"}
GENERATED = re.compile(r"Written by scripts/.*; do not edit")


def complaints(path, banner, max_lines):
    text = path.read_bytes().decode(errors="surrogateescape")  # with the ends of lines as they are
    head = "\n".join(text.split("\n", 5)[:5])
    if path.suffix in WITH_BANNER and banner not in head:
        yield "expected the licence line at the head"
    count = text.count("\n")
    if path.suffix in OF_LINES and count > max_lines and not GENERATED.search(head):
        yield f"{count} lines, expected at most {max_lines}"
    if re.search(r"[^\S\n]$", text, re.MULTILINE):
        yield "whitespace at the end of a line"
    if "\t" in text:
        yield "a tab"
    if text and not text.endswith("\n"):
        yield "no newline at the end"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-lines", type=int, required=True)
    parser.add_argument("--banner", required=True)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    for path in options.files:
        for complaint in complaints(path, options.banner, options.max_lines):
            print(f"{path}: {complaint}")


if __name__ == "__main__":
    main()
