# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Compares what registers.py says of instructions with the life ranges that nvdisasm infers (-plr -lrm narrow): an
implementation of others."""

import re

import registers
import sass

FILES = {"GPR": "R", "PRED": "P"}  # uniform registers hold descriptors too, which some listings do not name
LINE = re.compile(r"(\s*/\*[0-9a-f]+\*/.*?;)\s*// \|(.*)\|$")
# Calls are marked with all that the function has; the predicates that PR stands for are not marked.
NOT_COMPARED = ("CALL", "RET", "EXIT", "P2R", "R2P")
NAMES = re.compile(r"// \|(.*\bGPR\b.*)\|$", re.M)
COUNTS = re.compile(r"// \|(.*#.*)\|$", re.M)


def columns_of(part):
    """[(file of registers or None, where its first one stands)] of each column."""
    names, counts = NAMES.search(part), COUNTS.search(part)
    if not names or not counts:
        raise sass.MalformedListing("expected columns of life ranges, but got none")
    return [(FILES.get(name.strip()), cells.index("#") + 2) for name,
            cells in zip(names[1].split("|"), counts[1].split("|"))]


def marked(columns, cells, marks):
    """The registers that have one of the marks in a line."""
    return {f"{file}{number}" for (file, start), cell in zip(columns, cells.split("|")) if file
            for number, mark in enumerate(cell[start:]) if mark in marks}


def disagreements(listing):
    """How many instructions were compared, and a text for each that differs."""
    count, found = 0, []
    for part in re.split(r"(?=^\s*\.section\s+\.text\.)", listing, flags=re.M)[1:]:
        columns = columns_of(part)
        for match in filter(None, map(LINE.match, part.splitlines())):
            instruction = sass.parse_instruction(match[1])
            if instruction.base in NOT_COMPARED:
                continue
            count += 1
            ours = [{name for name in names if name[0] in "RP"}
                    for names in (registers.reads(instruction), registers.writes(instruction))]
            theirs = [marked(columns, match[2], "vx"), marked(columns, match[2], "^x")]
            if ours[0] != theirs[0] or ours[1] != theirs[1]:
                found.append(f"{instruction.opcode} {', '.join(instruction.operands)}: reads {sorted(ours[0])} and writes {sorted(ours[1])}, "
                             f"but nvdisasm says {sorted(theirs[0])} and {sorted(theirs[1])}")
    return count, found
