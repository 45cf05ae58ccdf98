#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""How the experiments of examples/numerics, their gallery and the training examples end: in a shell without
environment, with impossible outputs, and after signals. Closes with `N run, N failed`."""

import functools
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True

import checks
import runner

GALLERY = ROOT / "scripts/gallery.sh"
POINTS = ROOT / "test/Integration/signal_points.py"
QUICK = ["--quick", "--only", "dynamic_broadcast"]
EXPERIMENTS = ["dynamic_broadcast", "gemm_or_matmul_add", "layer_norm_exchange", "llama_pipelines",
               "parallel_reduction"]
SECONDS = 600


def tools():
    return pathlib.Path(runner.binary("ad-runner")).resolve().parent


def environment(folder, **more):
    """No variables but those that every shell has. The preset names the build whose tools are tested. CPython keeps
    bytecode that a full disk has cut off, and later imports fail, so that none is written."""
    temporary = folder / "temporary"
    temporary.mkdir(exist_ok=True)
    preset = tools().parent.name
    assert ROOT / "build" / preset / "bin" == tools(), f"{tools()} is no build of a preset"
    return {"PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(temporary), "ADJOINT_PRESET": preset,
            "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(folder, command, limit=None, **options):
    """Text of the output; `limit` is the size of the largest file in bytes."""
    def prepare():
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    options = {"stdout": subprocess.PIPE, "cwd": folder, "env": environment(folder), **options}
    return subprocess.run(command, stderr=subprocess.PIPE, encoding="utf-8", errors="backslashreplace",
                          preexec_fn=prepare, timeout=SECONDS, **options)


def left(folder):
    return [str(path) for path in (folder / "temporary").rglob("*")]


def one_line(done, code, folder, words=""):
    """What is wrong with an ending by one line on stderr."""
    lines = done.stderr.strip().splitlines()
    if done.returncode != code or len(lines) != 1 or words not in done.stderr:
        yield f"expected exit code {code} and one line with '{words}', got {done.returncode}: {done.stderr}"
    if left(folder):
        yield f"left behind: {left(folder)[:5]}"


def python(name, *options):
    return [sys.executable, ROOT / f"examples/{name}.py", *options]


def check_clean_environment(folder):
    done = run(folder, [GALLERY, *QUICK, "--out", "pages/g"])
    index = folder / "pages/g/index.html"
    if done.returncode or not done.stdout.endswith(f"gallery: 1 experiments, 0 failed; {index}\n") or done.stderr:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    elif "Which sizes may a compiled product have?" not in index.read_text():
        yield "the page does not show the experiment"
    if left(folder):
        yield f"left behind: {left(folder)[:5]}"


def check_tools(folder):
    """A folder of tools is that of the caller; one without them is named."""
    (folder / "tools").symlink_to(tools())
    done = run(folder, [GALLERY, *QUICK, "--out", "g"], env=environment(folder, ADJOINT_BIN="tools"))
    if done.returncode:
        yield f"exit code {done.returncode}: {done.stderr}"
    done = run(folder, [GALLERY, *QUICK, "--out", "g"], env=environment(folder, ADJOINT_BIN="none"))
    yield from one_line(done, 1, folder, f"no {folder}/none/ad-runner; build it")


def check_other_bytes(folder):
    """The name of a folder need not be UTF-8."""
    name = os.fsdecode(b"g\xff")
    done = run(folder, [GALLERY, "--quick", "--only", "dynamic_broadcast", "--only", "gemm_or_matmul_add", "--out",
                        name])
    if done.returncode or "2 experiments, 0 failed" not in done.stdout or "g\\udcff" not in done.stdout:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"
    if not (folder / name / "index.html").read_text().startswith("<!DOCTYPE html>"):
        yield "there is no page"


def check_impossible(command, folder):
    (folder / "file").write_text("")
    for out in ("/proc/x", "file", "file/g"):
        done = run(folder, [*command, "--quick", "--out", out])
        yield from one_line(done, 2, folder, out)


def check_full_files(folder):
    """Writes fail as on a full disk: from the first one on, and those of larger files."""
    for limit in (0, 300, 3000):
        done = run(folder, python("numerics/dynamic_broadcast", "--quick", "--out", "x"), limit)
        yield from one_line(done, 2, folder, "File too large" if limit else "No usable temporary directory")
    if any(path.name.startswith(".") for path in (folder / "x").iterdir()):
        yield "a temporary file is left"
    done = run(folder, [GALLERY, *QUICK, "--out", "g"], 0)
    if done.returncode != 2 or "Traceback" in done.stderr + done.stdout:
        yield f"exit code {done.returncode}: {done.stdout}{done.stderr}"


def check_full_output(folder):
    with open("/dev/full", "w") as full:
        for command in (python("numerics/dynamic_broadcast", "--quick", "--out", "x"), [GALLERY, *QUICK, "--out", "g"]):
            yield from one_line(run(folder, command, stdout=full), 2, folder, "'standard output': No space left")
    done = run(folder, ["bash", "-c", f"exec {GALLERY} --quick --out g >&-"])
    yield from one_line(done, 2, folder, "standard output")


def check_signal(command, number, whole_group, folder, variables=None):
    """Ctrl-C goes to all processes of the terminal, `kill` to one."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder,
                          env=variables or environment(folder), start_new_session=True) as process:
        start = time.monotonic()
        # Until an ad-runner of the experiment runs.
        while not list((folder / "temporary").glob("*/inputs")) and time.monotonic() - start < 100:
            time.sleep(0.02)
        (os.killpg if whole_group else os.kill)(process.pid, number)
        errors = process.communicate(timeout=100)[1]
    done = subprocess.CompletedProcess(command, process.returncode, "", errors)
    yield from one_line(done, 128 + number, folder, f"stopped by {signal.Signals(number).name}")
    try:
        os.killpg(process.pid, 0)
        yield "a process still runs"
    except ProcessLookupError:
        pass


