# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Workloads whose predicted times are watched: programs and how they are compiled."""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "benchmarks"), str(pathlib.Path(__file__).resolve().parent)]
import cost_cases  # noqa: E402
import llama_program  # noqa: E402
import transformer_program  # noqa: E402

ROWS = (8192, 8192)
PARAMETERS = 1 << 26
SIZES = (1024, 2048, 4096, 8192)


def adam():
    """One step of Adam on 64 M parameters."""
    t, s = f"tensor<{PARAMETERS}xf32>", "tensor<f32>"
    numbers = {"rate": 1e-3, "b1": 0.9, "b2": 0.999, "r1": 0.1, "r2": 0.001, "eps": 1e-8}
    constants = "\n".join(f"  %{name} = ad.constant dense<{value:.9f}> : {s}" for name, value in numbers.items())
    scaled = lambda result, value, factor: f"  %{result} = ad.mul %{value}, %{factor} : {t}, {s}"  # noqa: E731
    return f"""func.func @main(%p: {t} {{ad.donated = 0}}, %g: {t}, %m: {t} {{ad.donated = 1}}, %v: {t} {{ad.donated = 2}}) -> ({t}, {t}, {t}) {{
{constants}
{scaled("m1", "m", "b1")}
{scaled("m2", "g", "r1")}
  %mn = ad.add %m1, %m2 : {t}
  %gg = ad.mul %g, %g : {t}
{scaled("v1", "v", "b2")}
{scaled("v2", "gg", "r2")}
  %vn = ad.add %v1, %v2 : {t}
  %root = ad.sqrt %vn : {t}
  %low = ad.add %root, %eps : {t}, {s}
  %step = ad.div %mn, %low : {t}
{scaled("moved", "step", "rate")}
  %pn = ad.sub %p, %moved : {t}
  return %pn, %mn, %vn : {t}, {t}, {t}
}}
"""


def cross_entropy(element):
    scores, losses = cost_cases.tensor((16384, 32000), element), cost_cases.tensor((16384,), element)
    body = f"  %y = ad.cross_entropy %a, %b : {scores}, tensor<16384xi32> -> {losses}"
    return cost_cases.function([scores, "tensor<16384xi32>"], [losses], body)


def rows():
    for element in ("f32", "bf16"):
        yield f"softmax {element}", cost_cases.along_rows("softmax", ROWS, element), "strict"
        yield f"layer_norm {element}", cost_cases.norm("layer_norm", ROWS, element), "strict"
        yield f"rms_norm {element}", cost_cases.norm("rms_norm", ROWS, element), "strict"
        yield f"layer_norm backward {element}", cost_cases.norm_backward("layer_norm", ROWS, element), "strict"
        yield f"cross entropy {element}", cross_entropy(element), "strict"
        yield f"gelu {element}", cost_cases.unary("gelu", ROWS, element), "strict"


def running_sums():
    """Along rows and columns, few and many, and of one long row."""
    for shape, axis, element in (((1 << 24,), 0, "f32"), (ROWS, 1, "f32"), (ROWS, 0, "f32"), (ROWS, 1, "bf16"),
                                 ((1024, 4096, 2), 1, "f32"), ((100000, 3), 0, "f32")):
        name = f"running sum {'x'.join(map(str, shape))} axis {axis} {element}"
        yield name, cost_cases.cumsum(shape, axis, element), "strict"


def sorts():
    """One long line, many that have a tile each, a short one, and several whose length is no power of two."""
    for shape, element in (((1, 1 << 20), "f32"), ((1, 1 << 20), "f64"), ((512, 2048), "f32"), ((1, 2048), "f32"),
                           ((16, 100003), "bf16"), ((100000, 64), "i32")):
        yield f"argsort {'x'.join(map(str, shape))} {element}", cost_cases.argsort(shape, element), "strict"


def indexing():
    """Of single elements, few elements with many updates, and rows."""
    for shape, count, element in (((1 << 20,), 1 << 20, "f32"), ((32000, 4096), 8192, "bf16")):
        yield f"take {count} of {'x'.join(map(str, shape))} {element}", cost_cases.take(shape, count, element), "strict"
    for shape, count, element in (((1 << 20,), 1 << 20, "f32"), ((1000,), 1 << 20, "f32"), ((100000, 64), 1 << 20, "f32"),
                                  ((100000, 64), 1 << 20, "bf16")):
        name = f"scatter {count} into {'x'.join(map(str, shape))} {element}"
        yield name, cost_cases.scatter_add(shape, count, element), "strict"


