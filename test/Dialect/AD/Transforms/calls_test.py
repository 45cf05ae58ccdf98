#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Calls are copies: programs that they would make longer than 100,000 operations are refused at once, with the chain of
calls, by every tool and on every target; programs of that length that need no repeated calls are not.

Closes with `calls: N run, N failed`."""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[3] / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", pathlib.Path(__file__).resolve().parents[4] / "build/release/bin"))
TYPE = "tensor<4xf32>"
AT_ONCE = 10.0  # seconds; the copies would take minutes, or all memory


def function(name, lines, visibility="private "):
    return "\n".join([f"func.func {visibility}@{name}(%x: {TYPE}) -> {TYPE} {{", *lines,
                      f"  return %v{len(lines)} : {TYPE}", "}", ""])


def chain(operations):
    """Lines that each use the value before; `None` is an operation, a name a call."""
    lines, value = [], "%x"
    for number, callee in enumerate(operations, 1):
        what = f"func.call @{callee}({value}) : ({TYPE}) -> {TYPE}" if callee else f"ad.tanh {value} : {TYPE}"
        lines.append(f"  %v{number} = {what}")
        value = f"%v{number}"
    return lines


def doubling(levels, gradient=False):
    """Each function calls the one before twice."""
    parts = [function("f0", chain([None]))]
    parts += [function(f"f{level}", chain([f"f{level - 1}"] * 2)) for level in range(1, levels + 1)]
    if not gradient:
        return "".join(parts) + function("main", chain([f"f{levels}"]), "")
    parts.append(f"func.func private @loss(%x: {TYPE}) -> tensor<f32> {{\n"
                 f"  %v = func.call @f{levels}(%x) : ({TYPE}) -> {TYPE}\n"
                 f"  %s = ad.reduce_sum %v axes [0] : {TYPE} -> tensor<f32>\n  return %s : tensor<f32>\n}}\n")
    parts.append(f"func.func @main(%x: {TYPE}) -> {TYPE} {{\n"
                 f"  %l, %v1 = ad.value_and_grad @loss(%x) wrt [0] : ({TYPE}) -> (tensor<f32>, {TYPE})\n"
                 f"  return %v1 : {TYPE}\n}}\n")
    return "".join(parts)


def run(text, tool, *options):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        start = time.perf_counter()
        done = subprocess.run([BIN / tool, path, *options], capture_output=True, text=True, timeout=600)
        return done, time.perf_counter() - start


def refused(text, expected, tool, *options):
    done, seconds = run(text, tool, *options)
    if done.returncode != 1:
        yield f"exit code {done.returncode}, expected 1: {done.stderr[:300]}"
    for part in expected:
        if part not in done.stderr:
            yield f"expected '{part}' in the error, but got: {done.stderr[:600]}"
    if seconds > AT_ONCE:
        yield f"the error took {seconds:.1f} s"


def accepted(text, *options):
    done, _ = run(text, "ad-opt", "-o", os.devnull, *options)
    if done.returncode:
        yield f"exit code {done.returncode}: {done.stderr[:300]}"


def cases():
    runner = ["--cache", "off", "--arg", "x=normal:1"]
    for target in ("reference", "cpu", "gpu-sim"):
        # 2^17 operations, and the place of the call.
        expected = ["'func.call' op expected calls that make '@main' at most 100000 operations long",
                    "131072 operations", "@main calls @f17 calls 2 times @f16 calls", "program.mlir:"]
        yield f"forward, {target}", refused, (doubling(17), expected, "ad-runner", *runner, "--target", target)
        # A derivative has the function and its reverse.
        expected = ["'ad.value_and_grad' op expected calls", "131074 operations", "@loss calls @f16 calls 2 times @f15"]
        yield f"gradient, {target}", refused, (doubling(16, True), expected, "ad-runner", *runner, "--target", target)
    expected = ["more than 18446744073709551615 operations", " calls ... calls "]
    yield "more copies than a number has", refused, (doubling(80), expected, "ad-opt", "--ad-to-cpu")
    yield "ad-opt", refused, (doubling(20), ["1048576 operations"], "ad-opt", "--ad-to-gpu")
    # One more call than 100 makes it too long; the text itself may be longer than any limit.
    block = function("block", chain([None] * 1000))
    yield "exactly as long", accepted, (block + function("main", chain(["block"] * 100), ""), "--ad-differentiate")
    longer = block + function("main", chain(["block"] * 100 + [None]), "")
    yield "one longer", refused, (longer, ["100001 operations"], "ad-opt", "--ad-differentiate")
    long = function("once", chain([None] * 100001))
    yield "a long text", accepted, (long + function("main", chain(["once"]), ""), "--ad-differentiate")
    short = function("f", chain([None])) + function("main", chain(["once", "f", "f"]), "")
    yield "a long text with short calls", accepted, (long + short, "--ad-differentiate")
    deep = "".join(function(f"f{i}", chain([f"f{i + 1}"])) for i in range(20000)) + function("f20000", chain([None]))
    yield "a deep chain", accepted, (deep + function("main", chain(["f0"]), ""), "--ad-differentiate")
    # A recursion has an error of its own.
    recursion = function("f", chain(["g"] * 2)) + function("g", chain(["f"] * 2)) + function("main", chain(["f"]), "")
    yield "recursion", refused, (recursion, ["is part of a recursion"], "ad-runner", *runner)


def main():
    return checks.run_checks("calls", [(name, lambda folder, check=check, given=given: check(*given))
                                       for name, check, given in cases()])


if __name__ == "__main__":
    sys.exit(main())
