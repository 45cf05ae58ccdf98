# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels of every class with fewer blocks than work, on the emulated GPU: a block that goes on to the next part of the
work, with shared memory that it has used, gives in every schedule the bits of the reference interpreter, with no
finding of the checks. Warpgroups have tests of their own (gpu_warpgroups_test.py).

Operands of contractions are small integers, whose sums are exact in any order."""

import functools
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402
from gpu_kernel import Kernel  # noqa: E402

SCHEDULES = [["eager"], ["lazy"], ["shuffled", "--seed", "1"], ["shuffled", "--seed", "2"]]
# The result of a sum is read with what it was made of, so that rows stay in shared memory until the row ends.
AGAIN = """%0 = ad.cast %x : {0} -> {y}
  %1 = ad.exp %0 : {y}
  %2 = ad.reduce_sum %1 axes [1] keep_dims : {y} -> tensor<3x1xf32>
  %3 = ad.div %1, %2 : {y}, tensor<3x1xf32>
  %y = ad.add %3, %0 : {y}"""
EPILOGUE = """%0 = ad.dot %x, %w : ({0}, {1}) -> {y}
  %1 = ad.relu %0 : {y}
  %y = ad.neg %1 : {y}"""
DOT = "%y = ad.dot %x, %w : ({0}, {1}) -> {y}"
BATCHED = "%y = ad.dot %x, %w batch [0] x [0] contract [2] x [2] : ({0}, {1}) -> {y}"
# Class, text, types of the operands %x and %w and of the result %y, chip, mode.
CASES = [
    *(("contraction", EPILOGUE, ["136x72x" + e, "72x200x" + e, "136x200xf32"], "sm_80", "fast")
      for e in ("bf16", "f16")),
    ("contraction", DOT, ["264x40xf16", "40x136xf16", "264x136xf16"], "sm_80", "fast"),
    ("contraction", BATCHED, ["3x72x64xbf16", "3x80x64xbf16", "3x72x80xbf16"], "sm_80", "fast"),
    ("contraction", BATCHED, ["2x136x96xi8", "2x72x96xi8", "2x136x72xi32"], "sm_80", "reproducible"),
    ("contraction", DOT, ["264x136xf32", "136x136xf32", "264x136xf32"], "sm_80", "fast,narrow"),
    ("contraction", EPILOGUE, ["136x70xf32", "70x200xf32", "136x200xf32"], "sm_80", "reproducible"),
    ("contraction", DOT, ["70x33xf64", "33x130xf64", "70x130xf64"], "sm_80", "reproducible"),
    ("contraction", BATCHED, ["3x72x40xbf16", "3x80x40xbf16", "3x72x80xbf16"], "sm_80", "reproducible"),
    ("row", AGAIN, ["3x8192xf16", "3x8192xf32"], "sm_80", "reproducible"),
    ("row", AGAIN, ["3x5002xbf16", "3x5002xf32"], "sm_80", "reproducible"),
    ("row", "%y = ad.softmax %x axis 1 : {0}", ["70x130xf32"] * 2, "sm_80", "reproducible"),
    ("row", "%y = ad.softmax %x axis 1 : {0}", ["5x4096xf32"] * 2, "sm_80", "reproducible"),
    ("row", "%y = ad.rms_norm %x, %w epsilon 1.0e-5 : {0}, {1}", ["37x1030xf32", "1030xf32", "37x1030xf32"], "sm_80",
     "reproducible"),
    ("row", "%y = ad.reduce_sum %x axes [1] : {0} -> {y}", ["300x77xf32", "300xf32"], "sm_80", "reproducible"),
    ("row", "%y = ad.reduce_max %x axes [1] : {0} -> {y}", ["40x3000xf32", "40xf32"], "sm_80", "reproducible"),
    ("elementwise", "%0 = ad.add %x, %w : {0}, {1}\n  %y = ad.gelu %0 : {0}", ["37x300xf32", "300xf32", "37x300xf32"],
     "sm_80", "reproducible"),
    ("elementwise", "%y = ad.mul %x, %x : {0}", ["40001xf16"] * 2, "sm_80", "reproducible"),
    ("elementwise", "%y = ad.cast %x : {0} -> {y}", ["33x1000xi8", "33x1000xf64"], "sm_80", "reproducible"),
    ("transposition", "%y = ad.transpose %x [1, 0] : {0}", ["130x270xf32", "270x130xf32"], "sm_80", "reproducible"),
    ("transposition", "%y = ad.transpose %x [0, 2, 1] : {0}", ["3x129x200xf16", "3x200x129xf16"], "sm_80",
     "reproducible"),
    ("transposition", "%y = ad.transpose %x [1, 0] : {0}", ["257x300xi8", "300x257xi8"], "sm_80", "reproducible"),
    ("generic", "%y = ad.reduce_sum %x axes [0] : {0} -> {y}", ["700x1000xf32", "1000xf32"], "sm_80", "reproducible"),
    ("scan", "%y = ad.cumsum %x axis 0 : {0}", ["300x200xf32"] * 2, "sm_80", "reproducible"),
    ("scan", "%y = ad.cumsum %x axis 1 : {0}", ["300x300xbf16"] * 2, "sm_80", "reproducible"),
    ("generic", "%y = ad.argmax %x axis 1 : {0}", ["900x33xf32", "900xi64"], "sm_80", "reproducible"),
]


def array(random, kind, text):
    """Random numbers of a type, whole ones for sums that must be exact."""
    *shape, element = kind.split("x")
    shape = tuple(map(int, shape))
    if element.startswith("i"):
        return random.integers(-100, 100, shape).astype(elements.STORAGE[element])
    values = random.integers(-4, 5, shape) if "ad.dot" in text else random.standard_normal(shape)
    return elements.encode(element, values.astype(np.float64))


class Launch:
    """A case with its arrays, its kernel, and what the reference interpreter gives."""

    def __init__(self, case, folder):
        self.name, text, kinds, chip, numerics = case
        *operands, result = kinds
        self.folder = folder
        types = [f"tensor<{kind}>" for kind in kinds]
        inputs = ", ".join(f'%{name}: {type} {{ad.name = "{name}"}}' for name, type in zip("xw", types[:-1]))
        file = folder / "program.mlir"
        file.write_text(f'func.func @main({inputs}) -> ({types[-1]} {{ad.name = "y"}}) {{\n  {text.format(*types, y=types[-1])}\n'
                        f"  return %y : {types[-1]}\n}}\n")
        random = np.random.default_rng(len(text))
        for operand, kind in zip("xw", operands):
            elements.save(folder / f"{operand}.npy", kind.split("x")[-1], array(random, kind, text))
        files = [f"--arg={operand}={folder / operand}.npy" for operand in "xw"[:len(operands)]]
        subprocess.run([runner.binary("ad-runner"), file, "--numerics=reproducible", "--target=reference",
                        f"--out-dir={folder}", *files],
                       check=True, capture_output=True, text=True)
        self.expected, self.kernel = np.load(folder / "y.npy"), Kernel(file, chip, numerics)
        self.arguments = [f"{kind.split('x')[-1]}:{folder / operand}.npy" for operand, kind in zip("xw", operands)]
        *shape, element = result.split("x")
        self.arguments.append(f"out:{element}:{'x'.join(shape)}")

    def wrong(self, blocks, schedule):
        done = self.kernel.run(self.folder, self.arguments, blocks, schedule)
        if done.returncode:
            return f"{blocks} blocks, {' '.join(schedule)}: exit {done.returncode}: {done.stderr.strip()}"
        if np.load(self.folder / "found.npy").tobytes() != self.expected.tobytes():
            return f"{blocks} blocks, {' '.join(schedule)}: other bits than those of the reference interpreter"
        return None


def wrong(case, folder):
    launch = Launch(case, folder)
    if launch.kernel.classes != [launch.name]:
        return f"has kernels of the classes {launch.kernel.classes}, expected {launch.name}"
    return next(filter(None, (launch.wrong(blocks, schedule) for blocks in (1, 2) for schedule in SCHEDULES)), None)


def needs_barriers(case):
    """In the contractions left out, the sums share no memory with operands; threads of the rows left out read
    what they wrote."""
    return case[0] == "transposition" or case[0] == "contraction" and not (case[1] == EPILOGUE and case[4] == "fast")


def unneeded_barriers(case, folder):
    """Each barrier, dropped alone, must be missed: this proves that the case looks at it."""
    launch = Launch(case, folder)
    lines = launch.kernel.text.splitlines(keepends=True)
    barriers = [i for i, line in enumerate(lines) if "nvvm.barrier" in line]
    for number, i in enumerate(barriers):
        launch.kernel.text = "".join(lines[:i] + lines[i + 1:])
        if not any(launch.wrong(1, schedule) for schedule in SCHEDULES):
            yield f"nothing misses barrier {number} of {len(barriers)}"
    if not barriers:
        yield "has no barrier"


def main():
    found = [(case[0:3:2], functools.partial(wrong, case)) for case in CASES]
    found += [(("barriers of", *case[0:3:2]), functools.partial(unneeded_barriers, case)) for case in CASES
              if needs_barriers(case)]
    return checks.run_checks("gpu-few-blocks", checks.sample(found, 4))


if __name__ == "__main__":
    sys.exit(main())
