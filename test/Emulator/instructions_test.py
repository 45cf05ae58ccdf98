# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Single instructions against closed forms: the results of each lane of a warp, or of each thread of a warpgroup."""

import sys

import ml_dtypes
import numpy as np

from emulate import constants, load, run_families, store

LANES = np.arange(32)
def warp_operations(bench):
    values = (LANES * 7 - 101).astype(np.int32)  # of both signs
    read = load("v", "i32", "%lane")
    shuffles = {"bfly": (5, 31, LANES ^ 5), "up": (3, 0, np.where(LANES >= 3, LANES - 3, LANES)),
                "down": (2, 31, np.where(LANES <= 29, LANES + 2, LANES)), "idx": (9, 31, np.full(32, 9))}
    for kind, (offset, clamp, source) in shuffles.items():
        body = constants(offset, clamp) + read + (
            f"    %r = nvvm.shfl.sync {kind} %all, %v, %c{offset}, %c{clamp} : i32 -> i32\n") + store("%r", "i32", "%lane")
        bench.check(f"shuffle-{kind}", body, values, "i32", values[source])
    # Segments of eight lanes: the mask in bits 8 to 12, the last lane in the lower bits.
    body = constants(1, 0x181f) + read + (
        "    %s = nvvm.shfl.sync down %all, %v, %c1, %c6175 {return_value_and_is_valid} : i32 -> !llvm.struct<(i32, i1)>\n"
        "    %b = llvm.extractvalue %s[1] : !llvm.struct<(i32, i1)>\n    %r = llvm.zext %b : i1 to i32\n") + store("%r", "i32", "%lane")
    bench.check("shuffle-segments", body, values, "i32", (LANES % 8 != 7).astype(np.int32))
    odd = constants(0, 1, 3) + read + '    %a = llvm.and %v, %c1 : i32\n    %p = llvm.icmp "ne" %a, %c0 : i32\n'
    ballot = int(sum(1 << int(lane) for lane in LANES[values % 2 == 1]))
    for kind, expected in {"any": 1, "all": 0, "uni": 0}.items():
        body = odd + f"    %w = nvvm.vote.sync {kind} %all, %p -> i1\n    %r = llvm.zext %w : i1 to i32\n" + store("%r", "i32", "%lane")
        bench.check(f"vote-{kind}", body, values, "i32", np.full(32, expected, np.int32))
    body = odd + "    %r = nvvm.vote.sync ballot %all, %p -> i32\n" + store("%r", "i32", "%lane")
    bench.check("vote-ballot", body, values, "i32", np.full(32, ballot, np.uint32))
    body = constants(3) + read + "    %g = llvm.and %lane, %c3 : i32\n    %r = nvvm.match.sync any %all, %g : i32 -> i32\n" + store("%r", "i32", "%lane")
    bench.check("match", body, values, "i32", np.array([0x11111111 << (lane % 4) for lane in range(32)], np.uint32))
    for name, value, expected in (("equal", "%c3", 0xffffffff), ("different", "%lane", 0)):
        body = constants(3) + (
            f"    %s = nvvm.match.sync all %all, {value} : i32 -> !llvm.struct<(i32, i1)>\n"
            "    %m = llvm.extractvalue %s[0] : !llvm.struct<(i32, i1)>\n    %e = llvm.extractvalue %s[1] : !llvm.struct<(i32, i1)>\n"
            "    %w = llvm.zext %e : i1 to i32\n    %r = llvm.sub %m, %w : i32\n") + store("%r", "i32", "%lane")
        bench.check(f"match-all-{name}", body, values, "i32", np.full(32, max(expected - 1, 0), np.uint32))
    reductions = {"add": values.sum(), "and": np.bitwise_and.reduce(values), "or": np.bitwise_or.reduce(values),
                  "xor": np.bitwise_xor.reduce(values), "min": values.min(), "max": values.max(),
                  "umin": values.view(np.uint32).min(), "umax": values.view(np.uint32).max()}
    for kind, expected in reductions.items():
        body = read + f"    %r = nvvm.redux.sync {kind} %v, %all : i32 -> i32\n" + store("%r", "i32", "%lane")
        bench.check(f"redux-{kind}", body, values, "i32", np.full(32, expected).astype(np.int32))
    body = "    %some = llvm.mlir.constant(-16 : i32) : i32\n" + constants(4) + (
        '    %in = llvm.icmp "uge" %lane, %c4 : i32\n    llvm.cond_br %in, ^in, ^out\n  ^in:\n    %e = nvvm.elect.sync %some -> i1\n'
        "    %r = llvm.zext %e : i1 to i32\n") + store("%r", "i32", "%lane") + "    llvm.br ^out\n  ^out:\n"
    bench.check("elect", body, values, "i32", (LANES == 4).astype(np.int32))
    body = constants(0, 1, 3) + read + "    %a = llvm.and %v, %c1 : i32\n"
    body += "    %r = nvvm.barrier #nvvm.reduction<popc> %a -> i32\n" + store("%r", "i32", "%lane")
    bench.check("barrier-popc", body, values, "i32", np.full(32, 16, np.int32))


