#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints how many tests of a lit run passed, failed and were skipped, from the file that `lit --output` writes."""

import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED"}


def main():
    with open(sys.argv[1]) as file:
        codes = collections.Counter(test["code"] for test in json.load(file)["tests"])
    codes.pop("EXCLUDED", None)  # by the filter
    passed = sum(codes[code] for code in PASSED)
    skipped = sum(codes[code] for code in SKIPPED)
    print(passed, codes.total() - passed - skipped, skipped)


if __name__ == "__main__":
    main()
