# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What LoopNestOpInterface and OrderedWriteOpInterface refuse, with the reason, and the errors of programs at run time,
which are the same on the reference interpreter, the CPU and the emulated GPU. Operations are those of ad-runner-nests.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner-nests"
TARGETS = ["reference", "cpu", "gpu-sim"]
D0 = "affine_map<(d0) -> (d0)>"
D01 = "affine_map<(d0, d1) -> (d0, d1)>"


def loops(operands, types, results, result_types, accesses, kinds="p", combine="product", more=""):
    listed = ", ".join(f"{{{access}}}" for access in accesses)
    return (f'"nest.loops"({operands}) {{loops = "{kinds}", combine = "{combine}", accesses = [{listed}], '
            f'results = [{results}]{more}}} : ({types}) -> {result_types}')


def write(operands, types, result, accesses, kinds="p", combine="add", more=""):
    listed = ", ".join(f"{{{access}}}" for access in accesses)
    return (f'"nest.write"({operands}) {{loops = "{kinds}", combine = "{combine}", accesses = [{listed}]{more}}} '
            f': ({types}) -> {result}')


# (operation on %x: tensor<4xf32>, %y: tensor<4x3xf32>, %i: tensor<4xi32>, the type of its result, words of the error)
REFUSED = [
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>", []), "tensor<4xf32>",
     "expected an access for each of 1 tensors, but got 0"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>", [f"map = {D01}"]), "tensor<4xf32>",
     "expected an access from 1 loops and 0 indices to 1 axes of operand 0"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>", ["indices = array<i32: 0>"]), "tensor<4xf32>",
     "expected an access from 1 loops and 1 indices to 1 axes of operand 0"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>", ["map = affine_map<(d0) -> (d0 floordiv -2)>"]), "tensor<4xf32>",
     "expected sums, multiples, and quotients and remainders by positive constants in the access of operand 0"),
    (loops("%x, %i", "tensor<4xf32>, tensor<4xi32>", D0, "tensor<4xf32>",
           ["map = affine_map<(d0)[s0] -> (d0 * s0)>, indices = array<i32: 1>", f"map = {D0}"]), "tensor<4xf32>",
     "expected sums, multiples, and quotients and remainders by positive constants in the access of operand 0"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>",
           ["map = affine_map<(d0)[s0] -> (s0)>, indices = array<i32: 1>"]), "tensor<4xf32>",
     "expected an operand that holds an index of operand 0, but there is no operand 1"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>",
           ["map = affine_map<(d0)[s0] -> (s0)>, indices = array<i32: 0>"]), "tensor<4xf32>",
     "expected integers as indices of operand 0, but operand 0 is 'tensor<4xf32>'"),
    (loops("%x, %i", "tensor<4xf32>, tensor<4xi32>", D0, "tensor<4xf32>",
           ["map = affine_map<(d0)[s0] -> (s0)>, indices = array<i32: 1>",
            "map = affine_map<(d0)[s0] -> (s0)>, indices = array<i32: 1>"]), "tensor<4xf32>",
     "but operand 1 is read at indices that another operand holds"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>", [f'map = {D0}, outside = "value"']), "tensor<4xf32>",
     "expected a value of type 'f32' outside of operand 0 if its access has the mode `value`, and none else"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>", [f'map = {D0}, outside = "value", padding = 1 : i32']),
     "tensor<4xf32>", "expected a value of type 'f32' outside of operand 0"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<4xf32>", [f'map = {D0}, outside = "drop"']), "tensor<4xf32>",
     "expected reads outside of a tensor to be an error, the nearest element or a value"),
    (loops("%x", "tensor<4xf32>", "affine_map<(d0) -> (0)>", "tensor<4xf32>", [f"map = {D0}"]), "tensor<4xf32>",
     "expected each parallel loop as one index of result 0, a ranked tensor, and no other index"),
    (loops("%y", "tensor<4x3xf32>", "affine_map<(d0, d1) -> (d0)>", "tensor<4xf32>", [f"map = {D01}"], kinds="pp"),
     "tensor<4xf32>", "expected each parallel loop as one index of result 0"),
    (loops("%y", "tensor<4x3xf32>", "affine_map<(d0, d1) -> (d1)>", "tensor<3xf32>", [f"map = {D01}"], kinds="pr",
           combine="sum"), "tensor<3xf32>", "expected each parallel loop as one index of result 0"),
    (loops("%x", "tensor<4xf32>", "", "()", [f"map = {D0}"]), None, "expected a map for each of its results, at least one"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<7xf32>", [f"map = {D0}"]), "tensor<7xf32>",
     "expected one size of loop d0, but axis 0 of an operand has 4 elements and not 7"),
    (loops("%x", "tensor<4xf32>", "affine_map<(d0, d1) -> (d0)>", "tensor<4xf32>",
           ["map = affine_map<(d0, d1) -> (d0)>"], kinds="pr", combine="sum"), "tensor<4xf32>",
     "has a loop d1 whose size nothing gives; its getLoopSizes must say it"),
    (write("%x, %x", "tensor<4xf32>, tensor<4xf32>", "tensor<4xf32>", [f'map = {D0}, outside = "value", padding = 1.0 : f32',
                                                                       f"map = {D0}"]), "tensor<4xf32>",
     "expected writes outside of the destination to be an error, to be dropped, or to go to the nearest element"),
    (write("%x, %x", "tensor<4xf32>, tensor<4xf32>", "tensor<4xf32>", [f"map = {D0}", f'map = {D0}, outside = "drop"']),
     "tensor<4xf32>", "expected reads outside of a tensor to be an error, the nearest element or a value"),
    (write("%i, %x", "tensor<4xi32>, tensor<4xf32>", "tensor<4xi32>",
           ["map = affine_map<(d0)[s0] -> (s0)>, indices = array<i32: 0>", f"map = {D0}"]), "tensor<4xi32>",
     "expected indices that another operand than the destination holds"),
    (write("%x, %x", "tensor<4xf32>, tensor<4xf32>", "tensor<3xf32>", [f"map = {D0}", f"map = {D0}"]), "tensor<3xf32>",
     "expected one result, of the type of its destination, a ranked tensor"),
    (write("%x, %x", "tensor<4xf32>, tensor<4xf32>", "tensor<4xf32>", ["map = affine_map<(d0, d1) -> (d0)>",
                                                                       "map = affine_map<(d0, d1) -> (d0)>"], kinds="pp"),
     "tensor<4xf32>", "has a loop d1 whose size nothing gives; its getLoopSizes must say it"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<2000000xf32>", [f'map = {D0}, outside = "clamp"'],
           more=", sizes = array<i64: 4>"), "tensor<2000000xf32>",
     "expected 2000000 iterations of loop d0, the size of axis 0 of result 0, but got 4"),
    (loops("%y", "tensor<4x3xf32>", "affine_map<(d0, d1) -> (d0)>", "tensor<4xf32>",
           [f'map = {D01}, outside = "clamp"'], kinds="pr", combine="sum", more=", sizes = array<i64: 4>"),
     "tensor<4xf32>", "expected a size for each of 2 loops, but its getLoopSizes says 1"),
    (loops("%x", "tensor<4xf32>", D0, "tensor<?xf32>", [f'map = {D0}, outside = "clamp"'],
           more=", sizes = array<i64: -9223372036854775808>"), "tensor<?xf32>",
     "expected sizes of loops from 0 on, but d0 has -9223372036854775808"),
    (loops("%y", "tensor<4x3xf32>", "affine_map<(d0, d1) -> (d0)>", "tensor<4xf32>", [f"map = {D01}"], kinds="pr",
           combine="linear", more=", order = #ad.order<block = 512>"), "tensor<4xf32>",
     "has an order, but not one accumulator: several are combined in one chain"),
    (loops("%x, %i", "tensor<4xf32>, tensor<4xi32>", D0, "tensor<4xf32>", [f"map = {D0}"] * 2), "tensor<4xf32>",
     "'arith.mulf' op operand #1 must be floating-point-like, but got 'i32'"),
    ('"nest.kernel"(%x) {depth = -1} : (tensor<4xf32>) -> tensor<4xf32>', "tensor<4xf32>",
     "is decomposed into itself, or into more named kernels than 100 in each other or 100000 in all"),
    ('"nest.kernel"(%x) {depth = -2} : (tensor<4xf32>) -> tensor<4xf32>', "tensor<4xf32>",
     "is decomposed into itself, or into more named kernels than 100 in each other or 100000 in all"),
]

