# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The parts of the cost sheet on listings that are written here by hand: reading, registers, loops, the mix, bytes in
flight, occupancy, grids, bounds. Faults that are planted have to be found, and what is no listing has to be refused. It
needs neither ptxas nor nvdisasm."""

import functools
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test" / "Support"), str(ROOT / "scripts" / "cost_sheet")]
import checks  # noqa: E402
import chips  # noqa: E402
import flight  # noqa: E402
import kernels  # noqa: E402
import loops  # noqa: E402
import mix  # noqa: E402
import model  # noqa: E402
import node_sizes  # noqa: E402
import opcodes  # noqa: E402
import ranges  # noqa: E402
import registers  # noqa: E402
import report  # noqa: E402
import sass  # noqa: E402
import sheet  # noqa: E402
import streams  # noqa: E402


def listing(*lines, name="kernel"):
    """As nvdisasm writes it: labels end with a colon, all else are instructions."""
    text, address = [f"\t.section\t.text.{name},\"ax\",@progbits", f"        .global         {name}", f"{name}:",
                     f".text.{name}:"], 0
    for line in lines:
        if line.endswith(":"):
            text.append(line)
        else:
            text.append(f"        /*{address:04x}*/  {line} ;")
            address += 16
    return "\n".join([*text, ""])


def code(*lines):
    return sass.parse(listing(*lines))[0]


def instruction(text):
    return code(text).instructions[0]


def expect(found, expected, what):
    return [] if found == expected else [f"{what}: expected {expected}, found {found}"]


def refused(error, function, *arguments):
    try:
        function(*arguments)
    except error as message:
        return [] if str(message) else ["an error without a message"]
    return [f"{arguments} is not refused"]


# A copy of four f32 for each thread and iteration: reads the tensor at 0x210, writes that at 0x218.
COPY = ["LDC.64 R2, c[0x0][0x210]", "LDC.64 R8, c[0x0][0x218]", "S2R R13, SR_TID.X", "ULDC UR6, c[0x0][0x0]", ".L_x_0:",
        "IMAD.WIDE.U32 R14, R13, 0x10, R2", "LDG.E.128 R4, desc[UR4][R14.64]", "IMAD.WIDE.U32 R10, R13, 0x10, R8",
        "VIADD R13, R13, UR6",
        "ISETP.GE.U32.AND P0, PT, R13, 0x400000, PT", "FADD R4, R4, R4", "STG.E.128 desc[UR4][R10.64], R4",
        "@!P0 BRA `(.L_x_0)", "EXIT"]
TENSOR = kernels.Tensor((4096, 4096), 4)


def compiled(lines, spills=0, register_count=32, kind="elementwise", launch=None):
    launch = launch or {"level": "thread", "axes": 2, "elements": 4}
    return kernels.Compiled("kernel", kind, [TENSOR], [TENSOR], {0: 0, 8: 1}, 0, launch, register_count, spills, 0,
                            code(*lines))


def bounds_missed(lines, **options):
    kernel = compiled(lines, **options)
    return [miss.bound for miss in model.misses(kernel, sheet.make(kernel, "sm_90a"))]


def check_reading(_):
    found = instruction("@!P0 LDG.E.128 R4, desc[UR4][R14.64+0x10]")
    yield from expect((found.guard, found.opcode, found.operands),
                      ("!P0", "LDG.E.128", ("R4", "desc[UR4][R14.64+0x10]")), "a guarded load")
    yield from expect(instruction("LDC.64 R2, c[0x0][0x210]").operands, ("R2", "c[0x0][0x210]"), "a constant")
    yield from expect(instruction("NOP").operands, (), "no operands")
    yield from expect(instruction('STL.64 [R1+0x18], R8          (*"SpillRefill"*)').operands, ("[R1+0x18]", "R8"),
                      "a note")
    two = sass.parse(listing("EXIT", name="a") + listing("NOP", "EXIT", name="b"))
    yield from expect([(kernel.name, len(kernel.instructions)) for kernel in two], [("a", 1), ("b", 2)], "two kernels")


def check_malformed(_):
    for text in ("", "nothing of the kind", ".section .data", listing(), listing("EXIT").replace(" ;", ""),
                 listing("EXIT") + "garbage\n",
                 listing("BRA `(.L_x_9)", "EXIT"), listing(".L_x_0:", "EXIT", ".L_x_0:", "EXIT"),
                 listing("LDG.E R0, [R2", "EXIT"),
                 listing("BRA `(.L_x_0)", ".L_x_0:")):
        yield from refused(sass.MalformedListing, sass.parse, text)
    yield from refused(ValueError, loops.Graph, code("BRX R2 -0x10", "EXIT"))
    yield from refused(opcodes.UnknownOpcode, opcodes.unit_of, instruction("FROBNICATE R0, R1"))
    yield from refused(ValueError, registers.reads, instruction("HMMA.777.F32 R0, R4, R8, R0"))
    yield from refused(sass.MalformedListing, ranges.disagreements, listing("EXIT"))


# What an instruction reads and writes, by the descriptions of the instruction set.
REGISTERS = [
    ("IADD3 R4, P0, R2, R6, RZ", "R2 R6", "P0 R4"),
    ("IADD3.X R5, R3, R7, RZ, P0, !PT", "P0 R3 R7", "R5"),
    ("IMAD.WIDE.U32 R14, R13, 0x10, R2", "R13 R2 R3", "R14 R15"),
    ("IMAD.WIDE.U32 R14, P0, R13, 0x10, R2", "R13 R2 R3", "P0 R14 R15"),
    ("IMAD.HI.U32 R5, R5, R7, R4", "R4 R5 R7", "R5"),
    ("LDG.E.128 R4, desc[UR4][R14.64]", "R14 R15 UR4 UR5", "R4 R5 R6 R7"),
    ("STG.E.64 [R2.64+0x10], R8", "R2 R3 R8 R9", ""),
    ("LDS.U16 R3, [R4+0x2]", "R4", "R3"),
    ("@P1 ISETP.GE.U32.AND P0, PT, R13, UR4, P2", "P1 P2 R13 UR4", "P0"),
    ("LOP3.LUT P0, RZ, R15, 0x7fffffff, R0, 0xc8, !PT", "R0 R15", "P0"),
    ("SHFL.BFLY PT, R5, R4, 0x10, 0x1f", "R4", "R5"),
    ("DFMA R2, R4, R6, -R8", "R4 R5 R6 R7 R8 R9", "R2 R3"),
    ("DSETP.GT.AND P0, PT, R2, |R4|, PT", "R2 R3 R4 R5", "P0"),
    ("F2F.F64.F32 R2, R9", "R9", "R2 R3"),
    ("F2F.F32.F64 R2, R8", "R8 R9", "R2"),
    ("I2F.S64 R2, R8", "R8 R9", "R2"),
    ("FSEL R1, R2, R3.reuse, !P0", "P0 R2 R3", "R1"),
    ("FCHK P0, R4, R6", "R4 R6", "P0"),
    ("HMMA.16816.F32.BF16 R0, R4, R8, R0", "R0 R1 R2 R3 R4 R5 R6 R7 R8 R9", "R0 R1 R2 R3"),
    ("HMMA.1688.F32.TF32 R0, R4, R8, RZ", "R4 R5 R6 R7 R8 R9", "R0 R1 R2 R3"),
    ("IMMA.16832.S8.S8 R0, R4.ROW, R8.COL, R0", "R0 R1 R2 R3 R4 R5 R6 R7 R8 R9", "R0 R1 R2 R3"),
    ("LDSM.16.MT88.4 R4, [R2+0x100]", "R2", "R4 R5 R6 R7"),
    ("LDGSTS.E.BYPASS.128 [R17+0x800], desc[UR8][R14.64]", "R14 R15 R17 UR8 UR9", ""),
    ("CS2R R2, SRZ", "", "R2 R3"),
    ("P2R R0, PR, RZ, 0x1", "P0 P1 P2 P3 P4 P5 P6", "R0"),
]


def check_registers(_):
    for text, reads, writes in REGISTERS:
        found = instruction(text)
        yield from expect(sorted(registers.reads(found)), sorted(reads.split()), f"reads of {text}")
        yield from expect(sorted(registers.writes(found)), sorted(writes.split()), f"writes of {text}")


def check_ranges(_):
    """What a listing with life ranges says otherwise is found."""
    head = "// |  GPR      | PRED |\n // |  # 0123   | # 01 |\n"
    line = "        /*0000*/   FADD R0, R1, R2 ;   // |  3 {}    |      |\n"
    text = "\t.section\t.text.k\n" + head + line
    yield from expect(ranges.disagreements(text.format("^vv ")), (1, []), "an equal line")
    yield from expect(len(ranges.disagreements(text.format("^v v"))[1]), 1, "another register")


def check_loops(_):
    nested = code("NOP", ".L_x_0:", "NOP", ".L_x_1:", "NOP", "@P0 BRA `(.L_x_1)", "@P1 BRA `(.L_x_0)", "EXIT")
    outer, = loops.Graph(nested).loops
    yield from expect((len(outer.inner), sorted(outer.inner[0].blocks), 1 in outer.own()), (1, [2], True),
                      "a loop in a loop")
    yield from expect(loops.Graph(code("@P0 BRA `(.L_x_0)", "NOP", ".L_x_0:", "EXIT")).loops, [], "a branch forwards")
    endless = code("NOP", "EXIT", ".L_x_0:", "BRA `(.L_x_0)")
    yield from expect(loops.Graph(endless).loops, [], "the loop after the end of each kernel")
    left = code(".L_x_0:", "NOP", "@P0 CALL.REL.NOINC `(.L_x_1)", "BRA `(.L_x_0)", ".L_x_1:", "EXIT")
    yield from expect(len(loops.Graph(left).loops), 1, "a loop that is left by a call")
    called = code("CALL.REL.NOINC `($slow)", "EXIT", "$slow:", "NOP", "RET.REL.NODEC R2 `(kernel)")
    yield from expect(loops.Graph(called).reached, {0, 1}, "a function is no part of the kernel")
    diverging = code("BSSY B0, `(.L_x_1)", "@P0 BRA `(.L_x_0)", "NOP", ".L_x_0:", "BSYNC B0", ".L_x_1:", "EXIT")
    yield from expect(loops.Graph(diverging).successors[3], [4], "where threads meet")


def check_mix(_):
    copy = code(*COPY)
    accessed, from_data = streams.trace(loops.Graph(copy), {0x210: 0, 0x218: 1})
    body = copy.instructions[4:11]
    yield from expect([accessed[body[1].address], accessed[body[6].address]], [{0}, {1}],
                      "tensors of a load and a store")
    yield from expect(mix.index_integers(body, from_data), 4, "integers for places")
    yield from expect(dict(mix.accesses(body)), {"loads": 16, "stores": 16}, "bytes")
    # One side of a branch replaces what was loaded, and after it both sides count as data.
    packed = code("LDG.E R4, [R2.64]", "ISETP.GE.AND P0, PT, R4, RZ, PT", "@P0 BRA `(.L_x_0)", "MOV R4, 0x1", ".L_x_0:",
                  "SHF.L.U32 R5, R4, 0x10, RZ", "@P0 LOP3.LUT R6, R7, 0xffff, RZ, 0xc0, !PT", "IADD3 R2, R2, 0x4, RZ",
                  "EXIT")
    _, from_data = streams.trace(loops.Graph(packed), {})
    yield from expect(mix.index_integers(packed.instructions, from_data), 1,
                      "integers that work on loaded data are for no places")
    for text, expected in (("HMMA.16816.F32 R0, R4, R8, R0", 2048), ("HMMA.1688.F32.TF32 R0, R4, R8, R0", 2048),
                           ("IMMA.16832.S8.S8 R0, R4, R8, R0", 2048),
                           ("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR4], R24", 65536)):
        yield from expect(mix.products([instruction(text)]), expected, text)


def check_flight(_):
    loaded = lambda each: opcodes.access_bytes(each) if opcodes.is_load(each) else 0  # noqa: E731
    waits = lambda *lines: flight.loaded_per_wait(code(*lines).instructions, loaded)  # noqa: E731
    first, second = "LDG.E.128 R4, [R2.64]", "LDG.E.128 R8, [R2.64+0x10]"
    yield from expect(waits(first, second, "FADD R0, R4, R8"), 32, "two loads and one wait")
    yield from expect(waits(first, "FADD R0, R4, R4", second, "FADD R0, R8, R8"), 16, "a wait after each load")
    yield from expect(waits(first, second, "FADD R0, R4, R4", "FADD R0, R8, R8"), 32,
                      "what was loaded together arrives together")
    yield from expect(waits("FADD R0, R4, R8", first, second), 32, "loads for the next iteration")
    copied = lambda each: 16 if each.base == "LDGSTS" else 0  # noqa: E731
    copy = "LDGSTS.E.BYPASS.128 [R5], [R2.64]"
    stages = lambda left: flight.async_per_wait(code(copy, "LDGDEPBAR", f"DEPBAR.LE SB0, {left}").instructions,
                                                copied)  # noqa: E731
    yield from expect((stages("0x0"), stages("0x2")), (16, 48), "copies of a pipeline")
    yield from expect(flight.async_per_wait(code(copy).instructions, copied), None, "copies that nothing waits for")


def check_occupancy(_):
    """By the CUDA occupancy calculator: registers, threads and shared memory of a block, and the blocks that fit."""
    for chip, given, expected in (("sm_90a", (32, 0, 256), 8), ("sm_90a", (255, 0, 256), 1),
                                  ("sm_90a", (128, 0, 256), 2), ("sm_90a", (40, 0, 256), 6),
                                  ("sm_90a", (168, 213056, 384), 1), ("sm_80", (32, 80 << 10, 128), 2),
                                  ("sm_80", (32, 100 << 10, 128), 1),
                                  ("sm_90a", (16, 0, 32), 32), ("sm_80", (16, 0, 1024), 2)):
        yield from expect(chips.resident_blocks(chips.CHIPS[chip], *given), expected, f"{chip} {given}")
    yield from refused(ValueError, chips.resident_blocks, chips.H100, 300, 0, 256)
    yield from refused(ValueError, chips.resident_blocks, chips.H100, 32, 0, 2048)


def check_grids(_):
    """A launch as lib/Conversion/HostToLLVM/Launches/DeviceGrid.cpp counts it, by hand."""
    for launch, expected in (({"level": "thread", "axes": 2, "elements": 4}, (16384, 256)),
                             ({"level": "warp", "axes": 1}, (512, 256)),
                             ({"level": "block", "axes": 1, "threads_per_block": 512}, (4096, 512)),
                             ({"level": "thread", "axes": 0}, (1, 32)),
                             ({"level": "block", "axes": 0, "grid_size": 512, "persistent_blocks": 1,
                               "cluster_size": 2}, (132, 256)),
                             ({"level": "block", "axes": 2, "tile": [128, 256]}, (512, 256))):
        yield from expect(compiled(COPY, launch=launch).grid(132), expected, f"grid of {launch}")


def check_sheet(_):
    found = sheet.make(compiled(COPY), "sm_90a")
    yield from expect((found.warps, found.in_flight, found.main.elements), (64, 2 * 2048 * 16, 4),
                      "a copy of 16 bytes by 2048 threads, stores in proportion")
    yield from expect(found.per_element["index integers"], 1, "integers for places per element")
    yield from expect(max(found.clocks, key=found.clocks.get), "memory", "what limits a copy")
    yield from expect(bounds_missed(COPY), [], "bounds that a copy misses")
    text = report.text(compiled(COPY), found)
    yield from expect([part in text for part in ("16384 blocks of 256 threads", "32 registers", "65536 bytes",
                                                 "MISSED")], [True] * 3 + [False], text)


# Dividing by a dynamic number, as ptxas writes it, 32 bits wide.
DIVISION = ["I2F.U32.RP R20, UR6", "MUFU.RCP R20, R20", "VIADD R21, R20, 0xffffffe", "F2I.FTZ.U32.TRUNC.NTZ R22, R21",
            "IMAD R23, R22, UR7, RZ",
            "IMAD.HI.U32 R24, R22, R23, R22", "IMAD.HI.U32 R24, R24, R13, RZ", "IMAD.MOV R25, RZ, RZ, -R24",
            "IMAD R26, R25, UR6, R13",
            "ISETP.GE.U32.AND P1, PT, R26, UR6, PT", "@P1 IADD3 R26, R26, -UR6, RZ", "@P1 VIADD R24, R24, 0x1",
            "ISETP.GE.U32.AND P2, PT, R26, UR6, PT", "@P2 VIADD R24, R24, 0x1", "LOP3.LUT R24, R24, 0x1, RZ, 0xc0, !PT",
            "IMAD R13, R24, UR6, R26"]


def check_faults(_):
    """Each planted fault misses its bounds, and no other ones."""
    narrow = [line.replace(".128", "").replace("0x10,", "0x4,") for line in COPY]
    yield from expect(bounds_missed(narrow, launch={"level": "thread", "axes": 2}),
                      ["bytes in flight", "index integers"], "loads of 4 bytes")
    yield from expect(bounds_missed([*COPY[:5], *DIVISION, *COPY[5:]]), ["index integers"], "a division in the loop")
    yield from expect(bounds_missed(COPY, spills=64), ["spilled bytes"], "spilled registers")
    local = [*COPY[:10], "STL [R1+0x8], R13", "LDL R13, [R1+0x8]", *COPY[10:]]
    yield from expect(bounds_missed(local), ["local accesses"], "a register that is kept in memory")
    yield from expect(bounds_missed([*COPY[:10], "MEMBAR.ALL.GPU", *COPY[10:]]), ["fences in loops"],
                      "a fence in the loop")
    yield from expect(bounds_missed([*COPY[:4], "MEMBAR.ALL.GPU", *COPY[4:]]), [], "a fence before the loop")
    yield from expect(bounds_missed(COPY, register_count=168), ["bytes in flight"],
                      "registers that leave room for one block")
    product = ["HMMA.16816.F32 R0, R4, R8, R0", "IADD3 R30, R30, 0x1, RZ", "@P0 BRA `(.L_x_0)", "EXIT"]
    yield from expect(bounds_missed([".L_x_0:", *product], kind="contraction"), [], "products of tensor cores")
    slow = [".L_x_0:", *["LDS.128 R4, [R30]"] * 4, *product]
    yield from expect(bounds_missed(slow, kind="contraction"), ["share of products"],
                      "products that wait for shared memory")


def division_of(text, suffix="partial_sizes"):
    """What the compiler writes for the host next to the divided kernel of a program, or to a sort."""
    done = subprocess.run([kernels.find_opt(), "-", "--ad-to-cpu-frontend=numerics=strict", "--ad-to-gpu-fusion",
                           "--ad-to-gpu-kernels", "--ad-emit-gpu"], input=text, capture_output=True, text=True, check=True)
    [function] = node_sizes.functions(done.stdout, suffix).values()
    return function


def check_merges(_):
    """As often as a tile of 8192 items, 4096 of 64 bits, is doubled to hold the line; half a tile where the length is open."""
    for line, kind, size, merges in (("8193", "f32", 0, 1), ("16385", "f32", 0, 2), ("1048576", "bf16", 0, 7),
                                     ("1048577", "i32", 0, 8), ("1048576", "f64", 0, 8), ("?", "f32", 0, 0),
                                     ("?", "f32", 4096, 0), ("?", "f32", 4097, 1), ("?", "i64", 4097, 2)):
        given, order = f"tensor<3x{line}x{kind}>", f"tensor<3x{line}xi64>"
        text = f"func.func @main(%a: {given}) -> {order} {{\n  %y = ad.argsort %a axis 1 : {given}\n  return %y : {order}\n}}\n"
        function = division_of(text, "run_sizes")
        yield from expect(node_sizes.merges(function, size), merges, f"launches for {line} ({size}) {kind}")


def check_divided_launches(_):
    """The blocks of decisions 0018 and 0050, for 132 multiprocessors."""
    def program(operation, types):
        inputs = ", ".join(f"%{name}: tensor<{kind}>" for name, kind in zip("ab", types))
        listed, result = ", ".join(f"tensor<{kind}>" for kind in types[:-1]), f"tensor<{types[-1]}>"
        listed = f"({listed})" if len(types) == 3 else listed
        types = f"{listed} -> {result}" if operation != "ad.argmax %a axis 1" else listed
        inputs = inputs if len(types) == 3 or "%b" in operation else inputs.split(",")[0]
        return f"func.func @main({inputs}) -> {result} {{\n  %y = {operation} : {types}\n  return %y : {result}\n}}\n"

    def grid(name, operation, types, launch):
        result = [int(size) for size in types[-1].split("x")[:-1]]
        division = division_of(program(operation, types))
        return kernels.Compiled(name, "divided", [], [kernels.Tensor(tuple(result), 4)], {}, 1, launch, 32, 0, 0, None,
                                nodes=functools.partial(node_sizes.evaluate, division, kernels.UNKNOWN_SIZE)).grid(132)

    nodes, columns = {"level": "thread", "axes": 0}, ("ad.reduce_sum %a axes [0]", ["65536x1024xf32", "1024xf32"])
    yield from expect(grid("k$partial", *columns, nodes), (512, 256), "nodes of columns")
    yield from expect(grid("k$merge", *columns, {"level": "warp", "axes": 1}), (342, 96), "joined columns")
    yield from expect(grid("k$partial", "ad.reduce_sum %a axes [0]", [f"{1 << 26}xf32", "f32"],
                           {**nodes, "threads_per_element": 16}), (512, 256), "nodes of a row")
    yield from expect(grid("k$partial", "ad.argmax %a axis 1", ["16x4000000xf32", "16xi64"], nodes), (489, 256),
                      "nodes of an argmax")
    # 16 x 8 tiles of 64 x 64, and two of them for each multiprocessor; 16 tiles of 16 x 256, and eight blocks of K.
    tiles = {"level": "block", "axes": 0, "grid_size": 128}
    yield from expect(grid("k$partial", "ad.dot %a, %b contract [0] x [0]",
                           ["4096x1024xf32", "4096x512xf32", "1024x512xf32"], tiles), (256, 256), "nodes of a product")
    yield from expect(grid("k$partial", "ad.dot %a, %b", ["8x4096xf32", "4096x4096xf32", "8x4096xf32"], tiles),
                      (128, 256), "nodes of a product with few rows")


def check_evaluation(_):
    """By hand: dynamic sizes count as given, what is not divided has nodes of a leaf."""
    text = """  func.func private @k$partial_sizes(%arg0: !llvm.ptr, %arg1: index, %arg2: index) -> (index, index, index) {
    %c2 = arith.constant 2 : index
    %c-1_i64 = arith.constant -1 : i64
    %true = arith.constant true
    %0 = arith.ceildivui %arg1, %arg2 : index
    %1 = arith.index_cast %0 : index to i64
    %2 = "llvm.intr.ctlz"(%1) <{is_zero_poison = false}> : (i64) -> i64
    %3 = arith.cmpi ugt, %arg1, %c2 : index
    %4 = arith.select %3, %2, %1 : i64
    %5 = arith.cmpi ult, %arg1, %c2 : index
    %6 = arith.select %5, %c2, %0 : index
    return %6, %4, %arg2 : index, index, index
  }
