# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Counts what the instructions of a block cost: how long each unit of the SM is busy with them, sectors of memory, and
the clock of each warp, if it had the SM for itself: an instruction waits for its operands."""

import numpy as np

import mix
import opcodes
import operands as op

SECTOR, LINE = 32, 128  # bytes
TABLE = 1 << 18  # entries that remember when a sector was touched
SCATTER, TABLE_SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(64 - 18)  # Fibonacci hashing: the upper bits
UNITS = ("issue", "fp32", "integer", "fp64", "special", "shared", "lines", "mma", "wgmma")
TRAFFIC = ("l1", "l2_reads", "l2_writes")
NAMES = UNITS + TRAFFIC
PLACE = {name: number for number, name in enumerate(NAMES)}
COUNTED = {"fp32": 1, "integer": 2, "select": 2, "fp64": 3, "special": 4}
CLOCKS = {"integer": 2, "select": 2, "special": 8}  # that a warp keeps its quarter of the unit busy


class Meter:
    def __init__(self, kernel, chip, threads, share_of_cache, cached):
        """`share_of_cache`: bytes of the first and of the second-level cache that are the block's own; `cached`: tensors
        that lie in the second one when the block reads them first."""
        self.kernel, self.chip, self.warps = kernel, chip, -(-threads // 32)
        self.clock = np.zeros(self.warps)
        self.ready = np.zeros((op.ROWS + op.PREDICATES, self.warps))
        self.counts = np.zeros(len(NAMES))
        self.per_tensor = np.zeros((256, 3))  # bytes touched for the first time, requested of L2, of them loads
        self.copies, self.copied = np.zeros(self.warps), []  # arrival of cp.async, by group
        self.products = np.zeros((2, self.warps))  # when the tensor cores are done with a warp's, and the last duration
        self.waited = np.zeros(self.warps, bool)
        self.cache, self.cached = share_of_cache, cached
        self.touched, self.when, self.now = np.full(TABLE, -1, np.int64), np.zeros(TABLE), 0.0
        self.conflicts, self.executed = {}, set()
        fast = chip.latency
        self.latencies = {"fp32": fast["alu"], "integer": fast["alu"], "select": fast["alu"], "fp64": fast["fp64"],
                          "move": fast["alu"], "uniform": fast["alu"], "special": fast["special"],
                          "shared": fast["shared"], "control": fast["alu"], "global": 0, "local": fast["l1"],
                          "tensor": fast["mma"]}

    #===- What loops repeat ---------------------------------------------------===#

    def snapshot(self):
        return self.clock.copy(), self.counts.copy(), self.per_tensor.copy(), self.now

    @staticmethod
    def mean(later, earlier, iterations):
        return tuple((a - b) / iterations for a, b in zip(later, earlier))

    def repeat(self, cost, times):
        ahead = cost[0] * times
        self.clock += ahead
        self.ready += ahead
        self.products[0] += ahead
        self.copies += ahead
        self.copied = [each + ahead for each in self.copied]
        self.counts += cost[1] * times
        self.per_tensor += cost[2] * times
        self.now += cost[3] * times

    def save(self):
        return (self.clock.copy(), self.ready.copy(), self.counts.copy(), self.per_tensor.copy(), self.copies.copy(),
                list(self.copied), self.products.copy(), self.waited.copy(), self.now)

    def restore(self, saved):
        (self.clock, self.ready, self.counts, self.per_tensor, self.copies, self.copied, self.products, self.waited,
         self.now) = saved

    #===- Instructions --------------------------------------------------------===#

    def issue(self, step, warps):
        """The instruction goes to its unit when its operands are there."""
        self.executed.add(step.number)
        count = np.count_nonzero(warps)
        self.counts[0] += count
        if step.counted:
            self.counts[step.counted] += count * step.passes
        start = self.clock
        if step.waits_for.size:
            start = np.maximum(start, self.ready[step.waits_for].max(axis=0))
        if count == self.warps:
            self.clock = start + step.clocks
        else:
            np.copyto(self.clock, start + step.clocks, where=warps)

    def finish(self, step, running):
        if step.system:
            step.system(self, step, running)
        if step.writes.size:
            self.set_ready(step, running, self.clock + self.latencies[step.unit])

    def set_ready(self, step, running, when):
        if np.count_nonzero(running) == self.warps:
            self.ready[step.writes] = when
        else:
            for row in step.writes:
                np.copyto(self.ready[row], when, where=running)

    def wait_for_products(self, step, running):
        left = int(step.instruction.operands[-1], 16)
        np.maximum(self.clock, self.products[0] - left * self.products[1], out=self.clock, where=running)

    def commit_copies(self, step, running):
        self.copied.append(self.copies.copy())

    def wait_for_copies(self, step, running):
        left = int(step.instruction.operands[-1], 16)
        if len(self.copied) > left:
            np.maximum(self.clock, self.copied[-1 - left], out=self.clock, where=running)
            self.copied = self.copied[len(self.copied) - left:]

    def wait_for_box(self, step, running):
        """The first copy of a pipeline takes its whole way; the later ones overlap with products."""
        first = running & ~self.waited
        self.clock[first] += self.chip.latency["memory"] + self.chip.latency["tma"]
        self.waited = self.waited | running

    def barrier(self, step, running):
        self.clock[running] = self.clock[running].max() + self.chip.latency["barrier"]

    def multiply(self, step, running):
        products = mix.shape_products(step.instruction)
        if step.instruction.base.endswith("GMMA"):
            clocks = products / (self.chip.limits.products / 4)
            begin = np.maximum(self.clock, self.products[0])
            np.copyto(self.products[0], begin + clocks, where=running)
            np.copyto(self.products[1], clocks, where=running)
            self.counts[PLACE["wgmma"]] += clocks / 4 * running.sum()
        else:
            clocks = products / (self.chip.limits.products / 4)
            np.copyto(self.clock, self.clock + clocks - 1, where=running)
            self.counts[PLACE["mma"]] += clocks / 4 * running.sum()

    def fetch_box(self, step, running):
        """A copy by a tensor map goes from L2 to shared memory."""
        maps = self.kernel.launch.get("tensor_maps") or []
        if not maps:
            return
        boxes = []
        for number, box, *_ in maps:
            size = self.kernel.tensors[number].element_bytes
            for extent in box.split("x"):
                size *= int(extent)
            boxes.append((number, size))
        for number, size in boxes:
            share = size / len(boxes)
            self.counts[PLACE["l2_reads"]] += share / SECTOR
            self.per_tensor[number] += (share, share, 0)

    #===- Memory --------------------------------------------------------------===#

    def access(self, step, where, active, running):
        base = step.instruction.base
        if base in ("LDS", "STS"):
            self.counts[5] += self.wavefronts(step, where, active, running)
            latency = self.chip.latency["shared"]
        elif base in ("LDL", "STL"):
            self.counts[PLACE["lines"]] += running.sum()
            latency = self.chip.latency["l1"]
        else:
            latency = self.of_memory(step, where, active, running)
        if base == "LDGSTS":
            np.maximum(self.copies, self.clock + latency, out=self.copies, where=running)
            self.counts[5] += self.warps_of(step.bytes) * running.sum()
        elif step.writes.size:
            self.set_ready(step, running, self.clock + latency)

    @staticmethod
    def warps_of(size):
        return max(1, size * 32 // 128)

    def wavefronts(self, step, where, active, running):
        """Passes over the 32 banks of shared memory, by the conflicts of one warp."""
        visits, known = self.conflicts.get(step.number, (0, 1))
        if visits < 2:
            warp = int(np.argmax(running))
            lanes = slice(32 * warp, 32 * warp + 32)
            known = max(known, conflict_degree(where[lanes][active[lanes]], step.bytes))
            self.conflicts[step.number] = visits + 1, known
        return known * running.sum()

    def of_memory(self, step, where, active, running):
        """The latency for each warp; counts lines, sectors and bytes by where they come from."""
        stores = opcodes.is_store(step.instruction) or step.instruction.base in ("RED", "ATOM", "ATOMG")
        sectors = np.where(active, where // np.uint64(SECTOR), np.uint64(1 << 62)).astype(np.int64).reshape(-1, 32)
        ordered = np.sort(sectors, axis=1)
        new = np.ones_like(ordered, bool)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        new &= ordered != 1 << 62
        lines = ordered // (LINE // SECTOR)
        new_lines = np.ones_like(new)
        new_lines[:, 1:] = lines[:, 1:] != lines[:, :-1]
        counts = self.counts
        counts[PLACE["lines"]] += (new & new_lines).sum()
        counts[PLACE["l1"]] += max(new.sum() * SECTOR / LINE, self.warps_of(step.bytes) * running.sum())
        distance = np.full(ordered.shape, -1.0)
        found, index = np.unique(ordered[new], return_inverse=True)
        ages = self.ages(found)
        distance[new] = ages[index]
        tensor = int(found[0] >> 35) - 1 if found.size else 0
        tensor = tensor if 0 <= tensor < 256 else 255
        first = (ages == np.inf).sum()
        self.per_tensor[tensor, 0] += first * SECTOR
        if stores:
            counts[PLACE["l2_writes"]] += new.sum()
            return 0.0
        from_l2 = distance > self.cache[0]
        from_memory = distance > self.cache[1]
        counts[PLACE["l2_reads"]] += (ages > self.cache[0]).sum()
        self.per_tensor[tensor, 1] += (ages > self.cache[0]).sum() * SECTOR
        self.per_tensor[tensor, 2] += ((ages > self.cache[1]) & (ages < np.inf)).sum() * SECTOR
        fast = self.chip.latency
        far = fast["l2"] if tensor in self.cached else fast["memory"]
        per_warp = np.where(from_memory.any(axis=1), far, np.where(from_l2.any(axis=1), fast["l2"], fast["l1"]))
        return per_warp + new.sum(axis=1) * fast["sector"]

    def ages(self, sectors):
        """Bytes that the block touched since it last touched each of the sectors; infinite at first."""
        slot = (sectors.astype(np.uint64) * SCATTER >> TABLE_SHIFT).astype(np.int64)
        known = self.touched[slot] == sectors
        ages = np.where(known, self.now - self.when[slot], np.inf)
        self.touched[slot] = sectors
        self.now += (ages > 0).sum() * SECTOR
        self.when[slot] = self.now
        return ages


def conflict_degree(where, size):
    """Passes that shared memory takes for the threads of a warp: threads that read words of one bank wait for each
    other, unless they read the same word."""
    if not where.size:
        return 1
    words = max(1, size // 4)
    group = 32 // words
    total = 0
    for start in range(0, where.size, group):
        part = np.unique(where[start:start + group] >> np.uint64(2))
        every = np.unique((part[:, None] + np.arange(words, dtype=np.uint64)).ravel())
        total += int(np.bincount((every % np.uint64(32)).astype(np.int64)).max())
    return total


def unit_of(step):
    """(number of the unit that counts it, passes over the unit, clocks until the next instruction of the warp)"""
    base, unit = step.instruction.base, step.unit
    if base in ("SHFL", "REDUX"):
        return PLACE["shared"], 1, 1
    if base in ("LDSM", "STSM"):
        return PLACE["shared"], 4, 1
    if base in ("IMAD", "IMUL") and unit == "integer":  # the pipe of FMAs does it, at half its rate
        return COUNTED["fp32"], 2, 2
    return COUNTED.get(unit, 0), 1, CLOCKS.get(unit, 1)


def system_of(step):
    """What an instruction does to the meter beside its latency, or None."""
    base, modifiers = step.instruction.base, step.instruction.modifiers
    if step.unit == "tensor":
        return Meter.multiply
    if base == "WARPGROUP":
        return Meter.wait_for_products if "DEPBAR" in modifiers else None
    if base == "SYNCS":
        return Meter.wait_for_box if "TRYWAIT" in modifiers else None
    return {"BAR": Meter.barrier, "LDGDEPBAR": Meter.commit_copies, "DEPBAR": Meter.wait_for_copies,
            "UTMALDG": Meter.fetch_box}.get(base)
