# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The examples of docs/python.md, one after the other."""

import linecache
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/python.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the package is tested without the tree")
def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # they write files
    examples = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(examples) >= 10
    names = {"__name__": "tour"}
    for number, example in enumerate(examples):
        file = f"{PAGE.name}, example {number}"
        linecache.cache[file] = len(example), None, example.splitlines(keepends=True), file
        exec(compile(example, file, "exec"), names)
