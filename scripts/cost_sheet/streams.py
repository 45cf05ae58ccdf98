# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Where values come from: which tensor a memory instruction reads or writes, and which instructions work on loaded
data. Pointers among the kernel's arguments, which lie in a bank of constants, and loaded values are followed through
the blocks until nothing changes."""

import re

import opcodes
import registers

CONSTANT = re.compile(r"\bc\[0x0\]\[0x([0-9a-f]+)\]")
FIRST_ARGUMENT = {"sm_80": 0x160, "sm_90": 0x210, "sm_90a": 0x210}
DATA = frozenset([-1])  # in the place of a tensor's number: loaded from one


def trace(graph, pointers):
    """{address of a memory instruction: numbers of the tensors} and the addresses of instructions that read what
    depends on loaded data, where `pointers` has {place in the bank: number of the tensor}."""
    places = {start + half: frozenset([tensor]) for start, tensor in pointers.items() for half in (0, 4)}
    before, waiting, accessed, from_data = {0: {}}, [0], {}, set()
    while waiting:
        block = waiting.pop()
        state = dict(before[block])
        for instruction in graph.instructions(block):
            if opcodes.unit_of(instruction) == "global":
                accessed[instruction.address] = origins(registers.address_registers(instruction), state) - DATA
            if not loads_data(instruction) and DATA <= origins(registers.reads(instruction), state):
                from_data.add(instruction.address)
            follow(instruction, state, places)
        for after in graph.successors[block]:
            if merge(before, after, state):
                waiting.append(after)
    return accessed, from_data


def origins(names, state):
    return frozenset().union(*(state.get(name, ()) for name in names))


def loads_data(instruction):
    return opcodes.unit_of(instruction) in ("global", "shared") and instruction.base not in ("SHFL", "REDUX")


def merge(before, block, state):
    """Whether more may reach the block than was known."""
    if block not in before:
        before[block] = dict(state)
        return True
    grown = False
    for name, found in state.items():
        known = before[block].get(name, frozenset())
        if not found <= known:
            before[block][name] = known | found
            grown = True
    return grown


def follow(instruction, state, places):
    """What registers hold behind an instruction. Predicates point nowhere, but may depend on data."""
    written = registers.writes(instruction)
    constants = [int(place, 16) for operand in instruction.operands for place in CONSTANT.findall(operand)]
    if loads_data(instruction):
        values = dict.fromkeys(written, DATA)
    elif instruction.base in ("LDC", "ULDC") and constants:
        ordered = sorted(written, key=lambda name: int(name.lstrip("UR")))
        values = {name: places.get(constants[0] + 4 * word, frozenset()) for word, name in enumerate(ordered)}
    else:
        found = origins(registers.reads(instruction), state).union(*(places.get(place, ()) for place in constants))
        values = dict.fromkeys(written, found)
    for name, found in values.items():
        if name.startswith(("P", "UP")):
            found = found & DATA
        if instruction.guard:  # or what was there before
            found = found | state.get(name, frozenset())
        if found:
            state[name] = found
        else:
            state.pop(name, None)
