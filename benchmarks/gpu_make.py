# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Compiles what gpu.py measures ahead of time, into a folder that holds all that measuring needs."""

import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import gpu_checked
import gpu_graphs
import gpu_workloads
from gpu_kernels import kernels, tiles

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
FILES = ["adam_program.py", "encoder.py", "gpu.py", "gpu_checked.py", "gpu_graph_peers.py", "gpu_graphs.py",
         "gpu_kernels.py", "gpu_ours.py", "gpu_peers.py", "gpu_training.py", "gpu_worker.py", "gpu_workloads.py",
         "jax_digits.py", "jax_encoder.py", "jax_llama.py", "llama.py", "measure.py", "sweep_cases.py", "sweep_graph.py",
         "sweep_peers.py", "torch_digits.py", "torch_encoder.py", "torch_llama.py"]
SHARED = ["processes.py", "jsonlines.py", "ratios.py"]  # with the cases, whose folder this one is in when it is packed
DIGITS = ROOT / "examples" / "digits"
CPU = "x86-64-v3"  # whose instructions the host code may use


def emit(runner, folder, name, text, target, chip, mode, flags=()):
    file = folder / f"{name}.mlir"
    file.write_text(text)
    machine = ["--chip", chip, "--cpu", CPU] if target == "cuda" else []
    command = [runner, file, "--target", target, *machine, "--numerics", mode, *flags, "--emit", folder / f"{name}.adx"]
    if subprocess.run(command).returncode:
        sys.exit(f"gpu: '{' '.join(map(str, command))}' failed")
    file.unlink()


def make_digits(runner, folder, target, chip, steps):
    """The demo's perceptron for so many steps, and its inputs."""
    sys.path.insert(0, str(DIGITS))
    import prepare

    text = (DIGITS / "mlp.mlir").read_text()
    parameters, streams = prepare.make_inputs("mlp", seed=0)
    written = f"%steps = arith.constant {len(streams['images'])} : index"
    if written not in text:
        sys.exit("gpu: examples/digits/mlp.mlir says its steps in another way")
    emit(runner, folder, "digits", text.replace(written, f"%steps = arith.constant {steps} : index"), target, chip,
         "strict")
    np.savez_compressed(folder / "digits.npz", **parameters, **streams)


def make_training(runner, folder, target, chip, extent):
    import llama_program
    import transformer_program

    for layers in extent["layers"]:
        text = transformer_program.program(layers, extent["training_steps"])
        emit(runner, folder, f"encoder{layers}", text, target, chip, "strict")
    if extent["block"]:
        emit(runner, folder, "block", llama_program.program(*extent["block"]), target, chip, "strict")
    make_digits(runner, folder, target, chip, extent["digit_steps"])


def make_checked(runner, folder, target, chip, extent, parts):
    """Random graphs and workloads, each once more with its kernels timed, and what they compute."""
    scale = gpu_graphs.EMULATED if extent["small"] else gpu_graphs.GPU
    cases = {"graphs": gpu_graphs.random_cases(extent["seed"], extent["graphs"], scale) if "graphs" in parts else [],
             "workloads": list(gpu_workloads.cases(extent["small"])) if "workloads" in parts else []}
    (folder / "graphs.pickle").write_bytes(pickle.dumps(cases))
    for part, each in cases.items():
        for number, case in enumerate(each):
            name, text = gpu_checked.program_name(part, number), case.text()
            emit(runner, folder, name, text, target, chip, case.mode, case.flags)
            with tempfile.NamedTemporaryFile(suffix=".json") as report:  # whose presence makes kernels take their time
                emit(runner, folder, gpu_checked.profiled(name), text, target, chip, case.mode,
                     [*case.flags, "--report", report.name])


def make_kernels(runner, folder, target, chip, extent):
    for number, kernel in enumerate(kernels(extent)):
        emit(runner, folder, f"kernel{number}", kernel.program(), target, chip, kernel.mode)


def make_tiles(runner, folder, target, chip, extent):
    if target != "cuda" or chip == "sm_90a":  # the others have no such tiles
        for tile, kernel in tiles(extent):
            emit(runner, folder, f"tile-{tile}", kernel.program(), target, chip, kernel.mode, ["--tile", tile])


def make(folder, target, chip, extent, parts):
    """The programs of some parts, adrt-run unless the folder above has it, and the modules that measure."""
    binaries = pathlib.Path(os.environ.get("ADJOINT_BIN", ROOT / "build/release/bin"))
    runner = binaries / "ad-runner"
    folder.mkdir(parents=True)
    for part, maker in {"kernels": make_kernels, "tiles": make_tiles, "training": make_training}.items():
        if part in parts:
            maker(runner, folder, target, chip, extent)
    make_checked(runner, folder, target, chip, extent, parts)
    if not (folder.parent / "adrt-run").exists():
        shutil.copy(binaries / "adrt-run", folder)
    for name in FILES:
        shutil.copy(HERE / name, folder)
    for name in SHARED:
        shutil.copy(ROOT / "test" / "Device" / name, folder)
    (folder / "gpu.json").write_text(json.dumps({"target": target, "chip": chip, "parts": parts, **extent}))
