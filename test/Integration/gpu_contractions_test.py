# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Contractions on the emulated GPU, in the kernels of their class: in reproducible mode the bits of the reference interpreter, in
fast mode, where tensor cores multiply f16 and bf16, within the bound of any order of summation, for a chip whose warps multiply and for
the one whose warpgroups do."""

import functools
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from contractions_test import program, widened  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
# Rows, columns, depth, layout (t: transposed operand), element type, batch, and which of these sizes only the run knows. Whole tiles and
# rests, pieces of the depth and rests, operands in chunks of 16 bytes and not, several blocks of the reduced axis, tiles of both sizes, sizes
# of zero.
CASES = [
    (64, 64, 64, "nn", "bf16", 0), (64, 128, 96, "nt", "bf16", 0), (128, 64, 32, "tn", "f16", 0), (40, 72, 104, "tt", "bf16", 0),
    (65, 130, 200, "nn", "bf16", 0), (33, 47, 53, "nt", "f16", 0), (33, 50, 8, "tn", "bf16", 2), (1, 3, 1, "nn", "f16", 0),
    (5, 7, 1030, "nt", "bf16", 0), (1536, 1408, 32, "nt", "bf16", 0),
    (65, 130, 200, "nn", "f32", 0), (33, 47, 53, "tt", "f64", 0), (19, 33, 1066, "nt", "f32", 2), (9, 17, 1, "tn", "f32", 0),
    (0, 5, 7, "nn", "f32", 0), (5, 0, 7, "nn", "bf16", 0), (5, 7, 0, "nn", "f32", 0), (5, 7, 0, "nt", "bf16", 0),
    (35, 33, 60, "nt", "i8", 0), (17, 40, 64, "nt", "f8E5M2", 2), (1536, 1408, 9, "nn", "f32", 0),
    (65, 130, 200, "nn", "bf16", 0, "rcd"), (64, 128, 96, "nt", "f16", 0, "rcd"), (40, 72, 104, "tt", "bf16", 2, "rcdb"),
    (33, 50, 8, "tn", "bf16", 2, "b"), (600, 130, 64, "nt", "bf16", 0, "r"), (33, 47, 53, "tn", "f16", 0, "d"), (72, 47, 72, "tn", "f16", 0, "r"),
    (19, 33, 1066, "nt", "f32", 2, "rcdb"), (65, 130, 600, "nn", "f64", 0, "rd"), (35, 33, 60, "nt", "i8", 0, "c"), (40, 72, 520, "tn", "bf16", 3, "d"),
    (0, 5, 7, "nn", "bf16", 0, "rcd"), (5, 0, 7, "nn", "f32", 0, "rcd"), (5, 7, 0, "nt", "bf16", 0, "rcd"), (5, 7, 0, "nn", "f32", 0, "rcd"),
    (0, 64, 64, "nn", "bf16", 0, "r"), (64, 64, 0, "tn", "bf16", 0, "d"),
]
# Of i8, whose sums tensor cores compute in every mode: along the depth in memory and across it, in chunks and element by element.
CASES += [(128, 64, 96, "nt", "i8", 0), (65, 130, 200, "nn", "i8", 0), (40, 72, 104, "tt", "i8", 2), (80, 64, 64, "tn", "i8", 0, "rcd"),
          (1536, 1408, 64, "nt", "i8", 0)]
# Of f32 as tf32, where that is permitted.
NARROW = [(65, 132, 200, "nn"), (64, 64, 64, "nt"), (40, 72, 104, "tt"), (33, 47, 53, "tn"), (1536, 1408, 24, "nn"), (5, 7, 0, "nn")]
LARGE = 1 << 20  # elements of a result, from which one run has to do


def unknown_sizes(case):
    """The case as its program has it, and what the runner is told about the sizes that are left open."""
    rows, columns, depth, layout, element, batch, *unknown = case
    sizes = {"r": rows, "c": columns, "d": depth, "b": batch}
    written = {name: "?" if name in (unknown or [""])[0] else size for name, size in sizes.items()}
    outer = "b" if batch else ""
    axes = {"a": outer + ("rd" if layout[0] == "n" else "dr"), "b": outer + ("dc" if layout[1] == "n" else "cd"), "r": "c"}
    told = [f"--dim={name}.{axis}={sizes[size]}" for name, sizes_of in axes.items() for axis, size in enumerate(sizes_of) if written[size] == "?"]
    return (written["r"], written["c"], written["d"], layout, element, written["b"]), told


def run(folder, element, target, mode, told, chip="sm_90a"):
    source = "uniform:{}:20" if element.startswith("i") else "normal:{}"
    arguments = [f"--arg={name}={source.format(seed)}" for seed, name in enumerate("abr")] + told
    out = folder / f"{target}-{mode}-{chip}"
    compiled = [] if target == "reference" else [f"--chip={chip}"]
    subprocess.run([BIN / "ad-runner", folder / "program.mlir", "--target", target, "--numerics", mode, "--cache=off", *arguments, *compiled,
                    f"--out-dir={out}", f"--numerics-report={out}.json"], check=True, capture_output=True, text=True)
    return out


def is_of_class(file):
    """Whether a kernel of the program is a contraction of its class on a GPU."""
    stages = ["--ad-to-cpu-frontend", "--ad-to-cpu-fusion", "--ad-to-gpu-kernels", "--ad-emit-gpu", "--remarks-filter=ad-gpu"]
    return "contraction-class" in subprocess.run([BIN / "ad-opt", file, *stages], capture_output=True, text=True, check=True).stderr


def values(file, element):
    return widened(file) if element == "bf16" else np.load(file).astype(np.float64)


def wrong(case, folder):
    rows, columns, depth, _, element, *_ = case
    written, told = unknown_sizes(case)
    (folder / "program.mlir").write_text(program(*written))
    if not is_of_class(folder / "program.mlir"):
        return "has no kernel of the class"
    short = element in ("f16", "bf16")
    expected = run(folder, element, "reference", "reproducible", told)
    if not short or rows * columns < LARGE:
        got = run(folder, element, "gpu-sim", "reproducible", told)
        if any((expected / f"{name}.npy").read_bytes() != (got / f"{name}.npy").read_bytes() for name in ("dot", "sum")):
            return "differs from the reference"
    if not short:
        return None
    exact = values(expected / "dot.npy", element)
    bound = 2.0**-7 * np.abs(exact) + 2 * depth * 2.0**-24 * 4 * depth
    for chip in ("sm_80", "sm_90a"):
        out = run(folder, element, "gpu-sim", "fast", told, chip)
        if "tensor-cores" not in pathlib.Path(f"{out}.json").read_text():
            return f"{chip}: tensor cores are not reported"
        if not (np.abs(values(out / "dot.npy", element) - exact) <= bound).all():
            return f"{chip}: tensor cores leave the bound"
    return None


def to_tf32(values):
    """f32 numbers rounded to 10 bits behind the point, to nearest, ties away from zero."""
    return ((values.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def wrong_as_tf32(case, folder):
    """The bits of sums in ascending order of rounded operands, which lie within the bound of docs/numerics.md."""
    rows, columns, depth, layout = case
    (folder / "program.mlir").write_text(program(rows, columns, depth, layout, "f32", 0))
    random = np.random.default_rng(depth)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((rows, depth), (depth, columns)))
    np.save(folder / "a.npy", a if layout[0] == "n" else np.ascontiguousarray(a.T))
    np.save(folder / "b.npy", b if layout[1] == "n" else np.ascontiguousarray(b.T))
    arguments = [f"--arg=a={folder}/a.npy", f"--arg=b={folder}/b.npy", "--arg=r=zeros", "--numerics=fast,narrow", "--cache=off"]
    subprocess.run([BIN / "ad-runner", folder / "program.mlir", "--target=gpu-sim", "--chip=sm_80", *arguments, f"--out-dir={folder}",
                    f"--numerics-report={folder}/report.json"], check=True, capture_output=True, text=True)
    if '"tf32"' not in (folder / "report.json").read_text():
        return "tf32 is not reported"
    left, right, sums = to_tf32(a), to_tf32(b), np.zeros((rows, columns), np.float32)
    for k in range(depth):  # products of such numbers are exact in f32
        sums += left[:, k, None] * right[None, k, :]
    got = np.load(folder / "dot.npy")
    if not np.array_equal(got, sums):
        return "other bits than those of sums in ascending order of rounded operands"
    magnitudes = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    bound = (2.0**-10 + 2.0**-22 + 2 * depth * 2.0**-24) * magnitudes
    if not (np.abs(got - a.astype(np.float64) @ b.astype(np.float64)) <= bound).all():
        return "leaves the bound"
    return None


def main():
    found = [(case, functools.partial(wrong, case)) for case in CASES]
    found += [(("tf32", *case), functools.partial(wrong_as_tf32, case)) for case in NARROW]
    return checks.run_checks("gpu-contractions", found)


if __name__ == "__main__":
    sys.exit(main())
