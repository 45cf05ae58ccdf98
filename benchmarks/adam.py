#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""A step of Adam on 10 M parameters, called from Python on one core, compared with PyTorch and JAX.

Parameters and both moments are donated: ours updates the NumPy arrays that it is given, PyTorch's fused optimizer its
tensors, and JAX gets its arrays back from a jitted step that donates them. Before anything is timed, the parameters
after several steps are held against NumPy in f64. The contenders take turns, one step each. Needs the package
(scripts/build_python.sh) next to the tools. The ratio is the time of the best peer divided by ours: above 1 we are
faster.
"""

import os
import pathlib
import sys
import time

import measure
from adam_program import BETA1, BETA2, EPSILON, RATE, corrections, program

measure.use_one_core()
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false"
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

TOOLS = pathlib.Path(os.environ.get("ADJOINT_BIN", measure.ROOT / "build/release/bin"))
sys.path.insert(0, str(TOOLS.parent / "python"))
try:
    import adjoint  # noqa: E402
except ImportError as error:
    sys.exit(f"adam: no Python package in {TOOLS.parent / 'python'} ({error}); run scripts/build_python.sh")

COUNTS = {"10 M parameters": 10_000_000, "1 M parameters": 1_000_000}
CHECKED = 3  # steps before the results are compared
TOLERANCE = 1e-5


class Ours:
    name = "adjoint"

    def __init__(self, p, g):
        self.run, self.g, self.number = adjoint.compile(program(p.size)), g, 0
        self.state = [p.copy(), np.zeros_like(p), np.zeros_like(p)]

    def step(self):
        self.number += 1
        self.run(*self.state, self.g, *corrections(self.number))

    def parameters(self):
        return self.state[0]


class Torch:
    name = "torch"

    def __init__(self, p, g):
        import torch
        torch.set_num_threads(1)
        self.weight = torch.nn.Parameter(torch.from_numpy(p.copy()))
        self.weight.grad = torch.from_numpy(g)
        self.adam = torch.optim.Adam([self.weight], lr=RATE, betas=(BETA1, BETA2), eps=EPSILON, fused=True)

    def step(self):
        self.adam.step()

    def parameters(self):
        return self.weight.detach().numpy()


class Jax:
    name = "jax"

    def __init__(self, p, g):
        import jax
        self.jax, self.g, self.number = jax, jax.numpy.asarray(g), 0
        self.state = [jax.numpy.array(p), jax.numpy.zeros(p.size, "float32"), jax.numpy.zeros(p.size, "float32")]

        def step(p, m, v, g, rate, up):
            m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
            return p - rate * m / (jax.numpy.sqrt(v * up) + EPSILON), m, v

        self.run = jax.jit(step, donate_argnums=(0, 1, 2))

    def step(self):
        self.number += 1
        rate, up = map(np.float32, corrections(self.number))
        self.state = self.jax.block_until_ready(self.run(*self.state, self.g, rate, up))

    def parameters(self):
        return np.asarray(self.state[0])


def in_double(p, g):
    p, m, v = p.astype(np.float64), 0.0, 0.0
    for number in range(1, CHECKED + 1):
        m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g.astype(np.float64) ** 2
        p -= RATE * m / (1 - BETA1**number) / (np.sqrt(v / (1 - BETA2**number)) + EPSILON)
    return p


def contenders_of(p, g):
    """Those whose parameters are right after some steps."""
    truth, contenders = in_double(p, g), []
    for make in (Ours, Torch, Jax):
        try:
            contender = make(p, g)
        except ImportError as error:
            print(f"{make.name}: missing ({error})")
            continue
        for _ in range(CHECKED):
            contender.step()
        error = float(np.max(np.abs(contender.parameters() - truth)))
        if error > TOLERANCE:
            sys.exit(f"adam: the parameters of {contender.name} are {error:.3g} from those in f64")
        contenders.append(contender)
    return contenders


def seconds_of(contender):
    start = time.perf_counter()
    contender.step()
    return time.perf_counter() - start


def main():
    options = measure.parse_options(__doc__, rounds=15)
    rng, rows = np.random.default_rng(0), []
    for case in measure.select(COUNTS, options, "adam"):
        p, g = (rng.uniform(-1, 1, COUNTS[case]).astype(np.float32) for _ in range(2))
        contenders = {one.name: lambda one=one: seconds_of(one) for one in contenders_of(p, g)}
        seconds = measure.take_turns(contenders, options.rounds)
        for name, median in seconds.items():
            print(f"{case:16} {name:8} {median * 1e3:8.2f} ms {28 * p.size / median / 1e9:6.1f} GB/s")
        peers = {name: time for name, time in seconds.items() if name != Ours.name}
        if peers:
            best = min(peers, key=peers.get)
            measure.close("adam", peers[best] / seconds[Ours.name], best, case)
        rows.append({"case": case, "seconds": seconds})
        measure.write_json(options, rows)


if __name__ == "__main__":
    main()
