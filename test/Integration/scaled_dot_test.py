# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random ad.scaled_dot operations with their derivatives: axes in any order, batches, sizes of 0, open sizes, every
pair of types, with given scales and without, with zeros, infinities, NaN and values beyond the range of 8 bits. The
reference interpreter gives what NumPy computes from operands that ml_dtypes rounds, within the error of a sum in f32,
and largest magnitudes exactly; the CPU and the emulated GPU give the bits of the reference interpreter."""

import pathlib
import random
import sys

import ml_dtypes
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

BYTES = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}
WIDE = ("f32", "f32", "bf16", "f16")
TARGETS = {"the CPU": ["--numerics=reproducible"], "the CPU at -O0": ["--numerics=reproducible", "-O0"],
           "the emulated GPU": ["--target=gpu-sim", "--numerics=reproducible"]}
LETTERS = "abcdefghijkl"


def largest(values):
    return float(np.max(np.abs(values))) if values.size else 0.0


def current_scale(magnitude, byte):
    """The largest power of two with which the magnitude is at most the greatest finite number."""
    if not np.isfinite(magnitude) or magnitude == 0:
        return 1.0
    exponents = [e for e in range(-126, 127) if magnitude * 2.0**e <= elements.LARGEST[byte]]
    return 2.0**max(exponents)


def rounded(values, scale, byte):
    """In f64."""
    limit = elements.LARGEST[byte]
    with np.errstate(all="ignore"):
        product = values.astype(np.float32) * np.float32(scale)
        return np.clip(product, -limit, limit).astype(BYTES[byte]).astype(np.float64)


class Operand:
    def __init__(self, rng, axes, sizes, element, byte):
        self.axes, self.element, self.byte = axes, element, byte
        self.shape = [sizes[axis] for axis in axes]
        self.opened = rng.choice(axes) if axes and rng.random() < 0.2 else None

    def type(self):
        return elements.tensor(self.element, ["?" if axis == self.opened else size
                                              for axis, size in zip(self.axes, self.shape)])

    def positions(self, axes):
        return [self.axes.index(axis) for axis in axes]


class Case:
    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        letters = iter(LETTERS)
        groups = [[next(letters) for _ in range(rng.choice(counts))]
                  for counts in ((0, 0, 1, 2), (1, 1, 1, 2, 0), (0, 1, 1, 2), (0, 1, 1, 2))]
        self.batch, self.contracted, left, right = groups
        sizes = {axis: rng.choice((1, 2, 3, 5, 8, 17)) for group in groups for axis in group}
        for axis in self.contracted:
            sizes[axis] = rng.choice((1, 2, 4, 9, 33, 70))
        if sizes and rng.random() < 0.1:
            sizes[rng.choice(list(sizes))] = 0
        axes = [rng.sample(self.batch + self.contracted + own, len(self.batch + self.contracted + own))
                for own in (left, right)]
        own = [[axis for axis in order if axis in free] for order, free in zip(axes, (left, right))]
        bytes_ = [rng.choice(list(BYTES)) for _ in range(3)]
        if rng.random() < 0.5:
            bytes_ = ["f8E4M3FN", "f8E4M3FN", "f8E5M2"]
        self.lhs, self.rhs = (Operand(rng, order, sizes, rng.choice(WIDE), byte) for order, byte in zip(axes, bytes_))
        self.result = Operand(rng, [*self.batch, *own[0], *own[1]], sizes, rng.choice(WIDE), bytes_[2])
        self.result.opened = None
        self.count = rng.choice((0, 2, 3, 3))
        self.kind = rng.choice(("plain", "plain", "large", "tiny", "special", "zeros"))
        self.scales = [self.scale() for _ in range(3)]

    def scale(self):
        if self.kind == "special":
            return self.rng.choice((0.0, -2.0, float("nan"), float("inf"), 3.7, 2.0**-130, 2.0**100))
        return self.rng.choice((1.0, 2.0**self.rng.randrange(-6, 12), self.rng.uniform(0.1, 100)))

    def __str__(self):
        operands = ", ".join(f"{x.axes} {x.type()} {x.byte}" for x in (self.lhs, self.rhs, self.result))
        return f"{operands}, {self.count} scales {self.scales}, {self.kind} values"

    def values(self, operand):
        values = self.numbers.normal(size=operand.shape)
        if self.kind == "large":
            values *= 2.0**self.rng.randrange(4, 14)
        elif self.kind == "tiny":
            values *= 2.0**-self.rng.randrange(8, 14)
        elif self.kind == "zeros":
            values *= self.rng.choice((0, 1))
        elif self.kind == "special" and values.size:
            flat = values.reshape(-1)
            for _ in range(self.rng.choice((1, 2))):
                flat[self.numbers.integers(flat.size)] = self.rng.choice((np.inf, -np.inf, np.nan, 0.0, 6e4))
        return elements.encode(operand.element, values)

    def lists(self):
        pair = [f"[{', '.join(map(str, self.lhs.positions(axes)))}] x "
                f"[{', '.join(map(str, self.rhs.positions(axes)))}]" for axes in (self.batch, self.contracted)]
        return f"batch {pair[0]} contract {pair[1]}"

    def program(self):
        lhs, rhs = self.lhs.type(), self.rhs.type()
        out = self.result_type()
        names = ["%sa", "%sb", "%sg"][:self.count]
        scales = f"scales({', '.join(names)}) " if self.count else ""
        types = f"types [{self.lhs.byte}, {self.rhs.byte}, {self.result.byte}]"
        operation = f"ad.scaled_dot %a, %b {scales}{types} {self.lists()} : ({lhs}, {rhs}) -> {out}"
        arguments = "".join(f", {name}: tensor<f32>" for name in names)
        named = "".join(f', {name}: tensor<f32> {{ad.name = "{name[1:]}"}}' for name in names)
        inputs = ", ".join([lhs, rhs, *["tensor<f32>"] * self.count])
        wrt = list(range(2 + self.count))
        results = ["%y", "%da", "%db", *[f"%d{name[1:]}" for name in names], "%la", "%lb"]
        kinds = [out, lhs, rhs, *["tensor<f32>"] * (self.count + 2)]
        returned = ", ".join(f'{kind} {{ad.name = "{name[1:]}"}}' for name, kind in zip(results, kinds))
        return (f"func.func private @f(%a: {lhs}, %b: {rhs}{arguments}) -> {out} {{\n"
                f"  %y, %la, %lb = {operation}\n  return %y : {out}\n}}\n"
                f'func.func @main(%a: {lhs} {{ad.name = "a"}}, %b: {rhs} {{ad.name = "b"}}, %g: {out} '
                f'{{ad.name = "g"}}{named}) -> ({returned}) {{\n  {", ".join(results[:-2])} = ad.vjp '
                f"@f({', '.join(['%a', '%b', *names])}) cotangents(%g) wrt {wrt}\n      : ({inputs}, {out}) -> "
                f"({', '.join(kinds[:-2])})\n  %z, %la, %lb = {operation}\n"
                f"  return {', '.join(results)} : {', '.join(kinds)}\n}}\n"), list(zip(
                    [name[1:] for name in results],
                    [self.result.element, self.lhs.element, self.rhs.element, *["f32"] * (self.count + 2)]))

    def result_type(self):
        """A size is open if the operand that it comes from has it open."""
        opened = [axis for axis in self.result.axes
                  if axis in (self.lhs.opened, self.rhs.opened) and self.is_open(axis)]
        return elements.tensor(self.result.element, ["?" if axis in opened else size
                                                     for axis, size in zip(self.result.axes, self.result.shape)])

    def is_open(self, axis):
        return all(axis == operand.opened for operand in (self.lhs, self.rhs) if axis in operand.axes)

    def expected(self, given):
        """(value in f64, bound of the error) of each result."""
        values = [elements.decode(x.element, v) for x, v in zip((self.lhs, self.rhs, self.result), given)]
        a, b, g = values
        known = {2: [*self.scales[:2], None], 3: self.scales}.get(self.count, [None] * 3)
        scales = [current_scale(largest(v), x.byte) if scale is None else scale
                  for scale, v, x in zip(known, values, (self.lhs, self.rhs, self.result))]
        qa, qb, qg = (rounded(v, scale, x.byte)
                      for v, scale, x in zip(values, scales, (self.lhs, self.rhs, self.result)))
        x, y, z = ("".join(operand.axes) for operand in (self.lhs, self.rhs, self.result))
        products = [("y", f"{x},{y}->{z}", qa, qb, scales[0], scales[1], self.result),
                    ("da", f"{z},{y}->{x}", qg, qb, scales[2], scales[1], self.lhs),
                    ("db", f"{x},{z}->{y}", qa, qg, scales[0], scales[2], self.rhs)]
        found = {name: self.product(*rest) for name, *rest in products}
        found["la"], found["lb"] = (largest(a), 0.0), (largest(b), 0.0)
        for name, value in list(zip(("dsa", "dsb", "dsg"), (a, b, g)))[:self.count]:
            found[name] = (largest(value), 0.0)
        return found

    def product(self, axes, left, right, left_scale, right_scale, operand):
        with np.errstate(all="ignore"):
            one = np.float32(1)
            factor = float(one / np.float32(left_scale) * (one / np.float32(right_scale)))
            total = np.einsum(axes, left, right) * factor
            parts = np.einsum(axes, np.abs(left), np.abs(right)) * abs(factor)
            count = max(1, left.size * right.size // max(1, total.size))
            narrow = elements.ulp(operand.element, total)
            return total, parts * min(count, 10_000) * 2.0**-22 + narrow


def wrong_value(element, found, value, bound):
    """Numbers beyond the range of the type are infinite."""
    found = elements.decode(element, found)
    with np.errstate(all="ignore"):
        wanted = elements.decode(element, elements.encode(element, np.float64(np.float32(value))))
        fits = np.isclose(found, value, rtol=0, atol=0) | (np.abs(found - value) <= bound)
        fits |= (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    return None if np.shape(found) == np.shape(value) and np.all(fits) else f"{found} instead of {value}"


def check(seed, folder):
    case = Case(seed)
    given = [case.values(x) for x in (case.lhs, case.rhs, case.result)]
    text, results = case.program()
    arguments = list(zip("abg", (case.lhs.element, case.rhs.element, case.result.element), given))
    arguments += [(name, "f32", np.float32(scale)) for name, scale in zip(("sa", "sb", "sg"), case.scales[:case.count])]
    expected, kinds = case.expected(given), dict(results)
    compared = set()
    for label, name, reference, found in runner.match_reference(folder, text, arguments, results, TARGETS):
        if name not in compared:
            if problem := wrong_value(kinds[name], reference, *expected[name]):
                yield f"{name} of the reference interpreter is {problem}: {case}"
            compared.add(name)
        if not np.all(elements.same_bits(kinds[name], reference, found)):
            yield f"{name} on {label} is {found} instead of {reference}: {case}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("scaled dot", check, count=20))
