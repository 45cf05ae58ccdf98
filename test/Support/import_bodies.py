# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Scalar code of arith and math as campaigns of imported programs draw it, on scalars or on tensors. Magnitudes stay
small, integers are divided by constants that are not zero, and shifts are shorter than the number of bits."""

import elements

BINARY = ["arith.addf", "arith.subf", "arith.mulf"]
EXTREMES = ["arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"]
UNARY = ["arith.negf", "math.tanh", "math.sin", "math.cos", "math.erf", "math.atan", "math.absf"]
BOUNDED = ["math.exp", "math.exp2", "math.expm1", "math.sinh", "math.cosh", "math.asinh", "math.tan"]  # of -1 to 1
POSITIVE = ["math.log", "math.log2", "math.log10", "math.log1p", "math.sqrt", "math.rsqrt", "math.cbrt"]  # from 1 on
STEPS = ["math.floor", "math.ceil", "math.round", "math.roundeven", "math.trunc"]
INTEGERS = ["arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maxsi",
            "arith.minsi", "arith.maxui", "arith.minui"]
DIVISIONS = ["arith.divsi", "arith.remsi", "arith.divui", "arith.remui", "arith.floordivsi", "arith.ceildivsi",
             "arith.ceildivui"]
SHIFTS = ["arith.shli", "arith.shrsi", "arith.shrui"]
COUNTS = ["math.ctpop", "math.ctlz", "math.cttz", "math.absi"]
FLOAT_PREDICATES = ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"]
INTEGER_PREDICATES = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"]


class Code:
    """Writes operations on values of one shape: `shape` is that of tensors, "" for scalars."""

    def __init__(self, program, write, shape=""):
        self.program, self.write, self.shape = program, write, shape

    def type(self, element):
        return f"tensor<{self.shape}{element}>" if self.shape else element

    def op(self, text, element):
        name = self.program.name()
        self.write(f"{name} = {text} : {element if ' ' in element else self.type(element)}")
        return name

    def number(self, element, value):
        text = repr(float(value)) if elements.is_float(element) else str(int(value))
        return self.op(f"arith.constant {f'dense<{text}>' if self.shape else text}", element)

    def cast(self, operation, x, before, after):
        return self.op(f"{operation} {x}", f"{self.type(before)} to {self.type(after)}")

    def any(self, element, known):
        """A value of the element type made of some that are known, at least one, in one to three steps."""
        value = self.program.pick(known)
        for _ in range(self.program.rank(1, 3)):
            step = self.float_step if elements.is_float(element) else self.integer_step
            value = step(element, value, self.program.pick(known))
        return value

    def within_one(self, element, x):
        return self.op(f"math.tanh {x}", element)

    def bounded(self, element, x, _):
        return self.op(f"{self.program.pick(BOUNDED)} {self.within_one(element, x)}", element)

    def float_step(self, element, x, y):
        p = self.program
        kinds = ["binary"] * 4 + ["unary"] * 3 + ["bounded", "positive", "quotient", "extreme", "select", "fma"]
        if not p.smooth:
            kinds += ["step", "integer", "sign", "power", "whole_power"]
        if not p.smooth and element in ("f32", "f64"):
            kinds += ["narrow"]
        return getattr(self, p.pick(kinds))(element, x, y)

    def binary(self, element, x, y):
        return self.op(f"{self.program.pick(BINARY)} {x}, {y}", element)

    def unary(self, element, x, _):
        return self.op(f"{self.program.pick(UNARY)} {x}", element)

    def fma(self, element, x, y):
        return self.op(f"math.fma {x}, {y}, {x}", element)

    def extreme(self, element, x, y):
        return self.op(f"{self.program.pick(EXTREMES)} {x}, {y}", element)

    def quotient(self, element, x, y):
        square = self.op(f"arith.mulf {y}, {y}", element)
        return self.op(f"arith.divf {x}, {self.op(f'arith.addf {square}, {self.number(element, 1)}', element)}",
                       element)

    def positive(self, element, x, _):
        above = self.op(f"arith.addf {self.op(f'math.absf {x}', element)}, {self.number(element, 1)}", element)
        return self.op(f"{self.program.pick(POSITIVE)} {above}", element)

    def select(self, element, x, y):
        is_float = elements.is_float(element)
        predicate = self.program.pick(FLOAT_PREDICATES if is_float else INTEGER_PREDICATES)
        condition = self.op(f"arith.cmp{'f' if is_float else 'i'} {predicate}, {x}, {y}", element)
        types = f"{self.type('i1')}, {self.type(element)}" if self.shape else element
        name = self.program.name()
        self.write(f"{name} = arith.select {condition}, {y}, {x} : {types}")
        return name

    def step(self, element, x, _):
        return self.op(f"{self.program.pick(STEPS)} {x}", element)

    def sign(self, element, x, y):
        return self.op(f"math.copysign {x}, {y}", element)

    def power(self, element, x, y):
        above = self.op(f"arith.addf {self.op(f'math.absf {x}', element)}, {self.number(element, 1)}", element)
        return self.op(f"math.powf {above}, {self.within_one(element, y)}", element)

    def whole_power(self, element, x, y):
        """Of numbers from -2 to -1, so that exponents tell even from odd; upstream expands constant ones of scalars."""
        if self.shape:
            return self.power(element, x, y)
        above = self.op(f"arith.addf {self.op(f'math.absf {self.within_one(element, x)}', element)}, {self.number(element, 1)}", element)
        base = self.op(f"arith.negf {above}", element)
        integer = self.program.pick(["i32", "i64"])
        if self.program.chance(0.3):  # more than narrow types hold, of 1 and -1
            base = self.op(f"math.copysign {self.number(element, 1)}, {x}", element)
            exponents = [16, 17, 257, 2049, 65537, 16777217]
        else:
            exponents = [-3, -2, -1, 0, 1, 2, 3]
        exponent = self.number(integer, self.program.pick(exponents))
        return self.op(f"math.fpowi {base}, {exponent}", f"{element}, {integer}")

    def integer(self, element, x, _):
        wide = self.op(f"arith.mulf {self.within_one(element, x)}, {self.number(element, 50)}", element)
        if self.program.chance(0.5):
            whole = self.cast("arith.fptosi", wide, element, "i32")
            return self.cast("arith.sitofp", whole, "i32", element)
        whole = self.cast("arith.fptoui", self.op(f"math.absf {wide}", element), element, "i8")
        return self.cast("arith.uitofp", whole, "i8", element)

    def narrow(self, element, x, _):
        return self.cast("arith.extf", self.cast("arith.truncf", x, element, "bf16"), "bf16", element)

    def integer_step(self, element, x, y):
        p = self.program
        bits = elements.WIDTHS[element]
        kind = p.pick(["binary"] * 4 + ["division", "shift", "select", "count", "extend"])
        if kind == "division":
            return self.op(f"{p.pick(DIVISIONS)} {x}, {self.number(element, p.pick([1, 2, 3, 7, -3]))}", element)
        if kind == "shift":
            return self.op(f"{p.pick(SHIFTS)} {x}, {self.number(element, int(p.rng.integers(0, bits)))}", element)
        if kind == "select":
            return self.select(element, x, y)
        if kind == "count":
            return self.op(f"{p.pick(COUNTS)} {x}", element)
        if kind == "extend" and element != "i64":
            made = self.cast(p.pick(["arith.extsi", "arith.extui"]), x, element, "i64")
            return self.cast("arith.trunci", made, "i64", element)
        return self.op(f"{p.pick(INTEGERS)} {x}, {y}", element)

