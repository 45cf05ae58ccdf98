# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Modules that nobody should have written: parts of the tests of errors, whole and cut off, and files that are no modules."""

import pathlib

import checks

TESTS = pathlib.Path(__file__).resolve().parents[1]
NO_MODULES = {"empty": b"", "zeros": bytes(1000), "deep": b"(" * 200_000, "bytes": b"\xff\xfe" * 500,
              "bytecode": b"ML\xefR\x06" + b"\x01" * 300}


def refused_parts():
    """The modules of the tests whose passes refuse them."""
    for file in sorted(TESTS.rglob("*-invalid.mlir")):
        yield from file.read_text().split("// -----")


def hostile_modules(folder):
    """45 files in the folder, others for each commit: 20 parts, each whole and cut off after two thirds, and no modules."""
    parts = list(refused_parts())
    chosen = checks.sample(parts, len(parts) // 20)[:20] if checks.SAMPLE >= 0 else parts[::len(parts) // 20][:20]
    texts = dict(NO_MODULES)
    for number, part in enumerate(chosen):
        texts[f"part{number}"] = part.encode()
        texts[f"cut{number}"] = part[:len(part) * 2 // 3].encode()
    files = []
    for name, content in texts.items():
        files.append(folder / f"{name}.mlir")
        files[-1].write_bytes(content)
    assert len(files) == 45, f"{len(files)} modules"
    return files
