# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""scripts/refused_words.py finds a word that a glossary refuses, in the folders that its row names and nowhere else."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

GLOSSARY = "\n## Refused words\n\n| expression | folders | use instead |\n|---|---|---|\n"


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


def check_empty(folder):
    done = run(folder, "", "test/Docs/refused_words_test.py")
    if done.returncode == 0 or "refuses nothing" not in done.stderr:
        return f"a glossary without rows: {done.returncode} {done.stderr!r}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("refused_words", [("a refused word", check_found),
                                                 ("a row for other folders", check_other_folder),
                                                 ("no rows", check_empty)]))
