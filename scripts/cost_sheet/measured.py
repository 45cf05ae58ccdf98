# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels whose times were measured on hardware: test/Codegen/GPU/Inputs/measured-kernels.json has the times and the
work that the model found, measured-kernels.txt.xz the machine code, each kernel behind a line `# NAME`.

The code is that of the compiler that was measured, so that the model can be compared with the measurements whatever the
compiler does today."""

import dataclasses
import json
import lzma
import pathlib
import random

import kernels
import predict
import sass

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "test/Codegen/GPU/Inputs"
TABLE, CODE = FOLDER / "measured-kernels.json", FOLDER / "measured-kernels.txt.xz"
SEED = 38  # of the halves


@dataclasses.dataclass
class Case:
    name: str
    microseconds: float
    cold: bool  # caches were emptied before it
    row: dict
    work: predict.Work

    def kernel(self, code):
        row = self.row
        tensors = [kernels.Tensor(tuple(shape), size, element) for shape, size, element in row["tensors"]]
        count = row["operands"]
        return kernels.Compiled(row["kernel"], row["class"], tensors[:count], tensors[count:],
                                {int(place): number for place, number in row["pointers"].items()}, row["sums"],
                                row["launch"], row["registers"], row["spills"], row["shared"], code[self.name],
                                nodes=lambda sm_count: row["nodes"])


def load():
    rows = json.loads(TABLE.read_text())["kernels"]
    return [Case(row["name"], row["us"], row["cold"], row, predict.Work(**row["work"])) for row in rows]


def halves(cases):
    """The drawn half to which parameters are fitted, and the other one."""
    names = sorted(case.name for case in cases)
    drawn = set(random.Random(SEED).sample(names, len(names) // 2))
    return [case for case in cases if case.name in drawn], [case for case in cases if case.name not in drawn]


def compact(code):
    """The instructions and labels of a kernel, a line each."""
    labels = {}
    for name, number in code.labels.items():
        labels.setdefault(number, []).append(name)
    lines = []
    for number, instruction in enumerate(code.instructions):
        lines += [f"{name}:" for name in labels.get(number, ())]
        guard = f"@{instruction.guard} " if instruction.guard else ""
        lines.append(f"{guard}{instruction.opcode} {', '.join(instruction.operands)}")
    return lines


def expand(name, lines):
    address, listing = 0, []
    for line in lines:
        if line.endswith(":"):
            listing.append(line)
        else:
            listing.append(f"        /*{address:04x}*/  {line} ;")
            address += 16
    return sass.parse_kernel(name, listing)


def load_code(names=None):
    """{name of a case: its code}, of all or of those that are named."""
    found, name, lines = {}, None, []
    for line in [*lzma.decompress(CODE.read_bytes()).decode().splitlines(), "# "]:
        if line.startswith("# "):
            if name and (names is None or name in names):
                found[name] = expand(name, lines)
            name, lines = line[2:], []
        else:
            lines.append(line)
    return found


def within(ratios, factor):
    """The share of ratios that are no further from 1."""
    return sum(1 / factor <= ratio <= factor for ratio in ratios) / len(ratios)


def ratios(cases, timing):
    """Predicted by measured."""
    return [predict.seconds(case.work, timing) * 1e6 / case.microseconds for case in cases]
