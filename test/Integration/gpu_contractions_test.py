# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Contractions on the emulated GPU, in the kernels of their class. Reproducible mode gives the bits of the reference
interpreter. Fast mode, where tensor cores multiply f16 and bf16, stays within the bound of any order of summation, by
mma.sync and by wgmma."""

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
# M, N, K, layout (t: transposed operand), element type, batch, and which of these sizes are dynamic (r: M, c: N, d: K,
# b: batch). Whole tiles and remainders, whole K tiles and remainders, operands with 16-byte chunks and without, several
# blocks of the order, tiles of both sizes, sizes of zero.
CASES = [
    (64, 64, 64, "nn", "bf16", 0), (64, 128, 96, "nt", "bf16", 0), (128, 64, 32, "tn", "f16", 0),
    (40, 72, 104, "tt", "bf16", 0),
    (65, 130, 200, "nn", "bf16", 0), (33, 47, 53, "nt", "f16", 0), (33, 50, 8, "tn", "bf16", 2),
    (1, 3, 1, "nn", "f16", 0),
    (5, 7, 1030, "nt", "bf16", 0), (1536, 1408, 32, "nt", "bf16", 0),
    (65, 130, 200, "nn", "f32", 0), (33, 47, 53, "tt", "f64", 0), (19, 33, 1066, "nt", "f32", 2),
    (9, 17, 1, "tn", "f32", 0),
    (0, 5, 7, "nn", "f32", 0), (5, 0, 7, "nn", "bf16", 0), (5, 7, 0, "nn", "f32", 0), (5, 7, 0, "nt", "bf16", 0),
    (35, 33, 60, "nt", "i8", 0), (17, 40, 64, "nt", "f8E5M2", 2), (1536, 1408, 9, "nn", "f32", 0),
    (65, 130, 200, "nn", "bf16", 0, "rcd"), (64, 128, 96, "nt", "f16", 0, "rcd"),
    (40, 72, 104, "tt", "bf16", 2, "rcdb"),
    (33, 50, 8, "tn", "bf16", 2, "b"), (600, 130, 64, "nt", "bf16", 0, "r"), (33, 47, 53, "tn", "f16", 0, "d"),
    (72, 47, 72, "tn", "f16", 0, "r"),
    (19, 33, 1066, "nt", "f32", 2, "rcdb"), (65, 130, 600, "nn", "f64", 0, "rd"), (35, 33, 60, "nt", "i8", 0, "c"),
    (40, 72, 520, "tn", "bf16", 3, "d"),
    (0, 5, 7, "nn", "bf16", 0, "rcd"), (5, 0, 7, "nn", "f32", 0, "rcd"), (5, 7, 0, "nt", "bf16", 0, "rcd"),
    (5, 7, 0, "nn", "f32", 0, "rcd"),
    (0, 64, 64, "nn", "bf16", 0, "r"), (64, 64, 0, "tn", "bf16", 0, "d"),
]
# i8, whose sums tensor cores compute in every mode: K-major operands and others, in chunks and element
# by element.
CASES += [(128, 64, 96, "nt", "i8", 0), (65, 130, 200, "nn", "i8", 0), (40, 72, 104, "tt", "i8", 2),
          (80, 64, 64, "tn", "i8", 0, "rcd"),
          (1536, 1408, 64, "nt", "i8", 0)]
# K-major i8 with rows of multiples of 16 bytes, by wgmma: less than one K tile and several, remainders, batches,
# dynamic sizes of other axes and of rows.
CASES += [(200, 264, 400, "nt", "i8", 2), (80, 64, 48, "nt", "i8", 2, "rcb"), (5, 130, 1040, "nt", "i8", 0, "r"),
          (64, 64, 64, "nt", "i8", 0, "d"),
          (0, 64, 64, "nt", "i8", 0, "r"), (64, 64, 0, "nt", "i8", 0)]
# f32 as tf32, with the permission narrow.
NARROW = [(65, 132, 200, "nn"), (64, 64, 64, "nt"), (40, 72, 104, "tt"), (33, 47, 53, "tn"), (1536, 1408, 24, "nn"),
          (5, 7, 0, "nn"),
          (200, 264, 100, "nt"), (33, 47, 53, "nt"), (5, 130, 260, "nt", 0, "r"), (40, 72, 36, "nt", 2, "rcb"),
          (1536, 1408, 24, "nt"), (64, 64, 0, "nt")]
LARGE = 1 << 20  # elements of a result, from which one run has to do


def unknown_sizes(case):
    """The case as its program has it, and what the runner is told about the sizes that are left open."""
    rows, columns, k, layout, element, batch, *unknown = case
    sizes = {"r": rows, "c": columns, "d": k, "b": batch}
    written = {name: "?" if name in (unknown or [""])[0] else size for name, size in sizes.items()}
    outer = "b" if batch else ""
    axes = {"a": outer + ("rd" if layout[0] == "n" else "dr"), "b": outer + ("dc" if layout[1] == "n" else "cd"),
            "r": "c"}
    told = [f"--dim={name}.{axis}={sizes[size]}" for name, sizes_of in axes.items() for axis,
            size in enumerate(sizes_of) if written[size] == "?"]
    return (written["r"], written["c"], written["d"], layout, element, written["b"]), told


def run(folder, element, target, mode, told, chip="sm_90a"):
    source = "uniform:{}:20" if element.startswith("i") else "normal:{}"
    arguments = [f"--arg={name}={source.format(seed)}" for seed, name in enumerate("abr")] + told
    out = folder / f"{target}-{mode}-{chip}"
    compiled = [] if target == "reference" else [f"--chip={chip}"]
    subprocess.run([BIN / "ad-runner", folder / "program.mlir", "--target", target, "--numerics", mode, "--cache=off",
                    *arguments, *compiled,
                    f"--out-dir={out}", f"--numerics-report={out}.json"], check=True, capture_output=True, text=True)
    return out


def is_of_class(file):
    """Whether a kernel of the program is a contraction of its class on a GPU."""
    stages = ["--ad-to-cpu-frontend", "--ad-to-gpu-fusion=optimize=0", "--ad-to-gpu-kernels", "--ad-emit-gpu",
              "--remarks-filter=ad-gpu"]
    return "contraction-class" in subprocess.run([BIN / "ad-opt", file, *stages], capture_output=True, text=True,
                                                 check=True).stderr


def values(file, element):
    return widened(file) if element == "bf16" else np.load(file).astype(np.float64)


def wrong(case, folder):
    rows, columns, k, _, element, *_ = case
    written, told = unknown_sizes(case)
    (folder / "program.mlir").write_text(program(*written))
    if not is_of_class(folder / "program.mlir"):
        return "has no kernel of the class"
    short = element in ("f16", "bf16")
    expected = run(folder, element, "reference", "reproducible", told)
    if not short or rows * columns < LARGE:
        got = run(folder, element, "gpu-sim", "reproducible", told)
        if any((expected / f"{name}.npy").read_bytes() != (got / f"{name}.npy").read_bytes()
               for name in ("dot", "sum")):
            return "differs from the reference"
    if not short:
        return None
    exact = values(expected / "dot.npy", element)
    bound = 2.0**-7 * np.abs(exact) + 2 * k * 2.0**-24 * 4 * k
    for chip in ("sm_80", "sm_90a"):
        out = run(folder, element, "gpu-sim", "fast", told, chip)
        if "tensor-cores" not in pathlib.Path(f"{out}.json").read_text():
            return f"{chip}: tensor cores are not reported"
        if not (np.abs(values(out / "dot.npy", element) - exact) <= bound).all():
            return f"{chip}: tensor cores leave the bound"
    return None


def to_tf32(values, ties_to_even):
    """f32 numbers rounded to 10 bits after the point, to nearest, ties away from zero if not to even."""
    bits = values.view(np.uint32)
    up = np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1)) if ties_to_even else np.uint32(0x1000)
    return (bits + up & np.uint32(0xFFFFE000)).view(np.float32)


def with_ties(random, shape):
    """Normal numbers, of which every third is between two of tf32."""
    bits = random.standard_normal(shape).astype(np.float32).view(np.uint32)
    return np.where(random.integers(0, 3, shape) == 0, bits & np.uint32(0xFFFFE000) | np.uint32(0x1000),
                    bits).view(np.float32)


def uses_wgmma(case):
    """Whether wgmma takes the operands: K-major, with rows of a static size that is a multiple of 16 bytes and not 0."""
    _, _, k, layout, *unknown = case
    return layout == "nt" and k > 0 and k % 4 == 0 and "d" not in (unknown[1] if unknown else "")


def wrong_as_tf32(case, chip, folder):
    """The bits of sums in ascending order of rounded operands, which are within the bound of docs/numerics.md."""
    rows, columns, k, layout, batch, *unknown = case if len(case) > 4 else (*case, 0)
    written, told = unknown_sizes((rows, columns, k, layout, "f32", batch, *unknown))
    (folder / "program.mlir").write_text(program(*written))
    random, outer = np.random.default_rng(k), [batch] if batch else []
    a, b = (with_ties(random, outer + shape) for shape in ([rows, k], [k, columns]))
    for name, values, kept in (("a", a, layout[0] == "n"), ("b", b, layout[1] == "n")):
        np.save(folder / f"{name}.npy", values if kept else np.ascontiguousarray(np.swapaxes(values, -1, -2)))
    arguments = [f"--arg=a={folder}/a.npy", f"--arg=b={folder}/b.npy", "--arg=r=zeros", *told, "--numerics=fast,narrow",
                 "--cache=off"]
    subprocess.run([BIN / "ad-runner", folder / "program.mlir", "--target=gpu-sim", f"--chip={chip}", *arguments,
                    f"--out-dir={folder}",
                    f"--numerics-report={folder}/report.json"], check=True, capture_output=True, text=True)
    if '"tf32"' not in (folder / "report.json").read_text():
        return "tf32 is not reported"
    ties_to_even = chip == "sm_90a" and uses_wgmma(case)
    left, right = to_tf32(a, ties_to_even), to_tf32(b, ties_to_even)
    sums = np.zeros((*outer, rows, columns), np.float32)
    for step in range(k):  # products of such numbers are exact in f32
        sums += left[..., :, step, None] * right[..., None, step, :]
    got = np.load(folder / "dot.npy")
    if not np.array_equal(got, sums):
        return "other bits than those of sums in ascending order of rounded operands"
    magnitudes = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
    bound = (2.0**-10 + 2.0**-22 + 2 * k * 2.0**-24) * magnitudes
    if not (np.abs(got - a.astype(np.float64) @ b.astype(np.float64)) <= bound).all():
        return "leaves the bound"
    return None


def wrong_past_the_largest(k, chip, folder):
    """Sums of i8 that pass 2^31 go on from -2^31."""
    types = f"(tensor<3x{k}xi8>, tensor<5x{k}xi8>) -> tensor<3x5xi32>"
    (folder
     / "program.mlir").write_text(f"""func.func @main(%a: tensor<3x{k}xi8> {{ad.name = "a"}}, %b: tensor<5x{k}xi8> {{ad.name = "b"}})
    -> (tensor<3x5xi32> {{ad.name = "dot"}}) {{
  %0 = ad.dot %a, %b batch [] x [] contract [1] x [1] : {types}
  return %0 : tensor<3x5xi32>
}}
""")
    np.save(folder / "a.npy", np.full((3, k), -128, np.int8))
    np.save(folder / "b.npy", np.full((5, k), -128, np.int8))
    arguments = [f"--arg=a={folder}/a.npy", f"--arg=b={folder}/b.npy", "--cache=off", f"--out-dir={folder}"]
    subprocess.run([BIN / "ad-runner", folder / "program.mlir", "--target=gpu-sim", f"--chip={chip}", *arguments],
                   check=True, capture_output=True, text=True)
    expected = (k * 2**14 + 2**31) % 2**32 - 2**31
    return None if (np.load(folder / "dot.npy") == expected).all() else f"expected {expected}"


def main():
    found = [(case, functools.partial(wrong, case)) for case in checks.sample(CASES, 16)]
    found += [(("tf32", *case, chip), functools.partial(wrong_as_tf32, case, chip)) for case in NARROW
              for chip in ("sm_80", "sm_90a")]
    found += [(("wraps", chip), functools.partial(wrong_past_the_largest, 2**17 + 16, chip))
              for chip in ("sm_80", "sm_90a")]
    return checks.run_checks("gpu-contractions", found)


if __name__ == "__main__":
    sys.exit(main())
