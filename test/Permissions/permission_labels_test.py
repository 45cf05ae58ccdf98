# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Each rewrite pattern declares the permissions that it needs, and needs exactly these. On adversarial programs,

- a pattern without permissions applies, and keeps every bit;
- a pattern with permissions applies with them and changes a bit; without any one of them it does not apply.

The second part is checked once more in ad-opt-unlabelled, where the pattern needs no permission: the check must fail.
ad-list-patterns lists all patterns, so that a new one without a case fails."""

import collections
import functools
import os
import pathlib
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

from cases import CASES, FOLDS, NEVER, STRUCTURE  # noqa: E402

ALL = ["reorder", "algebra", "contract", "widen", "mma", "narrow", "approx", "finite"]
PASSES = {"decompose": "ad-decompose", "decompose-for-gpus": "ad-decompose=target=gpu", "simplify": "ad-simplify",
          "split-k": "ad-split-k", "sort-scatters": "ad-sort-scatters=updates=1", "widen-operands": "ad-widen-operands", "choose-instructions": "ad-choose-instructions",
          "canonicalization": "ad-simplify"}
Pattern = collections.namedtuple("Pattern", "set name root needs")


def patterns():
    listed = subprocess.run([runner.binary("ad-list-patterns")], capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        kind, rest = line.split(" ", 1)
        name, root, needs = rest.rsplit(" ", 2)
        yield Pattern(kind, name, root, () if needs in ("none", "exact") else tuple(needs.split("|")))


def case_of(pattern):
    name = pattern.name.split("<")[0]
    needs = [] if pattern.needs or (name, pattern.root, "none") not in CASES else ["none"]
    return CASES.get((name, pattern.root, *needs))


#===- Adversarial inputs -===#

def grid(element):
    """All pairs of numbers at the ends and in the middle of the type, and halfway cases of narrower ones."""
    step = 2.0 ** -elements.MANTISSA[element]
    least = 2.0 ** (elements.MIN_EXPONENT[element] - elements.MANTISSA[element])
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1 + step, 1 - step / 2, least, -3 * least,
               2.0 ** elements.MIN_EXPONENT[element], elements.LARGEST[element], -elements.LARGEST[element],
               1 + 2.0**-8, 1 + 3 * 2.0**-9, 1 + 2.0**-11, 1 / 3, -0.1, 300.7, 2.5, -65519.0, 1e-7, 7.0]
    values = elements.encode(element, np.array(numbers))
    return np.repeat(values, len(values)).reshape(24, 24), np.tile(values, len(values)).reshape(24, 24)


def all_values(element):
    """Each value of a type of 8 or 16 bits, next to a shuffled one."""
    kind = elements.STORAGE[element]
    bits = np.arange(2 ** (8 * np.dtype(kind).itemsize), dtype=np.uint32)
    left = bits.astype(np.uint16 if np.dtype(kind).itemsize == 2 else np.uint8)
    right = np.random.default_rng(7).permutation(left)
    return tuple(array.view(kind).reshape(-1, 16) for array in (left, right))


def draw(element, shape):
    """Numbers of a shape: some rows with extremes, the others random."""
    rng = np.random.default_rng(11)
    if element in ("i32", "i8"):
        info = np.iinfo(elements.STORAGE[element])
        return tuple(rng.integers(info.min, info.max, shape, endpoint=True, dtype=info.dtype) for _ in range(2))
    if element == "i64":
        ends = [0, 1, -1, 2, -2, 7, 2**63 - 1, -2**63, 2**32, 255, -128, 65537]
        return np.array(ends, np.int64), np.array(ends[::-1], np.int64)
    found = []
    for _ in range(2):
        array = rng.normal(size=shape)
        special, _ = grid(element)
        array = elements.encode(element, array)
        array[0, :min(24, shape[1])] = special[:min(24, shape[1]), 0]
        found.append(array)
    return tuple(found)


def inputs(case, element):
    if case.shape:
        return draw(element, case.shape)
    small = element in elements.SMALL_FLOATS and "axis" not in case.body
    return all_values(element) if small else grid(element)


#===- Running -===#

def program(case, element, shape):
    sizes = "x".join(map(str, shape))
    fill = lambda text: re.sub(r"\bE\b|(?<=x)E(?=>)", element, re.sub(
        r"\bT\b", f"tensor<{sizes}x{element}>", re.sub(r"\bS\b", f"tensor<{sizes}xf32>", text))).replace("SHAPE", sizes)
    body = "".join(f"  {line}\n" for line in fill(case.body).splitlines())
    return (f'func.func @main(%x: {fill("T")} {{ad.name = "x"}}, %y: {fill("T")} {{ad.name = "y"}}) '
            f'-> {fill(case.result)} {{\n{body}  return %r : {fill(case.result)}\n}}\n'), fill(case.result)


@functools.cache
def with_permissions(text):
    return subprocess.run([runner.binary("ad-opt"), "--ad-set-numerics"], input=text, capture_output=True, text=True,
                          check=True).stdout


def optimize(text, kind, permissions, tool="ad-opt", unlabelled=""):
    """The program after the pass, where each operation has the permissions; the patterns that were applied."""
    environment = {**os.environ, "ADJOINT_UNLABELLED": unlabelled}
    explicit = re.sub(r"#ad\.allow<[^>]*>", f"#ad.allow<{'|'.join(permissions) or 'none'}>", with_permissions(text))
    done = subprocess.run([runner.binary(tool), f"--{PASSES[kind]}", f"--remarks-filter={PASSES[kind].split('=')[0]}"],
                          input=explicit, capture_output=True, text=True, check=True, env=environment)
    applied = {name.strip('"') for name in re.findall(r"applied-pattern .*pattern=(.*?)\s*$", done.stderr, re.M)}
    # The driver of these passes does not count.
    if kind == "split-k" and "ad.reduce_sum" in done.stdout or kind == "widen-operands" and "ad.cast" in done.stdout:
        applied.add(kind)
    if kind == "sort-scatters" and "ad.argsort" in done.stdout:
        applied.add("sort-updates")
    if kind == "choose-instructions" and "ad.cast" in done.stdout:
        applied.add("widen-bytes")
    return done.stdout, applied


def outputs(text, result, arrays, element, folder):
    given = []
    for name, array in zip("xy", arrays):
        elements.save(folder / f"{name}.npy", element, array)
        given.append(f"--arg={name}={folder / name}.npy")
    kind = result.removesuffix(">").removeprefix("tensor<").rsplit("x", 1)[-1]
    return kind, runner.run(text, given, [("res0", kind)], ["--target", "reference"])["res0"]


def changed(case, text, result, rewritten, element, folder):
    arrays = inputs(case, element)
    kind, before = outputs(text, result, arrays, element, folder)
    _, after = outputs(rewritten, result, arrays, element, folder)
    return int(np.count_nonzero(~np.asarray(elements.same_bits(kind, before, after))))


def is_applied(pattern, applied):
    return pattern.name in applied


def exact(pattern, folder):
    """Applies without a permission, and changes nothing."""
    case = case_of(pattern)
    for element in case.elements:
        text, result = program(case, element, inputs(case, element)[0].shape)
        rewritten, applied = optimize(text, pattern.set, [])
        if not is_applied(pattern, applied):
            yield f"{element}: was not applied, only {sorted(applied)}\n{text}"
            continue
        if count := changed(case, text, result, rewritten, element, folder):
            yield f"{element}: changes {count} elements\n{text}"


def labelled(pattern, folder, tool="ad-opt", unlabelled=""):
    """Applies with its permissions and changes a bit; does not apply without one of them."""
    case, differs = case_of(pattern), 0
    for element in case.elements:
        text, result = program(case, element, inputs(case, element)[0].shape)
        for lacking in [[p for p in ALL if p != one] for one in pattern.needs] + [[]]:
            _, applied = optimize(text, pattern.set, lacking, tool, unlabelled)
            if is_applied(pattern, applied):
                yield f"{element}: was applied with {'|'.join(lacking) or 'none'}, but needs {'|'.join(pattern.needs)}"
        rewritten, applied = optimize(text, pattern.set, pattern.needs, tool, unlabelled)
        if not is_applied(pattern, applied):
            yield f"{element}: was not applied, only {sorted(applied)}\n{text}"
            continue
        differs += changed(case, text, result, rewritten, element, folder)
    if not differs:
        yield "never changed a bit, so that it needs no permission"


def fails_without_label(pattern, folder):
    if not list(labelled(pattern, folder, "ad-opt-unlabelled", pattern.name)):
        yield "no check fails although the pattern needs no permission"


def folds(case, folder):
    """Folders are no patterns: the operation disappears without a permission, and no bit changes."""
    for element in case.elements:
        text, result = program(case, element, inputs(case, element)[0].shape)
        rewritten, _ = optimize(text, "simplify", [])
        if " = ad." in rewritten.replace("= ad.constant", ""):
            yield f"{element}: was not folded:\n{rewritten}"
        if count := changed(case, text, result, rewritten, element, folder):
            yield f"{element}: changes {count} elements\n{text}"


def in_sources(known):
    """Each pattern of the sources is listed."""
    for file in sorted((runner.ROOT / "lib").rglob("*.cpp")):
        text = file.read_text()
        if "NumericsPattern" in text:
            names = set(re.findall(r'\(context, "([a-z-]+)"', text)) - known
            yield from (f"{file.name}: ad-list-patterns does not list '{name}'" for name in sorted(names))


def main():
    every = list(dict.fromkeys(patterns()))
    run, unlabelled = [], 0
    for pattern in every:
        label = f"{pattern.name} of {pattern.root}"
        if pattern.root in STRUCTURE or (pattern.name.split("<")[0], pattern.root) in NEVER:
            continue
        if not case_of(pattern):
            run.append((label, lambda folder: "has no case in test/Permissions/cases.py"))
        elif pattern.needs:
            run.append((label, functools.partial(labelled, pattern)))
            run.append((f"{label}, unlabelled", functools.partial(fails_without_label, pattern)))
            unlabelled += 1
        else:
            run.append((label, functools.partial(exact, pattern)))
    run = checks.sample(run, 8)
    run += [(f"folding of {name}", functools.partial(folds, case)) for name, case in FOLDS.items()]
    run.append(("sources", lambda folder: list(in_sources({pattern.name for pattern in every}))))
    print(f"{len(every)} patterns; {unlabelled} labels are removed, one at a time")
    return checks.run_checks("permission_labels", run)


if __name__ == "__main__":
    sys.exit(main())
