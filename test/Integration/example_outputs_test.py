# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A program of examples/ or scripts/ whose output cannot be written says so, before the work, with exit code 2 and
without a traceback; a script of the shell with exit code 1. example_endings_test.py has those of examples/numerics."""

import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

# OUT is where nothing can be written: a file is in the place of its folder.
PROGRAMS = {
    "examples/models/llama.py": ["--preset", "tiny", "--out", "OUT"],
    "examples/digits/prepare.py": ["mlp", "OUT"],
    "examples/digits/train.py": ["mlp", "--out", "OUT"],
    "examples/digits/plot_loss.py": ["LOSSES", "OUT"],
    "scripts/bench.sh": ["compile-time", "--json", "OUT"],
}


def check_program(program, options):
    def check(folder):
        (folder / "file").write_text("")
        np.save(folder / "losses.npy", np.ones(2, np.float32))
        out = folder / "file/out"
        values = {"OUT": str(out), "LOSSES": str(folder / "losses.npy")}
        tool = ["bash"] if program.endswith(".sh") else [sys.executable]
        done = subprocess.run([*tool, ROOT / program, *(values.get(option, option) for option in options)],
                              capture_output=True, text=True, timeout=120)
        if done.returncode != (1 if program.endswith(".sh") else 2):
            yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"
        if "Traceback" in done.stderr or str(out) not in done.stderr:
            yield f"expected a message about {out}: {done.stderr}"
    return check


def check_list(_):
    """Each program that takes the path of an output is in the list."""
    for path in [*ROOT.glob("examples/**/*.py"), *ROOT.glob("scripts/**/*.py")]:
        text = path.read_text()
        name = str(path.relative_to(ROOT))
        if '"--out"' in text and '__main__"' in text and "numerics" not in path.parts and name not in PROGRAMS:
            yield f"{name} has an output, and no case here"


def check_kept(folder):
    """A program leaves what else is in the folder of its results."""
    (folder / "mine.txt").write_text("kept")
    subprocess.run([sys.executable, ROOT / "examples/digits/train.py", "mlp", "--out", folder, "--runner", "false"],
                   capture_output=True, timeout=120)
    if not (folder / "inputs").is_dir():
        yield "expected the program to write its inputs"
    if not (folder / "mine.txt").is_file():
        yield "a file of the user is gone"


def check_endings(folder):
    """Other files and programs that cannot be used, and standard output that is full or closed: one line, 2."""
    (folder / "empty.npy").write_bytes(b"")
    llama, train, plot = (f"examples/{name}.py" for name in ("models/llama", "digits/train", "digits/plot_loss"))
    for command, more in ((f"{llama} --preset tiny > /dev/full", ""), (f"{llama} --preset tiny >&-", ""),
                          (f"{train} mlp --out {folder}/digits --runner /nonexistent", "'/nonexistent'"),
                          (f"{plot} {folder}/empty.npy {folder}/loss.svg", "empty.npy")):
        done = subprocess.run(f"{sys.executable} {command}", shell=True, capture_output=True, text=True, cwd=ROOT,
                              timeout=120)
        if done.returncode != 2 or "Traceback" in done.stderr or more not in done.stderr or not done.stderr:
            yield f"{command}: exit code {done.returncode}: {done.stderr}"


def main():
    cases = [(program, check_program(program, options)) for program, options in PROGRAMS.items()]
    return checks.run_checks("example_outputs", [*cases, ("list", check_list), ("other files stay", check_kept),
                                                  ("endings", check_endings)])


if __name__ == "__main__":
    sys.exit(main())
