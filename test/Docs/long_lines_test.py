# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""scripts/long_lines.py names lines of more than 120 columns, and none that may be longer."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "scripts")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import long_lines  # noqa: E402

WORDS = "word " * 30
TEXT = "x" * 130


def check_found(_folder):
    for path, text in [("a.md", WORDS), ("a.py", f"# {WORDS}"), ("a.py", f'"""{WORDS}\n"""\n'),
                       ("a.cpp", f"// {WORDS}"), ("a.cmake", f"# {WORDS}"),
                       ("CMakeLists.txt", f"# {WORDS}"), ("a.cpp", f'f("a", {WORDS}, "b");'),
                       ("a.test", f"# {WORDS}"), ("a.test", f"// {WORDS}"),
                       ("a.md", f"It doesn't {WORDS[:100]}isn't {WORDS}"),
                       ("a.cpp", f"// the users' {WORDS[:100]}the files' {WORDS}"),
                       ("a.cpp", f"// doesn't {WORDS[:100]}isn't {WORDS}"),
                       ("a.sh", f"# {WORDS}"), ("a.td", f"    {WORDS}"), ("a.py", f"call({', '.join(['a'] * 50)})")]:
        if list(long_lines.long_lines(path, text)) != [(1, len(text.splitlines()[0]))]:
            yield f"{path}: expected the first line of {text[:40]!r}… to be named"


def check_exempt(_folder):
    for path, text in [("a.md", f"| {WORDS} |"), ("a.md", f"```\n{WORDS}\n```"), ("a.md", f"[a](https://{TEXT})"),
                       ("a.py", f'x = "{TEXT}"'), ("a.py", f'x = """\n{WORDS}\n"""'), ("a.cpp", f'return "{TEXT}";'),
                       ("a.test", f"# RUN: {WORDS}"), ("a.test", f"// CHECK-NEXT: {WORDS}"), ("a.test", WORDS),
                       ("a.py", f"call('{TEXT}')"), ("a.py", f"{{b'{TEXT}'}}"), ("a.py", f"x = f'{TEXT}'"),
                       ("a.td", f"    ```mlir\n{WORDS}\n    ```"), ("a.md", "é" * 120)]:
        if found := list(long_lines.long_lines(path, text)):
            yield f"{path}: expected no line of {text[:40]!r}… to be named, but got {found}"


if __name__ == "__main__":
    sys.exit(checks.run_checks("long_lines", [("found", check_found), ("exempt", check_exempt)]))
