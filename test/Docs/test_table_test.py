# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The tables of test/README.md name files that exist, each of the 60 acceptance checks has one row, and no test file is
named by a number.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

TEXT = (ROOT / "test/README.md").read_text()


def rows():
    """(numbers, files) of each row of the table of acceptance checks."""
    section = TEXT.split("\n## Acceptance checks\n", 1)[1]
    for cells in re.findall(r"^\| (\d[\d, –]*) \|[^|]*\| (.*) \|$", section, re.M):
        numbers = []
        for part in cells[0].split(", "):
            first, _, last = part.partition("–")
            numbers += range(int(first), int(last or first) + 1)
        yield numbers, re.findall(r"`([^`]+)`", cells[1])


def check_files(_folder):
    named = [file for _, files in rows() for file in files] + re.findall(r"\]\(([\w./-]+)\)", TEXT)
    for file in named:
        if not (ROOT / "test" / file).exists():
            yield f"test/README.md names {file}, which does not exist"


def check_numbers(_folder):
    numbers = sorted(number for row, _ in rows() for number in row)
    if numbers != list(range(1, 61)):
        return f"expected one row for each of the checks 1 to 60, but got {numbers}"


def check_names(_folder):
    for file in sorted((ROOT / "test").rglob("*")):
        if re.match(r"check[-_]\d", file.name):
            yield f"{file.relative_to(ROOT)}: expected a name that says the subject"


if __name__ == "__main__":
    sys.exit(checks.run_checks("test_table", [("files", check_files), ("numbers", check_numbers),
                                              ("names", check_names)]))
