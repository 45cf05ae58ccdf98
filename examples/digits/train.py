#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Trains a digits program with ad-runner and says how it goes.

Prepares the inputs, runs the program, shows the loss as it falls, the stages that the program went through and the
accuracy on the held-out digits. The folder then holds the trained parameters and the loss of each step as .npy, the
loss curve as loss.svg, and report.json.
"""

import argparse
import json
import pathlib
import shutil
import sys
import textwrap
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import ending  # noqa: E402
import plot_loss  # noqa: E402
import prepare  # noqa: E402

LINES = 10  # lines of progress per run


class Progress:
    """Prints the mean loss of each tenth of the training as soon as the runner has written it."""

    def __init__(self, file, steps, quiet):
        self.file, self.steps, self.quiet, self.shown = file, steps, quiet, 0

    def losses(self):
        try:
            return np.load(self.file).reshape(-1)
        except (OSError, ValueError, EOFError):  # not there yet
            return np.empty(0, np.float32)

    def update(self):
        if self.quiet:
            return
        losses, length = self.losses(), max(self.steps // LINES, 1)
        while self.shown < LINES and len(losses) >= (self.shown + 1) * length:
            loss = float(losses[self.shown * length : (self.shown + 1) * length].mean())
            self.shown += 1
            bar = "#" * max(1, min(60, round(20 * (np.log10(max(loss, 1e-3)) + 3)))) if np.isfinite(loss) else ""
            print(f"  step {self.shown * length:5d} of {self.steps}  loss {loss:8.4f}  {bar}", flush=True)


def run(command, progress):
    """Runs the program to its end while its loss is shown; returns the seconds that it took."""
    start = time.monotonic()
    # A terminal interrupts the runner, too, which then keeps what was received.
    with ending.started(command, patience=1) as process:
        while process.poll() is None:
            ending.raise_stopped()
            progress.update()
            time.sleep(0.1)
    seconds = time.monotonic() - start
    if process.returncode:  # the runner has said why
        sys.exit(process.returncode if process.returncode > 0 else 128 - process.returncode)
    progress.update()
    return seconds


def show_stages(report):
    print("  stages that the program went through:")
    for stage in report["stages"]:
        print(f"    {stage['name']:<12} {stage['seconds']:8.3f} s")
    passes = " ".join(step["name"] for step in report["passes"])
    print(textwrap.fill("passes: " + passes, 110, initial_indent="  ", subsequent_indent="    ",
                        break_on_hyphens=False))
    kernels = report["kernels"]
    calls = sum(kernel["calls"] for kernel in kernels)
    print(f"  {len(kernels)} kernels, called {calls} times, {report['arena_bytes']} bytes of working memory")


def train(model, seed, folder, options, quiet):
    """One run; returns the accuracy on the held-out digits in percent and the seconds of the whole run."""
    parameters, streams = prepare.make_inputs(model, seed)
    prepare.write_inputs(parameters, streams, folder / "inputs")
    arguments = (folder / "inputs" / "arguments").read_text().splitlines()
    report = folder / "report.json"
    command = [options.runner, str(HERE / f"{model}.mlir"), *arguments, "--out-dir", str(folder)]
    # A cache of its own, so that the report tells of the whole way and not of an earlier run's result.
    command += ["--report", str(report), "--cache", str(options.out / "cache"), *options.runner_options]
    seconds = run(command, Progress(folder / "loss.npy", len(streams["images"]), quiet))
    accuracy = 100.0 * float(np.load(folder / "accuracy.npy"))
    title = f"digits {model}, seed {seed}: test accuracy {accuracy:.1f} %"
    losses = np.load(folder / "loss.npy").astype(np.float64).reshape(-1)
    ending.write_whole(folder / "loss.svg", plot_loss.draw(losses, title))
    if not quiet:
        show_stages(json.loads(report.read_text()))
        print(f"  parameters and loss curve: {folder}/*.npy, {folder}/loss.svg")
    return accuracy, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=sorted(prepare.MODELS))
    parser.add_argument("--runner", default="ad-runner", help="the ad-runner to use")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("digits-out"), help="folder of the results")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, help="train with the seeds 0 to SEEDS-1 instead; print mean and minimum")
    options, options.runner_options = parser.parse_known_args()
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        parser.error(f"--out: cannot make the folder '{options.out}': {problem.strerror}")
    shutil.rmtree(options.out / "cache", ignore_errors=True)
    if not options.seeds:
        accuracy, seconds = train(options.model, options.seed, options.out, options, quiet=False)
        print(f"digits {options.model}: test accuracy {accuracy:.1f} %, {seconds:.1f} s")
        return
    accuracies, total = [], 0.0
    for seed in range(options.seeds):
        accuracy, seconds = train(options.model, seed, options.out / f"seed{seed}", options, quiet=True)
        print(f"  seed {seed}: test accuracy {accuracy:.1f} %, {seconds:.1f} s", flush=True)
        accuracies.append(accuracy)
        total += seconds
    mean, least = np.mean(accuracies), min(accuracies)
    print(f"digits {options.model}: test accuracy mean {mean:.1f} %, minimum {least:.1f} % of {options.seeds} seeds, {total:.1f} s")


if __name__ == "__main__":
    ending.run(main)
