# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reads the #ad.launch_config of a kernel from the text of a module."""

import re

CONFIG = re.compile(r"#ad\.launch_config<\w+, ((?:\w+ = [\dx]+(?:, )?)*)(?:tensor_maps = \[(.*?)\])?>")
MAP = re.compile(r"operand = (\d+), box = ([\dx]+)(?:, swizzle = (\d+))?(?:, tf32 = (true))?")


def read(text):
    """The parameters that are numbers, by name, and the tensor maps: (operand, box such as 128x64, swizzle, rounds to tf32)."""
    found = CONFIG.search(text)
    if not found:
        raise RuntimeError("the module has no #ad.launch_config; expected the output of ad-emit-gpu")
    numbers = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)\b", found[1])}
    maps = [(int(operand), box, int(swizzle or 0), bool(rounds)) for operand, box, swizzle, rounds in MAP.findall(found[2] or "")]
    return numbers, maps
