# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Values that loops and branches read from outside: for every nest of up to three of them, the CPU gives the bits
of the reference interpreter, and so does the emulated GPU for nests of two; test/Support/plan.py, which knows nothing
of lifetimes, finds no value overwritten before its last reader.

A nest is a word: f a loop, t what runs in the first branch of an scf.if, e what runs in its second one. Before each
part of the nest a value is made, which only the innermost block reads; a loop also makes the next value of its carry
before the blocks inside read the old one. After each part are temporaries that reuse each buffer that the memory
plan believes to be dead."""

import functools
import itertools
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import plan  # noqa: E402
import runner  # noqa: E402

T = "tensor<8x8xf32>"
WORDS = ["".join(letters) for length in (1, 2, 3) for letters in itertools.product("fte", repeat=length)]
STAGES = ["--ad-to-cpu-frontend", "--ad-to-cpu-fusion=fuse=grow", "--ad-to-cpu-kernels"]


class Nest:
    """The text of a function @NAME(x, conditions) for a word."""

    def __init__(self, word, name):
        self.count, self.lines = 0, []
        end = self.part(word, [], "%x")
        head = f"func.func private @{name}(%x: {T}, %d: tensor<2xi1>) -> {T} {{"
        bounds = [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 3)]
        choices = [f"%{name} = tensor.extract %d[%c{n}] : tensor<2xi1>" for n, name in enumerate(("yes", "no"))]
        half = f"%half = ad.constant dense<0.5> : {T}"
        self.text = "\n".join([head, *bounds, *choices, half, *self.lines, f"return {end} : {T}", "}"]) + "\n"

    def value(self, text):
        self.count += 1
        self.lines.append(f"%v{self.count} = {text} : {T}")
        return f"%v{self.count}"

    def binary(self, name, x, y):
        return self.value(f"ad.{name} {x}, {y}")

    def kernel(self, x, y):
        """A kernel of its own, of numbers of the size of its operands."""
        return self.value(f"ad.barrier {self.binary('mul', self.binary('sub', x, y), '%half')}")

    def temporaries(self, x):
        """Two kernels, of which the first reads other elements than it writes."""
        transposed = self.value(f"ad.barrier {self.value(f'ad.transpose {x} [1, 0]')}")
        return self.kernel(transposed, x)

    def part(self, word, read, x):
        if not word:
            for value in read:
                x = self.binary("mul", self.binary("add", x, value), "%half")
            return x
        held = self.kernel(self.temporaries(x), x)
        inside = self.loop if word[0] == "f" else self.branch
        return self.temporaries(inside(word, [*read, held], x, held))

    def loop(self, word, read, x, held):
        self.count += 1
        n = self.count
        self.lines.append(f"%r{n}:2 = scf.for %i{n} = %c0 to %c3 step %c1 iter_args(%a{n} = {held}, %s{n} = {x}) -> ({T}, {T}) {{")
        following = self.kernel(f"%a{n}", f"%s{n}")
        inner = self.temporaries(self.part(word[1:], [*read, f"%a{n}"], f"%s{n}"))
        self.lines += [f"scf.yield {following}, {inner} : {T}, {T}", "}"]
        return self.binary("add", f"%r{n}#0", f"%r{n}#1")

    def branch(self, word, read, x, held):
        self.count += 1
        n, first = self.count, word[0] == "t"
        self.lines.append(f"%r{n} = scf.if {'%yes' if first else '%no'} -> {T} {{")
        for block in (True, False):
            inner = self.temporaries(self.part(word[1:], read, x)) if block == first else self.binary("sub", x, held)
            self.lines += [f"scf.yield {inner} : {T}", "} else {" if block else "}"]
        return f"%r{n}"


def module(words):
    """A main function with a result for each word."""
    calls = "".join(f"  %y{i} = func.call @{word}(%x, %d) : ({T}, tensor<2xi1>) -> {T}\n" for i,
                    word in enumerate(words))
    results = ", ".join(f'{T} {{ad.name = "{word}"}}' for word in words)
    names, types = ", ".join(f"%y{i}" for i in range(len(words))), ", ".join([T] * len(words))
    main = f'func.func @main(%x: {T} {{ad.name = "x"}}, %d: tensor<2xi1> {{ad.name = "d"}}) -> ({results}) {{\n{calls}' \
        f"  return {names} : {types}\n}}\n"
    return "".join(Nest(word, word).text for word in words) + main


def run(words, target, folder):
    import numpy as np
    np.save(folder / "d.npy", np.array([True, False]))
    arguments = ["--arg=x=normal:1", f"--arg=d={folder}/d.npy"]
    return runner.run(module(words), arguments, [(word, "f32") for word in words],
                      [f"--target={target}", "--numerics=reproducible"])


def differing(words, target, folder):
    expected, got = run(words, "reference", folder), run(words, target, folder)
    return [f"{word}: other bits than on the reference" for word in words
            if expected[word].tobytes() != got[word].tobytes()]


def problem_of_plan(word, _folder):
    text = module([word])
    planned = subprocess.run([runner.binary("ad-opt"), *STAGES], input=text, capture_output=True, text=True,
                             check=True).stdout
    try:
        plan.check(planned)
    except plan.Race as race:
        return str(race)
    return None


def main():
    found = [("on the CPU", functools.partial(differing, WORDS, "cpu")),
             ("on the emulated GPU", functools.partial(differing, [word for word in WORDS if len(word) == 2],
                                                       "gpu-sim"))]
    found += [(f"plan of {word}", functools.partial(problem_of_plan, word)) for word in WORDS]
    return checks.run_checks("nested-reads", found)


if __name__ == "__main__":
    sys.exit(main())
