# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What the code of attention on tensor cores costs, by ptxas and nvdisasm: no registers are spilled in its loop, blocks have
no more shared memory than every chip has, and instructions of tensor cores have a share of the code, slow paths of
exponentials and divisions included, that does not fall. Nothing is measured: no GPU has run it. Skipped without ptxas.
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
# (heads, length, depth, words): the bytes that may be spilled, and the least share of instructions that are those of
# tensor cores.
CASES = {(8, 1024, 64, ""): (0, 0.03), (16, 8192, 128, " causal"): (64, 0.05)}


def compiled(case, chip):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.mlir"
        heads, length, depth, words = case
        path.write_text(cost_cases.attention(heads, length, depth, "bf16", words))
        return kernels.compile_module(path, chip, "strict")[0]


def check(case, chip, _folder):
    found = compiled(case, chip)
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
    _, length, depth, _ = case
    products = 2 * 256 // 8 * depth // 16  # of a warp's rows and a chunk
    if tensor != products:
        yield f"{tensor} instructions of tensor cores, expected {products}"
    if tensor < share * len(opcodes):
        yield f"{tensor} of {len(opcodes)} instructions are those of tensor cores, expected a share of {share}"


if __name__ == "__main__":
    try:
        kernels.find_ptxas(), kernels.find_nvdisasm()
    except kernels.ToolFailure as error:
        print(f"attention costs: skipped, {error}\nattention costs: 1 run, 0 failed")
        sys.exit(0)
    sys.exit(checks.run_checks("attention costs", [
        (f"{case} on {chip}", functools.partial(check, case, chip)) for case in CASES for chip in CHIPS]))
