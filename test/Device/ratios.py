# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What is wanted of the ratios of random graphs, each the time of eager PyTorch divided by ours."""

import statistics

TARGETS = {"10th percentile": 0.8, "median": 1.3, "minimum": 0.3}


def verdicts(ratios):
    """(what, measured, target, whether it is met)."""
    ordered = sorted(ratios)
    place = 0.1 * (len(ordered) - 1)
    low, high = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
    measured = {"10th percentile": low + (place - int(place)) * (high - low), "median": statistics.median(ordered),
                "minimum": ordered[0]}
    return [(what, value, TARGETS[what], value >= TARGETS[what]) for what, value in measured.items()]
