# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the instructions of a loop are for: the mix by units, and which integers only say where data lies."""

import collections

import loops
import opcodes


def is_slow_path(instructions):
    """Blocks that call a function: ptxas does so for operands that hardly ever occur, such as subnormal divisors."""
    return any(loops.calls(instruction) for instruction in instructions)


def units(instructions):
    return collections.Counter(opcodes.unit_of(instruction) for instruction in instructions)


def index_integers(instructions, from_data):
    """Integer instructions that compute addresses and count iterations: those whose addresses are not among the ones
    that work on loaded data."""
    return sum(opcodes.unit_of(instruction) in ("integer", "uniform") and instruction.address not in from_data
               for instruction in instructions)


def products(instructions):
    """Multiply-adds of 16-bit floats that tensor cores do for one warp, in time: products of tf32 take twice as long,
    of bytes half."""
    total = 0
    for instruction in instructions:
        if opcodes.unit_of(instruction) == "tensor":
            total += shape_products(instruction)
    return total


def shape_products(instruction):
    shape, modifiers = instruction.modifiers[0], instruction.modifiers
    if "x" in shape:  # of a warpgroup: 64x256x16
        rows, columns, depth = map(int, shape.split("x"))
        rows //= 4
    else:
        rows, columns, depth = 16, 8, {"16816": 16, "1688": 8, "1684": 4, "16832": 32, "8816": 16}[shape]
        rows = 8 if shape == "8816" else rows
    factor = 2 if "TF32" in modifiers else 1 / 2 if any(name in modifiers for name in ("S8", "U8")) else 1
    return rows * columns * depth * factor


def accesses(instructions):
    """Bytes by kind of access: loads, stores, copies to shared memory, reads and writes of shared memory."""
    found = collections.Counter()
    for instruction in instructions:
        size, unit = opcodes.access_bytes(instruction), opcodes.unit_of(instruction)
        if opcodes.is_load(instruction):
            found["loads"] += size
        elif opcodes.is_store(instruction):
            found["stores"] += size
        elif instruction.base == "LDGSTS":
            found["copies"] += size
        elif unit == "shared":
            found["shared_reads" if instruction.base in ("LDS", "LDSM") else "shared_writes"] += size
    return found
