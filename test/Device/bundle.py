#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Makes a folder that holds a GPU against the reference interpreter, on a machine with a driver, Python and NumPy alone.

  bundle.py FOLDER [--target cuda] [--chip sm_90a] [--only TEXT]

The folder gets adrt-run, check.py, and for each case a program that was compiled ahead of time, its inputs, and what the reference
interpreter gives for them: the same bytes in `reproducible` mode, and for contractions in `fast` mode a bound around them. Cases are
the programs of test/Integration, some steps of the digits programs, contractions of every class and layout, and random programs.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "test" / "Integration"))
sys.path.insert(0, str(ROOT / "test" / "Support"))
sys.dont_write_bytecode = True
import gpu_contractions_test as contractions  # noqa: E402
import graphs  # noqa: E402
import targets_test as programs  # noqa: E402

CPU = "x86-64-v3"  # whose instructions the host code for machines with a GPU may use; those machines are others than this one
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PRINTED = re.compile(r"^(.+): tensor<(?:\d+x)*(\w+)> =", re.MULTILINE)


class Case:
    """A program, its options, the mode that it is compiled in, and the bound around results of the reference, if they may differ."""

    def __init__(self, name, file, options, mode="reproducible", bound=None):
        self.name, self.file, self.mode, self.bound = name, pathlib.Path(file), mode, bound
        self.options = [*options]

    def entry(self):
        return [word for index, word in enumerate(self.options) if "--entry" in (word.split("=")[0], self.options[index - 1])]

    def localize(self, folder):
        """The options with each file that they name copied into the folder."""
        for number, option in enumerate(self.options):
            head, separator, source = option.rpartition("=")
            path, *rest = source.split(",")
            if path.endswith(".npy") and pathlib.Path(path).is_file():
                shutil.copy(path, folder / f"input{number}.npy")
                self.options[number] = head + separator + ",".join([f"input{number}.npy", *rest])

    def write(self, bundle, target, chip):
        folder = bundle / "cases" / self.name
        folder.mkdir(parents=True)
        self.localize(folder)
        printed = run(folder, "ad-runner", self.file, *self.options, "--target", "reference", "--numerics", "reproducible", "--out-dir",
                      "expected", "--print")
        compiled = ["--chip", chip, "--cpu", CPU] if target == "cuda" else []
        run(folder, "ad-runner", self.file, *self.entry(), "--target", target, *compiled, "--numerics", self.mode, "--emit", "program.adx")
        return {"name": self.name, "options": self.options, "bound": self.bound, "elements": dict(PRINTED.findall(printed))}


def run(folder, program, *words):
    command = [str(word) for word in (BIN / program, *words)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bundle: '{' '.join(command)}' failed")
    return done.stdout


def contraction_arguments(element):
    source = "uniform:{}:20" if element.startswith("i") else "normal:{}"
    return [f"--arg={name}={source.format(seed)}" for seed, name in enumerate("abr")]


def bound_of_depth(depth, element):
    """Around a sum of that many products of normal numbers: one rounding to 16 bits, or two of each product as tf32, and any order of
    summation."""
    relative, of_product = {"bf16": (2.0**-7, 0), "f16": (2.0**-10, 0), "f32": (0, 2.0**-10 + 2.0**-22)}[element]
    return {"relative": relative, "absolute": (of_product + 2 * depth * 2.0**-24) * 4 * depth}


def contraction(folder, shape):
    name = "dot-" + "x".join(map(str, shape[:3])) + "-" + "-".join(map(str, shape[3:]))
    file = folder / f"{name}.mlir"
    written, told = contractions.unknown_sizes(shape)
    file.write_text(contractions.program(*written))
    return Case(name, file, [*contraction_arguments(shape[4]), *told])


def within_bound(case, shape, mode):
    """The contraction on tensor cores."""
    bound = {"element": shape[4], **bound_of_depth(shape[2], shape[4])}
    return Case(f"{case.name}-{mode.replace(',', '-')}", case.file, case.options, mode, bound)


def all_cases(folder):
    counts = {}
    for path, options in [*programs.programs(), *programs.digits(folder)]:
        counts[path.stem] = counts.get(path.stem, 0) + 1
        yield Case(f"{path.stem}-{counts[path.stem]}", path, options)
    for module in graphs.modules(folder):
        yield Case(*module)
    for shape in contractions.CASES:
        case = contraction(folder, shape)
        yield case
        if shape[4] in ("f16", "bf16"):
            yield within_bound(case, shape, "fast")
    for rows, columns, depth, layout, *rest in contractions.NARROW:
        shape = (rows, columns, depth, layout, "f32", *(rest or [0]))
        yield within_bound(contraction(folder, shape), shape, "fast,narrow")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--target", choices=["cuda", "gpu-sim"], default="cuda")
    parser.add_argument("--chip", default="sm_90a", help="what code may use (default: sm_90a)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.folder.exists():
        sys.exit(f"bundle: '{options.folder}' exists; give a new folder")
    bundle = options.folder.resolve()
    with tempfile.TemporaryDirectory() as folder:
        cases = [case for case in all_cases(pathlib.Path(folder)) if options.only in case.name]
        written = [case.write(bundle, options.target, options.chip) for case in cases]
    if not written:
        sys.exit(f"bundle: no case contains '{options.only}'")
    shutil.copy(BIN / "adrt-run", bundle)
    for name in ("check.py", "run.py"):
        shutil.copy(HERE / name, bundle)
    (bundle / "manifest.json").write_text(json.dumps({"target": options.target, "chip": options.chip, "cases": written}, indent=1))
    print(f"bundle: {len(written)} cases for {options.target} in {options.folder}")


if __name__ == "__main__":
    main()
