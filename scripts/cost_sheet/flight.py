# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Bytes of memory that a thread has on their way while it waits.

A thread goes on behind a load until something needs what is loaded; then all loads that were issued before are on their
way together, and arrive about together. So the bytes that an iteration loads, divided by the number of its waits, are
on their way on average."""

import registers


def loaded_per_wait(instructions, bytes_of):
    """For code that runs again and again; `bytes_of` says how many bytes an instruction loads from memory into
    registers."""
    on_the_way, bytes_in_all, waits = set(), 0, 0
    for counts in (False, True):  # loads of one iteration may be waited for in the next
        for instruction in instructions:
            touched = registers.reads(instruction) | registers.writes(instruction)
            if touched & on_the_way:
                waits += counts
                on_the_way = set()
            if loaded := bytes_of(instruction):
                on_the_way |= registers.writes(instruction)
                bytes_in_all += loaded * counts
    return bytes_in_all / waits if waits else bytes_in_all


def async_per_wait(instructions, bytes_of):
    """The same of copies to shared memory, which are committed in groups; a wait leaves the last groups on their way,
    as many as it says. None: nothing waits in this code."""
    group, waiting, seen = 0, [], []
    for _ in range(8):  # until the groups of a pipeline are all on their way
        for instruction in instructions:
            group += bytes_of(instruction)
            if instruction.base == "LDGDEPBAR":
                waiting.append(group)
                group = 0
            if instruction.base == "DEPBAR":
                left = int(instruction.operands[-1], 16)
                if sum(waiting):
                    seen.append(sum(waiting))
                waiting = waiting[len(waiting) - left:] if left else []
    return max(seen) if seen else None
