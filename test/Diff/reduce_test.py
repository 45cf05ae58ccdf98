# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""ad-diff reduce finds exactly the operations that a fault needs, in random programs of several types. The fault is in
a second build: an ad-runner that changes a bit of each result if the program has the operations of certain lines."""

import json
import os
import pathlib
import random
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402

BIN = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
PROGRAMS = 8
TYPES = ["f32", "f64", "bf16", "f16"]
UNARY = ["abs", "tanh", "sin", "neg"]
BINARY = ["add", "sub", "mul", "max"]

FAULTY_RUNNER = """#!{python}
import pathlib, re, subprocess, sys
words = sys.argv[1:]
status = subprocess.run([{runner!r}, *words]).returncode
if status:
    sys.exit(status)
text = pathlib.Path(words[0]).read_text()
line_of = {{name: int(line) for name, line in re.findall('(#loc[0-9]*) = loc[(].*random.mlir":([0-9]+):', text)}}
lines = {{line_of[name] for name in re.findall(" = ad[.].*loc[(](#loc[0-9]*)[)]", text)}}
if "loc(" not in text or {lines} <= lines:
    for path in pathlib.Path(words[words.index("--out-dir") + 1]).glob("*.npy"):
        data = bytearray(path.read_bytes())
        data[-8] ^= 1
        path.write_bytes(bytes(data))
"""


def random_program(generator):
    """The text, and the lines of its operations."""
    lines, values = ["func.func @main("], []
    for number in range(3):
        kind = generator.choice(TYPES)
        values.append((f"%a{number}", kind))
        lines.append(f'  %a{number}: tensor<2x4x{kind}> {{ad.name = "a{number}"}}{"," if number < 2 else ") -> ("}')
    body, read = [], set()
    for number in range(generator.randint(5, 14)):
        value, kind = generator.choice(values[-4:])
        read.add(value)
        result, tensor = f"%v{number}", f"tensor<2x4x{kind}>"
        others = [name for name, other in values if other == kind]
        choice = generator.random()
        if choice < 0.3:
            target = generator.choice([other for other in TYPES if other != kind])
            body.append(f"  {result} = ad.cast {value} : {tensor} -> tensor<2x4x{target}>")
            kind = target
        elif choice < 0.6:
            body.append(f"  {result} = ad.{generator.choice(UNARY)} {value} : {tensor}")
        else:
            other = generator.choice(others)
            read.add(other)
            body.append(f"  {result} = ad.{generator.choice(BINARY)} {value}, {other} : {tensor}")
        values.append((result, kind))
    results = [(name, kind) for name, kind in values if name.startswith("%v") and name not in read]
    lines.append(", ".join(f'tensor<2x4x{kind}> {{ad.name = "r{name[1:]}"}}' for name, kind in results) + ") {")
    first = len(lines) + 1
    names, kinds = zip(*((name, f"tensor<2x4x{kind}>") for name, kind in results))
    lines += body + [f"  return {', '.join(names)} : {', '.join(kinds)}", "}"]
    return "\n".join(lines) + "\n", range(first, first + len(body))


def check_program(seed):
    def check(folder):
        generator = random.Random(seed)
        text, candidates = random_program(generator)
        planted = sorted(generator.sample(candidates, generator.randint(1, 3)))
        program, faulty = folder / "random.mlir", folder / "faulty-runner"
        program.write_text(text)
        faulty.write_text(FAULTY_RUNNER.format(python=sys.executable, runner=str(BIN / "ad-runner"),
                                               lines=set(planted)))
        faulty.chmod(0o755)
        done = subprocess.run([BIN / "ad-diff", "reduce", program, *(f"--arg=a{n}=normal:{n}" for n in range(3)),
                               f"--runner-b={faulty}", "--json=-", f"--output={folder / 'reduced'}"],
                              capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            yield f"{done.stdout}{done.stderr}\n{text}"
            return
        report = json.loads(done.stdout)
        found = sorted(int(row["location"].split(":")[-2]) for row in report["operations"])
        if found != planted:
            yield f"expected the lines {planted}, but got {report}\n{text}"
        reduced = (folder / "reduced/program.mlir").read_text()
        if reduced.count(" = ad.") != len(planted):
            yield f"expected {len(planted)} operations in\n{reduced}"
    return check


def main():
    return checks.run_checks("reduce", [(f"seed {seed}", check_program(seed))
                                        for seed in checks.sample(range(PROGRAMS), 3)])


if __name__ == "__main__":
    sys.exit(main())
