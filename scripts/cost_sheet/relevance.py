# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which instructions have to be computed: those on whose results jumps, guards of memory accesses and addresses depend.
The others cost time, whatever they compute. A backward analysis of live registers over the blocks of a kernel."""

import loops
import opcodes
import registers


STORES = {"LDS": "STS", "LDL": "STL"}


def is_root(instruction):
    return loops.jumps(instruction) or instruction.base in loops.ENDS


def is_access(instruction):
    return opcodes.unit_of(instruction) in ("global", "shared", "local") and \
        instruction.base not in ("SHFL", "REDUX")


def roots(instruction):
    """Registers that have to be right for the instruction to cost what it costs."""
    if is_root(instruction):
        return registers.reads(instruction)
    if is_access(instruction):
        guard = registers.inside(instruction.guard) if instruction.guard else set()
        return guard | registers.address_registers(instruction)
    return set()


def needed(graph):
    """Numbers of the instructions whose results matter."""
    live = {block: set() for block in graph.starts}
    before = {block: [] for block in graph.starts}
    for block, successors in graph.successors.items():
        for after in successors:
            before[after].append(block)
    found, memory = set(), set()  # kinds of memory whose contents matter
    waiting = list(graph.starts)
    while waiting:
        block = waiting.pop()
        wanted = set().union(*(live[after] for after in graph.successors[block]))
        for number in range(graph.ends[block] - 1, block - 1, -1):
            instruction = graph.kernel.instructions[number]
            hit = wanted & registers.writes(instruction)
            if hit or instruction.base in memory:
                found.add(number)
                if not instruction.guard:
                    wanted -= hit
                wanted |= registers.reads(instruction)
                written_by = STORES.get(instruction.base)
                if written_by and written_by not in memory:  # what was stored matters too
                    memory.add(written_by)
                    waiting = list(graph.starts)
            wanted |= roots(instruction)
        if wanted - live[block]:
            live[block] |= wanted
            waiting += before[block]
    return found
