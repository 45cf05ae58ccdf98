# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The gradient cases of every derivative rule, by family. A rule without a case fails the build, and so does one of an
elementwise operation without a bound on its errors.

Usage: cases.py --check AD_LIST_RULES    compares the cases with the rules that the program lists
"""

import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))

from attention_cases import CASES as ATTENTION
from case import Argument  # noqa: F401  (part of the interface)
from control_cases import CASES as CONTROL
from elementwise_cases import CASES as ELEMENTWISE
from indexing_cases import CASES as INDEXING
from layers_cases import CASES as LAYERS
from loop_cases import CASES as LOOPS
from movement_cases import CASES as MOVEMENT
from reduction_cases import CASES as REDUCTION
from scalar_cases import CASES as SCALARS
from slices_cases import CASES as SLICES
from slope_bounds import without_bound
from sorting_cases import CASES as SORTING
from windows_cases import CASES as WINDOWS

FAMILIES = {"attention": ATTENTION, "control": CONTROL, "elementwise": ELEMENTWISE, "indexing": INDEXING, "layers": LAYERS,
            "loops": LOOPS, "movement": MOVEMENT, "reduction": REDUCTION,
            "scalars": SCALARS, "slices": SLICES, "sorting": SORTING, "windows": WINDOWS}

# Differences cannot see where a gradient stops, and see steps where numbers are rounded; programs have no operations of
# math, and some of arith and tensor run in none. Other tests have these.
FOREIGN = "Gradients/foreign_rules_test.py"
HAND_WRITTEN = {"ad.stop_gradient": "Dialect/AD/Transforms/differentiate.mlir",
                "ad.scaled_dot": "Integration/scaled_dot_test.py",
                **dict.fromkeys([
                    "ad.convert", "ad.feed", "ad.receive", "arith.extf", "arith.fptosi", "arith.fptoui",
                    "arith.maxnumf", "arith.minnumf", "arith.truncf", "math.absf", "math.atan2", "math.ceil",
                    "math.cos", "math.erf", "math.exp", "math.exp2", "math.expm1", "math.floor", "math.fma", "math.log",
                    "math.log1p", "math.log2", "math.powf", "math.round", "math.roundeven", "math.rsqrt", "math.sin",
                    "math.sqrt", "math.tan", "math.tanh", "math.trunc", "tensor.splat"], FOREIGN)}


# Their derivatives are those of their steps.
WITHOUT_RULE = {"ad.group_norm", "ad.batch_norm", "ad.batch_norm_inference"}


def covered():
    here = os.path.dirname(os.path.abspath(__file__))
    names = {case.op for cases in FAMILIES.values() for case in cases}
    for op, path in HAND_WRITTEN.items():
        with open(os.path.join(here, "..", path), encoding="utf-8") as file:
            if op in file.read():
                names.add(op)
    return names


def main():
    if len(sys.argv) != 3 or sys.argv[1] != "--check":
        sys.exit(__doc__)
    rules = set(subprocess.run([sys.argv[2]], check=True, capture_output=True, text=True).stdout.split()) | WITHOUT_RULE
    tested = covered()
    for op in sorted(rules - tested):
        print(f"error: the derivative rule of {op} has no case in test/Gradients", file=sys.stderr)
    for op in sorted(tested - rules):
        print(f"error: test/Gradients has cases of {op}, which has no derivative rule", file=sys.stderr)
    unbounded = without_bound(rules)
    for op in unbounded:
        print(f"error: the slope of ad.{op} has no bound in docs/spec/elementwise.md", file=sys.stderr)
    if rules != tested or unbounded:
        sys.exit(1)
    print(f"{len(rules)} derivative rules, {sum(len(cases) for cases in FAMILIES.values())} cases")


if __name__ == "__main__":
    main()
