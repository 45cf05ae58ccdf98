# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The bounds of docs/spec/elementwise.md on the errors of derivative rules, and whether each rule has one."""

import pathlib
import re

SPEC = pathlib.Path(__file__).resolve().parents[2] / "docs" / "spec" / "elementwise.md"


def bounds():
    """{operation without "ad.": bound in ulp} of the table under "Slopes"; gelu_tanh is the other form of gelu."""
    text = SPEC.read_text(encoding="utf-8")
    table = text[text.index("**Slopes.**"):text.index("\n## ")]
    found = {}
    for names, bound in re.findall(r"^\| (`ad\.[^|]*) \| [^|]* \| ([0-9.]+) \|", table, re.MULTILINE):
        for name in re.findall(r"`ad\.([^`]+)`", names):
            found[name.replace(", form tanh", "_tanh").replace(" form tanh", "_tanh")] = float(bound)
    return found


def differentiable():
    """The operations of the specification whose adjoint is neither zero nor missing."""
    text = SPEC.read_text(encoding="utf-8")
    sections = re.findall(r"^## ad\.(\w+)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name for name, text in sections if not re.search(r"\*\*A1\.\*\* (Zero|None)", text)}


def without_bound(rules):
    """Elementwise operations among the rules ["ad.exp", …] that have no bound."""
    names = {rule[3:] for rule in rules if rule.startswith("ad.")}
    return sorted((names & differentiable()) - set(bounds()))
