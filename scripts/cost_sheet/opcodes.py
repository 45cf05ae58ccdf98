# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Which unit of an SM executes an instruction, and how many bytes of memory it moves.

By the instruction set reference of NVIDIA's "CUDA Binary Utilities". An opcode that stands nowhere here is an error:
the table is to be completed, not the cost to be left out."""

import re

UNITS = {
    "fp32": "FADD FMUL FFMA FSWZADD HADD2 HMUL2 HFMA2 HADD HMUL HFMA",
    "fp64": "DADD DMUL DFMA DSETP DMNMX",
    "tensor": "HMMA IMMA DMMA BMMA HGMMA IGMMA QGMMA BGMMA",
    "integer": "IADD3 IADD IMAD IMUL LEA LOP3 LOP PLOP3 SHF SHL SHR PRMT ISETP IMNMX VIMNMX VIADD VIADDMNMX IABS ISCADD SGXT BMSK IDP "
               "VABSDIFF VABSDIFF4 VIMNMX3 I2I I2IP I2FP",
    # They share the pipe of integers, though their operands are floats or anything.
    "select": "FSETP FSEL FMNMX FCHK FSET HSETP2 HSET2 HMNMX2 SEL F2FP F2FP4 P2R R2P",
    "move": "MOV UMOV CS2R S2R S2UR R2UR LDC ULDC MOVM LEPC PSETP PSET CSETP",
    "special": "MUFU I2F F2I F2F FRND POPC FLO BREV",
    "global": "LDG STG LDGSTS RED ATOM ATOMG UTMALDG UTMASTG UBLKCP UBLKPF UTMAPF CCTL CCTLL PREFETCH LD ST",
    "shared": "LDS STS LDSM STSM ATOMS SHFL REDUX",
    "local": "LDL STL",
    "uniform": "UIADD3 UIMAD ULEA ULOP3 UPLOP3 USHF UPRMT UISETP USEL UFLO UPOPC UBMSK USGXT UIABS UIMNMX UP2UR UR2UP VOTEU ELECT UF2FP UBREV",
    "control": "BRA BRX BRXU JMP JMX EXIT RET CALL BSSY BSYNC BREAK BAR WARPSYNC NOP NANOSLEEP YIELD VOTE MATCH DEPBAR LDGDEPBAR MEMBAR ERRBAR "
               "SYNCS ARRIVES WARPGROUP USETMAXREG UTMACCTL UCGABAR_ARV UCGABAR_WAIT FENCE KILL BPT CGAERRBAR BMOV ACQBULK ENDCOLLECTIVE "
               "COLLECTIVE PREEXIT UTMACMDFLUSH",
}
UNIT_OF = {name: unit for unit, names in UNITS.items() for name in names.split()}


class UnknownOpcode(ValueError):
    pass


def unit_of(instruction):
    base = instruction.base
    # A move by way of the multiplier, which keeps the other pipe free.
    if base == "IMAD" and instruction.modifiers[:1] == ["MOV"]:
        return "move"
    if base == "HADD2" and "F32" in instruction.modifiers:
        return "fp32"
    if base not in UNIT_OF:
        raise UnknownOpcode(f"no unit is known of '{instruction.opcode}'; add it to scripts/cost_sheet/opcodes.py")
    return UNIT_OF[base]


def access_bytes(instruction):
    """What one thread reads or writes at once; of a tensor map's copy the launch knows more."""
    if instruction.base in ("UTMALDG", "UTMASTG", "UTMAPF", "UBLKCP", "UBLKPF", "CCTL", "CCTLL", "PREFETCH", "SHFL",
                            "REDUX"):
        return 0
    if instruction.base in ("LDSM", "STSM"):
        return 4 * int(instruction.modifiers[-1])
    for name in instruction.modifiers:
        if found := re.fullmatch(r"(?:[US]?)(8|16|32|64|128)", name):
            if instruction.base in ("LDS", "STS", "LDG", "STG", "LD", "ST", "LDL", "STL", "LDGSTS", "ATOMG", "ATOM",
                                    "ATOMS", "RED"):
                return int(found[1]) // 8
    return 4


def is_load(instruction):
    return instruction.base in ("LDG", "LD")


def is_store(instruction):
    return instruction.base in ("STG", "ST")


def is_async_copy(instruction):
    return instruction.base in ("LDGSTS", "UTMALDG", "UBLKCP")
