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
FILES = ["lib/Dialect/AD/Transforms/Fuse/**/*", "lib/Codegen/Select/**/*",
         "lib/Dialect/AD/Transforms/Print/**/*", "lib/Dialect/AD/Transforms/Numerics/SetNumerics.cpp",
         "lib/Conversion/ADToLinalg/**/*"]
# Folders inside of these whose files name operations: the models.
MODELS = ["lib/Conversion/ADToLinalg/Models"]
# What a file may name: the table of recorded texts any operation, a pass the one that it creates.
EXCEPTIONS = {"lib/Dialect/AD/Transforms/Print/OperationTexts.cpp": None,
              "lib/Dialect/AD/Transforms/Numerics/SetNumerics.cpp": "BroadcastOp"}
RECORD = re.compile(r'^def AD_(\w+Op) : \w+<"(\w+)"', re.M)


def operations(*files):
    """Class names and mnemonics of the records in the files: AddOp, ad.add."""
    records = [found for file in files for found in RECORD.findall(file.read_text())]
    return {name for class_name, mnemonic in records for name in (class_name, f"ad.{mnemonic}")}


def code_of(text):
    """The text without comments. A // in a literal begins none."""
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.S)


def named(text, names):
    """The operations that C++ code names, by class or in a string: "ad.add", or "add" as `stripDialect` gives it."""
    classes = re.findall(r"(?<!::)\b[A-Z]\w+Op\b|(?<=\bad::)[A-Z]\w+Op\b", text)
    literals = re.findall(r'"((?:\\.|[^"\\\n])*)"', text)
    strings = {literal if "." in literal else f"ad.{literal}" for literal in literals}
    return sorted({*classes, *strings} & names)


def files_of(root):
    """The files that name no operation, in folders inside of the folders too."""
    found = sorted({file for pattern in FILES for file in root.glob(pattern) if file.is_file()})
    return [file for file in found if not str(file.relative_to(root)).startswith(tuple(f"{one}/" for one in MODELS))]


def program_operations():
    return operations(*RECORDS.glob("AD*Ops.td")) - operations(RECORDS / "ADKernelOps.td")


def files_name_no_operation(_):
    names = program_operations()
    files = files_of(ROOT)
    if len(names) < 150 or len(files) < 20:
        yield f"expected at least 75 operations and 20 files, found {len(names) // 2} and {len(files)}"
    yield from (f"no file is {pattern}" for pattern in FILES if not any(ROOT.glob(pattern)))
    yield from (f"no file is {path}" for path in EXCEPTIONS if not (ROOT / path).is_file())
    for file in files:
        path = str(file.relative_to(ROOT))
        found = named(code_of(file.read_text()), names)
        if path in EXCEPTIONS:
            found = [name for name in found if EXCEPTIONS[path] not in (None, name)]
        yield from (f"{path} names {name}; use an interface (docs/own-dialects.md)" for name in found)


def names_are_found(_):
    text = 'isa<ad::DotOp>(op); MulOp::create(b); arith::AddIOp::create(b); name == "ad.exp"; // ReluOp\n isa<FusionOp>(op);'
    if (found := named(code_of(text), program_operations())) != ["DotOp", "MulOp", "ad.exp"]:
        yield f"finds {found}"
    for text, expected in (('op->getName().stripDialect() == "relu"', ["ad.relu"]),
                           ('llvm::StringSet<> names = {"softmax", "gelu"}; names.contains(name);',
                            ["ad.gelu", "ad.softmax"]),
                           ('getName().getStringRef() == "ad.exp" /* "ad.dot" */', ["ad.exp"]),
                           ('at("https://a"); isa<ReluOp>(op);', ["ReluOp"]), ('.Case<mlir::ad::DotOp>(f)', ["DotOp"]),
                           ('name == "policy"; text("is no add of the kernel"); // "relu"', [])):
        if (found := named(code_of(text), program_operations())) != expected:
            yield f"finds {found} in {text}, expected {expected}"


def subfolders_are_read(folder):
    expected = ["lib/Conversion/ADToLinalg/Deep/B.h", "lib/Dialect/AD/Transforms/Fuse/A/B/C.cpp"]
    for path in (*expected, "lib/Conversion/ADToLinalg/Models/D.cpp", "lib/Dialect/AD/Transforms/E.cpp"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("")
    if (found := [str(file.relative_to(folder)) for file in files_of(folder)]) != expected:
        yield f"reads {found}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("interfaces", [("files", files_name_no_operation), ("names", names_are_found),
                                              ("subfolders", subfolders_are_read)]))
