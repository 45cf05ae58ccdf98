# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The resources of an SM of each chip, and the occupancy of a kernel.

Limits and rates per clock: "CUDA C++ Programming Guide", tables of compute capabilities and of the throughput of native
arithmetic instructions. Bandwidth, SMs and clocks: NVIDIA's data sheets and white papers of the A100 (80 GB, SXM) and
of the H100 (SXM)."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Chip:
    sm_count: int
    clock: float  # of the SMs in Hz, boosted
    bandwidth: float  # of the memory in bytes per second
    shared_bytes: int  # of an SM, for blocks
    warps: int  # at most, of an SM
    blocks: int  # at most, of an SM
    fp32: int  # results per clock
    fp64: int
    products: int  # FMAs of f16 on tensor cores per clock; tf32 has half of them, i8 twice as many

    def bytes_per_clock(self):
        """That the memory gives one SM."""
        return self.bandwidth / self.sm_count / self.clock


A100 = Chip(108, 1.41e9, 2.039e12, 164 << 10, 64, 32, fp32=64, fp64=32, products=1024)
H100 = Chip(132, 1.83e9, 3.35e12, 228 << 10, 64, 32, fp32=128, fp64=64, products=2048)
CHIPS = {"sm_80": A100, "sm_90": H100, "sm_90a": H100}

@dataclasses.dataclass(frozen=True)
class Timing:
    """What the model of times needs of a chip, beside its limits."""
    limits: Chip
    clock: float  # of the SMs in Hz
    tensor_clock: float  # the same while tensor cores are busy, where power limits it
    launch: float  # seconds from one kernel to the next
    memory_share: float  # of the memory's bandwidth that kernels reach
    l2_bandwidth: float  # bytes per second of all SMs
    l2_bytes: int
    l1_bytes: int  # of an SM, shared memory included
    mma_share: float  # of the rate of wgmma that mma.sync reaches
    wgmma_share: float  # of the data sheet's rate that wgmma reaches
    issue_share: float  # of the cycles in which warps issue, if all are ready
    hiding_warps: float  # of an SM: with so many, waiting and computing overlap half
    overlap: float  # exponent of the norm that joins the SMs, L2 and the memory
    fetch: float  # clocks until an instruction comes that was not executed before
    latency: dict  # clocks until a result can be used


# Clocks: W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking" (arXiv
# 2402.13499) for shared memory, L1, L2 and mma; the memory's is higher there and in similar studies of other chips with
# large footprints and empty caches than the 500 clocks of a warm one. The rest are usual figures of such studies: "alu"
# of dependent instructions, "tma" what a copy by a tensor map takes beyond a load, "sector" what each sector of a
# request adds.
LATENCY = {"alu": 5, "fp64": 9, "special": 20, "shared": 30, "l1": 38, "l2": 270, "memory": 750, "mma": 34,
           "barrier": 25, "tma": 300, "sector": 1.0}
# Bandwidth: NVIDIA's data sheet of the H200. Caches: the white paper of the H100, 50 MB and 256 KB. Clocks: what Nsight
# Compute saw on 26 November 2026, without and with tensor cores. The others: scripts/cost_sheet/fit.py.
H200 = Timing(dataclasses.replace(H100, clock=1.98e9, bandwidth=4.8e12), clock=1.95e9, tensor_clock=1.78e9,
              l2_bytes=50 << 20, l1_bytes=256 << 10, latency=LATENCY,
              launch=2.025e-6, memory_share=0.9359, l2_bandwidth=15e12, mma_share=0.62, wgmma_share=1.0,
              issue_share=0.7625, hiding_warps=16.0, overlap=1.875, fetch=2.125)
TIMINGS = {"sm_90": H200, "sm_90a": H200}

REGISTERS = 64 << 10  # of an SM
REGISTER_UNIT = 256  # a warp has a multiple of it
WARP_UNIT = 4  # an SM has four schedulers
SHARED_OF_DRIVER = 1 << 10  # of each block
SHARED_UNIT = 128
INTEGERS, SPECIALS, SHUFFLES, WARP = 64, 16, 32, 32  # results per clock
SHARED_PER_CLOCK = 128  # bytes
ISSUES = 4  # warps per clock


def round_up(number, to):
    return -(-number // to) * to


def resident_blocks(chip, registers, shared, threads):
    """How many blocks of so many threads an SM holds; a thread has `registers`, a block `shared` bytes."""
    if not 0 < threads <= 1024 or not 0 < registers <= 255 or shared < 0:
        raise ValueError(f"no block has {threads} threads of {registers} registers with {shared} bytes of shared memory")
    warps = round_up(threads, WARP) // WARP
    by_registers = REGISTERS // round_up(registers * WARP, REGISTER_UNIT) // WARP_UNIT * WARP_UNIT
    by_shared = chip.shared_bytes // round_up(shared + SHARED_OF_DRIVER, SHARED_UNIT)
    return min(by_registers // warps, chip.warps // warps, chip.blocks, by_shared)
