# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels that apply one step of `wgmma` and of `mma.sync` to the same numbers, in the LLVM and NVVM dialects, so that
the emulated GPU runs what a GPU gets as PTX.

A block is a problem: products of 64 x 16 by 16 x N, STEPS of them. Both kernels write the accumulators of each thread,
which both instructions distribute alike: first those of a single step from zero, then those after each step of a chain
that begins with given numbers. accumulation_vectors.py lays out the operands as each kernel reads them.
"""

STEPS, THREADS, ROWS, K = 2, 128, 64, 16
SLOTS = STEPS + 1  # results: a step from zero, and the chain
SHAPES = range(8, 257, 8)  # N of wgmma
ELEMENTS, MAJORS = ("bf16", "f16"), ("k", "n")
COPIED = 16 * THREADS  # bytes that a block copies at once


def image_bytes(n):
    """Of the operands of a step in shared memory: A, then B."""
    return 2 * K * (ROWS + n)


def shared_bytes(n):
    """Of all steps, in whole copies of the block."""
    return -(-STEPS * image_bytes(n) // COPIED) * COPIED


def wgmma_name(element, major, n):
    return f"wgmma_{element}_{major}_{n}"


def mma_name(element):
    return f"mma_{element}"


class Writer:
    """Lines of a function, with names for values."""

    def __init__(self):
        self.lines, self.count = [], 0

    def __call__(self, text):
        self.count += 1
        self.lines.append(f"    %v{self.count} = {text}")
        return f"%v{self.count}"

    def do(self, text):
        self.lines.append(f"    {text}")

    def number(self, value, kind="i32"):
        return self(f"llvm.mlir.constant({value} : {kind}) : {kind}")

    def add(self, *values):
        total, *rest = values
        for value in rest:
            total = self(f"llvm.add {total}, {value} : i32")
        return total

    def times(self, value, factor):
        factor = self.number(factor) if isinstance(factor, int) else factor
        return self(f"llvm.mul {value}, {factor} : i32")

    def at(self, base, offset, space=1):
        """The address `offset` bytes after a pointer."""
        return self(f"llvm.getelementptr {base}[{offset}] : (!llvm.ptr<{space}>, i32) -> !llvm.ptr<{space}>, i8")

    def load(self, address, kind, alignment, space=1):
        return self(f"llvm.load {address} {{alignment = {alignment} : i64}} : !llvm.ptr<{space}> -> {kind}")

    def store(self, value, address, kind, space=1):
        self.do(f"llvm.store {value}, {address} {{alignment = 16 : i64}} : {kind}, !llvm.ptr<{space}>")

    def elements(self, vector, kind, count):
        return [self(f"llvm.extractelement {vector}[{self.number(i)} : i32] : {kind}") for i in range(count)]

    def special(self, name):
        return self(f"nvvm.read.ptx.sreg.{name} : i32")


def function(name, arguments, writer):
    body = "\n".join(writer.lines)
    return (f"  llvm.func @{name}({arguments}) attributes {{nvvm.kernel, nvvm.maxntid = array<i32: {THREADS}>}} {{\n"
            f"{body}\n    llvm.return\n  }}\n")


def struct(count):
    return f"!llvm.struct<({', '.join(['f32'] * count)})>"


def load_accumulators(w, address, count):
    values = w(f"llvm.mlir.undef : {struct(count)}")
    for group in range(count // 4):
        vector = w.load(w.at(address, w.number(16 * group)), "vector<4xf32>", 16)
        for i, element in enumerate(w.elements(vector, "vector<4xf32>", 4)):
            values = w(f"llvm.insertvalue {element}, {values}[{4 * group + i}] : {struct(count)}")
    return values


def store_accumulators(w, values, address, count):
    for group in range(count // 4):
        vector = w("llvm.mlir.undef : vector<4xf32>")
        for i in range(4):
            element = w(f"llvm.extractvalue {values}[{4 * group + i}] : {struct(count)}")
            vector = w(f"llvm.insertelement {element}, {vector}[{w.number(i)} : i32] : vector<4xf32>")
        w.store(vector, w.at(address, w.number(16 * group)), "vector<4xf32>")


def copy_operands(w, operands, memory, n, problem, thread):
    """The images of all steps to shared memory, 16 bytes per thread at a time."""
    total = shared_bytes(n)
    source = w.add(w.times(problem, total), w.times(thread, 16))
    for first in range(0, total, COPIED):
        offset = w.number(first)
        vector = w.load(w.at(operands, w.add(source, offset)), "vector<4xi32>", 16)
        w.store(vector, w.at(memory, w.add(w.times(thread, 16), offset), 3), "vector<4xi32>", 3)
    w.do("nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}")
    w.do("nvvm.barrier0")


def descriptor(w, memory, start, leading, stride):
    """Without a swizzle; the three numbers in bytes."""
    address = w(f"llvm.ptrtoint {w.at(memory, w.number(start), 3)} : !llvm.ptr<3> to i64")
    shifted = w(f"llvm.lshr {address}, {w.number(4, 'i64')} : i64")
    field = w(f"llvm.and {shifted}, {w.number(0x3FFF, 'i64')} : i64")
    return w(f"llvm.or {field}, {w.number(leading >> 4 << 16 | stride >> 4 << 32, 'i64')} : i64")


def wgmma(w, element, major, n, descriptors, sums, scale):
    """One step, whose results are there."""
    kind, layout = struct(n // 2), {"k": "col", "n": "row"}[major]
    w.do("nvvm.wgmma.fence.aligned")
    result = w(f"nvvm.wgmma.mma_async {descriptors[0]}, {descriptors[1]}, {sums}, "
               f"#nvvm.shape<m = {ROWS}, n = {n}, k = {K}>, D[#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<{scale}>], "
               f"A[#nvvm.wgmma_type<{element}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>], "
               f"B[#nvvm.wgmma_type<{element}>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<{layout}>] : {kind} -> {kind}")
    w.do("nvvm.wgmma.commit.group.sync.aligned")
    w.do("nvvm.wgmma.wait.group.sync.aligned 0")
    return result


def wgmma_kernel(element, major, n):
    w, count = Writer(), n // 2
    thread, problem = w.special("tid.x"), w.special("ctaid.x")
    memory = w("llvm.mlir.addressof @memory : !llvm.ptr<3>")
    copy_operands(w, "%operands", memory, n, problem, thread)
    # Chunks of eight rows of 16 bytes: those along K follow each other for the whole operand. In B that is contiguous
    # along N, a chunk has eight numbers of N and eight of K.
    steps = []
    for step in range(STEPS):
        start = step * image_bytes(n)
        of_a = descriptor(w, memory, start, 16 * ROWS, 128)
        steps.append((of_a, descriptor(w, memory, start + 2 * K * ROWS, 16 * n, 128)))
    own = w.add(w.times(problem, 4 * count * THREADS), w.times(thread, 4 * count))
    out = w.at("%results", w.add(w.times(problem, 4 * count * THREADS * SLOTS), w.times(thread, 4 * count)))
    start = load_accumulators(w, w.at("%sums", own), count)
    values = [wgmma(w, element, major, n, steps[0], w(f"llvm.mlir.zero : {struct(count)}"), "zero")]
    for step in steps:
        values.append(wgmma(w, element, major, n, step, values[-1] if len(values) > 1 else start, "one"))
    for slot, value in enumerate(values):
        store_accumulators(w, value, w.at(out, w.number(slot * 4 * count * THREADS)), count)
    return function(wgmma_name(element, major, n), "%operands: !llvm.ptr<1>, %sums: !llvm.ptr<1>, %results: !llvm.ptr<1>",
                    w)


def fragment(w, element, words, count):
    if element == "f16":
        return [w(f"llvm.bitcast {word} : i32 to vector<2xf16>") for word in w.elements(words, f"vector<{count}xi32>",
                                                                                         count)]
    return w.elements(words, f"vector<{count}xi32>", count)


def mma(w, element, a, b, sums):
    # The types of bf16 fragments are those of registers, and have to be named.
    named = "" if element == "f16" else ("multiplicandAPtxType = #nvvm.mma_type<bf16>, "
                                         "multiplicandBPtxType = #nvvm.mma_type<bf16>, ")
    operand = "vector<2xf16>" if element == "f16" else "i32"
    result = w(f"nvvm.mma.sync A[{', '.join(a)}] B[{', '.join(b)}] C[{', '.join(sums)}] "
               f"{{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, {named}"
               f"shape = #nvvm.shape<m = 16, n = 8, k = {K}>}} : ({operand}, {operand}, f32) -> {struct(4)}")
    return [w(f"llvm.extractvalue {result}[{i}] : {struct(4)}") for i in range(4)]


def mma_kernel(element):
    """Block (problem, group of eight columns): a warp has 16 rows, as in a warpgroup."""
    w = Writer()
    thread, problem = w.special("tid.x"), w.special("ctaid.x")
    group, groups = w.special("ctaid.y"), w.special("nctaid.y")
    lane = w(f"llvm.and {thread}, {w.number(31)} : i32")
    steps = []
    for step in range(STEPS):
        row = w.add(w.times(problem, STEPS), w.number(step))
        a = w.load(w.at("%a", w.times(w.add(w.times(row, THREADS), thread), 16)), "vector<4xi32>", 16)
        b = w.load(w.at("%b", w.times(w.add(w.times(w.add(w.times(row, groups), group), 32), lane), 8)), "vector<2xi32>",
                   8)
        steps.append((fragment(w, element, a, 4), fragment(w, element, b, 2)))
    # The accumulators of a group are four neighbours among those of a thread.
    of_thread = w.times(groups, 16)
    of_block = w.times(of_thread, THREADS)
    place = w.add(w.times(of_thread, thread), w.times(group, 16))
    start = w.elements(w.load(w.at("%sums", w.add(w.times(of_block, problem), place)), "vector<4xf32>", 16),
                       "vector<4xf32>", 4)
    zero = w.number("0.0", "f32")
    values = [mma(w, element, *steps[0], [zero] * 4)]
    for step in steps:
        values.append(mma(w, element, *step, values[-1] if len(values) > 1 else start))
    out = w.add(w.times(w.times(of_block, SLOTS), problem), place)
    for slot, value in enumerate(values):
        vector = w("llvm.mlir.undef : vector<4xf32>")
        for i, each in enumerate(value):
            vector = w(f"llvm.insertelement {each}, {vector}[{w.number(i)} : i32] : vector<4xf32>")
        w.store(vector, w.at("%results", w.add(out, w.times(of_block, slot))), "vector<4xf32>")
    pointers = ", ".join(f"%{name}: !llvm.ptr<1>" for name in ("a", "b", "sums", "results"))
    return function(mma_name(element), pointers, w)


def module(functions):
    return ('gpu.module @kernels [#nvvm.target<chip = "sm_90a", features = "+ptx86", O = 3>] {\n'
            "  llvm.mlir.global external @memory() {addr_space = 3 : i32, alignment = 1024 : i64} : "
            f"!llvm.array<0 x i8>\n{''.join(functions)}}}\n")
