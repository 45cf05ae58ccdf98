# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""graphs.py REPORT.json NAME=COUNT…: exit code 1 unless the report has these counts of graphs."""

import json
import pathlib
import sys

found = json.loads(pathlib.Path(sys.argv[1]).read_text())["graphs"]
expected = {name: int(count) for name, count in (text.split("=") for text in sys.argv[2:])}
sys.exit(0 if found == expected else f"expected {expected}, found {found}")
