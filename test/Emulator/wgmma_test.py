# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""wgmma against NumPy, for each type and each layout of the operands in shared memory. The layouts are implemented here
from the PTX ISA, independently of the emulator."""

import sys

import numpy as np

from emulate import run_families, store

M, N, THREADS = 64, 16, 128
MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def swizzled(address, width):
    """XOR swizzle: chunk c of 16 bytes of row r of 128 bytes is stored at c ^ (r % 8)."""
    return address ^ (address >> 7 & {0: 0, 32: 1, 64: 3, 128: 7}[width]) << 4


def write_matrix(image, start, matrix, width, transposed):
    """Writes matrix[mn, k] and returns its descriptor without the address."""
    size, (count, k_size) = matrix.itemsize, matrix.shape
    raw = matrix.view(np.uint8).reshape(count, k_size, size)
    groups = count // 8
    for mn in range(count):
        for k in range(k_size):
            if transposed:  # mn is contiguous: blocks of `width` bytes of mn by eight k
                per = width // size
                leading, stride = 8 * width, 8 * width * (count // per)
                offset = mn // per * leading + k // 8 * stride + k % 8 * width + mn % per * size
            elif width:  # rows of `width` bytes, eight of them to a group
                leading, stride = 16, 8 * width
                offset = mn // 8 * stride + mn % 8 * width + k * size
            else:  # blocks of eight rows of 16 bytes
                leading, stride = 128 * groups, 128
                offset = mn // 8 * stride + mn % 8 * 16 + k * size // 16 * leading + k * size % 16
            at = swizzled(start + offset, width)
            image[at:at + size] = raw[mn, k]
    return leading >> 4 << 16 | stride >> 4 << 32 | MODES[width] << 62 | start >> 4


def case(bench, name, element, width, transposed=False, sums="f32", pack=None):
    random = np.random.default_rng(width + len(name))
    size = {"tf32": 4, "s8": 1, "u8": 1}.get(element, 2)
    k_size, low = 32 // size, 0 if element == "u8" else -5
    a, b = random.integers(low, 6, (M, k_size)), random.integers(low, 6, (N, k_size))
    image = np.zeros(32768, np.uint8)
    if transposed:  # a block of 64 columns at a time
        b = np.concatenate([b] * 4)
    descriptors = [write_matrix(image, start, pack(matrix.astype(np.float64)), width, transposed) for start,
                   matrix in ((0, a), (16384, b))]
    # Descriptors are signed 64-bit constants here.
    constants = "".join(f"    %d{i} = llvm.mlir.constant({d - (1 << 64) if d >> 63 else d} : i64) : i64\n" for i,
                        d in enumerate(descriptors))
    body = constants + "    %c16 = llvm.mlir.constant(16 : i32) : i32\n"
    for i in range(16):
        body += (f"    %k{i} = llvm.mlir.constant({2048 * i} : i32) : i32\n    %l{i} = llvm.mul %lane, %c16 : i32\n    %o{i} = llvm.add %l{i}, %k{i} : i32\n"
                 f"    %f{i} = llvm.getelementptr %x[%o{i}] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8\n    %v{i} = llvm.load %f{i} {{alignment = 16 : i64}} : !llvm.ptr<1> -> vector<4xi32>\n"
                 f"    %t{i} = llvm.getelementptr %memory[%o{i}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8\n    llvm.store %v{i}, %t{i} {{alignment = 16 : i64}} : vector<4xi32>, !llvm.ptr<3>\n")
    count = N // 2
    struct = f"!llvm.struct<({', '.join([sums] * count)})>"
    kind = "s32" if sums == "i32" else sums
    layouts = ("col", "row") if transposed else ("row", "col")
    body += ("    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}\n    nvvm.barrier0\n"
             f"    %zeros = llvm.mlir.zero : {struct}\n    nvvm.wgmma.fence.aligned\n"
             f"    %s = nvvm.wgmma.mma_async %d0, %d1, %zeros, #nvvm.shape<m = 64, n = {N}, k = {k_size}>, D[#nvvm.wgmma_type<{kind}>, #nvvm.wgmma_scale_out<one>], "
             f"A[#nvvm.wgmma_type<{element}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<{layouts[0]}>], "
             f"B[#nvvm.wgmma_type<{element}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<{layouts[1]}>] : {struct} -> {struct}\n"
             "    nvvm.wgmma.commit.group.sync.aligned\n    nvvm.wgmma.wait.group.sync.aligned 0\n")
    for i in range(count):
        body += f"    %m{i} = llvm.mlir.constant({THREADS * i} : i32) : i32\n    %i{i} = llvm.add %lane, %m{i} : i32\n    %r{i} = llvm.extractvalue %s[{i}] : {struct}\n" + store(f"%r{i}", sums, f"%i{i}")
    thread = np.arange(THREADS)
    row, column = thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2
    product = a @ b[:N].T
    expected = np.array([product[row + (i >> 1 & 1) * 8, column + i // 4 * 8 + (i & 1)] for i in range(count)])
    bench.check(name, body, image.view(np.int32), sums, expected.astype(np.float32 if sums == "f32" else np.int32),
                threads=THREADS)


def types_and_layouts(bench):
    f16 = lambda v: v.astype(np.float16)  # noqa: E731
    bf16 = lambda v: (v.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)  # noqa: E731
    for width in MODES:
        case(bench, f"f16-{width}", "f16", width, pack=f16)
    case(bench, "bf16-128", "bf16", 128, pack=bf16)
    for width in (32, 64, 128):
        case(bench, f"bf16-mn-{width}", "bf16", width, transposed=True, pack=bf16)
    case(bench, "tf32-128", "tf32", 128, pack=lambda v: v.astype(np.float32))
    # The 13 bits that tf32 does not have are not read.
    low = lambda v: np.random.default_rng(1).integers(0, 1 << 13, v.shape, np.uint32)  # noqa: E731
    noise = lambda v: v.astype(np.float32).view(np.uint32) | low(v)  # noqa: E731
    case(bench, "tf32-noise-128", "tf32", 128, pack=noise)
    case(bench, "s8-128", "s8", 128, sums="i32", pack=lambda v: v.astype(np.int8))
    case(bench, "s8-64", "s8", 64, sums="i32", pack=lambda v: v.astype(np.int8))
    case(bench, "u8-128", "u8", 128, sums="i32", pack=lambda v: v.astype(np.uint8))


if __name__ == "__main__":
    sys.exit(run_families("wgmma", types_and_layouts))
