# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A program for each rewrite pattern, on which it applies. `CASES` has one for each row of ad-list-patterns; a pattern
without one fails the test. T is the tensor type of the arguments %x and %y, S the same with f32, E the element type."""

import dataclasses

ELEMENTWISE = ["f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f64"]
WIDE = ["f32", "f64"]


@dataclasses.dataclass
class Case:
    body: str  # operations; the last value is %r
    result: str = "T"  # its type
    elements: tuple = ("f32",)
    shape: tuple = ()  # empty: pairs of adversarial numbers, or all values of a type of 8 or 16 bits


def elementwise(body, elements=ELEMENTWISE, result="T"):
    return Case(body, result, tuple(elements))


def constant(name, value):
    return f"%{name} = ad.constant dense<{value}> : T\n"


NORM = "ad.constant dense<1.5> : tensor<24xE>"
DOT = "%d = ad.dot %x, %y contract [1] x [1] : (T, T) -> tensor<24x24xE>\n"
COLUMNS = "tensor<24x24xE>"
F16 = ("f16", "bf16")


def scalars(body, result):
    """`body` on the i64 numbers %a and %b, for all pairs of the first elements of %x and %y."""
    return Case(f"""%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%n = arith.constant 12 : index
%pairs = arith.constant 144 : index
%start = ad.constant dense<0> : tensor<144xi64>
%r = scf.for %i = %c0 to %pairs step %c1 iter_args(%t = %start) -> (tensor<144xi64>) {{
  %ai = arith.divsi %i, %n : index
  %bi = arith.remsi %i, %n : index
  %a = tensor.extract %x[%ai] : tensor<12xi64>
  %b = tensor.extract %y[%bi] : tensor<12xi64>
  {body}
  %f = ad.full %{result} : i64 -> tensor<1xi64>
  %u = ad.dynamic_update_slice %t, %f[%i] : tensor<144xi64>, tensor<1xi64>
  scf.yield %u : tensor<144xi64>
}}
""", "tensor<144xi64>", ("i64",), (12,))


def add_of(inner, constants="7 9223372036854775807"):
    first, second = constants.split()
    return (f"%k = arith.constant {first} : i64\n  %l = arith.constant {second} : i64\n  {inner}")


# By pattern and root, and for patterns with and without a permission by it too.
CASES = {
    # Decompositions are what the operation means.
    ("decompose", "ad.softmax"): Case("%r = ad.softmax %x axis 1 : T", elements=("f32", "f16", "f64")),
    ("decompose", "ad.log_softmax"): Case("%r = ad.log_softmax %x axis 1 : T", elements=("f32", "bf16")),
    ("decompose", "ad.layer_norm"): Case(
        f"%s = {NORM}\n%r = ad.layer_norm %x, %s, %s epsilon 1.0e-5 : T, tensor<24xE>", elements=("f32", "f16"),
        shape=(24, 24)),
    ("decompose", "ad.rms_norm"): Case(
        f"%s = {NORM}\n%r = ad.rms_norm %x, %s epsilon 1.0e-5 : T, tensor<24xE>", elements=("f32", "f16"),
        shape=(24, 24)),
    ("decompose", "ad.cross_entropy"): Case("%r = ad.cross_entropy %x, %y : T, T -> tensor<24xE>", "tensor<24xE>",
                                            ("f32", "f16"), (24, 24)),
    ("decompose", "ad.clamp"): elementwise("%r = ad.clamp %x, %y, %x : T, T, T"),
    ("decompose", "ad.scaled_dot"): Case(
        f"%r, %l, %m = ad.scaled_dot %x, %y contract [1] x [1] : (T, T) -> {COLUMNS}", COLUMNS, ("f32", *F16), (24, 24)),
    **{("reduce-one-axis-at-a-time", f"ad.reduce_{kind}"): Case(
        f"%r = ad.reduce_{kind} %x axes [0, 1] : T -> tensor<E>", "tensor<E>", ("f32", "f16"), (24, 24))
       for kind in ("sum", "prod", "max", "min")},
    ("mean-as-sum", "ad.reduce_mean"): Case("%r = ad.reduce_mean %x axes [1] : T -> tensor<24xE>", "tensor<24xE>",
                                            ("f32", "bf16"), (24, 24)),
    ("conv-of-one-place", "ad.conv"): Case(
        '%r = ad.conv %x, %y dims "0c,0o->co0" : (T, T) -> tensor<4x4x1xE>', "tensor<4x4x1xE>", tuple(ELEMENTWISE), (6, 4)),
    ("pad-input-of-conv", "ad.conv"): Case(
        '%r = ad.conv %x, %y dims "0c,0o->co0" low [1] high [2] : (T, T) -> tensor<4x4x4xE>',
        "tensor<4x4x4xE>", tuple(ELEMENTWISE), (6, 4)),
    ("patches-of-conv", "ad.conv"): Case(
        """%w = ad.reshape %y : T -> tensor<2x4x3xE>
