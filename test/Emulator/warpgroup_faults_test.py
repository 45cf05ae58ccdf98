# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Faults put into the kernel that ad-emit-gpu makes for warpgroups: each is found and named, with the place of the instruction. One block
takes three parts of the result, six pieces each, by a ring of four stages."""

import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from gpu_products import SCHEDULES, Product  # noqa: E402

SHAPE = (264, 128, 384, "nn", "bf16", 0, "128x128")
WAIT = "nvvm.wgmma.wait.group.sync.aligned"
RELEASE = r"( *nvvm\.mbarrier\.arrive %\d+ : !llvm\.ptr<3>\n)"
EXPECT = r"( *nvvm\.mbarrier\.arrive\.expect_tx (%\d+), %\d+ : !llvm\.ptr<3>, i32\n)"
SYNC = r" *nvvm\.bar\.warp\.sync %\d+ : i32\n"
# Descriptors end in a constant with a swizzle of 128 bytes in the upper bits.
DESCRIPTOR = r"(llvm\.mlir\.constant\()46116862933\d+( : i64\))"
# Name: schedule, what is replaced and by what, how often it stands there, the finding, what else is said of it.
FAULTS = {
    "wait count off by one": ("eager", f"{WAIT} 1", f"{WAIT} 2", 1, "race", "while an asynchronous read is in flight"),
    "removed wait": ("shuffled", f"{WAIT} 1\n", "nvvm.wgmma.fence.aligned\n", 1, "race", "while an asynchronous read is in flight"),
    "early stage release": ("eager", f"{WAIT} 0", f"{WAIT} 1", 1, "race", "while an asynchronous read is in flight"),
    "missing arrive": ("eager", RELEASE, "", 2, "deadlock", "lacks"),
    "one reader is enough": ("eager", r"constant\(2 : i32\)(?= : i32\n *nvvm\.mbarrier\.init)", "constant(1 : i32)", 1, "deadlock", "lacks"),
    "missing announcement": ("eager", EXPECT, "", 1, "deadlock", "lacks 1 of 1 arrivals"),
    "double arrive": ("eager", EXPECT, r"\1      nvvm.mbarrier.arrive \2 : !llvm.ptr<3>\n", 1, "mbarrier misuse", "expects 0 more of 1"),
    "wrong swizzle": ("eager", DESCRIPTOR, r"\g<1>-9223367638808264704\2", 2, "wrong swizzle", "with a swizzle of 64 bytes"),
    "too few bytes announced": ("lazy", r"constant\(32768 : i32\)(?= : i32\n *nvvm\.mbarrier\.arrive)", "constant(16384 : i32)", 1, "race", ""),
    "removed barrier behind the initialisation": ("eager", r"nvvm\.barrier0\n", "nvvm.fence.mbarrier.init\n", 1, "mbarrier misuse", ""),
    "removed barrier before sums are read": ("eager", f"{SYNC}(?! *%\\d+ = llvm.trunc)", "", 1, "read of unwritten shared memory", ""),
    "removed barrier before sums are written": ("eager", f"{SYNC}(?= *%\\d+ = llvm.trunc)", "", 1, "race", ""),
    "a row too many": ("eager", r'"ult" (%\d+), (%\d+) : i64(?=\n.*"ult")', r'"ule" \1, \2 : i64', 1, "out of bounds", ""),
}


def mutated(text, old, new, count):
    """The text with every place changed, or nothing when there are not that many."""
    changed, found = re.subn(old, new, text)
    return changed if found == count else None


def wrong(product, fault, _):
    schedule, old, new, count, failure, says = fault
    text = mutated(product.text, old, new, count)
    if text is None:
        return f"the kernel does not hold {old!r} {count} times"
    done = product.run([schedule], blocks=1, text=text)
    if done.returncode != 1:
        return f"exit {done.returncode}, expected 1: {done.stderr.strip()}"
    if f"error: {failure} in kernel '" not in done.stderr or says not in done.stderr or "kernel.mlir:" not in done.stderr:
        return f"the finding is: {done.stderr.strip()}"
    return None


def clean(product, _):
    for schedule in SCHEDULES:
        done = product.run(schedule, blocks=1)
        if done.returncode:
            return f"the kernel itself: {' '.join(schedule)}: {done.stderr.strip()}"
    return None


def with_product(check, folder):
    return check(Product(folder, *SHAPE), folder)


def main():
    tests = [("no fault", functools.partial(with_product, clean))]
    for name, fault in FAULTS.items():
        tests.append((name, functools.partial(with_product, lambda product, folder, fault=fault: wrong(product, fault, folder))))
    return checks.run_checks("warpgroup-faults", tests)


if __name__ == "__main__":
    sys.exit(main())
