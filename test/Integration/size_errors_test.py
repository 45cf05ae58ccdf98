# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Sizes that do not fit are refused for every operand: each axis of each operand of every operation that checks sizes
is made wrong, once among dynamic axes, and once among static ones. The CPU and the reference interpreter report the
same error, about the operation as written, with both sizes; on the emulated GPU one axis of each operation is reported
too.

Sizes that fit give the same bits on both."""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402
from size_forms import ALL, FORMS  # noqa: E402

FILE = "program.mlir"


def run(folder, form, target, variant, sizes, numbers, out=None):
    """One run with these sizes of each operand."""
    name = "_".join(map(str, variant))
    options = [f"--dim=x{i}.{axis}={size}" for i, shape in enumerate(sizes) for axis, size in enumerate(shape)
               if form.is_open(i, axis, variant)]
    arguments = [f"--arg=x{i}={'zeros' if form.elements[i].startswith('i') else f'normal:{i}'}"
                 for i in range(len(sizes))]
    for i, number in enumerate(numbers):
        path = folder / f"number{number}.npy"
        if not path.exists():
            np.save(path, np.array(number, np.int64))
        arguments.append(f"--arg=n{i}={path}")
    (folder / name).mkdir(exist_ok=True)
    (folder / name / FILE).write_text(form.text(variant))
    command = [runner.binary("ad-runner"), str(folder / name / FILE), f"--target={target}", "--numerics=reproducible",
               f"--cache={folder / 'cache'}", *options, *arguments]
    if out:
        command.append(f"--out-dir={out}")
    return subprocess.run(command, capture_output=True, text=True)


def message(done):
    """What was said, without the folder."""
    return re.sub(r"\S*/" + FILE, FILE, done.stderr)


def wrong_message(form, variant, done, sizes):
    """What is wrong with the message about these two sizes, or None."""
    if done.returncode != 1:
        return f"exit code {done.returncode}, expected 1: {done.stderr.strip()[:500]}"
    first = message(done).splitlines()[0]
    found = re.match(rf"{FILE}:(\d+):\d+: error: '([\w.]+)' op (.*)", first)
    if not found or int(found[1]) != form.line(variant) or found[2] != form.mnemonic:
        return f"expected an error of '{form.mnemonic}' in line {form.line(variant)}, got: {first}"
    if not set(map(str, sizes)) <= set(re.findall(r"-?\d+", found[3])):
        return f"expected the numbers {sizes}, got: {first}"
    return None


def problems_of(folder, form, variant, bad, targets=("reference", "cpu")):
    """One axis or number is wrong: the same message everywhere."""
    runs = {target: run(folder, form, target, variant, bad.sizes, bad.numbers) for target in targets}
    for target, done in runs.items():
        problem = wrong_message(form, variant, done, bad.named)
        if problem:
            return [f"{bad.what}, {target}: {problem}"]
    said = {target: message(done) for target, done in runs.items()}
    return [f"{bad.what}: {target} says {text}, the reference {said['reference']}" for target, text in said.items()
            if text != said["reference"]]


def problems_of_good(folder, form, sizes):
    """Sizes that fit."""
    results = []
    for target in ("reference", "cpu"):
        out = folder / f"out-{target}"
        done = run(folder, form, target, ALL, sizes, form.numbers, out)
        if done.returncode:
            return [f"sizes {sizes}, {target}: exit code {done.returncode}: {done.stderr[:500]}"]
        results.append((out / "y.npy").read_bytes())
    return [] if results[0] == results[1] else [f"sizes {sizes}: other bits than on the reference"]


def problems(form):
    """(number of checks, what is wrong)"""
    count, found = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for count, (variant, bad) in enumerate(form.bad_cases(), 1):
            targets = ("reference", "cpu", "gpu-sim") if count == 1 else ("reference", "cpu")
            found += problems_of(folder, form, variant, bad, targets)
        for sizes in form.good_sizes():
            found += problems_of_good(folder, form, sizes)
            count += 1
    return count, [f"{form.name}: {text}" for text in found]


def main():
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(problems, checks.sample(FORMS, 4)))
    for _, found in results:
        for text in found:
            print(f"FAILED: {text}")
    print(f"size-errors: {sum(count for count, _ in results)} run, {sum(len(found) for _, found in results)} failed")
    return any(found for _, found in results)


if __name__ == "__main__":
    sys.exit(main())
