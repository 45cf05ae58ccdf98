# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The cotangents of a value of 8 or 16 bits that has several users, added in its type and in f32
(`ad.cotangent_sums`), against an emulation in NumPy: the same bits on each target. Random programs use the value in
products, parts, concatenations, casts, calls, branches and loops. --seed N --count M. Closes with `cotangent sums: N
run, N failed`."""

import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

SIZE, PART, TRIPS, ROWS = 16, 4, 3, 5  # ROWS: iterations of the loop that reads parts
TARGETS = [["--target", target, "--numerics", "reproducible"] for target in ("reference", "cpu", "gpu-sim")]
HEAD = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %trips = arith.constant 3 : index
  %rows = arith.constant 5 : index
  %zeros = ad.constant dense<0.0> : tensor<4xE>
  %one = tensor.extract %flag[%c0] : tensor<1xi1>
"""


def add(element, left, right):
    """One addition, rounded to the type."""
    with np.errstate(all="ignore"):
        wide = np.add(left, right, dtype=np.float32).astype(np.float64)
    return rounded(element, wide)


def rounded(element, values):
    return elements.decode(element, elements.encode(element, values))


class Sum:
    """The cotangent of a value, whose uses are met from the last to the first. Sums have the type `kind`."""

    def __init__(self, kind):
        self.kind, self.later, self.so_far = kind, [], None

    def meet(self, contributions):
        """Of one use: arrays of the whole value, or (offset, array)."""
        self.later = [*contributions, *self.later]

    def take(self):
        order, so_far = self.later, self.so_far
        self.later, self.so_far = [], None
        whole = next((index for index, one in enumerate(order) if not isinstance(one, tuple)), None)
        if so_far is not None and whole is None:
            total = so_far
        elif whole is None:
            total = np.zeros(SIZE) if order else None
        else:
            total = order.pop(whole)
        for one in order:
            total = self.add_part(total, *one) if isinstance(one, tuple) else add(self.kind, total, one)
        return add(self.kind, so_far, total) if so_far is not None and whole is not None else total

    def add_part(self, total, offset, part):
        total = total.copy()
        total[offset:offset + len(part)] = add(self.kind, total[offset:offset + len(part)], part)
        return total


class Use:
    """One use of %v in @f: its text, which defines %r{n}, and what it adds to the cotangent of the value."""

    def __init__(self, n, name, program):
        self.n, self.name, self.p = n, name, program
        self.type = {"slice": program.part, "dynamic slice": program.part, "loop of parts": program.part,
                     "concat": program.double, "cast": program.vector.replace(program.element, "f32")}.get(
                         name, program.vector)
        self.element = "f32" if name == "cast" else program.element
        self.offset = int(program.rng.integers(SIZE - PART + 1))

    def size(self):
        return {self.p.part: PART}.get(self.type, 2 * SIZE if self.name == "concat" else SIZE)

    def text(self):
        n, v, part = self.n, self.p.vector, self.p.part
        return {
            "mul": f"%r{n} = ad.mul %v, %k{n} : {v}",
            "square": f"%r{n} = ad.mul %v, %v : {v}",
            "call": f"%r{n} = call @times(%v, %k{n}) : ({v}, {v}) -> {v}",
            "cast": f"%r{n} = ad.cast %v : {v} -> {self.type}",
            "concat": f"%r{n} = ad.concat axis 0 %v, %v : {v}, {v}",
            "slice": f"%r{n} = ad.slice %v [{self.offset}] strides [1] : {v} -> {part}",
            "dynamic slice": f"%o{n} = arith.constant {self.offset} : index\n"
                             f"%r{n} = ad.dynamic_slice %v[%o{n}] : {v} -> {part}",
            "branch": f"%r{n} = scf.if %one -> {v} {{\n%s{n} = ad.mul %v, %k{n} : {v}\n"
                      f"%t{n} = ad.add %s{n}, %v : {v}\nscf.yield %t{n} : {v}\n}} else {{\n"
                      f"%u{n} = ad.neg %v : {v}\nscf.yield %u{n} : {v}\n}}",
            "loop": f"%r{n} = scf.for %i{n} = %c0 to %trips step %c1 iter_args(%a{n} = %k{n}) -> ({v}) {{\n"
                    f"%b{n} = ad.mul %a{n}, %v : {v}\nscf.yield %b{n} : {v}\n}}",
            "loop of parts": f"%r{n} = scf.for %i{n} = %c0 to %rows step %c1 iter_args(%a{n} = %zeros) -> ({part}) {{\n"
                             f"%s{n} = ad.dynamic_slice %v[%i{n}] : {v} -> {part}\n"
                             f"%b{n} = ad.add %a{n}, %s{n} : {part}\nscf.yield %b{n} : {part}\n}}",
        }[self.name]

    def meet(self, total, v, k, g, flag):
        """Adds the cotangents of the use, whose result has the cotangent g, to those of later uses."""
        product = rounded(self.p.element, g[:SIZE] * (v if self.name == "square" else k)[:len(g)])
        if self.name == "branch":
            total.meet([add(total.kind, product, g) if flag else -g])
        elif self.name == "loop":
            total.meet([self.reverse_loop(total.kind, v, k, g)])
        elif self.name == "loop of parts":
            so_far = total.take()
            so_far = np.zeros(SIZE) if so_far is None else so_far
            for row in reversed(range(ROWS)):
                so_far = total.add_part(so_far, row, g)
            total.so_far = so_far
        else:
            total.meet({"mul": [product], "call": [product], "square": [product, product],
                        "cast": [rounded(self.p.element, g)], "concat": [g[:SIZE], g[SIZE:]]}.get(
                            self.name, [(self.offset, g)]))

    def reverse_loop(self, kind, v, k, g):
        element, carries = self.p.element, [k]
        for _ in range(TRIPS):
            carries.append(rounded(element, carries[-1] * v))
        total = np.zeros(SIZE)
        for carry in reversed(carries[:-1]):
            total = add(kind, total, rounded(element, g * carry))
            g = rounded(element, g * v)
        return total


