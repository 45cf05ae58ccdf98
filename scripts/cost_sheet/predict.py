# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The time of a kernel: one block is executed on paper, and what it costs is multiplied up to the grid.

Three kinds of time are joined: the blocks of the busiest SM one wave after the other, each as long as its slowest warp
waits for operands; the busiest unit of that SM with all its blocks; the second-level cache and the memory with the
traffic of all blocks. They overlap in part, as a norm says whose exponent is a parameter of the chip."""

import dataclasses
import functools
import math

import numpy as np

import chips
import machine
import meter
import operands
import trips

Unpredictable = (machine.TooLong, trips.Runaway, operands.UnknownInstruction)


# Some grids have blocks without work: where a block executes few instructions, others are executed, too. Between two of
# them that differ by more than ALIKE, the place where the work changes is searched.
SHORT, SAMPLES, ALIKE = 2000, 5, 0.2


@dataclasses.dataclass
class Work:
    """What the parameters of `seconds` multiply."""
    latency: float  # clocks, of the waves of the busiest SM one after the other
    units: dict  # clocks of the busiest SM
    l2_bytes: float
    memory_bytes: float
    code: int  # different instructions that a block executes
    resident_warps: int  # of an SM

    @property
    def uses_tensor_cores(self):
        return self.units["mma"] + self.units["wgmma"] > 0


@dataclasses.dataclass
class Launch:
    """The grid of a kernel on a chip."""
    blocks: int
    threads: int
    of_sm: int  # blocks of the busiest SM
    resident: int  # of those, at the same time
    active: int  # of all blocks

    @property
    def waves(self):
        return -(-self.of_sm // self.resident)


def launch_of(kernel, chip):
    blocks, threads = kernel.grid(chip.sm_count)
    holds = max(1, chips.resident_blocks(chip, kernel.registers, kernel.shared, threads))
    of_sm = -(-blocks // chip.sm_count)
    resident = min(holds, of_sm)
    return Launch(blocks, threads, of_sm, resident, min(blocks, resident * chip.sm_count))


def run_block(kernel, timing, chip_name, launch, number, cached):
    """The meter of one block, and how many instructions were executed for it."""
    own_l1 = max(16 << 10, timing.l1_bytes - launch.resident * (kernel.shared + chips.SHARED_OF_DRIVER))
    caches = own_l1 / launch.resident, timing.l2_bytes / launch.active
    for innermost in (False, True):
        counting = meter.Meter(kernel, timing, launch.threads, caches, cached)
        block = machine.Block(kernel, chip_name, timing.limits.sm_count, counting, number)
        try:
            block.run(innermost)
            break
        except (trips.Runaway, machine.TooLong):
            if innermost:
                raise
    return counting, block.steps


def measure(kernel, timing, chip_name, cold):
    """The work of a kernel; `cold` says that nothing lies in the second-level cache before it."""
    launch = launch_of(kernel, timing.limits)
    fits = not cold and sum(tensor.bytes for tensor in kernel.tensors) < FITS * timing.l2_bytes
    cached = frozenset(range(len(kernel.tensors))) if fits else frozenset()
    # Of persistent blocks the first has most tiles; other grids have a block in the middle that lies at no edge.
    number = 0 if "persistent_blocks" in kernel.launch else launch.blocks // 3
    for _ in range(2):
        found, steps = run_block(kernel, timing, chip_name, launch, number, cached)
        shared = cached | {number for number, tensor in enumerate(kernel.tensors)
                           if found.per_tensor[number, 0] * launch.blocks > 4 * max(tensor.bytes, meter.SECTOR)}
        if shared == cached:
            break
        cached = shared
    parts_of_grid = [(launch.blocks, found)]
    if steps < SHORT and launch.blocks > 1 and "persistent_blocks" not in kernel.launch:
        parts_of_grid = divide_grid(lambda block: run_block(kernel, timing, chip_name, launch, block, cached)[0],
                                    launch.blocks)
    return work_of(kernel, timing.limits, launch, parts_of_grid, fits)


def divide_grid(run, blocks):
    """[(how many blocks, the meter of one of them)]."""
    places = sorted({part * (blocks - 1) // (SAMPLES - 1) for part in range(SAMPLES)})
    meters = {place: run(place) for place in places}
    intervals, found = list(zip(places, places[1:])), [(1, meters[0])]
    while intervals:
        low, high = intervals.pop()
        issued = [meters[place].counts[0] for place in (low, high)]
        if high - low > 1 and max(issued) > (1 + ALIKE) * min(issued):
            middle = (low + high) // 2
            meters[middle] = run(middle)
            intervals += [(low, middle), (middle, high)]
        else:
            found.append((high - low, meters[high]))
    return found


FITS = 0.8  # of the second-level cache, that tensors of a repeated kernel may take to stay there


def work_of(kernel, chip, launch, parts_of_grid, fits):
    """Of a grid, by how many blocks have which meter. The busiest SM has its share of all, and a whole block."""
    mean = sum(count * each.counts for count, each in parts_of_grid) / launch.blocks
    most = functools.reduce(np.maximum, [each.counts for _, each in parts_of_grid])
    on_sm = dict(zip(meter.NAMES, np.maximum(mean * launch.of_sm, most).tolist()))
    on_chip = sum(count * each.per_tensor for count, each in parts_of_grid)
    sectors = float(mean[meter.PLACE["l2_reads"]] + mean[meter.PLACE["l2_writes"]]) * launch.blocks
    units = {name: on_sm[name] * chips.WARP / rate for name, rate in
             (("fp32", chip.fp32), ("integer", chips.INTEGERS), ("fp64", chip.fp64), ("special", chips.SPECIALS))}
    units |= {"issue": on_sm["issue"] / chips.ISSUES, "shared": on_sm["shared"] + on_sm["l1"],
              "lines": on_sm["lines"], "mma": on_sm["mma"], "wgmma": on_sm["wgmma"]}
    memory = sum(min(float(on_chip[number, 0]), tensor.bytes) + float(on_chip[number, 2])
                 for number, tensor in enumerate(kernel.tensors)) + float(on_chip[len(kernel.tensors):, 0].sum())
    clocks = [(count, float(each.clock.max())) for count, each in parts_of_grid]
    in_waves = sum(count * clock for count, clock in clocks) / launch.blocks * launch.waves
    code = set().union(*(each.executed for _, each in parts_of_grid))
    return Work(max([in_waves, *(clock for _, clock in clocks)]), units, sectors * meter.SECTOR, 0.0 if fits else memory,
                len(code), launch.resident * parts_of_grid[0][1].warps)


def parts(work, timing):
    """Seconds of all that overlaps."""
    clock = timing.tensor_clock if work.uses_tensor_cores else timing.clock
    units = dict(work.units)
    units["issue"] /= timing.issue_share
    units["wgmma"] /= timing.wgmma_share
    units["mma"] /= timing.mma_share
    busiest = max(units, key=units.get)
    return {"waits": (work.latency + work.code * timing.fetch) / clock, busiest: units[busiest] / clock,
            "l2": work.l2_bytes / timing.l2_bandwidth,
            "memory": work.memory_bytes / (timing.limits.bandwidth * timing.memory_share)}


def norm(values, exponent):
    largest = max(values)
    return largest * math.fsum((value / largest) ** exponent for value in values) ** (1 / exponent) if largest else 0.0


def seconds(work, timing):
    """Few warps wait and compute by turns, many do both at once; traffic overlaps with both."""
    waits, busiest, l2, memory = parts(work, timing).values()
    of_sm = norm((waits, busiest), 1 + work.resident_warps / timing.hiding_warps)
    return timing.launch + norm((of_sm, l2, memory), timing.overlap)


def of_kernel(kernel, chip_name, timing=chips.H200, cold=True):
    return seconds(measure(kernel, timing, chip_name, cold), timing)
