# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Training in `reproducible` mode gives the same bits of every parameter everywhere: on the reference interpreter, on
the CPU with one thread and several, with the vectors of AVX-512, of AVX2 and without FMA, with both tile tables, and on
the emulated GPU. The bits of `fast` differ.

Models train in f32 and with the policies bf16 and f16. --steps N trains for N steps instead of a few; the emulated GPU,
which takes about a second for a step, trains for a few in any case. A CPU that this machine cannot run is named.
"""

import argparse
import functools
import itertools
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/Support"), str(ROOT / "examples/digits"), str(ROOT / "examples/models")]
sys.dont_write_bytecode = True
import checks  # noqa: E402
import llama  # noqa: E402
import llama_entries  # noqa: E402
import llama_text  # noqa: E402
import prepare  # noqa: E402
import runner  # noqa: E402

FEW_STEPS = 3
REFERENCE, GPU = ["--target=reference"], ["--target=gpu-sim", "--no-race-detection", "--threads=2"]
# What runs besides the reference interpreter: code for this machine, which is compiled once for any number of threads,
# and other code.
THREADS = {"one thread": ["--threads=1"], "2 threads": ["--threads=2"]}
OTHERS = {
    "3 threads, small tiles": ["--threads=3", "--tiles=small"],
    "AVX-512": ["--cpu=x86-64-v4", "--threads=1"],
    "AVX2": ["--cpu=x86-64-v3", "--threads=3"],
    "AVX2, small tiles": ["--cpu=x86-64-v3", "--tiles=small", "--threads=2"],
    "no FMA": ["--cpu=x86-64", "--threads=2"],
}
PRECISIONS = ("none", "bf16", "f16")


class Digits:
    """The transformer of examples/digits on its first batches, then its scores of one batch of held-out digits."""

    name = "digits transformer"

    def __init__(self):
        self.parameters, self.streams = prepare.make_inputs("transformer", 0)
        self.inputs = self.parameters

    def program(self, steps):
        text = (ROOT / "examples/digits/transformer.mlir").read_text()
        for loop, count, wanted in (("steps", 528, steps), ("batches", 12, 1)):
            before = f"%{loop} = arith.constant {count} : index"
            assert text.count(before) == 1, f"expected one '{before}' in the program"
            text = text.replace(before, f"%{loop} = arith.constant {wanted} : index")
        return text


class Llama:
    """Two layers of examples/models: grouped-query attention, rotary embeddings, SwiGLU, RMS norms, Adam. The sizes are
    small, so that the reference interpreter and the emulated GPU run it."""

    name = "Llama of two layers"
    SIZES = {"part": "model", "entry": "train", "head": "separate", "optimizer": "adam", "layers": 2, "batch": 2,
             "length": 12, "positions": 16, "width": 32, "heads": 4, "key_heads": 2, "inner": 48, "vocabulary": 24,
             "rate": 0.01}

    def __init__(self, steps):
        config = llama_text.Config(**self.SIZES, steps=max(steps, FEW_STEPS))
        self.inputs, self.streams = llama.inputs(config)
        self.parameters = {name: self.inputs[name] for name in config.parameters()}

    def program(self, steps):
        return llama_entries.program(llama_text.Config(**self.SIZES, steps=steps))


class Training:
    """A model that is trained for some steps with one precision."""

    def __init__(self, model, precision, steps, folder):
        self.folder, self.parameters = folder, model.parameters
        (folder / "program.mlir").write_text(model.program(steps))
        prepare.write_inputs(model.inputs, model.streams, folder / "inputs")
        self.options = (folder / "inputs/arguments").read_text().splitlines() + [f"--precision={precision}"]

    def run(self, options, mode="reproducible"):
        """The bytes of all that the run writes, by name; None if this machine cannot run code for the CPU."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        command = [runner.binary("ad-runner"), self.folder / "program.mlir", *self.options, f"--numerics={mode}",
                   f"--cache={self.folder / 'cache'}", f"--out-dir={out}", *options]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 4 and "which this machine lacks" in done.stderr:
            print(f"not run: {done.stderr.strip()}")
            return None
        if done.returncode:
            raise runner.Failure(done.returncode, done.stderr)
        return {path.stem: path.read_bytes() for path in sorted(out.glob("*.npy"))}

    def untrained(self):
        """Parameters that are not finite after training or are as they were."""
        for name, initial in self.parameters.items():
            trained = np.load(self.folder / "out" / f"{name}.npy")
            if not np.isfinite(trained).all() or (trained == initial).all():
                yield name


def compare(label, expected, found):
    """What differs, as a text or nothing."""
    if found is None or found == expected:
        return []
    if found.keys() != expected.keys():
        return [f"{label}: wrote {sorted(found)} instead of {sorted(expected)}"]
    return [f"{label}: other bits than on the reference in {[name for name in expected if found[name] != expected[name]]}"]


def train(model, precision, steps, others, with_fast, folder):
    """The problems of one model and precision."""
    training = Training(model, precision, steps, folder)
    expected = training.run(REFERENCE)
    problems = [f"'{name}' is not trained" for name in training.untrained()]
    for label, options in [*THREADS.items(), *((label, OTHERS[label]) for label in others)]:
        problems += compare(label, expected, training.run(options))
    if with_fast and training.run([], mode="fast") == expected:
        problems.append("fast gives the bits of reproducible, so that this test shows nothing")
    if steps > FEW_STEPS:
        training = Training(model, precision, FEW_STEPS, folder)
        expected = training.run(REFERENCE)
    return problems + compare("the emulated GPU", expected, training.run(GPU))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=FEW_STEPS, help=f"steps of training (default: {FEW_STEPS})")
    parser.add_argument("--only", default="", help="run only the models and precisions whose label has this text")
    options = parser.parse_args()
    steps, models = options.steps, [Digits(), Llama(options.steps)]
    every = [(f"{model.name}, precision {precision}, {steps} steps", model, precision)
             for model in models for precision in PRECISIONS]
    # A sample has one model in one precision, and some of the other codes, whose number is drawn apart.
    chosen = checks.sample([case for case in every if options.only in case[0]], len(every))
    if not chosen:
        parser.error(f"--only {options.only}: expected a part of {', '.join(label for label, *_ in every)}")
    others = list(itertools.product([label for label, *_ in chosen], OTHERS))
    if checks.SAMPLE >= 0:
        others = random.Random(checks.SAMPLE).sample(others, len(others) // 2)
    return checks.run_checks("reproducible-training", [
        (label, functools.partial(train, model, precision, steps, [other for case, other in others if case == label],
                                  checks.SAMPLE < 0 or label == chosen[0][0]))
        for label, model, precision in chosen])


if __name__ == "__main__":
    sys.exit(main())
