# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Gradient cases of loops, made from lists: every range of indices with every body. Ten and more trips, negative
bounds, steps, no trip; carries that begin with one value, change places or are sums; the index itself; loops in
loops; bounds that are known at run time only; products whose results are saved, and those that are computed again."""

from case import Argument, Case

# Lower bound, upper bound, step.
RANGES = {
    "ten": (0, 10, 1), "seventeen": (3, 20, 1), "negative": (-2, 3, 1), "below_zero": (-9, -2, 2),
    "through_zero": (-7, 8, 3),
    "uneven": (1, 12, 4), "long_steps": (-11, 25, 3), "none": (2, 2, 1), "none_past_end": (3, -4, 2), "one": (-1, 0, 5),
}

# %g is a number that depends on the index, small enough for loops that are not chaotic: differences need digits.
INDEX = """%n = arith.index_cast %i : index to i64
%t = ad.full %n : i64 -> tensor<i64>
%h = ad.cast %t : tensor<i64> -> tensor<f64>
%g = ad.mul %h, %share : tensor<f64>
"""
# What follows the loop's head: %v and %w are carried, %a1 is captured. Each gives %p and %q.
BODIES = {
    "index": INDEX + """%b = ad.mul %v, %a1 : {0}
%c = ad.add %b, %g : {0}, tensor<f64>
%p = ad.sin %c : {0}
%q = ad.neg %w : {0}
""",
    "both": INDEX + """%b = ad.mul %v, %w : {0}
%c = ad.add %b, %a1 : {0}
%p = ad.sin %c : {0}
%d = ad.mul %w, %g : {0}, tensor<f64>
%q = ad.cos %d : {0}
""",
    "swapped": """%b = ad.mul %v, %a1 : {0}
%q = ad.sin %b : {0}
%p = ad.tanh %w : {0}
""",
    # Derivatives that need what the iteration yields, of one carry and of two that change places.
    "yielded": INDEX + """%b = ad.mul %v, %a1 : {0}
%c = ad.add %b, %g : {0}, tensor<f64>
%p = ad.tanh %c : {0}
%d = ad.mul %w, %p : {0}
%q = ad.tanh %d : {0}
""",
    "yielded_swapped": """%b = ad.mul %v, %a1 : {0}
%q = ad.tanh %b : {0}
%d = ad.mul %w, %q : {0}
%p = ad.sigmoid %d : {0}
""",
    "sum": INDEX + """%b = ad.mul %a1, %g : {0}, tensor<f64>
%c = ad.sin %b : {0}
%p = ad.add %v, %c : {0}
%d = ad.mul %p, %share : {0}, tensor<f64>
%q = ad.sub %w, %d : {0}
""",
    "branch": """%k = arith.constant 1 : index
