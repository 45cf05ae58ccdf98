# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random numbers and stochastic rounding: the bits of NumPy and of the runner's sources, on every target, CPU and
number of threads, for short shapes, unaligned counters and dynamic sizes. Closes with `N run, N failed`.
"""

import functools
import os
import pathlib
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import random_numbers  # noqa: E402
import runner  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
KEY = 0x1234567890ABCDEF
RESULTS = {"bits32": ("rng_bits", "i32"), "bits64": ("rng_bits", "i64"), "uniform32": ("rng_uniform", "f32"),
           "uniform64": ("rng_uniform", "f64"), "normal32": ("rng_normal", "f32"), "normal64": ("rng_normal", "f64")}
RUNS = [["--target=reference"], ["--target=gpu-sim"], *[["--threads", str(n)] for n in (1, 2, 3, 7)],
        *[["--cpu", name] for name in ("x86-64-v4", "x86-64-v3", "x86-64") if runner.runs_here(name)]]
ONES = (1 << 64) - 1


def run(folder, text, inputs, options):
    """The results of a program, by name."""
    (folder / "program.mlir").write_text(text)
    given = []
    for name, value in inputs.items():
        if isinstance(value, np.ndarray):
            np.save(folder / f"{name}.npy", value)
            value = folder / f"{name}.npy"
        given.append(f"--arg={name}={value}")
    out = folder / "out"
    subprocess.run([BIN / "ad-runner", folder / "program.mlir", "--cache=off", "--out-dir", out, *given, *options],
                   check=True, capture_output=True, text=True)
    return {path.stem: np.load(path) for path in out.glob("*.npy")}


def signed(number):
    return np.array(number, np.uint64).view(np.int64)


def distributions(type_, size):
    """All results of a key and a counter of `size` elements of type `type_`."""
    lines = [f"  %{name} = ad.{op} %key, %counter : tensor<i64>, tensor<{type_}xi64> -> tensor<{type_}x{element}>\n"
             for name, (op, element) in RESULTS.items()]
    types = [f"tensor<{type_}x{element}>" for _, element in RESULTS.values()]
    results = ", ".join(f'{t} {{ad.name = "{name}"}}' for name, t in zip(RESULTS, types))
    return (f'func.func @main(%key: tensor<i64> {{ad.name = "key"}}, %counter: tensor<{type_}xi64> '
            f'{{ad.name = "counter"}}) -> ({results}) {{\n{"".join(lines)}'
            f"  return {', '.join('%' + name for name in RESULTS)} : {', '.join(types)}\n}}\n")


def expected(name, key, counter):
    op, element = RESULTS[name]
    return random_numbers.bits(element, key, counter) if op == "rng_bits" else \
        random_numbers.uniform(element, key, counter)


def check_targets(size, dynamic, folder):
    """Counters that cross 2^32 and the sign; each run gives the bits of the first, which are NumPy's."""
    counter = signed(2**32 - 5) + np.arange(size) * signed(0x0123456789ABCDE)
    text = distributions("?" if dynamic else str(size), size)
    first = None
    for options in RUNS:
        found = run(folder, text, {"key": signed(KEY), "counter": counter}, options)
        first = first or found
        for name in RESULTS:
            if found[name].tobytes() != first[name].tobytes():
                yield f"{' '.join(options)}: {name} differs from {' '.join(RUNS[0])}"
    for name in RESULTS:
        if "normal" in name:
            want = random_numbers.normal(signed(KEY), counter)
            if not np.allclose(first[name], want, rtol=1e-6 if name == "normal32" else 1e-12, atol=1e-14):
                yield f"{name} is not NumPy's"
        elif first[name].tobytes() != np.ascontiguousarray(expected(name, signed(KEY), counter)).tobytes():
            yield f"{name} is not NumPy's"


def check_published(folder):
    """Random123's answer for a counter and key of zeros. (The others have counters of 128 bits: ad-numerics-unit.)"""
    for options in RUNS:
        found = run(folder, distributions("1", 1), {"key": "zeros", "counter": "zeros"}, options)
        if found["bits64"].view(np.uint64)[0] != 0x6627E8D5E169C58D or found["bits32"][0] != 0x6627E8D5:
            yield f"{' '.join(options)}: {found}"


def check_sources(seed, folder):
    """With the index as counter: uniform:SEED and normal:SEED."""
    names = ["uniform32", "uniform64", "normal32", "normal64"]
    types = [f"tensor<1003x{RESULTS[name][1]}>" for name in names]
    arguments = ", ".join(f'%{name}: {t} {{ad.name = "{name}"}}' for name, t in zip(names, types))
    lines = ["  %counter = ad.iota axis 0 : tensor<1003xi64>\n"]
    for name, t in zip(names, types):
        lines += [f"  %{name}_op = ad.{RESULTS[name][0]} %key, %counter : tensor<i64>, tensor<1003xi64> -> {t}\n",
                  f"  check.expect_eq(%{name}_op, %{name}) : {t}\n"]
    text = (f'func.func @main(%key: tensor<i64> {{ad.name = "key"}}, {arguments}) -> tensor<1003xi64> {{\n'
            f"{''.join(lines)}  return %counter : tensor<1003xi64>\n}}\n")
    inputs = {"key": signed(seed), **{name: f"{name[:-2]}:{seed}" for name in names}}
    for options in RUNS[:3]:
        run(folder, text, inputs, options)


