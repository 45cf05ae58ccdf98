# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Fusion, kernel selection, the numerics contract, the text forms and the driver of the conversion to linalg know
operations by their interfaces: their files name no operation of the `ad` dialect but those that kernels consist of
(ADKernelOps.td). So they handle an operation of another dialect like one of `ad`. Code that needs a named operation is
in a model (lib/Conversion/ADToLinalg/Models), in a preparing rewrite (lib/Dialect/AD/Transforms/PrepareForFusion.cpp)
or in the table of the words of recorded texts (lib/Dialect/AD/Transforms/Print/OperationTexts.cpp)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RECORDS = ROOT / "include/adjoint/Dialect/AD/IR"
FILES = ["lib/Dialect/AD/Transforms/Fuse/*", "lib/Dialect/AD/Transforms/SelectKernels.cpp",
         "lib/Dialect/AD/Transforms/Print/*", "lib/Dialect/AD/Transforms/SetNumerics.cpp",
         "lib/Conversion/ADToLinalg/*.*"]
# What a file may name: the table of recorded texts any operation, a pass the one that it creates.
EXCEPTIONS = {"lib/Dialect/AD/Transforms/Print/OperationTexts.cpp": None,
              "lib/Dialect/AD/Transforms/SetNumerics.cpp": "BroadcastOp"}
RECORD = re.compile(r'^def AD_(\w+Op) : \w+<"(\w+)"', re.M)


def operations(*files):
    """Class names and mnemonics of the records in the files: AddOp, ad.add."""
    records = [found for file in files for found in RECORD.findall(file.read_text())]
    return {name for class_name, mnemonic in records for name in (class_name, f"ad.{mnemonic}")}


def code_of(text):
    return re.sub(r"//.*", "", text)


def named(text, names):
    """The operations that C++ code names, by class or in a string."""
    classes = re.findall(r"(?<!::)\b[A-Z]\w+Op\b|(?<=\bad::)[A-Z]\w+Op\b", text)
    return sorted({*classes, *re.findall(r'"(ad\.\w+)"', text)} & names)


def program_operations():
    return operations(*RECORDS.glob("AD*Ops.td")) - operations(RECORDS / "ADKernelOps.td")


def files_name_no_operation(_):
    names = program_operations()
    files = [file for pattern in FILES for file in sorted(ROOT.glob(pattern)) if file.is_file()]
    if len(names) < 150 or len(files) < 20:
        yield f"expected at least 75 operations and 20 files, found {len(names) // 2} and {len(files)}"
    for file in files:
        path = str(file.relative_to(ROOT))
        found = named(code_of(file.read_text()), names)
        if path in EXCEPTIONS:
            found = [name for name in found if EXCEPTIONS[path] not in (None, name)]
        yield from (f"{path} names {name}; use an interface (docs/embedding.md)" for name in found)


def names_are_found(_):
    text = 'isa<ad::DotOp>(op); MulOp::create(b); arith::AddIOp::create(b); name == "ad.exp"; // ReluOp\n isa<FusionOp>(op);'
    if (found := named(code_of(text), program_operations())) != ["DotOp", "MulOp", "ad.exp"]:
        yield f"finds {found}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("interfaces", [("files", files_name_no_operation), ("names", names_are_found)]))
