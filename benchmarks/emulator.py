#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The emulated GPU on one core: thread-instructions per second in simple code, wgmma and mma.sync in GFLOP/s, and what
looking for races costs.

Kernels are those of the tests in larger grids, and a loop over elements. A thread-instruction is one operation of the
kernel's text, executed by one thread; arithmetic on a vector counts once for each element. Time is that of the CPU,
without compiling the kernel. There is no peer: the closing lines compare with our own aims.
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
BLOCKS, ITERATIONS = 64, 32
INSTRUCTIONS_AIM, WGMMA_AIM = 300e6, 10e9


# y = 2 x + 1 over ITERATIONS elements of each thread, a block's width apart: eleven operations an iteration.
LOOP = """gpu.module @kernels {
  llvm.func @loop(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %iterations: i32) attributes {nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %two = llvm.mlir.constant(2.0 : f32) : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %size = nvvm.read.ptx.sreg.ntid.x : i32
    %row = llvm.mul %block, %iterations : i32
    %first = llvm.mul %row, %size : i32
    llvm.br ^iteration(%c0 : i32)
  ^iteration(%i: i32):
    %step = llvm.mul %i, %size : i32
    %line = llvm.add %step, %first : i32
    %at = llvm.add %line, %tid : i32
    %from = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to = llvm.getelementptr %y[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %a = llvm.load %from : !llvm.ptr<1> -> f32
    %b = llvm.fmul %a, %two : f32
    %c = llvm.fadd %b, %one : f32
    llvm.store %c, %to : f32, !llvm.ptr<1>
    %next = llvm.add %i, %c1 : i32
    %more = llvm.icmp "ult" %next, %iterations : i32
    llvm.cond_br %more, ^iteration(%next : i32), ^end
  ^end:
    llvm.return
  }
}
"""


def count_instructions(text):
    """Operations that one thread executes of straight code; those on a vector count once for each element."""
    count = 0
    for line in text.split("\n"):
        if not re.match(r"\s+(%\S+ = )?(llvm|nvvm)\.", line) or "mlir.constant" in line or "mlir.addressof" in line:
            continue
        width = re.search(r"llvm\.f\w+ .*vector<(\d+)x", line)
        count += int(width[1]) if width else 1
    return count


def cases():
    """Name, unit, work, aim and command of each case."""
    product = ["bf16:{a}", "bf16:{b}", f"out:f32:{M}x{N}", f"i32:{N}", f"i32:{K}"]
    tiles = ["map:box=64x64,swizzle=128:bf16:{a}", "map:box=16x64,swizzle=128:bf16:{b}",
             f"map:box=64x16:out:f32:{M}x{N}", f"i32:{K}"]
    wide = ["map:box=64x64,swizzle=128:bf16:{a}", "map:box=256x64,swizzle=128:bf16:{b}", "i32:" + str(K)]
    softmax = INPUTS / "softmax.mlir"
    flops = 2.0 * M * N * K
    straight = count_instructions(LOOP.split("^iteration", 1)[0])
    per_iteration = count_instructions(LOOP.split("^iteration(%i", 1)[1]) - 1
    return {
        "loop": ("M thread-instructions/s", 256.0 * BLOCKS * (straight + ITERATIONS * per_iteration), INSTRUCTIONS_AIM,
                 ["{loop}", "--grid", BLOCKS, "--block", 256],
                 ["{long}", f"out:f32:{BLOCKS * ITERATIONS * 256}", f"i32:{ITERATIONS}"]),
        "softmax": ("M thread-instructions/s", 128.0 * ROWS * count_instructions(softmax.read_text()), None,
                    [softmax, "--grid", ROWS, "--block", 128], ["bf16:{x}", f"out:f32:{ROWS}x1024"]),
        "mma": ("MFLOP/s", flops, None, [INPUTS / "gemm-mma.mlir", "--grid", f"{N // 16},{M // 32}", "--block", 64],
                product),
        "wgmma-n16": ("MFLOP/s", flops, None, [INPUTS / "gemm-wgmma.mlir", "--grid", f"{N // 16},{M // 64}", "--block",
                                               256, "--shared", 24608], tiles),
        "wgmma-n256": ("MFLOP/s", flops, WGMMA_AIM, ["{wide}", "--grid", f"{N // 256},{M // 64}", "--block", 256,
                                                     "--shared", 82976], wide),
    }


def widen(text):
    """The wgmma kernel of the tests with tiles of 256 columns; without its epilogue, which is written for 16."""
    head, tail = text.split("  ^epilogue:\n", 1)
    old, new = ("!llvm.struct<(" + ", ".join(["f32"] * count) + ")>" for count in (8, 128))
    head = head.replace(old, new).replace("n = 16,",
                                          "n = 256,").replace("%map_c: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, ", "")
    head = head.replace("mul %bx, %c16", "mul %bx, %c256").replace("mlir.constant(10240 ", "mlir.constant(40960 ")
    head = head.replace("mlir.constant(24576 ",
                        "mlir.constant(82944 ").replace("mlir.constant(24592 ", "mlir.constant(82960 ")
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
    return float(re.search(r"CPU milliseconds: (\S+)", done.stdout)[1]) / 1e3


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    table = cases()
    random = np.random.default_rng(0)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = {"wide": folder / "wide.mlir"}
        paths["loop"], paths["long"] = folder / "loop.mlir", folder / "long.npy"
        paths["loop"].write_text(LOOP)
        np.save(paths["long"], random.standard_normal(BLOCKS * ITERATIONS * 256).astype(np.float32))
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
            rows.append({"case": case, "unit": unit, "seconds": plain, "rate": work / plain,
                         "seconds_with_races": races, "aim": aim})
    for row in rows:
        if row["aim"]:
            measure.close(NAME, row["rate"] / row["aim"], "our aim",
                          f"{row['case']}, {row['aim'] / 1e6:.0f} {row['unit']}")
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
