# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""In `reproducible` mode a row does not depend on the batch around it: random programs over rows, and their gradients
for the rows, give each row of a batch of 33 the bits that it has in batches of 1, 2, 7 and 16, at other positions, with
sizes of batches that are known when the program is compiled and sizes that are not.

Each case runs on the reference interpreter and on the CPU, which also agree with each other; some run on the emulated
GPU. Successive cases begin with successive operations of row_programs.py."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402
from row_programs import DYNAMIC, NAMES, RowProgram, Value  # noqa: E402

BATCH = 33
KNOWN, UNKNOWN = (1, 2, 7, 16), (1, 7, BATCH)
TARGETS = {
    "the reference": ["--target=reference"],
    "the CPU": ["--threads=2"],
    "the CPU in small tiles": ["--tiles=small", "--threads=3"],
    "AVX2": ["--cpu=x86-64-v3", "--threads=1"],
    "no FMA": ["--cpu=x86-64", "--threads=2"],
}
GPU = {"the emulated GPU": ["--target=gpu-sim", "--no-race-detection", "--threads=2"]}
EVERY_GPU = 6  # one case of so many runs there


class Module:
    """A program for the whole batch and for windows (label, first row, size, whether the size is known)."""

    def __init__(self, program, rng):
        self.program = program
        at = [(size, int(rng.integers(BATCH + 1 - size))) for size in KNOWN + UNKNOWN]
        self.windows = [("all", 0, BATCH, True)]
        self.windows += [(f"k{size}", first, size, True) for size, first in at[:len(KNOWN)]]
        self.windows += [(f"u{size}", first, size, False) for size, first in at[len(KNOWN):]]

    def arguments(self):
        """The arguments of each window."""
        for label, _, size, known in self.windows:
            batch = size if known else DYNAMIC
            for value in self.program.arguments:
                if not value.shared:
                    yield Value(f"{label}_{value.name}", value.element, value.shape), batch
        yield from ((value, None) for value in self.program.arguments if value.shared)

    def results(self):
        """(name, element) of the results of a window: those of the program, then the gradients for the rows."""
        own = [(f"r{i}", value.element) for i, value in enumerate(self.program.results)]
        return own + [(f"d_{value.name}", value.element) for value in self.program.arguments if not value.shared]

    def calls(self, label, size, known):
        """The lines of a window, its values and their types."""
        program, batch = self.program, size if known else DYNAMIC
        arguments = [str(value) if value.shared else f"%{label}_{value.name}" for value in program.arguments]
        rows = [i for i, value in enumerate(program.arguments) if not value.shared]
        types = ", ".join(value.type(batch) for value in program.arguments)
        results = [value.type(batch) for value in program.results]
        gradients = [program.arguments[i].type(batch) for i in rows]
        count = len(results)
        name = f"f{size}" if known else "f"
        lines = (f"  %{label}:{count} = call @{name}({', '.join(arguments)}) : ({types}) -> ({', '.join(results)})\n"
                 f"  %{label}_l, %{label}_d:{len(rows)} = ad.value_and_grad @{name}_loss({', '.join(arguments)}) wrt {rows}\n"
                 f"      : ({types}) -> (tensor<f64>, {', '.join(gradients)})\n")
        values = [f"%{label}#{i}" for i in range(count)] + [f"%{label}_d#{i}" for i in range(len(rows))]
        return lines, values, results + gradients

    def text(self):
        functions, body, values, types = {}, "", [], []
        for label, _, size, known in self.windows:
            batch, name = (size, f"f{size}") if known else (DYNAMIC, "f")
            functions[name] = self.program.function(name, batch) + self.program.loss(name, batch)
            lines, names, kinds = self.calls(label, size, known)
            body += lines
            values += names
            types += [f'{kind} {{ad.name = "{label}_{name}"}}' for kind, (name, _) in zip(kinds, self.results())]
        inputs = ", ".join(f'{value}: {value.type(batch)} {{ad.name = "{value.name}"}}'
                           for value, batch in self.arguments())
        plain = ", ".join(kind.split(" {")[0] for kind in types)
        return (f"{''.join(functions.values())}func.func @main({inputs}) -> ({', '.join(types)}) {{\n{body}"
                f"  return {', '.join(values)} : {plain}\n}}\n")

    def write(self, rng, folder):
        """Saves the arguments: windows of the same rows. Returns the options that pass them."""
        options = []
        for value in self.program.arguments:
            shape = value.shape if value.shared else (BATCH, *value.shape)
            array = np.asarray(elements.random(rng, value.element, shape))
            parts = [(value.name, array)] if value.shared else [
                (f"{label}_{value.name}", array[first:first + size]) for label, first, size, _ in self.windows]
            for name, part in parts:
                elements.save(folder / f"{name}.npy", value.element, part)
                options.append(f"--arg={name}={folder / name}.npy")
        return options


def differences(module, results):
    """Windows whose rows are not those of the whole batch."""
    for label, first, size, known in module.windows[1:]:
        for name, element in module.results():
            whole, part = results[f"all_{name}"][first:first + size], results[f"{label}_{name}"]
            if not elements.same_bits(element, whole, part).all():
                kind = "known" if known else "unknown"
                yield f"{name}: rows {first} to {first + size - 1} alone ({kind} size) differ from those in the batch"


def check(seed, folder):
    rng = np.random.default_rng(seed)
    module = Module(RowProgram(rng, NAMES[seed % len(NAMES)]), rng)
    given = module.write(rng, folder)
    names = [(f"{label}_{name}", element) for label, *_ in module.windows for name, element in module.results()]
    targets = {**TARGETS, **(GPU if seed % EVERY_GPU == 0 else {})}
    found = {}
    for target, options in targets.items():
        found[target] = runner.run(module.text(), given, names, [*options, "--numerics=reproducible"])
        for problem in differences(module, found[target]):
            yield f"on {target}: {problem}"
        for name, element in names:
            if not elements.same_bits(element, found["the reference"][name], found[target][name]).all():
                yield f"on {target}: {name} has other bits than on the reference"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("batch independence", check, len(NAMES)))
