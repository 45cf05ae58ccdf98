#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Kernels and training steps on an NVIDIA GPU: ours beside cuBLAS (PyTorch), torch.compile in max-autotune, and JAX.

A machine with a GPU often has no compiler of ours, so making and measuring can be apart: --make FOLDER compiles everything ahead of
time and puts what is needed beside it; gpu.py --from FOLDER measures there. Without either both happen here. A kernel is applied to
its own result again and again: the time of many steps less that of a few, so that no upload and no start of a process stands in it.
Contractions of bf16 are `fast`, so that tensor cores may sum; those of f32 are measured in `strict`, and with `narrow` as tf32; all else
is `strict`. Training, of the encoder and of the digits, runs once more with kernels launched one by one (`ours-one-by-one`): what
replaying turns of the loop is worth.
"""

import argparse
import functools
import importlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

import measure
from gpu_kernels import LARGE, SMALL, kernels

NAME = "gpu"
ROUNDS = 5
FEW = 2  # steps whose time is taken off
NO_DEVICE = 4
REPEATS = [3, 9, 27]  # runs whose median counts: more where noise hides the difference of two
BESIDE = ["gpu.py", "gpu_kernels.py", "measure.py", "encoder.py", "torch_encoder.py", "jax_encoder.py", "transformer_program.py", "torch_digits.py",
          "jax_digits.py"]
DIGITS = measure.ROOT / "examples" / "digits"
ONE_BY_ONE = "--no-replay"
CPU = "x86-64-v3"  # whose instructions the host code may use when measuring is apart from making


#===- Making ---------------------------------------------------------------===#


def emit(runner, folder, name, text, target, chip, mode):
    (folder / f"{name}.mlir").write_text(text)
    machine = ["--chip", chip, "--cpu", CPU] if target == "cuda" else []
    command = [runner, folder / f"{name}.mlir", "--target", target, *machine, "--numerics", mode, "--emit", folder / f"{name}.adx"]
    if subprocess.run(command).returncode:
        sys.exit(f"{NAME}: '{' '.join(map(str, command))}' failed")


def make_digits(runner, folder, target, chip, steps):
    """The demo's perceptron, for a few steps and for these more, and its inputs."""
    sys.path.insert(0, str(DIGITS))
    import prepare
    text = (DIGITS / "mlp.mlir").read_text()
    parameters, streams = prepare.make_inputs("mlp", seed=0)
    for count in (FEW, FEW + steps):
        shorter = text.replace(f"%steps = arith.constant {len(streams['images'])} : index", f"%steps = arith.constant {count} : index")
        emit(runner, folder, f"digits-{count}", shorter, target, chip, "strict")
    np.savez(folder / "digits.npz", **parameters, **streams)


def make(folder, target, chip, extent):
    """All programs, adrt-run, and the modules of the peers."""
    import encoder
    import transformer_program
    binaries = pathlib.Path(os.environ.get("ADJOINT_BIN", measure.ROOT / "build/release/bin"))
    folder.mkdir(parents=True)
    for number, kernel in enumerate(kernels(extent)):
        for steps in (FEW, FEW + kernel.steps):
            emit(binaries / "ad-runner", folder, f"kernel{number}-{steps}", kernel.program(steps), target, chip, kernel.mode)
    for layers in extent["layers"]:
        text = transformer_program.program(layers, extent["training_steps"])
        emit(binaries / "ad-runner", folder, f"encoder{layers}", text, target, chip, "strict")
        parameters, x, goal = encoder.make_inputs(layers)
        np.savez(folder / f"encoder{layers}.npz", **parameters, x=x, target=goal)
    make_digits(binaries / "ad-runner", folder, target, chip, extent["digit_steps"])
    shutil.copy(binaries / "adrt-run", folder)
    for name in BESIDE:
        shutil.copy(measure.HERE / name, folder)
    (folder / "gpu.json").write_text(json.dumps({"target": target, "chip": chip, **extent}))


#===- Measuring ------------------------------------------------------------===#


class Failed(Exception):
    """What is wrong with a case; the others are measured all the same."""


def seconds_of(folder, program, arguments, repeat=REPEATS[0]):
    """The median time of a run."""
    report = folder / f"{program}.report.json"
    command = [folder / "adrt-run", folder / f"{program}.adx", *arguments, "--warmup", "1", "--repeat", repeat, "--report", report]
    command = [str(word) for word in command]
    if code := subprocess.run(command, stdout=subprocess.DEVNULL).returncode:
        raise Failed(f"'{' '.join(command)}' failed with exit code {code}")
    return json.loads(report.read_text())["median_seconds"]


def seconds_of_step(time, steps):
    """A step's share of what FEW + `steps` steps take longer than FEW. `time` measures a number of steps, as a median of some runs."""
    for repeat in REPEATS:
        few, every = (time(count, repeat) for count in (FEW, FEW + steps))
        if every > few:
            return (every - few) / steps
    raise Failed(f"{FEW + steps} steps ({every} s) take no longer than {FEW} ({few} s)")


