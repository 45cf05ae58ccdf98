#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""What `reproducible` costs: the same program in `reproducible`, `strict` and `fast`, on one core, no peer.

Training steps of the digits transformer and of a Llama block, products of matrices, and kernels over rows. Each round
measures all modes, one after the other; a ratio is the median of the ratios of the rounds, and the range of their
middle half says how far to trust it. `mma` and `approx` are the permissions that cost a lot where they are missing:
dot-product instructions of bf16, and shorter forms of elementary functions.
"""

import pathlib
import statistics
import sys
import tempfile

import measure

measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

import gemm  # noqa: E402
import llama  # noqa: E402
import llama_program  # noqa: E402

sys.path.insert(0, str(measure.ROOT / "examples/digits"))
import prepare  # noqa: E402

NAME = "reproducible-cost"
ROUNDS = 9
MODES = ("fast", "strict", "reproducible")
BURST = 0.02  # seconds that the calls of one round take, about
STEPS = 44  # of the digits transformer in one call: an epoch
TARGET = 1.15  # the most that a training step in f32 should cost
ROWS = {
    "softmax": "%y = ad.softmax %x axis 1 : {t}",
    "rms_norm": "%y = ad.rms_norm %x, %s epsilon 1.0e-5 : {t}, {c}",
    "sums of rows": "%y = ad.reduce_sum %x axes [1] : {t} -> {r}",
    "sums of columns": "%y = ad.reduce_sum %x axes [0] : {t} -> {c}",
    "tanh": "%y = ad.tanh %x : {t}",
    "silu": "%y = ad.silu %x : {t}",
    "gelu": "%y = ad.gelu %x : {t}",
}


class Digits:
    """Steps of training of the digits transformer."""

    seconds, parts = 1e-3 * STEPS, STEPS

    def __init__(self, precision):
        self.name, self.options = f"digits transformer step, {precision}", ["--precision", policy(precision)]

    def __str__(self):
        return self.name

    def program(self, folder):
        prepare.write_inputs(*prepare.make_inputs("transformer", 0), folder)
        self.options += (folder / "arguments").read_text().splitlines()
        text = (measure.ROOT / "examples/digits/transformer.mlir").read_text()
        before = "%steps = arith.constant 528 : index"
        if before not in text:
            sys.exit(f"{NAME}: expected '{before}' in the digits transformer")
        return text.replace(before, f"%steps = arith.constant {STEPS} : index")


class Llama:
    """Loss and gradients of a Llama block for 2 x 256 tokens."""

    seconds, parts = 0.04, 1

    def __init__(self, precision):
        self.name, self.options = f"Llama block step, {precision}", ["--precision", policy(precision)]

    def __str__(self):
        return self.name

    def program(self, folder):
        parameters, x, target = llama.make_inputs(2, 256)
        cos, sin = llama.rotary(256)
        for name, array in {**parameters, "x": x, "target": target, "cos": cos, "sin": sin}.items():
            np.save(folder / f"{name}.npy", array)
            self.options += ["--arg", f"{name}={folder / name}.npy"]
        return llama_program.program(2, 256)


class Product:
    parts = 1

    def __init__(self, text, element="f32"):
        self.case = gemm.Case(text)
        self.name, self.element = f"product {text}, {element}", element
        self.options = ["--arg", "a=uniform:1", "--arg", "b=uniform:2"]
        self.seconds = self.case.flops / gemm.SPEED

    def __str__(self):
        return self.name

    def program(self, _folder):
        return self.case.product().replace("xf32>", f"x{self.element}>")


class Rows:
    """A kernel over 64 x 1024 elements, which stay in the second cache."""

    parts, seconds, shape = 1, 2e-5, (64, 1024)

    def __init__(self, kernel):
        self.name, self.kernel, self.options = f"{kernel}, f32", kernel, ["--arg", "x=normal:1", "--arg", "s=normal:2"]

    def __str__(self):
        return self.name

    def program(self, _folder):
        rows, columns = self.shape
        t, c, r = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}xf32>", f"tensor<{rows}xf32>"
        result = {"sums of rows": r, "sums of columns": c}.get(self.kernel, t)
        return (f'func.func @main(%x: {t} {{ad.name = "x"}}, %s: {c} {{ad.name = "s"}}) -> {result} {{\n'
                f"  {ROWS[self.kernel].format(t=t, c=c, r=r)}\n  return %y : {result}\n}}\n")


def policy(precision):
    return "none" if precision == "f32" else precision


def all_cases():
    return [*(model(precision) for model in (Digits, Llama) for precision in ("f32", "bf16")),
            *(Product(text, element) for text in ("256x256x256", "512x512x512 TN") for element in ("f32", "bf16")),
            *map(Rows, ROWS)]


def measure_case(case, folder, rounds):
    inputs = pathlib.Path(tempfile.mkdtemp(dir=folder))
    text, calls = case.program(inputs), measure.calls_for(BURST, case.seconds)
    ours = {mode: measure.Ours(folder, text, {}, mode, case.options) for mode in MODES}
    contenders = {mode: lambda mode=mode: ours[mode].time(calls) / case.parts for mode in MODES}
    seconds = measure.take_rounds(contenders, rounds)
    ratios = {mode: sorted(a / b for a, b in zip(seconds[mode], seconds["fast"])) for mode in MODES[1:]}
    quarter = rounds // 4
    return {"case": str(case), "seconds": {mode: statistics.median(times) for mode, times in seconds.items()},
            "ratio": {mode: statistics.median(values) for mode, values in ratios.items()},
            "middle": {mode: [values[quarter], values[-1 - quarter]] for mode, values in ratios.items()}}


def show(row):
    us = " ".join(f"{1e6 * row['seconds'][mode]:12.1f}" for mode in MODES)
    low, high = row["middle"]["reproducible"]
    print(f"{row['case']:34} {us} {row['ratio']['strict']:7.2f} {row['ratio']['reproducible']:13.2f} "
          f"{low:6.2f} to {high:.2f}", flush=True)


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    cases = measure.select(all_cases(), options, NAME)
    print(f"us, one thread, {options.rounds} interleaved rounds; ratios: to fast")
    print(f"{'case':34} " + " ".join(f"{mode:>12}" for mode in MODES)
          + f" {'strict':>7} {'reproducible':>13} {'middle half':>13}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            rows.append(measure_case(case, folder, options.rounds))
            show(rows[-1])
            measure.write_json(options, rows)
    for row in rows:
        goal = f", at most {TARGET} wanted" if row["case"].endswith("step, f32") else ""
        print(f"{NAME}: reproducible takes {row['ratio']['reproducible']:.2f} times as long as fast ({row['case']}{goal})")


if __name__ == "__main__":
    main()
