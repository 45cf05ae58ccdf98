#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Makes a folder that compares a GPU with the reference interpreter, on a machine with a driver, Python and NumPy.

  bundle.py FOLDER [--target cuda] [--chip sm_90a] [--only TEXT]

The folder gets adrt-run, what runs the cases (run.py), and for each case programs that were compiled ahead of time,
their inputs, and what the reference interpreter gives for them: the SHA-256 of each result's bits, with NaNs made
canonical. A program in `reproducible` mode has to give these; those of contractions in other modes are compared on the
device with the results of the first, within a bound. Cases are ten that each have one risk (smoke.py), the programs of
test/Integration, some steps of the digits programs, contractions of every class and layout, and random programs.
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
sys.path.insert(0, str(HERE))
import accumulation  # noqa: E402
import adx  # noqa: E402
import canonical  # noqa: E402
import gpu_contractions_test as contractions  # noqa: E402
import graphs  # noqa: E402
import smoke  # noqa: E402
import targets_test as programs  # noqa: E402

STRIP = "/usr/lib/llvm-22/bin/llvm-strip"
FILES = ["accumulation.py", "accumulation_kernels.py", "accumulation_vectors.py", "canonical.py", "cases.py", "check.py", "driver.py",
         "expectations.json", "expectations.py", "judge.py", "processes.py",
         "ratios.py", "report.py", "jsonlines.py", "run.py", "stages.py", "tools.py"]
# Whose instructions the host code for machines with a GPU may use; those machines are others than this one.
CPU = "x86-64-v3"
BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PRINTED = re.compile(r"^(.+): tensor<(?:\d+x)*(\w+)> =", re.MULTILINE)


class Variant:
    """The program of a case compiled in another mode: its results are within a bound around those of the case."""

    def __init__(self, mode, bound, flags=()):
        self.mode, self.bound, self.flags = mode, bound, list(flags)
        self.name = "-".join([mode.replace(",", "-"), *flags[1:]])


class Case:
    """A program and its options. Its own results are the reference's, to the bit; in a mode other than `reproducible`
    because they are exact. A smoke case tells what its code needs."""

    def __init__(self, name, family, file, options, variants=(), mode="reproducible", flags=(), needs=None):
        self.name, self.family, self.file = name, family, pathlib.Path(file)
        self.mode, self.flags, self.needs = mode, list(flags), needs
        self.options, self.variants = [*options], [*variants]

    def entry(self):
        return [word for index, word in enumerate(self.options) if "--entry"
                in (word.split("=")[0], self.options[index - 1])]

    def localize(self, folder):
        """The options with each file that they name copied into the folder."""
        for number, option in enumerate(self.options):
            head, separator, source = option.rpartition("=")
            path, *rest = source.split(",")
            if path.endswith(".npy") and pathlib.Path(path).is_file():
                shutil.copy(path, folder / f"input{number}.npy")
                self.options[number] = head + separator + ",".join([f"input{number}.npy", *rest])

    def compile(self, folder, name, target, chip, mode, flags):
        """What the manifest says of a program."""
        machine = ["--chip", chip, "--cpu", CPU] if target == "cuda" else []
        run(folder, "ad-runner", self.file, *self.entry(), "--target", target, *machine, "--numerics", mode, *flags,
            "--emit", f"{name}.adx")
        found = adx.features(folder / f"{name}.adx")
        return {"program": f"{name}.adx", "class": " ".join([self.family, *found]), "features": found}

    def write(self, bundle, target, chip):
        folder = bundle / "cases" / self.name
        folder.mkdir(parents=True)
        self.localize(folder)
        with tempfile.TemporaryDirectory() as out:
            printed = run(folder, "ad-runner", self.file, *self.options, "--target", "reference", "--numerics",
                          "reproducible", "--out-dir", out,
                          "--print")
            elements = dict(PRINTED.findall(printed))
            results = canonical.digests(pathlib.Path(out), elements)
        programs = [self.compile(folder, "program", target, chip, self.mode, self.flags)]
        programs += [{"name": f"{self.name}-{each.name}", "bound": each.bound,
                      **self.compile(folder, each.name, target, chip, each.mode, each.flags)} for each in self.variants]
        missing = set(self.needs or ()) - {name for program in programs for name in program["features"]}
        if missing and target == "cuda" and chip == "sm_90a":
            sys.exit(f"bundle: the code of smoke case '{self.name}' has no {', '.join(sorted(missing))}; change test/Device/smoke.py")
        own, *variants = programs
        return {"name": self.name, "smoke": self.needs is not None, "options": self.options, "elements": elements,
                "results": results, **own,
                "variants": variants}


