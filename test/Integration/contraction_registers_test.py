#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The sums of a contraction's tile stay in registers: no inner loop of its code that multiplies and adds accesses the
stack, on CPUs with 16 registers (AVX2) and with 32 (AVX-512). A loop that transposes blocks of an operand in
registers keeps a part of them on the stack, but accesses it less often than it multiplies and adds. Named and random
shapes, layouts and types; the code is what LLVM's disassembler shows. Closes with `contraction registers: N run, N
failed`."""

import functools
import pathlib
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import checks
import runner

OBJDUMP = "/usr/lib/llvm-22/bin/llvm-objdump"
CPUS = ("haswell", "skylake-avx512")
ROWS, COLUMNS, SIZES_K = (1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 61, 197), (8, 16, 48, 64, 100, 1000), (64, 300, 512, 2048)
LAYOUTS = ("NN", "TN", "NT", "TT")
ELEMENTS = ("f32", "f64", "bf16", "f16", "i32")
RANDOM, SEED = 24, 1
MIN_MULTIPLY_ADDS = 4  # of an inner loop that is a tile's, not one of what is left over


def program(rows, columns, k, layout, element):
    left = (rows, k) if layout[0] == "N" else (k, rows)
    right = (k, columns) if layout[1] == "N" else (columns, k)
    contract = [int(layout[0] == "N")], [int(layout[1] == "T")]
    types = [f"tensor<{a}x{b}x{element}>" for a, b in (left, right, (rows, columns))]
    return f"""\
func.func @main(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{
  %y = ad.dot %a, %b batch [] x [] contract {contract[0]} x {contract[1]} : ({types[0]}, {types[1]}) -> {types[2]}
  return %y : {types[2]}
}}
"""


def host_code(path):
    """The shared object in a compiled file (docs/adx.md)."""
    data = path.read_bytes()
    count, = struct.unpack_from("<Q", data, 24)
    for number in range(count):
        name, offset, length = struct.unpack_from("<16sQQ", data, 64 + 32 * number)
        if name.rstrip(b"\0") == b"host":
            return data[offset:offset + length]
    raise ValueError(f"{path} has no host code")


def instructions(code, folder):
    """(address, text) of each instruction."""
    (folder / "host.so").write_bytes(code)
    listing = subprocess.run([OBJDUMP, "-d", "--no-show-raw-insn", folder / "host.so"], capture_output=True, text=True,
                             check=True)
    found = re.findall(r"^\s*([0-9a-f]+):\s+(\S.*)$", listing.stdout, re.M)
    return [(int(address, 16), text) for address, text in found]


def inner_loops(code):
    """The bodies of loops that have no loop inside."""
    places = {address: place for place, (address, _) in enumerate(code)}
    loops = []
    for place, (address, text) in enumerate(code):
        target = re.match(r"j\w+\s+0x([0-9a-f]+)", text)
        if target and int(target[1], 16) <= address and int(target[1], 16) in places:
            loops.append((places[int(target[1], 16)], place))
    return [[text for _, text in code[begin:end + 1]] for begin, end in loops
            if not any((begin, end) != other and begin <= other[0] and other[1] <= end for other in loops)]


def is_multiply_add(text):
    return re.match(r"v(fmadd|pmulld|pmaddwd|dpbf16ps)", text)


def check(cpu, case, folder):
    (folder / "program.mlir").write_text(program(*case))
    subprocess.run([runner.binary("ad-runner"), folder / "program.mlir", "--numerics=strict", "--cache=off", "--cpu",
                    cpu,
                    "--emit", folder / "program.adx"], capture_output=True, text=True, check=True)
    loops = inner_loops(instructions(host_code(folder / "program.adx"), folder))
    loops = [loop for loop in loops if sum(bool(is_multiply_add(text)) for text in loop) >= MIN_MULTIPLY_ADDS]
    if not loops:
        yield "no inner loop multiplies and adds"
    for loop in loops:
        on_stack = [text for text in loop if re.search(r"\(%[er]sp\)", text)]
        sums = sum(bool(is_multiply_add(text)) for text in loop)
        transposes = case[3][1] == "T" and any(re.match(r"v(p?unpck|perm2[fi]128|shuf[fi]64x2)", text) for text in loop)
        if len(on_stack) >= (sums if transposes else 1):
            yield f"{len(on_stack)} of {len(loop)} instructions, {sums} multiply-adds among them, access the stack: {on_stack[0]}"


def cases():
    named = [(rows, 256, 512, layout, "f32") for rows in ROWS for layout in LAYOUTS]
    named += [(rows, 4096, 512, "NN", element) for rows in (1, 2, 8)
              for element in ELEMENTS[:2]]  # rows of b are streamed
    named += [(rows, 256, 512, "NN", element) for rows in (1, 3, 8, 100) for element in ELEMENTS[1:]]
    draw = random.Random(SEED)
    drawn = [tuple(map(draw.choice, (ROWS, COLUMNS, SIZES_K, LAYOUTS, ELEMENTS))) for _ in range(RANDOM)]
    for cpu in CPUS:
        for case in dict.fromkeys(named + drawn):
            label = f"{cpu} {'x'.join(map(str, case[:3]))} {case[3]} {case[4]}"
            yield label, functools.partial(check, cpu, case)


def main():
    return checks.run_checks("contraction registers", checks.sample(cases(), 5))


if __name__ == "__main__":
    sys.exit(main())