USES = ["mul", "square", "call", "cast", "concat", "slice", "dynamic slice", "branch", "loop", "loop of parts"]


class Program:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.element = str(self.rng.choice(elements.SMALL_FLOATS))
        self.open = bool(self.rng.integers(4) == 0)  # a dynamic size
        size = "?" if self.open else SIZE
        self.vector, self.part = f"tensor<{size}x{self.element}>", f"tensor<{PART}x{self.element}>"
        self.double = f"tensor<{'?' if self.open else 2 * SIZE}x{self.element}>"
        names = self.rng.choice(USES, int(self.rng.integers(3, 7)))
        self.uses = [Use(n, str(name), self) for n, name in enumerate(names)]
        self.arguments = {"v": (self.element, self.numbers(SIZE)), "flag": ("i1", self.rng.integers(2, size=1) == 1)}
        for use in self.uses:
            self.arguments[f"k{use.n}"] = (self.element, self.numbers(SIZE))
            self.arguments[f"g{use.n}"] = (use.element, self.numbers(use.size(), use.element))

    def numbers(self, size, element=None):
        values = self.rng.uniform(0.5, 1.5, size) * self.rng.choice([-1, 1], size)
        return rounded(element or self.element, values)

    def text(self, attributes="", module=""):
        inputs = ["%v", "%flag"] + [f"%k{use.n}" for use in self.uses]
        types = [self.vector, "tensor<1xi1>"] + [self.vector] * len(self.uses)
        results = [use.type for use in self.uses]
        typed = ", ".join(f"{name}: {type}" for name, type in zip(inputs, types))
        seeds = [f"%g{use.n}: {use.type} {{ad.name = \"g{use.n}\"}}" for use in self.uses]
        named = ", ".join([f'{name}: {type} {{ad.name = "{name[1:]}"}}' for name, type in zip(inputs, types)] + seeds)
        returned = ", ".join(f"%r{use.n}" for use in self.uses)
        gradients = ", ".join(f"%{use.n}" for use in self.uses)
        body = "\n".join(use.text() for use in self.uses)
        v = self.vector
        return f"""module {module} {{
func.func private @times(%x: {v}, %y: {v}) -> {v} {{
  %z = ad.mul %x, %y : {v}
  return %z : {v}
}}
func.func private @f({typed}) -> ({', '.join(results)}) {attributes} {{{HEAD.replace('xE>', f'x{self.element}>')}
{body}
  return {returned} : {', '.join(results)}
}}
func.func @main({named}) -> ({v} {{ad.name = "dv"}}) {{
  {gradients}, %dv = ad.vjp @f({', '.join(inputs)}) cotangents({', '.join(f'%g{use.n}' for use in self.uses)}) wrt [0]
      : ({', '.join([*types, *results])}) -> ({', '.join([*results, v])})
  return %dv : {v}
}}
}}
"""

    def expected(self, kind):
        values = {name: array for name, (_, array) in self.arguments.items()}
        total = Sum(kind)
        for use in reversed(self.uses):
            use.meet(total, values["v"], values[f"k{use.n}"], values[f"g{use.n}"], values["flag"][0])
        return elements.encode(self.element, total.take())

    def write(self, folder):
        for name, (element, array) in self.arguments.items():
            stored = array if element == "i1" else elements.encode(element, array)
            elements.save(folder / f"{name}.npy", element, stored)
            yield f"--arg={name}={folder / name}.npy"


