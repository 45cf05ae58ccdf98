# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Our programs, measured by `adrt-run --bench`: one process each, whose inputs are made once."""

import json
import pathlib
import sys
import tempfile

# A folder that gpu.py --make has made holds copies.
sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "test" / "Device"))
import jsonlines  # noqa: E402, F401
import processes  # noqa: E402
import ratios  # noqa: E402, F401


class Failed(Exception):
    """What is wrong with a contender; the others are measured all the same."""


def runner_of(folder):
    """adrt-run is in the folder of the benchmarks, or in its parent in a bundle."""
    return next(path for path in (folder / "adrt-run", folder.parent / "adrt-run") if path.exists())


def command(folder, program, arguments):
    return [str(word) for word in (runner_of(folder), folder / f"{program}.adx", *arguments)]


def measure(folder, program, arguments, repeat, deadline):
    """The line of --bench."""
    with tempfile.TemporaryDirectory() as name:
        line = pathlib.Path(name) / "line.jsonl"
        try:
            done = processes.run([*command(folder, program, arguments), f"--bench={line}", "--repeat", repeat],
                                 deadline.remaining())
        except OSError as error:
            raise Failed(str(error)) from error
        if not done.ok():
            raise Failed(done.complaint())
        return json.loads(line.read_text())


class Program:
    """A contender: seconds of one of `steps` steps."""

    def __init__(self, folder, program, arguments, steps, repeat=10):
        self.folder, self.program, self.arguments, self.steps, self.repeat = folder, program, arguments, steps, repeat

    def __call__(self, deadline):
        line = measure(self.folder, self.program, self.arguments, self.repeat, deadline)
        return {"seconds": line["seconds"]["median"] / self.steps, "clock": line["clock"], "launches": line["launches"],
                "device": line["device"]}