"""
    [function] = node_sizes.functions(text).values()
    yield from expect(node_sizes.evaluate(function, 100, 7), (15, 60, 7), "100 by 7 are 15, of four bits")
    yield from expect(node_sizes.evaluate(function.replace("ult", "uge").replace("%c2, %0", "%c2, %c2").replace(
        "constant 2", "constant 0"), 100, 7), (1, 60, 7), "no leaves")
    yield from refused(node_sizes.Unknown, node_sizes.evaluate, function.replace("ceildivui", "floordivsi"), 100, 7)


def check_signatures(_):
    text = """  ad.kernel private @f(%arg0: tensor<8x?xf32>, %arg1: index, %arg2: f32, %arg3: tensor<bf16>) -> (tensor<8xi1>, tensor<?xf64>) attributes {a} {
    linalg.generic {iterator_types = ["parallel", "reduction"]}
    ad.yield %0, %1
  }
"""
    operands, results, places, sums = kernels.signatures(text)["f"]
    yield from expect([(tensor.shape, tensor.element_bytes) for tensor in [*operands, *results]],
                      [((8, kernels.UNKNOWN_SIZE), 4), ((), 2), ((8,), 1), ((kernels.UNKNOWN_SIZE,), 8)], "tensors")
    yield from expect((places, sums), ({0: 0, 32: 1, 40: 2, 48: 3}, 1), "places of pointers, and sums")
    yield from refused(kernels.ToolFailure, kernels.parse_tensor, "memref<4xf32>")


def check_works(_):
    remarks = """x.mlir:3:1: remark: [Passed] row-class | Category:ad-gpu | kernel=f, threads=32, work="68 bytes, 48 operations"
