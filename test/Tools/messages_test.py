#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Common mistakes: each message has the location of the fault, says what was expected and found, and what to write
instead.

Programs are the body of a function of `%x: tensor<4x3xf32>`.
"""

import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import checks

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin"))
HEAD = 'func.func @main(%x: tensor<4x3xf32> {ad.name = "x"}) -> tensor<4x3xf32> {\n'
TAIL = "  return %y : tensor<4x3xf32>\n}\n"
T = "tensor<4x3xf32>"

# The line of the body, the column of the message, and what it says.
LINES = {
    "another framework's product": (f"%y = ad.matmul %x, %x : {T}", 8,
                                    "'ad.matmul' is unknown; did you mean 'ad.dot'?"),
    "another framework's layer": (f"%y = ad.linear %x, %x : {T}", 8, "'ad.linear' is unknown; did you mean 'ad.gemm'?"),
    "another framework's sum": (f"%y = ad.sum %x : {T}", 8, "'ad.sum' is unknown; did you mean 'ad.reduce_sum'?"),
    "a gradient": (f"%y = ad.grad @main(%x) : {T}", 8, "'ad.grad' is unknown; did you mean 'ad.value_and_grad'?"),
    "a letter too many": (f"%y = ad.expp %x : {T}", 8, "'ad.expp' is unknown; did you mean 'ad.exp'?"),
    "letters exchanged": (f"%y = ad.trasnpose %x : {T}", 8, "did you mean 'ad.transpose'?"),
    "a word left out": (f"%y = ad.softmx %x axis 1 : {T}", 8, "did you mean 'ad.softmax'?"),
    "no prefix": (f"%y = exp %x : {T}", 8, "; did you mean 'ad.exp'?"),
    "no such operation": (f"%y = ad.convolution2d %x : {T}", 8, "; docs/reference lists the operations of the dialect"),
    "no type": ("%y = ad.exp %x", 17, "expected ':' and a type, for example ': tensor<4xf32>'"),
    "another type": ("%y = ad.exp %x : tensor<4x3xf64>", 15,
                     "expects different type than prior uses: 'tensor<4x3xf64>' vs 'tensor<4x3xf32>'"),
    "sizes that do not fit": (f"%y = ad.dot %x, %x : ({T}, {T}) -> {T}", 8,
                              "contracting axes 1 and 0 have sizes 3 and 4"),
    "an axis too many": (f"%y = ad.softmax %x axis 2 : {T}", 8, "expected an axis from 0 to 1, but got 2"),
    "an unknown attribute": (f"%y = ad.exp %x {{precise}} : {T}", 8, "has no attribute 'precise'"),
    "a prefix too many": (f"%y = ad.exp %x {{ad.allow = #ad.allow<approx>}} : {T}", 8,
                          "has no attribute 'ad.allow'; did you mean 'allow'?"),
    "a permission twice": (f"%y = ad.exp %x {{allow = #ad.allow<approx|approx>}} : {T}", 44,
                           "expected distinct permissions, but got 'approx' twice"),
    "no permission and one": (f"%y = ad.exp %x {{allow = #ad.allow<approx|none>}} : {T}", 44,
                              "expected 'none' without other permissions"),
    "a type too many": (f"%y = ad.exp %x : {T}, {T}", 37, f"expected '{T}' as the last type"),
    "a number for a constant": (f"%y = ad.constant 1.0 : {T}", 20, "write dense<1.0>"),
    "no axes": (f"%y = ad.reduce_sum %x : {T} -> tensor<f32>", 25,
                "expected 'axes' and a list, for example 'axes [0]'"),
    "no axis": (f"%y = ad.softmax %x : {T}", 22, "expected 'axis' and a number, for example 'axis 0'"),
    "no strides": (f"%y = ad.slice %x [1, 0] : {T} -> tensor<3x3xf32>", 27,
                   "and a list, for example '[8] strides [1]'"),
    "no offsets": (f"%y = ad.slice %x : {T} -> tensor<3x3xf32>", 19, "expected '[' and a list, for example '[1, 0]'"),
    "no permutation": (f"%y = ad.transpose %x : {T}", 23, "expected '[' and a list, for example '[1, 0]'"),
    "no parenthesis": (f"check.expect_finite %x : {T}", 22,
                       "expected '('; docs/reference shows how each operation is written"),
    "an operand too few": (f"%y = ad.fma %x, %x : {T}", 21,
                           "expected ',', as between two operands; docs/reference shows"),
    "a form": (f"%y = ad.gelu %x {{form = #ad<gelu_form exact>}} : {T}", 41, "expected none or tanh, but got 'exact'"),
    "a function that is not there": (f"%y = func.call @g(%x) : ({T}) -> {T}", 8,
                                     "'g' does not reference a valid function; define it in the program"),
    "another dialect": (f"%y = stablehlo.exp %x : {T}", 8,
                        "dialect 'stablehlo' is not supported, but got 'stablehlo.exp'; lower the program with "
                        "stablehlo-opt --stablehlo-legalize-to-linalg first"),
    "a tensor for a condition": ("%c = ad.constant dense<true> : tensor<i1> scf.if %c {\n  }", 52,
                                 "use of value '%c' expects different type than prior uses: 'i1' vs 'tensor<i1>'; "
                                 "take the element with tensor.extract %c[] : tensor<i1>"),
    "a value that is not there": (f"%y = ad.exp %z : {T}", 15,
                                  "use of undeclared SSA value name; a value is made before it is used"),
    "one type for two": (f"%b = ad.constant dense<1.0> : tensor<3xf32> %y = ad.add %x, %b : {T}", 63,
                         f"'{T}' vs 'tensor<3xf32>'; operands of different types are followed by all their types, "
                         f"for example ': {T}, tensor<3xf32>'"),
    "a scalar for a tensor": (f"%f = arith.constant 2.0 : f32 %y = ad.mul %x, %f : {T}", 49,
                              "'f32'; make a tensor of the scalar, with ad.full %f : f32 -> tensor<f32>"),
    "a scalar and its type": (f"%f = arith.constant 2.0 : f32 %y = ad.mul %x, %f : {T}, f32", 54,
                              "expected a ranked tensor, but got 'f32'; make a tensor of a scalar with ad.full"),
    "no type of the result": (f"%y = ad.reduce_sum %x axes [1] : {T}", 51,
                              "expected '->' and the type of the result, for example '-> tensor<4xf32>'"),
    "no types of the results": (f"%y = ad.dot %x, %x contract [1] x [1] : ({T}, {T})", 77,
                                "expected '->' in function type and the types of the results"),
}
# The whole program, the location of the message, and its text.
PROGRAMS = {
    "no return": (HEAD + f"  %y = ad.exp %x : {T}\n}}\n", "2:8", "; end a function with 'return'"),
    "no brace": (HEAD + f"  %y = ad.exp %x : {T}\n  return %y : {T}\n", "3:", "or '}' where a region ends"),
    "another result": (HEAD.replace("-> tensor<4x3", "-> tensor<3x4") + f"  %y = ad.exp %x : {T}\n" + TAIL, "3:3",
                       "type of return operand 0 ('tensor<4x3xf32>') doesn't match function result type ('tensor<3x4xf32>')"),
    "a permission after reproducible": ("module attributes {ad.numerics = #ad.numerics<reproducible, approx>} {\n}\n",
                                        "1:61",
                                         "expected no permissions after reproducible, which promises the same bits everywhere, but got approx"),
    "an attribute of a module": ("module attributes {ad.numeric = #ad.numerics<fast>} {\n}\n", "1:1",
                                 "'ad.numeric', expected one of ad.numerics,"),
    "an attribute of an argument": (HEAD.replace("ad.name", "ad.nam") + f"  %y = ad.exp %x : {T}\n" + TAIL, "1:17",
                                    "did you mean 'ad.name'?"),
    "permissions as a text": (HEAD + f"  %y = ad.add %x, %x {{allow = \"reorder\"}} : {T}\n" + TAIL, "2:",
                              "constraint: permissions of one operation, such as #ad.allow<reorder>"),
    "brackets nested too deeply": (HEAD + "  %y = ad.constant dense<" + "[" * 400 + "1.0" + "]" * 400
                                   + "> : tensor<f32>\n" + TAIL,
                                   "2:", "expected brackets that are nested at most 256 deep"),
    "types nested beyond the stack": ("func.func @main(%x: " + "tuple<" * 200000 + "f32" + ">" * 200000 + ")", "1:",
                                      "expected brackets that are nested at most 256 deep"),
    **{f"an affine expression of {chain.strip()}": (
        f"#m = affine_map<(d0) -> ({start}{chain * 200000}d0)>\n", "1:",
        "expected affine expressions of at most 1024 operators")
       for start, chain in (("", "- "), ("", "d0 + "), ("", "2 * "), ("d0 floordiv ", "2 floordiv "))},
    "an affine condition": ("#s = affine_set<(d0) : (d0 >= 0, " + "- " * 200000 + "d0 >= 0)>\n", "1:",
                            "expected affine expressions of at most 1024 operators"),
    "a mode of numerics": ("module attributes {ad.numerics = #ad.numerics<exact>} {\n}\n", "1:47",
                           "expected reproducible, strict or fast, but got 'exact'"),
}
# Names that other libraries and dialects have for an operation of ours. Each one is a program of its own.
NAMES = {
    "dot": "matmul mm bmm mv einsum dot_general contract matvec", "gemm": "linear addmm fully_connected",
    "reduce_sum": "sum reduce_add", "reduce_mean": "mean avg average", "reduce_prod": "prod product",
    "reduce_max": "amax maximum_reduce", "reduce_min": "amin minimum_reduce", "max": "maximum maximumf maxsi",
    "min": "minimum minimumf minsi", "sub": "subtract subf subi", "mul": "multiply mulf muli",
    "div": "divide divf true_divide", "add": "addf addi", "neg": "negate negf negative", "pow": "power powf",
    "abs": "absolute absf fabs", "sigmoid": "logistic expit", "silu": "swish", "select": "where if_then_else",
    "transpose": "permute swapaxes t", "reshape": "view flatten squeeze unsqueeze expand_dims collapse_shape",
    "broadcast": "expand broadcast_to broadcast_in_dim tile", "concat": "cat concatenate stack", "iota": "arange range",
    "full": "zeros ones splat fill", "constant": "const literal", "cast": "astype to extf truncf",
    "value_and_grad": "grad gradient value_and_gradient backward jacobian", "vjp": "pullback reverse_diff",
    "stop_gradient": "detach stop_grad", "layer_norm": "layernorm", "rms_norm": "rmsnorm",
    "log_softmax": "logsoftmax", "logsumexp": "log_sum_exp lse",
    "rotary_embedding": "rope rotary apply_rotary_pos_emb", "batch_norm": "batch_norm_training batchnorm",
    "one_hot": "onehot", "group_norm": "groupnorm instance_norm", "rem": "modulo fmod mod remainder", "round_even": "round rint",
    "cumsum": "scan prefix_sum cumulative_sum", "cumprod": "cumulative_prod",
    "bitcast": "bitcast_convert bitcast_convert_type reinterpret_cast",
    "cummax": "cumulative_max running_max", "cummin": "cumulative_min running_min",
    "reverse": "flip", "is_finite": "isfinite", "compare": "equal less greater cmp cmpf eq lt gt",
}
# Options of ad-runner after a correct program, and the message.
OPTIONS = {
    "no source": ([], "argument 'x' of type tensor<4x3xf32> has no source, expected --arg x=SOURCE"),
    "another name": (["--arg", "y=zeros"], "the program has no argument 'y', its arguments are x"),
    "a source torn apart": (["--arg", "x", "zeros"], "expected --arg NAME=SOURCE, found 'x'"),
    "another type": (["--arg", "x={}/double.npy"],
                     "expected elements of type f32, found dtype '<f8'; convert it with .astype(numpy.float32)"),
    "another shape": (["--arg", "x={}/turned.npy"], "turned.npy': expected tensor<4x3xf32>, found tensor<3x4xf32>"),
    "half a file": (["--arg", "x={}/half.npy"], "truncated: the header announces 48 bytes of data, the file holds 24"),
    "a folder": (["--arg", "x={}"], "not a regular file"),
    "no file": (["--arg", "x={}/none.npy"], "no file '{}/none.npy', and no source of that name; sources are"),
    "a size that is no number": (["--arg", "x=zeros", "--dim", "x.0=nan"],
                                 "expected --dim NAME.AXIS=N with numbers from 0 to"),
    "two modes": (["--numerics", "strict,fast"], "'fast' is a mode, and so is 'strict'; give one mode"),
    "a permission twice": (["--numerics", "strict,approx,approx"], "permission 'approx' is given twice"),
    "a permission after reproducible": (["--numerics", "reproducible,approx"],
                                        "takes no permission, found 'approx'; use strict or fast"),
    "half a target": (["--target", "gpu"],
                      "unknown target 'gpu', expected reference, cpu, gpu-sim or cuda, did you mean 'gpu-sim'?"),
    "an option without its end": (["--thread", "2"], "unknown option '--thread', did you mean '--threads'?"),
    "less than no threads": (["--threads", "-1"], "expected --threads with a number from 0 to 1024, found '-1'"),
    "another entry": (["--entry", "loss"], "no function @loss, it has @main; choose one with --entry NAME"),
}
# What ad-set-numerics is given and what it says.
NUMERICS = {
    "strict,fast": "but got 'fast', a mode too; give one mode",
    "strict,approx,approx": "expected distinct permissions, but got 'approx' twice",
    "reproducible,approx": "expected no permissions after reproducible",
}
UNREAD = "module attributes {da.numerics = #ad.numerics<fast>} {\n}\n"
# Options of passes and their minimum.
NUMBERS = {
    "--ad-simplify=max-rewrites": (-7, "expected 'max-rewrites' with a number of at least -1, but got -7"),
    "--ad-split-k=blocks": (-1, "expected 'blocks' with a number of at least 1, but got -1"),
    "--ad-sort-scatters=updates": (0, "expected 'updates' with a number of at least 1, but got 0"),
    "--ad-emit-cpu=vector-bytes": (24, "expected 'vector-bytes' with a power of two from 8 to 1024, but got 24"),
    "--ad-prepack-operands=vector-bytes": (0, "expected 'vector-bytes' with a power of two from 8 to 1024, but got 0"),
}


def said(tool, *options):
    done = subprocess.run([str(BIN / tool), *map(str, options)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


def wrong_program(text, location, message):
    def check(folder):
        file = folder / "program.mlir"
        file.write_text(text)
        for tool, options in (("ad-runner", ["--cache=off", "--arg=x=zeros"]), ("ad-opt", [])):
            code, error = said(tool, file, *options)
            line = next((line for line in error.splitlines() if "error: " in line), "")
            if (code != 1 or f"program.mlir:{location}" not in line or message not in line or "`" in error
                    or "http" in error):
                yield f"{tool}: expected exit code 1 and '{message}' at {location}, but got {code}: {error[:300]}"

    return check


def wrong_options(options, message):
    def check(folder):
        (folder / "program.mlir").write_text(HEAD + f"  %y = ad.exp %x : {T}\n" + TAIL)
        np.save(folder / "double.npy", np.zeros((4, 3)))
        np.save(folder / "turned.npy", np.zeros((3, 4), np.float32))
        np.save(folder / "half.npy", np.zeros((4, 3), np.float32))
        (folder / "half.npy").write_bytes((folder / "half.npy").read_bytes()[:-24])
        code, error = said("ad-runner", folder / "program.mlir", "--cache=off",
                           *[option.format(folder) for option in options])
        if code != 2 or message.format(folder) not in error:
            yield f"expected exit code 2 and '{message.format(folder)}', but got {code}: {error[:300]}"

    return check


def wrong_numerics(text, option, message):
    def check(folder):
        (folder / "program.mlir").write_text(text)
        code, error = said("ad-opt", folder / "program.mlir", f"--ad-set-numerics{option}")
        if code != 1 or message not in error:
            yield f"expected exit code 1 and '{message}', but got {code}: {error[:300]}"

    return check


def wrong_number(option, number, message):
    def check(folder):
        (folder / "program.mlir").write_text(HEAD + f"  %y = ad.exp %x : {T}\n" + TAIL)
        code, error = said("ad-opt", folder / "program.mlir", f"{option}={number}")
        if code != 1 or message not in error:
            yield f"expected exit code 1 and '{message}', but got {code}: {error[:300]}"
        code, error = said("ad-opt", folder / "program.mlir", f"{option}=99999999999999999999")
        if code != 1 or "99999999999999999999" not in error:
            yield f"expected an error for a number beyond 64 bits, but got {code}: {error[:300]}"

    return check


def names_elsewhere(folder):
    """All in one run: ad-opt continues after each `// -----`."""
    names = [(name, here) for here, elsewhere in NAMES.items() for name in elsewhere.split()]
    (folder / "program.mlir").write_text("// -----\n".join(f"{HEAD}  %y = ad.{name} %x : {T}\n{TAIL}" for name,
                                                           _ in names))
    _, error = said("ad-opt", "--split-input-file", folder / "program.mlir")
    hints = re.findall(r"error: custom op 'ad\.(\w+)' is unknown; did you mean 'ad\.(\w+)'\?", error)
    yield from (f"expected ad.{here} for ad.{name}" for name, here in names if (name, here) not in hints)


def array_for_program(folder):
    np.save(folder / "x.npy", np.zeros(3))
    code, error = said("ad-runner", folder / "x.npy")
    if code != 2 or "expected a program FILE.mlir, found the array" not in error or "--arg NAME=FILE.npy" not in error:
        yield f"expected exit code 2 for an array, but got {code}: {error[:300]}"


def byte_order_mark(folder):
    """ad-opt has no hints before the first dialect."""
    (folder / "program.mlir").write_text("\ufeff" + HEAD + f"  %y = ad.exp %x : {T}\n" + TAIL)
    code, error = said("ad-runner", folder / "program.mlir")
    if code != 1 or "program.mlir:1:1: error: unexpected character; a program is ASCII outside of strings and comments" not in error:
        yield f"expected exit code 1 and a hint, but got {code}: {error[:300]}"


def main():
    cases = [(name, wrong_program(f"{HEAD}  {line}\n{TAIL}", f"2:{column}", message)) for name,
             (line, column, message) in LINES.items()]
    cases += [(name, wrong_program(*given)) for name, given in PROGRAMS.items()]
    cases += [(name, wrong_options(*given)) for name, given in OPTIONS.items()]
    cases += [(given, wrong_numerics("", f"=numerics={given}", message)) for given, message in NUMERICS.items()]
    cases.append(("a contract that nothing reads", wrong_numerics(UNREAD, "",
                                                                  "got it as 'da.numerics', which nothing reads")))
    cases += [(option, wrong_number(option, *given)) for option, given in NUMBERS.items()]
    cases.append(("names of other libraries", names_elsewhere))
    return checks.run_checks("messages", [*cases, ("an array for a program", array_for_program),
                                           ("a byte order mark", byte_order_mark)])


if __name__ == "__main__":
    sys.exit(main())
