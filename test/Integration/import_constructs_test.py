#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs of upstream's dialects, one for each construct, in Inputs/constructs: X.mlir and, for its derivative by its
first argument, X.grad.mlir. The reference interpreter, the CPU and the emulated GPU give the same bits, which are the
values of NumPy; derivatives are those of central differences of NumPy's function. What is refused has a message that
says what to do."""

import math
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

FOLDER = Path(__file__).resolve().parent / "Inputs" / "constructs"
TARGETS = {target: [f"--target={target}", "--numerics=reproducible"] for target in ("reference", "cpu", "gpu-sim")}
STEP = 1e-5
erf = np.vectorize(math.erf)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def conv(x, w, y):
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return y + np.einsum("nchwij,fcij->nfhw", windows, w)


def linear_gelu(x, w, b):
    y = x @ w.T + b
    return y * 0.5 * (1 + erf(y / np.float32(1.41421354)))


def inserted(x, y):
    made = np.array(x)
    made[1:3, 2:6] = y
    return made


def power(x, count):
    for _ in range(count):
        x = np.tanh(x)
    return x


def squares(x):
    for _ in range(5):
        x = x * x
    return x


def bfloat(x):
    return elements.decode("bf16", elements.encode("bf16", x))


M, N = (4, 8), (4,)
TRUE, IDS, COLUMN = np.array(True), np.array([7, 0, 7]), np.array([[7], [0], [7]])
SAME = lambda x, *_: x  # noqa: E731
# The shapes of arguments, or their values, and the function.
RUN = {
    "arith_cmpf_select_on_tensors": ([M, M], np.maximum),
    "arith_constant_dense_splat_ad_mul": ([M], lambda x: 2 * x),
    "arith_on_tensors": ([M, M], lambda x, y: x * y + x),
    "arith_truncf_extf_on_tensors": ([M], bfloat),
    "cf_cond_br": ([N, TRUE], lambda x, c: np.tanh(x)),
    "func_call": ([N], np.tanh),
    "func_call_indirect": ([N], np.tanh),
    "generic_conv_map_d0_d1": ([(10,), (3,), (8,)],
                               lambda x, w, y: y + np.lib.stride_tricks.sliding_window_view(x, 3) @ w),
    "generic_elementwise": ([M, M], lambda x, y: np.tanh(x * y)),
    "generic_elementwise_outs_arg": ([M, M], lambda x, y: x * y),
    "generic_gather_tensor_extract": ([(10, 4), IDS], lambda x, i: x[i]),
    "generic_linalg_index": ([M], lambda x: x * np.arange(8)),
    "generic_reduction_init_arg": ([M, N], lambda x, y: y + x.sum(1)),
    "generic_several_results": ([M], lambda x: x * x),
    "linalg_conv_2d_nchw_fchw": ([(1, 2, 6, 6), (3, 2, 3, 3), (1, 3, 4, 4)], conv),
    "linalg_matmul_empty_fill": ([M, (8, 5)], lambda x, w: x @ w),
    "linalg_matmul_outs_arg": ([M, (8, 5), (4, 5)], lambda x, w, y: y + x @ w),
    "linalg_named_add_exp_transpose_broadcast_reduce_softmax": ([M, M], lambda x, y: np.exp(x + y)),
    "linalg_pack": ([M], lambda x: np.pad(x, [(0, 0), (0, 1)]).reshape(2, 2, 3, 3).swapaxes(1, 2)),
    "linalg_softmax": ([M], softmax),
    "linalg_transpose": ([M], lambda x: x.T),
    "linalg_unpack": ([(2, 3, 2, 3)], lambda x: x.swapaxes(1, 2).reshape(4, 9)[:, :8]),
    "math_on_tensors": ([M], np.tanh),
    "scf_for_ad_body_dynamic_bound": ([N, (3,)], lambda x, n: power(x, 3)),
    "scf_for_ad_body_static": ([N], lambda x: power(x, 5)),
    "scf_for_with_linalg_arith_body": ([N], squares),
    "scf_forall": ([N], SAME),
    "scf_if_i1_arg": ([N, TRUE], lambda x, c: np.tanh(x)),
    "scf_index_switch": ([N], np.tanh),
    "scf_while_ad_body": ([N], lambda x: power(x, 5)),
    "shape_cf_assert": ([N], lambda x: x * x),
    "tensor_cast": ([M], lambda x: x * x),
    "tensor_collapse_shape": ([M], lambda x: x.reshape(32)),
    "tensor_concat": ([M, M], lambda x, y: np.concatenate([x, y])),
    "tensor_expand_shape": ([(32,)], lambda x: x.reshape(4, 8)),
    "tensor_extract_from_elements": ([N], lambda x: np.stack([x[0], x[0]])),
    "tensor_extract_slice": ([M], lambda x: x[1:3, 2:6]),
    "tensor_gather": ([(10, 4), COLUMN], lambda x, i: x[i]),
    "tensor_generate": ([N], SAME),
    "tensor_insert_slice": ([M, (2, 4)], inserted),
    "tensor_pad": ([M], lambda x: np.pad(x, [(1, 1), (0, 0)])),
    "tensor_splat_dim_scalar_arg": ([N], lambda x: x * x[0]),
    "torch_mlir_linear_gelu_layernorm": ([(2, 8), M, N], linear_gelu),
}
LOWER_TOSA = "dialect 'tosa' is not supported, but got 'tosa.tanh'; lower the program with mlir-opt --pass-pipeline="
LOWER_STABLEHLO = "the dialect of this operation is not supported; programs are written in ad, arith, check, func, linalg"
GLOBAL = "dialect 'ml_program' is not supported, but got 'ml_program.global_load_const'; write the value of a global as"
# What the message says, on every target.
REFUSED = {
    "func_call_external_decl": "expected 'g' to have a body",
    "func_call_external_decl.grad": "expected a call of a function with a body",
    "memref_args": "dialect 'memref' is not supported, but got 'memref.cast'; write tensors",
    "ml_program_global": GLOBAL,
    "ml_program_global.grad": GLOBAL,
    "scalar_f32_args": "expected ranked tensors of numbers, a scalar as one of rank 0",
    "scf_while_ad_body.grad": "the reverse of scf.while needs a bound on the number of iterations; use scf.for",
    "stablehlo_generic": LOWER_STABLEHLO,
    "stablehlo_generic.grad": LOWER_STABLEHLO,
    "tosa_tanh_add": LOWER_TOSA,
    "tosa_tanh_add.grad": LOWER_TOSA,
}


def draw(name):
    """[(element, array)]"""
    rng = np.random.default_rng(len(name))
    arguments = []
    for given in RUN[name.removesuffix(".grad")][0]:
        if isinstance(given, np.ndarray):
            arguments.append(("i1" if given.dtype == bool else "i64", given))
        else:
            arguments.append(("f32", rng.normal(size=given).astype(np.float32)))
    return arguments


def execute(folder, name, target, arguments, results):
    options = []
    for number, (element, array) in enumerate(arguments):
        elements.save(folder / f"a{number}.npy", element, array)
        options.append(f"--arg=a{number}={folder}/a{number}.npy")
    return runner.run((FOLDER / f"{name}.mlir").read_text(), options, [(result, "f32") for result in results],
                      TARGETS[target])


def slope(function, arrays):
    """The derivative of the sum of the results by the first argument."""
    x = arrays[0].astype(np.float64)
    found = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[at] = STEP
        above, below = (function(x + sign * step, *arrays[1:]).sum() for sign in (1, -1))
        found[at] = (above - below) / (2 * STEP)
    return found


def compare(found, expected, tolerance):
    """What is wrong with the results of the targets, {target: array}."""
    for target, array in found.items():
        if array.shape != expected.shape or not np.allclose(array, expected, rtol=tolerance, atol=tolerance):
            yield f"{target} gave {array}, expected {expected}"
        if not elements.same_bits("f32", array, found["reference"]).all():
            yield f"{target} has other bits than the reference interpreter"


def check_value(name, folder):
    arguments, function = draw(name), RUN[name][1]
    found = {target: execute(folder, name, target, arguments, ["res0"])["res0"] for target in TARGETS}
    expected = function(*[array.astype(np.float64) if element == "f32" else array for element, array in arguments])
    yield from compare(found, np.asarray(expected), 1e-5)


def check_gradient(name, folder):
    arguments, function = draw(name), RUN[name.removesuffix(".grad")][1]
    found = {target: execute(folder, name, target, arguments, ["res1"])["res1"] for target in TARGETS}
    arrays = [array for _, array in arguments]
    # A cast has the slope of the number that it rounds.
    smooth = SAME if function is bfloat else function
    yield from compare(found, slope(smooth, arrays), 2e-3)


def check_refusal(name, folder):
    base = name.removesuffix(".grad")
    arguments = draw(base) if base in RUN else [("f32", np.zeros(4, np.float32))]
    for target in TARGETS:
        try:
            execute(folder, name, target, arguments, [])
        except runner.Failure as failure:
            if failure.code != 1 or REFUSED[name] not in failure.text or ".mlir:" not in failure.text:
                yield f"{target}: expected a located {REFUSED[name]!r}, got {failure}"
        else:
            yield f"{target}: expected a refusal"


MATMUL = """func.func @main(%a0: tensor<?x?xf32> {ad.name = "a0"}, %a1: tensor<?x?xf32> {ad.name = "a1"}) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a0, %a1 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%a0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
"""


def check_run_time_errors(folder):
    """They name the operation that was written, and what an assertion says."""
    assertion = (FOLDER / "shape_cf_assert.mlir").read_text()
    for text, sizes, code, message in ((assertion, [(3,)], 3, "'cf.assert \"size\"' op failed"),
                                       (MATMUL, [(2, 2), (3, 2)], 1, "'linalg.matmul' op dimension 0 must have size 2")):
        options = []
        for number, shape in enumerate(sizes):
            elements.save(folder / f"a{number}.npy", "f32", np.ones(shape, np.float32))
            options.append(f"--arg=a{number}={folder}/a{number}.npy")
        for target in TARGETS:
            try:
                runner.run(text, options, [], TARGETS[target])
            except runner.Failure as failure:
                if failure.code != code or message not in failure.text:
                    yield f"{target}: expected {message!r} and exit code {code}, got {failure}"
            else:
                yield f"{target}: expected {message!r}"


# Several terms of one element, and powers whose exponents the type of the base does not hold; the values are exact.
CORNERS = """#m = affine_map<(d0) -> (d0)>
#r = affine_map<(d0) -> ()>
func.func @main() -> (tensor<f16> {ad.name = "sum"}, tensor<f16> {ad.name = "difference"}, tensor<f32> {ad.name = "large"},
                      tensor<bf16> {ad.name = "squares"}, tensor<2xbf16> {ad.name = "bf16"}, tensor<2xf32> {ad.name = "f32"},
                      tensor<2xf64> {ad.name = "f64"}) {
  %x = arith.constant dense<[2048.0, 1.0, 0.0]> : tensor<3xf16>
  %y = arith.constant dense<[-1024.0, -1024.0, 0.0]> : tensor<3xf16>
  %p = arith.constant dense<40000.0> : tensor<3xf16>
  %q = arith.constant dense<3.0e38> : tensor<3xf32>
  %s = arith.constant dense<[3.0, 16.0, 0.0]> : tensor<3xbf16>
  %i = arith.constant dense<0.0> : tensor<f16>
  %j = arith.constant dense<0.0> : tensor<f32>
  %k = arith.constant dense<0.0> : tensor<bf16>
  %0 = linalg.generic {indexing_maps = [#m, #m, #r], iterator_types = ["reduction"]} ins(%x, %y : tensor<3xf16>, tensor<3xf16>)
      outs(%i : tensor<f16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %t = arith.addf %c, %a : f16
    %u = arith.addf %t, %b : f16
    linalg.yield %u : f16
  } -> tensor<f16>
  %1 = linalg.generic {indexing_maps = [#m, #m, #r], iterator_types = ["reduction"]} ins(%p, %p : tensor<3xf16>, tensor<3xf16>)
      outs(%i : tensor<f16>) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %t = arith.addf %c, %a : f16
    %u = arith.subf %t, %b : f16
    linalg.yield %u : f16
  } -> tensor<f16>
  %2 = linalg.generic {indexing_maps = [#m, #m, #r], iterator_types = ["reduction"]} ins(%q, %q : tensor<3xf32>, tensor<3xf32>)
      outs(%j : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %t = arith.addf %c, %a : f32
    %u = arith.subf %t, %b : f32
    linalg.yield %u : f32
  } -> tensor<f32>
  // 3 * 3 + 16 * 16 - 16 - 3: a product and a term beside it are rounded once.
  %3 = linalg.generic {indexing_maps = [#m, #m, #r], iterator_types = ["reduction"]} ins(%s, %s : tensor<3xbf16>, tensor<3xbf16>)
      outs(%k : tensor<bf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %t = arith.mulf %a, %b : bf16
    %u = arith.addf %c, %t : bf16
    %v = arith.subf %u, %a : bf16
    linalg.yield %v : bf16
  } -> tensor<bf16>
  %bases = arith.constant dense<-1.0> : tensor<2xbf16>
  %exponents = arith.constant dense<[257, 3]> : tensor<2xi32>
  %4 = math.fpowi %bases, %exponents : tensor<2xbf16>, tensor<2xi32>
  %wide = arith.constant dense<-1.0> : tensor<2xf32>
  %larger = arith.constant dense<[16777217, -3]> : tensor<2xi32>
  %5 = math.fpowi %wide, %larger : tensor<2xf32>, tensor<2xi32>
  %widest = arith.constant dense<-1.0> : tensor<2xf64>
  %largest = arith.constant dense<[9007199254740993, 9007199254740994]> : tensor<2xi64>
  %6 = math.fpowi %widest, %largest : tensor<2xf64>, tensor<2xi64>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<f16>, tensor<f16>, tensor<f32>, tensor<bf16>, tensor<2xbf16>, tensor<2xf32>, tensor<2xf64>
}
"""
CORNER_VALUES = {"sum": ("f16", 1), "difference": ("f16", 0), "large": ("f32", 0), "squares": ("bf16", 246),
                 "bf16": ("bf16", [-1, -1]), "f32": ("f32", [-1, -1]), "f64": ("f64", [-1, 1])}


def check_corners(folder):
    for label, target in TARGETS.items():
        found = runner.run(CORNERS, [], [(name, element) for name, (element, _) in CORNER_VALUES.items()], target, folder=folder)
        for name, (element, expected) in CORNER_VALUES.items():
            got = elements.decode(element, found[name])
            if not np.array_equal(got, np.asarray(expected)):
                yield f"{label}: {name} is {got}, expected {expected}"


def all_checks():
    names = {path.name.removesuffix(".mlir") for path in FOLDER.glob("*.mlir")}
    for name in sorted(names):
        base = name.removesuffix(".grad")
        check = check_refusal if name in REFUSED else check_gradient if name != base else check_value
        yield name, lambda folder, check=check, name=name: list(check(name, folder))
    yield "run-time errors", lambda folder: list(check_run_time_errors(folder))
    yield "several terms, large exponents", lambda folder: list(check_corners(folder))
    listed = set(RUN) | {f"{name}.grad" for name in RUN} | set(REFUSED)
    yield "every program is listed", lambda _: [f"{name} has no file or no line" for name in listed ^ names]


if __name__ == "__main__":
    sys.exit(checks.run_checks("import_constructs", list(all_checks())))