def run(folder, program, *words):
    command = [str(word) for word in (BIN / program, *words)]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"bundle: '{' '.join(command)}' failed")
    return done.stdout


def strip(program, target):
    """A copy without symbols, which nobody needs to run it."""
    done = subprocess.run([STRIP, "-o", target, program], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bundle: '{STRIP} {program}' failed: {done.stderr}")
    target.chmod(0o755)


def contraction_arguments(element):
    source = "uniform:{}:20" if element.startswith("i") else "normal:{}"
    return [f"--arg={name}={source.format(seed)}" for seed, name in enumerate("abr")]


def bound_of_k(k, element):
    """Around a sum of that many products of normal numbers: one rounding to 16 bits, or two of each product as tf32,
    and any order of summation."""
    relative, of_product = {"bf16": (2.0**-7, 0), "f16": (2.0**-10, 0), "f32": (0, 2.0**-10 + 2.0**-22)}[element]
    return {"relative": relative, "absolute": (of_product + 2 * k * 2.0**-24) * 4 * k}


def contraction(folder, shape, name=None, **more):
    name = name or "dot-" + "x".join(map(str, shape[:3])) + "-" + "-".join(map(str, shape[3:]))
    file = folder / f"{name}.mlir"
    written, told = contractions.unknown_sizes(shape)
    file.write_text(contractions.program(*written))
    return Case(name, f"contraction {shape[4]}", file, [*contraction_arguments(shape[4]), *told], **more)


def within_bound(shape, mode, flags=()):
    """The contraction on tensor cores."""
    return Variant(mode, {"element": shape[4], **bound_of_k(shape[2], shape[4])}, flags)


def smoke_cases(folder):
    for name, text, options, mode, flags, needs in smoke.programs(folder):
        file = folder / f"smoke-{name}.mlir"
        file.write_text(text)
        yield Case(f"smoke-{name}", f"smoke {name}", file, options, mode=mode, flags=flags, needs=needs)
    for name, shape, mode, flags, needs in smoke.CONTRACTIONS:
        case = contraction(folder, shape, f"smoke-{name}", needs=needs, variants=[within_bound(shape, mode, flags)])
        case.family = f"smoke {name}"
        yield case


def all_cases(folder):
    yield from smoke_cases(folder)
    counts = {}
    for path, options in [*programs.programs(), *programs.digits(folder)]:
        counts[path.stem] = counts.get(path.stem, 0) + 1
        yield Case(f"program-{path.stem}-{counts[path.stem]}", "programs", path, options)
    for name, file, options in graphs.modules(folder):
        yield Case(name, "random", file, options)
    narrow = {(rows, columns, k, layout, "f32", *(rest or [0])) for rows, columns, k, layout,
              *rest in contractions.NARROW}
    for shape in [*contractions.CASES, *sorted(narrow - {*contractions.CASES}, key=str)]:
        mode = "fast" if shape[4] in ("f16", "bf16") else "fast,narrow" if shape in narrow else ""
        fast = [within_bound(shape, mode)] if mode else []
        yield contraction(folder, shape, variants=fast)


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
    strip(BIN / "adrt-run", bundle / "adrt-run")
    if options.target == "cuda" and options.chip == "sm_90a":  # others have no wgmma
        accumulation.make(bundle / "accumulation")
    for name in FILES:
        shutil.copy(HERE / name, bundle)
    (bundle / "manifest.json").write_text(json.dumps({"target": options.target, "chip": options.chip, "cases": written},
                                                     indent=1))
    print(f"bundle: {len(written)} cases for {options.target} in {options.folder}")


if __name__ == "__main__":
    main()
