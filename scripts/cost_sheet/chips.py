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
