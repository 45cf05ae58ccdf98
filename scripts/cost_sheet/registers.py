# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which registers an instruction reads and writes. A register is a name: R4, P0, UR5, UP1. The test of the assembly
gate holds this against the life ranges that nvdisasm infers."""

import functools
import re

REGISTER = re.compile(r"^[-~!|]*(?P<file>UR|UP|R|P)(?P<number>\d+|Z|T)\b(?P<suffix>[.\w|]*)$")
INSIDE = re.compile(r"\b(?P<file>UR|UP|R|P)(?P<number>\d+)\b(?P<wide>\.64)?")
CONSTANT_BANK = re.compile(r"\bc(?:x)?\[[^]]*\]\[(?P<index>[^]]*)\]")

# They write no register.
WITHOUT_RESULT = set("""ST STG STS STL RED BRA BRX BRXU JMP EXIT RET CALL BAR BSSY BSYNC BREAK MEMBAR ERRBAR CCTL NOP DEPBAR LDGDEPBAR LDGSTS WARPSYNC
    NANOSLEEP YIELD WARPGROUP UTMALDG UTMAPF UTMACCTL UCGABAR_ARV UCGABAR_WAIT FENCE BPT KILL ARRIVES CGAERRBAR UBLKPF ACQBULK
    """.split())
WITH_CARRIES = {"IADD3", "UIADD3", "LEA", "ULEA", "IMAD", "UIMAD", "MATCH"}
ADDRESSED = {"LDG", "LDS", "LD", "LDL", "LDC", "ULDC", "STG", "STS", "ST", "STL"}
WIDE_FLOATS = {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"}


def width_of(instruction, position, is_result):
    """How many registers an operand takes that is named by its first one."""
    base, modifiers = instruction.base, instruction.modifiers
    if base in ("HMMA", "IMMA"):
        return mma_width(modifiers, position)
    if base in ("HGMMA", "IGMMA", "QGMMA"):
        return gmma_width(modifiers)
    if base == "LDSM":
        return int(modifiers[-1]) if is_result and modifiers[-1] in "124" else 1
    if base in ADDRESSED:
        return 4 if "128" in modifiers else 2 if "64" in modifiers else 1
    if base in WIDE_FLOATS:
        return 2
    if base in ("F2F", "I2F", "F2I", "FRND"):
        return conversion_width(base, modifiers, is_result)
    if base in ("IMAD", "UIMAD"):
        wide = "WIDE" in modifiers
        return 2 if (wide and is_result) or (position == 3 and (wide or "HI" in modifiers)) else 1
    if base == "CS2R":
        return 1 if "32" in modifiers else 2
    if base == "MOV" and "64" in modifiers:
        return 2
    return 1


def mma_width(modifiers, position):
    """Results and sums have four registers, two if they are f16; the operands by their shape."""
    shape = modifiers[0]
    if position in (0, 3):
        return 2 if modifiers[1:2] == ["F16"] else 4
    bytes_each = 4 if "TF32" in modifiers else 1 if any(name in ("S8", "U8") for name in modifiers) else 2
    depth = {"16816": 16, "1688": 8, "1684": 4, "16832": 32}.get(shape)
    if depth is None:
        raise ValueError(f"no widths are known of a product of shape {shape}")
    rows = 16 * depth * bytes_each // (4 * 32)  # words of a thread
    return rows if position == 1 else max(1, rows // 2)


def gmma_width(modifiers):
    columns = int(modifiers[0].split("x")[1])
    return columns // 2 if "F16" != modifiers[1] else columns // 4


def conversion_width(base, modifiers, is_result):
    kinds = [name for name in modifiers if re.fullmatch(r"[FSU](8|16|32|64)|BF16", name)]
    wide = [name.endswith("64") for name in kinds]
    if base == "FRND":
        return 2 if any(wide) else 1
    if base == "F2F":  # F2F.F64.F32: to, from
        return 2 if (wide[:1] if is_result else wide[1:2]) == [True] else 1
    floats, integers = "F64" in kinds, "S64" in kinds or "U64" in kinds
    return 2 if ((floats if is_result else integers) if base == "I2F" else (integers if is_result else floats)) else 1


def named(file, number, width):
    if number in ("Z", "T"):
        return set()
    return {f"{file}{int(number) + i}" for i in range(width)}


def is_predicate(operand):
    found = REGISTER.match(operand)
    return bool(found and found["file"] in ("P", "UP"))


def result_count(instruction):
    """How many of the first operands are results."""
    operands, base = instruction.operands, instruction.base
    if base in WITHOUT_RESULT or not operands:
        return 0
    if base == "SYNCS":
        return 1 if REGISTER.match(operands[0]) else 0
    if base in ("VOTE", "VOTEU"):  # perhaps the mask, and a predicate; the last operand is what is voted on
        return len(operands) - 1
    if base == "FCHK":
        return 1
    if is_predicate(operands[0]):
        return 2 if len(operands) > 1 and REGISTER.match(operands[1]) else 1
    count = 1 if REGISTER.match(operands[0]) else 0
    while (count and count < len(operands) and base in WITH_CARRIES and is_predicate(operands[count])
           and not operands[count].startswith("!")):
        count += 1
    return count


def inside(operand):
    """Registers of an address, a descriptor or a place in a bank of constants."""
    found = set()
    for register in INSIDE.finditer(operand):
        pair = register["wide"] or "BRANCH_TARGETS" in operand or (operand.startswith(("desc[", "gdesc["))
                                                                   and register["file"] == "UR")
        found |= named(register["file"], register["number"], 2 if pair else 1)
    return found


@functools.cache
def writes(instruction):
    found = set()
    for position, operand in enumerate(instruction.operands[:result_count(instruction)]):
        register = REGISTER.match(operand)
        if register:
            width = 1 if register["file"] in ("P", "UP") else width_of(instruction, position, True)
            found |= named(register["file"], register["number"], width)
    if instruction.base == "R2P":
        found |= {f"P{i}" for i in range(7)}
    return frozenset(found)


@functools.cache
def reads(instruction):
    found = set()
    if instruction.guard:
        found |= inside(instruction.guard)
    results = result_count(instruction)
    carries = sum(is_predicate(operand) for operand in instruction.operands[1:results])
    for position, operand in enumerate(instruction.operands[results:], results - carries):
        register = REGISTER.match(operand)
        if register:
            width = 1 if register["file"] in ("P", "UP") else width_of(instruction, position, False)
            found |= named(register["file"], register["number"], width)
        else:
            found |= inside(operand)
    if instruction.base == "P2R":
        found |= {f"P{i}" for i in range(7)}
    return frozenset(found)


def address_registers(instruction):
    """Registers that say where a memory instruction reads or writes."""
    found = set()
    for operand in instruction.operands:
        if "[" in operand and not operand.startswith("c["):
            found |= inside(operand)
    return found
