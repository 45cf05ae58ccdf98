#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Attention on one core: ours in `strict` compared with PyTorch and JAX, forward and backward, in f32.

Results are compared first. Ours is the time of the kernels, a peer's that of a call from Python.
"""

import pathlib
import sys
import tempfile

import measure

NAME = "attention"
OPTIONS = measure.parse_options(__doc__, rounds=5)
measure.use_one_core()
import numpy as np  # noqa: E402  (it counts the cores when it is loaded)

try:
    import torch
    torch.set_num_threads(1)
except ImportError as error:
    torch = None
    print(f"torch: missing ({error})")
try:
    import jax
except ImportError as error:
    jax = None
    print(f"jax: missing ({error})")

SECONDS = 0.3  # of a contender in a round
TOLERANCE = 1e-4


class Case:
    """Of so many heads, queries and keys; `part` is the result, or the gradients of query, key and value."""

    def __init__(self, name, heads, queries, keys, size=64, causal=False, backward=False):
        self.name, self.heads, self.queries, self.keys, self.size = name, heads, queries, keys, size
        self.causal, self.backward = causal, backward

    def __str__(self):
        return self.name

    @property
    def flops(self):
        """Of the products; two forward, five backward, after a forward that is part of the gradient."""
        products = 7 if self.backward else 2
        return 2 * products * self.heads * self.queries * self.keys * self.size / (2 if self.causal else 1)

    def shapes(self):
        of_query, of_key = ((1, self.heads, count, self.size) for count in (self.queries, self.keys))
        return [of_query, of_key, of_key] + ([of_query] if self.backward else [])

    def text(self):
        q, k = ("tensor<" + "x".join(map(str, shape)) + "xf32>" for shape in self.shapes()[:2])
        attention = f"%y, %l = ad.attention %q, %k, %v{' causal' if self.causal else ''} : {q}, {k}, {k}"
        named = lambda letters, types: ", ".join(f'%{a}: {t} {{ad.name = "{a}"}}' for a, t in zip(letters, types))
        if not self.backward:
            return (f'func.func @main({named("qkv", [q, k, k])}) -> ({q} {{ad.name = "r0"}}) {{\n  {attention}\n'
                    f"  return %y : {q}\n}}\n")
        results = ", ".join(f'{type} {{ad.name = "r{number}"}}' for number, type in enumerate([q, k, k]))
        return (f"func.func private @f(%q: {q}, %k: {k}, %v: {k}) -> {q} {{\n  {attention}\n  return %y : {q}\n}}\n"
                f'func.func @main({named("qkvg", [q, k, k, q])}) -> ({results}) {{\n'
                f"  %r:4 = ad.vjp @f(%q, %k, %v) cotangents(%g) wrt [0, 1, 2] : ({q}, {k}, {k}, {q}) -> ({q}, {q}, {k}, {k})\n"
                f"  return %r#1, %r#2, %r#3 : {q}, {k}, {k}\n}}\n")

    def arrays(self):
        rng = np.random.default_rng(0)
        return {name: rng.normal(size=shape).astype(np.float32) for name, shape in zip("qkvg", self.shapes())}

    def in_torch(self, arrays):
        """A function of PyTorch, and its results."""
        inputs = [torch.tensor(arrays[name], requires_grad=self.backward) for name in "qkv"]
        attend = lambda: torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=self.causal)
        if not self.backward:
            return attend, [attend().numpy()]
        cotangent = torch.tensor(arrays["g"])
        call = lambda: torch.autograd.grad(attend(), inputs, cotangent)
        return call, [each.numpy() for each in call()]

    def in_jax(self, arrays):
        swap = lambda x: x.swapaxes(1, 2)  # JAX has heads after lengths
        attend = lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=self.causal)
        inputs = [swap(arrays[name]) for name in arrays]
        if self.backward:
            function = jax.jit(lambda q, k, v, g: jax.vjp(attend, q, k, v)[1](g))
        else:
            function = jax.jit(lambda *operands: (attend(*operands),))
        inputs = [jax.numpy.asarray(x) for x in inputs]
        call = lambda: jax.block_until_ready(function(*inputs))
        return call, [swap(np.asarray(each)) for each in call()]

    def peers(self, arrays):
        made = {"torch": self.in_torch(arrays)} if torch else {}
        return {**made, **({"jax": self.in_jax(arrays)} if jax else {})}


CASES = [
    Case("8 x 1024 x 64", 8, 1024, 1024),
    Case("8 x 1024 x 64, causal", 8, 1024, 1024, causal=True),
    Case("12 x 197 x 64", 12, 197, 197),
    Case("one query, 4096 keys", 8, 1, 4096),
    Case("8 x 1024 x 64, gradients", 8, 1024, 1024, backward=True),
    Case("8 x 1024 x 64, causal, gradients", 8, 1024, 1024, causal=True, backward=True),
    Case("12 x 197 x 64, gradients", 12, 197, 197, backward=True),
]


def check(case, folder, arguments, peers):
    """Ends the program if our results are not those of the peers."""
    ours = measure.Ours(folder, case.text(), arguments)
    results = ours.results(arguments)
    for peer, (_, theirs) in peers.items():
        for number, expected in enumerate(theirs):
            made = np.load(results / f"r{number}.npy")
            error = np.max(np.abs(made - expected)) / np.max(np.abs(expected))
            if made.shape != expected.shape or not error <= TOLERANCE:
                sys.exit(f"{NAME}: {case}: result {number} is off that of {peer} by {error:.1e}, expected at most "
                         f"{TOLERANCE:.0e}")
    return ours


def main():
    rows = []
    print(f"milliseconds on one core (GFLOP/s), ours strict, median of {OPTIONS.rounds} interleaved rounds")
    for case in measure.select(CASES, OPTIONS, NAME):
        with tempfile.TemporaryDirectory() as name:
            folder, arguments, arrays = pathlib.Path(name), {}, case.arrays()
            for argument, array in arrays.items():
                np.save(folder / f"{argument}.npy", array)
                arguments[argument] = folder / f"{argument}.npy"
            peers = case.peers(arrays)
            ours = check(case, folder, arguments, peers)
            calls = {peer: measure.timed(call, SECONDS) for peer, (call, _) in peers.items()}
            seconds = measure.take_turns({"ours": lambda: ours.time(10), **calls}, OPTIONS.rounds)
        rows.append({"case": str(case), "seconds": seconds})
        shown = (f"{peer} {1e3 * value:.2f} ({case.flops / value / 1e9:.1f})" for peer, value in seconds.items())
        print(f"{str(case):36} " + "  ".join(shown), flush=True)
        measure.write_json(OPTIONS, rows)
    for peer in ("torch", "jax"):
        ratios = {row["case"]: row["seconds"][peer] / row["seconds"]["ours"] for row in rows if peer in row["seconds"]}
        for case, value in ratios.items():
            measure.close(NAME, value, peer, case)
        measure.close_with_mean(NAME, ratios, peer)


if __name__ == "__main__":
    main()
