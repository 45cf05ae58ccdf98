#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random programs of linalg, tensor, arith, math, scf and func, as other compilers write them, against the loops that
upstream lowers them to.

Each construct is the first of its share of the programs, and up to three others of any kind follow it. In
`reproducible` the reference interpreter, the CPU and the emulated GPU give the same bits; these differ from upstream's
by what another order of sums and other elementary functions may change, and not at all in integers. Half of the
programs are smooth and in f64: their derivatives are those of differences of upstream's loops, along a direction.
Programs may be refused by a located message: these are counted by their constructs, and the campaign fails where they
are 3 % or more.

A failing case is written to a folder that is named. Closes with `import: N run, N failed`."""

import collections
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True

import numpy as np

import campaign
import elements
import import_linalg
import import_tensors
import linalg_upstream
import runner
from import_programs import ImportProgram

CONSTRUCTS = {**import_linalg.CONSTRUCTS, **import_tensors.CONSTRUCTS}
TARGETS = {target: [f"--target={target}", "--numerics=reproducible"] for target in ("reference", "cpu", "gpu-sim")}
PASSES = ["--convert-elementwise-to-linalg",
          "--one-shot-bufferize=bufferize-function-boundaries allow-return-allocs-from-loops "
          "function-boundary-type-conversion=identity-layout-map",
          "--convert-linalg-to-loops", "--scf-forall-to-for", "--expand-strided-metadata", "--lower-affine",
          "--math-extend-to-supported-types=target-type=f32",
          "--arith-emulate-unsupported-floats=source-types=bf16,f16 target-type=f32",
          "--math-expand-ops=ops=cosh,sinh,tan,asinh,exp2,fpowi,roundeven,ctlz", "--convert-scf-to-cf",
          "--arith-expand=include-bf16=true", "--convert-math-to-llvm", "--convert-math-to-libm",
          "--convert-arith-to-llvm", "--finalize-memref-to-llvm", "--convert-func-to-llvm", "--convert-cf-to-llvm",
          "--convert-index-to-llvm", "--reconcile-unrealized-casts"]
# The norm of the difference, divided by that of the values, and the largest one, divided by the largest value.
TOLERANCES = {"f64": 1e-9, "f32": 3e-4, "f16": 0.1, "bf16": 0.5}
MAX_REFUSED = 0.03
REFUSALS = ["has no equivalent"]
REASON = re.compile(r"error: (.+)")
STEP = 1e-6
SLOPE_TOLERANCE = 1e-4


class Case:
    def __init__(self, seed, number):
        self.number = number
        rng = np.random.default_rng([seed, number])
        self.rng, names = rng, list(CONSTRUCTS)
        self.program = ImportProgram(rng, smooth=number // len(names) % 2 == 0)
        self.constructs = [names[number % len(names)]]
        self.constructs += [names[int(rng.integers(0, len(names)))] for _ in range(int(rng.integers(0, 4)))]
        for name in self.constructs:
            self.result = CONSTRUCTS[name](self.program)
        self.complaint, self.refusal, self.expected = None, None, None
        self.slope = ""  # whether the derivative was compared, or lies at a kink
        self.function_name = f"p{number}"

    @property
    def wanted(self):
        """Arguments by which the program is differentiated."""
        return [i for i, (value, _) in enumerate(self.program.arguments) if value.element == "f64"]

    @property
    def is_smooth(self):
        return self.program.smooth and self.result.element == "f64" and bool(self.wanted)

    def upstream(self):
        return self.program.function(self.function_name, upstream=True, returned=self.result)

    def arrays(self):
        return [array for _, array in self.program.arguments]

    def text(self):
        """The function, that with a sum of its results, and what the entry does."""
        r, n = self.result, self.function_name
        arguments = ", ".join(f"{value.name}: {value.type}" for value, _ in self.program.arguments)
        names = ", ".join(value.name for value, _ in self.program.arguments)
        types = ", ".join(value.type for value, _ in self.program.arguments)
        text = self.program.function(n, returned=r)
        if self.is_smooth:
            text += (f"func.func private @{n}_sum({arguments}) -> tensor<f64> {{\n"
                     f"  %r = func.call @{n}({names}) : ({types}) -> {r.type}\n"
                     f"  %s = ad.reduce_sum %r axes {list(range(r.rank))} : {r.type} -> tensor<f64>\n"
                     f"  return %s : tensor<f64>\n}}\n")
        return text

    def entry(self):
        """(arguments, lines, returned values, returned types)"""
        n, r = self.function_name, self.result
        given = [(f"%{n}_{value.name[1:]}", value) for value, _ in self.program.arguments]
        arguments = [f'{name}: {value.type} {{ad.name = "{n}_{value.name[1:]}"}}' for name, value in given]
        names, types = ", ".join(name for name, _ in given), ", ".join(value.type for _, value in given)
        lines, values, results = [f"%{n}_r = func.call @{n}({names}) : ({types}) -> {r.type}"], [f"%{n}_r"], [r]
        if self.is_smooth:
            slopes = [given[i][1] for i in self.wanted]
            found = [f"%{n}_d{i}" for i in self.wanted]
            lines.append(f"%{n}_s, {', '.join(found)} = ad.value_and_grad @{n}_sum({names}) wrt {self.wanted} : "
                         f"({types}) -> (tensor<f64>, {', '.join(value.type for value in slopes)})")
            values += found
            results += slopes
        return arguments, lines, values, results


def module(cases):
    entries = [case.entry() for case in cases]
    arguments = ", ".join(argument for entry in entries for argument in entry[0])
    values = [(name, value) for entry in entries for name, value in zip(entry[2], entry[3])]
    results = ", ".join(f'{value.type} {{ad.name = "{name[1:]}"}}' for name, value in values)
    lines = "\n  ".join(line for entry in entries for line in entry[1])
    returned = f"{', '.join(name for name, _ in values)} : {', '.join(value.type for _, value in values)}"
    return "".join(case.text() for case in cases) + (f"func.func @main({arguments}) -> ({results}) {{\n  {lines}\n"
                                                     f"  return {returned}\n}}\n")


class Stored:
    """An argument as its file has it."""

    def __init__(self, name, element):
        self.name, self.element = name, element


def run(cases, options):
    """[{result: array} or a Failure] of the cases."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            given = [(Stored(f"{case.function_name}_{value.name[1:]}", value.storage), array) for case in cases
                     for value, array in case.program.arguments]
            names = [(name[1:], value.storage) for case in cases for name, value in zip(*case.entry()[2:])]
            arrays = runner.run(module(cases), runner.write_arguments(folder, given), names, options)
    except runner.Failure as failure:
        if len(cases) == 1:
            return [failure]
        half = len(cases) // 2
        return run(cases[:half], options) + run(cases[half:], options)
    return [{name[1:]: arrays[name[1:]] for name in case.entry()[2]} for case in cases]


