#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The dependencies of entries of the cache: each option that changes code, alone and in random combinations, makes an
entry of its own, and no other option does. Every option of ad-runner is of one of the two kinds: a new one must be
added to a list below. Closes with `cache: N run, N failed`."""

import itertools
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

TABLE = runner.ROOT / "lib/Runner/Options/Options.td"
PROGRAM = """func.func @main(%x: tensor<?xf32> {ad.name = "x"}, %w: tensor<?xf32> {ad.name = "w"}) -> (tensor<f32> {ad.name = "y"}) {
  %f = ad.feed "f" : tensor<f32>
  %y = ad.mul %x, %w : tensor<?xf32>
  %z = ad.mul %y, %f : tensor<?xf32>, tensor<f32>
  %s = ad.reduce_sum %z axes [0] : tensor<?xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @plain(%x: tensor<?xf32> {ad.name = "x"}, %w: tensor<?xf32> {ad.name = "w"}) -> tensor<f32> {
  %y = ad.mul %x, %w : tensor<?xf32>
  %s = ad.reduce_sum %y axes [0] : tensor<?xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @other(%x: tensor<?xf32> {ad.name = "x"}, %w: tensor<?xf32> {ad.name = "w"}) -> (tensor<f32> {ad.name = "y"}) {
  %f = ad.feed "f" : tensor<f32>
  %y = ad.add %x, %w : tensor<?xf32>
  %z = ad.mul %y, %f : tensor<?xf32>, tensor<f32>
  %s = ad.reduce_sum %z axes [0] : tensor<?xf32> -> tensor<f32>
  return %s : tensor<f32>
}
"""
GPU = ["--target", "gpu-sim"]
# Changes code: {option: its other values}, on each of two targets. FOLDER is a folder that tests may write to.
CODE = {
    "entry": [["--entry", "other"]],
    "precision": [["--precision", "bf16"], ["--precision", "f16"], ["--precision", "none"]],
    "kernel": [["--kernel", "reduce_sum=serial"], ["--kernel", "reduce_sum=pairwise"]],
    "missing-kernels": [["--missing-kernels", "reduce_sum:f16"]],
    "numerics": [["--numerics", "strict,reorder"], ["--numerics", "fast"], ["--numerics", "reproducible"]],
    "fuse": [["--fuse", "single"]],
    "path-prefix-map": [["--path-prefix-map", "FOLDER=here"]],
    "O0": [["-O0"]], "allow-native": [["--allow-native"]],
    "report": [["--report", "FOLDER/report.json"]],  # kernels take their time
}
CODE_FOR = {
    "cpu": {**CODE, "target": [GPU], "tiles": [["--tiles", "small"]],
            "cpu": [["--cpu", "x86-64"], ["--cpu", "x86-64-v3"]]},
    "gpu-sim": {**CODE, "chip": [["--chip", "sm_80"], ["--chip", "sm_90"]], "tile": [["--tile", "64x64"]]},
}
# Says how to run, and leaves the code alone: (options, whether they are about GPUs alone).
RUN = {
    "arg": (["--arg", "w=arange"], False), "feed": (["--feed", "f=arange"], False), "dim": (["--dim", "x.0=1"], False),
    "out-dir": (["--out-dir", "FOLDER/out"], False), "print": (["--print"], False),
    "threads": (["--threads", "2"], False), "memory-limit": (["--memory-limit", "1G"], False),
    "repeat": (["--repeat", "2"], False), "warmup": (["--warmup", "1", "--repeat", "1"], False),
    "bench": (["--bench=FOLDER/bench.jsonl"], False),
    "numerics-report": (["--numerics-report", "FOLDER/numerics.json"], False),
    "timeout-kernel": (["--timeout-kernel", "60"], True),
    "schedule": (["--schedule", "lazy"], True), "seed": (["--schedule", "shuffled", "--seed", "3"], True),
    "sm-count": (["--sm-count", "7"], True), "no-race-detection": (["--no-race-detection"], True),
    "no-replay": (["--no-replay"], True),
    "traffic": (["--traffic"], True),
}
# Neither makes nor takes an entry.
UNCACHED = {"check-gradients": ["--check-gradients", "--entry", "plain"],
            "dump-optimized": ["--dump-optimized", "FOLDER/dump.mlir"],
            "dump-plan": ["--dump-plan", "FOLDER/plan.mlir"],
            "list-rewrites": ["--list-rewrites", "FOLDER/rewrites.tsv"],
            "rewrites-except": ["--rewrites-except", "FOLDER/none.tsv"],
            "rewrites-only": ["--rewrites-only", "FOLDER/none.tsv"],
            "trace": ["--trace", "FOLDER/trace"],
            "trace-tensors": ["--trace", "FOLDER/tensors", "--trace-tensors", "all"],
            "cache": ["--cache", "off"], "help": ["--help"], "h": ["-h"]}
ELSEWHERE = {"emit",  # compiles for other machines of this kind: the features of the CPU say which
             "env", "version", "print-precision", "list-kernels", "replay"}  # are given without a program


class Cache:
    """The entries that runs of a program make."""

    def __init__(self, folder, target="cpu"):
        self.folder, self.target = folder, target
        self.program = folder / "program.mlir"
        (folder / "none.tsv").write_text("# none\n")
        self.program.write_text(PROGRAM)

    def run(self, options, program=None, tool=None):
        """Runs and returns how many entries that added."""
        options = [option.replace("FOLDER", str(self.folder)) for option in options]
        given = {"--dim": ["--dim", "x.0=3"], "--target": ["--target", self.target],
                 "--cache": ["--cache", str(self.folder / "cache")]}
        if "plain" not in options:
            given["--feed"] = ["--feed", "f=normal:1"]
        usual = ["--dim", "w.0=3"] + [word for name, words in given.items() if name not in options for word in words]
        for name in ("x", "w"):
            if f"{name}=arange" not in options:
                usual += ["--arg", f"{name}=normal:2"]
        before = self.entries()
        subprocess.run([tool or runner.binary("ad-runner"), program or self.program, *usual, *options], check=True,
                       capture_output=True, text=True,
                       cwd=self.folder)
        return len(self.entries() - before)

    def entries(self):
        return set((self.folder / "cache").glob("*.adobj"))

    def expect(self, added, what, options, **where):
        found = self.run(options, **where)
        if found != added:
            yield f"{what}: {found} new entries instead of {added}"


def every_option_has_its_list(_):
    table = re.findall(r'^(?:defm|def) \w+ : (?:Value|Switch|Flag)<(?:\["-"\], )?"([\w-]+)"', TABLE.read_text(),
                       re.MULTILINE)
    known = [*set().union(*CODE_FOR.values()), *RUN, *UNCACHED, *ELSEWHERE]
    if len(known) != len(set(known)):
        yield "an option is in two lists"
    if len(table) < 30 or set(table) != set(known):
        yield f"options without a list: {sorted(set(table) - set(known))}, lists without an option: {sorted(set(known) - set(table))}"


def each_option_alone(target, folder):
    cache, code = Cache(folder, target), CODE_FOR[target]
    yield from cache.expect(1, "the first run", [])
    yield from cache.expect(0, "the second run", [])
    for name, values in code.items():
        for options in values:
            yield from cache.expect(1, f"{name}, {options}", options)
            yield from cache.expect(0, f"{name}, {options} again", options)
    for name, (options, on_gpus) in RUN.items():
        if target == "gpu-sim" or not on_gpus:
            yield from cache.expect(0, f"{name}, {options}", options)
    for name, options in UNCACHED.items():
        yield from cache.expect(0, f"{name}, {options}", options)
    yield from cache.expect(0, "the first program", [])


def options_in_company(target, folder):
    """No two sets of options share an entry, whatever their text runs into."""
    cache, draw, seen = Cache(folder, target), random.Random(1), set()
    choices = [[[], *values] for name, values in CODE_FOR[target].items() if name != "target"]
    every = sorted(itertools.product(*choices), key=str)
    for options in draw.sample(every, 16):
        text = tuple(word for words in options for word in words)
        yield from cache.expect(int(text not in seen), f"{text}", text)
        seen.add(text)
    yield from cache.expect(0, "one of them again", text)


def the_program_itself(folder):
    """Its text, and its name, which is part of the messages of a run."""
    cache = Cache(folder)
    yield from cache.expect(1, "the first run", [])
    (folder / "other").mkdir()
    for name in ("renamed.mlir", "other/program.mlir"):
        shutil.copy(cache.program, folder / name)
        yield from cache.expect(1, name, [], program=folder / name)
        done = subprocess.run([runner.binary("ad-runner"), folder / name, "--arg", "x=zeros", "--arg", "w=zeros",
                               "--feed", "f=zeros", "--dim", "x.0=2", "--dim", "w.0=3",
                               "--cache", folder / "cache"], capture_output=True, text=True)
        if done.returncode != 1 or f"{folder / name}:3:" not in done.stderr:
            yield f"expected an error in {name}, got {done.returncode}: {done.stderr}"
    cache.program.write_text(PROGRAM.replace("ad.mul %x", "ad.sub %x"))
    yield from cache.expect(1, "another text", [])
    cache.program.write_text(PROGRAM)
    yield from cache.expect(0, "the first text", [])


def the_compiler_itself(folder):
    """Its build id, or size and time where the linker wrote none."""
    cache, tool = Cache(folder), folder / "ad-runner"
    shutil.copy2(runner.binary("ad-runner"), tool)
    yield from cache.expect(1, "the first run", [])
    yield from cache.expect(0, "a copy", [], tool=tool)
    image = bytearray(tool.read_bytes())
    note = re.search(rb"\x04\0\0\0(.)\0\0\0\x03\0\0\0GNU\0", image, re.DOTALL)
    if note:
        image[note.end() + note[1][0] - 1] ^= 1
        tool.write_bytes(image)
    else:
        os.utime(tool, (1, 1))
    yield from cache.expect(1, "another build", [], tool=tool)


def main():
    by_target = [(f"{check.__name__}, {target}", lambda folder, check=check, target=target: check(target, folder))
                 for check in (each_option_alone, options_in_company) for target in CODE_FOR]
    alone = [(check.__name__, check) for check in (every_option_has_its_list, the_program_itself, the_compiler_itself)]
    return checks.run_checks("cache", alone + by_target)


if __name__ == "__main__":
    sys.exit(main())
