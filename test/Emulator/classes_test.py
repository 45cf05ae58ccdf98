#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs on the emulated GPU take the kernels of their classes, give the bits of the reference interpreter, and touch
memory as these kernels promise: whole sectors, each element once, no bank twice. The shapes are those of
benchmarks/rows.py with fewer rows."""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import checks
import runner

ROWS = 6  # of the benchmarks' 4096 and 64
SECTOR = 32


def rows_of(element, body, rows=ROWS, columns=1024, result=None):
    t = f"tensor<{rows}x{columns}x{element}>"
    return f"""func.func @main(%x: {t} {{ad.name = "x"}}, %v: tensor<{columns}x{element}> {{ad.name = "v"}})
    -> ({(result or '{t}').format(t=t)} {{ad.name = "y"}}) {{
  {body.format(t=t, v=f"tensor<{columns}x{element}>")}
  return %y : {(result or '{t}').format(t=t)}
}}
"""


SOFTMAX = "%y = ad.softmax %x axis 1 : {t}"
NORM = "%y = ad.layer_norm %x, %v, %v epsilon 1.0e-5 : {t}, {v}"
GELU = "%y = ad.gelu %x : {t}"
SUM = "%y = ad.reduce_sum %x axes [1] : {t} -> tensor<6xf32>"
BIAS = "%y = ad.add %x, %v : {t}, {v}"
TRANSPOSE = "%y = ad.transpose %x [1, 0] : {t}"


class Case:
    """A program whose one kernel is of a class. `reads` and `writes` say how many elements it loads and stores, each
    once; `ratio` limits the sectors or wavefronts, as a multiple of the minimum for its requests."""

    def __init__(self, name, kernel, text, element=4, reads=None, writes=None, ratio=1.0):
        self.name, self.kernel, self.text = name, kernel, text
        self.element, self.reads, self.writes = element, reads, writes
        self.ratio = ratio


CELLS = ROWS * 1024
CASES = [
    Case("softmax f32", "row", rows_of("f32", SOFTMAX), 4, CELLS, CELLS),
    Case("softmax f16", "row", rows_of("f16", SOFTMAX), 2, CELLS, CELLS),
    Case("softmax f64", "row", rows_of("f64", SOFTMAX), 8, None, CELLS),
    Case("softmax of 64 rows", "row", rows_of("f32", SOFTMAX, 64, 64), 4, 4096, 4096),
    Case("softmax bf16", "row", rows_of("bf16", SOFTMAX), 2, CELLS, CELLS),
    # Few rows have a warp each, and load the scale for each.
    Case("layer_norm f32", "row", rows_of("f32", NORM), 4, 2 * CELLS, CELLS),
    Case("sum f32", "row", rows_of("f32", SUM, result="tensor<6xf32>"), 4, CELLS, None),
    # Rows that are staged in shared memory, with their exponentials, and operands that are only read in one pass.
    Case("long rows", "row", rows_of("f32", SOFTMAX, 2, 12288), 4, 2 * 12288, 2 * 12288),
    Case("long rows bf16", "row", rows_of("bf16", SOFTMAX, 2, 9008), 2, 2 * 9008, 2 * 9008),
    Case("sums of long rows", "row", rows_of("f32", SUM.replace("tensor<6x", "tensor<2x"), 2, 12288, "tensor<2xf32>"),
         4, 2 * 12288, None),
    Case("gelu f32", "elementwise", rows_of("f32", GELU), 4, CELLS, CELLS),
    Case("bias bf16", "elementwise", rows_of("bf16", BIAS), 2, 2 * CELLS, CELLS),
    Case("bias i8", "elementwise", rows_of("i8", BIAS), 1, 2 * CELLS, CELLS),
    Case("transpose f32", "transposition", rows_of("f32", TRANSPOSE, 64, result="tensor<1024x64xf32>"), 4, 65536,
         65536),
    Case("transpose f16", "transposition", rows_of("f16", TRANSPOSE, 64, result="tensor<1024x64xf16>"), 2, 65536,
         65536),
    Case("transpose i8", "transposition", rows_of("i8", TRANSPOSE, 128, 256, "tensor<256x128xi8>"), 1, 32768, 32768),
    Case("transpose f64", "transposition", rows_of("f64", TRANSPOSE, 64, 96, "tensor<96x64xf64>"), 8, 6144, 6144),
    # Unaligned rows: the part of a row that a warp accesses at once spans one more sector than it fills.
    Case("transpose odd f32", "transposition", rows_of("f32", TRANSPOSE, 129, 1001, "tensor<1001x129xf32>"), ratio=1.3),
    Case("transpose even f32", "transposition", rows_of("f32", TRANSPOSE, 126, 1022, "tensor<1022x126xf32>"),
         ratio=1.3),
    Case("transpose odd f64", "transposition", rows_of("f64", TRANSPOSE, 65, 501, "tensor<501x65xf64>"), 8, ratio=1.3),
    Case("transpose odd f16", "transposition", rows_of("f16", TRANSPOSE, 129, 1001, "tensor<1001x129xf16>"), 2,
         ratio=2),
    Case("transpose half odd f16", "transposition", rows_of("f16", TRANSPOSE, 1001, 128, "tensor<128x1001xf16>"), 2,
         ratio=2),
    Case("transpose odd i8", "transposition", rows_of("i8", TRANSPOSE, 129, 1001, "tensor<1001x129xi8>"), 1, ratio=2),
    Case("transpose even i8", "transposition", rows_of("i8", TRANSPOSE, 258, 1002, "tensor<1002x258xi8>"), 1, ratio=2),
]

# Contractions: the type of the operands, that of the result, the mode, the chip, and an instruction that is expected in
# addition to loads and stores.
PRODUCTS = [
    ("bf16", "bf16", "fast", "sm_80", "nvvm.ldmatrix"), ("f16", "f32", "fast", "sm_80", "nvvm.ldmatrix"),
    ("f32", "f32", "fast,narrow", "sm_80", None), ("bf16", "bf16", "fast", "sm_90a", None),
    ("bf16", "f32", "fast", "sm_90a", None),
    ("f32", "f32", "fast,narrow", "sm_90a", None),
    ("f32", "f32", "reproducible", "sm_80", None), ("f64", "f64", "reproducible", "sm_80", None),
    ("bf16", "bf16", "reproducible", "sm_80", None),
]
LAYOUTS = ["nn", "nt", "tn"]  # t: transposed
# Only K-major operands of bytes are loaded in chunks.
BYTES = [("i8", "i32", "reproducible", "sm_80", "nvvm.ldmatrix", "nt"),
         ("i8", "i32", "reproducible", "sm_90a", None, "nt")]
SIDE, K = 128, 64


def product_of(element, result, layout):
    shapes = [(SIDE, K) if layout[0] == "n" else (K, SIDE), (K, SIDE) if layout[1] == "n"
              else (SIDE, K)]
    a, b = (f"tensor<{rows}x{columns}x{element}>" for rows, columns in shapes)
    y = f"tensor<{SIDE}x{SIDE}x{result}>"
    return f"""func.func @main(%a: {a} {{ad.name = "x"}}, %b: {b} {{ad.name = "v"}}) -> ({y} {{ad.name = "y"}}) {{
  %y = ad.dot %a, %b batch [] x [] contract [{int(layout[0] == "n")}] x [{int(layout[1] == "t")}] : ({a}, {b}) -> {y}
  return %y : {y}
}}
"""


# Integers have no normal distribution.
VALUES = [["--arg=x=normal:1", "--arg=v=normal:2"], ["--arg=x=uniform:1:100", "--arg=v=uniform:2:100"]]


def run(text, folder, *options):
    """The bytes of the result, and the memory requests of the kernels."""
    (folder / "program.mlir").write_text(text)
    report = folder / "report.json"
    done = subprocess.run([runner.binary("ad-runner"), str(folder / "program.mlir"), "--cache=off",
                           *VALUES["xi8>" in text],
                           f"--out-dir={folder}", f"--report={report}", *options], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[:1000]}")
    return (folder / "y.npy").read_bytes(), json.loads(report.read_text())["traffic"]


def problems_of_access(case, access):
    units = access.get("sectors", access.get("wavefronts"))
    label = f"{access['operation']} of {access['memory']} memory"
    if units > access["fewest"] * (case.ratio if access["memory"] == "global" else 1):
        yield f"{label}: {units} units, the fewest are {access['fewest']}"
    elements = {"llvm.store": case.writes}.get(access["operation"], case.reads)
    if access["memory"] == "global" and elements and units * SECTOR != elements * case.element:
        yield f"{label}: {units * SECTOR} bytes for {elements * case.element}"


def problems(case, folder):
    expected, _ = run(case.text, folder, "--numerics=reproducible", "--target=reference")
    found, traffic = run(case.text, folder, "--numerics=reproducible", "--target=gpu-sim", "--traffic")
    if found != expected:
        yield "the bits are not those of the reference interpreter"
    classes = [kernel["class"] for kernel in traffic]
    if classes != [case.kernel]:
        yield f"kernels are of the classes {classes}, expected {case.kernel}"
    if not traffic[0]["accesses"]:
        yield "no access to memory is counted"
    for access in traffic[0]["accesses"]:
        yield from problems_of_access(case, access)


def problems_of_product(folder, element, result, mode, chip, instruction, layout):
    text = product_of(element, result, layout)
    _, traffic = run(text, folder, f"--numerics={mode}", "--target=gpu-sim", f"--chip={chip}", "--traffic")
    accesses = traffic[0]["accesses"]
    if traffic[0]["class"] != "contraction":
        yield f"the kernel is of class {traffic[0]['class']}"
    if instruction and instruction not in [access["operation"] for access in accesses]:
        yield f"nothing is counted for {instruction}"
    result_bytes = SIDE * SIDE * {"f64": 8, "f32": 4, "i32": 4}.get(result, 2)
    case = Case("", "", text, 1, None, result_bytes)
    for access in accesses:
        yield from problems_of_access(case, access)
        stored = access["operation"] == "llvm.store" and access["memory"] == "global"
        if stored and access["requests"] * 32 * 16 != result_bytes:
            yield f"{access['requests']} requests store {result_bytes} bytes, expected 16 for each thread of a warp"


def main():
    found = []
    with tempfile.TemporaryDirectory() as name:
        cases = checks.sample(CASES, 3)
        for case in cases:
            found += [f"{case.name}: {text}" for text in problems(case, pathlib.Path(name))]
        products = checks.sample([(*case, layout) for case in PRODUCTS for layout in LAYOUTS] + BYTES, 3)
        for case in products:
            found += [f"product {case}: {text}" for text in problems_of_product(pathlib.Path(name), *case)]
    print("\n".join(found))
    print(f"classes: {len(cases) + len(products)} run, {len(found)} failed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
