# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""replays.py REPORT.json NAME=COUNT…: exit code 1 unless the report has these counts of replays."""

import json
import pathlib
import sys

found = json.loads(pathlib.Path(sys.argv[1]).read_text())["replays"]
expected = {name: int(count) for name, count in (text.split("=") for text in sys.argv[2:])}
sys.exit(0 if found == expected else f"expected {expected}, found {found}")
