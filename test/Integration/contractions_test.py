# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Contractions in every layout with the code that a size chooses: tiles, rests of tiles, packed and transposed
operands, several blocks of the reduced axis, batches. In reproducible mode the CPU gives the bits of the reference
interpreter; in strict mode floats are within the bound of any order of summation in f64; those of bf16 come from the
CPU's dot products, where it has them."""

import functools
import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
# M, N, K, layout (t: transposed operand), element type, batch.
CASES = [
    (65, 130, 200, "nn", "f32", 0), (65, 130, 200, "nt", "f32", 0), (65, 130, 200, "tn", "f32", 0),
    (33, 47, 53, "tt", "f32", 0), (40, 300, 1030, "nn", "f32", 0), (40, 321, 1030, "nt", "f32", 0),
    (33, 49, 70, "nt", "f64", 0), (33, 49, 70, "nt", "bf16", 0), (19, 33, 66, "nt", "f16", 3),
    (40, 700, 1100, "nn", "bf16", 0), (17, 40, 64, "nt", "f8E5M2", 2), (9, 1, 17, "nt", "f32", 0),
    (9, 17, 1, "nt", "f32", 0), (35, 33, 600, "nt", "i32", 0), (35, 33, 60, "nt", "i8", 0),
    (34, 31, 65, "nn", "f32", 4),
    (1, 64, 64, "nt", "f32", 0), (2, 96, 80, "nt", "f32", 0), (3, 50, 33, "nn", "f32", 2), (7, 16, 513, "nt", "f64", 0),
    # Rows in tiles of two sizes, and what a thread has of them; an operand that the first tile packs, whole and with a
    # rest.
    (61, 130, 70, "nn", "f32", 0), (58, 33, 70, "nt", "f64", 2), (63, 96, 64, "tn", "bf16", 0),
    (101, 600, 450, "nn", "f32", 0),
    # Pairs of bf16: a single column, rests of tiles, strided pairs, blocks of the reduced axis, batches.
    (9, 1, 66, "nn", "bf16", 0), (37, 50, 66, "tn", "bf16", 0), (37, 49, 66, "tt", "bf16", 0),
    (4, 33, 1030, "nt", "bf16", 0),
    (11, 70, 2, "nn", "bf16", 3), (19, 40, 34, "tn", "bf16", 2), (1, 50, 66, "nn", "bf16", 0),
    (3, 50, 66, "nt", "bf16", 0),
    (2, 33, 64, "tt", "bf16", 2),
    (32, 520, 520, "nn", "f32", 0), (37, 700, 401, "nn", "f64", 0),
    # Several tiles for each thread.
    (130, 160, 130, "nn", "f32", 0), (3, 130, 700, "nt", "f32", 5),
]


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def program(rows, columns, k, layout, element, batch):
    """The product, and the product and a row; sizes that are text are written unchanged."""
    outer = [batch] if batch else []
    a = tensor(outer + ([rows, k] if layout[0] == "n" else [k, rows]), element)
    b = tensor(outer + ([k, columns] if layout[1] == "n" else [columns, k]), element)
    c, r = tensor(outer + [rows, columns], element), tensor([columns], element)
    first = len(outer)
    axes = f"contract [{first + (layout[0] == 'n')}] x [{first + (layout[1] == 't')}]"
    batches = "batch [0] x [0]" if batch else "batch [] x []"
    return f"""func.func @main(%a: {a} {{ad.name = "a"}}, %b: {b} {{ad.name = "b"}}, %r: {r} {{ad.name = "r"}})
    -> ({c} {{ad.name = "dot"}}, {c} {{ad.name = "sum"}}) {{
  %0 = ad.dot %a, %b {batches} {axes} : ({a}, {b}) -> {c}
  %1 = ad.add %0, %r : {c}, {r}
  return %0, %1 : {c}, {c}
}}
"""


def has_dot_products():
    return "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()


