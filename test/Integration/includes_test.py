#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Every source, and every public header alone, includes what it uses: each compiles without the precompiled headers of the
build, which hide what is missing from other compilers' builds and from sanitizers'.

includes_test.py [--count N] [--seed S] [NAME...]: so many files that the seed draws (by default 4, in a sample 2, others
for each commit), or those whose names contain NAME. Closes with `includes: N run, N failed`."""

import argparse
import functools
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

BUILD = pathlib.Path(runner.binary("ad-opt")).resolve().parents[1]
PRECOMPILED = re.compile(r"-Xclang -include-pch -Xclang \S+ -Xclang -include -Xclang \S+|-Winvalid-pch")


def commands():
    """{source of the project: the arguments that compile it, without precompiled headers, output and name}."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["directory"], entry["file"]).resolve()
        if source.is_relative_to(ROOT) and not source.is_relative_to(ROOT / "build"):
            plain = re.sub(r" -o \S+ -c \S+$", "", PRECOMPILED.sub("", entry["command"]))
            found[str(source.relative_to(ROOT))] = [*shlex.split(plain), "-fsyntax-only"]
    return found


def headers():
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "include").rglob("*.h"))


def complaint(arguments, path, _):
    text = f'#include "{ROOT / path}"\n' if path.endswith(".h") else None
    last = ["-x", "c++", "-"] if text else [str(ROOT / path)]
    done = subprocess.run([*arguments, *last], input=text, capture_output=True, text=True, check=False, cwd=BUILD)
    return done.stderr[:2000] if done.returncode else None


def finds_what_is_missing(arguments, folder):
    """A header that uses a type of MLIR without its header."""
    missing = folder / "missing.h"
    missing.write_text("inline mlir::Type same(mlir::Type type) { return type; }\n")
    return [] if complaint(arguments, str(missing), folder) else ["a missing include was not found"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4 if checks.SAMPLE < 0 else 2)
    parser.add_argument("--seed", type=int, default=max(checks.SAMPLE, 1))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    known = commands()
    of_libraries = known["lib/Pipelines/Pipelines.cpp"]
    files = sorted(known) + headers()
    if options.names:
        files = [path for path in files if any(name in path for name in options.names)]
    else:
        files = random.Random(options.seed).sample(files, min(options.count, len(files)))
    cases = [(path, functools.partial(complaint, known.get(path, of_libraries), path)) for path in files]
    return checks.run_checks("includes", [("a planted fault", functools.partial(finds_what_is_missing, of_libraries)),
                                          *cases])


if __name__ == "__main__":
    sys.exit(main())
