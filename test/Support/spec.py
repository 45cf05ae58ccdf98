# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The contents of docs/spec, for tests that compare it with the tools: constraints of operations, names of families."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read_constraints(root=ROOT):
    """The constraints of each operation as {number: text}; names are without the dialect, since they are unique."""
    found = {}
    for file in sorted((root / "docs/spec").glob("*.md")):
        for section in re.split(r"^## ", file.read_text(), flags=re.M)[1:]:
            if name := re.match(r"\w+\.(\w+)\n", section):
                items = re.findall(r"^- \*\*C(\d+)\.\*\* (.*(?:\n  .*)*)", section, re.M)
                found[name[1]] = {int(number): " ".join(text.split()) for number, text in items}
    return found


def read_labels(root=ROOT):
    """The rows of the tables about labels in docs/spec.md, cell by cell."""
    section = (root / "docs/spec.md").read_text().split("\n## Labels\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `.*\|$", section, re.M)
    return [[re.findall(r"\w+", cell) for cell in row.strip("|").split("|")] for row in rows]


def read_families(root=ROOT):
    """The operations of each family: those with the same constraints, by the table."""
    constraints = read_constraints(root)
    return {cells[0][0]: [op for op, own in constraints.items() if own in [constraints[like] for like in cells[1]]]
            for cells in read_labels(root) if len(cells) == 2}


def read_traits(root=ROOT):
    """(operation, number, trait) of each constraint that a trait or interface of MLIR checks."""
    families = read_families(root)
    for cells in read_labels(root):
        if len(cells) == 3:
            for name in cells[0]:
                yield from ((op, int(label[1:]), cells[2][0]) for op in families.get(name, [name])
                            for label in cells[1])
