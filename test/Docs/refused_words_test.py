# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""scripts/refused_words.py finds a word that a glossary refuses, in the folders that its row names and nowhere else.
The rows of docs/glossary.md are as many as they were, and find whole words."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "scripts")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import refused_words  # noqa: E402

GLOSSARY = "\n## Refused words\n\n| expression | folders | use instead |\n|---|---|---|\n"


# Rows may be joined and widened; whoever takes some away lowers these numbers in the same change.
MIN_ROWS, MIN_WHOLE_WORDS, MIN_FOLDERS = 42, 30, 40
# Words that rows refuse, in files where they are refused. The | keeps them out of this file.
REFUSED = {"lib/Codegen/GPU/A.cpp": ["ta|kers", "r|oot", "bytes be|hind it", "the ext|reme value", "a pi|ece of it"],
           "lib/Codegen/CPU/A.cpp": ["the r|oot of", "neigh|bouring", "fet|ched", "mo|stRows", "two proc|essors"],
           "lib/Runtime/A.cpp": ["kMo|stBytes", "be|side it", "br|ings", "who|ever calls"],
           "include/adjoint/Emulator/A.h": ["mo|stThreads", "pi|eces"], "test/A.py": ["ad.de|pth", "ad-lower-|host"],
           "docs/spec/a.md": ["what li|es there"], "lib/Transforms/A.cpp": ["along the de|pth", "checkMemory|Plan"]}
# The same letters as parts of other words.
ALLOWED = {"lib/Codegen/GPU/A.cpp": ["undertakers", "square r|oot", "masterpi|eces", "rooted"],
           "lib/Codegen/CPU/A.cpp": ["almo|stRows", "masterpi|eces"],
           "lib/Runtime/A.cpp": ["retu|rns", "mostly", "believes"], "lib/Emulator/A.cpp": ["mostly", "timepi|eces"]}


def run(folder, rows, *files):
    glossary = folder / "glossary.md"
    glossary.write_text(GLOSSARY + rows)
    return subprocess.run([sys.executable, ROOT / "scripts/refused_words.py", "--glossary", glossary, *files],
                          capture_output=True, text=True)


def check_found(folder):
    done = run(folder, "| `fe(tch\\|deral) grid` | test | load |\n", "test/Docs/refused_words_test.py")
    word = "federal grid"  # the word that the row above refuses, here and there
    lines = [number for number, line in enumerate(pathlib.Path(__file__).read_text().splitlines(), 1) if word in line]
    expected = "".join(f"test/Docs/refused_words_test.py:{number}: refused word '{word}', use load\n"
                       for number in lines)
    if done.returncode != 1 or done.stdout != expected:
        return f"expected exit code 1 and {expected!r}, but got {done.returncode} and {done.stdout!r}"


def check_other_folder(folder):
    done = run(folder, "| `federal grid` | lib docs | load |\n", "test/Docs/refused_words_test.py")
    if done.returncode or done.stdout:
        return f"a row for other folders: {done.returncode} {done.stdout!r}"


def check_glossary(_folder):
    """The rows that docs/glossary.md has: how many, and what they find."""
    rows = refused_words.read_rows((ROOT / "docs/glossary.md").read_text())
    counts = (("rows", len(rows), MIN_ROWS),
              ("expressions of whole words", sum("\\b" in row[0].pattern for row in rows), MIN_WHOLE_WORDS),
              ("folders", len({folder for row in rows for folder in row[1]}), MIN_FOLDERS))
    yield from (f"{count} {name}, expected at least {least}" for name, count, least in counts if count < least)
    for wanted, places in (True, REFUSED), (False, ALLOWED):
        for path, texts in places.items():
            yield from (f"{text!r} in {path} is {'not ' if wanted else ''}refused" for text in texts
                        if bool(list(refused_words.refused(path, text.replace("|", ""), rows))) != wanted)


def check_wrong_rows(folder):
    for rows, message in (("| `a` | libs includes | b |\n", "folders that do not exist: includes libs\n"),
                          ("| `a` | lib | b |\n| `c` | lib, docs | d |\n", "a row that is not"),
                          ("| `a` | lib | b |\n| `c` | d |\n", "a row that is not")):
        done = run(folder, rows, "README.md")
        if done.returncode == 0 or done.stdout or message not in done.stderr:
            yield f"{rows!r}: {done.returncode} {done.stdout!r} {done.stderr!r}"


def check_empty(folder):
    done = run(folder, "", "test/Docs/refused_words_test.py")
    if done.returncode == 0 or "refuses nothing" not in done.stderr:
        return f"a glossary without rows: {done.returncode} {done.stderr!r}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("refused_words", [("a refused word", check_found),
                                                 ("a row for other folders", check_other_folder),
                                                 ("no rows", check_empty), ("wrong rows", check_wrong_rows),
                                                 ("the glossary", check_glossary)]))
