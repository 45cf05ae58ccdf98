#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random operations of layers: the reference interpreter gives what NumPy gives, within bounds that follow from the
roundings, and the CPU with one thread and with several and the emulated GPU give its bits. Operations, element types,
shapes, axes, attributes, which sizes are open, and operations before and after are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import operations_layers  # noqa: E402
import one_operation  # noqa: E402
import oracle  # noqa: E402
import runner  # noqa: E402

COUNT = 80
SIZES = (0, 1, 2, 3, 5, 8, 16, 17, 31, 32, 33, 64, 100, 130)
MAX_ELEMENTS = 4000


def check(seed, folder):
    rng = np.random.default_rng(seed)
    text, arguments, op, is_alone = one_operation.program(rng, list(operations_layers.TABLE), SIZES, MAX_ELEMENTS)
    element = op.result.element
    given = [(value.name, value.element, array) for value, array in arguments]
    arrays = {value.name: array for value, array in arguments}
    targets = runner.everywhere(rng, str(rng.choice(["reproducible", "strict"])))
    for label, _, reference, found in runner.match_reference(folder, text, given, [("r", element)], targets):
        wrong = np.argwhere(~elements.same_bits(element, reference, found))
        if len(wrong):
            yield f"{label}: other bits than the reference at {len(wrong)} of {reference.size} places, first {wrong[0]}: {text}"
    if not is_alone:
        return
    with np.errstate(all="ignore"):
        wrong = oracle.differences(op, [arrays[value.name] for value in op.operands], reference)
    if len(wrong):
        yield f"the reference differs from NumPy at {len(wrong)} of {reference.size} places, first {wrong[0]}: {text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random layers", check, COUNT))