def registers(bench):
    masks = {"eq": lambda l: 1 << l, "lt": lambda l: (1 << l) - 1, "le": lambda l: (2 << l) - 1,
             "ge": lambda l: 2**32 - (1 << l),
             "gt": lambda l: 2**32 - (2 << l)}
    for which, mask in masks.items():
        body = f"    %r = nvvm.read.ptx.sreg.lanemask.{which} : i32\n" + store("%r", "i32", "%lane")
        bench.check(f"lanemask-{which}", body, LANES.astype(np.int32), "i32",
                    np.array([mask(lane) for lane in range(32)], np.uint32))
    # Coordinates of 2x2 blocks of 4x2x3 threads, as digits of one number.
    body, total = "", "%z"
    for axis, name in enumerate(("tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y")):
        body += f"    %d{axis} = nvvm.read.ptx.sreg.{name} : i32\n    %m{axis} = llvm.mul %d{axis}, %c{10**axis} : i32\n    %t{axis} = llvm.add {total}, %m{axis} : i32\n"
        total = f"%t{axis}"
    place = ("    %b = llvm.mul %d4, %c2 : i32\n    %c = llvm.add %b, %d3 : i32\n    %e = llvm.mul %c, %c3 : i32\n    %f = llvm.add %e, %d2 : i32\n"
             "    %g = llvm.mul %f, %c2 : i32\n    %h = llvm.add %g, %d1 : i32\n    %i = llvm.mul %h, %c4 : i32\n    %j = llvm.add %i, %d0 : i32\n")
    body = constants(1, 2, 3, 4, 10, 100, 1000,
                     10000) + "    %z = llvm.mlir.constant(0 : i32) : i32\n" + body + place + store(total, "i32", "%j")
    expected = np.array([x + 10 * y + 100 * z + 1000 * bx + 10000 * by for by in range(2) for bx in range(2)
                         for z in range(3)
                         for y in range(2) for x in range(4)], np.int32)
    bench.check("coordinates", body, LANES.astype(np.int32), "i32", expected, threads="4,2,3", launch=["--grid", "2,2"])
    # An address of shared memory is the same after a conversion to 32 bits and back.
    body = (constants(4) + load("v", "i32", "%lane")
            + "    %o = llvm.mul %lane, %c4 : i32\n    %start = llvm.ptrtoint %memory : !llvm.ptr<3> to i32\n"
            "    %at = llvm.add %start, %o : i32\n    %p = llvm.inttoptr %at : i32 to !llvm.ptr<3>\n    llvm.store %v, %p : i32, !llvm.ptr<3>\n"
            ) + load("w", "i32", "%lane", "%memory", 3) + store("%w", "i32", "%lane")
    bench.check("address-as-number", body, LANES.astype(np.int32) * 3, "i32", LANES.astype(np.int32) * 3)


