#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""LLVM's own mlir-opt with AdjointPlugin.so does what ad-opt does, byte for byte: over the pipelines that the tests of the
project run (a part of them, another one for each commit; all without a sample). Loaded twice, or into a driver that has
Adjoint, the plug-in says so in a sentence, and changes nothing; hostile modules do not crash it. Closes with `plugin:
N run, N failed`."""

import os
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import hostile_modules  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parents[1]
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")).resolve()
PLUGIN = BIN.parent / "lib" / "AdjointPlugin.so"
LOADED = ["mlir-opt-22", f"--load-dialect-plugin={PLUGIN}", f"--load-pass-plugin={PLUGIN}"]
PROGRAM = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ad.exp %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
# Options of the driver that other drivers have too. A test with others is about ad-opt itself.
SHARED = ("--split-input-file", "--allow-unregistered-dialect", "--mlir-print-op-generic", "--mlir-print-debuginfo",
          "--mlir-disable-threading", "--verify-each=")


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, check=False,
                          errors="replace", **options)


def first_stages():
    """(file, options) of each `ad-opt %s …` that a test begins with."""
    for file in sorted(TESTS.rglob("*.mlir")):
        text = file.read_text(errors="replace").replace("\\\n// RUN:", " ")
        for line in re.findall(r"^// RUN: *ad-opt %s (.*)$", text, re.M):
            words = shlex.split(re.split(r"[|<>&]|\b2>", line)[0])
            if words and "%" not in " ".join(words) and "--verify-diagnostics" not in words:
                yield file, words


def pipeline_of(file, options):
    """The passes of the options in one line, as ad-opt writes them; None if there are no passes."""
    done = run([BIN / "ad-opt", file, *options, "--dump-pass-pipeline", "-o", "/dev/null"])
    found = re.search(r"^(builtin\.module|any)\(\n(.*?)^\)$", done.stderr, re.M | re.S)
    return found and f"{found[1]}({' '.join(found[2].split())})"


def shared_options(options):
    return [word for word in options if word.startswith(SHARED)]


def same_output(file, options):
    def check(_):
        pipeline = pipeline_of(file, options)
        words = [*shared_options(options), *([f"--pass-pipeline={pipeline}"] if pipeline else [])]
        ours, theirs = run([BIN / "ad-opt", file, *words]), run([*LOADED, file, *words])
        if ours.returncode != theirs.returncode:
            yield f"exit {ours.returncode} and {theirs.returncode}: {theirs.stderr[-500:]}"
        elif ours.stdout != theirs.stdout:
            yield f"other output from {' '.join(words)}"
    return f"{file.relative_to(TESTS)} {' '.join(options)}", check


def enough_pipelines(_):
    """A change of the tests' form, or of ad-opt's, must not leave this test without cases."""
    stages = list(first_stages())
    if len(stages) < 250:
        yield f"expected 250 stages of tests, found {len(stages)}"
    passes = [options for file, options in stages[::20] if pipeline_of(file, options)]
    if len(passes) < len(stages) // 40:
        yield f"of {len(stages[::20])} stages, {len(passes)} have passes"


def loaded_twice(folder):
    (folder / "p.mlir").write_text(PROGRAM)
    passes = "--pass-pipeline=builtin.module(ad-to-cpu)"
    once = run([*LOADED, folder / "p.mlir", passes])
    twice = run([*LOADED, *LOADED[1:], folder / "p.mlir", passes])
    if once.returncode or once.stderr or "llvm.func" not in once.stdout:
        yield f"once: exit {once.returncode}, {once.stderr}"
    if twice.returncode or twice.stdout != once.stdout:
        yield f"twice: exit {twice.returncode}, {twice.stderr}"
    for what in ("dialects", "passes"):
        if twice.stderr.count(f"the driver has Adjoint's {what} already") != 1:
            yield f"twice: said {twice.stderr}"


def loaded_into_ad_opt(folder):
    (folder / "p.mlir").write_text(PROGRAM)
    words = [*LOADED[1:], folder / "p.mlir", "--ad-to-cpu"]
    installed, built = run([BIN / "shared" / "ad-opt", *words]), run([BIN / "ad-opt", *words])
    if installed.returncode or "the driver has Adjoint's passes already" not in installed.stderr:
        yield f"installed: exit {installed.returncode}, {installed.stderr}"
    if installed.stdout != run([BIN / "ad-opt", *words[2:]]).stdout:
        yield "installed: other output"
    if built.returncode != 1 or "this ad-opt has MLIR inside and takes no plug-ins" not in built.stderr:
        yield f"built: exit {built.returncode}, {built.stderr}"


def hostile(folder):
    """The plug-in and the tools refuse the same modules, but for zeros, which upstream's parser takes for the end of a
    file. Nothing crashes, and whatever is refused has a place."""
    passes = "--pass-pipeline=builtin.module(ad-to-cpu)"
    for file in hostile_modules.hostile_modules(folder):
        drivers = {"plug-in": run([*LOADED, file, passes]), "ad-opt": run([BIN / "ad-opt", file, passes]),
                   "ad-runner": run([BIN / "ad-runner", file, "--cache=off"])}
        for name, done in drivers.items():
            if done.returncode not in ((0, 1) if name != "ad-runner" else (0, 1, 2, 3, 4, 5)):
                yield f"{name}: exit {done.returncode}: {done.stderr[-300:]}: {file.read_bytes()[:2000]}"
            elif done.returncode == 1 and not re.search(rf"^{re.escape(str(file))}:\d+:\d+: error: .", done.stderr, re.M):
                yield f"{name}: no place: {done.stderr[-300:]}: {file.read_bytes()[:2000]}"
        if file.stem != "zeros" and drivers["plug-in"].returncode != drivers["ad-opt"].returncode:
            yield f"{file.name}: the plug-in ends with {drivers['plug-in'].returncode}, ad-opt with {drivers['ad-opt'].returncode}"


def main():
    cases = [same_output(file, options) for file, options in checks.sample(first_stages(), 9)]
    return checks.run_checks("plugin", [("pipelines", enough_pipelines), ("twice", loaded_twice),
                                        ("ad-opt", loaded_into_ad_opt), ("hostile modules", hostile), *cases])


if __name__ == "__main__":
    sys.exit(main())
