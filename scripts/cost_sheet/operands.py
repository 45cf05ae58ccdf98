# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Operands of instructions as functions of a block's state, whose arrays have a value for each thread.

Registers are rows of one array of 32-bit words: R0 to R255, RZ among them, and behind them the uniform ones. Predicates
are rows of another."""

import re

import numpy as np

UNIFORM, UNIFORM_PREDICATE = 256, 8
ZERO, UNIFORM_ZERO, TRUE, UNIFORM_TRUE = 255, UNIFORM + 63, 7, UNIFORM_PREDICATE + 7
ROWS, PREDICATES = UNIFORM + 64, 16

NAME = re.compile(r"(UR|UP|R|P)(\d+|Z|T)")
PART = re.compile(r"(?P<file>UR|R)(?P<number>\d+|Z)(?P<suffix>[.\w]*)")
CONSTANT = re.compile(r"c(?:x)?\[(?P<bank>[^]]*)\]\[(?P<index>[^]]*)\]")


class UnknownInstruction(ValueError):
    """An instruction that the model cannot execute."""


def row(name):
    """The row of a register or a predicate."""
    file, number = NAME.match(name).groups()
    if file in ("R", "UR"):
        base = UNIFORM if file == "UR" else 0
        return base + (63 if file == "UR" else 255) if number == "Z" else base + int(number)
    base = UNIFORM_PREDICATE if file == "UP" else 0
    return base + (7 if number == "T" else int(number))


def is_predicate(text):
    return bool(re.match(r"!?U?P(\d|T)\b", text))


def predicate(text):
    number, negated = row(text.lstrip("!")), text.startswith("!")
    return (lambda s: ~s.predicates[number]) if negated else (lambda s: s.predicates[number])


def constant(text):
    """A word of a bank of constants."""
    found = CONSTANT.search(text)
    bank, index = found["bank"], found["index"]
    offset = sum(int(part, 16) for part in re.findall(r"0x[0-9a-f]+", index))
    names = [match[0] for match in PART.finditer(index) if match["number"] != "Z"]
    if names or not bank.startswith("0x"):
        return lambda s: np.uint32(0)
    return lambda s: np.uint32(s.constants.get((int(bank, 16), offset), 0))


def words(text):
    """The word that an operand names, without signs: a function of the state."""
    text = text.replace(".reuse", "").strip()
    if "[" in text:
        return constant(text)
    if re.match(r"U?R", text):
        number = row(text)
        if part := re.search(r"\.B(\d)", text):
            return lambda s: s.registers[number] >> np.uint32(8 * int(part[1])) & np.uint32(255)
        return lambda s: s.registers[number]
    if re.fullmatch(r"-?0x[0-9a-f]+|-?\d+", text):
        value = np.uint32(int(text, 0) & 0xffffffff)
        return lambda s: value
    raise UnknownInstruction(f"no value is known of the operand '{text}'")


def integer(text):
    """A 32-bit word as uint64, with signs: -x is 2^32 - x, so that sums carry as the hardware's do."""
    text = text.replace(".reuse", "").strip()
    if text.startswith(("-R", "-UR", "-c")):
        inner = words(text[1:])
        return lambda s: np.uint64(1 << 32) - np.uint64(inner(s))
    if text.startswith("~"):
        inner = words(text[1:])
        return lambda s: np.uint64(~inner(s) & np.uint32(0xffffffff))
    if text.startswith("|"):
        inner = words(text.strip("|"))
        return lambda s: np.abs(np.asarray(inner(s)).view(np.int32)).astype(np.uint64)
    inner = words(text)
    return lambda s: np.uint64(inner(s))


def signed(value):
    """Words, in arrays of any integer type, as int64."""
    return np.asarray(value).astype(np.uint32).view(np.int32).astype(np.int64)


def literal_float(text):
    text = text.strip()
    if re.fullmatch(r"-?0x[0-9a-f]+", text):
        return None
    names = {"INF": float("inf"), "QNAN": float("nan"), "NAN": float("nan"), "SNAN": float("nan")}
    bare = text.lstrip("+-")
    if bare in names:
        return -names[bare] if text.startswith("-") else names[bare]
    try:
        return float(text)
    except ValueError:
        return None


def real(text):
    """An f32."""
    text = text.replace(".reuse", "").strip()
    value = literal_float(text)
    if value is not None:
        return lambda s: np.float32(value)
    negative, text = text.startswith("-"), text.lstrip("-")
    absolute, text = text.startswith("|"), text.strip("|")
    inner = words(text)

    def get(s):
        found = np.asarray(inner(s), np.uint32).view(np.float32)
        found = np.abs(found) if absolute else found
        return -found if negative else found
    return get


def pair(text):
    """Two registers as uint64, or a constant."""
    text = text.replace(".reuse", "").replace(".64", "").strip().lstrip("-|").rstrip("|")
    if "[" in text:
        low = constant(text)
        return lambda s: np.uint64(low(s))
    if not re.match(r"U?R", text):
        value = literal_float(text)
        bits = np.float64(value or 0).view(np.uint64) if value is not None else np.uint64(int(text, 0))
        return lambda s: bits
    number = row(text)
    if number in (ZERO, UNIFORM_ZERO):
        return lambda s: np.uint64(0)
    return lambda s: np.uint64(s.registers[number]) | np.uint64(s.registers[number + 1]) << np.uint64(32)


def double(text):
    """An f64 of two registers."""
    value = literal_float(text)
    if value is not None:
        return lambda s: np.float64(value)
    inner, negative, absolute = pair(text), text.startswith("-"), "|" in text

    def get(s):
        found = np.asarray(inner(s), np.uint64).view(np.float64)
        found = np.abs(found) if absolute else found
        return -found if negative else found
    return get


def address(text):
    """Where a memory operand points, as uint64: registers, scaled, and a number of bytes."""
    inside = text[text.rindex("[") + 1:text.rindex("]")]
    offset = sum(int(found[0].replace("+", ""), 16) for found in re.finditer(r"[+-]?\b0x[0-9a-f]+|\+-0x[0-9a-f]+", inside))
    terms = []
    for part in PART.finditer(inside):
        if part["number"] == "Z":
            continue
        scale = re.search(r"\.X(\d+)", part["suffix"])
        wide = ".64" in part["suffix"] or (part["file"] == "UR" and ".64" in inside)
        get = pair(part["file"] + part["number"]) if wide else integer(part["file"] + part["number"])
        terms.append((get, np.uint64(int(scale[1]) if scale else 1)))

    def get(s):
        total = np.zeros(s.count, np.uint64) + np.uint64(offset & (1 << 64) - 1)
        for term, scale in terms:
            total = total + term(s) * scale
        return total
    return get
