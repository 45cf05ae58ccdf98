# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random contractions: any order of up to three batch and free axes and of contracted axes, adjacent ones, unit axes,
axes of dynamic size, matrix times vector, one to three products with one left operand whose results are combined, with
values that repeat along any axes, and all stored. In reproducible mode each instruction set, tile table and number of
threads, and the emulated GPU, give the bits of the reference interpreter."""

import math
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

RUNNER = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
FREE, DEEP = (1, 1, 2, 3, 4, 7, 8, 9, 16, 17, 24, 33, 50), (1, 2, 15, 16, 17, 31, 64, 100, 530)
ELEMENTS = ("f32", "f32", "f32", "f64", "bf16", "f16", "i32", "i8")
MAX_WORK = 3_000_000
# Options of the runs that are compared with the reference.
RUNS = (("--tiles=large", "--threads=1"), ("--tiles=small", "--threads=2"), ("--cpu=haswell", "--threads=2"))
GPU = ("--target=gpu-sim",)
MAX_GPU_WORK = 300_000


def tensor(shape, element, opened=()):
    return f"tensor<{''.join('?x' if axis in opened else f'{size}x' for axis, size in enumerate(shape))}{element}>"


class Operand:
    """The axes of one operand in a random order, as [(role, number, size)]; those of a role may stay adjacent."""

    def __init__(self, rng, axes):
        if rng.random() < 0.6:
            roles = rng.sample(["batch", "deep", "free"], 3)
            axes = sorted(axes, key=lambda axis: (roles.index(axis[0]), axis[1]))
        else:
            axes = rng.sample(axes, len(axes))
        self.axes = axes
        self.shape = [size for _, _, size in axes]

    def places(self, role):
        """The positions of the axes of a role, by their number."""
        return [place for _, place in sorted((axis[1], place) for place, axis in enumerate(self.axes) if axis[0]
                                             == role)]

    def free_places(self):
        return [place for place, axis in enumerate(self.axes) if axis[0] == "free"]

    def free_shape(self):
        return [self.shape[place] for place in self.free_places()]


class Case:
    """Products of one left operand with one to three right ones, which have the same axes in orders of their own."""

    def __init__(self, seed):
        rng = random.Random(seed)
        while True:
            axes = {role: [(role, i, rng.choice(DEEP if role == "deep" else FREE)) for i in range(rng.choice(counts))]
                    for role, counts in (("batch", (0, 0, 0, 1, 2, 3)), ("deep", (1, 1, 2, 3)),
                                         ("rows", (0, 1, 1, 2, 2, 3)), ("columns", (0, 1, 1, 2, 2, 3)))}
            self.work = math.prod(size for _, _, size in sum(axes.values(), []))
            if self.work <= MAX_WORK:
                break
        shared = axes["batch"] + axes["deep"]
        free = {side: [("free", i, size) for _, i, size in axes[side]] for side in ("rows", "columns")}
        self.left = Operand(rng, shared + free["rows"])
        # The free axes of right operands keep one order, so that their products have one shape.
        first = Operand(rng, shared + free["columns"])
        self.rights = [first] * rng.choice((1, 1, 2, 3))
        self.element = rng.choice(ELEMENTS)
        batch = [size for _, _, size in axes["batch"]]
        self.shape = batch + self.left.free_shape() + first.free_shape()
        # Free axes of the left operand of dynamic size: their positions there and in the results.
        free_places = self.left.free_places()
        chance = rng.choice((0, 0, 0.5, 1))
        self.open = [place for place in free_places if rng.random() < chance]
        self.open_result = [len(batch) + free_places.index(place) for place in self.open]
        # Values that are added to the products: they have the last axes of the products, and repeat along some.
        self.added = []
        for _ in range(rng.choice((0, 1, 1, 2))):
            first_axis, chance = rng.randint(0, len(self.shape)), rng.choice((0, 0, 0.3))
            self.added.append([1 if axis in self.open_result or rng.random() < chance else self.shape[axis]
                               for axis in range(first_axis, len(self.shape))])

    def __str__(self):
        return (f"{self.left.shape} x {len(self.rights)} {self.rights[0].shape} -> {self.shape} {self.element}, "
                f"open {self.open}, added {self.added}")

    def dims(self):
        """The options that give what the types leave open."""
        return [f"--dim=a.{place}={self.left.shape[place]}" for place in self.open]

    def program(self):
        a, c = tensor(self.left.shape, self.element, self.open), tensor(self.shape, self.element, self.open_result)
        names = [f"b{i}" for i in range(len(self.rights))]
        lines, results = [], []
        for name, right in zip(names, self.rights):
            axes = " ".join(f"{word} {self.left.places(role)} x {right.places(role)}"
                            for word, role in (("batch", "batch"), ("contract", "deep")))
            lines.append(f"  %{name}_y = ad.dot %a, %{name} {axes} : ({a}, {tensor(right.shape, self.element)}) -> {c}")
            results.append(f"{name}_y")
        for i, name in enumerate(results[1:]):
            lines.append(f"  %s{i} = ad.abs %{name} : {c}")
            lines.append(f"  %p{i} = ad.mul %s{i}, %{results[0]} : {c}, {c}")
        results += [f"{kind}{i}" for i in range(len(names) - 1) for kind in "sp"]
        added = {f"v{i}": tensor(shape, self.element) for i, shape in enumerate(self.added)}
        for name, kind in added.items():
            lines.append(f"  %{name}_y = ad.add %{results[-1]}, %{name} : {c}, {kind}")
            results.append(f"{name}_y")
        kinds = {"a": a, **{name: tensor(right.shape, self.element) for name, right in zip(names, self.rights)},
                 **added}
        arguments = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, kind in kinds.items())
        types = ", ".join(f'{c} {{ad.name = "{name}"}}' for name in results)
        body = "\n".join(lines)
        values = ", ".join(f"%{name}" for name in results)
        return (f"func.func @main({arguments}) -> ({types}) {{\n{body}\n"
                f"  return {values} : {', '.join([c] * len(results))}\n}}\n"), list(kinds), results


def run(folder, name, element, arguments, options):
    """The bytes of the results of one run, by their names."""
    source = "uniform:{}:20" if element.startswith("i") else "normal:{}"
    out = folder / name
    command = [RUNNER, str(folder / "program.mlir"), "--cache=off", "--numerics=reproducible", f"--out-dir={out}",
               *options]
    command += [f"--arg={argument}={source.format(seed)}" for seed, argument in enumerate(arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(options)}: exit {done.returncode}: {done.stderr.strip()}")
    return {file.name: file.read_bytes() for file in out.glob("*.npy")}


def wrong(seed, folder):
    """What is wrong with one case, or None."""
    case = Case(seed)
    text, arguments, results = case.program()
    (folder / "program.mlir").write_text(text)
    expected = run(folder, "reference", case.element, arguments, ["--target=reference", *case.dims()])
    if len(expected) != len(results):
        return f"{len(results)} results are expected, the reference has {len(expected)}"
    for number, options in enumerate((*RUNS, GPU) if case.work <= MAX_GPU_WORK else RUNS):
        got = run(folder, f"run{number}", case.element, arguments, [*options, *case.dims()])
        for name, value in expected.items():
            if got.get(name) != value:
                return f"{name} with {' '.join(options)} differs from the reference: {case}"
    return None


if __name__ == "__main__":
    sys.exit(checks.run_seeds("contraction axes", wrong, count=30))
