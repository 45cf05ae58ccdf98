# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Writes python_bindings/adjoint/ops.py from the records of the operations: a function for each, with its types and its
documentation."""

import re
import subprocess
import textwrap

# What programs do not say: operations that passes make.
INTERNAL_FILES = ("ADKernelOps.td", "ADMemoryOps.td")
HEAD = '''# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Written by scripts/generate_docs.py from include/adjoint/Dialect/AD/IR; do not edit.
"""The operations of the `ad` dialect as functions of traced tensors, one for each.

Operands are traced tensors, arrays or numbers; a number takes the element type of the tensors beside it. Where an
operation does not infer its results, `type` is the type of the result, e.g. adjoint.spec("4 ?", "f32"). `order` and
`allow` are the numerics contract as text (docs/numerics.md); nothing is the mode of the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from ._attributes import TypeLike
from ._emit import Operand, emit

if TYPE_CHECKING:
    from ._tensor import Tensor

'''
# The annotation of an attribute and the function that writes it, by its storage type in C++.
ATTRIBUTES = {
    "DenseI64ArrayAttr": ("Sequence[int]", "axes"),
    "IntegerAttr": ("int", "integer"),
    "FloatAttr": ("float", "number"),
    "UnitAttr": ("bool", "unit"),
    "StringAttr": ("str", "string"),
    "TypeAttr": ("str", "type"),
    "FlatSymbolRefAttr": ("str", "symbol"),
    "OrderAttr": ("str", "order"),
    "PermissionsAttr": ("str", "allow"),
}
SAFE = {"and": "and_", "or": "or_", "not": "not_", "max": "max", "min": "min"}


def snake(name):
    return re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), name)


class Operation:
    """What a function of an operation needs to know of its record."""

    def __init__(self, record, records):
        self.record, self.records = record, records
        self.name = record["opName"]
        self.operands, self.attributes, self.hidden = [], [], 0
        for argument, name in record["arguments"]["args"]:
            kind = records[argument["def"]]
            if kind.get("baseType") and kind["baseType"]["def"] == "AD_Buffer":
                self.hidden += 1  # of memory planning
                continue
            (self.attributes if "Attr" in kind["!superclasses"] else self.operands).append((name, kind))
        self.results = [self.constraint(result["def"]) for result, _ in record["results"]["args"]]
        self.traits = {trait["def"] for trait in record["traits"]}

    def constraint(self, name):
        """The type of a result, which may be wrapped with its effects."""
        record = self.records[name]
        return self.constraint(record["constraint"]["def"]) if record.get("constraint") else record

    def infers(self):
        """Whether the types of the results follow from the operands."""
        if {"SameOperandsAndResultType", "InferTypeOpAdaptor", "InferTypeOpAdaptorWithIsCompatible"} & self.traits:
            return True
        return any("InferTypeOpInterface" in str(self.records[trait].get("cppInterfaceName", "")) or
                   "TypesMatchWith" in self.records[trait]["!superclasses"] or
                   self.matches_result(self.records[trait]) for trait in self.traits)

    def matches_result(self, trait):
        """AllTypesMatch of operands and the result."""
        return "AllTypesMatch" in trait["!superclasses"] and "result" in trait["values"]

    def is_segmented(self):
        return any(self.records[trait].get("trait") == "AttrSizedOperandSegments" for trait in self.traits)

    def parameter_of(self, name, kind):
        classes = kind["!superclasses"]
        if "Variadic" in classes:
            return f"{snake(name)}: Sequence[Operand] = ()" if name in ("sizes", "scales", "offsets") else \
                f"{snake(name)}: Sequence[Operand]"
        if "Optional" in classes:
            return f"{snake(name)}: Operand | None = None"
        return f"{snake(name)}: Operand"

    def annotation(self, kind):
        """(annotation, writer, default or None) of an attribute."""
        base, default = kind, None
        while "OptionalAttr" in base["!superclasses"] or "DefaultValuedAttr" in base["!superclasses"]:
            default = "None"
            base = self.records[base["baseAttr"]["def"]]
        storage = base["storageType"].strip().rsplit("::", 1)[-1]
        if storage in ATTRIBUTES:
            annotation, writer = ATTRIBUTES[storage]
            return annotation, writer, "False" if storage == "UnitAttr" else default
        if "EnumAttr" in base["!superclasses"]:
            cases = [self.records[case["def"]]["str"] for case in self.records[base["enum"]["def"]]["enumerants"]] \
                if "enum" in base else []
            mnemonic = base["mnemonic"]
            return f"Literal[{', '.join(repr(case) for case in cases)}]".replace("'", '"'), f"enum:{mnemonic}", default
        return "object", "elements", default

    def signature(self):
        parameters = [self.parameter_of(*operand) for operand in self.operands]
        required = [parameter for parameter in parameters if "=" not in parameter]
        optional = [parameter for parameter in parameters if "=" in parameter]
        keywords = []
        for name, kind in self.attributes:
            annotation, _, default = self.annotation(kind)
            optionally = " | None" if default == "None" else ""
            keywords.append(f"{snake(name)}: {annotation}{optionally}{f' = {default}' if default else ''}")
        if self.results and not self.is_inferred_only():
            keywords.append("type: TypeLike | None = None" if self.infers() else "type: TypeLike")
        keywords.sort(key=lambda text: " = " in text)
        return ", ".join([*required, *optional, *(["*", *keywords] if keywords else [])])

    def is_inferred_only(self):
        return self.infers() and "InferTypeOpAdaptorWithIsCompatible" not in self.traits

    def call(self):
        operands = []
        for name, kind in self.operands:
            name = snake(name)
            if "Variadic" in kind["!superclasses"]:
                operands.append(name)
            elif "Optional" in kind["!superclasses"]:
                operands.append(f"() if {name} is None else ({name},)")
            else:
                operands.append(f"({name},)")
        operands += ["()"] * self.hidden
        attributes = [f'("{name}", "{self.annotation(kind)[1]}", {snake(name)})' for name, kind in self.attributes]
        types = "" if not self.results or self.is_inferred_only() else ", type=type"
        segments = ", segmented=True" if self.is_segmented() else ""
        indices = [name for name, kind in self.operands if self.is_index(kind)]
        return (f'emit("ad.{self.name}", [{", ".join(operands)}], [{", ".join(attributes)}]{types}{segments}'
                f'{f", indices={len(indices) + self.hidden}" if indices else ""})')

    def is_index(self, kind):
        return kind.get("baseType", {}) and kind["baseType"]["def"] == "Index"

    def result(self):
        if not self.results:
            return "None"
        if len(self.results) == 1 and "Variadic" not in self.results[0]["!superclasses"]:
            return "Tensor"
        return "tuple[Tensor, ...]"

    def text(self):
        name = SAFE.get(self.name, self.name)
        documentation = textwrap.dedent(self.record["description"]).strip("\n")
        body = textwrap.indent(f'{self.record["summary"][0].upper()}{self.record["summary"][1:]}.\n\n{documentation}',
                               "    ").rstrip()
        body = body.replace("\\", "\\\\")
        tail = {"Tensor": "[0]", "None": "", "tuple[Tensor, ...]": ""}[self.result()]
        statement = f"    {'return ' if self.results else ''}{self.call()}{tail}"
        return f'def {name}({self.signature()}) -> {self.result()}:\n    """{body.lstrip()}\n    """\n{statement}\n'


def operations(records):
    """Those that programs use, by name. Derivatives and calls are functions of the package."""
    for record in sorted(records.values(), key=lambda record: record.get("opName", "") if isinstance(record, dict) else ""):
        if not isinstance(record, dict) or "Op" not in record.get("!superclasses", []):
            continue
        if record.get("opDialect", {}).get("def") != "AD_Dialect":
            continue
        if record["!locs"][0].split(":")[0].endswith(INTERNAL_FILES) or record["opName"] in ("value_and_grad", "vjp"):
            continue
        yield Operation(record, records)


def text(records, ruff):
    found = list(operations(records))
    names = ", ".join(f'"{SAFE.get(operation.name, operation.name)}"' for operation in found)
    made = HEAD + f"__all__ = [{names}]\n\n\n" + "\n\n".join(operation.text() for operation in found)
    command = [ruff, "format", "--line-length=120", "--no-cache", "-"]
    return subprocess.run(command, input=made, capture_output=True, text=True, check=True).stdout
