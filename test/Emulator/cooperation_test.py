# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Synchronization between warps and CTAs: named barriers, clusters, bulk copies, ordered atomics. Each case runs once
correctly, and once without an instruction that it needs."""

import sys

import numpy as np

from emulate import constants, load, run_families, store

PAIR = ["--grid", 2, "--cluster", 2]
LANES = np.arange(32, dtype=np.int32)


def named_barriers(bench):
    """One warp arrives and continues, the other one waits for it."""
    arrive = "    nvvm.barrier.arrive id = %c1 number_of_threads = %c64\n"
    wait = "    nvvm.barrier id = %c1 number_of_threads = %c64\n"
    body = constants(1, 3, 32, 64) + '    %first = llvm.icmp "ult" %lane, %c32 : i32\n'
    body += "    llvm.cond_br %first, ^produce, ^consume\n  ^produce:\n    %v = llvm.mul %lane, %c3 : i32\n"
    body += store("%v", "i32", "%lane", "%memory", 3) + arrive + "    llvm.br ^end\n  ^consume:\n" + wait
    body += "    %i = llvm.sub %lane, %c32 : i32\n" + load("w", "i32", "%i", "%memory", 3)
    body += store("%w", "i32", "%i") + "    llvm.br ^end\n  ^end:\n"
    bench.check("named-barrier", body, LANES, "i32", LANES * 3, threads=64)
    bench.check("missing-barrier", body.replace(arrive, "").replace(wait, ""), LANES, "i32", LANES, threads=64,
                finding="race")
    bench.check("barrier-of-half", body.replace(arrive, arrive.replace("%c64", "%c32")), LANES, "i32", LANES,
                threads=64, finding="deadlock")


MEET = "    nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}\n"


def clusters(bench):
    """Each CTA reads the shared memory of the other CTA."""
    body = "    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n" + constants(1, 10, 32) + (
        "    %v = llvm.add %rank, %c10 : i32\n") + store("%v", "i32", "%lane", "%memory", 3) + MEET + (
        "    %other = llvm.xor %rank, %c1 : i32\n    %far = nvvm.mapa %memory, %other : !llvm.ptr<3> -> !llvm.ptr<7>\n"
        ) + load("w", "i32", "%lane", "%far",
                 7) + "    %o = llvm.mul %rank, %c32 : i32\n    %i = llvm.add %o, %lane : i32\n" + store("%w", "i32", "%i") + MEET
    expected = np.repeat(np.array([11, 10], np.int32), 32)
    bench.check("cluster", body, LANES, "i32", expected, launch=PAIR)
    bench.check("cluster-race", body.replace(MEET, "    nvvm.barrier0\n", 1), LANES, "i32", expected, launch=PAIR,
                finding="read of unwritten")
    bench.check("cluster-second-arrival", body.replace(MEET, "    nvvm.cluster.arrive\n" + MEET, 1), LANES, "i32",
                expected, launch=PAIR,
                finding="invalid instruction")


def remote_arrivals(bench):
    """Each CTA arrives at an mbarrier of the other CTA, which must not have left the kernel."""
    fence, relaxed = "    nvvm.fence.mbarrier.init\n", MEET.replace("arrive", "arrive.relaxed")
    body = ("    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n" + constants(0, 1, 7) +
            '    %other = llvm.xor %rank, %c1 : i32\n    %first = llvm.icmp "eq" %lane, %c0 : i32\n    llvm.cond_br %first, ^init, ^met\n  ^init:\n'
            "    nvvm.mbarrier.init %memory, %c1 : !llvm.ptr<3>, i32\n" + fence + "    llvm.br ^met\n  ^met:\n" + MEET +
            "    llvm.cond_br %first, ^arrive, ^end\n  ^arrive:\n    %far = nvvm.mapa %memory, %other : !llvm.ptr<3> -> !llvm.ptr<7>\n"
            "    nvvm.mbarrier.arrive %far {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>\n"
            + store("%c7", "i32", "%rank") + "    llvm.br ^end\n  ^end:\n" + MEET)
    expected = np.array([7, 7], np.int32)
    bench.check("remote-arrival", body, LANES, "i32", expected, launch=PAIR)
    bench.check("relaxed-after-a-fence", body.replace(MEET, relaxed, 1), LANES, "i32", expected, launch=PAIR)
    bench.check("relaxed-without-a-fence", body.replace(MEET, relaxed, 1).replace(fence, ""), LANES, "i32", expected,
                launch=PAIR, finding="race")
    bench.check("initialised-without-order", body.replace(MEET, "    nvvm.barrier0\n", 1), LANES, "i32", expected,
                launch=PAIR, finding="race")
    bench.check("arrival-after-the-end", "".join(body.rsplit(MEET, 1)), LANES, "i32", expected, launch=PAIR,
                finding="out of bounds")


def scopes(bench):
    """Each CTA stores into the shared memory of the other CTA and arrives at its mbarrier. Arrival and wait need the
    scope of the cluster."""
    fence, cluster = "    nvvm.fence.mbarrier.init\n", " {scope = #nvvm.mem_scope<cluster>}"
    body = ("    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n" + constants(0, 1, 7, 1024) +
            "    %bar = llvm.getelementptr %memory[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
            '    %other = llvm.xor %rank, %c1 : i32\n    %first = llvm.icmp "eq" %lane, %c0 : i32\n    llvm.cond_br %first, ^init, ^met\n  ^init:\n'
            "    nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32\n" + fence + "    llvm.br ^met\n  ^met:\n" + MEET +
            "    llvm.cond_br %first, ^tell, ^end\n  ^tell:\n    %far = nvvm.mapa %memory, %other : !llvm.ptr<3> -> !llvm.ptr<7>\n"
            "    %there = nvvm.mapa %bar, %other : !llvm.ptr<3> -> !llvm.ptr<7>\n    %n = llvm.add %rank, %c7 : i32\n"
            + store("%n", "i32", "%c0", "%far", 7) +
            f"    nvvm.mbarrier.arrive %there{cluster} : !llvm.ptr<7>\n    llvm.br ^wait\n  ^wait:\n"
            f"    %done = nvvm.mbarrier.try_wait %bar, %c0{cluster} : !llvm.ptr<3>, i32 -> i1\n    llvm.cond_br %done, ^read, ^wait\n  ^read:\n"
            + load("v", "i32", "%c0", "%memory", 3) + store("%v", "i32", "%rank") + "    llvm.br ^end\n  ^end:\n"
            + MEET)
    expected = np.array([8, 7], np.int32)

    def check(name, text, finding=None):
        bench.check(name, text, LANES, "i32", expected, launch=PAIR, finding=finding)

    arrival, wait = f"arrive %there{cluster}", f"try_wait %bar, %c0{cluster}"
    assert arrival in body and wait in body
    check("scope-of-the-cluster", body)
    check("arrival-in-the-scope-of-the-block", body.replace(arrival, "arrive %there"), "race")
    check("wait-in-the-scope-of-the-block", body.replace(wait, "try_wait %bar, %c0"), "race")
    check("relaxed-arrival", body.replace(arrival, "arrive %there {relaxed = true, scope = #nvvm.mem_scope<cluster>}"),
          "race")
    check("relaxed-wait", body.replace(wait, "try_wait %bar, %c0 {relaxed = true, scope = #nvvm.mem_scope<cluster>}"),
          "race")


def bulk_copies(bench):
    """128 bytes to shared memory for one CTA, and by multicast for two; then back by a bulk store."""
    def body(multicast):
        mask = "multicast_mask = %mask " if multicast else ""
        space = 7 if multicast else 3
        near = ("    %near = llvm.addrspacecast %memory : !llvm.ptr<3> to !llvm.ptr\n    %target = llvm.addrspacecast %near : !llvm.ptr to !llvm.ptr<7>\n"
                if multicast else "")
        return (constants(0, 1, 32, 128, 1024) + near
                + "    %mask = llvm.mlir.constant(3 : i16) : i16\n    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32\n"
                "    %bar = llvm.getelementptr %memory[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8\n"
                '    %first = llvm.icmp "eq" %lane, %c0 : i32\n    llvm.cond_br %first, ^init, ^meet\n  ^init:\n'
                "    nvvm.mbarrier.init %bar, %c1 : !llvm.ptr<3>, i32\n    nvvm.mbarrier.arrive.expect_tx %bar, %c128 : !llvm.ptr<3>, i32\n    llvm.br ^meet\n  ^meet:\n"
                + MEET
                + '    %leads = llvm.or %rank, %lane : i32\n    %one = llvm.icmp "eq" %leads, %c0 : i32\n    llvm.cond_br %one, ^copy, ^wait\n  ^copy:\n'
                f"    nvvm.cp.async.bulk.shared.cluster.global %{'target' if multicast else 'memory'}, %x, %bar, %c128 {mask}: !llvm.ptr<{space}>, !llvm.ptr<1>\n"
                "    llvm.br ^wait\n  ^wait:\n    nvvm.mbarrier.try_wait.parity %bar, %c0, %c1024 : !llvm.ptr<3>, i32, i32\n"
                + load("v", "i32", "%lane", "%memory", 3) + "    %d = llvm.add %v, %c1 : i32\n"
                + store("%d", "i32", "%lane", "%memory", 3)
                + "    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n    nvvm.barrier0\n"
                "    %o = llvm.mul %rank, %c32 : i32\n    %to = llvm.getelementptr %y[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32\n"
                "    llvm.cond_br %first, ^store, ^end\n  ^store:\n    nvvm.cp.async.bulk.global.shared.cta %to, %memory, %c128 : !llvm.ptr<1>, !llvm.ptr<3>\n"
                "    nvvm.cp.async.bulk.commit.group\n    nvvm.cp.async.bulk.wait_group 0 {read}\n    llvm.br ^end\n  ^end:\n")
    bench.check("bulk", body(False), LANES * 5, "i32", LANES * 5 + 1)
    bench.check("bulk-multicast", body(True), LANES * 5, "i32", np.tile(LANES * 5 + 1, 2), launch=PAIR)
    bench.check("bulk-without-fence", "\n".join(line for line in body(False).split("\n") if "fence.proxy" not in line),
                LANES, "i32", LANES,
                finding="missing proxy fence")
    bench.check("bulk-read-too-early",
                body(False).replace("    nvvm.mbarrier.try_wait.parity %bar, %c0, %c1024 : !llvm.ptr<3>, i32, i32\n",
                                    ""),
                LANES, "i32", LANES, finding="read of unwritten shared memory")


def ordered_atomics(bench):
    """The second CTA reads data of the first one after it has read a flag."""
    def body(order, fence):
        return (constants(0, 1, 7)
                + "    %block = nvvm.read.ptx.sreg.ctaid.x : i32\n    %data = llvm.getelementptr %y[1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n"
                "    %result = llvm.getelementptr %y[2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i32\n"
                '    %writes = llvm.icmp "eq" %block, %c0 : i32\n    llvm.cond_br %writes, ^write, ^spin\n  ^write:\n    llvm.store %c7, %data : i32, !llvm.ptr<1>\n' + fence +
                f"    %old = llvm.atomicrmw xchg %y, %c1 {order[0]} {{alignment = 4 : i64}} : !llvm.ptr<1>, i32\n    llvm.br ^end\n  ^spin:\n"
                f'    %flag = llvm.load %y atomic {order[1]} {{alignment = 4 : i64}} : !llvm.ptr<1> -> i32\n    %set = llvm.icmp "eq" %flag, %c1 : i32\n'
                "    llvm.cond_br %set, ^read, ^spin\n  ^read:\n" + fence
                + "    %v = llvm.load %data : !llvm.ptr<1> -> i32\n"
                "    llvm.store %v, %result : i32, !llvm.ptr<1>\n    llvm.br ^end\n  ^end:\n")
    expected, relaxed = np.array([1, 7, 7], np.int32), ("monotonic", "monotonic")
    bench.check("release-acquire", body(("release", "acquire"), ""), LANES, "i32", expected, threads=1,
                launch=["--grid", 2])
    bench.check("fences", body(relaxed, "    nvvm.memory.barrier #nvvm.mem_scope<gpu>\n"), LANES, "i32", expected,
                threads=1, launch=["--grid", 2])
    bench.check("relaxed", body(relaxed, ""), LANES, "i32", expected, threads=1, launch=["--grid", 2], finding="race")


if __name__ == "__main__":
    sys.exit(run_families("cooperation", named_barriers, clusters, remote_arrivals, scopes, bulk_copies,
                          ordered_atomics))
