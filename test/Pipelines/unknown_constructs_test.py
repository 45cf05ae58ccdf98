#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Operations that nobody registered, types that no target has and names that the runtime uses, in each position of a
program: each pass, pipeline and target ends with the result or with a located error, and never with a signal.
"""

import itertools
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import checks
import runner

SECONDS = 60
MAPS = "indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = [\"parallel\"]"

# The line of the unknown operation in each position; %x is a tensor<4xf32>, %s an f32.
OPERATION = '"foo.bar"(%s) : (f32) -> f32'
WITH_REGION = '"foo.bar"(%s) ({\n  "foo.end"() : () -> ()\n}) : (f32) -> f32'


NAME = 'ad.name = "x"'


def main(body, before=""):
    return f"{before}func.func @main(%x: tensor<4xf32> {{{NAME}}}) -> tensor<4xf32> {{\n{body}\n}}\n"


def extracted(body):
    return "%c0 = arith.constant 0 : index\n%s = tensor.extract %x[%c0] : tensor<4xf32>\n" + body


def filled(name):
    return f"%y = ad.full {name} : f32 -> tensor<4xf32>\nreturn %y : tensor<4xf32>"


def positions(operation):
    """Programs with the operation."""
    made = f"%t = {operation}\n"
    yield "host", main(extracted(made + filled("%t")))
    yield "branch", main(
        extracted("%c = arith.cmpf olt, %s, %s : f32\n%b = scf.if %c -> (f32) {\n" + made +
                  "scf.yield %t : f32\n} else {\nscf.yield %s : f32\n}\n" + filled("%b")))
    yield "loop", main(
        extracted("%c4 = arith.constant 4 : index\n%c1 = arith.constant 1 : index\n"
                  "%l = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %s) -> (f32) {\n" + made +
                  "scf.yield %t : f32\n}\n" + filled("%l")))
    yield "fusion", main('%y = ad.fusion single (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {\n'
                         '%t = "foo.bar"(%a) : (tensor<4xf32>) -> tensor<4xf32>\nad.yield %t : tensor<4xf32>\n}\n'
                         'return %y : tensor<4xf32>')
    yield "kernel", main(
        "%y = ad.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>\nreturn %y : tensor<4xf32>",
        "ad.kernel private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = \"generic\"}"
        " {\n%e = tensor.empty() : tensor<4xf32>\n"
        f"%r = linalg.generic {{{MAPS}}} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {{\n^bb0(%s: f32, %o: f32):\n"
        + made + "linalg.yield %t : f32\n} -> tensor<4xf32>\nad.yield %r : tensor<4xf32>\n}\n")
    yield "derivative", main(
        "%l, %g = ad.value_and_grad @loss(%x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)\n"
        "return %g : tensor<4xf32>", "func.func private @loss(%x: tensor<4xf32>) -> tensor<f32> {\n" +
        extracted(made + "%y = ad.full %t : f32 -> tensor<f32>\nreturn %y : tensor<f32>") + "\n}\n")


ELEMENTS = ["vector<4xf32>", "complex<f32>", "i16", "i3", "i128", "ui8", "si32", "f80", "f128", "tf32",
            "f8E4M3", "f8E5M2FNUZ", "f4E2M1FN", "memref<2xf32>"]
TENSORS = [f"tensor<4x{element}>" for element in ELEMENTS] + ["tensor<*xf32>"]
OTHERS = ["vector<4xf32>", "complex<f32>", "memref<4xf32>", "tuple<f32, i32>", "none", "i128", "ui8", "f80", "f128",
          "tf32", "!llvm.ptr", "!ad.buffer", "() -> f32"]


def typed(type):
    yield "passed", f"func.func @main(%x: {type}) -> {type} {{\n  return %x : {type}\n}}\n"
    yield "chosen", f"""func.func @main(%c: tensor<i1>, %x: {type}, %y: {type}) -> {type} {{
  %b = tensor.extract %c[] : tensor<i1>
  %z = scf.if %b -> ({type}) {{
    scf.yield %x : {type}
  }} else {{
    scf.yield %y : {type}
  }}
  return %z : {type}
}}
"""
    yield "called", f"""func.func private @f(%x: {type}) -> {type} {{
  return %x : {type}
}}
func.func @main(%x: {type}) -> {type} {{
  %y = func.call @f(%x) : ({type}) -> {type}
  return %y : {type}
}}
"""
    yield "declared", f"func.func private @f({type}) -> {type}\n" + main("return %x : tensor<4xf32>")


SYMBOLS = {
    "llvm function": "llvm.func @NAME(f32)\n",
    "llvm global": "llvm.mlir.global internal @NAME(1 : i32) : i32\n",
    "declaration": "func.func private @NAME(tensor<f32>) -> tensor<f32>\n",
    "function": "func.func @NAME(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n",
}
NAMES = ["malloc", "memcpy", "fmodf", "adrt_arena", "adrt_require_allocated", "adrt_fail", "adrt_entry_main",
         "adsim_self", "ad_string_0", "ad_site_0", "ad_data_0", "kernel_single", "main_kernel"]


def programs():
    for name, operation in (("operation", OPERATION), ("operation with a region", WITH_REGION)):
        yield from ((f"{name}, {where}", text) for where, text in positions(operation))
    for type in TENSORS + OTHERS:
        yield from ((f"{type}, {how}", text) for how, text in typed(type))
    for (kind, symbol), name in itertools.product(SYMBOLS.items(), NAMES):
        yield f"{kind} {name}", symbol.replace("NAME", name) + main(
            "%c = ad.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>\n%y = ad.add %x, %c : tensor<4xf32>\n"
            "return %y : tensor<4xf32>")


OPT = ["--ad-to-cpu", "--ad-to-gpu", "--ad-to-linalg", "--ad-set-numerics", "--ad-autocast", "--ad-differentiate",
       "--ad-simplify", "--ad-decompose", "--ad-insert-shape-checks", "--ad-fuse", "--ad-select-kernels",
       "--convert-ad-to-linalg", "--ad-verify-linalg", "--ad-outline-kernels", "--ad-plan-memory",
       "--ad-verify-entry", "--ad-verify-program"]
RUN = ["reference", "cpu", "gpu-sim"]


def ends_well(command, path):
    """What is wrong with the end of a command, or None."""
    try:
        done = subprocess.run([*command, str(path)], capture_output=True, text=True, timeout=SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return f"does not end in {SECONDS} seconds"
    if done.returncode == 0:
        return None
    if done.returncode == 1 and "error:" in done.stderr and \
            ("program.mlir" in done.stderr or command[0].endswith("ad-runner")):
        return None
    return f"exit code {done.returncode}: {done.stderr[:300]}"


def commands(number):
    """Both pipelines, two of the passes and one of the targets, by the number of the program."""
    opt = [runner.binary("ad-opt"), "--allow-unregistered-dialect", "-o", "/dev/null"]
    single = [OPT[3 + (number * 2 + k) % (len(OPT) - 3)] for k in range(2)]
    yield from ([*opt, option] for option in [*OPT[:2], *single])
    target = RUN[number % len(RUN)]
    yield [runner.binary("ad-runner"), "--cache=off", "--allow-native", f"--target={target}", "--arg=x=zeros"]


def check(number, text):
    def run(folder):
        path = folder / "program.mlir"
        path.write_text(text)
        for command in commands(number):
            problem = ends_well(command, path)
            if problem:
                yield f"{pathlib.Path(command[0]).name} {' '.join(command[1:])}: {problem}\n{text}"

    return run


if __name__ == "__main__":
    sys.exit(checks.run_checks("unknown-constructs",
                               checks.sample([(name, check(i, text)) for i, (name, text) in enumerate(programs())], 2)))
