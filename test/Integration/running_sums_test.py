# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Running sums along every axis: numbers of lines and steps around those of a vector, every width of element, fused
producers, dynamic sizes. The CPU gives the bits of the reference interpreter; the sums of integers are
NumPy's. Closes with `N run, N failed`.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", pathlib.Path(__file__).resolve().parents[2] / "build/release/bin"))
# Shape and axis: full vectors of lines, some more, fewer; full blocks of steps, some more, fewer.
SHAPES = [((16, 32), 1), ((17, 40), 1), ((3, 50), 1), ((33, 16), 1), ((32, 15), 1), ((2, 19, 35), 2), ((1, 70), 1),
          ((20, 34, 1), 1), ((18, 21, 3), 1), ((40, 20), 0), ((65,), 0)]
ELEMENTS = ["f32", "f64", "bf16", "i8", "i32"]


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


class Case:
    def __init__(self, number, shape, axis, element, kind):
        self.name, self.shape, self.axis, self.element, self.kind = f"c{number}", shape, axis, element, kind
        self.type = tensor(("?", *shape[1:]) if kind == "dynamic" else shape, element)

    def body(self):
        n, sum_of = self.name, f"%{self.name}"
        lines = []
        if self.kind == "fused":  # the sum reads a value that no memory holds
            lines.append(f"  %{n}_square = ad.mul %{n}, %{n} : {self.type}\n")
            sum_of = f"%{n}_square"
        return "".join(lines) + f"  %{n}_sums = ad.cumsum {sum_of} axis {self.axis} : {self.type}\n"

    def values(self, rng):
        if self.element.startswith("i"):
            return rng.integers(-100, 100, self.shape).astype({"i8": np.int8, "i32": np.int32}[self.element])
        values = rng.standard_normal(self.shape)
        if self.element == "bf16":
            return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")
        return values.astype({"f32": np.float32, "f64": np.float64}[self.element])


def cases():
    drawn = [(shape, axis, element, kind) for shape, axis in SHAPES for element in ELEMENTS
             for kind in ("plain", "fused", "dynamic")]
    return [Case(number, *case) for number, case in enumerate(drawn)]


def program(table):
    arguments = ", ".join(f'%{case.name}: {case.type} {{ad.name = "{case.name}"}}' for case in table)
    types = ", ".join(case.type for case in table)
    results = ", ".join(f'{case.type} {{ad.name = "{case.name}"}}' for case in table)
    sums = ", ".join(f"%{case.name}_sums" for case in table)
    body = "".join(case.body() for case in table)
    return f"func.func @main({arguments}) -> ({results}) {{\n{body}  return {sums} : {types}\n}}\n"


def run(folder, table, target):
    out = folder / target
    command = [BIN / "ad-runner", folder / "program.mlir", "--target", target, "--out-dir", out, "--cache", "off"]
    for case in table:
        command += ["--arg", f"{case.name}={folder / case.name}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{target}: {done.stderr[:2000]}")
    return {case.name: np.load(out / f"{case.name}.npy") for case in table}


def checked(folder):
    table, rng = cases(), np.random.default_rng(13)
    (folder / "program.mlir").write_text(program(table))
    given = {case.name: case.values(rng) for case in table}
    for case in table:
        np.save(folder / f"{case.name}.npy", given[case.name])
    reference, cpu = (run(folder, table, target) for target in ("reference", "cpu"))
    for case in table:
        right = reference[case.name].tobytes() == cpu[case.name].tobytes()
        if case.element == "i32" and case.kind != "fused":
            right &= bool((cpu[case.name] == np.cumsum(given[case.name], case.axis, dtype=np.int32)).all())
        label = f"cumsum of {case.shape} along {case.axis}, {case.element}, {case.kind}"
        yield label, "" if right else "the CPU differs"


def main():
    return checks.run_cases("running sums", checked)


if __name__ == "__main__":
    sys.exit(main())
