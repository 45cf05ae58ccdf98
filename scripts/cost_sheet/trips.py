# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Skips iterations of long loops that repeat what the last iteration did.

Where the registers that decide whether a loop goes on grow by the same amounts in each iteration, n iterations at once
add n times these amounts, and cost n times as much. How many can be skipped is found by trying: twice as many each time
until the loop no longer goes on, then half as many."""

import numpy as np

import opcodes
import operands as op

FIRST_JUMP = 4
# Iterations whose mean cost is repeated: a loop that reads 4 bytes at once comes to a new sector each eighth time.
PERIOD, LONG_PERIOD, LONG = 8, 2, 256  # of loops of more than LONG instructions the second one
MOST = 1 << 33  # iterations: whoever takes more runs beyond the end of an outer loop, where a trial led


class Runaway(RuntimeError):
    """A loop does not end."""


class Loop:
    """The visits of the head of a loop since it was entered."""

    def __init__(self, mask):
        self.mask, self.states, self.snapshots, self.cost = mask, [], [], None
        self.next_jump, self.falling = FIRST_JUMP, False


class Skipper:
    """`innermost`: skips iterations of those loops alone. Outer ones may carry numbers that grow by no steady amount and
    steer a later loop, such as the depth of a stack."""

    def __init__(self, block, innermost):
        self.block = block
        self.heads = find_heads(block)
        if innermost:
            self.heads = {head: last for head, last in self.heads.items()
                          if not any(head < other <= last for other in self.heads)}
        self.active, self.rows = {}, {}

    def arrive(self, at):
        """At the head of a loop: perhaps goes some iterations on."""
        if at not in self.heads:
            return
        block = self.block
        mask = block.place == at
        loop = self.active.get(at)
        if loop is None or at not in block.returned or not np.array_equal(loop.mask, mask):
            loop = self.active[at] = Loop(mask)
        block.returned.discard(at)
        loop.states = [*loop.states[-2:], block.registers.copy()]
        if loop.cost is None:
            period = PERIOD if self.heads[at] - at < LONG else LONG_PERIOD
            loop.snapshots = [*loop.snapshots, block.meter.snapshot()]
            if len(loop.snapshots) < period + 2:
                return
            loop.cost = block.meter.mean(loop.snapshots[-1], loop.snapshots[1], period)
            loop.snapshots = []
        if loop.next_jump >= FIRST_JUMP:
            self.skip(at, loop)

    def skip(self, at, loop):
        block = self.block
        while loop.next_jump >= FIRST_JUMP:
            grown = steady(loop.states, self.decisive(at))
            if grown is None:
                return
            if loop.next_jump > MOST:
                raise Runaway(f"{block.kernel.name}: the loop at instruction {at} does not end")
            saved = self.save()
            jump = loop.next_jump
            moved = block.registers + (grown.astype(np.uint64) * np.uint64(jump)).astype(np.uint32)
            np.copyto(block.registers, moved, where=loop.mask)
            block.meter.repeat(loop.cost, jump)
            if self.one_iteration(at, loop.mask):
                now = block.registers.copy()
                loop.states = [now - grown - grown, now - grown, now]  # as if no iteration had been skipped
                loop.next_jump = jump // 2 if loop.falling else jump * 2
            else:
                self.restore(saved)
                loop.falling, loop.next_jump = True, jump // 2

    def one_iteration(self, at, mask):
        """Whether all threads come back to the head."""
        try:
            return self.comes_back(at, mask)
        except Runaway:
            return False

    def comes_back(self, at, mask):
        block, limit = self.block, 20_000
        rest = block.place[~mask].copy()
        block.run_straight(at)
        while True:
            here = block.place[mask]
            if (here == at).all():
                return np.array_equal(block.place[~mask], rest)
            lowest, limit = int(block.place.min()), limit - 1
            if not at < lowest <= self.heads[at] or not limit:
                return False
            self.arrive(lowest)
            block.run_straight(int(block.place.min()))

    def save(self):
        block = self.block
        return block.registers.copy(), block.predicates.copy(), block.place.copy(), block.meter.save(), block.steps

    def restore(self, saved):
        block = self.block
        block.registers[:], block.predicates[:], block.place[:] = saved[:3]
        block.meter.restore(saved[3])
        block.steps = saved[4]
        block.returned.clear()

    def decisive(self, at):
        """Rows of registers on which it depends whether the loop goes on, or None if that depends on memory."""
        if at not in self.rows:
            self.rows[at] = decisive_rows(self.block.code, at, self.heads[at])
        return self.rows[at]


def find_heads(block):
    """{head: last instruction that jumps back to it}."""
    heads = {}
    for step in block.code:
        if step.is_jump:
            for target in step.targets:
                if target <= step.number:
                    heads[target] = max(step.number, heads.get(target, 0))
    return heads


def leaves(step, head, last):
    """Whether a jump may end the loop."""
    return step.is_jump and (not step.targets or step.number == last or not head <= step.targets[0] <= last)


def decisive_rows(code, head, last):
    wanted = set()
    for step in reversed(code[head:last + 1]):
        if leaves(step, head, last):
            wanted |= set(step.reads)
        hit = wanted & set(step.writes)
        if not hit:
            continue
        if opcodes.is_load(step.instruction) or step.instruction.base in ("LDS", "LDL"):
            return None
        if not step.instruction.guard:
            wanted -= hit
        wanted |= set(step.reads)
    return np.array(sorted(wanted), np.int64)


def steady(states, decisive):
    """By how much each register grows in an iteration, zero where it is not always the same; None if one is among them
    that decides about the loop."""
    if decisive is None:
        return None
    first, second = states[-1] - states[-2], states[-2] - states[-3]
    same = first == second
    rows = decisive[decisive < op.ROWS]
    if not same[rows].all():
        return None
    grows = (first != 0) & same
    if not grows[rows].any():
        return None
    return np.where(same, first, np.uint32(0))
