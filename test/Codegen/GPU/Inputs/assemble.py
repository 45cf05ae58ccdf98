# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""assemble.py PTXAS: the kernels of programs as ptxas takes them, for the chips that ad-serialize-kernels knows: those
of contractions for every one.

Each kernel must assemble without a warning and, but for f64, without spilled registers; contractions on tensor cores
must have the instructions of their chip, and of no other one, and no fence of all memory in a loop. Prints the worst
registers and stack of each program."""

import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "test" / "Support"))
import checks  # noqa: E402

CHIPS = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100"]
ENDS = ["sm_80", "sm_100"]  # for the programs of other tests
# For programs without instructions that only some chips have: ptxas makes the same of them on the others.
APART = ["sm_80", "sm_90a", "sm_100"]
OF_CHIPS = ("products", "bytes")  # programs whose instructions differ from chip to chip
REGISTERS = 128  # of a thread: two blocks of 256 threads fit side by side
OF_LARGE_TILES = 168  # of contractions, one block of which takes a large tile of the result
OF_SUM_TILES = 255  # of those that threads multiply and add; one block of 256 threads may have so many
OF_WARP_TILES = 255  # of those on the tensor cores of warps; a tile of 64 x 64 has 128 accumulators in each thread
OF_PROMOTED_SUMS = 255  # of those with two sets of accumulators; one block of 256 threads may have so many
OF_SQUARES = 255  # of running sums along a few columns; one block of 256 threads may have so many
OF_ATTENTION = 255  # which has the scores of a chunk in registers, or one block of whose threads an SM has
OF_COLUMN_RUNS = 168  # of blocks of 32 threads, whose number on an SM shared memory limits
# ptxas keeps a register in memory over calls of its own function for 64-bit divisions.
SPILLS = {"f64": 16, "classes-f64": 16,
          # Attention with a mask of i1, while its elements are loaded.
          "attention-f16": 116, "attention-bf16": 116,
          # Its gradient by FMA, of few queries and with a softcap, while rows are staged.
          "attention-f64": 48, "attention-f8E4M3FN": 128, "attention-f8E5M2": 128}  # bytes, else none
# Where ptxas makes a product of 8-bit floats from conversions and products of f16, the K loop has no register left
# over for what the epilogue needs: it is in memory meanwhile, once for each tile.
SPILLS_OF_BYTES = {"sm_90": 80, "sm_90a": 80, "sm_100": 112}
FLOATS = ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2"]
INTEGERS = ["i8", "i32", "i64"]
PROGRAMS = ["unary-functions", "layer-norm", "cross-entropy", "sums-with-transposes", "fusion-convexity",
            "dynamic-broadcast"]
FILES = [*(ROOT / "test" / "Integration" / f"{name}.mlir" for name in PROGRAMS),
         *sorted((ROOT / "examples" / "digits").glob("*.mlir"))]


def of_floats(element):
    """Elementwise functions, a contraction, rows, columns and movement, of static and dynamic sizes."""
    t, s, r, v, d = (f"tensor<{shape}{element}>" for shape in ("64x96x", "96x40x", "64x40x", "64x", "?x96x"))
    return f"""func.func @main(%x: {t}, %w: {s}, %d: {d}) -> ({r}, {t}, {v}, tensor<96x{element}>, tensor<66x96x{element}>, {d}) {{
  %y = ad.dot %x, %w batch [] x [] contract [1] x [0] : ({t}, {s}) -> {r}
  %g = ad.gelu %y : {r}
  %p = ad.softmax %x axis 1 : {t}
  %a = ad.reduce_sum %x axes [1] : {t} -> {v}
  %c = ad.reduce_max %x axes [0] : {t} -> tensor<96x{element}>
  %i = ad.tan %x : {t}
  %m = ad.rem %i, %x : {t}
  %z = ad.constant dense<0.0> : tensor<{element}>
  %e = ad.pad %m, %z low [1, 0] high [1, 0] interior [0, 0] : {t}, tensor<{element}>
  %o = ad.softmax %d axis 1 : {d}
  return %g, %p, %a, %c, %e, %o : {r}, {t}, {v}, tensor<96x{element}>, tensor<66x96x{element}>, {d}
}}
"""


# Instructions that multiply and load operands: M, N and K of the products, all of one tile each, and what their code
# holds. Blocks of the first ones on warpgroups are clusters.
PRODUCTS = [(2048, 4096, 208), (2048, 1152, 208), (1160, 264, 80), (384, 16384, 208), (384, 5504, 208)]
CLUSTERS = 2
OF_UNKNOWN_SIZES = [("?", "?", "?")]
# Products by FMA with large tiles: of whole tiles and K tiles, and with remainders.
OF_SUMS_IN_ORDER = [(2048, 4096, 208), (2050, 4100, 211)]
OF_WARPGROUPS = ["wgmma.mma_async", "cp.async.bulk.tensor", "mbarrier.try_wait", "prefetch.param.tensormap"]
OF_CLUSTERS = [".reqnctapercluster 2, 1, 1", ".multicast::cluster", "mapa.shared::cluster",
               "mbarrier.arrive.shared::cluster.b64 _",
               "barrier.cluster.arrive", "barrier.cluster.wait"]
OF_WARPS = ["mma.sync", "cp.async.cg", "ldmatrix"]


def of_products(element, products=None, other=None):
    """Contractions with what belongs to their elements, for each tile and each order of the operands' axes."""
    text, other = "", other or element
    for number, (rows, columns, size_k) in enumerate(products or PRODUCTS):
        c, r = f"tensor<{rows}x{columns}x{element}>", f"tensor<{columns}x{element}>"
        for left, a in ((1, f"{rows}x{size_k}"), (0, f"{size_k}x{rows}")):
            for right, b in ((0, f"{size_k}x{columns}"), (1, f"{columns}x{size_k}")):
                a_type, b_type = f"tensor<{a}x{element}>", f"tensor<{b}x{other}>"
                text += f"""func.func @f{number}{left}{right}(%a: {a_type}, %b: {b_type}, %r: {r}) -> {c} {{
  %0 = ad.dot %a, %b batch [] x [] contract [{left}] x [{right}] : ({a_type}, {b_type}) -> {c}
  {f"%1 = ad.add %0, %r : {c}, {r}" if "?" not in c else ""}
  %2 = ad.{"neg" if element == "i8" else "gelu"} {"%1" if "?" not in c else "%0"} : {c}
  return %2 : {c}
}}
"""
    return text


