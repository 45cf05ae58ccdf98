# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""gpu_peers.py torch|jax|numpy FOLDER DEVICE: answers questions of gpu_worker.py, one line of JSON each, with seconds per
step. Inputs are made on the device. PyTorch is timed by CUDA events around a graph of several steps, JAX by the host
around a loop: one call where a result has the shape of its operand, else one call for each step."""

import json
import os
import pathlib
import statistics
import sys
import time

import gpu_graph_peers
import gpu_training
from gpu_kernels import kernels, tiles

ROUNDS = 5  # whose median counts
MAX_NODES = 20  # steps in a graph


def norm_like(array, *rest):
    """The operands of a kernel other than its matrix, scaled as ours."""
    return [array(shape) * shape[0] ** -0.5 for _, shape, _ in rest]


class Torch:
    def __init__(self, device):
        import torch

        self.torch, self.device = torch, device
        self.version = torch.__version__

    def seconds(self, run):
        """Of one call: (seconds, clock)."""
        torch = self.torch
        times = []
        for _ in range(1 + ROUNDS):
            if self.device != "cuda":
                start = time.perf_counter()
                run()
                times.append(time.perf_counter() - start)
                continue
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            start.record()
            run()
            stop.record()
            stop.synchronize()
            times.append(1e-3 * start.elapsed_time(stop))
        return statistics.median(times[1:]), "cuda events" if self.device == "cuda" else "host"

    def graph(self, run):
        """`run` as one launch, where that is possible: (function, what launches are)."""
        torch = self.torch
        run()
        if self.device != "cuda":
            return run, "one by one"
        torch.cuda.synchronize()
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                run()
            return graph.replay, "replayed"
        except RuntimeError:
            torch.cuda.synchronize()
            return run, "one by one"

    def form(self, kernel, name):
        torch = self.torch
        kind = {"f32": torch.float32, "bf16": torch.bfloat16}[kernel.element]

        def array(shape):
            return torch.randn(shape, device=self.device, dtype=kind)

        x = array(kernel.shape)
        rest = norm_like(array, *kernel.operands)
        eager = {"dot": lambda v: v @ rest[0], "dot_nt": lambda v: v @ rest[0].T,
                 "gradient": lambda v: rest[1].T @ (rest[0].T @ v),
                 "softmax": lambda v: torch.softmax(v, -1), "gelu": torch.nn.functional.gelu,
                 "layer_norm": lambda v: torch.nn.functional.layer_norm(v, v.shape[-1:], *rest),
                 "transpose": lambda v: v.T.contiguous(), "sum": torch.sum,
                 "column_sum": lambda v: v.sum(0)}[kernel.name]
        if name == "copy":
            copy = torch.empty_like(x)
            return x, lambda v: copy.copy_(v)
        if name == "torch-compile":
            return x, torch.compile(eager)
        if name == "torch-autotune":
            return x, torch.compile(eager, mode="max-autotune-no-cudagraphs")
        return x, eager

    def measure(self, kernel, name):
        self.torch.backends.cuda.matmul.allow_tf32 = "narrow" in kernel.mode
        x, form = self.form(kernel, name)
        nodes = max(1, min(kernel.steps, MAX_NODES))
        applied_to_result = kernel.steps > 1 and name != "copy"

        def run():
            value = x
            for _ in range(nodes):
                result = form(value)
                value = result if applied_to_result else x

        with self.torch.no_grad():
            form(x)
            launch, launches = self.graph(run)
            seconds, clock = self.seconds(launch)
        return {"seconds": seconds / nodes, "clock": clock, "launches": launches}


class Jax:
    def __init__(self, _device):
        import jax

        jax.config.update("jax_default_matmul_precision", "highest")  # f32 as f32, not as tf32
        self.jax, self.version = jax, jax.__version__

    def step(self, kernel):
        jax, jnp = self.jax, self.jax.numpy

        def norm(v, scale, bias):
            centred = v - v.mean(-1, keepdims=True)
            return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * scale + bias

        return {"dot": lambda v, b: v @ b, "dot_nt": lambda v, b: jnp.matmul(v, b.T, precision="tensorfloat32"),
                "gradient": lambda v, b, c: c.T @ (b.T @ v), "softmax": lambda v: jax.nn.softmax(v, -1),
                "layer_norm": norm,
                "gelu": lambda v: jax.nn.gelu(v, approximate=False), "transpose": lambda v: v.T,
                "sum": lambda v: v.sum(),
                "column_sum": lambda v: v.sum(0)}[kernel.name]

    def measure(self, kernel, _name):
        jax, jnp = self.jax, self.jax.numpy
        kind = {"f32": jnp.float32, "bf16": jnp.bfloat16}[kernel.element]
        keys = iter(jax.random.split(jax.random.key(0), 1 + len(kernel.operands)))

        def array(shape):
            return jax.random.normal(next(keys), shape, kind)

        x = array(kernel.shape)
        rest = norm_like(array, *kernel.operands)
        step, steps, launches = self.step(kernel), kernel.steps, "one call"
        if steps > 1:
            loop = jax.jit(lambda v, rest: jax.lax.fori_loop(0, steps, lambda _, w: step(w, *rest), v))
        else:  # many calls without waiting: the host is ahead of the device
            steps, one, launches = kernel.repeat, jax.jit(step), "one call for each step"
            loop = lambda v, rest: [one(v, *rest) for _ in range(steps)][-1]  # noqa: E731
        times = []
        for _ in range(1 + ROUNDS):
            start = time.perf_counter()
            loop(x, rest).block_until_ready()
            times.append((time.perf_counter() - start) / steps)
        return {"seconds": statistics.median(times[1:]), "clock": "host, around a loop", "launches": launches}


class Numpy:
    """In the place of PyTorch where neither it nor a GPU is; it measures graphs alone."""

    def __init__(self, _device):
        import numpy

        self.version = numpy.__version__


def answer(peer, folder, plan, question):
    if "do" in question:
        if not hasattr(peer, "graphs"):
            peer.graphs = gpu_graph_peers.make(None if isinstance(peer, Numpy) else peer)
        return gpu_graph_peers.answer(peer.graphs, folder, question)
    if "kernel" in question:
        return peer.measure(list(kernels(plan))[question["kernel"]], question["form"])
    if "tile" in question:
        return peer.measure(dict(tiles(plan))[question["tile"]], question["form"])
    return gpu_training.measure_peer(folder, plan, question)


def main():
    name, folder, device = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the peer prints is no answer
    plan = json.loads((folder / "gpu.json").read_text())
    try:
        peer, missing = {"torch": Torch, "jax": Jax, "numpy": Numpy}[name](device), None
    except ImportError as error:
        missing = f"{name} is not installed ({error})"
    for line in sys.stdin:
        if missing:
            said = {"missing": missing}
        else:
            try:
                said = {**answer(peer, folder, plan, json.loads(line)), "version": f"{name} {peer.version}"}
            except Exception as error:  # of any kind: peers raise what they like
                said = {"error": f"{type(error).__name__}: {error}"[:1000]}
        answers.write(json.dumps(said) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
