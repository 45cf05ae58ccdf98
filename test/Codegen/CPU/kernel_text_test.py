#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The text of a kernel grows at most linearly with the length of its rows, so no length takes long to compile: kernels
of every class, over rows of 1 to 64 elements, for vectors of each width.

The text of a kernel is its lines after `ad-emit-cpu`. Closes with `kernel text: N run, N failed`."""

import collections
import os
import pathlib
import re
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", pathlib.Path(__file__).resolve().parents[3] / "build/release/bin"))
LENGTHS = range(1, 65)
ROWS = 64  # as many as fill vectors of each width
PASSES = ["--ad-to-cpu-frontend", "--ad-to-cpu-fusion", "--ad-to-cpu-kernels"]
# Lines for each element of a row, beyond those of the longest kernel over LONG rows of the same class.
PER_ELEMENT = 80
LONG = range(33, 65)


def program(body, arguments, result):
    return f"func.func @main({arguments}) -> {result} {{\n{body}\n  return %y : {result}\n}}\n"


def row_chain(line):
    """Stable logarithms of sums along an axis, added to the matrix: several reductions of each row."""
    rows, columns = f"tensor<{ROWS}x1xf32>", "tensor<1xNxf32>"
    axis, reduced = (1, rows) if line == "rows" else (0, columns)
    m = f"tensor<{ROWS}xNxf32>"
    return program(f"""  %m = ad.reduce_max %x axes [{axis}] keep_dims : {m} -> {reduced}
  %d = ad.sub %x, %m : {m}, {reduced}
  %e = ad.exp %d : {m}
  %s = ad.reduce_sum %e axes [{axis}] keep_dims : {m} -> {reduced}
  %l = ad.log %s : {reduced}
  %r = ad.add %l, %m : {reduced}
  %y = ad.sub %x, %r : {m}, {reduced}""", f"%x: {m}", m)


def classes():
    for e in ("f32", "f64", "bf16"):
        m, r, c = f"tensor<{ROWS}xNx{e}>", f"tensor<Nx{e}>", f"tensor<{ROWS}x1x{e}>"
        yield f"elementwise, {e}", program(f"  %a = ad.add %x, %c : {m}, {c}\n  %b = ad.mul %a, %r : {m}, {r}\n"
                                           f"  %y = ad.tanh %b : {m}", f"%x: {m}, %c: {c}, %r: {r}", m)
        yield f"softmax, {e}", program(f"  %y = ad.softmax %x axis 1 : {m}", f"%x: {m}", m)
        yield f"layer_norm, {e}", program(f"  %y = ad.layer_norm %x, %r, %r epsilon 1.0e-5 : {m}, {r}",
                                          f"%x: {m}, %r: {r}", m)
    m, r, t = f"tensor<{ROWS}xNxf32>", "tensor<Nxf32>", f"tensor<Nx{ROWS}xf32>"
    column, square = f"tensor<{ROWS}xf32>", f"tensor<{ROWS}x{ROWS}xf32>"
    yield "chain of rows", row_chain("rows")
    yield "chain of columns", row_chain("columns")
    yield "sum of rows", program(f"  %y = ad.reduce_sum %x axes [1] : {m} -> {column}", f"%x: {m}", column)
    yield "sum of columns", program(f"  %y = ad.reduce_sum %x axes [0] : {m} -> {r}", f"%x: {m}", r)
    yield "argmax", program(f"  %y = ad.argmax %x axis 1 : {m}", f"%x: {m}", f"tensor<{ROWS}xi64>")
    yield "running sum", program(f"  %y = ad.cumsum %x axis 1 : {m}", f"%x: {m}", m)
    yield "rows contracted with columns", program(f"  %y = ad.dot %x, %w : ({m}, {t}) -> {square}",
                                                  f"%x: {m}, %w: {t}", square)
    yield "columns of both contracted", program(f"  %y = ad.dot %x, %w contract [1] x [1] : ({m}, {m}) -> {square}",
                                  f"%x: {m}, %w: {m}", square)
    yield "columns of a product", program(f"  %y = ad.dot %x, %w : ({square}, {m}) -> {m}", f"%x: {square}, %w: {m}", m)
    yield "matrix times vector", program(f"  %y = ad.dot %x, %w : ({m}, {r}) -> {column}", f"%x: {m}, %w: {r}", column)
    yield "product and activation", program(f"  %d = ad.dot %x, %w : ({square}, {m}) -> {m}\n"
                                            f"  %a = ad.add %d, %r : {m}, {r}\n  %y = ad.tanh %a : {m}",
                                            f"%x: {square}, %w: {m}, %r: {r}", m)
    yield "transposition", program(f"  %y = ad.transpose %x [1, 0] : {m}", f"%x: {m}", t)
    yield "reversed rows", program(f"  %y = ad.reverse %x axes [1] : {m}", f"%x: {m}", m)
    wide = f"tensor<{ROWS}xMxf32>"
    yield "concatenated rows", program(f"  %y = ad.concat axis 1 %x, %x : {m}, {m}", f"%x: {m}", wide)
    yield "padded rows", program(f"  %v = ad.constant dense<0.0> : tensor<f32>\n"
                                 f"  %y = ad.pad %x, %v low [0, 1] high [0, 2] "
                                 f"interior [0, 0] : {m}, tensor<f32>", f"%x: {m}", f"tensor<{ROWS}xPxf32>")


def instance(text, length):
    text = text.replace("xNx", f"x{length}x").replace("<Nx", f"<{length}x").replace("xMx", f"x{2 * length}x")
    return text.replace("xPx", f"x{length + 3}x").replace("@main", f"@f{length}")


def lines_by_length(text, folder, width):
    path = folder / "program.mlir"
    path.write_text("".join(instance(text, length) for length in LENGTHS))
    command = [BIN / "ad-opt", path, *PASSES, f"--ad-emit-cpu=vector-bytes={width}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:400]
    lines, launched, name = collections.Counter(), collections.defaultdict(set), None
    for line in done.stdout.splitlines():
        if head := re.match(r"  (?:func\.func|ad\.kernel)\b.* @(\w+)\(", line):
            name = head[1]
        lines[name] += 1
        if launch := re.search(r"ad\.launch @(\w+)", line):
            launched[name].add(launch[1])
    return [sum(lines[kernel] for kernel in launched[f"f{length}"]) for length in LENGTHS]


def check(text, width, folder):
    counts = lines_by_length(text, folder, width)
    longest = max(counts[length - 1] for length in LONG)
    for length, count in zip(LENGTHS, counts):
        if count > longest + PER_ELEMENT * length:
            yield f"rows of {length}: {count} lines, expected at most {longest + PER_ELEMENT * length}"


def main():
    found = [(f"{name}, vectors of {width} bytes", lambda folder, text=text, width=width: check(text, width, folder))
             for name, text in classes() for width in (64, 32, 16)]
    return checks.run_checks("kernel text", checks.sample(found, 4))


if __name__ == "__main__":
    sys.exit(main())