def of_integers(element):
    t, v = f"tensor<64x96x{element}>", f"tensor<64x{element}>"
    return f"""func.func @main(%x: {t}, %y: {t}) -> ({t}, {v}, tensor<64x96xi1>, tensor<64xi64>) {{
  %m = ad.rem %x, %y : {t}
  %q = ad.div %m, %y : {t}
  %s = ad.reduce_sum %q axes [1] : {t} -> {v}
  %c = ad.compare lt %x, %y : {t}
  %a = ad.argmax %x axis 1 : {t}
  return %q, %s, %c, %a : {t}, {v}, tensor<64x96xi1>, tensor<64xi64>
}}
"""


def of_indices(element):
    """Lookups and scatters: rows of many and few columns, single elements, pairs of indices, batch axes, and dynamic
    sizes."""
    t, u, d, e, p = (f"tensor<{shape}{element}>" for shape in ("500x512x", "64x512x", "?x?x", "5000x", "64x"))
    i, b, o = "tensor<64xi32>", "tensor<500x3xi64>", "tensor<?xi32>"
    return f"""func.func @main(%t: {t}, %u: {u}, %e: {e}, %p: {p}, %i: {i}, %b: {b}, %d: {d}, %f: {d}, %o: {o})
    -> ({u}, {t}, {t}, {e}, {t}, tensor<500x3x{element}>, {d}) {{
  %r = ad.embedding %t, %i : {t}, {i}
  %n = ad.neg %r : {u}
  %s = ad.scatter add %t[%i], %u axes [0] slices [1] : {t}, {i}, {u}
  %m = ad.scatter max %t[%i], %u axes [0] slices [1] outside drop : {t}, {i}, {u}
  %q = ad.scatter add %e[%i], %p axes [0] outside clamp : {e}, {i}, {p}
  %w = ad.scatter set %t[%i, %i], %p axes [0, 1] outside drop : {t}, {i}, {i}, {p}
  %g = ad.gather %t[%b] axes [1] batch [0] x [0] outside fill : {t}, {b}
  %h = ad.scatter add %d[%o], %f axes [0] slices [1] : {d}, {o}, {d}
  return %n, %s, %m, %q, %w, %g, %h : {u}, {t}, {t}, {e}, {t}, tensor<500x3x{element}>, {d}
}}
"""


