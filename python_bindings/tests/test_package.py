# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The package: examples in its documents, its types, its version."""

import ast
import pathlib
import re
import shutil
import subprocess

import adjoint
import pytest

BINDINGS = pathlib.Path(__file__).resolve().parent.parent


def examples(document):
    return re.findall(r"^```python\n(.*?)^```", document.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "document",
    [BINDINGS / "README.md", BINDINGS.parent / "README.md"]
    + [BINDINGS.parent / "docs" / f"{page}.md" for page in ("mixed-precision", "ad-diff", "tracing", "how-do-i")],
    ids=["bindings", "project", "mixed-precision", "ad-diff", "tracing", "how-do-i"],
)
def test_examples_run_and_print_what_they_say(document, capsys, monkeypatch):
    monkeypatch.chdir(BINDINGS.parent)
    blocks = examples(document)
    assert blocks
    for block in blocks:
        if "diff.bisect" in block and not shutil.which("ad-diff"):
            continue  # the package does not contain the tool
        exec(compile(block, str(document), "exec"), {})  # noqa: S102
        said = re.findall(r"^ *print\(.*\) +# (.*)$", block, re.MULTILINE)
        assert said and capsys.readouterr().out.splitlines() == said


def test_the_stub_names_what_the_extension_has():
    stub = ast.parse((pathlib.Path(adjoint.__file__).parent / "_adjoint.pyi").read_text(encoding="utf-8"))
    for node in stub.body:
        if isinstance(node, ast.FunctionDef):
            assert callable(getattr(adjoint._adjoint, node.name))
        if isinstance(node, ast.ClassDef):
            written = {getattr(item, "name", None) or item.target.id for item in node.body
                       if not isinstance(item, ast.Expr)} - {"__init__"}
            assert written == {name for name in vars(getattr(adjoint._adjoint, node.name)) if not name.startswith("_")}
    names = {node.name for node in stub.body if hasattr(node, "name")}
    assert names == {name for name in vars(adjoint._adjoint) if not name.startswith("_")}


def test_everything_public_is_documented():
    for name in adjoint.__all__:
        assert getattr(adjoint, name).__doc__, name


@pytest.mark.skipif(not shutil.which("ad-runner"), reason="ad-runner is not on the path")
def test_version_is_that_of_the_tools():
    done = subprocess.run(["ad-runner", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] == adjoint.__version__
