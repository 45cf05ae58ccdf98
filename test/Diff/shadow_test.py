# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""ad-diff shadow gives the errors that NumPy computes for random programs. Each intermediate value is a result of the
program, so that NumPy knows the actual operands of each operation and computes it in f64 for them (local error) and for
the f64 values of the operations before (total error)."""

import json
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

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
SIZE = 4
OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": np.maximum,
    "dot": np.matmul,
    "exp": np.exp,
    "tanh": np.tanh,
    "abs": np.abs,
    "cumsum": lambda a: np.cumsum(a, axis=0),
}
BINARY = ("add", "sub", "mul", "div", "max", "dot")


def make_program(generator, element, count):
    """The text of a program, and for each operation its line, its name and the numbers of its operands. Values 0 and 1
    are the arguments."""
    tensor = elements.tensor(element, (SIZE, SIZE))
    lines = [f'func.func @main(%0: {tensor} {{ad.name = "x"}}, %1: {tensor} {{ad.name = "y"}}) -> (']
    lines[0] += ", ".join(f'{tensor} {{ad.name = "v{i + 2}"}}' for i in range(count)) + ") {"
    steps = []
    for number in range(2, count + 2):
        name = str(generator.choice(list(OPERATIONS)))
        operands = [int(generator.integers(0, number)) for _ in range(2 if name in BINARY else 1)]
        text = ", ".join(f"%{operand}" for operand in operands)
        text += {"cumsum": " axis 0"}.get(name, "")
        types = f"({tensor}, {tensor}) -> {tensor}" if name == "dot" else tensor
        steps.append((len(lines) + 1, name, operands))
        lines.append(f"  %{number} = ad.{name} {text} : {types}")
    lines.append("  return " + ", ".join(f"%{i + 2}" for i in range(count)) + " : " + ", ".join([tensor] * count))
    return "\n".join([*lines, "}", ""]), steps


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)


def largest(left, right):
    """Equal infinities and NaNs do not differ."""
    same = (left == right) | (np.isnan(left) & np.isnan(right))
    with np.errstate(invalid="ignore"):
        difference = np.abs(left - right)
    return float(np.max(np.where(same, 0, np.where(np.isfinite(difference), difference, np.inf))))


def is_close(got, expected, scale):
    """Both are computed in f64, where elementary functions and sums differ in the last bits."""
    got = float(got)
    return got == expected or abs(got - expected) <= 1e-9 * abs(expected) + 1e-13 * scale


def results_of(path, folder, seeds):
    """The results of a program on the reference interpreter, as f64."""
    inputs = [f"--arg={name}=normal:{seed}" for name, seed in seeds.items()]
    done = run(BIN / "ad-runner", path, *inputs, "-O0", "--target=reference", f"--out-dir={folder}")
    assert done.returncode == 0, done.stderr
    return {file.stem: file for file in folder.glob("*.npy")}


def load(element, path):
    return np.asarray(elements.decode(element, elements.load(path, element)), np.float64)


def load_argument(folder, element, shape, seed):
    """The argument that normal:SEED makes, from a program that returns it."""
    path = folder / "argument.mlir"
    tensor = elements.tensor(element, shape)
    path.write_text(f'func.func @main(%x: {tensor} {{ad.name = "x"}}) -> ({tensor} {{ad.name = "y"}}) {{\n'
                    f"  return %x : {tensor}\n}}\n")
    return load(element, results_of(path, folder / f"argument-{seed}", {"x": seed})["y"])


def check_program(element, seed):
    def check(folder):
        generator = np.random.default_rng(seed)
        text, steps = make_program(generator, element, count=8)
        path = folder / "program.mlir"
        path.write_text(text)
        seeds = {"x": 2 * seed + 1, "y": 2 * seed + 2}
        files = results_of(path, folder / "actual", seeds)
        inputs = [f"--arg={name}=normal:{value}" for name, value in seeds.items()]
        done = run(BIN / "ad-diff", "shadow", path, *inputs, "-O0", "--json=-")
        assert done.returncode == 0 and not done.stderr, done.stderr + text
        rows = {int(row["location"].split(":")[-2]): row for row in json.loads(done.stdout)["operations"]}
        values = [load_argument(folder, element, (SIZE, SIZE), value) for value in seeds.values()]
        wide = list(values)
        for number, (line, name, operands) in enumerate(steps):
            got = load(element, files[f"v{number + 2}"])
            with np.errstate(all="ignore"):
                local = OPERATIONS[name](*[values[i] for i in operands])
                exact = OPERATIONS[name](*[wide[i] for i in operands])
            values.append(got)
            wide.append(exact)
            row, scale = rows[line], float(np.max(np.abs(np.where(np.isfinite(exact), exact, 0))))
            for part, expected in (("local", largest(got, local)), ("propagated", largest(local, exact)),
                                   ("total", largest(got, exact))):
                if not is_close(row[part]["abs"], expected, scale):
                    yield f"line {line}: {part} {row[part]['abs']}, expected {expected}\n{text}"
            parts = float(row["local"]["abs"]) + float(row["propagated"]["abs"])
            if not float(row["total"]["abs"]) <= parts * (1 + 1e-12):
                yield f"line {line}: the total error is above local + propagated\n{text}"
    return check


def check_cancellation(folder):
    """x + 1e8 - 1e8: the sum rounds x to a multiple of 8, and the subtraction is exact but loses all digits."""
    path = ROOT / "test/Diff/Inputs/shadow/cancellation.mlir"
    np.save(folder / "x.npy", np.array([1, 3, 5], "f4"))
    done = run(BIN / "ad-diff", "shadow", path, f"--arg=x={folder / 'x.npy'}", "--json=-", "-O0",
               "--sort=amplification")
    report = json.loads(done.stdout)
    subtraction, addition = (next(row for row in report["operations"] if row["operation"] == name)
                             for name in ("ad.sub", "ad.add"))
    if report["operations"][0] != subtraction:
        yield "the subtraction does not come first"
    if addition["local"]["abs"] != 3 or addition["local"]["ulp"] != 3 / 8 or addition["propagated"]["abs"] != 0:
        yield f"the addition has {addition}"
    if subtraction["local"]["abs"] != 0 or subtraction["propagated"]["abs"] != 3 or subtraction["total"]["rel"] != 1:
        yield f"the subtraction has {subtraction}"
    # Errors 3 of 1e8 + 5 become errors 3 of 5.
    if abs(subtraction["amplification"] / ((100000005) / 5) - 1) > 1e-12 or report["results"][0]["digits"] != 0:
        yield f"amplification {subtraction['amplification']}, {report['results']}"


def check_variance(folder):
    """The variance as E(x^2) - E(x)^2, of numbers near 1000, has lost digits; that of the differences from the mean
    has not."""
    path = folder / "variance.mlir"
    tensor, scalar = "tensor<64xf32>", "tensor<f32>"
    path.write_text(f'''func.func @main(%x: {tensor} {{ad.name = "x"}}) ->
        ({scalar} {{ad.name = "naive"}}, {scalar} {{ad.name = "stable"}}) {{
  %large = ad.constant dense<1000.0> : {scalar}
  %y = ad.add %x, %large : {tensor}, {scalar}
  %square = ad.mul %y, %y : {tensor}
  %mean_square = ad.reduce_mean %square axes [0] : {tensor} -> {scalar}
  %mean = ad.reduce_mean %y axes [0] : {tensor} -> {scalar}
  %square_mean = ad.mul %mean, %mean : {scalar}
  %naive = ad.sub %mean_square, %square_mean : {scalar}
  %difference = ad.sub %y, %mean : {tensor}, {scalar}
  %square_difference = ad.mul %difference, %difference : {tensor}
  %stable = ad.reduce_mean %square_difference axes [0] : {tensor} -> {scalar}
  return %naive, %stable : {scalar}, {scalar}
}}
''')
    for extra in ([], ["--stochastic=30"]):
        done = run(BIN / "ad-diff", "shadow", path, "--arg=x=normal:1", "--json=-", *extra)
        naive, stable = (result["digits"] for result in json.loads(done.stdout)["results"])
        # The condition is 1e6, so of 7.2 digits about one remains.
        if not (naive < 2.5 and stable > 4):
            yield f"{extra}: naive {naive}, stable {stable} digits"


def check_scaled_dot(element, scales):
    """The error of a product in 8 bits is the distance from the product that rounds nothing, whatever the scales."""
    def check(folder):
        path = folder / "product.mlir"
        x, w, y = (elements.tensor(element, shape) for shape in ((2, 3, 8), (2, 8, 5), (2, 3, 5)))
        path.write_text(f'''func.func @main(%x: {x} {{ad.name = "x"}}, %w: {w} {{ad.name = "w"}}) ->
        ({y} {{ad.name = "y"}}) {{
  %s = ad.constant dense<4.0> : tensor<f32>
  %y, %l, %r = ad.scaled_dot %x, %w {scales} batch [0] x [0] contract [2] x [1] : ({x}, {w}) -> {y}
  return %y : {y}
}}
''')
        got = load(element, results_of(path, folder / "actual", {"x": 1, "w": 2})["y"])
        operands = [load_argument(folder, element, shape, seed) for shape, seed in (((2, 3, 8), 1), ((2, 8, 5), 2))]
        expected = largest(got, np.matmul(*operands))
        done = run(BIN / "ad-diff", "shadow", path, "--arg=x=normal:1", "--arg=w=normal:2", "--json=-", "-O0")
        row = next(row for row in json.loads(done.stdout)["operations"] if row["operation"] == "ad.scaled_dot")
        if done.stderr or expected == 0 or not is_close(row["local"]["abs"], expected, 1):
            yield f"local {row['local']['abs']}, expected {expected}; {done.stderr}"
    return check


def check_samples(folder):
    """The samples of a sum of n equal numbers have the deviation of n independent roundings, within sampling error."""
    path = folder / "sum.mlir"
    adds = "".join(f"  %{i + 1} = ad.add %{i}, %x : tensor<f32>\n" for i in range(100))
    path.write_text('func.func @main(%x: tensor<f32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "y"}) {\n'
                    f"  %0 = ad.constant dense<0.0> : tensor<f32>\n{adds}  return %100 : tensor<f32>\n}}\n")
    words = [BIN / "ad-diff", "shadow", path, "--arg=x=normal:5", "-O0", "--stochastic=200", "--json=-"]
    first, again, other = run(*words), run(*words), run(*words, "--seed=1")
    if first.returncode != 0 or first.stdout != again.stdout:
        yield f"the same seed gives other numbers {first.stderr}"
    if first.stdout == other.stdout:
        yield "another seed gives the same numbers"
    x = float(load_argument(folder, "f32", (), 5))
    # A rounding to one of two adjacent values at distance u has the variance u^2 p (1 - p), 1/6 of u^2 for random p.
    units = [2.0 ** (np.floor(np.log2(abs(i * x))) - 23) for i in range(1, 101)]
    expected = -np.log10(np.sqrt(sum(unit**2 / 6 for unit in units)) / abs(100 * x))
    got = json.loads(first.stdout)["results"][0]["digits"]
    if abs(got - expected) > 0.3:
        yield f"digits of the sum: {got}, expected about {expected}"


def main():
    cases = [(f"{element}, seed {seed}", check_program(element, seed))
             for element in ("f32", "bf16", "f16", "f64") for seed in range(6)]
    cases += [(f"scaled_dot of {element} {scales}", check_scaled_dot(element, scales))
              for element in ("f32", "bf16", "f16")
              for scales in ("", "scales(%s, %s)", "types [f8E5M2, f8E4M3FN, f8E5M2]")]
    cases += [("cancellation", check_cancellation), ("variance", check_variance), ("samples", check_samples)]
    return checks.run_checks("shadow", cases)


if __name__ == "__main__":
    sys.exit(main())