def of_classes(element):
    """Rows that fit into registers, short, long and of unknown length, backwards too; transpositions; runs of
    elements."""
    r, w, s, l, d, v = (f"tensor<{shape}{element}>" for shape in ("8x1024x", "1024x", "8x10x", "4x8192x", "?x?x",
                                                                  "1024x8x"))
    h, k = (f"tensor<{shape}{element}>" for shape in ("4x10244x", "10244x"))
    return f"""func.func private @norm(%x: {r}, %w: {w}) -> {r} {{
  %y = ad.layer_norm %x, %w, %w epsilon 1.0e-3 : {r}, {w}
  return %y : {r}
}}
func.func private @norm_long(%x: {h}, %w: {k}) -> {h} {{
  %y = ad.layer_norm %x, %w, %w epsilon 1.0e-3 : {h}, {k}
  return %y : {h}
}}
func.func @long(%x: {h}, %w: {k}) -> ({h}, {h}, {k}) {{
  %p = ad.log_softmax %x axis 1 : {h}
  %y, %dx, %dw = ad.vjp @norm_long(%x, %w) cotangents(%p) wrt [0, 1] : ({h}, {k}, {h}) -> ({h}, {h}, {k})
  return %p, %dx, %dw : {h}, {h}, {k}
}}
func.func @main(%x: {r}, %w: {w}, %s: {s}, %l: {l}, %d: {d}) -> ({r}, {r}, {w}, {s}, {l}, {d}, {v}, {d}, {r}, tensor<{element}>) {{
  %p = ad.softmax %x axis 1 : {r}
  %h, %dx, %dw = ad.vjp @norm(%x, %w) cotangents(%p) wrt [0, 1] : ({r}, {w}, {r}) -> ({r}, {r}, {w})
  %q = ad.log_softmax %s axis 1 : {s}
  %m = ad.softmax %l axis 1 : {l}
  %o = ad.softmax %d axis 1 : {d}
  %t = ad.transpose %x [1, 0] : {r}
  %u = ad.transpose %d [1, 0] : {d}
  %g = ad.gelu %x : {r}
  %e = ad.reduce_sum %w axes [0] : {w} -> tensor<{element}>
  return %p, %dx, %dw, %q, %m, %o, %t, %u, %g, %e : {r}, {r}, {w}, {s}, {l}, {d}, {v}, {d}, {r}, tensor<{element}>
}}
"""


# Along a few columns: whole squares, with a remainder, of tiles in parts; along many in parts.
RUNNING_SUMS = [("300x1024x2x", 1), ("70x12289x3x", 1), ("100000x5x", 0), ("6711x31x", 0)]


def of_running_sums(element):
    types = [f"tensor<{shape}{element}>" for shape, _ in RUNNING_SUMS]
    arguments = ", ".join(f"%x{number}: {kind}" for number, kind in enumerate(types))
    sums = "".join(f"  %y{number} = ad.cumsum %x{number} axis {axis} : {types[number]}\n"
                   for number, (_, axis) in enumerate(RUNNING_SUMS))
    values = ", ".join(f"%y{number}" for number in range(len(types)))
    return (f"func.func @main({arguments}) -> ({', '.join(types)}) {{\n{sums}"
            f"  return {values} : {', '.join(types)}\n}}\n")


# Before a few columns: all leaves in a warp, nodes, runs that begin anywhere, and two operands of one reduction.
COLUMN_RUNS = [("1024x4096x2x", 1), ("100000x3x", 0), ("3001x777x5x", 1), ("40000x100x17x", 1)]


