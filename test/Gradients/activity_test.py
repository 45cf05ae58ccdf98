#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Every construct of test/Support/activity.py in a random function: those that carry a derivative give the right one,
and those without one are named by an error, before and after canonicalization."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import activity
import activity_cases
import checks

BATCH = 16


def main():
    right = [(100 + i, False, construct) for i, construct in enumerate(2 * (activity.SCALARS + activity.TENSORS))]
    refused = [(200 + i, True, construct) for i, construct in enumerate(activity.REFUSED)]

    def cases(folder):
        for group in (right, refused):
            for start in range(0, len(group), BATCH):
                batch = [activity_cases.Case(*one) for one in group[start:start + BATCH]]
                complaints = activity_cases.check(batch, random.Random(start))
                for case in batch:
                    yield case.name, complaints.get(case.number)

    return checks.run_cases("activity", cases)


if __name__ == "__main__":
    sys.exit(main())
