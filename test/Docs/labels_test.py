# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""One search for a label of a constraint, such as `dot_c2`, leads from docs/spec to the check and to the tests.

For C2 under the heading `ad.dot` there is `(C2)` in the description of the operation (docs/reference, which is
generated from the `.td`), a comment with `dot_c2` at the check in lib/Dialect or the row of a trait in the table of
docs/spec.md, and a test function whose name begins with `dot_c2`. A name of the table of families stands for all
operations of its row. A label that the specification does not have is an error too.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "test/Dialect/AD/IR")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import refusals  # noqa: E402
import spec  # noqa: E402

LABEL = re.compile(r"\b([a-z][a-z0-9_]*?)_c(\d+)(?![0-9a-zA-Z])")


def read_reference(root):
    """The text of each operation in the generated reference: its description, its traits and interfaces."""
    found = {}
    for file in sorted((root / "docs/reference").glob("*-dialect.md")):
        for section in re.split(r"^### ", file.read_text(), flags=re.M)[1:]:
            if name := re.match(r"`\w+\.(\w+)`", section):
                found[name[1]] = section
    return found


def labels_in(texts, families):
    """(operation, number) of all labels in the texts; a family gives those of its operations."""
    for text in texts:
        for name, number in LABEL.findall(text):
            yield from ((op, int(number)) for op in families.get(name, [name]))


def comments(root):
    for file in sorted((root / "lib/Dialect").rglob("*.cpp")) + sorted((root
                                                                        / "include/adjoint/Dialect").rglob("*.td")):
        yield from re.findall(r"//.*", file.read_text())


def test_functions(root):
    for file in sorted((root / "test").rglob("*.mlir")):
        yield from re.findall(r'(?:func\.func (?:private )?@|ad\.kernel @|sym_name = ")(\w+)', file.read_text())
    yield from refusals.names()


def function_labels(names, families):
    """A name has one label, at its beginning; what follows says which case it is."""
    pattern = re.compile(r"([a-z][a-z0-9_]*?)_c(\d+)(?=_|$)")
    for name in names:
        if found := pattern.match(name):
            yield from ((op, int(found[2])) for op in families.get(found[1], [found[1]]))


def places_of(root, families, descriptions, traits):
    """The labels at each of the three places that they lead to."""
    described = {(op, int(number)) for op, text in descriptions.items() for number in re.findall(r"\(C(\d+)\)", text)}
    return {"the description in the .td": described,
            "a comment at the check in lib/Dialect": set(labels_in(comments(root), families)) | set(traits),
            "the name of a test": set(function_labels(test_functions(root), families))}


def problems_of(root):
    wanted = {(op, number) for op, constraints in spec.read_constraints(root).items() for number in constraints}
    descriptions = read_reference(root)
    traits = {(op, number): trait for op, number, trait in spec.read_traits(root)}
    for place, found in places_of(root, spec.read_families(root), descriptions, traits).items():
        for op, number in sorted(wanted - found):
            yield f"{op}_c{number}: expected the label in {place}"
        for op, number in sorted(found - wanted):
            if op in descriptions:
                yield f"{op}_c{number}: {place} has the label, but docs/spec has no C{number} of the operation"
    for (op, number), trait in sorted(traits.items()):
        if trait not in descriptions.get(op, ""):
            yield f"{op}_c{number}: docs/spec.md says that {trait} checks it, but the operation does not have that"


SPEC = """
## Labels
| name | operations |
|---|---|
| `unary` | `exp` |

| operations | constraints | trait |
|---|---|---|
| `unary` | C1 | `SameType` |

## Next
"""
OPERATIONS = "## ad.exp\n- **C1.** One type.\n\n## ad.log\n- **C1.** One type.\n\n## ad.dot\n- **C1.** Sizes\n  agree.\n"
REFERENCE = ("### `ad.exp` (ad::ExpOp)\n(C1) one type. Traits: SameType\n### `ad.log` (ad::LogOp)\n(C1) one type.\n"
             "### `ad.dot` (ad::DotOp)\n(C1) sizes agree; (C2) more.\n")
SMALL = {"docs/spec.md": SPEC, "docs/spec/ops.md": OPERATIONS, "docs/reference/ad-dialect.md": REFERENCE,
         "lib/Dialect/Dot.cpp": "// dot_c3: sizes.\n", "include/adjoint/Dialect/Ops.td": "",
         "test/dot.mlir": "func.func @dot_c1_sizes()"}


def check_small(folder):
    """Families, traits and each kind of problem in a tree of three operations."""
    for path, text in SMALL.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    found = {problem.split(",")[0] for problem in problems_of(folder)}
    expected = {"dot_c1: expected the label in a comment at the check in lib/Dialect",
                "dot_c2: the description in the .td has the label",
                "dot_c3: a comment at the check in lib/Dialect has the label",
                "log_c1: docs/spec.md says that SameType checks it"}
    if found != expected:
        return f"expected {sorted(expected)}, but got {sorted(found)}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("labels", [("the tree", lambda folder: problems_of(ROOT)),
                                          ("a small tree", check_small)]))
