#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels over rows in f32 on one core: ours compared with memcpy of as many bytes and C++ compiled by clang.

clang compiles rows_peers.cpp twice: with -O3 -march=native -ffast-math, and without the last. Its exponential is a
polynomial in the source, since libm's is a call for each element. Ours is `strict`; elementwise kernels are measured in
`fast` too.
"""

import tempfile

import measure

NAME = "rows"
ROUNDS = 9
BURST = 0.02  # seconds that the calls of one round take, about
BANDWIDTH = 30e9  # a guess, only to find the number of calls
SIZES = [(4096, 1024), (64, 1024)]
FLAGS = {"clang": ["-O3", "-march=native", "-ffast-math"], "clang-ieee": ["-O3", "-march=native"]}
# What is between %x and %y, and whether `fast` may change it.
KERNELS = {
    "softmax": ("%y = ad.softmax %x axis 1 : {t}", False),
    "layer_norm": ("%y = ad.layer_norm %x, %scale, %bias epsilon 1.0e-5 : {t}, {v}", False),
    "gelu": ("%y = ad.gelu %x : {t}", True),
    "gelu_tanh": ("%y = ad.gelu %x form tanh : {t}", True),
    "tanh_chain": ("""%half = ad.constant dense<0.5> : tensor<f32>
  %quarter = ad.constant dense<0.25> : tensor<f32>
  %0 = ad.mul %x, %half : {t}, tensor<f32>
  %1 = ad.add %0, %quarter : {t}, tensor<f32>
  %2 = ad.tanh %1 : {t}
  %y = ad.mul %2, %x : {t}""", True),
    "transpose": ("%y = ad.transpose %x [1, 0] : {t}", False),
}


class Case:
    def __init__(self, kernel, rows, columns):
        self.kernel, self.rows, self.columns = kernel, rows, columns
        self.bytes = 2 * 4 * rows * columns  # read and written
        self.calls = measure.calls_for(BURST, self.bytes / BANDWIDTH)

    def __str__(self):
        return f"{self.kernel} {self.rows}x{self.columns}"

    def program(self):
        t, v = f"tensor<{self.rows}x{self.columns}xf32>", f"tensor<{self.columns}xf32>"
        result = f"tensor<{self.columns}x{self.rows}xf32>" if self.kernel == "transpose" else t
        inputs = [("x", t), *([("scale", v), ("bias", v)] if self.kernel == "layer_norm" else [])]
        arguments = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, kind in inputs)
        body = KERNELS[self.kernel][0].format(t=t, v=v)
        return f"func.func @main({arguments}) -> {result} {{\n  {body}\n  return %y : {result}\n}}\n"

    def arguments(self):
        names = ["x", *(["scale", "bias"] if self.kernel == "layer_norm" else [])]
        return {name: f"normal:{seed}" for seed, name in enumerate(names)}


def measure_case(case, peers, folder, rounds):
    modes = ["strict", *(["fast"] if KERNELS[case.kernel][1] else [])]
    words = [case.calls, case.rows, case.columns]
    contenders = {"memcpy": lambda: peers["clang"].number("memcpy", *words)}
    for mode in modes:
        ours = measure.Ours(folder, case.program(), case.arguments(), mode)
        contenders[mode] = lambda ours=ours: ours.time(case.calls)
    for name, program in peers.items():
        contenders[name] = lambda program=program: program.number(case.kernel, *words)
    seconds = measure.take_turns(contenders, rounds)
    return {"case": str(case), "bytes": case.bytes, "modes": modes, "seconds": seconds}


def show(row):
    seconds = row["seconds"]
    speeds = {name: row["bytes"] / value / 1e9 for name, value in seconds.items()}
    for mode in row["modes"]:
        print(f"{row['case']:22} {mode:>6} {1e6 * seconds[mode]:9.1f} {speeds[mode]:7.1f} {seconds['memcpy'] / seconds[mode]:7.1%} "
              f"{seconds['clang'] / seconds[mode]:7.2f} {speeds['memcpy']:8.1f} {speeds['clang']:7.1f} "
              f"{speeds['clang-ieee']:11.1f}", flush=True)


def close(rows):
    for peer in ("memcpy", "clang"):
        for row in rows:
            for mode in row["modes"]:
                measure.close(NAME, row["seconds"][peer] / row["seconds"][mode], peer, f"{row['case']}, {mode}")
    ratios = {row["case"]: row["seconds"]["clang"] / row["seconds"]["strict"] for row in rows}
    measure.close_with_mean(NAME, ratios, "clang")


def main():
    options = measure.parse_options(__doc__, ROUNDS)
    measure.use_one_core()
    cases = measure.select([Case(kernel, *size) for size in SIZES for kernel in KERNELS], options, NAME)
    with tempfile.TemporaryDirectory() as folder:
        peers = {name: measure.Peers(folder, "rows_peers.cpp", flags) for name, flags in FLAGS.items()}
        print("; ".join(f"{name}: {' '.join(flags)}" for name, flags in FLAGS.items()))
        print(f"GB/s read and written, one thread, median of {options.rounds} interleaved rounds; ratio: to clang")
        print(f"{'kernel':22} {'mode':>6} {'us':>9} {'ours':>7} {'memcpy%':>7} {'ratio':>7} "
              f"{'memcpy':>8} {'clang':>7} {'clang-ieee':>11}")
        rows = []
        for case in cases:
            rows.append(measure_case(case, peers, folder, options.rounds))
            show(rows[-1])
    close(rows)
    measure.write_json(options, rows)


if __name__ == "__main__":
    main()