def is_far(element, found, expected):
    """Whether results differ by more than another order of summation may change."""
    if found.shape != expected.shape:
        return f"has shape {found.shape}, expected {expected.shape}"
    a, b = (elements.decode(element, array) for array in (found, expected))
    if not elements.is_float(element):
        return None if (a == b).all() else f"is {a.tolist()}, expected {b.tolist()}"
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return None
    with np.errstate(all="ignore"):
        differences, scale = np.where(same, 0, np.abs(a - b)), np.where(np.isfinite(b), np.abs(b), 0)
    tolerance = TOLERANCES[element]
    norm = np.linalg.norm(differences) / max(np.linalg.norm(scale), 1e-3)
    if np.isfinite(norm) and norm <= tolerance and differences.max() <= 10 * tolerance * max(scale.max(), 1e-3):
        return None
    return f"differs by {norm:.2g}: {a.tolist()}, expected {b.tolist()}"


def slope_complaint(case, library, found):
    """Derivatives along a random direction against differences, relative to their terms' sizes."""
    arrays, wanted = case.arrays(), case.wanted
    directions = {i: case.rng.normal(size=arrays[i].shape) for i in wanted}
    terms = [found[f"{case.function_name}_d{i}"] * directions[i] for i in wanted]

    def value(step):
        moved = [array + step * directions[i] if i in directions else array for i, array in enumerate(arrays)]
        return linalg_upstream.call(library, case.function_name, moved, [case.result])[0].sum()

    slopes = [(value(step) - value(-step)) / (2 * step) for step in (STEP, STEP / 4)]
    slope, size = sum(term.sum() for term in terms), sum(np.abs(term).sum() for term in terms)
    scale = max(size, abs(slopes[0]), 1e-2 * max(abs(value(0)), 1))
    # A kink between the two points is no fault: the differences then disagree.
    if not np.isfinite(slopes).all() or abs(slopes[0] - slopes[1]) > SLOPE_TOLERANCE * scale:
        case.slope = "kink"
        return None
    case.slope = "compared"
    if abs(slope - slopes[0]) <= SLOPE_TOLERANCE * scale:
        return None
    return f"the derivative along a direction is {slope}, the difference of upstream's loops {slopes}"


