# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reads the listing that `nvdisasm -c` writes: the instructions and labels of each kernel.

What it does not know is an error, so that no cost is missed: a listing without kernels, a line that is neither an
instruction nor a label nor a directive, a branch to a label that is nowhere."""

import dataclasses
import functools
import re

LINE = re.compile(r"\s*/\*(?P<address>[0-9a-f]{4,})\*/\s+(?:@(?P<guard>!?U?P\w+)\s+)?(?P<opcode>[A-Z][\w.]*)(?P<operands>[^;]*);")
LABEL = re.compile(r"(\.?[\w$.]+):\s*(//.*)?$")
SKIPPED = re.compile(r"\s*($|//|\.[a-z_]+[\s\"]|\.[a-z_]+$)")  # empty lines, comments, directives
SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
TARGET = re.compile(r"\.L_\w+")


class MalformedListing(ValueError):
    """The text is no listing of nvdisasm, or one of a kind that nobody has taught this reader."""


@dataclasses.dataclass(frozen=True)
class Instruction:
    address: int
    guard: str  # the predicate that lets it run, e.g. "!P0", or ""
    opcode: str  # with its modifiers: LDG.E.128
    operands: tuple  # texts

    @functools.cached_property
    def base(self):
        return self.opcode.split(".")[0]

    @functools.cached_property
    def modifiers(self):
        return self.opcode.split(".")[1:]

    @property
    def targets(self):
        """The labels that it names."""
        return [name for operand in self.operands for name in TARGET.findall(operand)]


@dataclasses.dataclass
class Kernel:
    name: str
    instructions: list
    labels: dict  # name -> number of the instruction that it stands before


# A note of nvdisasm, such as (*"SpillRefill"*). That of an indirect branch has its targets.
NOTE = re.compile(r'\(\*"(?!BRANCH_TARGETS)[^"]*"\*\)')


def split_operands(text):
    """At commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for character in NOTE.sub("", text):
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    if depth:
        raise MalformedListing(f"brackets do not match in '{text.strip()}'")
    parts.append(current.strip())
    return tuple(part for part in parts if part)


def parse_instruction(line):
    found = LINE.match(line)
    if not found:
        raise MalformedListing(f"expected an instruction, a label or a directive, but got '{line.strip()}'")
    return Instruction(int(found["address"], 16), found["guard"] or "", found["opcode"],
                       split_operands(found["operands"]))


def parse_kernel(name, lines):
    kernel = Kernel(name, [], {})
    for line in lines:
        if label := LABEL.match(line.strip()):
            if label[1] in kernel.labels:
                raise MalformedListing(f"{name}: label {label[1]} stands twice")
            kernel.labels[label[1]] = len(kernel.instructions)
        elif not SKIPPED.match(line):
            kernel.instructions.append(parse_instruction(line))
    if not kernel.instructions:
        raise MalformedListing(f"{name}: no instructions")
    for instruction in kernel.instructions:
        if unknown := [target for target in instruction.targets if kernel.labels.get(target, len(kernel.instructions))
                       == len(kernel.instructions)]:
            raise MalformedListing(f"{name}: {instruction.opcode} to {unknown[0]}, where no instruction is")
    return kernel


def parse(text):
    """The kernels of a listing."""
    name, lines, kernels = None, [], []
    for line in text.splitlines():
        if section := SECTION.match(line):
            if name:
                kernels.append(parse_kernel(name, lines))
            name, lines = section[1], []
        elif name:
            lines.append(line)
    if name:
        kernels.append(parse_kernel(name, lines))
    if not kernels:
        raise MalformedListing("expected a listing of nvdisasm with a section .text, but got none")
    return kernels