x.mlir:4:1: remark: [Missed] generic-class | Category:ad-gpu | kernel="a, b", reason="it, too", work="8 bytes, 0 operations"
x.mlir:5:1: remark: [Passed] row-class | Category:ad-gpu | kernel=open"""
    yield from expect(kernels.works(remarks), {"f": (68, 48), "a, b": (8, 0)}, "works")


def check_constants_of_the_compiler(_):
    """The cost sheet repeats constants of the compiler, which does not export them."""
    headers = ["include/adjoint/Codegen/Kernel/Grid.h", "include/adjoint/Codegen/Target/Chips.h"]
    text = " ".join((ROOT / header).read_text() for header in headers)
    constants = {}
    for name, value in re.findall(r"\b(k\w+) = ([\w *]+)[,;]", text):
        terms = [constants.get(term, term) for term in value.split(" * ")]
        if all(str(term).isdigit() for term in terms):
            constants[name] = math.prod(map(int, terms))
    for name, value in (("kBlockThreads", kernels.BLOCK_THREADS), ("kMaxBlocks", kernels.MAX_BLOCKS),
                        ("kWarpThreads", kernels.WARP), ("kWarpThreads", chips.WARP),
                        ("kRegistersPerSM", chips.REGISTERS), ("kDefaultSMCount", chips.H100.sm_count)):
        yield from expect(value, constants.get(name), name)


CHECKS = {name.removeprefix("check_"): function for name, function in list(globals().items())
          if name.startswith("check_")}

if __name__ == "__main__":
    sys.exit(checks.run_checks("cost_sheet_test", list(CHECKS.items())))
