# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Whole kernels on the emulated GPU: correct results and no finding in the eager, the lazy and three shuffled
schedules, the same on several host threads, and the traffic for which the layouts of the kernels are designed."""

import pathlib
import re
import sys
import tempfile

import numpy as np

from emulate import SCHEDULES, kernels


def check(kernel, folder, schedule, more=()):
    """A complaint about a run, or None."""
    result = folder / "result.npy"
    result.unlink(missing_ok=True)
    done = kernel.run(folder, schedule, more=more)
    if done.returncode:
        return f"exit {done.returncode}: {done.stderr.strip()}"
    found = np.load(result)
    if not np.allclose(found, kernel.expected, rtol=1e-5, atol=0):
        return f"the largest difference is {np.abs(found - kernel.expected).max()}"
    return None


def traffic(kernel, folder):
    """Units divided by the minimum, by operation."""
    done = kernel.run(folder, more=["--stats"])
    return {m[1]: float(m[2]) for m in re.finditer(r" (\S+): \d+ requests, .*, (\S+) times the minimum", done.stdout)}


def main():
    run, problems = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table = kernels()
        for label, kernel in table.items():
            for schedule in SCHEDULES:
                run += 1
                if problem := check(kernel, folder, schedule):
                    problems.append(f"{label}, {' '.join(schedule)}: {problem}")
            run += 1
            if problem := check(kernel, folder, ["eager"], ["--no-race-detection", "--threads", "2"]):
                problems.append(f"{label}, two host threads: {problem}")
        # The swizzle of the stages prevents bank conflicts of ldmatrix; rows are read and written in whole sectors.
        for label, operation in [("mma", "nvvm.ldmatrix"), ("softmax", "llvm.load"), ("softmax", "llvm.store")]:
            run += 1
            ratio = traffic(table[label], folder).get(operation)
            if ratio != 1.0:
                problems.append(f"{label}: {operation} needs {ratio} times the minimum traffic")
    print("\n".join(problems))
    print(f"kernels: {run} run, {len(problems)} failed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