def our_time(folder, number, kernel):
    def time(count, repeat):
        return seconds_of(folder, f"kernel{number}-{count}", kernel.arguments(), repeat)

    return seconds_of_step(time, kernel.steps)


class Torch:
    """Forms of a kernel in PyTorch. Importing it needs PyTorch."""

    def __init__(self, device):
        import torch
        self.torch, self.device, self.version = torch, device, f"torch {torch.__version__}"
        self.wait = torch.cuda.synchronize if device == "cuda" else lambda: None

    def contenders(self, kernel):
        torch = self.torch
        kind = {"f32": torch.float32, "bf16": torch.bfloat16}[kernel.element]
        x = torch.randn(kernel.shape, device=self.device, dtype=kind)
        rest = [torch.randn(shape, device=self.device, dtype=kind) * shape[0] ** -0.5 for _, shape, _ in kernel.operands]
        eager = {"dot": lambda v: v @ rest[0], "dot_nt": lambda v: v @ rest[0].T, "gradient": lambda v: rest[1].T @ (rest[0].T @ v),
                 "softmax": lambda v: torch.softmax(v, -1), "gelu": torch.nn.functional.gelu,
                 "layer_norm": lambda v: torch.nn.functional.layer_norm(v, v.shape[-1:], *rest),
                 "transpose": lambda v: v.T.contiguous()}[kernel.name]
        compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs")
        copy = torch.empty_like(x)
        named = {"cublas" if kernel.flops else "torch-eager": eager, "torch-compile": compiled, "copy": lambda v: copy.copy_(v)}
        return {name: lambda step=step: self.time(step, x, kernel) for name, step in named.items()}

    def time(self, step, x, kernel):
        products = self.torch.backends.cuda.matmul
        products.allow_tf32 = "narrow" in kernel.mode
        with self.torch.no_grad():
            value = step(step(x))
            self.wait()
            start = time.perf_counter()
            for _ in range(kernel.steps):
                value = step(value)
            self.wait()
        products.allow_tf32 = False  # as it is for training
        return (time.perf_counter() - start) / kernel.steps


class Jax:
    """A loop over a kernel in JAX. Importing it needs JAX."""

    def __init__(self, _device):
        import jax
        jax.config.update("jax_default_matmul_precision", "highest")  # f32 as f32, not as tf32
        self.jax, self.version = jax, f"jax {jax.__version__}"

    def contenders(self, kernel):
        jax, jnp = self.jax, self.jax.numpy
        kind = {"f32": jnp.float32, "bf16": jnp.bfloat16}[kernel.element]
        keys = jax.random.split(jax.random.key(0), 1 + len(kernel.operands))
        x = jax.random.normal(keys[0], kernel.shape, kind)
        rest = [jax.random.normal(key, shape, kind) * shape[0] ** -0.5 for key, (_, shape, _) in zip(keys[1:], kernel.operands)]

        def norm(v, scale, bias):
            centred = v - v.mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias

        def product_as_tf32(v, b):
            return jnp.matmul(v, b.T, precision="tensorfloat32")

        step = {"dot": lambda v, b: v @ b, "dot_nt": product_as_tf32, "gradient": lambda v, b, c: c.T @ (b.T @ v),
                "softmax": lambda v: jax.nn.softmax(v, -1), "layer_norm": norm,
                "gelu": lambda v: jax.nn.gelu(v, approximate=False), "transpose": lambda v: v.T}[kernel.name]
        loop = jax.jit(lambda v, rest: jax.lax.fori_loop(0, kernel.steps, lambda _, w: step(w, *rest), v))

        def timed():
            start = time.perf_counter()
            loop(x, rest).block_until_ready()
            return (time.perf_counter() - start) / kernel.steps

        return {"jax": timed}


def load_peers(device):
    peers = []
    for kind in (Torch, Jax):
        try:
            peers.append(kind(device))
        except ImportError as error:
            print(f"{kind.__name__.lower()}: missing ({error})")
    return peers


def kernel_contenders(folder, number, kernel, peers):
    contenders = {"ours": lambda: our_time(folder, number, kernel)}
    for peer in peers:
        contenders.update(peer.contenders(kernel))
    return contenders


def peer_contenders(forms, steps, device, *arguments):
    """Seconds of a step of the installed peers among {module: {contender: method of its Trainer}}."""
    contenders = {}
    for module, methods in forms.items():
        try:
            peer = importlib.import_module(module)
        except ImportError:
            continue  # load_peers has said so
        trainer = peer.Trainer(*arguments, **({"device": device} if module.startswith("torch_") else {}))
        for name, method in methods.items():
            contenders[name] = lambda run=getattr(trainer, method): run()[0] / steps
    return contenders


def training_contenders(folder, layers, steps, device):
    inputs = dict(np.load(folder / f"encoder{layers}.npz"))
    arguments = []
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value)
        arguments.append(f"--arg={name}={folder / name}.npy")
    contenders = {name: lambda more=more: seconds_of(folder, f"encoder{layers}", [*arguments, *more]) / steps
                  for name, more in {"ours": [], "ours-one-by-one": [ONE_BY_ONE]}.items()}
    x, goal = inputs.pop("x"), inputs.pop("target")
    forms = {"torch_encoder": {"torch-compile": "time_compiled", "torch-eager": "time_eager"},
             "jax_encoder": {"jax-jit": "time_jit", "jax-fori-loop": "time_loop"}}
    return {**contenders, **peer_contenders(forms, steps, device, inputs, x, goal, layers, 0.01, steps)}


