#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Prints how many tests of a GoogleTest program passed, failed and were skipped, from the file that
--gtest_output=json:FILE writes."""

import collections
import json
import sys


def main():
    with open(sys.argv[1]) as file:
        tests = [test for suite in json.load(file)["testsuites"] for test in suite["testsuite"]]
    counts = collections.Counter("failed" if test.get("failures") else "passed" if test["result"] == "COMPLETED"
                                 else "skipped"
                                 for test in tests)
    print(counts["passed"], counts["failed"], counts["skipped"])


if __name__ == "__main__":
    main()
