#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random kernels of linalg.generic, as other compilers write them: the reference interpreter, the CPU and the emulated
GPU against NumPy.

Results must have the bits that docs/numerics.md says, on one thread and on two. Every other case is a chain of two to
five operations with constant, strided and computed indices, whose sums are exact: NumPy, upstream's loops and all
targets agree. --chains draws only these. Every tenth case is a reduction that its order forbids, which every pass that
looks at it has to refuse, or a chain that extracts an element outside of a tensor, which is an error on all targets.
Legal kernels may be refused with a located reason: these are counted, and the campaign fails where they are more than
one in ten.

A failing case is written to a folder that is named. Closes with `linalg: N run, N failed`."""

import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))

import numpy as np

import campaign
import elements
import linalg_cases
import linalg_chains
import linalg_upstream
import runner

RUNS = {"on one thread": ["--target=cpu", "--threads=1"], "on two threads": ["--target=cpu", "--threads=2"],
        "on the emulated GPU": ["--target=gpu-sim"], "on the reference interpreter": ["--target=reference"]}
ILLEGAL = 10  # one in ILLEGAL cases has to be refused
MAX_REFUSED = 0.1
REFUSALS = ["expected a reduction whose partial results can be joined",
            "expected a running reduction whose partial results can be joined", "this kernel needs another shape"]
REASON = re.compile(r"error: (.+)")


def module(kernels):
    text, inputs, outputs, body, returned = [], [], [], [], []
    for i, kernel in enumerate(kernels):
        text.append(kernel.function(f"k{i}"))
        names = {value.name: f"%k{i}_{value.name}" for value in kernel.arguments}
        inputs += [f'{names[v.name]}: {v.type} {{ad.name = "k{i}_{v.name}"}}' for v in kernel.arguments]
        outputs += [f'{v.type} {{ad.name = "k{i}_r{n}"}}' for n, v in enumerate(kernel.results)]
        sizes = []
        for value in kernel.results:
            for argument, axis in (source for source, size in zip(value.sources, value.static) if size is None):
                sizes.append(f"%n{i}_{len(sizes)}")
                body += [f"  {sizes[-1]}z = arith.constant {axis} : index",
                         f"  {sizes[-1]} = tensor.dim {names[argument.name]}, {sizes[-1]}z : {argument.type}"]
        given = f" sizes({', '.join(sizes)})" if sizes else ""
        results = ", ".join(v.type for v in kernel.results)
        results = f"({results})" if len(kernel.results) > 1 else results
        body.append(f"  %r{i}:{len(kernel.results)} = ad.launch @k{i}({', '.join(names.values())}){given} : "
                    f"({', '.join(v.type for v in kernel.arguments)}) -> {results}")
        returned += [(f"%r{i}#{n}", v.type) for n, v in enumerate(kernel.results)]
    values, types = (", ".join(part) for part in zip(*returned))
    lines = "\n".join(body)
    return "".join(text) + f"func.func @main({', '.join(inputs)}) -> ({', '.join(outputs)}) {{\n{lines}\n  return {values} : {types}\n}}\n"


def run(kernels, options):
    """The results of each kernel, or its Failure."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            arguments = [option for i, kernel in enumerate(kernels)
                         for option in runner.write_arguments(folder, [(v, v.array) for v in kernel.arguments],
                                                              f"k{i}_")]
            names = [(f"k{i}_r{n}", v.element) for i, kernel in enumerate(kernels) for n,
                     v in enumerate(kernel.results)]
            arrays = runner.run(module(kernels), arguments, names, options)
    except runner.Failure as failure:
        if len(kernels) == 1:
            return [failure]
        half = len(kernels) // 2
        return run(kernels[:half], options) + run(kernels[half:], options)
    return [[arrays[f"k{i}_r{n}"] for n in range(len(kernel.results))] for i, kernel in enumerate(kernels)]


def is_refusal(result):
    """A located error of the kind that docs/numerics.md announces; any other one is a failure."""
    return isinstance(result, runner.Failure) and result.code == 1 and "program.mlir:" in result.text and \
        any(reason in result.text for reason in REFUSALS)