%r = ad.conv %x, %w dims "0c,0co->0o" strides [2] : (T, tensor<2x4x3xE>) -> tensor<3x3xE>""",
        "tensor<3x3xE>", tuple(ELEMENTWISE), (6, 4)),
    ("pointwise-conv", "ad.conv"): Case(
        """%w = ad.reshape %y : T -> tensor<1x4x6xE>
%r = ad.conv %x, %w dims "0c,0co->0o" : (T, tensor<1x4x6xE>) -> tensor<6x6xE>""",
        "tensor<6x6xE>", tuple(ELEMENTWISE), (6, 4)),
    ("split-conv-into-phases", "ad.conv"): Case(
        '%r = ad.conv %x, %y dims "0c,0o->co0" low [1] high [2] input_dilation [2] : (T, T) -> tensor<4x4x9xE>',
        "tensor<4x4x9xE>", tuple(ELEMENTWISE), (6, 4)),
    ("scatter-in-compute-type", "ad.scatter"): Case(
        """%i = ad.iota axis 0 : tensor<24xi32>
%r = ad.scatter add %x[%i], %y axes [0] slices [1] outside clamp : T, tensor<24xi32>, T""",
        elements=F16 + ("f8E4M3FN", "f8E5M2"), shape=(24, 24)),
    ("sort-updates", "ad.scatter"): Case(
        """%i = ad.iota axis 1 : tensor<3x8xi32>
