# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Runs programs of --ad-to-plain-linalg by tools of upstream alone, mlir-opt and mlir-runner, and compares their results
with what the reference interpreter gave."""

import os
import pathlib
import re
import subprocess

import elements
import numpy as np
import runner

LLVM = pathlib.Path(os.environ.get("LLVM_DIR", "/usr/lib/llvm-22"))
LIBRARIES = ",".join(str(LLVM / "lib" / f"lib{name}.so") for name in ("mlir_runner_utils", "mlir_c_runner_utils"))
# Buffers are never freed: the process ends with the program.
LOWERING = ["--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map "
            "allow-return-allocs-from-loops",
            "--convert-linalg-to-loops", "--expand-strided-metadata", "--lower-affine", "--convert-scf-to-cf",
            "--finalize-memref-to-llvm", "--convert-math-to-llvm", "--convert-arith-to-llvm", "--convert-index-to-llvm",
            "--convert-func-to-llvm", "--convert-cf-to-llvm", "--reconcile-unrealized-casts"]
TENSOR = re.compile(r"tensor<((?:[\d?]+x)*)(\w+)>")
SIGNATURE = re.compile(r"func\.func @(\S+?)\((.*?)\)(?: -> \(?(.*?)\)?)? \{$", re.MULTILINE)
# The largest bits of a number without its sign; those of NaNs are above.
INFINITY = {"f64": 0x7FF0000000000000, "f32": 0x7F800000, "f16": 0x7C00, "bf16": 0x7F80, "f8E4M3FN": 0x7E, "f8E5M2": 0x7C}


class Failure(RuntimeError):
    """A tool of upstream did not accept the program, or the program did not end."""


def command(*words, text=None, timeout=600):
    done = subprocess.run([str(word) for word in words], input=text, capture_output=True, text=True, timeout=timeout)
    if done.returncode:
        raise Failure(f"{' '.join(str(word) for word in words[:3])} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[:1000]}")
    return done.stdout


def convert(path, numerics="reproducible"):
    """The program in dialects of upstream."""
    return command(runner.binary("ad-opt"), path, f"--ad-to-plain-linalg=numerics={numerics}")


def constant(element, array):
    """The text of a dense attribute with these elements; no booleans."""
    array = np.asarray(array, order="C")
    kind = elements.tensor(element, array.shape)
    if array.size == 0:
        return f"dense<> : {kind}"
    return f'dense<"0x{array.tobytes().hex().upper()}"> : {kind}'


class Driver:
    """Text of a function that calls a program on constants and counts the elements that differ."""

    def __init__(self):
        self.lines, self.names = [], 0

    def add(self, text):
        self.names += 1
        self.lines.append(f"  %d{self.names} = {text}")
        return f"%d{self.names}"

    def constant(self, element, array):
        """A tensor of its static shape."""
        array = np.asarray(array)
        kind = elements.tensor(element, array.shape)
        if element != "i1" or array.size == 0:
            return self.add(f"arith.constant {constant(element, array)}")
        # dense has no text of booleans of several axes but nested lists: bytes instead
        stored = self.constant("i8", array.astype(np.int8))
        return self.pointwise([(stored, elements.tensor("i8", array.shape), "i8")], kind, "i1", len(array.shape),
                              "%b = arith.trunci %in0 : i8 to i1")

    def pointwise(self, inputs, kind, element, rank, body):
        dims = ", ".join(f"d{i}" for i in range(rank))
        maps = ", ".join([f"affine_map<({dims}) -> ({dims})>"] * (len(inputs) + 1))
        loops = ", ".join(['"parallel"'] * rank)
        out = self.add(f"tensor.empty() : {kind}")
        names, kinds = ", ".join(i[0] for i in inputs), ", ".join(i[1] for i in inputs)
        block = ", ".join([*(f"%in{n}: {i[2]}" for n, i in enumerate(inputs)), f"%out: {element}"])
        return self.add(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}} ins({names} : {kinds}) "
                        f"outs({out} : {kind}) {{\n  ^bb0({block}):\n    {body}\n    linalg.yield %b : {element}\n  }} "
                        f"-> {kind}")

    def cast(self, value, source, target):
        return value if source == target else self.add(f"tensor.cast {value} : {source} to {target}")

    def count_differences(self, element, found, kind, expected):
        """An i64: how many elements have other bits, where NaNs are equal. A shape that differs counts once."""
        shape = expected.shape
        static = elements.tensor(element, shape)
        for axis, size in enumerate(TENSOR.fullmatch(kind)[1].split("x")[:-1]):
            if size == "?":
                position = self.add(f"arith.constant {axis} : index")
                actual = self.add(f"tensor.dim {found}, {position} : {kind}")
                wanted = self.add(f"arith.constant {shape[axis]} : index")
                same = self.add(f"arith.cmpi eq, {actual}, {wanted} : index")
                self.lines.append(f'  cf.assert {same}, "result: dimension {axis} has another size"')
        found = self.cast(found, kind, static)
        width = elements.WIDTHS[element]
        bits = f"i{width}"
        stored = elements.tensor(bits, shape)
        if elements.is_float(element):
            array = np.ascontiguousarray(expected).reshape(-1).view(f"u{width // 8}").reshape(shape)
            wanted = self.constant(bits, array)
        else:
            wanted = self.constant(element, expected)
        return self.sum_differences(element, found, static, wanted, stored, len(shape))

    def sum_differences(self, element, found, kind, wanted, stored, rank):
        bits = f"i{elements.WIDTHS[element]}"
        dims = ", ".join(f"d{i}" for i in range(rank))
        loops = ", ".join(['"reduction"'] * rank)
        maps = f"affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ({dims})>, affine_map<({dims}) -> ()>"
        if elements.is_float(element):
            limit, mask = INFINITY[element], (1 << (elements.WIDTHS[element] - 1)) - 1
            body = f"""%x = arith.bitcast %a : {element} to {bits}
    %mask = arith.constant {mask} : {bits}
    %limit = arith.constant {limit} : {bits}
    %xm = arith.andi %x, %mask : {bits}
    %em = arith.andi %e, %mask : {bits}
    %xn = arith.cmpi ugt, %xm, %limit : {bits}
    %en = arith.cmpi ugt, %em, %limit : {bits}
    %nans = arith.andi %xn, %en : i1
    %other = arith.cmpi ne, %x, %e : {bits}
    %true = arith.constant true
    %numbers = arith.xori %nans, %true : i1
    %wrong = arith.andi %other, %numbers : i1"""
        else:
            body = f"%wrong = arith.cmpi ne, %a, %e : {element}"
        zero = self.add("arith.constant dense<0> : tensor<i64>")
        total = self.add(f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{loops}]}}
    ins({found}, {wanted} : {kind}, {stored}) outs({zero} : tensor<i64>) {{
  ^bb0(%a: {element}, %e: {bits}, %sum: i64):
    {body}
    %one = arith.extui %wrong : i1 to i64
    %next = arith.addi %sum, %one : i64
    linalg.yield %next : i64
  }} -> tensor<i64>""")
        return self.add(f"tensor.extract {total}[] : tensor<i64>")

    def text(self, entry, signature, arguments, results):
        """`arguments` and `results` are [(element, array)]."""
        wanted = re.findall(r"tensor<[^>]*>", signature[1])
        given = re.findall(r"tensor<[^>]*>", signature[2] or "")
        values = [self.cast(self.constant(element, array), elements.tensor(element, np.shape(array)), kind)
                  for (element, array), kind in zip(arguments, wanted, strict=True)]
        call = f"func.call @{entry}({', '.join(values)}) : ({', '.join(wanted)}) -> ({', '.join(given)})"
        if given:
            self.names += 1
            found = f"%d{self.names}"
            self.lines.append(f"  {found}:{len(given)} = {call}")
        else:
            self.lines.append(f"  {call}")
        count = self.add("arith.constant 0 : i64")
        for number, ((element, array), kind) in enumerate(zip(results, given, strict=True)):
            count = self.add(f"arith.addi {count}, "
                             f"{self.count_differences(element, f'{found}#{number}', kind, np.asarray(array))} : i64")
        body = "\n".join(self.lines)
        return f"func.func @compare_with_expected() -> i64 {{\n{body}\n  return {count} : i64\n}}\n"


def differences(text, entry, arguments, results):
    """How many elements of the results of the program, which is plain text, differ from those expected."""
    signature = next(match for match in SIGNATURE.finditer(text) if match[1] == entry)
    driver = Driver().text(entry, (None, signature[2], signature[3]), arguments, results)
    whole = text.rstrip().removesuffix("}") + driver + "}\n"
    lowered = command(LLVM / "bin" / "mlir-opt", *LOWERING, text=whole)
    # The message of an assertion would be lost with the buffer of a process that aborts.
    printed = command("stdbuf", "-o0", LLVM / "bin" / "mlir-runner", "-e", "compare_with_expected", "--entry-point-result=i64",
                      f"--shared-libs={LIBRARIES}", text=lowered)
    return int(printed.split()[-1])
