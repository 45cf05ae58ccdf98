# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs of one operation each that constrains the sizes of its operands, and sizes that do not fit it.

The axes of an operand are letters, each of which has a size; axes of one letter must agree. Where an operation requires
more than that, the form lists what is wrong by itself."""

SIZES = {"a": 3, "b": 4, "c": 5, "d": 6, "e": 2, "f": 7}
ALL = "all"  # the variant in which every axis is open; the others are (operand, axis)


class Bad:
    """Sizes of the operands, numbers, and the numbers that the message must name."""

    def __init__(self, what, sizes, numbers, named):
        self.what, self.sizes, self.numbers, self.named = what, sizes, numbers, named


class Form:
    """`body` computes %y from %x0, %x1, … and the indices %i0, %i1, …; {0}, {1}, … are the types of the operands and
    {r} that of the result: letters, with a tuple of letters for their sum, or a whole type. `more` lists sizes by
    operand, numbers, and what to name. Operands in `tied` have one type. The operands in `repeated` may have size 1
    where others have more; `by_first` says that the type of the result follows the first operand that has an axis,
    whatever others know of it."""

    def __init__(self, mnemonic, operands, body, result, elements=None, numbers=(), more=(), repeated=(), tied=(),
                 by_first=False,
                 prefix="ad."):
        self.mnemonic, self.operands, self.body, self.result = prefix + mnemonic, operands, body, result
        self.elements = elements or ["f32"] * len(operands)
        self.numbers, self.more, self.repeated, self.tied, self.by_first = list(numbers), more, repeated, tied, by_first
        self.name = f"{self.mnemonic} of {', '.join(operands) or 'nothing'}"

    def is_open(self, operand, axis, variant):
        return variant == ALL or axis == variant[1] and (operand == variant[0]
                                                         or {operand, variant[0]} <= set(self.tied))

    def sizes(self):
        return [[SIZES[letter] for letter in letters] for letters in self.operands]

    def static(self, letter, variant):
        """The size of a letter where the result's type knows it, else None."""
        known = [not self.is_open(i, axis, variant)
                 for i, letters in enumerate(self.operands) for axis, other in enumerate(letters) if other == letter]
        return SIZES[letter] if any(known[:1] if self.by_first else known) else None

    def types(self, variant):
        types = []
        for i, letters in enumerate(self.operands):
            axes = ["?" if self.is_open(i, axis, variant) else str(SIZES[letter]) for axis,
                    letter in enumerate(letters)]
            types.append(f"tensor<{''.join(axis + 'x' for axis in axes)}{self.elements[i]}>")
        return types

    def result_type(self, variant):
        if isinstance(self.result, str) and self.result.startswith("tensor"):
            return self.result
        *axes, element = self.result
        sizes = [[self.static(letter, variant) for letter in letters] for letters in axes]
        return "tensor<" + "".join(f"{'?' if None in size else sum(size)}x" for size in sizes) + element + ">"

    def text(self, variant):
        types, result = self.types(variant), self.result_type(variant)
        inputs = [f'%x{i}: {type} {{ad.name = "x{i}"}}' for i, type in enumerate(types)]
        inputs += [f'%n{i}: tensor<i64> {{ad.name = "n{i}"}}' for i in range(len(self.numbers))]
        lines = [f"func.func @main({', '.join(inputs)}) -> ({result} {{ad.name = \"y\"}}) {{"]
        for i in range(len(self.numbers)):
            lines += [f"  %e{i} = tensor.extract %n{i}[] : tensor<i64>",
                      f"  %i{i} = arith.index_cast %e{i} : i64 to index"]
        lines += ["  " + line for line in self.body.format(*types, r=result).splitlines()]
        return "\n".join([*lines, f"  return %y : {result}", "}"]) + "\n"

    def line(self, variant):
        """The location of the operation."""
        return next(n for n, line in enumerate(self.text(variant).splitlines(), 1) if self.mnemonic in line)

    def variants(self, operand, axis):
        return [variant for variant in (ALL, (operand, axis)) if variant == ALL or len("".join(self.operands)) > 1]

    def wrong_sizes(self, operand, axis, variant):
        """One more; among axes that are all open also one less, none, or one where that does not repeat."""
        right = SIZES[self.operands[operand][axis]]
        others = [right - 1, 0] if operand in self.repeated else [1, right - 1, 0]
        return [right + 1] + [others[(operand + axis) % len(others)]] * (variant == ALL)

    def good_sizes(self):
        """Sizes that fit: as the letters have them, and with each axis that repeats."""
        given = [self.sizes()]
        for i in self.repeated:
            for axis in range(len(self.operands[i])):
                given.append(self.sizes())
                given[-1][i][axis] = 1
        return given

    def bad_cases(self):
        """[(variant, Bad)]"""
        cases, letters = [], "".join(self.operands)
        for i, own in enumerate(self.operands):
            for axis, letter in enumerate(own):
                if letters.count(letter) < 2:
                    continue
                for variant in self.variants(i, axis):
                    for wrong in self.wrong_sizes(i, axis, variant):
                        sizes = self.sizes()
                        sizes[i][axis] = wrong
                        what = f"axis {axis} of operand {i} has size {wrong} ({'all' if variant == ALL else 'it'} open)"
                        cases.append((variant, Bad(what, sizes, self.numbers, (wrong, SIZES[letter]))))
        for operands, numbers, named in self.more:
            changed = [list(shape) for shape in operands] if operands else self.sizes()
            cases.append((ALL, Bad(f"sizes {changed} and numbers {numbers}", changed, numbers or self.numbers, named)))
        return cases