# The same on %e: tensor<?xf32> without elements and %z: tensor<?xf32> of three.
AT_RUN_TIME = [
    (loops("%x, %z", "tensor<4xf32>, tensor<?xf32>", D0, "tensor<4xf32>", [f"map = {D0}"] * 2), "tensor<4xf32>",
     "'nest.loops' op dimension 0 must have size 4, but has 3"),
    (loops("%e", "tensor<?xf32>", D0, "tensor<4xf32>", [f'map = {D0}, outside = "clamp"'],
           more=", sizes = array<i64: 4>"), "tensor<4xf32>",
     "'nest.loops' op dimension 0: index 0 is outside of size 0"),
    (loops("%z", "tensor<?xf32>", D0, "tensor<4xf32>", ["map = affine_map<(d0) -> (d0 * 2)>"]), "tensor<4xf32>",
     "'nest.loops' op dimension 0: index 4 is outside of size 3"),
]


def run(operation, result, target):
    returned = f"%r = {operation}\n  return %r : {result}" if result else f"{operation}\n  return %x : tensor<4xf32>"
    program = f"""func.func @main() -> {result or "tensor<4xf32>"} {{
  %x = ad.iota axis 0 : tensor<4xf32>
  %y = ad.iota axis 1 : tensor<4x3xf32>
  %i = ad.iota axis 0 : tensor<4xi32>
  %none = arith.constant 0 : index
  %three = arith.constant 3 : index
  %zero = ad.constant dense<0.0> : tensor<f32>
  %e = ad.broadcast %zero(%none) : tensor<f32> -> tensor<?xf32>
  %z = ad.broadcast %zero(%three) : tensor<f32> -> tensor<?xf32>
  {returned}
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(program)
        done = subprocess.run([TOOL, path, "--cache=off", f"--target={target}", "--print"], capture_output=True, text=True,
                              check=False, timeout=100)
    return done.returncode, done.stdout + done.stderr


def complaints():
    for operation, result, words in REFUSED + AT_RUN_TIME:
        for target in TARGETS:
            code, text = run(operation, result, target)
            if code not in (1, 2) or words not in text or "Stack dump" in text:
                yield f"{target}: {operation}: expected '{words}', but got exit code {code} and {text[:600]}"
                break


TRACED = f"""func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %r = {loops("%x", "tensor<?xf32>", D0, "tensor<?xf32>", [f"map = {D0}"])}
  return %r : tensor<?xf32>
}}
"""


def traces():
    """A nest of dynamic size is traced on every target: the code of its sizes is no part of the program."""
    for target in TARGETS:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "program.mlir"
            path.write_text(TRACED)
            done = subprocess.run([TOOL, path, "--cache=off", f"--target={target}", "--arg=arg0=zeros", "--dim=arg0.0=3",
                                   f"--trace={folder}/trace"], capture_output=True, text=True, check=False, timeout=100)
            if done.returncode or not (pathlib.Path(folder) / "trace" / "records.tsv").exists():
                yield f"trace on {target}: exit code {done.returncode}: {done.stderr[:400]}"


def main():
    found = [*complaints(), *traces()]
    print("\n".join(found))
    print(f"nest_errors: {len(REFUSED) + len(AT_RUN_TIME) + len(TARGETS)} run, {len(found)} failed")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
