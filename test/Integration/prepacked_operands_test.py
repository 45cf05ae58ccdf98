# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products with a matrix that a loop leaves as it is, which is packed before the loop: in reproducible mode the bits of
the reference interpreter, in strict mode those of the program without packing, whose iterations are the same code."""

import functools
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
ITERATIONS = 9
# M, N, K, whether the matrix is transposed, element type.
CASES = [
    (37, 100, 66, False, "f32"), (37, 100, 67, True, "f32"), (8, 255, 255, False, "f32"), (2, 255, 255, True, "f32"),
    (1, 300, 300, False, "f32"), (32, 96, 128, False, "f64"), (7, 70, 61, True, "f64"), (12, 100, 66, False, "bf16"),
    (12, 100, 66, True, "bf16"), (12, 100, 65, True, "bf16"), (3, 100, 66, False, "bf16"), (12, 100, 66, True, "f16"),
    (5, 64, 65, False, "f16"), (4, 4096, 1, False, "f32"), (8, 1, 4096, True, "f32"), (9, 65, 1030, True, "i32"),
    (9, 65, 70, False, "f8E4M3FN"),
]


def program(rows, columns, k, transposed, element):
    def tensor(*shape):
        return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"
    x, w = tensor(ITERATIONS, rows, k), tensor(*((columns, k) if transposed else (k, columns)))
    y = tensor(rows, columns)
    one, a = tensor(1, rows, k), tensor(rows, k)
    return f"""func.func @main(%x: {x} {{ad.name = "x"}}, %w: {w} {{ad.name = "w"}}, %start: {y} {{ad.name = "start"}})
    -> ({y} {{ad.name = "y"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %iterations = arith.constant {ITERATIONS} : index
  %sum = scf.for %i = %c0 to %iterations step %c1 iter_args(%before = %start) -> ({y}) {{
    %slice = ad.dynamic_slice %x[%i, %c0, %c0] : {x} -> {one}
    %a = ad.reshape %slice : {one} -> {a}
    %product = ad.dot %a, %w batch [] x [] contract [1] x [{int(transposed)}] : ({a}, {w}) -> {y}
    %after = ad.add %before, %product : {y}
    scf.yield %after : {y}
  }}
  return %sum : {y}
}}
"""


def is_prepacked(file, tiles):
    stages = ["--ad-to-cpu-frontend", "--ad-to-cpu-fusion", f"--ad-to-cpu-kernels=tiles={tiles}"]
    text = subprocess.run([str(BIN / "ad-opt"), str(file), *stages], capture_output=True, text=True, check=True).stdout
    return "floordiv" in text


def result(folder, element, *flags):
    out = folder / "out"
    command = [str(BIN / "ad-runner"), str(folder / "program.mlir"), "--cache", "off", "--out-dir", str(out), *flags]
    source = "uniform:{}:20" if element.startswith("i") else "normal:{}"
    for seed, name in enumerate(["x", "w", "start"]):
        command += ["--arg", f"{name}={source.format(seed)}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return (out / "y.npy").read_bytes()


def wrong(case, folder):
    """What is wrong with one case, or None."""
    element = case[-1]
    (folder / "program.mlir").write_text(program(*case))
    reference = result(folder, element, "--target", "reference", "--numerics", "reproducible")
    unpacked = result(folder, element, "-O0")
    for tiles in ("large", "small"):
        if not is_prepacked(folder / "program.mlir", tiles):
            return f"nothing is packed before the loop in {tiles} tiles"
        if result(folder, element, "--numerics", "reproducible", "--tiles", tiles) != reference:
            return f"differs from the reference in {tiles} tiles"
        if result(folder, element, "--tiles", tiles) != unpacked:
            return f"strict depends on packing in {tiles} tiles"
    return None


def main():
    return checks.run_checks("prepacked-operands", [(case, functools.partial(wrong, case)) for case in CASES])


if __name__ == "__main__":
    sys.exit(main())
