# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""For each constraint of each elementwise operation a program that violates it: docs/spec/elementwise.md has the same
constraints for many operations, so the programs are generated. A function is named by the label of its constraint.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "test/Support"))
import spec  # noqa: E402

FAMILIES = spec.read_families()
UNARY = FAMILIES["unary"]
BINARY = FAMILIES["binary"] + ["compare"]
TERNARY = ["select", "clamp", "fma"]
LOGICAL = {"not", "and", "or", "xor", "shift_left", "shift_right", "shift_right_logical"}


def tensor(shape, element):
    return f"tensor<{shape}x{element}>"


def program(name, op, types, result):
    """A function of one operation in the generic form, whose types nothing has checked before the verifier."""
    arguments = ", ".join(f"%a{number}: {type_}" for number, type_ in enumerate(types))
    operands = ", ".join(f"%a{number}" for number in range(len(types)))
    attributes = " <{predicate = #ad<predicate lt>}>" if op == "compare" else ""
    return (f"func.func @{name}({arguments}) {{\n"
            f'  %r = "ad.{op}"({operands}){attributes} : ({", ".join(types)}) -> {result}\n'
            "  return\n}\n")


def unary_cases():
    for op in UNARY:
        element = "i32" if op in LOGICAL else "f32"
        given, other = tensor(4, element), tensor(5, element)
        yield (f"{op}_c1_result", program(f"{op}_c1_result", op, [given], other),
               f"'ad.{op}' op requires the same type for all operands and results")


def broadcasting_cases():
    for op in BINARY + TERNARY:
        element, wider = ("i32", "i64") if op in LOGICAL else ("f32", "f64")
        count = 3 if op in TERNARY else 2
        data = [tensor("2x3", element)] * count
        if op == "select":
            data[0] = tensor("2x3", "i1")
        right = tensor("2x3", "i1" if op == "compare" else element)
        wrong = tensor("2x?", "i1" if op == "compare" else element)
        for name, types, result, message in [
                (f"{op}_c1_element_types", data[:-1] + [tensor("2x3", wider)], right,
                 f"'ad.{op}' op expected operands of one element type, but got '{element}' and '{wider}'"),
                (f"{op}_c2_shapes", data[:-1] + [tensor("2x4", element)], right,
                 f"'ad.{op}' op operand shapes do not broadcast: dimension 1 has sizes 3 and 4"),
                (f"{op}_c3_result", data, wrong,
                 f"'ad.{op}' op inferred type(s) '{right}' are incompatible with return type(s) of operation '{wrong}'")]:
            yield name, program(name, op, types, result), message


def cases():
    """(name, program, message) of each violated constraint."""
    yield from unary_cases()
    yield from broadcasting_cases()


def names():
    return [name for name, _, _ in cases()]