%u = ad.reshape %y : T -> tensor<3x8x24xE>
%r = ad.scatter max %x[%i], %u axes [0] slices [2] outside drop : T, tensor<3x8xi32>, tensor<3x8x24xE>""",
        elements=("f32", "f64", "i32"), shape=(24, 24)),
    ("decompose", "ad.sort"): Case("%s, %r = ad.sort %x, %y axis 1 : T, T", elements=("f32", *F16, "i32"),
                                   shape=(24, 24)),
    ("decompose", "ad.top_k"): Case("%r, %p = ad.top_k %x axis 1 k 5 : T",
                                    "tensor<24x5xE>", ("f32", *F16, "i32"), (24, 24)),
    ("sum-to-shape-as-reductions", "ad.sum_to_shape"): Case(
        "%r = ad.sum_to_shape %x : T -> tensor<1x24xE>", "tensor<1x24xE>", ("f32", "f16"), (24, 24)),
    ("merge-contracted-axes", "ad.dot"): Case(
        "%r = ad.dot %x, %y contract [0, 1] x [0, 1] : (T, T) -> tensor<E>", "tensor<E>", ("f32", "f16"), (24, 24)),
    ("transpose-contracted-axes", "ad.dot"): Case(
        "%a = ad.reshape %x : T -> tensor<2x24x12xE>\n%b = ad.reshape %y : T -> tensor<2x12x24xE>\n"
        "%r = ad.dot %a, %b contract [0, 2] x [0, 1] : (tensor<2x24x12xE>, tensor<2x12x24xE>) -> T",
        elements=("f32", "f16"), shape=(24, 24)),

    # Movement.
    ("fold-transpose-into-dot", "ad.dot"): Case(
        f"%t = ad.transpose %y [1, 0] : T\n%r = ad.dot %x, %t : (T, T) -> {COLUMNS}", COLUMNS, ("f32", "f16"), (24, 24)),
    ("exchange-operands-of-dot", "ad.transpose"): Case(
        f"{DOT}%r = ad.transpose %d [1, 0] : {COLUMNS}", COLUMNS, ("f32", "f16"), (24, 24)),
    ("fold-transpose-into-gemm", "ad.gemm"): Case(
        f"%t = ad.transpose %y [1, 0] : T\n%r = ad.gemm %x, %t : (T, T) -> {COLUMNS}", COLUMNS, ("f32", "f16"),
        (24, 24)),
    ("compose-slices", "ad.slice"): Case(
        "%s = ad.slice %x [1, 2] strides [2, 3] : T -> tensor<11x7xE>\n"
        "%r = ad.slice %s [1, 1] strides [3, 2] : tensor<11x7xE> -> tensor<3x3xE>", "tensor<3x3xE>", ("f32", "f16"),
        (24, 24)),
    ("broadcast-to-own-sizes", "ad.broadcast"): Case(
        "%n = arith.constant 24 : index\n"
        "%s = ad.reshape %x(%n) : T -> tensor<?x24xE>\n"
        "%r = ad.broadcast %s : tensor<?x24xE> -> T", elements=("f32", "f16"), shape=(24, 24)),
    ("fold-reshape-into-reduction", "ad.reshape"): Case(
        "".join(f"%k{kind} = ad.reduce_{kind} %x axes [1] keep_dims : T -> tensor<24x1xE>\n"
                f"%v{kind} = ad.reshape %k{kind} : tensor<24x1xE> -> tensor<24xE>\n"
                for kind in ("sum", "prod", "max", "min", "mean")) +
        "%r = ad.concat axis 0 %vsum, %vprod, %vmax, %vmin, %vmean : "
        "tensor<24xE>, tensor<24xE>, tensor<24xE>, tensor<24xE>, tensor<24xE>", "tensor<120xE>", ("f32", "f16"),
        (24, 24)),
    ("fold-reshapes-into-dot", "ad.reshape"): Case(
        "%t = ad.reshape %x : T -> tensor<2x12x24xE>\n%b = ad.barrier %t : tensor<2x12x24xE>\n"
        "%m = ad.reshape %b : tensor<2x12x24xE> -> T\n%d = ad.dot %m, %y : (T, T) -> T\n"
        "%r = ad.reshape %d : T -> tensor<2x12x24xE>", "tensor<2x12x24xE>", ("f32", "f16"), (24, 24)),

    # Identities of real numbers.
    ("drop-zero", "ad.add"): elementwise(constant("c", "0.0") + "%r = ad.add %x, %c : T", WIDE + ["f16"]),
    ("drop-zero", "ad.sub"): elementwise(constant("c", "-0.0") + "%r = ad.sub %x, %c : T", WIDE + ["f16"]),
    ("subtract-from-zero", "ad.sub"): elementwise(constant("c", "0.0") + "%r = ad.sub %c, %x : T", WIDE + ["f16"]),
    ("multiply-by-zero", "ad.mul"): elementwise(constant("c", "0.0") + "%r = ad.mul %x, %c : T", WIDE + ["f16"]),
    ("divide-zero", "ad.div"): elementwise(constant("c", "0.0") + "%r = ad.div %c, %x : T", WIDE + ["f16"]),
    ("cancel-operands", "ad.sub"): elementwise("%r = ad.sub %x, %x : T", WIDE + ["f16"]),
    ("cancel-operands", "ad.div"): elementwise("%r = ad.div %x, %x : T", WIDE + ["f16"]),
    ("combine-constants", "ad.mul"): elementwise(
        constant("c", "3.0") + constant("e", "0.1") + "%m = ad.mul %x, %c : T\n%r = ad.mul %m, %e : T",
        WIDE + ["f16"]),
    ("combine-constants", "ad.add"): elementwise(
        constant("c", "300.0") + constant("e", "-299.5") + "%m = ad.add %x, %c : T\n%r = ad.add %m, %e : T",
        WIDE + ["f16"]),
    ("multiply-by-inverse", "ad.div"): elementwise(constant("c", "3.0") + "%r = ad.div %x, %c : T", WIDE + ["f16"]),
    ("contract-multiply-add", "ad.add"): elementwise("%m = ad.mul %x, %y : T\n%r = ad.add %m, %y : T", WIDE),
    ("skip-rounding", "ad.cast"): elementwise(
        "%c = ad.cast %x : T -> tensor<SHAPExbf16>\n%r = ad.cast %c : tensor<SHAPExbf16> -> S", WIDE,
        result="S"),
    **{("add-bias-in-accumulator", f"ad.{kind}"): Case(
        DOT + f"%b = ad.constant dense<0.3> : tensor<24xE>\n%r = ad.{kind} %d, %b : {COLUMNS}, tensor<24xE>", COLUMNS,
        F16, (24, 8)) for kind in ("add", "sub")},
    ("add-bias-in-gemm", "ad.add"): Case(
        f"%d = ad.gemm %x, %y {{transB}} : (T, T) -> {COLUMNS}\n" + f"%b = ad.constant dense<0.3> : tensor<24xE>\n%r = ad.add %d, %b : {COLUMNS}, tensor<24xE>", COLUMNS, F16,
        (24, 8)),
    ("scale-in-gemm", "ad.mul"): Case(
        DOT + f"%c = ad.constant dense<0.3> : {COLUMNS}\n%r = ad.mul %d, %c : {COLUMNS}", COLUMNS, F16, (24, 8)),
    ("divide-in-gemm", "ad.div"): Case(
        DOT + f"%c = ad.constant dense<3.0> : {COLUMNS}\n%r = ad.div %d, %c : {COLUMNS}", COLUMNS, ("f32", "f64"),
        (24, 8)),
    ("divide-in-narrow-gemm", "ad.div"): Case(
        DOT + f"%c = ad.constant dense<3.0> : {COLUMNS}\n%r = ad.div %d, %c : {COLUMNS}", COLUMNS, F16, (24, 8)),

    # Other orders.
    ("widen-bytes", "ad.dot"): Case(
        f"%r = ad.dot %x, %y : (T, T) -> {COLUMNS}", COLUMNS, ("f8E4M3FN", "f8E5M2"), (24, 24)),
    ("widen-bytes", "ad.gemm"): Case(
        f"%r = ad.gemm %x, %y : (T, T) -> {COLUMNS}", COLUMNS, ("f8E4M3FN", "f8E5M2"), (24, 24)),
    ("widen-operands", "ad.dot"): Case(
        f"%r = ad.dot %x, %y : (T, T) -> {COLUMNS}", COLUMNS, ("f16",), (24, 24)),
    ("widen-operands", "ad.conv"): Case(
        f'%r = ad.conv %x, %y dims "mk,kn->mn" : (T, T) -> {COLUMNS}', COLUMNS, ("f16",), (24, 24)),
    ("widen-operands", "ad.gemm"): Case(
        f"%r = ad.gemm %x, %y : (T, T) -> {COLUMNS}", COLUMNS, ("f16",), (24, 24)),
    ("split-k", "ad.dot"): Case(
        "%r = ad.dot %x, %y contract [1] x [1] : (T, T) -> tensor<4x4xE>", "tensor<4x4xE>", ("f32", "f16", "f64"),
        (4, 2048)),
    ("split-k", "ad.dot", "none"): Case(
        "%r = ad.dot %x, %y contract [1] x [1] : (T, T) -> tensor<4x4xi32>", "tensor<4x4xi32>", ("i32", "i8"),
        (4, 2048)),
    ("split-k", "ad.gemm"): Case(
        "%r = ad.gemm %x, %y {transB} : (T, T) -> tensor<4x4xE>", "tensor<4x4xE>", ("f32", "f16"), (4, 2048)),

    # Canonical forms of `ad`.
    **{("replace-empty-reduction", f"ad.reduce_{kind}"): elementwise(f"%r = ad.reduce_{kind} %x axes [] : T -> S", [
        "f16", "bf16", "f8E4M3FN", "f8E5M2"], result="S") for kind in ("sum", "prod", "mean")},
    ("absorb-negation", "ad.add"): elementwise("%n = ad.neg %x : T\n%r = ad.add %n, %y : T", [
        "f32", "f64", "f16", "bf16", "f8E4M3FN"]),
    ("absorb-negation", "ad.sub"): elementwise("%n = ad.neg %y : T\n%r = ad.sub %x, %n : T", [
        "f32", "f64", "f16", "bf16", "f8E4M3FN"]),
    **{("cancel-negations", f"ad.{kind}"): elementwise(
        f"%n = ad.neg %x : T\n%m = ad.neg %y : T\n%r = ad.{kind} %n, %m : T", ["f32", "f64", "f16", "bf16", "f8E4M3FN"])
       for kind in ("mul", "div")},
    **{("use-negation", f"ad.{kind}"): elementwise(constant("c", "-1.0") + f"%r = ad.{kind} %x, %c : T", [
        "f32", "f64", "f16", "bf16", "f8E4M3FN"]) for kind in ("mul", "div")},
    ("multiply-by-exact-inverse", "ad.div"): elementwise(constant("c", "4.0") + "%r = ad.div %x, %c : T"),
    ("compose-casts", "ad.cast"): elementwise(
        "%c = ad.cast %x : T -> S\n%r = ad.cast %c : S -> tensor<SHAPExbf16>", ["f16", "f8E4M3FN"],
        "tensor<SHAPExbf16>"),

    # Integers of MLIR: all sums and products wrap.
    ("AddIAddConstant", "arith.addi"): scalars(
        add_of("%m = arith.addi %a, %k : i64\n  %s = arith.addi %m, %l : i64"), "s"),
    ("AddISubConstantRHS", "arith.addi"): scalars(
        add_of("%m = arith.subi %a, %k : i64\n  %s = arith.addi %m, %l : i64"), "s"),
    ("AddISubConstantLHS", "arith.addi"): scalars(
        add_of("%m = arith.subi %k, %a : i64\n  %s = arith.addi %m, %l : i64"), "s"),
    ("AddIMulNegativeOneRhs", "arith.addi"): scalars(
        add_of("%m = arith.muli %b, %k : i64\n  %s = arith.addi %a, %m : i64", "-1 0"), "s"),
    ("AddIMulNegativeOneLhs", "arith.addi"): scalars(
        add_of("%m = arith.muli %b, %k : i64\n  %s = arith.addi %m, %a : i64", "-1 0"), "s"),
    ("SubIRHSAddConstant", "arith.subi"): scalars(
        add_of("%m = arith.addi %a, %k : i64\n  %s = arith.subi %m, %l : i64"), "s"),
    ("SubILHSAddConstant", "arith.subi"): scalars(
        add_of("%m = arith.addi %a, %k : i64\n  %s = arith.subi %l, %m : i64"), "s"),
    ("SubIRHSSubConstantRHS", "arith.subi"): scalars(
        add_of("%m = arith.subi %a, %k : i64\n  %s = arith.subi %m, %l : i64"), "s"),
    ("SubIRHSSubConstantLHS", "arith.subi"): scalars(
        add_of("%m = arith.subi %k, %a : i64\n  %s = arith.subi %m, %l : i64"), "s"),
    ("SubILHSSubConstantRHS", "arith.subi"): scalars(
        add_of("%m = arith.subi %a, %k : i64\n  %s = arith.subi %l, %m : i64"), "s"),
    ("SubILHSSubConstantLHS", "arith.subi"): scalars(
        add_of("%m = arith.subi %k, %a : i64\n  %s = arith.subi %l, %m : i64"), "s"),
    ("SubISubILHSRHSLHS", "arith.subi"): scalars("%m = arith.subi %a, %b : i64\n  %s = arith.subi %m, %a : i64", "s"),
    ("MulIMulIConstant", "arith.muli"): scalars(
        add_of("%m = arith.muli %a, %k : i64\n  %s = arith.muli %m, %l : i64"), "s"),
    ("CmpIExtSI", "arith.cmpi"): scalars(
        "%h = arith.trunci %a : i64 to i8\n  %g = arith.trunci %b : i64 to i8\n  %e = arith.extsi %h : i8 to i64\n"
        "  %d = arith.extsi %g : i8 to i64\n  %p = arith.cmpi eq, %e, %d : i64\n  %s = arith.extui %p : i1 to i64", "s"),
    ("CmpIExtUI", "arith.cmpi"): scalars(
        "%h = arith.trunci %a : i64 to i8\n  %g = arith.trunci %b : i64 to i8\n  %e = arith.extui %h : i8 to i64\n"
        "  %d = arith.extui %g : i8 to i64\n  %p = arith.cmpi ne, %e, %d : i64\n  %s = arith.extui %p : i1 to i64", "s"),
    ("RedundantSelectFalse", "arith.select"): scalars(
        "%p = arith.cmpi slt, %a, %b : i64\n  %t1 = arith.select %p, %b, %a : i64\n"
        "  %s = arith.select %p, %a, %t1 : i64", "s"),
    ("RedundantSelectTrue", "arith.select"): scalars(
        "%p = arith.cmpi slt, %a, %b : i64\n  %t1 = arith.select %p, %b, %a : i64\n"
        "  %s = arith.select %p, %t1, %b : i64", "s"),
    ("SelectNotCond", "arith.select"): scalars(
        "%true = arith.constant true\n  %h = arith.trunci %a : i64 to i1\n  %p = arith.xori %h, %true : i1\n"
        "  %s = arith.select %p, %a, %b : i64", "s"),
    ("SelectI1ToNot", "arith.select"): scalars(
        "%true = arith.constant true\n  %false = arith.constant false\n  %p = arith.cmpi slt, %a, %b : i64\n"
        "  %h = arith.select %p, %false, %true : i1\n  %s = arith.select %h, %a, %b : i64\n", "s"),
    ("SelectToExtUI", "arith.select"): scalars(
        add_of("%p = arith.cmpi slt, %a, %b : i64\n  %s = arith.select %p, %k, %l : i64", "1 0"), "s"),
    ("DropIndexCasts", "arith.index_cast"): scalars(
        "%h = arith.index_cast %a : i64 to index\n  %s = arith.index_cast %h : index to i64", "s"),
    ("IndexCastOfExtSI", "arith.index_cast"): scalars(
        "%h = arith.trunci %a : i64 to i32\n  %e = arith.extsi %h : i32 to i64\n"
        "  %d = arith.index_cast %e : i64 to index\n  %o = arith.addi %d, %c1 : index\n"
        "  %s = arith.index_cast %o : index to i64", "s"),
}

# What folders do, by name. They have no permission and no pattern.
FOLDS = {
    **{f"a {kind} over no axes": elementwise(f"%r = ad.reduce_{kind} %x axes [] : T -> T", [
        "f32", "f16", "bf16", "f64", "f8E4M3FN"]) for kind in ("sum", "prod", "mean", "max", "min")},
    "a cast to a wider float and back": elementwise("%c = ad.cast %x : T -> S\n%r = ad.cast %c : S -> T", [
        "f16", "bf16", "f8E4M3FN"]),
    "x + -0": elementwise(constant("c", "-0.0") + "%r = ad.add %x, %c : T", ["f32", "f16", "bf16", "f64"]),
    "x - 0": elementwise(constant("c", "0.0") + "%r = ad.sub %x, %c : T", ["f32", "f16", "bf16", "f64"]),
    "x * 1": elementwise(constant("c", "1.0") + "%r = ad.mul %x, %c : T", ["f32", "f16", "bf16", "f64"]),
    "x / 1": elementwise(constant("c", "1.0") + "%r = ad.div %x, %c : T", ["f32", "f16", "bf16", "f64"]),
    "-(-x)": elementwise("%n = ad.neg %x : T\n%r = ad.neg %n : T", ["f32", "f16", "bf16", "f64", "f8E4M3FN"]),
    "an identical reshape": elementwise("%r = ad.reshape %x : T -> T"),
    "an identical broadcast": elementwise("%r = ad.broadcast %x : T -> T"),
    "an identical transposition": elementwise("%r = ad.transpose %x [0, 1] : T"),
    "two transpositions": Case("%t = ad.transpose %x [1, 0] : T\n%r = ad.transpose %t [1, 0] : T", "T",
                               ("f32", "f16"), (24, 24)),
}

# Patterns that a shared class registers for operations where it cannot apply: the result has the type of the operand,
# which is what the folder handles.
NEVER = {("replace-empty-reduction", f"ad.reduce_{kind}") for kind in ("max", "min")}

# Patterns that compute no elements: of control flow, of sizes, and of operations that no program of `ad` has. The
# campaigns of random programs compare their results too (scripts/fuzz.sh programs).
STRUCTURE = {"scf.while", "scf.parallel", "scf.index_switch", "scf.if", "scf.forall", "scf.for", "scf.execute_region",
             "tensor.dim", "tensor.cast", "memref.dim"}
