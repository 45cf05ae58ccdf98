# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The random programs of test/Fuzz/gpu-sim.py as modules with their inputs, for a GPU."""

import importlib
import itertools
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "Fuzz"))
sys.path.insert(0, str(ROOT / "test" / "Support"))
sys.dont_write_bytecode = True
import batch  # noqa: E402
import runner  # noqa: E402

SEED, PROGRAMS, IN_MODULE = 23, 240, 8
LARGEST = 1 << 18  # bytes of a program's inputs: random numbers do not become smaller by packing


def is_small(program):
    return sum(array.nbytes for array in [*(array for _, array in program.arguments),
                                          *program.feeds().values()]) <= LARGEST


def modules(folder):
    """(name, file, options) of each module, whose files are written to the folder."""
    make = importlib.import_module("gpu-sim").make
    small = filter(is_small, (make(SEED, number) for number in itertools.count()))
    for first in range(0, PROGRAMS, IN_MODULE):
        name = f"graphs-{first}"
        inputs = folder / name
        inputs.mkdir()
        programs = list(itertools.islice(small, IN_MODULE))
        options = []
        for number, program in enumerate(programs):
            options += runner.write_arguments(inputs, program.arguments, f"p{number}_")
            options += runner.write_feeds(inputs, program, f"p{number}")
        file = folder / f"{name}.mlir"
        file.write_text(batch.module(programs))
        yield name, file, options
