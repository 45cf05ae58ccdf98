# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Includes point downwards: every file of `include/adjoint`, `include/adjoint-c` and `lib` includes only headers of its
own layer and of those that the table of layers in docs/architecture.md allows it. A layer lists only layers above it in
the table, so there are no cycles, and only what it uses. A file of `tools` includes only headers of its own folder and
of `include/adjoint`.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]([^">]+)[">]', re.M)
SUFFIXES = (".h", ".c", ".cpp", ".def", ".inc", ".td")
ROW = re.compile(r"^\| `([\w/.]+)` \|([^|]*)\|[^|]*\|$", re.M)


def read_table(text):
    """The layers that each layer may include, in the order of the table."""
    section = text.split("\n## Layers\n", 1)[1].split("\n## ", 1)[0]
    return {name: re.findall(r"`([\w/.]+)`", allowed) for name, allowed in ROW.findall(section)}


def layer_of(path, table):
    """The layer with the longest name that the path begins with; files at the top have rows of their own, without an
    ending."""
    inside = re.sub(r"^(include/adjoint|lib)/", "", re.sub(r"^include/adjoint-c/", "CAPI/", path))
    fits = [name for name in table if inside == name or inside.startswith((f"{name}/", f"{name}."))]
    return max(fits, key=len, default=None)


def included(root, path):
    """The files of the project that the file at `path` includes."""
    for name in INCLUDE.findall((root / path).read_text()):
        if name.startswith(("adjoint/", "adjoint-c/")):
            yield f"include/{name}"
            continue
        # The build adds no folder below the root to the paths, so another name is one from the file or from the root.
        for header in (((root / path).parent / name).resolve(), (root / name).resolve()):
            if header.is_file() and header.is_relative_to(root.resolve()):
                yield str(header.relative_to(root.resolve()))
                break


def sources(root, *folders):
    return sorted(str(file.relative_to(root)) for folder in folders for file in (root / folder).rglob("*")
                  if file.suffix in SUFFIXES)


def edges(root, table):
    """(file, its layer, what it includes, the layer of that) where the layers differ."""
    for path in sources(root, "include/adjoint", "include/adjoint-c", "lib"):
        for header in included(root, path):
            from_layer, to_layer = layer_of(path, table), layer_of(header, table)
            if from_layer != to_layer or from_layer is None:
                yield path, from_layer, header, to_layer


def private_headers(root):
    """The headers that files of `tools` include and that are not public."""
    for path in sources(root, "tools"):
        own = "/".join(path.split("/")[:2]) + "/"
        yield from (f"{path}: a tool may not include {header}, which is not in include/adjoint"
                    for header in included(root, path) if not header.startswith(("include/adjoint/", own)))


def problems_of(root, text):
    yield from private_headers(root)
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


def small_tree(folder, include, path="include/adjoint/Low/Low.h"):
    """A tree of two layers and a tool, in which the file at `path`, by default one of the lower layer, has the text."""
    for path, text in {"include/adjoint/Low/Low.h": "", "include/adjoint/Low/List.def": "", "lib/High/Private.h": "",
                       "tools/high/Tool.h": "",
                       "tools/high/high.cpp": '#include "Tool.h"\n#include "adjoint/High/High.h"\n',
                       "include/adjoint/High/High.h": '#include "adjoint/Low/Low.h"\n',
                       "lib/High/High.cpp": '#include "adjoint/High/High.h"\n', path: include}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


TABLE = "\n## Layers\n\n| `Low` | | below |\n| `High` | `Low` | above |\n\n## Next\n"


def check_tree(folder):
    return problems_of(ROOT, (ROOT / "docs/architecture.md").read_text())


def check_upward_include(folder):
    small_tree(folder, "")
    if found := list(problems_of(folder, TABLE)):
        return f"a tree without faults: {found}"
    for path in ("include/adjoint/Low/Low.h", "include/adjoint/Low/List.def"):
        for include in ('#include "adjoint/High/High.h"', "#include <adjoint/High/High.h>",
                        "# include<adjoint/High/High.h>"):
            small_tree(folder, f"{include}\n", path)
            found = list(problems_of(folder, TABLE))
            if found != [f"{path}: layer Low may not include include/adjoint/High/High.h of layer High"]:
                return f"{include} upwards in {path} gives {found}"


def check_tools(folder):
    for include in ('#include "../../lib/High/Private.h"', '#include "lib/High/Private.h"',
                    "#include <lib/High/Private.h>", "#include <../../lib/High/Private.h>"):
        small_tree(folder, f"{include}\n", "tools/high/high.cpp")
        found = list(problems_of(folder, TABLE))
        if found != ["tools/high/high.cpp: a tool may not include lib/High/Private.h, which is not in include/adjoint"]:
            yield f"{include} in a tool gives {found}"


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
                                            ("private headers in tools", check_tools),
                                            ("wrong tables", check_wrong_tables)]))