def digit_contenders(folder, steps, device):
    """Seconds of a step, batch and loss on their way included."""
    inputs = dict(np.load(folder / "digits.npz"))
    arguments = []
    for name, value in inputs.items():
        is_stream = value.ndim > 1 and name.endswith(("images", "labels"))
        np.save(folder / f"{name}.npy", value)
        arguments.append(f"--feed={name}={folder / name}.npy,cycle" if is_stream else f"--arg={name}={folder / name}.npy")

    def ours(more):
        return seconds_of_step(lambda count, repeat: seconds_of(folder, f"digits-{count}", [*arguments, *more], repeat), steps)

    contenders = {"ours": lambda: ours([]), "ours-one-by-one": lambda: ours([ONE_BY_ONE])}
    images, labels = (inputs.pop(name)[:steps] for name in ("images", "labels"))
    parameters = {name: value for name, value in inputs.items() if not name.startswith("test_")}
    forms = {"torch_digits": {"torch-compile": "time_compiled", "torch-compile-graphs": "time_graphs", "torch-eager": "time_eager"},
             "jax_digits": {"jax-jit": "time_jit", "jax-scan": "time_loop"}}
    return {**contenders, **peer_contenders(forms, steps, device, parameters, images, labels)}


def show(row):
    seconds = row["seconds"]
    rate = {name: row["flops"] / value / 1e12 if row.get("flops") else row.get("bytes", 0) / value / 1e9 for name, value in seconds.items()}
    unit = "TFLOP/s" if row.get("flops") else "GB/s" if row.get("bytes") else ""
    cells = " ".join(f"{name} {1e6 * value:.1f} us" + (f" ({rate[name]:.0f} {unit})" if unit else "") for name, value in seconds.items())
    print(f"{row['case']:28} {cells}", flush=True)


def close(rows):
    for row in rows:
        for name, value in row["seconds"].items():
            if name != "ours":
                measure.close(NAME, value / row["seconds"]["ours"], name, row["case"])


def cases(folder, plan, peers, device):
    """Each case's name, what is known of it beside, and a function that gives its contenders."""
    for number, kernel in enumerate(kernels(plan)):
        yield str(kernel), {"flops": kernel.flops, "bytes": kernel.bytes}, functools.partial(kernel_contenders, folder, number, kernel, peers)
    for layers in plan["layers"]:
        contenders = functools.partial(training_contenders, folder, layers, plan["training_steps"], device)
        yield f"training step, {layers} layers", {}, contenders
    yield "digits, a step", {}, functools.partial(digit_contenders, folder, plan["digit_steps"], device)


def measure_all(folder, options):
    """Whether a case failed. What has been measured is written after each."""
    plan = json.loads((folder / "gpu.json").read_text())
    device = "cuda" if plan["target"] == "cuda" else "cpu"
    if device == "cuda" and not pathlib.Path("/proc/driver/nvidia/version").exists():
        print(f"{NAME}: no driver of an NVIDIA GPU here; measure where there is one: scripts/gpu.sh pack", file=sys.stderr)
        sys.exit(NO_DEVICE)
    peers = load_peers(device)
    print(f"{', '.join(peer.version for peer in peers)}; median of {options.rounds} interleaved rounds")
    rows, failed = [], 0
    for case, known, contenders in cases(folder, plan, peers, device):
        if options.only not in case:
            continue
        try:
            rows.append({"case": case, **known, "seconds": measure.take_turns(contenders(), options.rounds)})
            show(rows[-1])
        except Exception as error:  # of any kind: peers raise what they like
            failed += 1
            print(f"FAILED: {case}: {type(error).__name__}: {error}", flush=True)
        measure.write_json(options, rows)
    close(rows)
    return failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", help="write the measurements there")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"rounds that count (default: {ROUNDS})")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the cases whose name contains TEXT")
    parser.add_argument("--make", type=pathlib.Path, metavar="FOLDER", help="compile, and put everything into a new folder")
    parser.add_argument("--from", dest="made", type=pathlib.Path, metavar="FOLDER", help="measure what --make has made")
    parser.add_argument("--target", choices=["cuda", "gpu-sim"], default="cuda", help="gpu-sim: small cases, to test this program")
    parser.add_argument("--chip", default="sm_90a", help="what code may use (default: sm_90a)")
    options = parser.parse_args()
    extent = LARGE if options.target == "cuda" else SMALL
    if options.make:
        make(options.make.resolve(), options.target, options.chip, extent)
        return 0
    if options.made:
        return measure_all(options.made.resolve(), options)
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "made"
        make(made, options.target, options.chip, extent)
        return measure_all(made, options)


if __name__ == "__main__":
    sys.exit(main())
