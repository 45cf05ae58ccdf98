# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Writes a program in which every elementwise operation on one element type runs twice on the same adversarial
constants: once where folders see them, once after a barrier. The results must have equal bits.

    fold_agreement.py TYPE
    fold_agreement.py --folded FILE    every check of the file must compare a constant with something that is computed
"""

import itertools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Support"))
from elements import WIDTHS  # noqa: E402
import records  # noqa: E402

PREDICATES = "eq ne lt le gt ge".split()
TYPES = "f64 f32 f16 bf16 f8E4M3FN f8E5M2 i1 i8 i32 i64".split()

# Widths, and the bits of infinity, NaN, the smallest and the largest subnormal and the largest finite number.
FLOATS = {
    "f64": (64, [0x7FF0000000000000, 0x7FF8000000000000, 1, 0xFFFFFFFFFFFFF, 0x7FEFFFFFFFFFFFFF]),
    "f32": (32, [0x7F800000, 0x7FC00000, 1, 0x7FFFFF, 0x7F7FFFFF]),
    "f16": (16, [0x7C00, 0x7E00, 1, 0x3FF, 0x7BFF]),
    "bf16": (16, [0x7F80, 0x7FC0, 1, 0x7F, 0x7F7F]),
    "f8E4M3FN": (8, [0x7F, 1, 7, 0x7E]),
    "f8E5M2": (8, [0x7F, 1, 3, 0x7B]),
}
ORDINARY = ["0.0", "-0.0", "1.0", "-1.0", "0.5", "-2.5", "3.0", "12.0"]


def values_of(element):
    if element == "i1":
        return ["true", "false"]
    if element in FLOATS:
        width, special = FLOATS[element]
        digits = width // 4
        signed = special + [bits | 1 << (width - 1) for bits in special]
        return ORDINARY + [f"0x{bits:0{digits}X}" for bits in signed]
    largest = 2 ** (int(element[1:]) - 1) - 1
    return [str(value) for value in (0, 1, -1, 2, -3, 7, 100, largest, -largest, -largest - 1)]


class Program:
    """Pairs of an operation on constants and the same operation on hidden values, with a check of each pair."""

    def __init__(self, element):
        values = values_of(element)
        pairs = list(itertools.product(values, values))
        self.type = f"tensor<{len(pairs)}x{element}>"
        self.booleans = f"tensor<{len(pairs)}xi1>"
        self.count, self.size = 0, len(pairs)
        self.lines = []
        conditions = ["true" if i % 3 else "false" for i in range(len(pairs))]
        for name, type_, elements in (("x", self.type, [x for x, _ in pairs]), ("y", self.type, [y for _, y in pairs]),
                                      ("c", self.booleans, conditions)):
            self.lines.append(f"%{name} = ad.constant dense<[{', '.join(elements)}]> : {type_}")
            self.lines.append(f"%{name}h = ad.barrier %{name} : {type_}")

    def check(self, text, result):
        """`text` holds {x}, {y} and {c} where the operands go."""
        plain, hidden = f"%p{self.count}", f"%h{self.count}"
        self.count += 1
        self.lines.append(f"{plain} = {text.format(x='%x', y='%y', c='%c')}")
        self.lines.append(f"{hidden} = {text.format(x='%xh', y='%yh', c='%ch')}")
        self.lines.append(f"check.expect_eq({plain}, {hidden}) : {result}")

    def write(self):
        print("func.func @main() -> tensor<f32> {")
        for line in self.lines:
            print("  " + line)
        print("  %done = ad.constant dense<0.0> : tensor<f32>\n  return %done : tensor<f32>\n}")


def main(element):
    program = Program(element)
    type_ = program.type
    for op in records.unary(element):
        program.check(f"ad.{op} {{x}} : {type_}", type_)
    for op in records.binary(element):
        program.check(f"ad.{op} {{x}}, {{y}} : {type_}", type_)
    for predicate in PREDICATES:
        program.check(f"ad.compare {predicate} {{x}}, {{y}} : {type_}", program.booleans)
    for target in TYPES:
        if target != element:
            result = f"tensor<{program.size}x{target}>"
            program.check(f"ad.cast {{x}} : {type_} -> {result}", result)
        if WIDTHS[target] == WIDTHS[element]:
            result = f"tensor<{program.size}x{target}>"
            program.check(f"ad.bitcast {{x}} : {type_} -> {result}", result)
    program.check(f"ad.select {{c}}, {{x}}, {{y}} : {program.booleans}, {type_}, {type_}", type_)
    if element != "i1":
        program.check(f"ad.clamp {{x}}, {{y}}, {{x}} : {type_}", type_)
    if element in FLOATS:
        program.check(f"ad.gelu {{x}} form tanh : {type_}", type_)
        program.check(f"ad.fma {{x}}, {{y}}, {{x}} : {type_}", type_)
        program.check(f"ad.is_finite {{x}} : {type_} -> {program.booleans}", program.booleans)
    program.write()


def check_folded(file):
    """Exits with the operations that no folder took."""
    text = pathlib.Path(file).read_text()
    made_by = dict(re.findall(r"^ +(%\w+) = (\S+)", text, re.M))
    pairs = re.findall(r"check\.expect_eq\((%\w+), (%\w+)\)", text)
    if not pairs:
        sys.exit(f"{file}: expected checks")
    left = sorted({made_by[name] for name, _ in pairs} - {"ad.constant"})
    if left:
        sys.exit(f"{file}: not folded: {', '.join(left)}")
    if any(made_by[hidden] == "ad.constant" for _, hidden in pairs):
        sys.exit(f"{file}: folded after a barrier")


if __name__ == "__main__":
    check_folded(sys.argv[2]) if sys.argv[1] == "--folded" else main(sys.argv[1])
