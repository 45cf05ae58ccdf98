# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""docs/README.md lists every document, links of all documents lead to files that exist, and the benchmarks that
README.md names exist."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

INDEX = (ROOT / "docs/README.md").read_text()


def documents():
    yield from (file for file in sorted(ROOT.glob("*.md")))
    for folder in ("docs", "test", "examples", "python_bindings"):
        yield from (file for file in sorted((ROOT / folder).rglob("*.md")) if "docs/reference" not in str(file))


def check_index(_folder):
    linked = re.findall(r"\]\(([^)#]+)\)", INDEX)
    for file in sorted((ROOT / "docs").iterdir()):
        listed = {"spec": "spec.md"}.get(file.name, file.name)  # spec.md leads to the families
        if file.suffix in (".md", "") and file.name != "README.md" and listed not in linked:
            yield f"docs/README.md does not list {file.name}"


def check_links(_folder):
    for file in documents():
        prose = re.sub(r"^```.*?^```", "", file.read_text(), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
            if "://" not in link and not (file.parent / link).exists():
                yield f"{file.relative_to(ROOT)}: a link to {link}, which does not exist"


def check_benchmarks(_folder):
    for name in re.findall(r"scripts/bench\.sh ([\w-]+)", (ROOT / "README.md").read_text()):
        if not (ROOT / "benchmarks" / f"{name}.py").is_file():
            yield f"README.md names the benchmark {name}, which does not exist"


if __name__ == "__main__":
    sys.exit(checks.run_checks("index", [("index", check_index), ("links", check_links),
                                         ("benchmarks", check_benchmarks)]))