def complaint_about(kernel, name, results):
    if isinstance(results, runner.Failure):
        return f"{name}: {results}"
    for number, (value, array) in enumerate(zip(kernel.results, results)):
        if array.shape != value.sizes:
            return f"result {number} has shape {array.shape} {name}, expected {value.sizes}"
        wrong = np.flatnonzero(~elements.same_bits(value.element, array, value.array))
        if len(wrong):
            at = int(wrong[0])
            got, expected = (elements.decode(value.element, x.reshape(-1)[at:at + 1])[0] for x in (array, value.array))
            return f"result {number}: {len(wrong)} of {array.size} elements differ {name}, the first at {at}: {got!r}, " \
                   f"expected {expected!r}"
    return None


def refusal_complaint(kernel, number):
    """A kernel that has to be refused, with one of the passes that have to refuse it."""
    options = [["--ad-verify-linalg"], ["--ad-emit-cpu"], ["--ad-emit-gpu"]][number // ILLEGAL % 3]
    done = subprocess.run([runner.binary("ad-opt"), *options, "-o", "/dev/null"], input=kernel.function("k"),
                          capture_output=True,
                          text=True)
    if done.returncode == 1 and kernel.refused in done.stderr:
        return None
    return f"expected {options[0]} to refuse the kernel, but got exit code {done.returncode}: {done.stderr[:400]}"


def outside_complaint(kernel):
    """A chain whose last operation extracts an element outside of a tensor: every target names the same one."""
    refusals = 0
    for name, options in RUNS.items():
        results = run([kernel], options)[0]
        if is_refusal(results):
            refusals += 1
            continue
        if not isinstance(results, runner.Failure) or results.code != 1 or kernel.outside not in results.text:
            return f"expected {kernel.outside!r} {name}, but got {results}"
    return "every target refuses the chain, which proves nothing of its index" if refusals == len(RUNS) else None


def upstream_complaints(kernels):
    """{number: complaint} about chains that upstream's loops compute otherwise; kernels: {number: kernel}."""
    if not kernels or not linalg_upstream.is_available():
        return {}
    found = zip(kernels.items(), linalg_upstream.run(list(kernels.values())))
    return {number: complaint_about(kernel, "as upstream's loops", arrays) for (number, kernel), arrays in found}


def draw(seed, number, chains):
    """(kernel, whether it is a chain, whether it is an error)"""
    illegal = number % ILLEGAL == ILLEGAL - 1
    if chains or number % 2 == 0 or number % (2 * ILLEGAL) == ILLEGAL - 1:
        return linalg_chains.make(seed, number, outside=illegal), True, illegal
    return linalg_cases.make(seed, number, illegal), False, illegal


def check(numbers, seed, chains):
    """{number: (kernel, complaint, reason of a refusal)}"""
    found, legal, exact = {}, [], {}
    for number in numbers:
        kernel, is_chain, illegal = draw(seed, number, chains)
        found[number] = [kernel, None, None]
        if illegal:
            found[number][1] = outside_complaint(kernel) if is_chain else refusal_complaint(kernel, number)
            continue
        legal.append(number)
        if is_chain:
            exact[number] = kernel
    for number, complaint in upstream_complaints(exact).items():
        found[number][1] = complaint
    for name, options in RUNS.items():
        numbers = [number for number in legal if found[number][1:] == [None, None]]
        for number, results in zip(numbers, run([found[number][0] for number in numbers], options) if numbers else []):
            if is_refusal(results):
                found[number][2] = f"{name}: {REASON.search(results.text)[1]}"
            else:
                found[number][1] = complaint_about(found[number][0], name, results)
    return found


def report(given, number, kernel, complaint):
    arguments = [(value, value.array) for value in kernel.arguments]
    text = module([kernel]).replace('ad.name = "k0_', 'ad.name = "')
    path = campaign.write_case(f"{given.out}/linalg-{given.seed}-{number}", text, arguments,
                               "ad-runner program.mlir --print", complaint)
    print(f"case {number}: {complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    parser = campaign.options(__doc__)
    parser.add_argument("--chains", action="store_true", help="draw chains only")
    given = parser.parse_args()
    failed, refused = 0, []
    for number, (kernel, complaint, reason) in campaign.in_batches(
            lambda numbers: check(numbers, given.seed, given.chains), given):
        if reason:
            refused.append(f"case {number} {reason}")
        if complaint:
            failed += 1
            if failed <= given.keep:
                report(given, number, kernel, complaint)
    print("\n".join(refused[:20]))
    print(f"{len(refused)} of {given.count} legal kernels were refused")
    many = len(refused) > max(1, MAX_REFUSED * given.count)
    if many:
        print("these are too many")
    print(f"linalg: {given.count} run, {failed} failed")
    return bool(failed or many)


if __name__ == "__main__":
    sys.exit(main())