def stand_in(folder, *lines):
    """An ad-runner that executes these lines of the shell in place of a program; the environment that names it."""
    file = folder / "tools/ad-runner"
    file.parent.mkdir()
    file.write_text("\n".join(["#!/bin/sh", '[ "$1" = --env ] && exit', *lines, ""]))
    file.chmod(0o755)
    return environment(folder, ADJOINT_BIN=str(file.parent))


def check_slow_command(folder):
    """A command that ignores Ctrl-C and takes a second to clean up: the gallery does not kill the experiment that waits
    for it, after whatever time it would kill other commands."""
    found = stand_in(folder, "trap '' INT", "trap 'sleep 1; exit 1' TERM", "while :; do sleep 0.05; done")
    text = (f"import sys; sys.path[:0] = {[str(ROOT / 'examples' / name) for name in ('numerics', 'support')]}\n"
            "import ending, gallery\nending.SECONDS = 0.2\nending.run(gallery.main)")
    yield from check_signal([sys.executable, "-c", text, "--quick", "--out", "g"], signal.SIGINT, True, folder, found)


def check_points(folder):
    """Wherever a signal comes, nothing is left behind, and the experiment waits for its command."""
    seed = os.environ.get("ADJOINT_SEED", "1")
    done = run(folder, [sys.executable, POINTS, folder / "points", "60", seed],
               env=stand_in(folder, "exec sleep 0.05"))
    if done.returncode or done.stdout or done.stderr:
        yield f"seed {seed}: {done.stdout}{done.stderr}"


def main():
    # A background job of a script ignores Ctrl-C, and so do its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    cases = [("clean environment", check_clean_environment), ("tools", check_tools),
             ("names that are not UTF-8", check_other_bytes), ("full disk", check_full_files),
             ("full output", check_full_output)]
    experiment = python("numerics/gemm_or_matmul_add", "--quick", "--out", "x")
    for name in EXPERIMENTS:
        cases.append((f"outputs of {name}", functools.partial(check_impossible, python(f"numerics/{name}"))))
    cases.append(("outputs of the gallery", functools.partial(check_impossible, [GALLERY])))
    for label, command in {"gallery": [GALLERY, "--quick", "--out", "g"], "experiment": experiment}.items():
        for number, whole_group in ((signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGTERM, False)):
            who = "all processes" if whole_group else "the first process"
            cases.append((f"{label}, {number.name} to {who}",
                          functools.partial(check_signal, command, number, whole_group)))
    cases += [("a slow command", check_slow_command), ("signals at random points", check_points)]
    return checks.run_checks("example_endings", checks.sample(cases, 5))


if __name__ == "__main__":
    sys.exit(main())
