# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What instructions without memory and jumps compute: a function of the state for each, which returns the words of the
results in the order of registers, or the predicates.

Results steer jumps and addresses, so they follow the hardware for integers. Floats are those of NumPy; approximations
of the special unit are exact here, and products of tensor cores are numbers of about 1, since no cost depends on them."""

import re

import numpy as np

import operands as op
import registers

LOW = np.uint64(0xffffffff)
THIRTY_TWO = np.uint64(32)


def low(value):
    return (np.asarray(value, np.uint64) & LOW).astype(np.uint32)


def high(value):
    return (np.asarray(value, np.uint64) >> THIRTY_TWO).astype(np.uint32)


def bits(value):
    return np.asarray(value, np.float32).view(np.uint32)


def halves(value):
    """An f64 as two words."""
    whole = np.asarray(value, np.float64).view(np.uint64)
    return low(whole), high(whole)


def table(lut, a, b, c):
    """A bitwise function of three words, by its truth table."""
    found = np.zeros(np.broadcast(a, b, c).shape, a.dtype)
    for number in range(8):
        if lut >> number & 1:
            found = found | ((a if number & 4 else ~a) & (b if number & 2 else ~b) & (c if number & 1 else ~c))
    return found


def sources(instruction):
    return instruction.operands[registers.result_count(instruction):]


def results(instruction):
    return instruction.operands[:registers.result_count(instruction)]


def carries_in(texts):
    found = [op.predicate(text) for text in texts if op.is_predicate(text)]
    return lambda s: sum((np.uint64(each(s)) for each in found), np.uint64(0))


def add(instruction):
    texts = sources(instruction)
    terms = [op.integer(text) for text in texts if not op.is_predicate(text)]
    carry = carries_in(texts) if "X" in instruction.modifiers else lambda s: np.uint64(0)

    def run(s):
        total = sum((term(s) for term in terms), np.uint64(0)) + carry(s)
        return [total, total >> THIRTY_TWO != 0, total >> np.uint64(33) != 0]
    return run


def multiply_add(instruction):
    modifiers, texts = instruction.modifiers, sources(instruction)
    carry = carries_in(texts[3:])
    unsigned = "U32" in modifiers
    wide, upper = "WIDE" in modifiers, "HI" in modifiers
    first, second = op.integer(texts[0]), op.integer(texts[1])
    third = (op.pair if wide or upper else op.integer)(texts[2])

    def run(s):
        a, b = first(s), second(s)
        if (wide or upper) and not unsigned:
            product = (op.signed(a) * op.signed(b)).astype(np.uint64)
        else:
            product = (a & LOW) * (b & LOW)
        total = product + third(s) + carry(s)
        if wide:
            return [low(total), high(total), total < product]
        return [high(total) if upper else total]
    return run


def shift(instruction):
    """SHF: a word of two that are shifted together."""
    left, kinds = "L" in instruction.modifiers[:1], instruction.modifiers
    texts = sources(instruction)
    first, count, second = (op.integer(text) for text in texts)

    def run(s):
        a, n, c = first(s) & LOW, count(s) & np.uint64(63), second(s) & LOW
        whole = c << THIRTY_TWO | a
        if left:
            return [whole << n >> THIRTY_TWO if "HI" in kinds else a << n]
        if "S32" in kinds or "S64" in kinds:
            moved = (whole.astype(np.int64) >> n.astype(np.int64)).astype(np.uint64)
        else:
            moved = whole >> n
        return [moved >> THIRTY_TWO if "HI" in kinds else moved]
    return run


def scaled_add(instruction):
    """LEA."""
    texts = sources(instruction)
    predicates = [text for text in texts if op.is_predicate(text)]
    texts = [text for text in texts if not op.is_predicate(text)]
    upper = "HI" in instruction.modifiers
    first, second = op.integer(texts[0]), op.integer(texts[1])
    third = op.integer(texts[2]) if upper else None
    amount = np.uint64(int(texts[-1], 16))
    carry = carries_in(predicates) if "X" in instruction.modifiers else lambda s: np.uint64(0)

    def run(s):
        a = first(s) & LOW
        if upper:
            over = np.where(op.signed(a) < 0, LOW, np.uint64(0)) if "SX32" in instruction.modifiers else third(s) & LOW
            a = (over << THIRTY_TWO | a) << amount >> THIRTY_TWO
        else:
            a = a << amount & LOW
        total = a + second(s) + carry(s)
        return [total, total >> THIRTY_TWO != 0]
    return run


def logic(instruction):
    texts = sources(instruction)
    a, b, c = (op.integer(text) for text in texts[:3])
    lut, named = int(texts[3], 16), results(instruction)

    def run(s):
        found = table(lut, a(s), b(s), c(s)) & LOW
        return [found != 0, found] if op.is_predicate(named[0]) else [found]
    return run


def predicate_logic(instruction):
    texts = sources(instruction)
    a, b, c = (op.predicate(text) for text in texts[:3])
    first, second = int(texts[3], 16), int(texts[4], 16)
    return lambda s: [table(first, a(s), b(s), c(s)), table(second, a(s), b(s), c(s))]


def permute(instruction):
    a, selector, b = (op.integer(text) for text in sources(instruction))

    def run(s):
        data = (b(s) & LOW) << THIRTY_TWO | a(s) & LOW
        chosen, found = selector(s), np.uint64(0)
        for place in range(4):
            nibble = chosen >> np.uint64(4 * place) & np.uint64(15)
            byte = data >> (nibble & np.uint64(7)) * np.uint64(8) & np.uint64(255)
            byte = np.where(nibble & np.uint64(8), np.where(byte & np.uint64(128), np.uint64(255), np.uint64(0)), byte)
            found = found | byte << np.uint64(8 * place)
        return [found]
    return run


COMPARISONS = {"LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal, "EQ": np.equal,
               "NE": np.not_equal}
JOINS = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


def join(modifiers):
    return next(function for name, function in JOINS.items() if name in modifiers)


def compare_integers(instruction):
    modifiers, texts = instruction.modifiers, sources(instruction)
    function, together = COMPARISONS[modifiers[0]], join(modifiers)
    unsigned = "U32" in modifiers
    first, second, others = op.integer(texts[0]), op.integer(texts[1]), [op.predicate(text) for text in texts[2:]]

    def run(s):
        a, b = first(s) & LOW, second(s) & LOW
        if not unsigned:
            a, b = op.signed(a), op.signed(b)
        found = function(a, b)
        if "EX" in modifiers:  # the upper words, after what the lower ones said
            found = np.where(a == b, others[1](s), found)
        return [together(found, others[0](s)), together(~found, others[0](s))]
    return run


def compare_floats(get):
    def make(instruction):
        modifiers, texts = instruction.modifiers, sources(instruction)
        first, second, last = get(texts[0]), get(texts[1]), op.predicate(texts[2])
        name, together = next(name for name in modifiers if name not in ("FTZ", "BF16", "BF16_V2")), join(modifiers)

        def run(s):
            a, b = first(s), second(s)
            unordered = np.isnan(a) | np.isnan(b)
            if name in ("NAN", "NUM"):
                found = unordered if name == "NAN" else ~unordered
            else:
                found = COMPARISONS[name[:2]](a, b) & ~unordered | (unordered & name.endswith("U"))
            return [together(found, last(s)), together(~found, last(s))]
        return run
    return make


def floats(function, get=op.real, pack=bits):
    """An operation on as many floats as `function` takes."""
    def make(instruction):
        given = [get(text) for text in sources(instruction) if not op.is_predicate(text)]

        def run(s):
            found = pack(function(*(each(s) for each in given)))
            return list(found) if isinstance(found, tuple) else [found]
        return run
    return make


def extreme(get, pack):
    """The smaller one if the predicate holds, else the larger one."""
    def make(instruction):
        texts = sources(instruction)
        first, second, smaller = get(texts[0]), get(texts[1]), op.predicate(texts[2])

        def run(s):
            a, b = first(s), second(s)
            found = pack(np.where(smaller(s), np.fmin(a, b), np.fmax(a, b)))
            return list(found) if isinstance(found, tuple) else [found]
        return run
    return make


def extreme_integer(instruction):
    texts = sources(instruction)
    first, second, smaller = op.integer(texts[0]), op.integer(texts[1]), op.predicate(texts[2])
    as_number = (lambda value: value & LOW) if "U32" in instruction.modifiers else op.signed
    return lambda s: [np.where(smaller(s), np.minimum(as_number(first(s)), as_number(second(s))),
                               np.maximum(as_number(first(s)), as_number(second(s)))).astype(np.uint64)]


def extreme_of_three(instruction):
    texts = sources(instruction)
    given = [op.integer(text) for text in texts[:3]]
    smaller = op.predicate(texts[3]) if len(texts) > 3 else lambda s: s.predicates[op.TRUE]
    as_number = (lambda value: value & LOW) if "U32" in instruction.modifiers else op.signed

    def run(s):
        a, b, c = (as_number(value(s)) for value in given)
        return [np.where(smaller(s), np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)).astype(np.uint64)]
    return run


def extreme_of_sum(instruction):
    """The smaller or larger one of a sum and a number."""
    texts = sources(instruction)
    given = [op.integer(text) for text in texts[:3]]
    smaller = op.predicate(texts[3])
    as_number = (lambda value: value & LOW) if "U32" in instruction.modifiers else op.signed

    def run(s):
        total, other = as_number(given[0](s) + given[1](s) & LOW), as_number(given[2](s))
        return [np.where(smaller(s), np.minimum(total, other), np.maximum(total, other)).astype(np.uint64)]
    return run


def choose(instruction):
    texts = sources(instruction)
    is_float = instruction.base == "FSEL"
    get = (lambda text: (lambda value: lambda s: bits(value(s)))(op.real(text))) if is_float else op.integer
    first, second, which = get(texts[0]), get(texts[1]), op.predicate(texts[2])
    return lambda s: [np.where(which(s), first(s), second(s))]


SPECIAL = {"RCP": lambda x: 1 / x, "RSQ": lambda x: 1 / np.sqrt(x), "SQRT": np.sqrt, "EX2": np.exp2, "LG2": np.log2,
           "SIN": np.sin, "COS": np.cos, "TANH": np.tanh}


def special(instruction):
    name = instruction.modifiers[0]
    given = sources(instruction)[0]
    if name in ("RCP64H", "RSQ64H"):  # the upper word of an f64
        word = op.words(given)
        function = SPECIAL[name[:3]]
        return lambda s: [halves(function((np.uint64(word(s)) << THIRTY_TWO).view(np.float64)))[1]]
    value = op.real(given)
    return lambda s: [bits(SPECIAL[name](value(s)))]


def extend(instruction):
    texts, unsigned = sources(instruction), "U32" in instruction.modifiers
    value, width = op.integer(texts[0]), op.integer(texts[1])

    def run(s):
        n = THIRTY_TWO - np.minimum(width(s), THIRTY_TWO)
        moved = (value(s) & LOW) << n & LOW
        return [moved >> n if unsigned else (op.signed(moved) >> n.astype(np.int64)).astype(np.uint64)]
    return run


def convert(instruction):
    """Between numbers of 32 and 64 bits: F2I, I2F, I2FP, F2F, FRND."""
    names = [name for name in instruction.modifiers if re.fullmatch(r"[FSU](8|16|32|64)|BF16", name)]
    base, texts = instruction.base, sources(instruction)
    to = names[0] if names else "S32" if base == "F2I" else "F32"
    of = names[1] if len(names) > 1 else ("S32" if base.startswith("I2F") else "F32")
    if base.startswith("I2F") and len(names) == 1 and not names[0].startswith("F"):
        to, of = "F32", names[0]
    if base == "F2I" and len(names) == 1 and names[0].startswith("F"):
        to, of = "S32", names[0]
    if of.startswith("F"):
        value = op.double(texts[0]) if of == "F64" else op.real(texts[0])
    else:
        wide = of.endswith("64")
        inner = op.pair(texts[0]) if wide else op.integer(texts[0])
        value = (lambda s: inner(s).astype(np.int64)) if wide else (lambda s: op.signed(inner(s))) \
            if of.startswith("S") else (lambda s: inner(s) & LOW)

    def run(s):
        number = value(s)
        if to == "F64":
            return list(halves(number))
        if to.startswith("F") or to == "BF16":
            return [bits(np.round(number) if base == "FRND" else number)]
        whole = np.nan_to_num(np.trunc(np.asarray(number, np.float64)), posinf=2**31, neginf=-2**31)
        whole = np.clip(whole, -2.0**63, 2.0**62).astype(np.int64).astype(np.uint64)
        return [low(whole), high(whole)]
    return run


def pack_narrow(instruction):
    """F2FP: two f32 become a word of two bf16 or f16."""
    texts = [text for text in sources(instruction) if not op.is_predicate(text)]
    if "BF16" not in instruction.modifiers or len(texts) < 2:
        return halves_of_one(instruction)
    first, second = op.real(texts[0]), op.real(texts[1])
    return lambda s: [bits(first(s)) & np.uint32(0xffff0000) | bits(second(s)) >> np.uint32(16)]


def halves_of_one(instruction):
    """Arithmetic of f16 and bf16: about 1, since no jump depends on it. A sum with zero in f32 is a conversion, and a
    product with zero plus two numbers is a constant."""
    texts = sources(instruction)
    if instruction.base == "HFMA2" and len(texts) == 4 and {text.strip("-") for text in texts[:2]} == {"RZ"}:
        values = [op.literal_float(text) for text in texts[2:]]
        if None not in values:
            narrow = (lambda x: int(np.float32(x).view(np.uint32)) >> 16) if "BF16" in "".join(instruction.modifiers) \
                else (lambda x: int(np.float16(x).view(np.uint16)))
            word = np.uint32(narrow(values[0]) << 16 | narrow(values[1]))
            return lambda s: [word]
    if "F32" in instruction.modifiers and instruction.base == "HADD2":
        text = texts[1]
        word = op.words(re.sub(r"\.H\d_H\d|[-|]", "", text))
        place = np.uint32(16 if "H1_H1" in text else 0)
        return lambda s: [bits((np.asarray(word(s)) >> place).astype(np.uint16).view(np.float16))]
    return lambda s: [np.uint32(0x3c003c00)]


def population(instruction):
    value = op.integer(sources(instruction)[0])
    return lambda s: [np.array([bin(int(word)).count("1") for word in np.broadcast_to(value(s) & LOW, s.count)],
                               np.uint32)]


def leading(instruction):
    value = op.integer(sources(instruction)[0])
    return lambda s: [np.array([int(word).bit_length() - 1 & 0xffffffff for word in
                                np.broadcast_to(value(s) & LOW, s.count)], np.uint32)]


def move(instruction):
    texts = [text for text in sources(instruction) if not op.is_predicate(text)]
    value = op.integer(texts[0])
    return lambda s: [value(s)]


def zeros(instruction):
    return lambda s: [np.uint32(0), np.uint32(0)]


FUNCTIONS = {
    "MOV": move, "UMOV": move, "R2UR": move, "CS2R": zeros, "IABS": lambda i: (lambda value: lambda s: [np.abs(
        op.signed(value(s))).astype(np.uint64)])(op.integer(sources(i)[0])),
    "IADD3": add, "UIADD3": add, "VIADD": add, "IMAD": multiply_add, "UIMAD": multiply_add, "SHF": shift,
    "USHF": shift, "LEA": scaled_add, "ULEA": scaled_add, "LOP3": logic, "ULOP3": logic, "PLOP3": predicate_logic,
    "UPLOP3": predicate_logic, "PRMT": permute, "UPRMT": permute, "ISETP": compare_integers,
    "UISETP": compare_integers, "FSETP": compare_floats(op.real), "DSETP": compare_floats(op.double),
    "FADD": floats(np.add), "FMUL": floats(np.multiply), "FFMA": floats(lambda a, b, c: a * b + c),
    "DADD": floats(np.add, op.double, halves), "DMUL": floats(np.multiply, op.double, halves),
    "DFMA": floats(lambda a, b, c: a * b + c, op.double, halves), "FMNMX": extreme(op.real, bits),
    "DMNMX": extreme(op.double, halves), "IMNMX": extreme_integer, "VIMNMX": extreme_integer,
    "UIMNMX": extreme_integer, "VIMNMX3": extreme_of_three, "VIADDMNMX": extreme_of_sum, "SEL": choose, "USEL": choose, "FSEL": choose, "MUFU": special, "SGXT": extend,
    "USGXT": extend, "F2I": convert, "I2F": convert, "I2FP": convert, "F2F": convert, "FRND": convert,
    "F2FP": pack_narrow, "HADD2": halves_of_one, "HMUL2": halves_of_one, "HFMA2": halves_of_one,
    "HMNMX2": halves_of_one, "POPC": population, "FLO": leading, "UPOPC": population, "UFLO": leading,
}
