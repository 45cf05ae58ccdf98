#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Do `wgmma` and `mma.sync` add alike? Compares their bits on a GPU of the compute capability 9.0.

  accumulation.py FOLDER --make             writes the PTX of all kernels there; needs ad-opt
  accumulation.py FOLDER [--rows FILE]      runs them on this machine's GPU

A row of JSON for each type and each layout of B says for how many results the bits are equal, which N differ, and the
first place where they do; how many results no order of summation explains (then nothing is known, and `equal` is
null); and how many are those of the published model. Exit code 0 when all rows are valid, 1 when not, 4 without a GPU.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import accumulation_kernels as kernels  # noqa: E402
import accumulation_vectors as vectors  # noqa: E402
import driver  # noqa: E402
import jsonlines  # noqa: E402

NO_DEVICE, SEED = 4, 1
PTX = re.compile(r'assembly = "((?:[^"\\]|\\.)*)"')


#===- Kernels -------------------------------------------------------------------===#


def modules():
    """(name, MLIR) of each."""
    yield "mma", kernels.module(map(kernels.mma_kernel, kernels.ELEMENTS))
    for element in kernels.ELEMENTS:
        for major in kernels.MAJORS:
            yield f"wgmma_{element}_{major}", kernels.module(
                kernels.wgmma_kernel(element, major, n) for n in kernels.SHAPES)


def tool(name):
    root = pathlib.Path(__file__).resolve().parents[2]
    return pathlib.Path(os.environ.get("ADJOINT_BIN", root / "build/release/bin")) / name


def ptx_of(text):
    for options in (["--pass-pipeline=builtin.module(gpu.module(convert-nvvm-to-llvm))"],
                    ["--ad-serialize-kernels=chip=sm_90a format=isa"]):
        done = subprocess.run([tool("ad-opt"), *options], input=text, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"accumulation: ad-opt {options[0]} failed: {done.stderr[:500]}")
        text = done.stdout
    escaped = PTX.search(text)[1]
    return re.sub(r"\\([0-9A-F]{2}|.)", lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1], escaped).rstrip("\0")


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in modules():
        (folder / f"{name}.ptx").write_text(ptx_of(text))


#===- Where they run --------------------------------------------------------------===#


class OnDevice:
    """run(kernel, module, grid, shared, inputs, result)."""

    def __init__(self, folder):
        self.folder, self.device, self.loaded = folder, driver.Device(), {}

    def __call__(self, name, module, grid, shared, inputs, result):
        if module not in self.loaded:
            self.loaded[module] = self.device.load((self.folder / f"{module}.ptx").read_text())
        return self.device.run(self.loaded[module], name, grid, kernels.THREADS, shared, inputs, result)


class OnEmulator:
    """The same on the emulated GPU, which compiles one kernel at a time, with a kind of its sums."""

    def __init__(self, matrix_sums="ascending"):
        self.matrix_sums = matrix_sums

    def __call__(self, name, _module, grid, shared, inputs, result):
        parts = name.split("_")
        text = kernels.module([kernels.mma_kernel(parts[1])] if parts[0] == "mma" else
                              [kernels.wgmma_kernel(parts[1], parts[2], int(parts[3]))])
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "kernel.mlir").write_text(text)
            command = [tool("ad-gpu-emulate"), folder / "kernel.mlir", "--kernel", name, "--grid", f"{grid[0]},{grid[1]}",
                       "--block", str(kernels.THREADS), "--shared", str(shared), "--out", folder / "out.npy",
                       "--matrix-sums", self.matrix_sums]
            for number, array in enumerate(inputs):
                np.save(folder / f"{number}.npy", array)
                command += ["--arg", f"{folder / str(number)}.npy"]
            command += ["--arg", f"out:f32:{'x'.join(map(str, result.shape))}"]
            done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{name}: {done.stderr[:500]}")
            return np.load(folder / "out.npy")


#===- Comparison -------------------------------------------------------------------===#


def results_of(run, element, major, problems, swapped):
    """Those of wgmma and of mma.sync, for problems of one N."""
    n = problems[0].n
    shape = (len(problems), kernels.SLOTS, kernels.THREADS, n // 2)
    sums = np.stack([problem.accumulators() for problem in problems])
    images = np.stack([problem.image(major) for problem in problems]).view(np.int32)
    one = run(kernels.wgmma_name(element, major, n), f"wgmma_{element}_{major}", (len(problems), 1),
              kernels.shared_bytes(n), [images, sums], np.zeros(shape, np.float32))
    a, b = (np.stack(words).view(np.int32) for words in zip(*(problem.fragments(swapped) for problem in problems)))
    other = run(kernels.mma_name(element), "mma", (len(problems), n // 8), 0, [a, b, sums], np.zeros(shape, np.float32))
    return one, other


def measure(run, element, major, shapes=kernels.SHAPES, seed=SEED, swapped=False):
    """The row of a type and a layout of B. `swapped`: mma.sync gets its operands in another order of k, which shows
    whether the comparison sees a difference."""
    row = {"kind": "accumulation", "element": element, "major": major, "seed": seed, "values": 0, "different": 0,
           "wrong": 0, "modelled": 0, "by_kind": dict.fromkeys(vectors.KINDS, 0), "different_n": [], "first": None}
    for n in shapes:
        problems = [vectors.Problem(kind, element, n, seed) for kind in vectors.KINDS]
        before = row["different"]
        for problem, one, other in zip(problems, *results_of(run, element, major, problems, swapped)):
            found = vectors.compare(problem, one, other)
            for key in ("values", "different", "wrong", "modelled"):
                row[key] += found[key]
            row["by_kind"][problem.kind] += found["different"]
            row["first"] = row["first"] or found["first"]
        if row["different"] != before:
            row["different_n"].append(n)
    row["equal"] = None if row["wrong"] else row["different"] == 0
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--make", action="store_true", help="compile the kernels")
    parser.add_argument("--rows", type=pathlib.Path, metavar="FILE", help="append the rows to it")
    options = parser.parse_args()
    if options.make:
        make(options.folder)
        return 0
    try:
        run = OnDevice(options.folder)
    except (OSError, RuntimeError) as error:
        print(f"accumulation: there is no GPU here: {error}", file=sys.stderr)
        return NO_DEVICE
    out, valid = jsonlines.Rows(options.rows), True
    for element in kernels.ELEMENTS:
        for major in kernels.MAJORS:
            row = measure(run, element, major)
            out.add(**row)
            valid &= row["equal"] is not None
            print(f"accumulation: {element}, B along {major}: equal {row['equal']}, {row['different']} of {row['values']} "
                  f"differ, {row['wrong']} wrong, {row['modelled']} as in the model", flush=True)
    return 0 if valid else 1


if __name__ == "__main__":
    sys.exit(main())
