#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random functions of scalars, tensors, branches, loops, calls and constructs without a derivative: every gradient is
right, or an error names the operation that has none. Each function is differentiated as it is written and after
canonicalization, inlining and simplification, on the reference interpreter, the CPU and the emulated GPU; some are
differentiated twice. test/Support/activity.py has the constructs. Closes with `activity: N run, N failed`."""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import activity_cases
import campaign


def main():
    given = campaign.options(__doc__).parse_args()

    def check(numbers):
        cases = [activity_cases.Case(given.seed * 1_000_000 + number) for number in numbers]
        complaints = activity_cases.check(cases, random.Random(numbers[0]))
        return {number: complaints[case.number] for number, case in zip(numbers, cases) if case.number in complaints}

    failed = 0
    for number, complaint in campaign.in_batches(check, given):
        failed += 1
        if failed > given.keep:
            continue
        case = activity_cases.Case(given.seed * 1_000_000 + number)
        text, _ = activity_cases.module([case])
        arguments = [f"{name} = {array}" for name, _, array in case.inputs()]
        path = pathlib.Path(given.out) / f"activity-{given.seed}-{number}.mlir"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = "".join(f"// {line}\n" for line in [*complaint.splitlines(), *arguments])
        path.write_text(head + text)
        print(f"case {number}: {complaint.splitlines()[0]}; {path}", flush=True)
    print(f"activity: {given.count} run, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
