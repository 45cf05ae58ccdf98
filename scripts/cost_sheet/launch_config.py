# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Reads the #ad.launch_config of a kernel from the text of a module."""

import re

CONFIG = re.compile(r"#ad\.launch_config<(\w+), ((?:\w+ = [\dx]+(?:, )?)*)(?:tensor_maps = \[(.*?)\])?>")
MAP = re.compile(r"operand = (\d+), box = ([\dx]+)(?:, swizzle = (\d+))?(?:, tf32 = (true))?")


def read(text):
    """The parameters of the first one by name, None where there is none: `level`, numbers, `tile` as a list, and
    `tensor_maps`, each (operand, box such as 128x64, swizzle, rounds to tf32)."""
    found = CONFIG.search(text)
    if not found:
        return None
    launch = {"level": found[1], **{name: int(value) for name, value in re.findall(r"(\w+) = (\d+)\b", found[2])}}
    if tile := re.search(r"\btile = ([\dx]+)", found[2]):
        launch["tile"] = [int(extent) for extent in tile[1].split("x")]
    if found[3]:
        launch["tensor_maps"] = [(int(operand), box, int(swizzle or 0), bool(rounds)) for operand, box, swizzle,
                                 rounds in MAP.findall(found[3])]
    return launch
