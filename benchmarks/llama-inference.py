#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
# Debian packages: g++ python3-dev
"""The result of the Llama block of llama.py in f32 and in bf16: ours compared with JAX and PyTorch, on one core.

`masters`: f32 weights, which a precision policy casts in each call (ours: --precision bf16, PyTorch: autocast).
`weights`: the weights are bf16, as in inference; all operations have bf16 results. Results are held against f64 before
anything is timed.
"""

import pathlib
import sys
import tempfile
import time

import measure

measure.use_one_core()
import numpy as np  # noqa: E402

import llama  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "examples/models"))
import llama_entries  # noqa: E402
import llama_text  # noqa: E402

NAME = "llama-inference"
CASES = [(1, 1), (1, 32), (2, 128)]  # batch and length
TOLERANCE = {"f32": 1e-4, "bf16": 5e-2}  # of the result, relative to its largest element
SECONDS = 0.4  # of a contender in a round


def to_bf16(values):
    """The bits of f32 values, rounded to nearest even, as ad-runner reads them."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16).view("V2")


def from_bf16(values):
    return (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


def expected_result(parameters, x):
    """In f64."""
    p = {name: value.astype(np.float64) for name, value in parameters.items()}
    tables = [table.astype(np.float64) for table in llama.rotary(x.shape[1])]
    h = x + llama.attention(llama.norm(x.astype(np.float64), p["attention_scale"])[0], p, tables)[0]
    return h + llama.feed_forward(llama.norm(h, p["inner_scale"])[0], p)[0]


def hold(name, got, expected, kind):
    error = np.abs(got - expected).max() / np.abs(expected).max()
    if not error <= TOLERANCE[kind]:
        sys.exit(f"{NAME}: the result of {name} is off by {error:.1e}, expected {TOLERANCE[kind]:.0e}")


class Ours:
    """Our program with weights of an element type, under a precision policy."""

    def __init__(self, folder, inputs, element, precision="none"):
        parameters, x, _ = inputs
        batch, length, _ = x.shape
        text = llama_entries.program(llama_text.Config(
            part="decoder", entry="forward", batch=batch, length=length, width=llama.WIDTH, heads=llama.HEADS,
            key_heads=llama.KEY_HEADS, inner=llama.INNER, positions=0, epsilon=llama.EPSILON, element=element))
        cos, sin = llama.rotary(length)
        self.folder, sources = pathlib.Path(tempfile.mkdtemp(dir=folder)), {}
        for name, value in {**parameters, "x": x, "cos": cos, "sin": sin}.items():
            sources[name] = self.folder / f"{name}.npy"
            np.save(sources[name], to_bf16(value) if element == "bf16" else value)
        self.element = element
        self.program = measure.Ours(folder, text, sources, options=["--precision", precision])

    def result(self):
        out = self.folder / "out"
        self.program.command += ["--out-dir", out]
        self.program.time(1)
        (file,) = out.glob("*.npy")
        del self.program.command[-2:]
        value = np.load(file)
        return from_bf16(value) if self.element == "bf16" else value

    def time(self):
        calls = measure.calls_for(SECONDS, self.program.time(3))
        return self.program.time(calls)


def timed(run):
    """The median seconds of a call of a peer."""
    def time_once():
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin

    def contender():
        calls = measure.calls_for(SECONDS, time_once())
        return float(np.median([time_once() for _ in range(calls)]))
    return contender


def torch_peers(inputs):
    """Functions that give the result as an array, by name and kind."""
    try:
        import torch
        import torch_llama
    except ImportError as error:
        print(f"torch: missing ({error})")
        return {}
    torch.set_num_threads(1)
    torch.compiler.reset()  # it compiles a function for a limited number of types and shapes
    parameters, x, _ = inputs
    tables = [torch.from_numpy(table) for table in llama.rotary(x.shape[1])]

    def make(dtype, compiled, autocast):
        p = {name: torch.from_numpy(value).to(dtype) for name, value in parameters.items()}
        given, own = torch.from_numpy(x).to(dtype), [table.to(dtype) for table in tables]
        forward = torch.compile(torch_llama.forward) if compiled else torch_llama.forward

        def run():
            with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                return forward(p, given, own)
        return run

    f32, bf16 = torch.float32, torch.bfloat16
    return {(f"torch-{'compile' if compiled else 'eager'}", kind): make(dtype, compiled, kind == "masters")
            for kind, dtype in {"f32": f32, "masters": f32, "weights": bf16}.items() for compiled in (False, True)}


def jax_peers(inputs):
    try:
        import jax
        import jax.numpy as jnp
        import jax_llama
    except ImportError as error:
        print(f"jax: missing ({error})")
        return {}
    parameters, x, _ = inputs

    def make(dtype):
        arrays = jax.tree_util.tree_map(lambda value: jnp.asarray(value, dtype),
                                        (parameters, x, llama.rotary(x.shape[1])))
        forward = jax.jit(jax_llama.forward)
        return lambda: jax.block_until_ready(forward(*arrays))
    return {("jax", "f32"): make(jnp.float32), ("jax", "weights"): make(jnp.bfloat16)}


def as_array(value):
    value = value.float() if hasattr(value, "float") else value
    return np.asarray(value, np.float32)


def measure_case(folder, batch, length, rounds):
    """Seconds by contender and kind: f32, masters or weights."""
    inputs = llama.make_inputs(batch, length)
    expected = expected_result(*inputs[:2])
    ours = {"f32": Ours(folder, inputs, "f32"), "masters": Ours(folder, inputs, "f32", "bf16"),
            "weights": Ours(folder, inputs, "bf16")}
    contenders = {}
    for kind, program in ours.items():
        hold(f"ours, {kind}", program.result(), expected, "f32" if kind == "f32" else "bf16")
        contenders["ours", kind] = program.time
    for (name, kind), run in {**torch_peers(inputs), **jax_peers(inputs)}.items():
        hold(f"{name}, {kind}", as_array(run()), expected, "f32" if kind == "f32" else "bf16")
        contenders[name, kind] = timed(run)
    return measure.take_turns(contenders, rounds)


def main():
    options = measure.parse_options(__doc__, rounds=5)
    cases = {f"{batch}x{length}": (batch, length) for batch, length in CASES}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case in measure.select(list(cases), options, NAME):
            seconds = measure_case(folder, *cases[case], options.rounds)
            rows.append({"case": case, **{f"{name} {kind}": value for (name, kind), value in seconds.items()}})
            measure.write_json(options, rows)
            print(f"{case} tokens, ms: " + ", ".join(f"{name} {kind} {1e3 * value:.3f}"
                                                     for (name, kind), value in seconds.items()))
            for kind in ("masters", "weights"):
                measure.close(NAME, seconds["ours", "f32"] / seconds["ours", kind], "our f32", f"{case}, {kind}")
            for (name, kind), value in seconds.items():
                if name != "ours":
                    measure.close(NAME, value / seconds["ours", kind], name, f"{case}, {kind}")


if __name__ == "__main__":
    main()