%low = arith.cmpi sle, %i, %k : index
%p = scf.if %low -> {0} {{
  %b = ad.mul %v, %a1 : {0}
  %c = ad.sin %b : {0}
  scf.yield %c : {0}
}} else {{
  %b = ad.mul %w, %v : {0}
  %c = ad.cos %b : {0}
  scf.yield %c : {0}
}}
%q = ad.sin %w : {0}
""",
    # The inner loop has the range of the outer one, too.
    "nested": INDEX + """%p = scf.for %j = %lo to %hi step %step iter_args(%u = %v) -> {0} {{
  %b = ad.mul %u, %w : {0}
  %c = ad.mul %a1, %g : {0}, tensor<f64>
  %d = ad.add %b, %c : {0}
  %e = ad.sin %d : {0}
  scf.yield %e : {0}
}}
%o = ad.mul %w, %share : {0}, tensor<f64>
%q = ad.sin %o : {0}
""",
}
# What the carries begin with: one value for both or one for each.
STARTS = {"one_start": "%a0, %w = %a0", "two_starts": "%a0, %w = %a2"}


# Ranges whose bounds the compiler does not know, too.
LATER = ("uneven", "negative", "through_zero", "none", "none_past_end")
LATER_BOUND = """%{0}_c = ad.constant dense<{1}> : tensor<i64>
%{0}_b = ad.barrier %{0}_c : tensor<i64>
%{0}_e = tensor.extract %{0}_b[] : tensor<i64>
%{0} = arith.index_cast %{0}_e : i64 to index
"""


def case(range_name, body_name, starts_name, later=False):
    bound = LATER_BOUND if later else "%{0} = arith.constant {1} : index\n"
    bounds = "".join(bound.format(name, number) for name, number in zip(("lo", "hi", "step"), RANGES[range_name]))
    text = bounds + "%share = ad.constant dense<0.05> : tensor<f64>\n" + \
        "%y0, %y1 = scf.for %i = %lo to %hi step %step iter_args(%v = " + STARTS[starts_name] + ") -> ({0}, {0}) {{\n" + \
        BODIES[body_name] + "scf.yield %p, %q : {0}, {0}\n}}\n%s = ad.sin %y1 : {0}\n%y = ad.mul %y0, %s : {0}"
    arguments = [Argument("3"), Argument("3", low=0.4, high=1.1)]
    if starts_name == "two_starts":
        arguments.append(Argument("3", low=0.4, high=1.1))
    # Second derivatives of nested loops have too many operations for a test of seconds.
    short = body_name != "nested" and range_name not in ("seventeen", "long_steps")
    return Case("ad.mul", f"for_{'later_' * later}{range_name}_{body_name}_{starts_name}", arguments, text, Argument("3"),
                second_order=short)


# Products, whose results are saved if they are long (%u), with what uses them in a loop of three iterations.
PRODUCTS = {
    "used_twice": "%u = ad.dot %v, %a1 : ({0}, {1}) -> {0}\n%t = ad.gelu %u : {0}\n%p = ad.add %t, %u : {0}\n",
    "in_a_chain": "%t = ad.dot %v, %a1 : ({0}, {1}) -> {0}\n%h = ad.sin %t : {0}\n"
                  "%u = ad.dot %h, %a1 : ({0}, {1}) -> {0}\n%p = ad.sin %u : {0}\n",
    "yielded": "%p = ad.dot %v, %a1 : ({0}, {1}) -> {0}\n%h = ad.sin %p : {0}\nad.receive \"h\"(%h) : {0}\n",
    "captured": "%u = ad.dot %a0, %a1 : ({0}, {1}) -> {0}\n%h = ad.mul %u, %v : {0}\n%p = ad.sin %h : {0}\n",
    "in_a_branch": "%c1 = arith.constant 1 : index\n%low = arith.cmpi sle, %i, %c1 : index\n"
                   "%p = scf.if %low -> {0} {{\n%u = ad.dot %v, %a1 : ({0}, {1}) -> {0}\n%h = ad.sin %u : {0}\n"
                   "scf.yield %h : {0}\n}} else {{\nscf.yield %v : {0}\n}}\n",
    "in_a_loop": "%p = scf.for %j = %lo to %hi step %step iter_args(%w = %v) -> {0} {{\n"
                 "%u = ad.dot %w, %a1 : ({0}, {1}) -> {0}\n%h = ad.sin %u : {0}\nscf.yield %h : {0}\n}}\n",
}
# Length, and the rows as the program sees them.
LENGTHS = {"long": (9, "2"), "short": (3, "2"), "long_dynamic": (8, "?")}


def product_case(length_name, name):
    length, rows = LENGTHS[length_name]
    text = "%lo = arith.constant 0 : index\n%hi = arith.constant 3 : index\n%step = arith.constant 1 : index\n" \
        "%y = scf.for %i = %lo to %hi step %step iter_args(%v = %a0) -> {0} {{\n" + PRODUCTS[name] + \
        "scf.yield %p : {0}\n}}"
    arguments = [Argument(f"{rows}x{length}", (2, length)), Argument(f"{length}x{length}", low=-0.5, high=0.5)]
    return Case("ad.dot", f"for_product_{length_name}_{name}", arguments, text, Argument(f"{rows}x{length}", (2, length)),
                second_order=length == 3)


CASES = [product_case(length, name) for length in LENGTHS for name in PRODUCTS]
CASES += [case(name, body, starts) for name in RANGES for body in BODIES for starts in STARTS]
CASES += [case(name, body, "one_start", later=True) for name in LATER for body in BODIES]
