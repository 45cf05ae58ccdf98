#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Scalar code of the host program: each operation of arith, on pairs of drawn and extreme numbers of each type, with
and without fast-math and overflow flags. The CPU and the emulated GPU give the reference's bits. What has no
result (a division by zero, an element outside of a tensor) is the reference's located error.
"""

import argparse
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import checks
import elements
import runner

TARGETS = ["reference", "cpu", "gpu-sim"]
FLOATS, INTEGERS = elements.FLOATS, ["i1", "i8", "i32", "i64", "index"]
FLOAT_OPS = ["addf", "subf", "mulf", "divf", "remf", "minimumf", "maximumf"]
DIVISIONS = ["divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui"]
INTEGER_OPS = ["addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrui", "shrsi", "minsi", "maxsi", "minui",
               "maxui", *DIVISIONS]
NUMBERS = 8  # of each operand; all pairs are computed
BITS = {"i1": 1, "i8": 8, "i32": 32, "i64": 64}


def extremes(element):
    if elements.is_float(element):
        least = 2.0 ** (elements.MIN_EXPONENT[element] - elements.MANTISSA[element])
        largest = elements.LARGEST[element]
        return [0.0, -0.0, np.nan, np.inf, -np.inf, least, -3 * least, largest, -largest, 1.0, -1.5, 127.5, -2.5, 1e-40,
                3e9]
    width = BITS[element]
    if width == 1:
        return [0, 1]
    return [0, 1, -1, 2, -7, width - 1, width, -(2 ** (width - 1)), 2 ** (width - 1) - 1]


def draw(rng, element):
    """NUMBERS of a type that tensors have."""
    some = [rng.choice(extremes(element)) if rng.random() < 0.7 else rng.gauss(0, 50) for _ in range(NUMBERS)]
    with np.errstate(all="ignore"):
        return elements.encode(element, np.array(some if elements.is_float(element) else [int(x) for x in some]))


def flags(rng, operation):
    if operation in FLOAT_OPS:
        return rng.choice(["", " fastmath<fast>", " fastmath<nnan,nsz>"])
    return rng.choice(["", " overflow<nsw,nuw>"]) if operation in ("addi", "subi", "muli", "shli") else ""


def binary(rng, name, operation, element):
    """Lines that compute %name from %a and %b, and its type. Divisors are not zero."""
    if operation not in DIVISIONS:
        return [f"%{name} = arith.{operation} %a, %b{flags(rng, operation)} : {element}"], element
    return [f"%{name}z = arith.cmpi eq, %b, %zero : {element}",
            f"%{name}d = arith.select %{name}z, %one, %b : {element}",
            f"%{name} = arith.{operation} %a, %{name}d : {element}"], element


def conversions(rng, element):
    """(operation, type of its result)"""
    if element == "index":
        return [("index_cast", "i32"), ("index_castui", "i8")]
    if not elements.is_float(element):
        wider = [t for t in BITS if BITS[t] > BITS[element]]
        narrower = [t for t in BITS if BITS[t] < BITS[element]]
        return [(rng.choice(["extsi", "extui"]), t) for t in wider] + [("trunci", t) for t in narrower] + [
            ("sitofp", t) for t in FLOATS]
    width = lambda t: 8 * np.dtype(elements.STORAGE[t]).itemsize
    return [("fptosi", t) for t in BITS if t != "i1"] + [("extf", t) for t in FLOATS if width(t) > width(element)] + [
        ("truncf", t) for t in FLOATS if width(t) < width(element)]


def computations(rng, element):
    """(lines, name, type) of everything that is computed from one pair."""
    found = []
    if elements.is_float(element):
        found += [(*binary(rng, op, op, element), op) for op in FLOAT_OPS]
        found.append(([f"%neg = arith.negf %a : {element}"], element, "neg"))
        flag = rng.choice(["", " fastmath<contract>"])
        found.append(([f"%p = arith.mulf %a, %b{flag} : {element}", f"%ma = arith.addf %p, %b{flag} : {element}"],
                      element, "ma"))
        predicate = rng.choice(["oeq", "ogt", "ole", "one", "ult", "une", "uno", "ord"])
        found.append(([f"%cmp = arith.cmpf {predicate}, %a, %b : {element}"], "i1", "cmp"))
    else:
        found += [(*binary(rng, op, op, element), op) for op in INTEGER_OPS]
        found.append(([f"%cmp = arith.cmpi {rng.choice(['eq', 'slt', 'uge', 'ule'])}, %a, %b : {element}"], "i1",
                      "cmp"))
    for op, to in conversions(rng, element):
        found.append(([f"%{op}{to} = arith.{op} %a : {element} to {to}"], to, f"{op}{to}"))
    return found


def program(rng, element):
    """All pairs of two arguments in a loop; each computation fills a carried tensor. Returns the text and the
    results."""
    stored = "i64" if element == "index" else element
    picked = rng.sample(found := computations(rng, element), min(len(found), 10))
    pairs, lines, results = NUMBERS * NUMBERS, [], []
    for code, to, name in picked:
        lines += code
        if to == "index":
            lines.append(f"%{name}i = arith.index_cast %{name} : index to i64")
            name, to = f"{name}i", "i64"
        lines += [f"%t_{name} = ad.full %{name} : {to} -> tensor<1x{to}>",
                  f"%n_{name} = ad.dynamic_update_slice %c_{name}, %t_{name}[%i] : tensor<{pairs}x{to}>, tensor<1x{to}>"]
        results.append((name, to))
    types = ", ".join(f"tensor<{pairs}x{to}>" for _, to in results)
    cast = [f"%{v} = arith.index_cast %{v}s : i64 to index" for v in "ab"] if element == "index" else []
    read = [f"%{v}{'s' if cast else ''} = tensor.extract %x{v}[%{v}i] : tensor<{NUMBERS}x{stored}>" for v in "ab"]
    numbers = [] if elements.is_float(element) else [f"%{n} = arith.constant {v} : {element}" for n, v in
                                                     (("zero", "0"), ("one", "1" if element != "i1" else "true"))]
    numbers = [line.replace("constant 0 : i1", "constant false").replace("constant true : i1", "constant true")
               for line in numbers]
    body = ["%ai = arith.divsi %i, %n : index", "%bi = arith.remsi %i, %n : index", *read, *cast, *lines,
            f"scf.yield {', '.join(f'%n_{name}' for name, _ in results)} : {types}"]
    zero = {to: "dense<0.0>" if elements.is_float(to) else "dense<false>" if to == "i1" else "dense<0>" for _,
            to in results}
    head = [f"%s_{name} = ad.constant {zero[to]} : tensor<{pairs}x{to}>" for name, to in results]
    carried = ", ".join(f"%c_{name} = %s_{name}" for name, _ in results)
    arguments = ", ".join(f'%x{v}: tensor<{NUMBERS}x{stored}> {{ad.name = "{v}"}}' for v in "ab")
    named = ", ".join(f'tensor<{pairs}x{to}> {{ad.name = "{name}"}}' for name, to in results)
    text = "\n  ".join([f"func.func @main({arguments}) -> ({named}) {{", "%low = arith.constant 0 : index",
                        "%step = arith.constant 1 : index", f"%n = arith.constant {NUMBERS} : index",
                        f"%high = arith.constant {pairs} : index", *numbers, *head,
                        f"%r:{len(results)} = scf.for %i = %low to %high step %step iter_args({carried}) -> ({types}) {{", *body, "}",
                        f"return {', '.join(f'%r#{i}' for i in range(len(results)))} : {types}"])
    return f"{text}\n}}\n", results, stored


def same_numbers(rng, element):
    def check(folder):
        text, results, stored = program(rng, element)
        arguments = []
        for v in "ab":
            elements.save(folder / f"{v}.npy", stored, draw(rng, stored))
            arguments.append(f"--arg={v}={folder / v}.npy")
        got = {target: runner.run(text, arguments, results, [f"--target={target}"]) for target in TARGETS}
        for name, to in results:
            for target in TARGETS[1:]:
                equal = elements.same_bits(to, got["reference"][name], got[target][name])
                if not equal.all():
                    i = int(np.flatnonzero(~equal)[0])
                    pair = [elements.decode(stored, np.load(folder / f"{v}.npy").view(elements.STORAGE[stored]))[k]
                            for v, k in zip("ab", divmod(i, NUMBERS))]
                    yield f"{name} of {pair} on {target}: {got[target][name][i]}, the reference {got['reference'][name][i]}\n{text}"
    return check


def run(folder, text, target, arguments):
    (folder / "p.mlir").write_text(text)
    return subprocess.run([runner.binary("ad-runner"), "p.mlir", "--cache=off", f"--target={target}", *arguments],
                          cwd=folder,
                          capture_output=True, text=True)


def same_error(text, arguments, line, expected):
    """`arguments`: name and array; the error is in `line` and says what is expected."""
    def check(folder):
        options = []
        for name, array in arguments:
            np.save(folder / f"{name}.npy", array)
            options.append(f"--arg={name}={name}.npy")
        done = {target: run(folder, text, target, options) for target in TARGETS}
        for target, ended in done.items():
            if ended.returncode != 1 or not ended.stderr.startswith(f"p.mlir:{line}:") or expected not in ended.stderr:
                yield f"{target}: exit code {ended.returncode}, {ended.stderr[:300]!r}, expected {expected!r} in line {line}\n{text}"
            elif ended.stderr != done["reference"].stderr:
                yield f"{target} says {ended.stderr!r}, the reference {done['reference'].stderr!r}"
    return check


def division_by_zero(rng, operation):
    element = rng.choice(["i8", "i32", "i64"])
    text = (f'func.func @main(%x: tensor<2x{element}> {{ad.name = "x"}}) -> tensor<{element}> {{\n  %c0 = arith.constant 0 : index\n'
            f"  %c1 = arith.constant 1 : index\n  %a = tensor.extract %x[%c0] : tensor<2x{element}>\n"
            f"  %b = tensor.extract %x[%c1] : tensor<2x{element}>\n  %z = arith.{operation} %a, %b : {element}\n"
            f"  %t = ad.full %z : {element} -> tensor<{element}>\n  return %t : tensor<{element}>\n}}\n")
    numbers = np.array([rng.choice([0, 1, -5]), 0], elements.STORAGE[element])
    return same_error(text, [("x", numbers)], 6, f"'arith.{operation}' op divides by zero")


def element_outside(rng):
    """One index of a tensor of any rank leaves it; sizes may be open."""
    rank = rng.randint(1, 3)
    sizes, axis = [rng.randint(1, 5) for _ in range(rank)], rng.randrange(rank)
    indices = [rng.randrange(size) for size in sizes]
    indices[axis] = rng.choice([-1, sizes[axis], sizes[axis] + 1000, -(2**40)])
    kind = f"tensor<{''.join(rng.choice([str(s), '?']) + 'x' for s in sizes)}f32>"
    known = rng.random() < 0.3
    given = "".join(f'\n  %s{i} = tensor.extract %n{i}[] : tensor<i64>\n  %i{i} = arith.index_cast %s{i} : i64 to index'
                    if not known else f"\n  %i{i} = arith.constant {value} : index" for i, value in enumerate(indices))
    scalars = "" if known else "".join(f', %n{i}: tensor<i64> {{ad.name = "n{i}"}}' for i in range(rank))
    text = (f'func.func @main(%x: {kind} {{ad.name = "x"}}{scalars}) -> tensor<f32> {{{given}\n'
            f"  %z = tensor.extract %x[{', '.join(f'%i{i}' for i in range(rank))}] : {kind}\n"
            "  %t = ad.full %z : f32 -> tensor<f32>\n  return %t : tensor<f32>\n}\n")
    arguments = [("x", np.zeros(sizes, np.float32))]
    if not known:
        arguments += [(f"n{i}", np.array(value, np.int64)) for i, value in enumerate(indices)]
    expected = f"dimension {axis}: index {indices[axis]} is outside of size {sizes[axis]}"
    return same_error(text, arguments, 2 + rank * (1 if known else 2), expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2, help="programs of each element type")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    each = lambda: random.Random(rng.random())
    cases = [(f"{element}, program {i}", same_numbers(each(), element)) for element in FLOATS + INTEGERS
             for i in range(options.rounds)]
    cases += [(f"{op} by zero", division_by_zero(each(), op)) for op in DIVISIONS]
    cases += [(f"element {i}", element_outside(each())) for i in range(5 * options.rounds)]
    return checks.run_checks("host-scalars", cases)


if __name__ == "__main__":
    sys.exit(main())