def cast_program(type_, element):
    return (f'func.func @main(%x: tensor<{type_}xf32> {{ad.name = "x"}}, %key: tensor<i64> {{ad.name = "key"}}, '
            f'%counter: tensor<{type_}xi64> {{ad.name = "counter"}}) -> (tensor<{type_}x{element}> '
            f'{{ad.name = "y"}}) {{\n  %y = ad.cast_stochastic %x, %key, %counter : tensor<{type_}xf32>, tensor<i64>, '
            f"tensor<{type_}xi64> -> tensor<{type_}x{element}>\n  return %y : tensor<{type_}x{element}>\n}}\n")


def cast(folder, element, x, counter, options=(), type_=None):
    found = run(folder, cast_program(type_ or x.size, element), {"x": x, "key": signed(7), "counter": counter}, options)
    return found["y"].view(elements.STORAGE[element])


def adversarial(element):
    """Random bits, numbers about the ends of the range and the subnormal numbers of the type, special values."""
    rng = np.random.default_rng(3)
    wide = rng.integers(0, 2**32, 4000, np.uint32).view(np.float32)
    around = [scale * rng.uniform(0.5, 2, 1000) * rng.choice([-1, 1], 1000) for scale in
              (1, elements.LARGEST[element], 2.0**elements.MIN_EXPONENT[element],
               2.0**(elements.MIN_EXPONENT[element] - elements.MANTISSA[element]))]
    with np.errstate(over="ignore"):
        small = np.concatenate(around).astype(np.float32)
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4028235e38], np.float32)
    return np.concatenate([special, small, wide])


def check_cast(element, folder):
    """The definition by NumPy on adversarial values, the same bits in each run, and of what the type has."""
    x = adversarial(element)
    counter = np.arange(x.size)
    want = random_numbers.round_stochastically(element, x, random_numbers.words(signed(7), counter)[0])
    for options in RUNS:
        found = cast(folder, element, x, counter, options)
        wrong = np.flatnonzero(~elements.same_bits(element, found, want))
        if wrong.size:
            yield f"{' '.join(options)}: {wrong.size} wrong, {x[wrong[0]]!r} gives {found[wrong[0]]!r}"
    codes = np.arange(1 << 8 * want.itemsize).astype(f"u{want.itemsize}").view(want.dtype)
    with np.errstate(invalid="ignore"):  # signalling NaN
        exact = elements.decode(element, codes).astype(np.float32)
    kept = cast(folder, element, exact, np.arange(exact.size))
    want = elements.encode(element, exact.astype(np.float64))  # an infinity of f8E5M2 saturates, as in ad.cast
    if not elements.same_bits(element, kept, want).all():
        yield "a value of the type is not kept"


def check_low_halves(folder):
    """All 2^16 lower halves of one f32: how many of 16 draws of each round up is what the halves say."""
    halves = np.repeat(np.arange(1 << 16, dtype=np.uint32), 16)
    x = (halves | np.uint32(0x3F800000)).view(np.float32)
    word = random_numbers.words(signed(7), np.arange(x.size))[0]
    found = cast(folder, "bf16", x, np.arange(x.size))
    up = found.astype(np.int64) - 0x3F80
    if not np.array_equal(up, (halves + (word >> np.uint64(16)) >= 1 << 16).astype(np.int64)):
        yield "a half does not round up exactly if it and the upper half of the word carry"
    share = up.reshape(16, -1).mean(1)  # of the halves in sixteen equal ranges; the deviation is below 0.002
    if np.abs(share - (np.arange(16) + 0.5) / 16).max() > 0.01:
        yield f"shares of roundings up {share}"


def check_statistics(element, folder):
    """One number at many counters: the mean of the results is the number."""
    for value in (1.1, -2.7, 0.3 * 2.0**(elements.MIN_EXPONENT[element] - elements.MANTISSA[element])):
        x = np.full(100_000, value, np.float32)
        below, ulp, share = random_numbers.fractions(element, x[:1])
        found = np.abs(elements.decode(element, cast(folder, element, x, np.arange(x.size))))
        up = ((found - below) / ulp).mean()
        if abs(up - share[0]) > 5 * np.sqrt(0.25 / x.size):
            yield f"{value}: rounds up {up} of the time, expected {share[0]}"