def is_refusal(result):
    """A located error of the import or of a limit of a target; any other one is a failure."""
    return isinstance(result, runner.Failure) and result.code == 1 and "program.mlir:" in result.text and \
        any(reason in result.text for reason in REFUSALS)


def judge(case, library, results):
    """Sets the complaint or refusal of a case; results: {target: …}."""
    for target, result in results.items():
        if is_refusal(result):
            case.refusal = f"{target}: {REASON.search(result.text)[1]}"
        elif isinstance(result, runner.Failure):
            case.complaint = f"{target}: {result}"
    if case.complaint or case.refusal:
        return
    values = dict(zip((name[1:] for name in case.entry()[2]), case.entry()[3]))
    for target, result in results.items():
        for name, array in result.items():
            if not elements.same_bits(values[name].storage, array, results["reference"][name]).all():
                case.complaint = f"{target}: {name} has other bits than the reference interpreter"
                return
    wrong = is_far(case.result.storage, results["cpu"][f"{case.function_name}_r"], case.expected)
    case.complaint = f"the result {wrong}" if wrong else None
    if case.is_smooth and not wrong:
        case.complaint = slope_complaint(case, library, results["cpu"])


def lowered(cases, folder):
    """{case: library} of those that upstream lowers."""
    try:
        library = linalg_upstream.build("".join(case.upstream() for case in cases), folder, PASSES, cases[0].function_name)
        return {case: library for case in cases}
    except RuntimeError:
        half = len(cases) // 2
        return {**lowered(cases[:half], folder), **lowered(cases[half:], folder)} if half else {}


def check(numbers, seed):
    drawn = [Case(seed, number) for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        libraries = lowered(drawn, folder)
        cases = list(libraries)
        for case in cases:
            case.expected = linalg_upstream.call(libraries[case], case.function_name, case.arrays(), [case.result])[0]
        found = {target: run(cases, options) for target, options in TARGETS.items()}
        for place, case in enumerate(cases):
            judge(case, libraries[case], {target: results[place] for target, results in found.items()})
    return {case.number: case for case in drawn}


def report(given, case):
    stored = [(Stored(f"{case.function_name}_{value.name[1:]}", value.storage), array)
              for value, array in case.program.arguments]
    path = campaign.write_case(f"{given.out}/import-{given.seed}-{case.number}", module([case]), stored,
                               "ad-runner program.mlir --print", f"{', '.join(case.constructs)}: {case.complaint}"[:2000])
    (path.parent / "upstream.mlir").write_text(case.upstream())
    print(f"case {case.number} ({', '.join(case.constructs)}): {case.complaint.splitlines()[0][:300]}\n  {path}", flush=True)


def main():
    given = campaign.options(__doc__).parse_args()
    if not linalg_upstream.is_available():
        print("not run: upstream's tools are not installed")
        return 0
    failed, foreign, refused, drawn, reasons = 0, 0, collections.Counter(), collections.Counter(), []
    slopes = collections.Counter()
    for number, case in campaign.in_batches(lambda numbers: check(numbers, given.seed), given):
        drawn[case.constructs[0]] += 1
        foreign += case.expected is None
        slopes[case.slope] += 1
        if case.refusal:
            refused[case.constructs[0]] += 1
            reasons.append(f"case {number} ({', '.join(case.constructs)}) {case.refusal}")
        if case.complaint:
            failed += 1
            if failed <= given.keep:
                report(given, case)
    print("\n".join(reasons[:20]))
    print("refused of drawn: " + ", ".join(f"{name} {refused[name]}/{drawn[name]}" for name in CONSTRUCTS))
    print(f"{refused.total()} of {given.count} programs were refused, {refused.total() / given.count:.1%}; upstream does "
          f"not lower {foreign}")
    print(f"derivatives: {slopes['compared']} compared, {slopes['kink']} at a kink, where differences disagree")
    many = max(refused.total(), foreign, slopes["kink"] - slopes["compared"] / 5) > max(2, MAX_REFUSED * given.count)
    if many:
        print("these are too many")
    print(f"import: {given.count} run, {failed} failed")
    return bool(failed or many)


if __name__ == "__main__":
    sys.exit(main())
