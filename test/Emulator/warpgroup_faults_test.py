# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Faults put into the wgmma kernel of ad-emit-gpu: each is found and named, with the location of the instruction. One
block computes three output tiles of six K tiles each, with a pipeline of four stages; the two blocks of a cluster
compute two output tiles each."""

import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
from gpu_products import SCHEDULES, Product  # noqa: E402

SHAPE = (264, 128, 384, "nn", "bf16", 0, "128x128")
PAIR = (*SHAPE[:-1], "2x128x128")
WAIT = "nvvm.wgmma.wait.group.sync.aligned"
RELEASE = r"( *nvvm\.mbarrier\.arrive %\d+ : !llvm\.ptr<3>\n)"
EXPECT = r"( *nvvm\.mbarrier\.arrive\.expect_tx (%\d+), %\d+ : !llvm\.ptr<3>, i32\n)"
SYNC = r" *nvvm\.bar\.warp\.sync %\d+ : i32\n"
# Descriptors end in a constant with a swizzle of 128 bytes in the upper bits.
DESCRIPTOR = r"(llvm\.mlir\.constant\()46116862933\d+( : i64\))"
# Name: schedule, the replaced pattern, its replacement, how often the pattern occurs, the finding, other parts of the
# message.
FAULTS = {
    "wait count off by one": ("eager", f"{WAIT} 1", f"{WAIT} 2", 1, "race", "while an asynchronous read is in flight"),
    "removed wait": ("shuffled", f"{WAIT} 1\n", "nvvm.wgmma.fence.aligned\n", 1, "race",
                     "while an asynchronous read is in flight"),
    "early read of sums": ("eager", f"{WAIT} 0", f"{WAIT} 1", 1, "register misuse",
                           "read of accumulators of a wgmma in flight"),
    "removed fence": ("shuffled", r" *nvvm\.wgmma\.fence\.aligned\n", "", 1, "register misuse",
                      "after the last access to its accumulators"),
    "fence before the sums are zeroed": ("lazy",
                                         r"(nvvm\.setmaxregister +increase 232\n)((?:.*\n)*?) *nvvm\.wgmma\.fence\.aligned\n",
                                         r"\1      nvvm.wgmma.fence.aligned\n\2", 1, "register misuse",
                                         "after the last access to its accumulators"),
    "registers that nobody gives up": ("eager", r" *nvvm\.setmaxregister +decrease 40\n", "", 1, "deadlock",
                                       "wait for registers of other warps"),
    "registers beyond what there are": ("lazy", "setmaxregister  increase 232", "setmaxregister  increase 240", 1,
                                        "deadlock", "wait for registers of other warps"),
    "registers given up that a thread lacks": ("eager", "setmaxregister  decrease 40", "setmaxregister  decrease 176",
                                               1, "register misuse",
                                               "setmaxnreg.dec to 176 registers in a thread that has 168"),
    "missing arrive": ("eager", RELEASE, "", 2, "deadlock", "lacks"),
    "one reader is enough": ("eager", r"(mbarrier\.init %\d+, )<2 : i32>(?= :)", r"\g<1><1 : i32>", 4, "deadlock",
                             "lacks"),
    "missing announcement": ("eager", EXPECT, "", 1, "deadlock", "lacks 1 of 1 arrivals"),
    "double arrive": ("eager", EXPECT, r"\1      nvvm.mbarrier.arrive \2 : !llvm.ptr<3>\n", 1, "mbarrier misuse",
                      "expects 0 more of 1"),
    "wrong swizzle": ("eager", DESCRIPTOR, r"\g<1>-9223367638808264704\2", 2, "wrong swizzle",
                      "with a swizzle of 64 bytes"),
    "too few bytes announced": ("lazy", r"constant\(32768 : i32\)(?= : i32\n *nvvm\.mbarrier\.arrive)",
                                "constant(16384 : i32)", 1, "race", ""),
    "removed barrier after the initialisation": ("eager", r"nvvm\.barrier0\n", "nvvm.fence.mbarrier.init\n", 1, "race",
                                                  "not ordered after its initialisation"),
    "removed barrier before sums are read": ("eager", f"{SYNC}(?= *%\\d+ = llvm.urem)", "", 1,
                                             "read of unwritten shared memory", ""),
    "removed barrier before sums are written": ("eager", f"{SYNC}(?! *%\\d+ = llvm.urem)", "", 1, "race", ""),
    "a row too many": ("eager", r'"ult" (%\d+), (%\d+) : i32(?=\n.*"ult")', r'"ule" \1, \2 : i32', 1, "out of bounds",
                       ""),
}
# The same with clusters of two blocks, which release stages to each other.
REMOTE = r"( *)(%(\d+) = nvvm\.mapa %\d+, )%\d+(?= : )"
ARRIVE = r" *nvvm\.mbarrier\.arrive %\d+ : !llvm\.ptr<7>\n"
READS = r'( *)(%\d+) = llvm\.icmp "ult" (%\d+), %\d+ : i32(?=\n.*\n *llvm\.br )'
MEET = r"nvvm\.cluster\.arrive\n *nvvm\.cluster\.wait\n"
FOR_PAIRS = ("wait count off by one", "removed wait", "early read of sums", "missing announcement", "double arrive",
             "wrong swizzle", "a row too many")
OF_PAIRS = {name: FAULTS[name] for name in FOR_PAIRS} | {
    "missing arrive": ("eager", ARRIVE, "", 2, "deadlock", "lacks 4 of 4 arrivals"),
    "missing remote arrive": ("eager", READS,
                              r'\1%one = llvm.mlir.constant(1 : i32) : i32\n\1\2 = llvm.icmp "ult" \3, %one : i32', 1,
                              "deadlock",
                              "lacks 4 of 4 arrivals and 0 bytes) (first: rank 1"),
    "all arrivals at one block": ("eager", REMOTE, r"\1%zero\3 = llvm.mlir.constant(0 : i32) : i32\n\1\2%zero\3", 2,
                                  "deadlock", "lacks 4 of 4 arrivals"),
    "readers of one block are enough": ("eager", r"(mbarrier\.init %\d+, )<4 : i32>(?= :)", r"\g<1><2 : i32>", 4, "deadlock",
                                        "lacks 2 of 2 arrivals"),
    "half of the multicast missing": ("eager", r"multicast_mask = %\d+ ", "", 1, "deadlock",
                                      "lacks 0 of 1 arrivals and 8192 bytes"),
    "too few bytes announced": ("lazy", r"constant\(32768 : i32\)(?= : i32\n *nvvm\.mbarrier\.arrive)",
                                "constant(24576 : i32)", 1, "race", ""),
    "no barrier of the cluster after the initialisation": ("eager", f"{MEET}(?=.*\n.*llvm.cond_br)", "nvvm.barrier0\n",
                                                            1, "race", "not ordered after its initialisation"),
    "no barrier of the cluster before the end": ("lazy", f"{MEET}(?= *llvm.return)", "nvvm.barrier0\n", 1,
                                                 "out of bounds", "whose threads have left the kernel"),
}


def with_constants(text, pattern):
    """The pattern with the names of constants in place of `<NUMBER : TYPE>`."""
    name = lambda found: re.search(rf"(%\d+) = llvm\.mlir\.constant\({found[1]}\)", text)[1]  # noqa: E731
    return re.sub(r"<(\d+ : i\d+)>", name, pattern)


def mutated(text, old, new, count):
    """The text with every occurrence replaced, or None if their number differs."""
    changed, found = re.subn(with_constants(text, old), with_constants(text, new), text)
    return changed if found == count else None


def wrong(product, fault, blocks):
    schedule, old, new, count, failure, says = fault
    text = mutated(product.text, old, new, count)
    if text is None:
        return f"the kernel does not hold {old!r} {count} times"
    done = product.run([schedule], blocks=blocks, text=text)
    if done.returncode != 1:
        return f"exit {done.returncode}, expected 1: {done.stderr.strip()}"
    if any(text not in done.stderr for text in (f"error: {failure} in kernel '", says, "kernel.mlir:")):
        return f"the finding is: {done.stderr.strip()}"
    return None


def clean(product, blocks):
    for schedule in SCHEDULES:
        done = product.run(schedule, blocks=blocks)
        if done.returncode:
            return f"the kernel itself: {' '.join(schedule)}: {done.stderr.strip()}"
    return None


def with_product(check, shape, blocks, folder):
    return check(Product(folder, *shape), blocks)


def main():
    tests = []
    for label, shape, faults, blocks in (("", SHAPE, FAULTS, 1), ("pair: ", PAIR, OF_PAIRS, 2)):
        tests.append((f"{label}no fault", functools.partial(with_product, clean, shape, blocks)))
        for name, fault in faults.items():
            check = lambda product, blocks, fault=fault: wrong(product, fault, blocks)  # noqa: E731
            tests.append((label + name, functools.partial(with_product, check, shape, blocks)))
    return checks.run_checks("warpgroup-faults", tests)


if __name__ == "__main__":
    sys.exit(main())
