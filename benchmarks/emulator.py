#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The emulated GPU on one core: thread-instructions per second in simple code, wgmma and mma.sync in GFLOP/s, and what looking for
races costs.

Kernels are those of the tests, in larger grids. A thread-instruction is one operation of the kernel's text, executed by one thread; one
on a vector counts once for each element. Time is that of the processor, without compiling the kernel. There is no peer: the closing
lines compare with our own aims.
"""

import pathlib
import re
import subprocess
import tempfile

import measure

measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

NAME = "emulator"
ROUNDS = 5
ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "build/release/bin/ad-gpu-emulate"
INPUTS = ROOT / "test/Emulator/Inputs"
ROWS, M, N, K = 256, 512, 512, 512
INSTRUCTIONS_AIM, WGMMA_AIM = 300e6, 10e9


def count_instructions(file):
    """Operations that one thread of the softmax executes, which has no loop: its functions run once each."""
    count = 0
    for line in file.read_text().split("\n"):
        if not re.match(r"\s+(%\S+ = )?(llvm|nvvm)\.", line) or "mlir.constant" in line or "mlir.addressof" in line:
            continue
        width = re.search(r"vector<(\d+)x", line) if re.search(r"llvm\.(f\w+|extractelement) ", line) else None
        count += int(width[1]) if width and "extractelement" not in line else 1
    return count


def cases():
    """Name, unit, work, aim and command of each case."""
    product = ["bf16:{a}", "bf16:{b}", f"out:f32:{M}x{N}", f"i32:{N}", f"i32:{K}"]
    tiles = ["map:box=64x64,swizzle=128:bf16:{a}", "map:box=16x64,swizzle=128:bf16:{b}", f"map:box=64x16:out:f32:{M}x{N}", f"i32:{K}"]
    wide = ["map:box=64x64,swizzle=128:bf16:{a}", "map:box=256x64,swizzle=128:bf16:{b}", "i32:" + str(K)]
    softmax = INPUTS / "softmax.mlir"
    flops = 2.0 * M * N * K
    return {
        "softmax": ("M thread-instructions/s", 128.0 * ROWS * count_instructions(softmax), INSTRUCTIONS_AIM,
                    [softmax, "--grid", ROWS, "--block", 128], ["bf16:{x}", f"out:f32:{ROWS}x1024"]),
        "mma": ("MFLOP/s", flops, None, [INPUTS / "gemm-mma.mlir", "--grid", f"{N // 16},{M // 32}", "--block", 64], product),
        "wgmma-n16": ("MFLOP/s", flops, None, [INPUTS / "gemm-wgmma.mlir", "--grid", f"{N // 16},{M // 64}", "--block", 256, "--shared", 24608], tiles),
        "wgmma-n256": ("MFLOP/s", flops, WGMMA_AIM, ["{wide}", "--grid", f"{N // 256},{M // 64}", "--block", 256, "--shared", 82976], wide),
    }


def widen(text):
    """The wgmma kernel of the tests with tiles of 256 columns; without its epilogue, which is written for 16."""
    head, tail = text.split("  ^epilogue:\n", 1)
    old, new = ("!llvm.struct<(" + ", ".join(["f32"] * count) + ")>" for count in (8, 128))
    head = head.replace(old, new).replace("n = 16,", "n = 256,").replace("%map_c: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, ", "")
    head = head.replace("mul %bx, %c16", "mul %bx, %c256").replace("mlir.constant(10240 ", "mlir.constant(40960 ")
    head = head.replace("mlir.constant(24576 ", "mlir.constant(82944 ").replace("mlir.constant(24592 ", "mlir.constant(82960 ")
    constant = "    %c256 = llvm.mlir.constant(256 : i32) : i32\n"
    head = head.replace("    %shared = ", constant + "    %shared = ", 1) if constant not in head else head
    return head + "  ^epilogue:\n    llvm.br ^end\n  ^end:\n    llvm.return\n  }\n}\n"


def seconds(command, arguments, paths, rounds, more):
    words = [TOOL, *(str(word).format(**paths) for word in command)]
    for argument in arguments:
        words += ["--arg", argument.format(**paths)]
    done = subprocess.run([*map(str, words), "--stats", "--repeat", str(rounds), *more], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{NAME}: {done.stderr.strip()}")
    return float(re.search(r"processor milliseconds: (\S+)", done.stdout)[1]) / 1e3


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    table = cases()
    random = np.random.default_rng(0)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = {"wide": folder / "wide.mlir"}
        paths["wide"].write_text(widen((INPUTS / "gemm-wgmma.mlir").read_text()))
        for array, shape in {"x": (ROWS, 1024), "a": (M, K), "b": (N, K)}.items():
            paths[array] = folder / f"{array}.npy"
            bits = random.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16
            np.save(paths[array], bits.astype(np.uint16).view("V2"))
        print(f"{'kernel':12} {'ms':>9} {'rate':>9}   unit                     with races: {'ms':>9} {'times':>6}")
        for case in measure.select(list(table), options, NAME):
            unit, work, aim, command, arguments = table[case]
            plain = seconds(command, arguments, paths, options.rounds, ["--no-race-detection"])
            races = seconds(command, arguments, paths, 1, [])
            print(f"{case:12} {1e3 * plain:9.2f} {work / plain / 1e6:9.0f}   {unit:24} {1e3 * races:21.2f} {races / plain:6.1f}", flush=True)
            rows.append({"case": case, "unit": unit, "seconds": plain, "rate": work / plain, "seconds_with_races": races, "aim": aim})
    for row in rows:
        if row["aim"]:
            measure.close(NAME, row["rate"] / row["aim"], "our aim", f"{row['case']}, {row['aim'] / 1e6:.0f} {row['unit']}")
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