def check_folding(folder):
    """Operations on constants fold to the bits that they give when they run, on results of barriers."""
    lines = ["%key = ad.constant dense<7> : tensor<i64>",
             "%counter = ad.constant dense<[0, -1, 8589934592]> : tensor<3xi64>",
             "%x = ad.constant dense<[1.1, -3.0e-6, 6.5519e4]> : tensor<3xf32>",
             "%b:3 = ad.barrier %key, %counter, %x : tensor<i64>, tensor<3xi64>, tensor<3xf32>"]
    ops = [(op, element, "") for op, element in RESULTS.values()]
    ops += [("cast_stochastic", element, "tensor<3xf32>, ") for element in elements.SMALL_FLOATS]
    for number, (op, element, first) in enumerate(ops):
        types = f": {first}tensor<i64>, tensor<3xi64> -> tensor<3x{element}>"
        for name, operands in ((f"%folded{number}", ("%x, " if first else "") + "%key, %counter"),
                               (f"%run{number}", ("%b#2, " if first else "") + "%b#0, %b#1")):
            lines.append(f"{name} = ad.{op} {operands} {types}")
        lines.append(f"check.expect_eq(%folded{number}, %run{number}) : tensor<3x{element}>")
    body = "".join(f"  {line}\n" for line in lines)
    text = f"func.func @main() -> tensor<3xi64> {{\n{body}  return %b#1 : tensor<3xi64>\n}}\n"
    (folder / "folds.mlir").write_text(text)
    folded = subprocess.run([BIN / "ad-opt", folder / "folds.mlir", "--canonicalize"], check=True, capture_output=True,
                            text=True).stdout
    left = folded.count("ad.rng_") + folded.count("ad.cast_stochastic")
    if left != len(ops):
        yield f"{left} operations are left, expected the {len(ops)} on results of the barrier"
    for options in RUNS:
        run(folder, folded, {}, options)


def check_gradient(folder):
    """The cotangent comes back through the cast of the result to bf16 and its rounding, summed where x repeats."""
    text = """func.func private @loss(%x: tensor<3xf32>, %c: tensor<2x3xf32>, %n: tensor<2x3xi64>) -> tensor<f32> {
  %key = ad.constant dense<7> : tensor<i64>
  %y = ad.cast_stochastic %x, %key, %n : tensor<3xf32>, tensor<i64>, tensor<2x3xi64> -> tensor<2x3xbf16>
  %wide = ad.cast %y : tensor<2x3xbf16> -> tensor<2x3xf32>
  %product = ad.mul %wide, %c : tensor<2x3xf32>
  %loss = ad.reduce_sum %product axes [0, 1] : tensor<2x3xf32> -> tensor<f32>
  return %loss : tensor<f32>
}
func.func @main(%x: tensor<3xf32> {ad.name = "x"}, %c: tensor<2x3xf32> {ad.name = "c"},
                %n: tensor<2x3xi64> {ad.name = "n"}) -> (tensor<3xf32> {ad.name = "dx"}) {
  %loss, %dx = ad.value_and_grad @loss(%x, %c, %n) wrt [0]
      : (tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xi64>) -> (tensor<f32>, tensor<3xf32>)
  return %dx : tensor<3xf32>
}
"""
    c = np.array([[1, 2.5, -3], [0.5, 4, 7]], np.float32)  # values of bf16
    for options in RUNS:
        found = run(folder, text, {"x": np.ones(3, np.float32), "c": c, "n": np.arange(6).reshape(2, 3)}, options)
        if not np.array_equal(found["dx"], c.sum(0)):
            yield f"{' '.join(options)}: gradient {found['dx']}, expected {c.sum(0)}"


def check_dynamic(folder):
    for size in (1, 5, 67):
        x = np.linspace(-3, 3, size, dtype=np.float32)
        found = [cast(folder, "bf16", x, np.arange(size) - 2, options, "?").tobytes() for options in RUNS]
        if len(set(found)) != 1:
            yield f"{size} elements: targets differ"


def main():
    cases = [("published answer", check_published), ("lower halves", check_low_halves), ("dynamic cast", check_dynamic),
             ("gradient", check_gradient), ("folding", check_folding)]
    cases += [(f"{size} counters{', dynamic' * dynamic}", functools.partial(check_targets, size, dynamic))
              for size in (1, 7, 33, 1021) for dynamic in (False, True)]
    cases += [(f"sources of seed {seed}", functools.partial(check_sources, seed)) for seed in (0, 5, ONES)]
    for element in elements.SMALL_FLOATS:
        cases += [(f"{name} {element}", functools.partial(check, element))
                  for name, check in (("cast", check_cast), ("statistics", check_statistics))]
    return checks.run_checks("random-numbers", checks.sample(cases, 4))


if __name__ == "__main__":
    sys.exit(main())
