# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A step of Adam whose parameters and moments are donated: the program, and what its constants are."""

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8


def corrections(number):
    """The rate and the factor of the second moment in step `number`, which counts from 1: they remove the bias of
    moments that began with zeros."""
    return RATE / (1 - BETA1**number), 1 / (1 - BETA2**number)


def program(count, number=None):
    """Of `count` f32 parameters. The corrections are those of step `number`, or arguments `rate` and `up`."""
    t, s = f"tensor<{count}xf32>", "tensor<f32>"
    donated = [f'%{name}: {t} {{ad.name = "{name}", ad.donated = {i}}}' for i, name in enumerate("pmv")]
    constants = {"b1": BETA1, "r1": 1 - BETA1, "b2": BETA2, "r2": 1 - BETA2, "epsilon": EPSILON}
    given = []
    if number is None:
        given = [f'%{name}: {s} {{ad.name = "{name}"}}' for name in ("rate", "up")]
    else:
        constants |= dict(zip(("rate", "up"), corrections(number)))
    written = "".join(f"  %{name} = ad.constant dense<{value:.17e}> : {s}\n" for name, value in constants.items())
    arguments = ", ".join([*donated, f'%g: {t} {{ad.name = "g"}}', *given])
    return f"""\
func.func @main({arguments})
    -> ({t} {{ad.name = "p"}}, {t} {{ad.name = "m"}}, {t} {{ad.name = "v"}}) {{
{written}\
  %0 = ad.mul %m, %b1 : {t}, {s}
  %1 = ad.mul %g, %r1 : {t}, {s}
  %m1 = ad.add %0, %1 : {t}
  %2 = ad.mul %v, %b2 : {t}, {s}
  %3 = ad.mul %g, %g : {t}
  %4 = ad.mul %3, %r2 : {t}, {s}
  %v1 = ad.add %2, %4 : {t}
  %5 = ad.mul %v1, %up : {t}, {s}
  %6 = ad.sqrt %5 : {t}
  %7 = ad.add %6, %epsilon : {t}, {s}
  %8 = ad.div %m1, %7 : {t}
  %9 = ad.mul %8, %rate : {t}, {s}
  %p1 = ad.sub %p, %9 : {t}
  return %p1, %m1, %v1 : {t}, {t}, {t}
}}
"""