def matrix_moves(bench):
    matrix = np.arange(4 * 64, dtype=np.uint16).reshape(4, 8, 8)
    copy = constants(8, 16) + load("v", "vector<8xi16>", "%lane") + "    %to = llvm.mul %lane, %c16 : i32\n" + (
        "    %s = llvm.getelementptr %memory[%to] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n")
    row, column = LANES // 4, LANES % 4 * 2
    shape = "shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>"
    for layout in ("row", "col"):
        body = copy + "    llvm.store %v, %s : vector<8xi16>, !llvm.ptr<3>\n    nvvm.barrier0\n" + (
            f"    %m = nvvm.ldmatrix %s {{num = 4 : i32, layout = #nvvm.mma_layout<{layout}>, {shape}}} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>\n"
            "    %c4 = llvm.mlir.constant(4 : i32) : i32\n    %o = llvm.mul %lane, %c4 : i32\n")
        for i in range(4):
            body += f"    %c_{i} = llvm.mlir.constant({i} : i32) : i32\n    %o{i} = llvm.add %o, %c_{i} : i32\n"
            body += f"    %r{i} = llvm.extractvalue %m[{i}] : !llvm.struct<(i32, i32, i32, i32)>\n" + store(f"%r{i}", "i32", f"%o{i}")
        held = matrix if layout == "row" else matrix.transpose(0, 2, 1)
        expected = held[:, row, column].astype(np.uint32) | held[:, row, column + 1].astype(np.uint32) << 16
        bench.check(f"ldmatrix-{layout}", body, matrix.view(np.int32).ravel(), "i32", expected.T.copy())
        body = copy + constants(4) + "".join(load(f"w{i}", "i32",
                                                  f"%i{i}").replace(f"    %p_w{i}",
                                                                    f"    %k{i} = llvm.mlir.constant({32 * i} : i32) : i32\n    %i{i} = llvm.add %lane, %k{i} : i32\n    %p_w{i}", 1) for i in range(4)) + (
            f"    nvvm.stmatrix %s, %w0, %w1, %w2, %w3 {{layout = #nvvm.mma_layout<{layout}>, {shape}}} : !llvm.ptr<3>, i32, i32, i32, i32\n"
            "    nvvm.barrier0\n    %r = llvm.load %s : !llvm.ptr<3> -> vector<8xi16>\n") + store("%r", "vector<8xi16>", "%lane")
        words = (held[:, row, column].astype(np.uint32) | held[:, row, column
                                                               + 1].astype(np.uint32) << 16).view(np.int32)
        bench.check(f"stmatrix-{layout}", body, words, "i32", matrix.view(np.uint32))


# What accumulators start from, by their type.
STARTS = {"f32": "1.0 : f32", "i32": "1 : i32", "vector<2xf16>": "dense<1.0> : vector<2xf16>"}


