# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the records of elementwise operations and of norms say, so that tests try each operation without a list of their
own."""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from generate_docs import TableGen  # noqa: E402

ELEMENTWISE = "adjoint/Dialect/AD/IR/ADElementwiseOps.td"
ROWS = "adjoint/Dialect/AD/IR/ADNNOps.td"
# By the constraint of the operands: the element types.
FLOATS = "f64 f32 f16 bf16 f8E4M3FN f8E5M2".split()
INTEGERS = "i8 i32 i64".split()
ELEMENTS = {"AD_FloatTensor": FLOATS, "AD_NumberTensor": FLOATS + INTEGERS, "AD_IntegerTensor": INTEGERS,
            "AD_LogicalTensor": ["i1"] + INTEGERS}


def _with_includes(file):
    """The text of a file, after those of the files of its folder that it includes."""
    text = (ROOT / "include" / file).read_text()
    included = re.findall(rf'^include "({pathlib.PurePath(file).parent}/AD\w+Ops\.td)"', text, re.M)
    return "".join(map(_with_includes, included)) + text


@functools.lru_cache(maxsize=None)
def _operations(file, base):
    """Mnemonics with the constraints of the arguments, in the order of the file."""
    records = TableGen(pathlib.Path("/usr/lib/llvm-22")).records(file, base)
    text = _with_includes(file)
    ordered = sorted(records, key=lambda name: text.index(f"def {name} "))
    return {records[name]["opName"]: [value["def"] for value, _ in records[name]["arguments"]["args"]]
            for name in ordered}


def _elementwise(base, element):
    constraints = _operations(ELEMENTWISE, base).items()
    return [name for name, arguments in constraints if element is None or element in ELEMENTS[arguments[0]]]


def unary(element=None):
    """The operations that map one operand to a result of its type; with an element type, those that take it."""
    return _elementwise("AD_UnaryOp", element)


def binary(element=None):
    """The operations on two operands of one element type, with a result of it."""
    return _elementwise("AD_BinaryOp", element)


def norms():
    """The normalizations of rows, with the number of their parameters: scale, and bias if there is one."""
    return {name: arguments.count("AD_FloatTensor") - 1 for name, arguments in _operations(ROWS, "AD_NormOp").items()}