def of_column_runs(element):
    arguments, results, lines = [], [], []
    for number, (shape, axis) in enumerate(COLUMN_RUNS):
        kept = "".join(f"{size}x" for place, size in enumerate(shape.split("x")[:-1]) if place != axis)
        operand, result = f"tensor<{shape}{element}>", f"tensor<{kept}{element}>"
        arguments += [f"%x{number}: {operand}", f"%y{number}: {operand}"]
        results += [(f"%s{number}", result), (f"%a{number}", f"tensor<{kept}i64>")]
        lines += [f"  %p{number} = ad.mul %x{number}, %y{number} : {operand}",
                  f"  %s{number} = ad.reduce_sum %p{number} axes [{axis}] : {operand} -> {result}",
                  f"  %a{number} = ad.argmax %x{number} axis {axis} : {operand}"]
    types = ", ".join(kind for _, kind in results)
    return (f"func.func @main({', '.join(arguments)}) -> ({types}) {{\n" + "\n".join(lines) +
            f"\n  return {', '.join(name for name, _ in results)} : {types}\n}}\n")


# Through boxes: odd, whole along one side, of several axes, with a batch, and of unknown sizes; and of short axes.
TRANSPOSITIONS = [("3001x2999x", (1, 0)), ("100000x33x", (1, 0)), ("95x54x42x77x", (2, 1, 3, 0)),
                  ("7000x44x36x", (0, 2, 1)), ("256x31x9x40x", (3, 1, 0, 2)), ("?x?x", (1, 0)), ("100000x5x", (1, 0))]


def of_transpositions(element):
    functions = ""
    for number, (shape, order) in enumerate(TRANSPOSITIONS):
        sizes = shape.split("x")
        given, moved = (f"tensor<{'x'.join(sizes[axis] for axis in axes)}x{element}>"
                        for axes in (range(len(order)), order))
        functions += (f"func.func @t{number}(%x: {given}) -> {moved} {{\n"
                      f"  %y = ad.transpose %x {list(order)} : {given}\n  return %y : {moved}\n}}\n")
    return functions


# Lines of a tile together, one that has a tile, one of several tiles, and those of unknown length.
SORTS = [("1000x100x", ""), ("512x2048x", " descending"), ("3x1000003x", ""), ("?x?x", " descending")]


def of_sorts(element):
    functions = ""
    for number, (shape, direction) in enumerate(SORTS):
        given, order = (f"tensor<{shape}{kind}>" for kind in (element, "i64"))
        functions += (f"func.func @s{number}(%x: {given}) -> {order} {{\n"
                      f"  %y = ad.argsort %x axis 1{direction} : {given}\n  return %y : {order}\n}}\n")
    return functions


# Of whole chunks and tiles, and of parts; of one query; with long chunks; with masks, and with open sizes; of few queries,
# whose keys are divided.
ATTENTION = [("2x8x1024x64x", "2x8x1024x64x", "", ""), ("2x6x300x48x", "2x2x300x48x", "", "causal window 100"),
             ("1x8x1x64x", "1x2x200x64x", "1x1x1x200xi1", ""), ("?x64x1x24x", "?x1x4000x24x", "", "softcap 30.0"),
             ("?x8x?x80x", "?x4x?x80x", "?x1x?x?x", "chunk 128"), ("1x2x300x520x", "1x2x300x520x", "", ""),
             ("1x8x1x64x", "1x8x3000x64x", "", ""), ("1x8x8x80x", "1x2x?x80x", "1x1x8x?x", "softcap 30.0 chunk 128"),
             ("1x2x20x20x", "1x2x5000x20x", "", "causal window 900")]


