# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Loops over all ranges of four bits: every lower bound, upper bound and positive step, with a sign and without. The
number of iterations and the sum of the indices are those of Python's range, on every target. The bounds are known at
run time, so that one program has them all."""

import functools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import checks
import runner

TARGETS = {"reference": ["--target=reference"], "cpu": [], "-O0": ["-O0"], "gpu-sim": ["--target=gpu-sim"]}


def signed(number):
    return number - 16 if number >= 8 else number


def program(is_unsigned, steps):
    """Element [lower][upper][step - 1] is the number of iterations times 1000 plus the sum of the indices."""
    size = 16 * 16 * steps
    extend = "arith.extui" if is_unsigned else "arith.extsi"
    return f"""func.func @main() -> (tensor<{size}xi64> {{ad.name = "r"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bounds = arith.constant 16 : index
  %steps = arith.constant {steps} : index
  %none = arith.constant 0 : i64
  %one = arith.constant 1000 : i64
  %empty = ad.constant dense<0> : tensor<{size}xi64>
  %r = scf.for %l = %c0 to %bounds step %c1 iter_args(%t0 = %empty) -> tensor<{size}xi64> {{
    %r0 = scf.for %u = %c0 to %bounds step %c1 iter_args(%t1 = %t0) -> tensor<{size}xi64> {{
      %r1 = scf.for %s = %c0 to %steps step %c1 iter_args(%t2 = %t1) -> tensor<{size}xi64> {{
        %stepped = arith.addi %s, %c1 : index
        %lower = arith.index_cast %l : index to i4
        %upper = arith.index_cast %u : index to i4
        %step = arith.index_cast %stepped : index to i4
        %n = scf.for {'unsigned ' * is_unsigned}%i = %lower to %upper step %step iter_args(%count = %none) -> i64 : i4 {{
          %wide = {extend} %i : i4 to i64
          %more = arith.addi %count, %one : i64
          %next = arith.addi %more, %wide : i64
          scf.yield %next : i64
        }}
        %row = arith.muli %l, %bounds : index
        %place = arith.addi %row, %u : index
        %block = arith.muli %place, %steps : index
        %at = arith.addi %block, %s : index
        %f = ad.full %n : i64 -> tensor<1xi64>
        %t3 = ad.dynamic_update_slice %t2, %f[%at] : tensor<{size}xi64>, tensor<1xi64>
        scf.yield %t3 : tensor<{size}xi64>
      }}
      scf.yield %r1 : tensor<{size}xi64>
    }}
    scf.yield %r0 : tensor<{size}xi64>
  }}
  return %r : tensor<{size}xi64>
}}
"""


def expected(is_unsigned, steps):
    number = (lambda n: n) if is_unsigned else signed
    ranges = [range(number(lower), number(upper), step)
              for lower in range(16) for upper in range(16) for step in range(1, steps + 1)]
    return np.array([1000 * len(one) + sum(one) for one in ranges], np.int64)


def counts(is_unsigned, options, _folder):
    steps = 15 if is_unsigned else 7
    found = runner.run(program(is_unsigned, steps), [], [("r", "i64")], options)["r"]
    want = expected(is_unsigned, steps)
    for at in np.flatnonzero(found != want)[:3]:
        lower, upper, step = at // steps // 16, at // steps % 16, at % steps + 1
        yield f"from {lower} to {upper} by {step}: {found[at]}, expected {want[at]}"


def main():
    return checks.run_checks("loop_ranges", [
        (f"{'unsigned' if is_unsigned else 'signed'} on {name}", functools.partial(counts, is_unsigned, options))
        for is_unsigned in (False, True) for name, options in TARGETS.items()])


if __name__ == "__main__":
    sys.exit(main())
