# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Patterns by name: each is applied as often as the program has its form, the compiler counts and lists it, and
--rewrites-except and --rewrites-only switch it off and on. The forms: a product and a division, a transposition and a
product, reshapes around a product, a sum with zero. Identities are folded always. Two slices that cover a tensor stay
two slices: the dialect has no operation with several parts as results."""

import collections
import functools
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

COPIES = 3
# What the pattern makes of the operations; `gone` is no operation of the optimised program, `left` is one.
Case = collections.namedtuple("Case", "body result mode gone left")
A, B, C = "tensor<8x16xf32>", "tensor<16x4xf32>", "tensor<8x4xf32>"
CASES = {
    "divide-in-gemm": Case(f"%m = ad.dot %x, %w : ({A}, {B}) -> {C}\n%s = ad.constant dense<3.0> : {C}\n"
                           f"%r = ad.div %m, %s : {C}", C, "strict,algebra", "ad.dot", "ad.gemm"),
    "fold-transpose-into-dot": Case(f"%t = ad.transpose %v [1, 0] : tensor<4x16xf32>\n"
                                    f"%r = ad.dot %x, %t : ({A}, {B}) -> {C}", C, "strict", "ad.transpose", "ad.dot"),
    "fold-transpose-into-gemm": Case(f"%t = ad.transpose %v [1, 0] : tensor<4x16xf32>\n"
                                     f"%r = ad.gemm %x, %t : ({A}, {B}) -> {C}", C, "strict", "ad.transpose", "transB"),
    "fold-reshapes-into-dot": Case(f"%f = ad.reshape %y : tensor<2x4x16xf32> -> {A}\n"
                                   f"%d = ad.dot %f, %w : ({A}, {B}) -> {C}\n"
                                   f"%r = ad.reshape %d : {C} -> tensor<2x4x4xf32>", "tensor<2x4x4xf32>", "strict",
                                   "ad.reshape", "ad.dot"),
    "drop-zero": Case(f"%z = ad.constant dense<0.0> : {A}\n%r = ad.add %x, %z : {A}", A, "strict,algebra", "ad.add",
                      ""),
}
ARGUMENTS = {"x": A, "w": B, "v": "tensor<4x16xf32>", "y": "tensor<2x4x16xf32>"}
IDENTITIES = {
    "times one": f"%o = ad.constant dense<1.0> : {A}\n%r = ad.mul %x, %o : {A}",
    "over one": f"%o = ad.constant dense<1.0> : {A}\n%r = ad.div %x, %o : {A}",
    "minus zero": f"%o = ad.constant dense<0.0> : {A}\n%r = ad.sub %x, %o : {A}",
    "a reshape": f"%r = ad.reshape %x : {A} -> {A}",
    "a transposition": f"%r = ad.transpose %x [0, 1] : {A}",
    "a broadcast": f"%r = ad.broadcast %x : {A} -> {A}",
    "two negations": f"%n = ad.neg %x : {A}\n%r = ad.neg %n : {A}",
}


def copies(body, result, count):
    """The body as often as that, at locations of their own: copy i reads %x{i}, …, and gives %r{i}."""
    arguments = ", ".join(f'%{name}{i}: {kind} {{ad.name = "{name}{i}"}}' for i in range(count)
                          for name, kind in ARGUMENTS.items())
    lines = "".join("  " + re.sub(r"%(\w+)", rf"%\g<1>{i}", line) + "\n" for i in range(count)
                    for line in body.splitlines())
    values, types = ", ".join(f"%r{i}" for i in range(count)), ", ".join([result] * count)
    return f"func.func @main({arguments}) -> ({types}) {{\n{lines}  return {values} : {types}\n}}\n"


def compile_and_run(folder, text, count, mode, *options):
    """The optimised program, the listed rewrites, and the results."""
    listed, dump = folder / "listed.tsv", folder / "optimized.mlir"
    given = [f"--arg={name}{i}=normal:{i + 1}" for i in range(count) for name in ARGUMENTS]
    results = runner.run(text, given, [(f"res{i}", "f32") for i in range(count)], [
        "--numerics", mode, "--list-rewrites", listed, "--dump-optimized", dump, *options], folder=folder)
    rows = [line.split("\t") for line in listed.read_text().splitlines()[1:]]
    return dump.read_text(), rows, results


def remarks(text, mode):
    """How often each pattern was applied, as ad-simplify says."""
    done = subprocess.run([runner.binary("ad-opt"), f"--ad-set-numerics=numerics={mode}", "--ad-simplify",
                           "--remarks-filter=ad-simplify"], input=text, capture_output=True, text=True, check=True)
    counts = re.findall(r"applied-pattern .*count=(\d+), pattern=(\S+)", done.stderr)
    return {name: int(count) for count, name in counts}


def one_name(folder):
    """Remarks and --list-rewrites have the same name for a pattern, of canonical forms too; it is in kebab case."""
    lines = [f"%n = ad.neg %x : {A}", f"%a = ad.add %x, %n : {A}", f"%o = ad.neg %a : {A}", f"%m = ad.mul %n, %o : {A}",
             f"%four = ad.constant dense<4.0> : {A}", f"%q = ad.div %m, %four : {A}",
             f"%minus = ad.constant dense<-1.0> : {A}", f"%k = ad.mul %q, %minus : {A}",
             f"%d = ad.cast %k : {A} -> tensor<8x16xf64>",
             "%b = ad.cast %d : tensor<8x16xf64> -> tensor<8x16xbf16>",
             f"%h = ad.reduce_sum %b axes [] : tensor<8x16xbf16> -> {A}", f"%r = ad.exp %h : {A}"]
    text = copies("\n".join(lines), A, 1)
    _, rows, _ = compile_and_run(folder, text, 1, "strict")
    listed = {row[0] for row in rows} - {"fuse"}
    if listed != set(remarks(text, "strict")):
        yield f"remarks name {sorted(remarks(text, 'strict'))}, --list-rewrites names {sorted(listed)}"
    expected = {"absorb-negation", "cancel-negations", "compose-casts", "multiply-by-exact-inverse",
                "replace-empty-reduction", "use-negation"}
    if not expected <= listed or any(not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in listed):
        yield f"expected {sorted(expected)} and others in kebab case, found {sorted(listed)}"


def written(folder, name, rows):
    file = folder / f"{name}.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    return file


def switches(name, folder):
    case = CASES[name]
    text = copies(case.body, case.result, COPIES)
    if (count := remarks(text, case.mode).get(name)) != COPIES:
        yield f"ad-simplify counts {count} applications, expected {COPIES}"
    optimised, rows, results = compile_and_run(folder, text, COPIES, case.mode)
    mine = [row for row in rows if row[0] == name]
    if len(mine) != COPIES or len({row[3] for row in mine}) != COPIES:
        yield f"--list-rewrites has {mine}, expected {COPIES} locations"
    if case.gone in optimised or case.left not in optimised:
        yield f"was not applied:\n{optimised}"

    without, rows, others = compile_and_run(folder, text, COPIES, case.mode, "--rewrites-except",
                                            written(folder, "all", mine))
    if without.count(case.gone) < COPIES or any(row[0] == name for row in rows):
        yield f"was applied although --rewrites-except lists it:\n{without}"
    if case.mode == "strict" and any(results[r].tobytes() != others[r].tobytes() for r in results):
        yield "needs no permission, but changed bits"

    _, rows, _ = compile_and_run(folder, text, COPIES, case.mode, "--rewrites-except", written(folder, "one", mine[:1]))
    if sum(row[0] == name for row in rows) != COPIES - 1:
        yield f"one of {COPIES} was switched off, but the rest is {rows}"

    only, rows, _ = compile_and_run(folder, text, COPIES, case.mode, "--rewrites-only", written(folder, "only", mine))
    if case.gone in only or {row[0] for row in rows} != {name}:
        yield f"alone it should be applied everywhere, and nothing else: {rows}"
    none, rows, _ = compile_and_run(folder, text, COPIES, case.mode, "--rewrites-only", written(folder, "none", []))
    if none.count(case.gone) < COPIES or rows:
        yield f"no rewrite is allowed, but {rows} were applied"


def identity(name, folder):
    """Folded whatever --rewrites-only lists, to the bits of the argument."""
    text = copies(IDENTITIES[name], A, 1)
    optimised, _, results = compile_and_run(folder, text, 1, "strict", "--rewrites-only", written(folder, "none", []))
    if found := re.findall(r"\bad\.(?!name)\w+ %", optimised):
        yield f"{found} are left"
    plain = runner.run(f'func.func @main(%x: {A} {{ad.name = "x0"}}) -> {A} {{\n  return %x : {A}\n}}\n',
                       ["--arg=x0=normal:1"], [("res0", "f32")])["res0"]
    if plain.tobytes() != results["res0"].tobytes():
        yield "other bits than the argument"


def slices(folder):
    """Two slices that cover a tensor: the parts, by two operations."""
    half = "tensor<8x8xf32>"
    body = (f"%p = ad.slice %x [0, 0] strides [1, 1] : {A} -> {half}\n"
            f"%q = ad.slice %x [0, 8] strides [1, 1] : {A} -> {half}\n"
            f"%r = ad.concat axis 1 %q, %p : {half}, {half}")
    optimised, _, results = compile_and_run(folder, copies(body, A, 1), 1, "strict")
    plain = runner.run(f'func.func @main(%x: {A} {{ad.name = "x0"}}) -> {A} {{\n  return %x : {A}\n}}\n',
                       ["--arg=x0=normal:1"], [("res0", "f32")])["res0"]
    if optimised.count("ad.slice") != 2:
        yield f"expected two slices:\n{optimised}"
    if np.hstack([plain[:, 8:], plain[:, :8]]).tobytes() != results["res0"].tobytes():
        yield "the parts are others"


def main():
    return checks.run_checks("pattern_control", [
        *((name, functools.partial(switches, name)) for name in CASES),
        *((f"identity: {name}", functools.partial(identity, name)) for name in IDENTITIES),
        ("two slices", slices), ("one name", one_name)])


if __name__ == "__main__":
    sys.exit(main())
