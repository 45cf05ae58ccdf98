#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Debian packages: g++ python3-dev
"""One training step of the transformer encoder of encoder.py: ours compared with JAX and PyTorch, in f32 on one core.

Ours and JAX's fori_loop run all steps in one call; `jax-jit`, `torch-compile` and `torch-eager` call a step from
Python, as most programs do. Before anything is timed, our loss and gradients are held against f64; after it, the
losses after the last step agree.
"""

import argparse
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

import encoder
import transformer_program

NAME = "transformer-step"
TOLERANCE = 1e-4  # of a gradient against f64, relative to its largest element
AFTER_TRAINING = 1e-2  # of the loss after all steps, between two f32 programs that round differently
ROUNDS = 5


def relative_error(got, expected):
    return float(np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-30))


class Ours:
    """Our program for a number of layers, with its inputs in a folder of its own."""

    def __init__(self, folder, layers, steps, options):
        self.folder, self.layers, self.steps, self.numerics = folder, layers, steps, options.numerics
        self.runner = str(pathlib.Path(os.environ.get("ADJOINT_BIN", "build/release/bin")) / "ad-runner")
        self.inputs = encoder.make_inputs(layers)
        parameters, x, target = self.inputs
        folder.mkdir()
        self.file = folder / "encoder.mlir"
        self.file.write_text(transformer_program.program(layers, steps))
        self.arguments = []
        for name, value in {**parameters, "x": x, "target": target}.items():
            np.save(folder / f"{name}.npy", value)
            self.arguments += ["--arg", f"{name}={folder / name}.npy"]

    def run(self, *options):
        command = [self.runner, str(self.file), *self.arguments, "--numerics", self.numerics, "--threads", "1",
                   *options]
        if subprocess.run(command).returncode:
            sys.exit(f"{NAME}: ad-runner failed on {self.file}")

    def gradient_error(self):
        """The largest relative error of the loss and the gradients."""
        out = self.folder / "gradients"
        self.run("--entry", "gradients", "--out-dir", str(out))
        loss, gradients = encoder.loss_and_gradients(*self.inputs, self.layers)
        errors = [relative_error(np.load(out / f"d_{name}.npy"), value) for name, value in gradients.items()]
        return max([*errors, relative_error(np.load(out / "loss.npy"), loss)])

    def time(self):
        """Seconds of all steps, the loss of the last one, and the report."""
        report, out = self.folder / "report.json", self.folder / "out"
        self.run("--warmup", "1", "--repeat", "1", "--report", str(report), "--out-dir", str(out))
        data = json.loads(report.read_text())
        return data["median_seconds"], float(np.load(out / "loss.npy")), data


# The module of each peer, and the method that times each form of it.
PEERS = {"jax_encoder": {"jax-jit": "time_jit", "jax-fori-loop": "time_loop"},
         "torch_encoder": {"torch-compile": "time_compiled", "torch-eager": "time_eager"}}
FORMS = [form for forms in PEERS.values() for form in forms]


def load_peers():
    """The modules that can be imported, by name."""
    peers = {}
    for name in PEERS:
        try:
            peers[name] = importlib.import_module(name)
        except ImportError as error:
            print(f"{name.split('_')[0]}: missing ({error})")
    return peers


def same_loss(name, got, expected):
    if not abs(got - expected) <= AFTER_TRAINING * abs(expected):
        sys.exit(f"{NAME}: the loss after training is {got} with {name}, expected about {expected}")


def measure(layers, folder, peers, options):
    """The row of the table for one number of layers; times in microseconds per step."""
    ours = Ours(folder, layers, options.steps, options)
    row = {"layers": layers, "gradient_error": ours.gradient_error()}
    if not row["gradient_error"] <= TOLERANCE:
        sys.exit(f"{NAME}: a gradient of {layers} layers is off by {row['gradient_error']:.2e}, expected {TOLERANCE:.0e}")
    runs = {}
    for name, peer in peers.items():
        trainer = peer.Trainer(*ours.inputs, layers, transformer_program.RATE, options.steps)
        runs.update({form: getattr(trainer, method) for form, method in PEERS[name].items()})
    seconds = {"ours": [], **{form: [] for form in runs}}
    for _ in range(ROUNDS):
        time, loss, report = ours.time()
        seconds["ours"].append(time)
        for form, run in runs.items():
            time, other = run()
            same_loss(form, loss, other)
            seconds[form].append(time)
    row["microseconds"] = {name: 1e6 * statistics.median(times) / options.steps for name, times in seconds.items()}
    row["kernels"] = sum(kernel["calls"] for kernel in report["kernels"]) / options.steps
    row["cpu"], row["numerics"] = report["cpu"], report["numerics"]
    return row


def show(row):
    times = row["microseconds"]
    cells = [f"{times[name]:13.1f}" if name in times else f"{'missing':>13}" for name in ("ours", *FORMS)]
    print(f"{row['layers']:6d} {row['kernels']:8.1f} {row['gradient_error']:10.1e} {' '.join(cells)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2, 4, 6])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--numerics", default="strict")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core for us and for the peer
    peers = load_peers()
    versions = "".join(f", {name.split('_')[0]} {peer.VERSION}" for name, peer in peers.items())
    print(f"ours with --numerics {options.numerics}{versions}, on one core; microseconds per step, "
          f"median of {ROUNDS} interleaved rounds of {options.steps} steps")
    print(f"layers  kernels  error/f64 {' '.join(f'{name:>13}' for name in ('ours', *FORMS))}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for layers in options.layers:
            rows.append(measure(layers, pathlib.Path(folder) / str(layers), peers, options))
            show(rows[-1])
    for row in rows:
        times = row["microseconds"]
        for name in FORMS:
            ratio = f"{times[name] / times['ours']:.2f}x of {name}" if name in times else f"{name} is missing"
            print(f"{NAME}: {ratio} (L={row['layers']})")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
