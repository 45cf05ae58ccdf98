# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""docs/ad-diff.md names each subcommand and each option of ad-diff, and what it shows of `tensors`, `align`, `bisect`,
`reduce`, `nan`, `shadow` and `precision` is what the tool prints, but for the seconds."""

import os
import pathlib
import re
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PAGE = (ROOT / "docs/ad-diff.md").read_text()


def run(folder, *words):
    return subprocess.run([str(BIN / "ad-diff"), *map(str, words)], cwd=folder, capture_output=True, text=True,
                          timeout=60).stdout


def excerpt(first):
    """The block of the page that begins with a text."""
    return next(block for block in re.findall(r"^```\n(.*?)^```$", PAGE, re.M | re.S) if block.startswith(first))


def lines_not_printed(shown, printed):
    """The lines of an excerpt that are not among those printed; … stands for lines that were left out."""
    shown, printed = (re.sub(r"^(\d+ executions), [\d.]+ s$", r"\1", text, flags=re.M).splitlines()
                      for text in (shown, printed))
    return [line for line in shown if line != "…" and line not in printed]


def check_programs(folder):
    """The commands of the page that run programs, with the output that the page shows after them."""
    commands = re.findall(r"^```\n((?:cd [^\n]*\n)?ad-diff (bisect|reduce|nan|shadow|precision) .*?)```\n\n```\n(.*?)^```$", PAGE,
                          re.M | re.S)
    if [name for _, name, _ in commands] != ["bisect", "reduce", "nan", "shadow", "precision"]:
        yield f"found commands of {[name for _, name, _ in commands]}"
    for text, name, shown in commands:
        text = text.replace("build/", f"{folder}/")
        done = subprocess.run(["bash", "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=60,
                              env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
        if done.returncode not in (0, 1) or done.stderr:
            yield f"{name} ends with {done.returncode}: {done.stderr}"
        for line in lines_not_printed(shown, done.stdout):
            yield f"ad-diff {name} does not print {line}"


def check_first_example(folder):
    """The first commands of the page, with the closing line and the exit code that it names."""
    commands, sentence = re.search(r"^```\n(ad-runner .*?)^```\n\n(.*?)\n\n", PAGE, re.M | re.S).groups()
    done = subprocess.run(["bash", "-ec", commands.replace("build/", f"{folder}/")], cwd=ROOT, capture_output=True,
                          text=True, timeout=60, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
    last = done.stdout.splitlines()[-1:]
    if done.returncode != 1 or "exit code 1" not in sentence or last != re.findall(r"`(bound .*?)`", sentence):
        yield f"exit code {done.returncode}, {last}: {done.stderr}; the page says: {sentence}"


def check_options(folder):
    commands = re.findall(r"^  (\w+) +[A-Z]", run(folder, "--help"), re.M)
    if len(commands) < 3:
        yield f"found the subcommands {commands}"
    for command in commands:
        if f"`ad-diff {command} " not in PAGE:
            yield f"the page does not name ad-diff {command}"
        for option in re.findall(r"^  (--[\w-]+)", run(folder, command, "--help"), re.M):
            if not re.search(rf"`{option}(?![\w-])", PAGE) and option != "--help":
                yield f"the page does not name {option} of ad-diff {command}"


def check_tensors(folder):
    base = np.arange(12, dtype=np.float32).reshape(3, 4)
    changed = base.copy()
    for place, value in (((1, 2), 0.999), ((2, 2), 0.0999), ((2, 3), 0.00999)):
        changed[place] += np.float32(value)
    np.save(folder / "base.npy", base)
    np.save(folder / "changed.npy", changed)
    if (shown := excerpt("expected:")) != (printed := run(folder, "tensors", "base.npy", "changed.npy")):
        yield f"the page shows {shown}, the tool prints {printed}"


def check_stages(_folder):
    """ad-diff bisect gives passes the stages of docs/architecture.md."""
    rows = re.findall(r"^\| \w+ ([\w ]+?) \| (.*?) \|", (ROOT / "docs/architecture.md").read_text(), re.M)
    code = (ROOT / "lib/Tools/Diff/Programs/StageSearch.cpp").read_text()
    stages = re.findall(r'\{"((?:ad|convert)-[\w-]+)", "([\w ]+)"\}', code)
    if len(stages) < 15:
        yield f"found the passes {stages}"
    yield from (f"the page has no {passed} in the stage {stage}" for passed, stage in stages
                if not any(name == stage and f"`{passed}`" in passes for name, passes in rows))
    named = {passed for passed, _ in stages}
    for name, passes in rows:
        if name in {stage for _, stage in stages}:
            yield from (f"StageSearch.cpp has no {passed}" for passed in re.findall(r"`([\w-]+)`", passes)
                        if passed not in named)


def check_alignment(_folder):
    printed = run(ROOT / "test/Diff/Inputs", "align", "llama-left.tsv", "llama-right.tsv", "--column=65")
    for line in lines_not_printed(excerpt("034"), printed):
        yield f"the tool does not print {line}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("ad-diff.md", [("options", check_options), ("tensors", check_tensors),
                                              ("alignment", check_alignment), ("stages", check_stages),
                                              ("first example", check_first_example),
                                              ("programs", check_programs)]))
