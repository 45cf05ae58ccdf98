# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The file lists of the recipes in CONTRIBUTING.md are true: each file exists; no other file of `include` and `lib`
names the sample of a recipe; no recipe loses a row; the patch that `scripts/test.sh recipe` applies changes the
files of the first recipe, and fits the tree.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

PATCH = "test/Recipe/Inputs/softsign.patch"
# Recipe by recipe: expressions for the names that a sample has, in upper or lower case.
SAMPLES = {
    "An elementary function": ["softplus"],
    "A reduction": ["reduce_?prod"],
    "A row operation": ["rms_?norm"],
    "A pass": [r"ad-decompose\"|\bdecompose(pass|base|\.cpp)"],
    "A kernel class": [r"transposeemitter|transposeclass"],
}
# The most files by hand that a recipe may take.
LIMITS = {"An elementwise operation": 5, "A row operation": 7}
# The least: no name tells which documents and tests a sample needs, so these rows are counted.
FLOORS = {"An elementwise operation": 5, "An elementary function": 8, "A reduction": 14, "A row operation": 7, "A derivative rule": 3,
          "A pass": 8, "A fusion rule": 3, "A kernel class": 13}


def recipes(text):
    """By heading: the files in the tables, and all files that the text names."""
    section = text.split("\n## Recipes\n", 1)[1].split("\n## ", 1)[0]
    parts = re.split(r"^### (.*)\n", section, flags=re.M)[1:]
    for heading, body in zip(parts[::2], parts[1::2]):
        table = re.findall(r"^\| `([^`]+)` \|", body, re.M)
        yield heading, table, re.findall(r"`((?:include|lib|docs|test|scripts)/[^`\s]+)`", body)


def tracked(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.split()


def missing_files(text, exists):
    for heading, table, named in recipes(text):
        if not table:
            yield f"{heading}: no table of files"
        yield from (f"{heading}: {path} does not exist" for path in sorted({*table, *named}) if not exists(path))
        if len(table) > LIMITS.get(heading, len(table)):
            yield f"{heading}: {len(table)} files, expected at most {LIMITS[heading]}"


def lost_rows(text):
    counts = {heading: len(set(table)) for heading, table, _ in recipes(text)}
    yield from (f"{heading}: {counts.get(heading, 0)} files, expected at least {least}"
                for heading, least in FLOORS.items() if counts.get(heading, 0) < least)
    yield from (f"{heading}: expected a floor of its rows in this test" for heading in counts if heading not in FLOORS)


def unlisted_files(text, files_with):
    listed = {heading: table for heading, table, _ in recipes(text)}
    for heading, names in SAMPLES.items():
        for name in names:
            found = files_with(name)
            if not found:
                yield f"{heading}: no file names {name}"
            # The text of a function is in one of several headers of the folder that the recipe names.
            folders = {path.rsplit("/", 1)[0] for path in listed[heading]
                       if path.startswith("include/adjoint/Numerics/Math/")}
            yield from (f"{heading}: {path} names {name}, but is not listed" for path in found
                        if path not in listed[heading] and path.rsplit("/", 1)[0] not in folders)


def contributing():
    return (ROOT / "CONTRIBUTING.md").read_text()


def check_files(_folder):
    files = tracked("ls-files", "--cached", "--others", "--exclude-standard")
    return missing_files(contributing(), lambda path: (ROOT / path).is_dir() or path in files
                         and (ROOT / path).is_file())


def check_floors(_folder):
    return lost_rows(contributing())


def check_samples(_folder):
    """Precision policies are left out: an operation that they do not name follows their default. So is the import of
    upstream's programs, which names an operation only if upstream has it too."""
    folders = ("include", "lib", ":!lib/Numerics/Policies", ":!lib/Conversion/ImportLinalg")
    return unlisted_files(contributing(), lambda name: tracked("grep", "--untracked", "-liE", name, "--", *folders))


def check_patch(_folder):
    _, table, _ = next(recipes(contributing()))
    changed = re.findall(r"^\+\+\+ b/(.*)$", (ROOT / PATCH).read_text(), re.M)
    if sorted(changed) != sorted(table):
        yield f"{PATCH} changes {sorted(changed)}, but the first recipe lists {sorted(table)}"
    done = subprocess.run(["git", "apply", "--check", PATCH], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        yield f"{PATCH} does not fit the tree: {done.stderr.strip()}"


SMALL = "\n## Recipes\n\n### A row operation\n\n| file | what |\n|---|---|\n| `lib/A.cpp` | x |\n\nSee `test/B.py`.\n\n## Next\n"


def check_lost_rows(_folder):
    """Each row of each recipe that is taken away is missed."""
    whole = contributing()
    for heading, table, _ in recipes(whole):
        for path in table:
            begin = whole.index(f"\n### {heading}\n")
            row = re.compile(rf"^\| `{re.escape(path)}` \|.*\n", re.M).search(whole, begin)
            found = list(lost_rows(whole[:row.start()] + whole[row.end():]))
            if found != [f"{heading}: {len(table) - 1} files, expected at least {FLOORS[heading]}"]:
                yield f"{heading} without {path}: {found}"
    cut = whole.replace("\n### A kernel class\n", "\n### A class of kernels\n")
    if len(list(lost_rows(cut))) != 2:
        yield f"another heading: {list(lost_rows(cut))}"


def check_faults(_folder):
    """The checks find what they look for."""
    if list(missing_files(SMALL, lambda path: True)):
        yield "files that exist are missing"
    if list(missing_files(SMALL, lambda path: path == "lib/A.cpp")) != ["A row operation: test/B.py does not exist"]:
        yield "a missing file is not found"
    rows = "".join(f"| `lib/{number}.cpp` | x |\n" for number in range(7))
    if list(missing_files(SMALL.replace("\n\nSee", "\n" + rows + "\nSee"), lambda path: True)) != [
            "A row operation: 8 files, expected at most 7"]:
        yield "a recipe that is too long is not found"
    others = "".join(f"### {heading}\n\n| `lib/C.cpp` | x |\n\n" for heading in SAMPLES if heading != "A row operation")
    text = SMALL.replace("## Next", f"{others}## Next")
    if list(unlisted_files(text, lambda name: ["lib/A.cpp"] if "norm" in name else ["lib/C.cpp"])):
        yield "files that are listed are not"
    found = list(unlisted_files(text, lambda name: ["lib/A.cpp", "lib/D.cpp"] if "norm" in name else ["lib/C.cpp"]))
    if found != ["A row operation: lib/D.cpp names rms_?norm, but is not listed"]:
        yield f"a file that is not listed is not found: {found}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("recipes", [("files", check_files), ("samples", check_samples),
                                           ("floors", check_floors), ("the patch", check_patch),
                                           ("lost rows", check_lost_rows),
                                           ("faults", check_faults)]))
