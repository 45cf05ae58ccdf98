#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Names each line of prose or code that is longer than 120 columns.

    long_lines.py [FILE...]

Prints `FILE:LINE: N columns, expected at most 120` for each, and exits with 1 when there is one. Without FILE, all
tracked files that end in .md, .td, .h, .c, .cpp, .py, .sh, .cmake or CMakeLists.txt, and the comments of those that end
in .test. Tables, code blocks and links of Markdown may be longer, and so may a line with a literal or an address of 60
columns or more, commands of .test files, programs in texts of Python, and generated files. Files in .mlir are not read:
their lines are programs and expectations, and many comments explain one of these in a single line.
"""

import argparse
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = 120
KINDS = (".md", ".td", ".h", ".c", ".cpp", ".py", ".sh", ".cmake", "CMakeLists.txt", ".test")
GENERATED = re.compile(r"docs/reference/|include/adjoint/Numerics/Math/Coefficients\.h$")
# What a line of the kind may be: a row of a table, a link, the types of an operation.
EXEMPT = {".md": re.compile(r"\s*(\||<|\[[^]]+\]: )|.*\]\([^)]{60,}\)"),
          ".td": re.compile(r"\s*\| |\s*%\w+.* = .*:|\s*// (RUN|CHECK)"),
          ".test": re.compile(r"(?!\s*(#|//) )|\s*(#|//) *[A-Z][A-Z0-9_-]*:")}
# An opening quote follows no letter but a prefix of literals, and a closing quote precedes none: that of "isn't" is
# an apostrophe. Literals are read from the left, so that the text between two of them is not taken for one.
LITERAL = re.compile(r"""(?<!\w)[bBfFrRuUL]{0,2}(["'])((?:\\.|(?!\1).)*)\1(?!\w)""")
ADDRESS = re.compile(r"https?://\S{40,}")


def rows_of_texts(text):
    """The lines of a Python file that are inside of a text over several lines, but for the texts that document
    something."""
    rows, before = set(), ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "FSTRING_MIDDLE" or (kind == "STRING" and before not in ("", "NEWLINE", "INDENT")):
            rows.update(range(token.start[0], token.end[0] + 1) if token.start[0] != token.end[0] else ())
        if kind not in ("NL", "COMMENT", "DEDENT"):
            before = kind
    return rows


def is_exempt(suffix, line):
    if ADDRESS.search(line) or any(len(literal[2]) >= 60 for literal in LITERAL.finditer(line)):
        return True
    return suffix in EXEMPT and EXEMPT[suffix].match(line)


def long_lines(path, text):
    """(number, columns) of the lines that are too long."""
    suffix, in_code = pathlib.Path(path).suffix, False
    texts = rows_of_texts(text) if suffix == ".py" and any(len(line) > COLUMNS for line in text.splitlines()) else ()
    for number, line in enumerate(text.splitlines(), 1):
        if suffix in (".md", ".td") and line.strip().startswith("```"):
            in_code = not in_code
        elif len(line) > COLUMNS and not in_code and number not in texts and not is_exempt(suffix, line):
            yield number, len(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    files = options.files or subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True,
                                            check=True).stdout.split()
    complaints = []
    for path in files:
        if path.endswith(KINDS) and not GENERATED.match(path) and (ROOT / path).is_file():
            complaints += [f"{path}:{number}: {columns} columns, expected at most {COLUMNS}"
                           for number, columns in long_lines(path, (ROOT / path).read_text())]
    print("\n".join(complaints), end="\n" if complaints else "")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
