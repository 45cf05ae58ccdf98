# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each pass that decides something prints what and why under its own name: some file defines the pass's flag as
`DEBUG_TYPE` and uses it. Every `DEBUG_TYPE` is the flag of a pass. What is printed is tested by ad-opt-debug-only.mlir,
in builds with assertions.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

# Passes whose diagnostics are all that they have to say.
WITHOUT_DECISIONS = re.compile(r"ad-verify-[\w-]+")


def flags(root):
    records = "\n".join(file.read_text() for file in sorted((root / "include").rglob("*.td")))
    return set(re.findall(r'^def \w+ : Pass<"([\w-]+)"', records, re.M))


def debug_types(root):
    """The files of each debug type, and whether one of them prints."""
    found = {}
    for file in sorted((root / "lib").rglob("*.cpp")):
        text = file.read_text()
        for name in re.findall(r'^#define DEBUG_TYPE "(.*)"', text, re.M):
            prints = re.search(r"\bLDBG(_OS)?\(|\(DEBUG_TYPE\)", text) is not None
            found[name] = found.get(name, False) or prints
    return found


def check_passes(_folder):
    types = debug_types(ROOT)
    for flag in sorted(flags(ROOT)):
        if not WITHOUT_DECISIONS.fullmatch(flag) and not types.get(flag):
            yield f"{flag}: expected a file of the pass to define it as DEBUG_TYPE and to print with LDBG()"


def check_names(_folder):
    for name in sorted(set(debug_types(ROOT)) - flags(ROOT)):
        yield f'#define DEBUG_TYPE "{name}": expected the flag of a pass'


def check_reading(folder):
    (folder / "include").mkdir()
    (folder / "include/Passes.td").write_text('def GrowPass : Pass<"ad-grow"> {\n')
    (folder / "lib").mkdir()
    (folder / "lib/Grow.cpp").write_text('#define DEBUG_TYPE "ad-grow"\n')
    if flags(folder) != {"ad-grow"} or debug_types(folder) != {"ad-grow": False}:
        return f"a pass that prints nothing: {flags(folder)}, {debug_types(folder)}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("debug_types", [("passes", check_passes), ("names", check_names),
                                               ("reading", check_reading)]))
