# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Arrays that begin anywhere: 0, 4, 16, 32 or 48 bytes after a multiple of 64, as those of other libraries do. Loops
over large operands then begin with a partial vector. Random sizes, with rows that are whole cache lines and rows that
are not, every kind of loop along them, both tile tables, several threads: the CPU gives the bits of the reference
interpreter. Closes with `array offsets: N run, N failed`."""

import functools
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "Support")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

SEED = int(os.environ.get("ADJOINT_SEED", "1"))
OFFSETS = [0, 4, 16, 32, 48]
RUNS = [["--threads", "1"], ["--threads", "3"], ["--threads", "1", "--tiles", "small"]]
# %a and %b have shape (r, c), %w has c, %u has r elements. In braces are types: t of %a, w of %w, u of %u.
KERNELS = [
    "%y{n} = ad.add %a, %b : {t}",
    "%y{n} = ad.mul %a, %w : {t}, {w}",
    "%y{n} = ad.softmax %a axis 1 : {t}",
    "%y{n} = ad.reduce_sum %a axes [1] : {t} -> {u}",
    "%y{n} = ad.reduce_sum %a axes [0] : {t} -> {w}",
    "%y{n} = ad.reduce_max %a axes [0] : {t} -> {w}",
    "%y{n} = ad.reduce_min %a axes [1] : {t} -> {u}",
    "%y{n} = ad.cumsum %a axis 1 : {t}",
    "%y{n} = ad.dot %a, %w : ({t}, {w}) -> {u}",
    "%y{n} = ad.dot %u, %a : ({u}, {t}) -> {w}",
    "%y{n} = ad.dot %v, %a contract [1] x [1] : ({v}, {t}) -> {vu}",
    "%y{n} = ad.dot %s, %a : ({s}, {t}) -> {sw}",
]
RESULTS = ["t", "t", "t", "u", "w", "w", "u", "t", "u", "w", "vu", "sw"]


def program(draw, element):
    line = 64 * 8 // int(element.lstrip("bf"))  # elements of a cache line
    columns = draw.choice([line * draw.randint(1, 40), draw.randint(1, 900), line * 512 // 8])
    rows = draw.choice([draw.randint(1, 40), draw.randint(100, 700), 520, 1030])
    few = draw.randint(1, 7)
    shapes = {"t": (rows, columns), "w": (columns,), "u": (rows,), "v": (few, columns), "s": (few, rows),
              "vu": (few, rows), "sw": (few, columns)}
    types = {name: f"tensor<{'x'.join(map(str, shape))}x{element}>" for name, shape in shapes.items()}
    inputs = {"a": "t", "b": "t", "w": "w", "u": "u", "v": "v", "s": "s"}
    arguments = ", ".join(f'%{name}: {types[kind]} {{ad.name = "{name}"}}' for name, kind in inputs.items())
    body = "".join(f"  {text.format(n=n, **types)}\n" for n, text in enumerate(KERNELS))
    results = ", ".join(types[kind] for kind in RESULTS)
    values = ", ".join(f"%y{n}" for n in range(len(KERNELS)))
    text = f"func.func @main({arguments}) -> ({results}) {{\n{body}  return {values} : {results}\n}}\n"
    sources = [word for seed, name in enumerate(inputs) for word in ("--arg", f"{name}=normal:{seed}")]
    return text, sources


def run(folder, sources, name, offset, *options):
    environment = {**os.environ, "ADJOINT_ARRAY_OFFSET": str(offset)}
    subprocess.run([runner.binary("ad-runner"), folder / "program.mlir", "--numerics", "reproducible", "--cache",
                    folder / "cache", "--out-dir", folder / name, *sources, *options],
                   check=True, capture_output=True, text=True, env=environment)
    return {path.name: path.read_bytes() for path in (folder / name).glob("*.npy")}


def wrong(element, number, folder):
    draw = random.Random(f"{SEED} {element} {number}")
    text, sources = program(draw, element)
    (folder / "program.mlir").write_text(text)
    expected = run(folder, sources, "reference", 0, "--target", "reference")
    assert len(expected) == len(KERNELS)
    for options in RUNS:
        for offset in OFFSETS:
            found = run(folder, sources, "cpu", offset, *options)
            differing = [KERNELS[int(name[3:-4])] for name in expected if found[name] != expected[name]]
            if differing:
                yield f"offset {offset} {' '.join(options)}: differs from the reference: {differing} in\n{text}"


def main():
    return checks.run_checks("array offsets", [(f"{element} {number}", functools.partial(wrong, element, number))
                                               for element in ("f32", "f64", "bf16", "f16") for number in checks.sample(range(3), 3)])


if __name__ == "__main__":
    sys.exit(main())
