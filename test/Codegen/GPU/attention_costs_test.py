# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the code of attention and its gradient on tensor cores costs, by ptxas and nvdisasm: no registers are spilled in its loop, blocks have
no more shared memory than every chip has, and instructions of tensor cores have a share of the code, slow paths of
exponentials and divisions included, that does not fall. Few queries have three kernels of any type,
which spill nothing, either. Nothing is measured: no GPU has run it. Skipped without ptxas.
Closes with `attention costs: N run, N failed`."""

import functools
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "test/Codegen/GPU/Inputs"), str(ROOT / "scripts/cost_sheet")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import cost_cases  # noqa: E402
import kernels  # noqa: E402

SHARED_BYTES = 99 * 1024
CHIPS = ("sm_80", "sm_90a", "sm_100")
# Of a program and (heads, length, depth, words): the bytes that may be spilled, and the least share of instructions that
# are those of tensor cores.
FORWARD, GRADIENT = cost_cases.attention, cost_cases.attention_grad
CASES = {(FORWARD, 8, 1024, 64, ""): (0, 0.03), (FORWARD, 16, 8192, 128, " causal"): (64, 0.05),
         (GRADIENT, 8, 1024, 64, ""): (0, 0.03), (GRADIENT, 16, 8192, 128, " causal"): (0, 0.03)}


# (heads, groups, queries, keys, depth, element, words) with a cache: one row, 16 in a tile, several tiles; rows that end
# in a vector, and those of several blocks of the order.
FEW = [(8, 8, 1, 4096, 64, "f32", ""), (32, 8, 4, 8192, 128, "bf16", " chunk 256"), (8, 1, 8, 20000, 128, "f32", ""),
       (4, 1, 2, 4096, 96, "f64", ""), (16, 1, 1, 5000, 20, "f16", ""), (2, 1, 8, 4096, 128, "f8E4M3FN", " chunk 512"),
       (2, 2, 3, 3000, 700, "f32", "")]


# Of an f64, whose exponential ptxas calls functions for.
SPILLS_OF_FEW = {"f64": 16}


def compiled(text, chip):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        path.write_text(text)
        return kernels.compile_module(path, chip, "strict")[0]


def products(program, depth):
    """Of 16 rows of a warp: with a chunk of 256 keys, twice. Of the gradient with a step of fewer rows: of tiles of keys
    four times, and of tiles of queries three times."""
    if program is FORWARD:
        return 2 * 256 // 8 * depth // 16
    step = 64 if depth <= 64 else 32
    return (4 + 3) * step // 8 * depth // 16


def check_few(case, chip, _folder):
    *_, depth, element, _ = case
    found = compiled(cost_cases.attention_with_cache(1, *case), chip)
    if sorted(kernel.name.split("$")[1] for kernel in found) != ["join", "parts", "scores"]:
        yield f"kernels {[kernel.name for kernel in found]}, expected those of scores, parts and what joins them"
    for kernel in found:
        if kernel.spills > SPILLS_OF_FEW.get(element, 0):
            yield f"{kernel.name} spills {kernel.spills} bytes of registers"
        if not 0 < kernel.shared <= SHARED_BYTES:
            yield f"{kernel.name}: {kernel.shared} bytes of shared memory, expected at most {SHARED_BYTES}"
        multiplies = any(each.opcode.startswith("HMMA") for each in kernel.code.instructions)
        if multiplies != (element in ("f16", "bf16") and depth % 16 == 0 and not kernel.name.endswith("$join")):
            yield f"{kernel.name} {'uses' if multiplies else 'does not use'} tensor cores"


def check(case, chip, _folder):
    program, heads, length, depth, words = case
    found = compiled(program(heads, length, depth, "bf16", words), chip)
    if len(found) != 1:
        yield f"{len(found)} kernels, expected 1"
        return
    kernel, (spills, share) = found[0], CASES[case]
    if kernel.spills > spills:
        yield f"{kernel.spills} bytes of registers are spilled, expected at most {spills}"
    if not 0 < kernel.shared <= SHARED_BYTES:
        yield f"{kernel.shared} bytes of shared memory, expected at most {SHARED_BYTES}"
    opcodes = [each.opcode for each in kernel.code.instructions]
    tensor = sum(opcode.startswith("HMMA") for opcode in opcodes)
    if tensor != products(program, depth):
        yield f"{tensor} instructions of tensor cores, expected {products(program, depth)}"
    if tensor < share * len(opcodes):
        yield f"{tensor} of {len(opcodes)} instructions are those of tensor cores, expected a share of {share}"


if __name__ == "__main__":
    try:
        kernels.find_ptxas(), kernels.find_nvdisasm()
    except kernels.ToolFailure as error:
        print(f"attention costs: skipped, {error}\nattention costs: 1 run, 0 failed")
        sys.exit(0)
    sys.exit(checks.run_checks("attention costs", checks.sample([
        (f"{getattr(case[0], '__name__', '')} {case} on {chip}", functools.partial(judge, case, chip))
        for judge, cases in ((check, CASES), (check_few, FEW)) for case in cases for chip in CHIPS], 4)))
