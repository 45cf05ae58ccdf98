# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What README.md shows is what the tools do: its excerpts of programs and errors, its commands and its folders.

A line of an excerpt may leave out the rest after `…`; how it is broken into lines does not matter.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
README = (ROOT / "README.md").read_text()
MLP = ROOT / "examples/digits/mlp.mlir"
# The program that gives each excerpt of errors.
WRONG = """func.func @main(%x: tensor<4x8xf32>, %w: tensor<9x2xf32>) -> tensor<4x2xf32> {
  %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
"""
SIZES = """func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def flat(text):
    return " ".join(text.split())


def excerpts(language):
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)
    return [text for name, text in fences if name == language]


def missing(excerpt, text):
    """The statements of an excerpt, as far as their `…`, that are not in the text."""
    whole = flat(text)
    parts = map(flat, re.split(r"…|^ *(?=%)", excerpt, flags=re.M))
    return [part for part in parts if part and part not in whole]


def check_programs(_folder):
    differentiated = run(BIN / "ad-opt", MLP, "--ad-set-numerics", "--ad-differentiate").stdout
    fused = run(BIN / "ad-opt", MLP, "--ad-to-cpu-frontend", "--ad-to-cpu-fusion").stdout
    model, loss, reverse, fusion = excerpts("mlir")
    for excerpt, text in [(model, MLP.read_text()), (loss, MLP.read_text()), (reverse, differentiated),
                          (fusion, fused)]:
        yield from (f"no tool prints: {part}" for part in missing(excerpt, text))


def check_errors(_folder):
    shown = [text for text in excerpts("") if ": error: " in text]
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "wrong.mlir").write_text(WRONG)
        pathlib.Path(folder, "sizes.mlir").write_text(SIZES)
        for target in ("reference", "cpu"):
            wrong = run(BIN / "ad-runner", "wrong.mlir", "--target", target, cwd=folder)
            sizes = run(BIN / "ad-runner", "sizes.mlir", "--target", target, "--arg=arg0=zeros", "--dim=arg0.0=2",
                        "--arg=arg1=zeros", "--dim=arg1.0=3", "--cache=off", cwd=folder)
            if [wrong.stderr, sizes.stderr] != shown or (wrong.returncode, sizes.returncode) != (1, 1):
                yield f"{target} prints: {wrong.stderr}{sizes.stderr}"


def check_commands(_folder):
    commands = re.findall(r"^(ad(?:-runner|rt-run) .*?) *(?:#.*)?$", README, re.M)
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    printed = [run("bash", "-c", command, cwd=ROOT, env=environment) for command in commands]
    if sum(bool(done.stdout) for done in printed) < 4 or any(done.returncode for done in printed):
        yield f"expected four commands that print, got {printed}"
    if len({done.stdout for done, command in zip(printed, commands) if "--emit" not in command}) != 1:
        yield f"the targets print {[done.stdout for done in printed]}"
    codes = " ".join(re.search(r"^Exit codes: (.*?)\.$", README, re.M | re.S).group(1).split())
    if codes not in flat(run(BIN / "ad-runner", "--help").stdout):
        yield f"--help says other exit codes than: {codes}"


def check_bisect(_folder):
    """The excerpt of `ad-diff bisect` is what the command before it prints."""
    command, shown = re.search(r"^```\n(ad-diff bisect .*?)```\n\n```\n(.*?)^```$", README, re.M | re.S).groups()
    done = run("bash", "-c", command, cwd=ROOT, env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"})
    lines = [line for line in shown.splitlines() if line != "…"]
    yield from (f"ad-diff bisect does not print: {line}" for line in lines if line not in done.stdout.splitlines())


def check_demo(_folder):
    """scripts/demo.sh builds the tools that the commands need, as fast as README.md says."""
    demo = (ROOT / "scripts/demo.sh").read_text()
    used = set(re.findall(r"^(ad(?:rt)?-\w+) ", README, re.M))
    built = re.search(r"^build (.*)$", demo, re.M).group(1).split()
    yield from (f"scripts/demo.sh does not build {tool}" for tool in sorted(used - set(built)))
    minutes = {name: re.findall(r"(\d+) minutes on two cores", text) for name, text in
               {"README.md": README, "demo.sh": demo, "test.sh": (ROOT / "scripts/test.sh").read_text()}.items()}
    if len(set(map(tuple, minutes.values()))) != 1 or len(minutes["README.md"]) != 1:
        yield f"the first build takes different times: {minutes}"


def wrong_accuracies(readme, table, measured):
    """Where the accuracies in README.md are not those of seed 0 in the table of examples/digits, or are far from what
    training gives here: two of the 359 digits may be read otherwise on another CPU."""
    shown = re.findall(r"^digits (\w+): test accuracy ([\d.]+) %, [\d.]+ s$", readme, re.M)
    if shown != re.findall(r"^\| `(\w+)\.mlir` \| ([\d.]+) \|", table, re.M) or not shown:
        yield f"README.md shows {shown}, which are not those of seed 0 in examples/digits/README.md"
    yield from (f"{model}: README.md shows {accuracy} %, training gives {measured[model]} %" for model, accuracy in shown
                if abs(float(accuracy) - measured.get(model, float(accuracy))) > 2.05 * 100 / 359)


def check_accuracies(folder):
    table = (ROOT / "examples/digits/README.md").read_text()
    done = run(sys.executable, ROOT / "examples/digits/train.py", "mlp", "--runner", BIN / "ad-runner", "--out",
               folder / "mlp", "--threads", "1", "--target", "cpu")
    found = re.search(r"^digits mlp: test accuracy ([\d.]+) %", done.stdout, re.M)
    if not found:
        yield f"training prints {done.stdout}{done.stderr}"
        return
    measured = {"mlp": float(found[1])}
    yield from wrong_accuracies(README, table, measured)
    for model in "mlp", "transformer", "convolution":
        planted = re.sub(rf"^(digits {model}: test accuracy) [\d.]+", r"\1 50.0", README, flags=re.M)
        if not list(wrong_accuracies(planted, table, measured)):
            yield f"a wrong accuracy of {model} in README.md is not found"
    if not list(wrong_accuracies(README, table, {"mlp": 90.0})):
        yield "an accuracy that training does not give is not found"


def check_python(folder):
    """The commands in front of the Python example are those that run it. The first one builds, and is a test of its own
    (python-package)."""
    commands, example = re.search(r"^## From Python\n.*?^```\n(.*?)^```\n.*?^```python\n(.*?)^```\n", README,
                                  re.M | re.S).groups()
    build, start = commands.splitlines()
    if build != "scripts/build_python.sh":
        yield f"expected scripts/build_python.sh first, got {build}"
    if f"export {start.split()[0]}" not in (ROOT / build).read_text():
        yield f"{build} builds into another folder than {start.split()[0]}"
    if not (BIN.parent / "python/adjoint").is_dir():
        return
    (folder / "fit.py").write_text(example)
    folders = {"$PWD/build/release": str(BIN.resolve().parent), ".venv": str(ROOT / ".venv")}
    for written, here in folders.items():
        start = start.replace(written, here)
    done = run("bash", "-c", start, cwd=folder)
    said = re.findall(r"^print\(.*\)  # (.*)$", example, re.M)
    if done.returncode or done.stdout.splitlines() != said:
        yield f"expected {said}, got {done.stdout}{done.stderr}"


def check_tree(_folder):
    """Each folder of the table; `…` stands for include/adjoint and lib."""
    table = README.partition("## The tree")[2]
    for path in re.findall(r"`([^`]+)`", "\n".join(re.findall(r"^\| (`.*?) \|", table, re.M))):
        places = [path.replace("…", root) for root in ("include/adjoint", "lib")]
        if not any((ROOT / place).exists() for place in places):
            yield f"no folder {path}"
    tools = re.search(r"^\| `tools` \| (.*) \|$", table, re.M).group(1)
    yield from (f"no tool {path.name}" for path in (ROOT / "tools").iterdir() if path.is_dir()
                and f"`{path.name}`" not in tools)
    yield from (f"no command {path}" for path in re.findall(r"^(scripts/\S+)", README, re.M)
                if not (ROOT / path).exists())


def main():
    parts = {"programs": check_programs, "errors": check_errors, "commands": check_commands,
             "bisect": check_bisect, "demo": check_demo, "accuracies": check_accuracies, "python": check_python,
             "tree": check_tree}
    return checks.run_checks("readme", parts.items())


if __name__ == "__main__":
    sys.exit(main())
