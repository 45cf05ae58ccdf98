# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A product with a bias in six ways: as ad.gemm, as a product and a sum, and in f32 between casts. What rounds at the
same places has the same bits. With `widen` a product and a sum become an ad.gemm, unless nothing is simplified."""

import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

NAMES = ["GemmOnly", "GemmAdd", "FusedMatMulAdd", "MatMulAdd", "CastGemmAddCast", "CastGemmOnlyCast"]
PROGRAM = """func.func @main(%a: A {ad.name = "a"}, %x: X {ad.name = "x"}, %b: tensor<48xE> {ad.name = "b"})
    -> (Y, Y, Y, Y, Y, Y) {
  %gemm = ad.gemm %a, %x, %b : (A, X, tensor<48xE>) -> Y
  %0 = ad.gemm %a, %x : (A, X) -> Y
  %gemm_add = ad.add %0, %b : Y, tensor<48xE>
  %t = ad.transpose %x [1, 0] : X
  %1 = ad.gemm %a, %t {transB} : (A, tensor<48x80xE>) -> Y
  %fused_add = ad.add %1, %b : Y, tensor<48xE>
  %2 = ad.dot %a, %x : (A, X) -> Y
  %dot_add = ad.add %2, %b : Y, tensor<48xE>
  %wa = ad.cast %a : A -> tensor<?x80xf32>
  %wx = ad.cast %x : X -> tensor<80x48xf32>
  %wb = ad.cast %b : tensor<48xE> -> tensor<48xf32>
  %3 = ad.gemm %wa, %wx : (tensor<?x80xf32>, tensor<80x48xf32>) -> tensor<?x48xf32>
  %4 = ad.add %3, %wb : tensor<?x48xf32>, tensor<48xf32>
  %cast_add = ad.cast %4 : tensor<?x48xf32> -> Y
  %5 = ad.gemm %wa, %wx, %wb : (tensor<?x80xf32>, tensor<80x48xf32>, tensor<48xf32>) -> tensor<?x48xf32>
  %cast_gemm = ad.cast %5 : tensor<?x48xf32> -> Y
  return %gemm, %gemm_add, %fused_add, %dot_add, %cast_add, %cast_gemm : Y, Y, Y, Y, Y, Y
}
"""


def classes(element, folder, *options):
    """The names that have the same bits, as a set of sets, and the arrays."""
    rng = np.random.default_rng(2)
    arrays = {"a": rng.normal(size=(96, 80)), "x": rng.normal(size=(80, 48)), "b": rng.normal(size=48)}
    given = []
    for name, array in arrays.items():
        elements.save(folder / f"{name}.npy", element, elements.encode(element, array))
        given.append(f"--arg={name}={folder / name}.npy")
    types = {"A": "tensor<?x80xE>", "X": "tensor<80x48xE>", "Y": "tensor<?x48xE>"}
    text = re.sub(r"\b[AXY]\b", lambda match: types[match[0]], PROGRAM).replace("xE>", f"x{element}>")
    found = runner.run(text, given, [(f"res{i}", element) for i in range(6)], options)
    groups = {}
    for i, name in enumerate(NAMES):
        groups.setdefault(found[f"res{i}"].tobytes(), set()).add(name)
    return {frozenset(group) for group in groups.values()}, found


ONCE = frozenset({"GemmOnly", "CastGemmAddCast", "CastGemmOnlyCast"})
TWICE = frozenset({"GemmAdd", "FusedMatMulAdd", "MatMulAdd"})


def same_roundings(element, folder):
    """In f32 all round once. In f16 and bf16 the product and the sum round twice, on each target, fused or not."""
    expected = {frozenset(NAMES)} if element == "f32" else {ONCE, TWICE}
    _, reference = classes(element, folder, "--target", "reference")
    for options in (["--target", "reference"], [], ["-O0"], ["--fuse", "single"], ["--target", "gpu-sim"]):
        groups, found = classes(element, folder, "--numerics", "reproducible", *options)
        if groups != expected:
            yield f"{options}: {[sorted(group) for group in groups]}"
        if any(found[name].tobytes() != reference[name].tobytes() for name in reference):
            yield f"{options}: other bits than the reference"


def widened(element, folder):
    """With `widen` every form rounds once; written one by one, they round as they are written."""
    for mode in ("fast", "strict,widen"):
        groups, _ = classes(element, folder, "--numerics", mode)
        if groups != {frozenset(NAMES)}:
            yield f"{mode}: {[sorted(group) for group in groups]}"
        groups, _ = classes(element, folder, "--numerics", mode, "-O0")
        if groups != {ONCE, TWICE}:
            yield f"{mode} -O0: {[sorted(group) for group in groups]}"


def main():
    return checks.run_checks("gemm_choices", [
        *((f"roundings of {e}", lambda folder, e=e: list(same_roundings(e, folder))) for e in ("f16", "bf16", "f32")),
        ("widen", lambda folder: list(widened("f16", folder)))])


if __name__ == "__main__":
    sys.exit(main())
