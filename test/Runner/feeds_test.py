#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Feeds and arguments have the values that NumPy wrote: files of every element type, in both orders of axes, of any
length, used once or cyclically, and generated values, which continue from one iteration to the next. Closes with
`feeds: N run, N failed`."""

import functools
import pathlib
import random
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

STREAMS = 12  # in one program


def program(types, iterations):
    """Each feed `fN` is sent back as `rN` in each iteration; argument `aN`, which has all values of one stream, is a
    result."""
    arguments = ", ".join(f'%a{i}: {elements.tensor(e, (iterations, *s))} {{ad.name = "a{i}"}}' for i,
                          (e, s) in enumerate(types))
    results = ", ".join(f'{elements.tensor(e, (iterations, *s))} {{ad.name = "b{i}"}}' for i,
                        (e, s) in enumerate(types))
    body = "".join(f'    %v{i} = ad.feed "f{i}" : {elements.tensor(e, s)}\n    ad.receive "r{i}"(%v{i}) : {elements.tensor(e, s)}\n' for i, (e, s) in enumerate(types))
    moved = "".join(f"  %b{i} = ad.barrier %a{i} : {elements.tensor(e, (iterations, *s))}\n" for i,
                    (e, s) in enumerate(types))
    returned = ", ".join(f"%b{i}" for i in range(len(types)))
    returned_types = ", ".join(elements.tensor(e, (iterations, *s)) for e, s in types)
    return f"""func.func @main({arguments}) -> ({results}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant {iterations} : index
  scf.for %i = %zero to %end step %one {{
{body}  }}
{moved}  return {returned} : {returned_types}
}}
"""


def run(folder, text, options):
    """The exit code, what was said, and the arrays by name as they were written."""
    (folder / "program.mlir").write_text(text)
    out = folder / "out"
    done = subprocess.run([runner.binary("ad-runner"), folder / "program.mlir", "--cache", "off", "--out-dir", out,
                           *options],
                          capture_output=True, text=True)
    return done.returncode, done.stderr, {file.stem: np.load(file) for file in out.glob("*.npy")}


def save(path, element, array, fortran):
    elements.save(path, element, array)
    if fortran:
        np.save(path, np.asfortranarray(np.load(path)))


def same(element, expected, found):
    """Bit by bit, a NaN too: nothing is computed."""
    if found is None or found.shape != expected.shape:
        return False
    width = np.dtype(elements.STORAGE[element]).itemsize
    return np.array_equal(*(np.ascontiguousarray(a).reshape(-1).view(f"u{width}") for a in (expected, found)))


def shape_of(draw):
    return tuple(draw.choice([1, 2, 3, 5]) for _ in range(draw.randrange(4)))


def files(seed, target, folder):
    """Files of streams that are shorter than the loop, as long, and longer."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    iterations = draw.choice([1, 2, 5, 9, 12])
    types, options, expected = [], [], {}
    for i in range(STREAMS):
        element, shape = elements.ALL[(i + seed) % len(elements.ALL)], shape_of(draw)
        length = draw.choice([1, 2, 3, 4, 6, iterations, iterations + 1, 2 * iterations])
        stream = elements.random(numbers, element, (length, *shape), special=0.2)
        whole = elements.random(numbers, element, (iterations, *shape), special=0.2)
        save(folder / f"f{i}.npy", element, stream, draw.random() < 0.5)
        save(folder / f"a{i}.npy", element, whole, draw.random() < 0.5)
        cycle = ",cycle" if length < iterations or draw.random() < 0.5 else ""
        options += ["--feed", f"f{i}={folder / f'f{i}.npy'}{cycle}", "--arg", f"a{i}={folder / f'a{i}.npy'}"]
        types.append((element, shape))
        expected[f"r{i}"] = element, stream[np.arange(iterations) % length]
        expected[f"b{i}"] = element, whole
    # A warm-up and a repetition start over.
    again = draw.choice([[], ["--warmup", "1", "--repeat", "1"], ["--repeat", "2"]])
    code, said, found = run(folder, program(types, iterations), [*options, *again, "--target", target])
    if code:
        yield f"exit code {code}: {said}"
    for name, (element, array) in expected.items():
        if not same(element, array, found.get(name)):
            yield f"{name}: {element} {array.shape}, {iterations} iterations: {options}"


def ended(seed, folder):
    """A file that is used up, among others that are not, ends the program; what came before is kept."""
    draw, numbers = random.Random(seed), np.random.default_rng(seed)
    types, options, expected, iterations, shortest = [], [], {}, 9, draw.randrange(1, 9)
    late = draw.randrange(STREAMS)
    for i in range(STREAMS):
        element, shape = draw.choice(elements.ALL), shape_of(draw)
        length = shortest if i == late else draw.choice([9, 10]) if draw.random() < 0.5 else shortest + 1
        stream = elements.random(numbers, element, (length, *shape))
        save(folder / f"f{i}.npy", element, stream, draw.random() < 0.5)
        options += ["--feed", f"f{i}={folder / f'f{i}.npy'}", "--arg", f"a{i}=zeros"]
        types.append((element, shape))
        received = shortest + (i < late)
        expected[f"r{i}"] = element, stream[:received]
    code, said, found = run(folder, program(types, iterations), options)
    message = f"'{folder / f'f{late}.npy'}' is used up after {shortest} {'value' if shortest == 1 else 'values'}, append ',cycle' to start over"
    if code != 2 or message not in said:
        yield f"expected \"{message}\", got exit code {code}: {said}"
    for name, (element, array) in expected.items():
        if not same(element, array, found.get(name)):
            yield f"{name}: {element} {array.shape}"


def generated(seed, target, folder):
    """All values of a generated stream are those of one argument from the same source."""
    draw, types, options, iterations = random.Random(seed), [], [], 7
    for i in range(STREAMS):
        source = draw.choice(["zeros", "arange", f"normal:{seed}:0.5", f"uniform:{seed}:2", f"uniform:{seed + i}:1"])
        floats = [element for element in elements.FLOATS if element not in ("f8E4M3FN", "f8E5M2")]
        types.append((draw.choice(floats if source.startswith("normal") else [*floats, "i8", "i32", "i64"]),
                      shape_of(draw)))
        options += ["--feed", f"f{i}={source}", "--arg", f"a{i}={source}"]
    code, said, found = run(folder, program(types, iterations), [*options, "--target", target])
    if code:
        yield f"exit code {code}: {said}"
        return
    for i, (element, shape) in enumerate(types):
        if not same(element, found[f"b{i}"], found[f"r{i}"]):
            yield f"r{i}: {element} {shape}: {options[4 * i:4 * i + 4]}"
        count = np.arange(found[f"r{i}"].size)
        if options[4 * i + 1].endswith("=arange") and (element != "i8" or count.size < 128):
            if not same(element, elements.encode(element, count).reshape(iterations, *shape),
                        elements.load(folder / "out" / f"r{i}.npy", element)):
                yield f"r{i}: {element} {shape} does not count"


def main():
    cases = [(f"files {seed}, {target}", functools.partial(files, seed, target)) for target, seeds in
             {"cpu": range(24), "reference": range(24, 30), "gpu-sim": range(30, 36)}.items() for seed in seeds]
    cases += [(f"files that end, {seed}", functools.partial(ended, seed)) for seed in range(8)]
    cases += [(f"generated, {target}, {seed}", functools.partial(generated, seed, target))
              for target in ("cpu", "reference", "gpu-sim")
              for seed in range(2)]
    return checks.run_checks("feeds", cases)


if __name__ == "__main__":
    sys.exit(main())