def broadcasting(name, arity=2, operands=None, element="f32", first="", elements=None, result=None):
    operands = operands or ["ab", "b", "ab"][:arity]
    names, types = (", ".join(form.format(i) for i in range(arity)) for form in ("%x{}", "{{{}}}"))
    return Form(name, operands, f"%y = ad.{name} {first}{names} : {types}", [*"ab", result or element],
                elements or [element] * arity,
                repeated=range(arity))


FORMS = [
    broadcasting("add", operands=["ab", "ab"]), *(broadcasting(name)
                                                  for name in ("sub", "mul", "div", "rem", "max", "min", "pow",
                                                               "atan2")),
    *(broadcasting(name, element="i32") for name in ("and", "or", "xor", "shift_left", "shift_right", "shift_right_logical")),
    broadcasting("compare", first="lt ", result="i1"),
    broadcasting("select", 3, elements=["i1", "f32", "f32"]), broadcasting("clamp", 3), broadcasting("fma", 3),
    Form("dot", ["abcd", "adce"], "%y = ad.dot %x0, %x1 batch [0] x [0] contract [2, 3] x [2, 1] : ({0}, {1}) -> {r}",
         [*"abe", "f32"]),
    Form("dot", ["bac", "acbd"], "%y = ad.dot %x0, %x1 batch [1, 2] x [0, 1] contract [0] x [2] : ({0}, {1}) -> {r}",
         [*"acd", "f32"]),
    Form("dot", ["a", "a"], "%y = ad.dot %x0, %x1 : ({0}, {1}) -> {r}", ["f32"]),
    Form("scaled_dot", ["abcd", "adce"],
         "%y, %l, %m = ad.scaled_dot %x0, %x1 batch [0] x [0] contract [2, 3] x [2, 1] : ({0}, {1}) -> {r}",
         [*"abe", "f32"]),
    Form("gemm", ["ab", "bc"], "%y = ad.gemm %x0, %x1 : ({0}, {1}) -> {r}", [*"ac", "f32"], by_first=True),
    Form("gemm", ["ba", "bc", "c"], "%y = ad.gemm %x0, %x1, %x2 {{transA}} : ({0}, {1}, {2}) -> {r}", [*"ac", "f32"],
         repeated=[2], by_first=True),
    Form("gemm", ["ab", "cb", "ac"], "%y = ad.gemm %x0, %x1, %x2 {{transB}} : ({0}, {1}, {2}) -> {r}", [*"ac", "f32"],
         repeated=[2], by_first=True),
    Form("concat", ["ab", "ac", "ad"], "%y = ad.concat axis 1 %x0, %x1, %x2 : {0}, {1}, {2}", ["a", "bcd", "f32"]),
    Form("concat", ["cab", "dab", "eab", "fab"], "%y = ad.concat axis 0 %x0, %x1, %x2, %x3 : {0}, {1}, {2}, {3}",
         ["cdef", "a", "b", "f32"]),
    Form("layer_norm", ["ab", "b", "b"], "%y = ad.layer_norm %x0, %x1, %x2 epsilon 1.0e-5 : {0}, {1}", [*"ab", "f32"],
         tied=(1, 2), by_first=True),
    Form("rms_norm", ["cab", "b"], "%y = ad.rms_norm %x0, %x1 epsilon 1.0e-5 : {0}, {1}", [*"cab", "f32"],
         by_first=True),
    Form("cross_entropy", ["cab", "ca"], "%y = ad.cross_entropy %x0, %x1 : {0}, {1} -> {r}", [*"ca", "f32"],
         ["f32", "i32"], by_first=True),
    Form("cross_entropy", ["ab", "ab"], "%y = ad.cross_entropy %x0, %x1 : {0}, {1} -> {r}", [*"a", "f32"],
         by_first=True),
    Form("reshape", ["ab"], "%y = ad.reshape %x0(%i0) : {0} -> {r}", "tensor<2x?xf32>", numbers=[6],
         more=[([[3, 5]], None, (15, 12)), ([[2, 4]], None, (8, 12)), ([[0, 4]], None, (0, 12)), (None, [7], (12, 14)),
               (None, [-6], (-6,))]),
    Form("broadcast", ["ab"], "%y = ad.broadcast %x0(%i0, %i1) : {0} -> {r}", "tensor<2x?x?xf32>", numbers=[3, 4],
         more=[([[4, 4]], None, (4, 3)), ([[3, 5]], None, (5, 4)), ([[3, 0]], None, (0, 4)), (None, [5, 4], (3, 5)),
               (None, [3, 1], (4, 1)), (None, [-1, 4], (1, -1)), (None, [3, -4], (2, -4))]),
    Form("sum_to_shape", ["ab"], "%y = ad.sum_to_shape %x0(%i0, %i1) : {0} -> {r}", "tensor<?x?xf32>", numbers=[3, 4],
         more=[([[2, 4]], None, (2, 3)), ([[3, 5]], None, (5, 4)), (None, [2, 4], (2, 3)), (None, [3, 5], (5, 4)),
               (None, [-1, 4], (0, -1)),
               (None, [3, -1], (1, -1)), ([[2, 5]], None, (2, 3)), (None, [7, -1], (-1,))]),
    Form("sum_to_shape", ["cab"], "%y = ad.sum_to_shape %x0(%i0) : {0} -> {r}", "tensor<1x?xf32>", numbers=[4],
         more=[([[5, 3, 3]], None, (2, 4, 3)), (None, [5], (2, 4, 5)), (None, [-1], (1, -1))]),
    Form("slice", ["ab"], "%y = ad.slice %x0 [1, 0] strides [1, 3](%i0) : {0} -> {r}", "tensor<2x?xf32>", numbers=[2],
         more=[([[2, 4]], None, (2,)), ([[3, 3]], None, (3,)), ([[3, 0]], None, (3, 0)), (None, [3], (6, 4)),
               (None, [-1], (1, -1))]),
    Form("dynamic_slice", ["ab"], "%y = ad.dynamic_slice %x0[%i0, %i1](%i2) : {0} -> {r}", "tensor<2x?xf32>",
         numbers=[1, 2, 2],
         more=[([[2, 4]], None, (2,)), ([[3, 3]], None, (3,)), ([[0, 4]], None, (2, 0)), (None, [2, 2, 2], (3,)),
               (None, [1, 3, 2], (4,)),
               (None, [-1, 2, 2], (-1, 3)), (None, [1, -2, 2], (-2, 4)), (None, [1, 2, 3], (4,)),
               (None, [1, 2, -1], (1, -1))]),
    Form("dynamic_update_slice", ["cd", "ab"], "%y = ad.dynamic_update_slice %x0, %x1[%i0, %i1] : {0}, {1}",
         [*"cd", "f32"], numbers=[2, 2],
         more=[([[4, 6], [3, 4]], None, (4,)), ([[5, 5], [3, 4]], None, (5,)), ([[5, 6], [4, 4]], None, (5,)),
               ([[5, 6], [3, 5]], None, (6,)),
               (None, [3, 2], (5,)), (None, [2, 3], (6,)), (None, [-1, 2], (-1, 5)), (None, [2, -1], (-1, 6))]),
    *(Form(name, ["ab"], f"%y = ad.{name} %x0 axis {axis} : {{0}}", ["ba"[axis], "i64"],
           more=[([[0, 4], [3, 0]][axis:axis + 1], None, (0,))]) for name in ("argmax", "argmin") for axis in (0, 1)),
    Form("full", [], "%c = arith.constant 1.5 : f32\n%y = ad.full %c(%i0, %i1) : f32 -> {r}", "tensor<2x?x3x?xf32>",
         numbers=[2, 3],
         more=[(None, [-1, 3], (1, -1)), (None, [2, -7], (3, -7))]),
    Form("iota", [], "%y = ad.iota axis 1 (%i0, %i1) : {r}", "tensor<2x?x?xf32>", numbers=[2, 3],
         more=[(None, [-1, 3], (1, -1)), (None, [2, -7], (2, -7))]),
    Form("cast", ["ab"], "%z = tensor.cast %x0 : {0} to tensor<3x4xf32>\n%y = ad.neg %z : tensor<3x4xf32>",
         "tensor<3x4xf32>", prefix="tensor.",
         more=[([[4, 4]], None, (4, 3)), ([[3, 3]], None, (3, 4)), ([[3, 1]], None, (1, 4))]),
    Form("for", ["ab"], """%c0 = arith.constant 0 : index
%c5 = arith.constant 5 : index
%y = scf.for %i = %c0 to %c5 step %i0 iter_args(%v = %x0) -> {0} {{
  %w = ad.neg %v : {0}
  scf.yield %w : {0}
}}""", [*"ab", "f32"], numbers=[2], prefix="scf.", more=[(None, [0], (0,)), (None, [-1], (-1,))]),
]
