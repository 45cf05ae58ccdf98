# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Faults inserted into correct kernels: each is found and named, with the locations of the accesses."""

import pathlib
import sys
import tempfile

from emulate import kernels

FENCE = "    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n"
RELEASE = "    nvvm.mbarrier.arrive %uempty : !llvm.ptr<3>\n"
ANNOUNCE = "    nvvm.mbarrier.arrive.expect_tx %pfull, %c10240 : !llvm.ptr<3>, i32\n"
RAW = "nvvm.barrier0\n    %four"
WAR = "nvvm.barrier0\n    %k1"
# Swizzles of 128 and 64 bytes in the last two bits of a matrix descriptor.
SWIZZLE_128, SWIZZLE_64 = (f"llvm.mlir.constant({(1 << 16) | (64 << 32) | (mode << 62)} : i64)" for mode in (1, 2))
# Name: kernel, schedule, edits, the finding, other parts of the message: texts, and lines of the source in the order
# "this access", "the other access".
FAULTS = {
    "removed barrier before a write": ("reduction", "eager", [(WAR, WAR[14:])], "race", "is not ordered after a read",
                                       ["llvm.store %s, %mine", "%all = llvm.load"]),
    "removed barrier after a write": ("softmax", "eager", [(RAW, RAW[14:])], "race", "is not ordered after a read",
                                      ["llvm.store %w4, %mine", "%four = llvm.load"]),
    "removed first barrier": ("reduction", "eager", [("nvvm.barrier0\n    %first", "%first")],
                              "read of unwritten shared memory", "at 4,",
                              ["%all = llvm.load"]),
    "wait count off by one": ("mma", "eager", [("wait.group 1", "wait.group 2")], "race",
                              "while an asynchronous write is in flight",
                              ["%am0 = nvvm.ldmatrix", "nvvm.cp.async.shared.global %s"]),
    "wait count off by one, late copies": ("mma", "lazy", [("wait.group 1", "wait.group 2")], "race", "in flight", []),
    "early stage release": ("wgmma", "eager", [("wait.group.sync.aligned 0", "wait.group.sync.aligned 1")], "race",
                            "while an asynchronous read is in flight",
                            ["global %pa, %map_a", "%sum0 = nvvm.wgmma"]),
    "missing arrive": ("wgmma", "eager", [(RELEASE, "")], "deadlock", "lacks 1 of 1 arrivals",
                       ["%free = nvvm.mbarrier.try_wait"]),
    "wrong swizzle": ("wgmma", "eager", [(SWIZZLE_128, SWIZZLE_64)], "wrong swizzle", "with a swizzle of 64 bytes",
                      ["%sum0 = nvvm.wgmma"]),
    "divergent barrier": ("reduction", "eager", [("  ^put:\n", "  ^put:\n    nvvm.barrier0\n")], "barrier divergence",
                          "lanes",
                          ["nvvm.barrier0"]),
    "index out of bounds": ("elementwise", "eager", [('"ult" %i', '"ule" %i')], "out of bounds",
                            "2000 bytes after the start of a buffer of 2000", ["%a = llvm.load"]),
    "unwritten shared memory": ("reduction", "eager", [("array<8 x f32>", "array<12 x f32>"), ("%sums[4]", "%sums[8]")],
                                "read of unwritten shared memory", "shared memory at 32", ["%rest = llvm.load"]),
    "misaligned vector access": ("reduction", "eager", [("%sums[4]", "%sums[3]")], "misaligned access",
                                 "12 beyond a multiple of 16", ["%rest = llvm.load"]),
    "missing proxy fence": ("wgmma", "eager", [(FENCE, "")], "missing proxy fence", "without a fence.proxy.async",
                            ["cp.async.bulk.tensor.global.shared.cta", "llvm.store %pair0"]),
    "double arrive": ("wgmma", "eager", [(ANNOUNCE, ANNOUNCE + "    nvvm.mbarrier.arrive %pfull : !llvm.ptr<3>\n")],
                      "mbarrier misuse", "expects 0 more of 1", ["nvvm.mbarrier.arrive %pfull",
                                                                 "nvvm.mbarrier.init %full,"]),
    "too few bytes announced": ("wgmma", "eager", [("expect_tx %pfull, %c10240", "expect_tx %pfull, %c8192")], "race",
                                "is not ordered",
                                []),
    "too many bytes announced": ("wgmma", "shuffled", [("expect_tx %pfull, %c10240", "expect_tx %pfull, %c24576")],
                                 "deadlock",
                                 "14336 bytes", []),
    "mbarrier that is not initialised": ("wgmma", "eager",
                                         [("nvvm.mbarrier.init %empty1, %c1 : !llvm.ptr<3>, i32", "")],
                                         "mbarrier misuse", "which is not initialised", []),
    "mbarrier written over": ("wgmma", "eager", [("constant(20480 : i32)", "constant(20512 : i32)")],
                              "mbarrier misuse", "which holds an mbarrier", []),
    "race between CTAs": ("reduction", "eager", [("getelementptr %y[%r]", "getelementptr %y[%k]")], "race",
                          "global memory",
                          ["llvm.store %total", "llvm.store %total"]),
    "lane left out of a shuffle": ("reduction", "eager", [("constant(-1 : i32)", "constant(65535 : i32)")],
                                   "divergent warp",
                                   "which does not participate", ["nvvm.shfl.sync"]),
    "shared memory overrun": ("mma", "eager", [("constant(3072 : i32)", "constant(4096 : i32)")], "out of bounds",
                              "which has 9216 bytes",
                              []),
    "division by zero": ("mma", "eager", [("llvm.urem %ahead, %c3", "llvm.urem %ahead, %c0")],
                         "division by zero", "", ["llvm.urem"]),
}


def line_of(text, wanted):
    return [str(number) for number, line in enumerate(text.split("\n"), 1) if wanted in line]


def check(kernel, folder, schedule, edits, failure, says, lines):
    """A complaint about the finding, or None."""
    text = kernel.file.read_text()
    for old, new in edits:
        if old not in text:
            return f"the kernel no longer holds {old!r}"
        text = new.join(text.rsplit(old, 1))
    mutant = folder / "mutant.mlir"
    mutant.write_text(text)
    done = kernel.run(folder, [schedule], mutant)
    if done.returncode != 1:
        return f"exit {done.returncode}, expected 1: {done.stderr.strip()}"
    head, *rest = done.stderr.strip().split("\n")
    if f"error: {failure} in kernel '" not in head or says not in done.stderr:
        return f"the finding is: {done.stderr.strip()}"
    for message, wanted in zip([head, *rest], lines):
        if not any(f"mutant.mlir:{number}:" in message for number in line_of(text, wanted)):
            return f"{message!r} does not name {wanted!r}"
    return None if len(lines) <= 1 + len(rest) else "the other access is not named"


def main():
    problems = []
    with tempfile.TemporaryDirectory() as name:
        table = kernels()
        for fault, (kernel, *rest) in FAULTS.items():
            if problem := check(table[kernel], pathlib.Path(name), *rest):
                problems.append(f"{fault}: {problem}")
    print("\n".join(problems))
    print(f"faults: {len(FAULTS)} run, {len(problems)} failed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
