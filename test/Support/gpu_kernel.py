# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The one kernel of a program, run by the emulator on any grid and in any schedule."""

import pathlib
import re
import subprocess
import sys

import runner

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts/cost_sheet"))
import launch_config  # noqa: E402


class Kernel:
    """The kernel as the emulator takes it, its class, and what its launch has."""

    def __init__(self, file, chip, numerics="reproducible"):
        self.stages = [f"--ad-to-cpu-frontend=numerics={numerics}", "--ad-to-gpu-fusion=optimize=0",
                       "--ad-to-gpu-kernels"]
        head, remarks = self.optimize(file, f"--ad-emit-gpu=chip={chip}", "--remarks-filter=ad-gpu")
        self.classes = re.findall(r"\[\w+\] (\w+)-class ", remarks)
        launch = launch_config.read(head)
        self.shared, self.threads = launch.get("dynamic_shared_bytes", 0), launch.get("threads_per_block", 256)
        self.cluster = launch.get("cluster_size", 1)  # blocks
        code, _ = self.optimize(file, f"--ad-to-gpu-code=chip={chip}")
        self.text = re.search(r"^  gpu\.module .*?^  }$", code, re.S | re.M)[0]

    def optimize(self, file, *options):
        done = subprocess.run([runner.binary("ad-opt"), file, *self.stages, *options], capture_output=True, text=True,
                              check=True)
        return done.stdout, done.stderr

    def run(self, folder, arguments, blocks, schedule):
        """Runs the kernel; the result is in found.npy."""
        module = folder / "kernel.mlir"
        module.write_text(self.text)
        command = [runner.binary("ad-gpu-emulate"), module, "--grid", blocks, "--block", self.threads, "--shared",
                   self.shared,
                   *(word for argument in arguments for word in ("--arg", argument)), "--out", folder / "found.npy",
                   "--schedule", *schedule]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True)
