# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Includes point downwards: every file of `include/adjoint` and `lib` includes only headers of its own layer and of
those that the table of layers in docs/architecture.md allows it. A layer lists only layers above it in the table, so
there are no cycles, and only what it uses.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

INCLUDE = re.compile(r'^\s*#?include\s+"([^"]+)"', re.M)
ROW = re.compile(r"^\| `([\w/.]+)` \|([^|]*)\|[^|]*\|$", re.M)


def read_table(text):
    """The layers that each layer may include, in the order of the table."""
    section = text.split("\n## Layers\n", 1)[1].split("\n## ", 1)[0]
    return {name: re.findall(r"`([\w/.]+)`", allowed) for name, allowed in ROW.findall(section)}


def layer_of(path, table):
    """The layer with the longest name that the path begins with; files at the top have rows of their own, without an
    ending."""
    inside = re.sub(r"^(include/adjoint|lib)/", "", path)
    fits = [name for name in table if inside == name or inside.startswith((f"{name}/", f"{name}."))]
    return max(fits, key=len, default=None)


def included(root, path):
    """The files of the project that the file at `path` includes."""
    for name in INCLUDE.findall((root / path).read_text()):
        near = (root / path).parent.joinpath(name).resolve()
        header = f"include/{name}" if name.startswith("adjoint/") else str(near)
        if name.startswith("adjoint/"):
            yield header
        elif pathlib.Path(header).is_file():
            yield str(pathlib.Path(header).relative_to(root))


def sources(root):
    folders = [root / "include/adjoint", root / "lib"]
    return sorted(str(file.relative_to(root)) for folder in folders for file in folder.rglob("*")
                  if file.suffix in (".h", ".cpp", ".td"))


def edges(root, table):
    """(file, its layer, what it includes, the layer of that) where the layers differ."""
    for path in sources(root):
        for header in included(root, path):
            from_layer, to_layer = layer_of(path, table), layer_of(header, table)
            if from_layer != to_layer or from_layer is None:
                yield path, from_layer, header, to_layer


def problems_of(root, text):
    table = read_table(text)
    order = list(table)
    used = set()
    for path, from_layer, header, to_layer in edges(root, table):
        used.add((from_layer, to_layer))
        if from_layer is None or to_layer is None:
            yield f"{path if from_layer is None else header}: the table of layers has no row for it"
        elif to_layer not in table[from_layer]:
            yield f"{path}: layer {from_layer} may not include {header} of layer {to_layer}"
    for name, allowed in table.items():
        for other in allowed:
            if other not in table or order.index(other) >= order.index(name):
                yield f"docs/architecture.md: layer {name} lists {other}, which is not above it in the table"
            elif (name, other) not in used:
                yield f"docs/architecture.md: layer {name} lists {other}, but includes nothing of it"


def small_tree(folder, include):
    """A tree of two layers, in which a file of the lower one includes what is asked for."""
    for path, text in {"include/adjoint/Low/Low.h": include,
                       "include/adjoint/High/High.h": '#include "adjoint/Low/Low.h"\n',
                       "lib/High/High.cpp": '#include "adjoint/High/High.h"\n'}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


TABLE = "\n## Layers\n\n| `Low` | | below |\n| `High` | `Low` | above |\n\n## Next\n"


def check_tree(folder):
    return problems_of(ROOT, (ROOT / "docs/architecture.md").read_text())


def check_upward_include(folder):
    small_tree(folder, "")
    if found := list(problems_of(folder, TABLE)):
        return f"a tree without faults: {found}"
    small_tree(folder, '#include "adjoint/High/High.h"\n')
    found = list(problems_of(folder, TABLE))
    if found != ["include/adjoint/Low/Low.h: layer Low may not include include/adjoint/High/High.h of layer High"]:
        return f"an include upwards gives {found}"


def check_wrong_tables(folder):
    small_tree(folder, "")
    for change, expected in (("`Low` | |", "`Low` | `High` |"), "layer Low lists High, which is not above it"), \
                            (("| `Low` | | below |\n", "| `Low` | | below |\n| `Other` | `Low` | other |\n"),
                             "but includes nothing of it"), \
                            (("| `Low` | | below |\n", ""), "no row for it"):
        found = " ".join(problems_of(folder, TABLE.replace(*change)))
        if expected not in found:
            yield f"expected '{expected}', but got '{found}'"


if __name__ == "__main__":
    sys.exit(checks.run_checks("layering", [("the tree", check_tree), ("an include upwards", check_upward_include),
                                            ("wrong tables", check_wrong_tables)]))
