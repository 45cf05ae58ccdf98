# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The verifier refuses each violated constraint of each elementwise operation, at its location and in its words
(refusals.py)."""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import refusals  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))


def located_errors(text):
    """The messages by line of the program."""
    found = {}
    for line in text.splitlines():
        if ": error: " in line:
            place, message = line.split(": error: ", 1)
            found.setdefault(int(place.split(":")[1]), []).append(message)
    return found


def cases(folder):
    """All programs in one file, which is split: a line says which one has an error."""
    file, text, lines = folder / "refusals.mlir", "", []
    for name, program, message in refusals.cases():
        lines.append((name, text.count("\n") + 2, message))
        text += f"{program}// -----\n"
    file.write_text(text)
    done = subprocess.run([BIN / "ad-opt", file, "--split-input-file", "-o", os.devnull], capture_output=True,
                          text=True)
    errors = located_errors(done.stderr)
    for name, line, message in lines:
        found = errors.pop(line, [])
        yield name, None if any(error.startswith(message)
                                for error in found) else f"expected {message!r}, but got {found}"
    yield "nothing else", f"errors in other lines: {errors}" if errors or done.returncode != 1 else None


if __name__ == "__main__":
    sys.exit(checks.run_cases("refusals", cases))
