# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""--missing-kernels: operations that compute in f32 between casts give the bits of the reference interpreter, for each
narrow float; with `widen`, a chain is rounded once, to the bits of the chain in f32; --report tells of its casts."""

import json
import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

TARGETS = {"cpu": ["--target", "cpu"], "gpu-sim": ["--target", "gpu-sim"]}
OPERATIONS = {
    "add": "ad.add %x, %y : T", "mul": "ad.mul %x, %y : T", "div": "ad.div %x, %y : T", "sub": "ad.sub %x, %y : T",
    "max": "ad.max %x, %y : T", "rem": "ad.rem %x, %y : T", "pow": "ad.pow %x, %y : T", "exp": "ad.exp %x : T",
    "tanh": "ad.tanh %x : T", "neg": "ad.neg %x : T", "fma": "ad.fma %x, %y, %x : T",
    "dot": "ad.dot %x, %y contract [1] x [1] : (T, T) -> tensor<8x8xE>",
    "gemm": "ad.gemm %x, %y {transB} : (T, T) -> tensor<8x8xE>",
    "reduce_sum": "ad.reduce_sum %x axes [0] : T -> tensor<24xE>", "cumsum": "ad.cumsum %x axis 1 : T",
    "softmax": "ad.softmax %x axis 1 : T", "argmax": "ad.argmax %x axis 1 : T",
    "concat": "ad.concat axis 0 %x, %y : T, T",
}
RESULTS = {"dot": ("tensor<8x8xE>", None), "gemm": ("tensor<8x8xE>", None), "reduce_sum": ("tensor<24xE>", None),
           "argmax": ("tensor<8xi64>", "i64"), "concat": ("tensor<16x24xE>", None)}


def each_operation(element, folder):
    """One result for each operation; the casts make no difference, to infinities and NaN either."""
    lines, types, results = [], [], []
    for i, (op, text) in enumerate(OPERATIONS.items()):
        result, kind = RESULTS.get(op, ("T", None))
        lines.append(f"  %{i} = {text}\n")
        types.append(result)
        results.append((f"res{i}", kind or element))
    text = (f'func.func @main(%x: T {{ad.name = "x"}}, %y: T {{ad.name = "y"}}) -> ({", ".join(types)}) {{\n'
            f'{"".join(lines)}  return {", ".join(f"%{i}" for i in range(len(lines)))} : {", ".join(types)}\n}}\n')
    text = re.sub(r"\bT\b", f"tensor<8x24x{element}>", text).replace("xE>", f"x{element}>")
    rng = np.random.default_rng(3)
    arguments = [(name, element, elements.random(rng, element, (8, 24), special=0.1)) for name in "xy"]
    missing = ",".join(f"{op}:{element}" for op in OPERATIONS)
    targets = {name: [*options, "--missing-kernels", missing, "--numerics", "reproducible"]
               for name, options in TARGETS.items()}
    for label, name, expected, found in runner.match_reference(folder, text, arguments, results, targets):
        kind = dict(results)[name]
        if not np.all(elements.same_bits(kind, expected, found)):
            yield f"{label}: {list(OPERATIONS)[int(name[3:])]} differs from the reference"


CHAIN = """func.func @main(%a: tensor<64x48xf16> {ad.name = "a"}, %x: tensor<48x32xf16> {ad.name = "x"},
                %b: tensor<32xf16> {ad.name = "b"}) -> tensor<64x32xf16> {
  %0 = ad.dot %a, %x : (tensor<64x48xf16>, tensor<48x32xf16>) -> tensor<64x32xf16>
  %1 = ad.add %0, %b : tensor<64x32xf16>, tensor<32xf16>
  return %1 : tensor<64x32xf16>
}
"""


def chain(folder):
    """The product and the sum: rounded twice in strict, once with `widen`, as the f32 chain that NumPy rounds."""
    rng = np.random.default_rng(5)
    arrays = {"a": rng.normal(size=(64, 48)), "x": rng.normal(size=(48, 32)), "b": rng.normal(size=32)}
    given = []
    for name, array in arrays.items():
        arrays[name] = array.astype(np.float16)
        elements.save(folder / f"{name}.npy", "f16", arrays[name])
        given.append(f"--arg={name}={folder / name}.npy")
    result = [("res0", "f16")]
    lacking = ["--missing-kernels", "dot:f16,add:f16"]

    def run(*options):
        found = runner.run(CHAIN, given, result, [*options, f"--report={folder / 'report.json'}",
                                                  f"--dump-optimized={folder / 'dump.mlir'}"])["res0"]
        report = json.loads((folder / "report.json").read_text())
        return found, report["has_cast"], (folder / "dump.mlir").read_text()

    reference = runner.run(CHAIN, given, result, ["--target", "reference"])["res0"]
    for name, array in arrays.items():
        elements.save(folder / f"{name}32.npy", "f32", array.astype(np.float32))
    wide = [f"--arg={name}={folder / name}32.npy" for name in arrays]
    sums = runner.run(CHAIN.replace("xf16>", "xf32>"), wide, [("res0", "f32")], ["--target", "reference"])["res0"]
    once = sums.astype(np.float16)
    plain, plain_casts, _ = run()
    strict, strict_casts, _ = run(*lacking)
    widened, widened_casts, dump = run(*lacking, "--numerics", "strict,widen")
    if plain_casts or not strict_casts or not widened_casts:
        yield f"has_cast is {plain_casts}, {strict_casts} and {widened_casts}, expected False, True and True"
    if not np.array_equal(plain, reference) or not np.array_equal(strict, reference):
        yield "strict does not keep the roundings"
    if not np.array_equal(widened, once) or np.array_equal(widened, reference):
        yield "the product is rounded to f16 in spite of `widen`"
    if dump.count("xf32> -> tensor<64x32xf16>") != 1:
        yield f"expected one rounding to f16, of the sum:\n{dump}"
    again = runner.run(dump, given, result, [])["res0"]
    if not np.array_equal(again, widened):
        yield "the optimised program gives other bits"


def main():
    return checks.run_checks("precision_free_casts", [
        *((f"each operation of {element}", lambda folder, element=element: each_operation(element, folder))
          for element in elements.SMALL_FLOATS), ("chain", chain)])


if __name__ == "__main__":
    sys.exit(main())