def compare(program, forms, folder):
    arguments = list(program.write(folder))
    for form, (text, kind) in forms.items():
        expected = program.expected(kind)
        for options in TARGETS:
            found = runner.run(text, arguments, [("dv", program.element)], options)["dv"]
            if not np.all(elements.same_bits(program.element, found, expected)):
                uses = ", ".join(use.name for use in program.uses)
                yield (f"{options[1]}, {form}, {program.vector}, uses {uses}: found "
                       f"{elements.decode(program.element, found)}, expected {elements.decode(program.element, expected)}")


def check(seed, folder):
    program = Program(seed)
    return compare(program, {
        "no attribute": (program.text(), program.element),
        "function": (program.text("attributes {ad.cotangent_sums = f32}"), "f32"),
        "module": (program.text(module="attributes {ad.cotangent_sums = f32}"), "f32"),
    }, folder)


def check_halfway(element, folder):
    """1 and two halves of the distance to the next number: each addition rounds back to 1, or the sum is exact."""
    half = 2.0 ** -(elements.MANTISSA[element] + 1)
    program = Program(0)
    program.element, program.vector = element, f"tensor<{SIZE}x{element}>"
    program.uses = [Use(n, "mul", program) for n in range(3)]
    program.arguments = {"v": (element, np.ones(SIZE)), "flag": ("i1", np.array([True]))}
    for n, factor in enumerate((1, half, half)):
        program.arguments[f"k{n}"] = (element, np.full(SIZE, factor))
        program.arguments[f"g{n}"] = (element, np.ones(SIZE))
    for attributes, expected in (("", 1), ("attributes {ad.cotangent_sums = f32}", 1 + 2 * half)):
        for options in TARGETS:
            found = runner.run(program.text(attributes), list(program.write(folder)), [("dv", element)], options)["dv"]
            if not np.all(elements.decode(element, found) == expected):
                yield f"{options[1]}: found {elements.decode(element, found)}, expected {expected}"


SECOND = """
func.func private @f(%v: V, %a: V, %b: V, %c: V) -> (V, V, V) {
  %x = ad.mul %v, %a : V
  %y = ad.mul %v, %b : V
  %z = ad.mul %v, %c : V
  return %x, %y, %z : V, V, V
}
func.func private @gradient(%v: V, %w: V, %a: V, %b: V, %c: V) -> V ATTRIBUTES {
  %x, %y, %z, %d = ad.vjp @f(%v, %a, %b, %c) cotangents(%w, %w, %w) wrt [0] : (V, V, V, V, V, V, V) -> (V, V, V, V)
  return %d : V
}
func.func @main(%v: V {ad.name = "v"}, %w: V {ad.name = "w"}, %a: V {ad.name = "a"}, %b: V {ad.name = "b"},
                %c: V {ad.name = "c"}, %h: V {ad.name = "h"}) -> (V {ad.name = "dw"}) {
  %g, %dw = ad.vjp @gradient(%v, %w, %a, %b, %c) cotangents(%h) wrt [1] : (V, V, V, V, V, V) -> (V, V)
  return %dw : V
}
"""


def check_second_order(element, folder):
    """A gradient reads one cotangent three times, from the last operation of its function to the first."""
    rng = np.random.default_rng(5)
    values = {name: rounded(element, rng.uniform(0.5, 1.5, 256)) for name in "vwabch"}
    arguments = []
    for name, array in values.items():
        elements.save(folder / f"{name}.npy", element, elements.encode(element, array))
        arguments.append(f"--arg={name}={folder / name}.npy")
    sums = {}
    for attributes, kind in (("", element), ("attributes {ad.cotangent_sums = f32}", "f32")):
        parts = [rounded(element, values["h"] * values[name]) for name in "cba"]
        sums[kind] = elements.encode(element, add(kind, add(kind, parts[0], parts[1]), parts[2]))
        text = SECOND.replace("ATTRIBUTES", attributes).replace("V", f"tensor<256x{element}>")
        for options in TARGETS:
            found = runner.run(text, arguments, [("dw", element)], options)["dw"]
            if not np.all(elements.same_bits(element, found, sums[kind])):
                yield f"{options[1]}, {kind}: other bits than the emulation"
    if np.array_equal(*sums.values()):
        yield "both sums are equal, so that the check shows nothing"


def main():
    exact = [(f"{name} {element}", functools.partial(one, element)) for element in elements.SMALL_FLOATS
             for name, one in (("halfway", check_halfway), ("second order", check_second_order))]
    return checks.run_checks("exact cotangent sums", exact) or checks.run_seeds("cotangent sums", check, 12)


if __name__ == "__main__":
    sys.exit(main())