def attention():
    """Of f32 by FMA, and of bf16 on tensor cores: few and short heads, long ones that are causal."""
    for heads, length, depth, element, words, mode in ((8, 1024, 64, "f32", "", "strict"), (8, 1024, 64, "bf16", "", "strict"),
                                                       (8, 1024, 64, "bf16", "", "reproducible"),
                                                       (16, 8192, 128, "bf16", " causal", "strict")):
        sizes = f"{heads}x{length}x{depth} {element}{words} {mode}"
        yield f"attention {sizes}", cost_cases.attention(heads, length, depth, element, words), mode
        yield f"attention grad {sizes}", cost_cases.attention_grad(heads, length, depth, element, words), mode


def decoding():
    """One token, and several, with a cache: chunks of keys as they follow from the number of queries, and written ones."""
    for batch, heads, groups, queries, keys, depth, element, words, mode in (
            (1, 8, 8, 1, 4096, 64, "f32", "", "strict"), (1, 8, 8, 1, 4096, 64, "bf16", "", "strict"),
            (1, 8, 8, 1, 4096, 64, "bf16", "", "reproducible"), (1, 32, 8, 1, 32768, 128, "bf16", " chunk 256", "strict"),
            (1, 32, 8, 4, 8192, 128, "bf16", " chunk 256", "strict")):
        name = f"attention with a cache {batch}x{heads}/{groups}x{queries}x{keys}x{depth} {element}{words} {mode}"
        yield name, cost_cases.attention_with_cache(batch, heads, groups, queries, keys, depth, element, words), mode


def others():
    yield "cast f32 to bf16", cost_cases.cast(ROWS, "f32", "bf16"), "strict"
    yield "cast bf16 to f32", cost_cases.cast(ROWS, "bf16", "f32"), "strict"
    yield "sum of columns f32", cost_cases.reduce("reduce_sum", (65536, 1024), (0,), "f32"), "strict"
    yield "sum f32", cost_cases.reduce("reduce_sum", (65536, 1024), (0, 1), "f32"), "strict"
    yield "sum of rows bf16", cost_cases.reduce("reduce_sum", ROWS, (1,), "bf16"), "strict"
    for shape, element in (((1 << 23, 5), "f32"), ((7, 1 << 23), "bf16"), ((100000, 33), "f32"), ((3001, 2999), "f32"),
                           ((1483, 1198), "bf16"), ((66, 160919), "i8")):
        yield f"transposition {'x'.join(map(str, shape))} {element}", cost_cases.transpose(shape, (1, 0), element), "strict"
    for shape, axis, element in (((1024, 4096, 2), 1, "f32"), ((1024, 4096, 2), 1, "bf16"), ((3001, 777, 5), 1, "f32"),
                                 ((61418, 31), 0, "f32"), ((100000, 3), 0, "f32")):
        name = f"sum {'x'.join(map(str, shape))} axis {axis} {element}"
        yield name, cost_cases.reduce("reduce_sum", shape, (axis,), element), "strict"
    for shape, element in (((16, 32000), "f32"), ((4, 128256), "bf16"), ((1024, 131072), "bf16")):
        yield f"softmax {'x'.join(map(str, shape))} {element}", cost_cases.along_rows("softmax", shape, element), "strict"
    yield "argmax of rows f32", cost_cases.arg("argmax", (4096, 1024), 1, "f32"), "strict"
    yield "last sum of a loss", cost_cases.reduce("reduce_sum", (40000, 1), (0, 1), "f32"), "strict"
    yield "Adam, 64 M parameters", adam(), "strict"


def products():
    for size in SIZES:
        for name, element, mode in (("bf16 strict", "bf16", "strict"), ("bf16 fast", "bf16", "fast"),
                                    ("f32", "f32", "strict")):
            yield f"product {size} {name}", cost_cases.product(size, size, size, element), mode


def models():
    block = llama_program.program(4, 1024)
    for name, options in (("f32", "strict"), ("bf16 strict", "strict precision=bf16"),
                          ("bf16 fast", "fast precision=bf16")):
        yield f"Llama block gradient {name}", block, options
    yield "encoder step", transformer_program.program(1, 1000), "strict"


def all_workloads():
    """(name, text, options of the pipeline)."""
    yield from rows()
    yield from running_sums()
    yield from sorts()
    yield from indexing()
    yield from attention()
    yield from decoding()
    yield from others()
    yield from products()
    yield from models()