def run(folder, element, target, mode, threads=1, tiles="large"):
    """The folder with the results of one run, and its report of permissions."""
    out = folder / f"{target}-{mode}-{threads}-{tiles}"
    source = "uniform:{}:20" if element.startswith("i") else "normal:{}"
    command = [RUNNER, str(folder / "program.mlir"), "--cache", "off", "--target", target, "--numerics", mode,
               "--threads", str(threads), "--numerics-report", str(out) + ".json", "--out-dir", str(out)]
    command += ["--tiles", tiles] if target == "cpu" else []
    for seed, name in enumerate("abr"):
        command += ["--arg", f"{name}={source.format(seed)}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{target} {mode}: exit {done.returncode}: {done.stderr.strip()}")
    return out


def wrong(case, folder):
    """What is wrong with one case, or None."""
    (folder / "program.mlir").write_text(program(*case))
    k, element = case[2], case[4]
    expected = run(folder, element, "reference", "reproducible")
    for threads in (1, 2):
        got = run(folder, element, "cpu", "reproducible", threads)
        for name in ("dot", "sum"):
            if (expected / f"{name}.npy").read_bytes() != (got / f"{name}.npy").read_bytes():
                return f"{name} on {threads} threads differs from the reference"
    if element == "f32":
        strict, exact = np.load(run(folder, element, "cpu", "strict") / "dot.npy"), np.load(expected / "dot.npy")
        # Standard normal numbers: the sum of the products' sizes stays below 4 per term with margin to spare.
        if not np.abs(strict - exact).max() <= 2 * k * 2.0**-24 * 4 * k:
            return "strict is outside the bound"
    if element == "bf16":
        return wrong_in_pairs(folder, case, widened(expected / "dot.npy"))
    return None


def widened(file):
    """The values of a file of bf16 in f32."""
    return (np.load(file).view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def wrong_in_pairs(folder, case, exact):
    """Dot products may differ from `exact`, which is rounded to bf16, by their order and by one rounding."""
    k = case[2]
    bound = 2.0**-7 * np.abs(exact) + 2 * k * 2.0**-24 * 4 * k
    bits = set()
    for threads, tiles in ((1, "large"), (2, "large"), (1, "small")):
        out = run(folder, "bf16", "cpu", "strict", threads, tiles)
        if not (np.abs(widened(out / "dot.npy") - exact) <= bound).all():
            return f"strict on {threads} threads in {tiles} tiles is outside the bound"
        bits.add((out / "dot.npy").read_bytes())
        used = "dot-product-instruction" in pathlib.Path(str(out) + ".json").read_text()
        if used != (has_dot_products() and k % 2 == 0):
            return f"dot products are {'used' if used else 'not used'}"
    return "strict depends on threads or tiles" if len(bits) > 1 else None


def wrong_when_exchanged(folder):
    """A product of few rows that a transposition follows, whose operands the compiler exchanges: strict bits stay."""
    text = """func.func @main(%a: tensor<3x64xbf16> {ad.name = "a"}, %b: tensor<64x32xbf16> {ad.name = "b"},
    %r: tensor<1xf32> {ad.name = "r"}) -> (tensor<32x3xf32> {ad.name = "transposed"}KEPT_TYPE) {
  %d = ad.dot %a, %b : (tensor<3x64xbf16>, tensor<64x32xbf16>) -> tensor<3x32xf32>
  %t = ad.transpose %d [1, 0] : tensor<3x32xf32>
  return %tKEPT : tensor<32x3xf32>KEPT_RESULT
}
"""
    bits = set()
    for kept in (False, True):
        program = text.replace("KEPT_TYPE", ', tensor<3x32xf32> {ad.name = "dot"}' if kept else "")
        program = program.replace("KEPT_RESULT", ", tensor<3x32xf32>" if kept
                                  else "").replace("KEPT", ", %d" if kept else "")
        (folder / "program.mlir").write_text(program)
        bits.add((run(folder, "bf16", "cpu", "strict") / "transposed.npy").read_bytes())
    return "strict depends on another use of a product" if len(bits) > 1 else None


def main():
    products = [(case, functools.partial(wrong, case)) for case in checks.sample(CASES, 3)]
    return checks.run_checks("contractions", [("exchanged operands", wrong_when_exchanged), *products])


if __name__ == "__main__":
    sys.exit(main())
