#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random sorts of long and short lines: the reference interpreter gives what Python's stable sort gives, and the CPU with
one thread and with several and the emulated GPU give its bits. Operations, element types, shapes, axes, directions, which
sizes are open, how many elements are equal, and operations before and after are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import one_operation  # noqa: E402
import operations_sorting  # noqa: E402
import runner  # noqa: E402

COUNT = 60
# Around vectors, warps, and the lengths at which the sort of the CPU changes.
SIZES = (0, 1, 2, 3, 5, 8, 17, 23, 24, 25, 26, 32, 33, 64, 100, 255, 256, 257, 300, 512, 513, 700, 1024, 2048, 2049, 2500, 4096)
MAX_ELEMENTS = 5000
KINDS = ("argsort", "sort", "sort", "top_k")


def check(seed, folder):
    rng = np.random.default_rng(seed)
    text, arguments, op, is_alone = one_operation.program(rng, KINDS, SIZES, MAX_ELEMENTS)
    element = op.result.element
    given = [(value.name, value.element, array) for value, array in arguments]
    arrays = {value.name: array for value, array in arguments}
    expected = operations_sorting.TABLE[op.mnemonic](op, [arrays[value.name] for value in op.operands])
    targets = runner.everywhere(rng, str(rng.choice(["reproducible", "strict"])))
    for label, _, reference, found in runner.match_reference(folder, text, given, [("r", element)], targets):
        wrong = np.argwhere(~elements.same_bits(element, reference, found))
        if len(wrong):
            yield f"{label}: other bits than the reference at {len(wrong)} of {reference.size} places, first {wrong[0]}: {text}"
    if is_alone and not elements.same_bits(element, np.asarray(expected), reference).all():
        yield f"the reference has other bits than Python's sort: {text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random sorts", check, COUNT))