def mma_case(bench, kind, m, k, packed, ptx, sums, operand):
    """One mma.sync of m x 8 x k; `packed(values)` gives the elements as unsigned integers of their width."""
    random = np.random.default_rng(m + k)
    low = 0 if kind == "u8" else -5
    a, b = random.integers(low, 6, (m, k)), random.integers(low, 6, (k, 8))
    bits = packed(a.astype(np.float64)).dtype.itemsize * 8
    each, group, member = 32 // bits, LANES // 4, LANES % 4
    words_a, words_b = m * k // (32 * each), 8 * k // (32 * each)

    def words(elements):
        value = np.zeros(32, np.uint64)
        for j, e in enumerate(elements):
            value |= packed(e.astype(np.float64)).astype(np.uint64) << np.uint64(j * bits)
        return value.astype(np.uint32)

    fragment = [words([a[group + (i & 1) * 8, member * each + j + (i >> 1) * 4 * each] for j in range(each)])
                for i in range(words_a)]
    fragment += [words([b[member * each + j + i * 4 * each, group] for j in range(each)]) for i in range(words_b)]
    pairs = sums == "vector<2xf16>"  # a register holds the sums of two columns
    count = m // 8 if pairs else m // 4
    body = constants(*(32 * i for i in range(words_a + words_b)))
    for i in range(words_a + words_b):
        body += f"    %i{i} = llvm.add %lane, %c{32 * i} : i32\n" + load(f"w{i}", "i32", f"%i{i}")
        body += f"    %f{i} = llvm.bitcast %w{i} : i32 to {operand}\n" if operand != "i32" else ""
    letter = "w" if operand == "i32" else "f"
    body += f"    %start = llvm.mlir.constant({STARTS[sums]}) : {sums}\n"
    names = [f"%{letter}{i}" for i in range(words_a + words_b)]
    types = f"#nvvm.mma_type<{ptx}>"
    overflow = "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, " if sums == "i32" else ""
    struct = f"!llvm.struct<({', '.join([sums] * count)})>"
    body += (f"    %d = nvvm.mma.sync A[{', '.join(names[:words_a])}] B[{', '.join(names[words_a:])}] C[{', '.join(['%start'] * count)}] "
             f"{{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {overflow}multiplicandAPtxType = {types}, "
             f"multiplicandBPtxType = {types}, shape = #nvvm.shape<m = {m}, n = 8, k = {k}>}} : ({operand}, {operand}, {sums}) -> {struct}\n")
    for i in range(count):
        body += f"    %k{i} = llvm.mlir.constant({32 * i} : i32) : i32\n    %o{i} = llvm.add %lane, %k{i} : i32\n"
        body += f"    %r{i} = llvm.extractvalue %d[{i}] : {struct}\n"
        body += f"    %b{i} = llvm.bitcast %r{i} : {sums} to i32\n" + store(f"%b{i}", "i32", f"%o{i}")
    product = a @ b + 1
    expected = np.array([product[group + (i >> 1) * 8, member * 2 + (i & 1)] for i in range(m // 4)])
    if pairs:
        halves = expected.astype(np.float16).view(np.uint16).astype(np.uint32)
        expected = halves[0::2] | halves[1::2] << np.uint32(16)
    else:
        expected = expected.astype(np.float32 if sums == "f32" else np.int32)
    bench.check(f"mma-{kind}-m{m}k{k}-{sums}", body, np.array(fragment).view(np.int32), "i32", expected.view(np.int32))


def matrix_products(bench):
    bf16 = lambda v: (v.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)  # noqa: E731
    f16 = lambda v: v.astype(np.float16).view(np.uint16)  # noqa: E731
    tf32 = lambda v: v.astype(np.float32).view(np.uint32)  # noqa: E731
    i8 = lambda v: v.astype(np.int8).view(np.uint8)  # noqa: E731
    mma_case(bench, "bf16", 16, 16, bf16, "bf16", "f32", "i32")
    mma_case(bench, "bf16", 16, 8, bf16, "bf16", "f32", "i32")
    mma_case(bench, "f16", 16, 16, f16, "f16", "f32", "vector<2xf16>")
    mma_case(bench, "f16", 16, 16, f16, "f16", "vector<2xf16>", "vector<2xf16>")
    mma_case(bench, "f16", 16, 8, f16, "f16", "vector<2xf16>", "vector<2xf16>")
    mma_case(bench, "tf32", 16, 8, tf32, "tf32", "f32", "i32")
    mma_case(bench, "tf32", 16, 4, tf32, "tf32", "f32", "i32")
    mma_case(bench, "s8", 16, 32, i8, "s8", "i32", "i32")
    mma_case(bench, "s8", 8, 16, i8, "s8", "i32", "i32")
    mma_case(bench, "u8", 16, 16, i8, "u8", "i32", "i32")
    random = np.random.default_rng(5)
    a, b = random.standard_normal((8, 4)), random.standard_normal((4, 8))
    fragment = np.concatenate([a.ravel(), b.T.ravel()])
    body = constants(32, 64) + load("a", "f64",
                                    "%lane") + "    %ib = llvm.add %lane, %c32 : i32\n" + load("b", "f64", "%ib") + (
        "    %start = llvm.mlir.constant(0.0 : f64) : f64\n    %d = nvvm.mma.sync A[%a] B[%b] C[%start, %start] {layoutA = #nvvm.mma_layout<row>, "
        "layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>} : (f64, f64, f64) -> !llvm.struct<(f64, f64)>\n"
        "    %r0 = llvm.extractvalue %d[0] : !llvm.struct<(f64, f64)>\n    %r1 = llvm.extractvalue %d[1] : !llvm.struct<(f64, f64)>\n"
        "    %two = llvm.mlir.constant(2 : i32) : i32\n    %o = llvm.mul %lane, %two : i32\n    %one = llvm.mlir.constant(1 : i32) : i32\n"
        "    %o1 = llvm.add %o, %one : i32\n") + store("%r0", "f64", "%o") + store("%r1", "f64", "%o1")
    bench.check("mma-f64", body, fragment, "f64", a @ b, equal=lambda x, y: np.allclose(x, y, rtol=1e-14, atol=1e-14))


BYTES = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


def byte_float_case(bench, name, left, right, a, b, start):
    """One m16n8k32 of 8-bit floats, given as codes: f32 in ascending k, from the accumulators. Products are exact."""
    wide_a, wide_b = a.view(BYTES[left]).astype(np.float32), b.view(BYTES[right]).astype(np.float32)
    expected = start.copy()
    with np.errstate(invalid="ignore"):
        for k in range(32):
            expected = (expected + np.outer(wide_a[:, k], wide_b[k])).astype(np.float32)
    group, member = LANES // 4, LANES % 4
    word = lambda codes: sum(code.astype(np.uint32) << np.uint32(8 * j) for j, code in enumerate(codes))  # noqa: E731
    words = [word([a[group + (i & 1) * 8, member * 4 + j + (i >> 1) * 16] for j in range(4)]) for i in range(4)]
    words += [word([b[member * 4 + j + i * 16, group] for j in range(4)]) for i in range(2)]
    sums = lambda matrix: [matrix[group + (i >> 1) * 8, member * 2 + (i & 1)] for i in range(4)]  # noqa: E731
    words += [value.view(np.uint32) for value in sums(start)]
    body = constants(*range(0, 320, 32))
    for i in range(10):
        body += f"    %i{i} = llvm.add %lane, %c{32 * i} : i32\n" + load(f"w{i}", "i32" if i < 6 else "f32", f"%i{i}")
    struct = "!llvm.struct<(f32, f32, f32, f32)>"
    body += (f'    %d = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.{left}.{right}.f32"'
             f"({', '.join(f'%w{i}' for i in range(10))}) : ({', '.join(['i32'] * 6 + ['f32'] * 4)}) -> {struct}\n")
    for i in range(4):
        body += f"    %r{i} = llvm.extractvalue %d[{i}] : {struct}\n" + store(f"%r{i}", "f32", f"%i{i}")
    bench.check(f"mma-{left}-{right}-{name}", body, np.concatenate(words).view(np.int32), "f32",
                np.concatenate(sums(expected)), equal=lambda x, y: np.array_equal(x, y, equal_nan=True))


def byte_float_products(bench):
    """All codes of both types, with ml_dtypes; one row and one column have infinities and NaN."""
    for left in BYTES:
        for right in BYTES:
            rng = np.random.default_rng(len(left) + 7 * ord(right[1]) + ord(left[1]))
            values = {kind: np.arange(256, dtype=np.uint8).view(BYTES[kind]) for kind in (left, right)}
            finite = {kind: np.flatnonzero(np.isfinite(all_.astype(np.float32))) for kind, all_ in values.items()}
            a = rng.permuted(np.resize(finite[left], 512)).astype(np.uint8).reshape(16, 32)
            b = rng.permuted(np.resize(finite[right], 256)).astype(np.uint8).reshape(32, 8)
            start = rng.normal(size=(16, 8)).astype(np.float32)
            byte_float_case(bench, "finite", left, right, a, b, start)
            a[3], b[:, 5] = rng.integers(0, 256, 32), rng.integers(0, 256, 32)
            a[4, :2], b[1, 6] = (0x7F, 0xFC), 0x7E
            byte_float_case(bench, "special", left, right, a, b, start)


def float_bits(bench):
    special = [0x7f800000, 0xff800000, 0x7f7fffff, 1, 0x80000001, 0x00018000, 0x00008000, 0x00008001, 0x3f808000,
               0x3f818000, 0x3f808001, 0]
    bits = np.concatenate([np.array(special, np.uint32),
                           np.random.default_rng(3).integers(0, 0x7f800000, 500, np.uint32)])
    values = bits.view(np.float32)
    rounded = ((bits.astype(np.uint64) + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    narrow = load("v", "f32", "%lane") + "    %r = llvm.fptrunc %v : f32 to bf16\n" + store("%r", "bf16", "%lane")
    bench.check("bf16-rounding", narrow, values, "bf16", rounded, threads=512)
    half = load("v", "f32", "%lane") + "    %r = llvm.fptrunc %v : f32 to f16\n" + store("%r", "f16", "%lane")
    with np.errstate(over="ignore"):
        bench.check("f16-rounding", half, values, "f16", values.astype(np.float16).view(np.uint16), threads=512)
    # Just above and below the midpoint of two numbers in f16: an additional rounding to f32 would give another result.
    middles = (np.arange(1024, 1056, dtype=np.float64) + 0.5) * 2.0**-10
    middles[1::2] += 2.0**-40
    middles[2::3] -= 2.0**-41
    wide = load("v", "f64", "%lane") + "    %r = llvm.fptrunc %v : f64 to f16\n" + store("%r", "f16", "%lane")
    bench.check("f64-to-f16", wide, middles, "f16", middles.astype(np.float16).view(np.uint16))
    # A product and a sum are rounded twice, whatever the fast-math flags allow; a fused multiply-add is rounded once.
    x = np.full(32, 1 + 2.0**-12, np.float32)
    loose = load("v", "f32",
                 "%lane") + ("    %m = llvm.fmul %v, %v {fastmathFlags = #llvm.fastmath<fast>} : f32\n    %o = llvm.mlir.constant(-1.0 : f32) : f32\n"
                                         "    %r = llvm.fadd %m, %o {fastmathFlags = #llvm.fastmath<fast>} : f32\n") + store("%r", "f32", "%lane")
    bench.check("no-contraction", loose, x, "f32", x * x - np.float32(1))
    fused = load("v", "f32",
                 "%lane") + ("    %o = llvm.mlir.constant(-1.0 : f32) : f32\n    %r = llvm.intr.fmuladd(%v, %v, %o) : (f32, f32, f32) -> f32\n"
                                         ) + store("%r", "f32", "%lane")
    bench.check("fmuladd-fuses", fused, x, "f32", (x.astype(np.float64)**2 - 1).astype(np.float32))
    sums = load("v", "f32",
                "%lane") + ("    %a = llvm.fptrunc %v : f32 to bf16\n    %s = llvm.fadd %a, %a : bf16\n    %t = llvm.fmul %s, %a : bf16\n"
                                        ) + store("%t", "bf16", "%lane")
    near = np.random.default_rng(4).integers(0x3f00, 0x4100, 32).astype(np.uint32) << 16
    wide = (near.view(np.float32) * 2 * near.view(np.float32)).view(np.uint32)
    bench.check("bf16-arithmetic", sums, near.view(np.float32), "bf16",
                ((wide + 0x7fff + (wide >> 16 & 1)) >> 16).astype(np.uint16))


def atomics(bench):
    body = constants(0, 1) + load("v", "i32", "%lane") + (
        "    %old = llvm.atomicrmw add %y, %v monotonic {alignment = 4 : i64} : !llvm.ptr<1>, i32\n")
    values = np.arange(64, dtype=np.int32)
    bench.check("atomic-add", body, values, "i32", np.array([values.sum()], np.int32), threads=64)


if __name__ == "__main__":
    sys.exit(run_families("instructions", registers, warp_operations, matrix_moves, matrix_products,
                          byte_float_products, float_bits, atomics))