def of_attention(element):
    functions = ""
    for number, (of_queries, of_keys, of_mask, words) in enumerate(ATTENTION):
        if element in ("f16", "bf16") and ("4000" in of_keys or "520" in of_keys):
            continue  # their loops have tensor cores
        query, key = (f"tensor<{shape}{element}>" for shape in (of_queries, of_keys))
        mask = f"tensor<{of_mask}>" if of_mask.endswith("i1") else f"tensor<{of_mask}{element}>" if of_mask else ""
        functions += (f"func.func @a{number}(%q: {query}, %k: {key}{f', %m: {mask}' if mask else ''}) -> {query} {{\n"
                      f"  %y, %l = ad.attention %q, %k, %k{' mask %m' if mask else ''} {words} : {query}, {key}, {key}"
                      f"{f', {mask}' if mask else ''}\n  return %y : {query}\n}}\n")
        row = f"tensor<{of_queries.rsplit('x', 2)[0]}x{'f64' if element == 'f64' else 'f32'}>"
        functions += (f"func.func @g{number}(%q: {query}, %k: {key}, %l: {row}, %g: {query}{f', %m: {mask}' if mask else ''})"
                      f" -> ({query}, {key}, {key}) {{\n  %y:{4 if mask.endswith(f'{element}>') else 3} = ad.attention_grad"
                      f" %q, %k, %k, %l, %l, %g{' mask %m' if mask else ''} {words} : {query}, {key}, {key}, {row}, {row},"
                      f" {query}{f', {mask}' if mask else ''}\n  return %y#0, %y#1, %y#2 : {query}, {key}, {key}\n}}\n")
    return functions


def ptx_of(path, chip):
    numerics = "numerics=fast,narrow " if path.stem.startswith("products") else ""
    done = subprocess.run(["ad-opt", path, f"--ad-to-gpu={numerics}chip={chip}"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{path.name}: {done.stderr[:1000]}")
    found = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', done.stdout)
    unescape = lambda m: chr(int(m[1], 16)) if len(m[1]) == 2 else m[1]
    return re.sub(r"\\([0-9A-F]{2}|.)", unescape, found[1]) if found else None


# How many kernels of a program warpgroups have: rows of unknown length have no tensor maps, and what is no float of 16
# bits has to be K-major, as one of four orders has it.
BY_WARPGROUPS = {"products-bf16": 1, "products-f16": 1, "products-f32": 1 / 4, "products-i8": 1 / 4,
                 "products-unknown": 0}


def instructions_missed(stem, chip, kernels, by_warpgroups):
    """What is wrong with the units of a program's kernels."""
    share = BY_WARPGROUPS[stem] if chip == "sm_90a" else 0
    if len(by_warpgroups) != share * len(kernels):
        yield f"{len(by_warpgroups)} kernels of {len(kernels)} with {OF_WARPGROUPS[0]}"
    # Only chunks that tensor cores take in their order in memory are copied asynchronously and read as matrices.
    copied = {}
    for name, kernel in kernels.items():
        expected, others = (OF_WARPGROUPS, OF_WARPS) if name in by_warpgroups else (OF_WARPS, OF_WARPGROUPS)
        needed = expected if name in by_warpgroups or stem not in ("products-f32", "products-i8") else expected[:1]
        yield from (f"{name} without {text}" for text in needed if text not in kernel)
        yield from (f"{name} with {text}" for text in others if text in kernel)
        copied.update({text: True for text in expected if text in kernel})
    if len(by_warpgroups) != len(kernels):
        yield from (f"no kernel with {text}" for text in OF_WARPS if text not in copied)
    of_clusters = len(by_warpgroups) * CLUSTERS // len(PRODUCTS)
    for text in OF_CLUSTERS:
        if (found := sum(text in kernel for kernel in kernels.values())) != of_clusters:
            yield f"{found} kernels with {text}, expected {of_clusters}"


NVDISASM = pathlib.Path(sysconfig.get_path("purelib")) / "nvidia" / "cu13" / "bin" / "nvdisasm"
# What a fence of memory in the scope of clusters or of the GPU becomes.
FENCES = re.compile(r"MEMBAR\.(?!ALL\.CTA)\S*|ERRBAR|CCTL\.IVALL")


BYTES = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}


def byte_floats_missed(stem, chip, kernels):
    """Kernels of 8-bit floats without the instruction of their chip and types, or with another one."""
    types = ".".join(BYTES[element] for element in stem.split("-")[1:])
    own = f"m16n8k32.row.col.f32.{types}.f32" if chip not in ("sm_80", "sm_86") else "m16n8k16.row.col.f32.f16.f16.f32"
    for name, kernel in kernels.items():
        found = set(re.findall(r"mma\.sync\.aligned\.(\S+)", kernel))
        if found != {own}:
            yield f"{name} with {found or 'no products'}, expected {own}"


def successors(lines, labels, number):
    """The numbers of the lines that may follow one."""
    line = lines[number]
    instruction = re.match(r"\s+/\*[0-9a-f]+\*/\s+(@!?U?P\w+ )?\s*([A-Z]\S*)", line)
    jumps = instruction and re.match(r"BRA|BRX|JMP|BSSY|CALL|EXIT|RET", instruction[2])
    if jumps:  # BSSY names where BSYNC goes on
        yield from (labels[name] for name in re.findall(r"\.L_\w+", line) if name in labels)
    ends = jumps and not instruction[1] and re.match(r"(BRA|BRX|JMP)\b|EXIT|RET", instruction[2])
    if not ends and number + 1 < len(lines):
        yield number + 1


def is_in_loop(lines, labels, number):
    reached, next_ones = set(), list(successors(lines, labels, number))
    while next_ones:
        current = next_ones.pop()
        if current == number:
            return True
        if current not in reached:
            reached.add(current)
            next_ones += successors(lines, labels, current)
    return False


def fences_in_loops(code):
    """The fences of each function that may be run again and again, in text of nvdisasm."""
    for function in code.split(".section\t.text.")[1:]:
        lines = function.splitlines()
        labels = {label[1]: number for number, line in enumerate(lines) if (label := re.match(r"(\.L_\w+):", line))}
        for number, line in enumerate(lines):
            if (fence := FENCES.search(line)) and is_in_loop(lines, labels, number):
                yield f"{lines[0].split(',')[0]}: {fence[0]} in a loop"


def checked_code(cubin):
    """The fences in loops, and how many fences there are in all."""
    done = subprocess.run([NVDISASM, "-c", cubin], capture_output=True, text=True, check=True)
    return list(fences_in_loops(done.stdout)), len(FENCES.findall(done.stdout))


def complaints(ptxas, path, chip):
    """What is wrong with the program's kernels, and the most registers and bytes of stack that one has."""
    ptx = ptx_of(path, chip)
    if ptx is None:
        return [], (0, 0), 0
    cubin = path.parent / "kernels.cubin" if path.stem.startswith("products") and chip == "sm_90a" else "/dev/null"
    done = subprocess.run([ptxas, "-v", "-arch", chip, "-o", cubin, "-"], input=ptx, capture_output=True, text=True)
    text = done.stdout + done.stderr
    wrong = [line for line in text.splitlines() if re.search(r"error|fatal|warning|C75\d\d", line)]
    spills = max(map(int, re.findall(r"(\d+) bytes spill", text)), default=0)
    of_bytes = path.stem.startswith("bytes")
    if spills > (SPILLS_OF_BYTES.get(chip, 0) if of_bytes else SPILLS.get(path.stem, 0)):
        wrong.append(f"{spills} bytes of spilled registers")
    used = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", text, re.S)
    registers = [int(n) for _, n in used]
    stack = [int(n) for n in re.findall(r"(\d+) bytes stack frame", text)]
    if done.returncode and not wrong:
        wrong.append(f"exit code {done.returncode}: {text[:500]}")
    kernels = {text.split("(")[0]: text for text in ptx.split(".entry ")[1:]}
    by_warpgroups = {name for name, text in kernels.items() if OF_WARPGROUPS[0] in text}
    if path.stem.startswith("products"):
        wrong += instructions_missed(path.stem, chip, kernels, by_warpgroups)
    if of_bytes:
        wrong += byte_floats_missed(path.stem, chip, kernels)
    if cubin != "/dev/null" and not done.returncode:
        in_loops, fences = checked_code(cubin)
        wrong += in_loops
        if by_warpgroups and not fences:
            wrong.append("no fence at all, where clusters begin with one: nvdisasm writes what this test does not know")
    for kernel, n in used:
        most = OF_LARGE_TILES if kernel.startswith("dot") else REGISTERS
        if path.stem.startswith("products") and kernel not in by_warpgroups:
            most = OF_WARP_TILES
        if path.stem.startswith("running-sums"):
            most = OF_SQUARES
        if path.stem.startswith("column-runs"):
            most = OF_COLUMN_RUNS
        if path.stem.startswith("attention"):
            most = OF_ATTENTION
        if path.stem.startswith("in-order"):
            most = OF_SUM_TILES
        if of_bytes or path.stem.startswith("f8") and kernel.startswith("dot"):
            most = OF_PROMOTED_SUMS
        if int(n) > most:
            wrong.append(f"{n} registers of {kernel}, expected at most {most}")
    return wrong, (max(registers, default=0), max(stack, default=0)), len(registers)


def chips_for(path, is_own):
    """`is_own`: the program is one of this test."""
    return ENDS if not is_own else CHIPS if path.stem.startswith(OF_CHIPS) else APART


def main():
    ptxas, run, failed = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as name:
        paths = list(FILES)
        for element in FLOATS + INTEGERS:
            paths.append(pathlib.Path(name) / f"{element}.mlir")
            paths[-1].write_text((of_floats if element in FLOATS else of_integers)(element))
        for element in ("f32", "bf16", "f64"):
            paths.append(pathlib.Path(name) / f"indices-{element}.mlir")
            paths[-1].write_text(of_indices(element))
        for element in ("bf16", "f16", "f32", "i8"):
            paths.append(pathlib.Path(name) / f"products-{element}.mlir")
            paths[-1].write_text(of_products(element))
        for element in ("f32", "bf16"):
            paths.append(pathlib.Path(name) / f"in-order-{element}.mlir")
            paths[-1].write_text(of_products(element, OF_SUMS_IN_ORDER))
        for left, right, products in (("f8E5M2", "f8E4M3FN", PRODUCTS[:1]), ("f8E4M3FN", "f8E4M3FN", PRODUCTS[2:3])):
            paths.append(pathlib.Path(name) / f"bytes-{left}-{right}.mlir")
            paths[-1].write_text(of_products(left, products, right))
        for stem, element in (("products-unknown", "bf16"), ("unknown-f32", "f32"), ("unknown-f64", "f64")):
            paths.append(pathlib.Path(name) / f"{stem}.mlir")
            paths[-1].write_text(of_products(element, OF_UNKNOWN_SIZES))
        for element in ("f32", "bf16"):
            paths.append(pathlib.Path(name) / f"running-sums-{element}.mlir")
            paths[-1].write_text(of_running_sums(element))
        for element in ("f64", "f32", "bf16", "i8"):
            paths.append(pathlib.Path(name) / f"column-runs-{element}.mlir")
            paths[-1].write_text(of_column_runs(element))
            paths.append(pathlib.Path(name) / f"transpositions-{element}.mlir")
            paths[-1].write_text(of_transpositions(element))
        for element in FLOATS + INTEGERS:
            paths.append(pathlib.Path(name) / f"sorts-{element}.mlir")
            paths[-1].write_text(of_sorts(element))
        for element in FLOATS:
            paths.append(pathlib.Path(name) / f"attention-{element}.mlir")
            paths[-1].write_text(of_attention(element))
        for element in FLOATS:
            paths.append(pathlib.Path(name) / f"classes-{element}.mlir")
            paths[-1].write_text(of_classes(element))
        pairs = [(path, chip) for path in paths for chip in chips_for(path, path.parent == pathlib.Path(name))]
        for path, chip in checks.sample(pairs, 30):
            wrong, (registers, stack), kernels = complaints(ptxas, path, chip)
            run += kernels
            failed += bool(wrong)
            print(f"{path.stem} {chip}: {kernels} kernels, {registers} registers, {stack} bytes of stack")
            for line in wrong:
                print(f"  WRONG: {line}")
    print(f"kernels: {run} run, {failed} failed")
    return failed != 0 or run == 0


if __name__ == "__main__":
    sys.exit(main())
