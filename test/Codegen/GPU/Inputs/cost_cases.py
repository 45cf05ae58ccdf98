# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Programs of one kernel, or a few, for each class of kernels that ad-emit-gpu has: named ones, large enough to fill a
GPU, and random variants of them."""

import dataclasses

BOTH = ("sm_80", "sm_90a")


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    text: str
    numerics: str = ""
    chips: tuple = BOTH
    kind: str = ""  # of a random variant, with the type of its elements


def tensor(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def function(arguments, results, body):
    """@main with arguments [type], called %a, %b, …; the body defines %y, %z, … of the types of the results."""
    names = ", ".join(f"%{name}: {kind}" for name, kind in zip("abcdefgh", arguments))
    values = ", ".join(f"%{name}" for name, _ in zip("yzuv", results))
    return f"func.func @main({names}) -> ({', '.join(results)}) {{\n{body}\n  return {values} : {', '.join(results)}\n}}\n"


def unary(operation, shape, element):
    kind = tensor(shape, element)
    return function([kind], [kind], f"  %y = ad.{operation} %a : {kind}")


def binary(operation, shape, other, element):
    kind, second = tensor(shape, element), tensor(other, element)
    types = kind if shape == other else f"{kind}, {second}"
    return function([kind, second], [kind], f"  %y = ad.{operation} %a, %b : {types}")


def cast(shape, source, target):
    of, to = tensor(shape, source), tensor(shape, target)
    return function([of], [to], f"  %y = ad.cast %a : {of} -> {to}")


def along_rows(operation, shape, element):
    kind = tensor(shape, element)
    return function([kind], [kind], f"  %y = ad.{operation} %a axis {len(shape) - 1} : {kind}")


def norm_text(operation, shape, element):
    """The call of a norm on %a with the weights %b, of layer_norm %b and %b."""
    kind, weights = tensor(shape, element), tensor(shape[-1:], element)
    return f"ad.{operation} %a, %b{', %b' if operation == 'layer_norm' else ''} epsilon 1.0e-5 : {kind}, {weights}"


def norm(operation, shape, element):
    kind, weights = tensor(shape, element), tensor(shape[-1:], element)
    return function([kind, weights], [kind], f"  %y = {norm_text(operation, shape, element)}")


def backward(inner, arguments, result):
    """Derivatives of the function whose body is `inner`, by its first argument and by all others."""
    parameters = ", ".join(f"%{name}: {kind}" for name, kind in zip("abcdefgh", arguments))
    types = ", ".join(arguments)
    numbers = ", ".join(map(str, range(len(arguments))))
    values = ", ".join(f"%{name}" for name, _ in zip("abcdefgh", arguments))
    names = ", ".join(f"%d{name}" for name, _ in zip("abcdefgh", arguments))
    return f"""func.func private @inner({parameters}) -> {result} {{
  %r = {inner}
  return %r : {result}
}}
func.func @main({parameters}, %t: {result}) -> ({types}) {{
  %r, {names} = ad.vjp @inner({values}) cotangents(%t) wrt [{numbers}] : ({types}, {result}) -> ({result}, {types})
  return {names} : {types}
}}
"""


def norm_backward(operation, shape, element):
    kind, weights = tensor(shape, element), tensor(shape[-1:], element)
    return backward(norm_text(operation, shape, element), [kind, weights], kind)


def softmax_backward(shape, element):
    kind = tensor(shape, element)
    return backward(f"ad.softmax %a axis {len(shape) - 1} : {kind}", [kind], kind)


def transpose(shape, order, element):
    kind, moved = tensor(shape, element), tensor([shape[axis] for axis in order], element)
    return function([kind], [moved], f"  %y = ad.transpose %a {list(order)} : {kind}")


def concat(shapes, axis, element):
    kinds = [tensor(shape, element) for shape in shapes]
    whole = list(shapes[0])
    whole[axis] = sum(shape[axis] for shape in shapes)
    names = ", ".join(f"%{name}" for name, _ in zip("abcdefgh", shapes))
    return function(kinds, [tensor(whole, element)], f"  %y = ad.concat axis {axis} {names} : {', '.join(kinds)}")


def pad(shape, low, high, element):
    kind, filler = tensor(shape, element), tensor((), element)
    to = tensor([size + before + after for size, before, after in zip(shape, low, high)], element)
    zero = f"  %z = ad.constant dense<{'0' if element.startswith('i') else '0.0'}> : {filler}\n"
    interior = [0] * len(shape)
    return function([kind], [to],
                    f"{zero}  %y = ad.pad %a, %z low {list(low)} high {list(high)} interior {interior} : {kind}, {filler}")


def reduce(operation, shape, axes, element):
    kind = tensor(shape, element)
    to = tensor([size for axis, size in enumerate(shape) if axis not in axes], element)
    return function([kind], [to], f"  %y = ad.{operation} %a axes {list(axes)} : {kind} -> {to}")


def arg(operation, shape, axis, element):
    to = tensor([size for at, size in enumerate(shape) if at != axis], "i64")
    return function([tensor(shape, element)], [to], f"  %y = ad.{operation} %a axis {axis} : {tensor(shape, element)}")


def argsort(shape, element):
    """Along the last axis."""
    kind, order = tensor(shape, element), tensor(shape, "i64")
    return function([kind], [order], f"  %y = ad.argsort %a axis {len(shape) - 1} : {kind}")


def take(shape, count, element):
    """Of so many rows, or elements, at indices that are tested first."""
    table, indices, result = tensor(shape, element), tensor((count,), "i32"), tensor((count, *shape[1:]), element)
    return function([table, indices], [result], f"  %y = ad.take %a, %b axis 0 : {table}, {indices}")


def scatter_add(shape, count, element):
    """Into rows, or elements, of an argument, by as many updates."""
    table, indices, update = tensor(shape, element), tensor((count,), "i32"), tensor((count, *shape[1:]), element)
    slices = " slices [1]" if len(shape) > 1 else ""
    body = f"  %y = ad.scatter add %a[%b], %c axes [0]{slices} outside drop : {table}, {indices}, {update}"
    return function([table, indices, update], [table], body)


def attention(heads, length, depth, element, words=""):
    kind = tensor((1, heads, length, depth), element)
    return function([kind] * 3, [kind], f"  %y, %l = ad.attention %a, %b, %c{words} : {kind}, {kind}, {kind}")


def attention_with_cache(batch, heads, groups, queries, keys, depth, element, words=""):
    """Queries that continue sequences of known capacities, of which a mask says how much is there."""
    query, cache = tensor((batch, heads, queries, depth), element), tensor((batch, groups, keys, depth), element)
    kinds = [query, cache, cache, tensor((batch, 1, queries, keys), "i1")]
    return function(kinds, [query], f"  %y, %l = ad.attention %a, %b, %c mask %d{words} : {', '.join(kinds)}")


def attention_grad(heads, length, depth, element, words=""):
    kind, row = tensor((1, heads, length, depth), element), tensor((1, heads, length), "f64" if element == "f64" else "f32")
    kinds = [kind] * 3 + [row] * 2 + [kind]
    return function(kinds, [kind] * 3,
                    f"  %y, %z, %u = ad.attention_grad %a, %b, %c, %d, %e, %f{words} : {', '.join(kinds)}")


def cumsum(shape, axis, element):
    kind = tensor(shape, element)
    return function([kind], [kind], f"  %y = ad.cumsum %a axis {axis} : {kind}")


def product(rows, columns, k, element, layout="nn", result=None):
    """t: the operand is transposed."""
    a = tensor([rows, k] if layout[0] == "n" else [k, rows], element)
    b = tensor([k, columns] if layout[1] == "n" else [columns, k], element)
    c = tensor([rows, columns], result or element)
    axes = f"contract [{int(layout[0] == 'n')}] x [{int(layout[1] == 't')}]"
    return function([a, b], [c], f"  %y = ad.dot %a, %b batch [] x [] {axes} : ({a}, {b}) -> {c}")


def product_by(kernel, rows, columns, k):
    """Of f32, by a named kernel."""
    return product(rows, columns, k, "f32").replace(" : (", f' {{ad.named_kernel = "{kernel}"}} : (')


TALL, SQUARE = (8192, 1024), (4096, 4096)


def elementwise():
    yield Case("gelu-strict", unary("gelu", TALL, "f32"))
    yield Case("gelu-fast", unary("gelu", TALL, "f32"), "fast")
    yield Case("add-f32", binary("add", SQUARE, SQUARE, "f32"))
    yield Case("add-bf16", binary("add", SQUARE, SQUARE, "bf16"))
    yield Case("cast-f32-f16", cast(SQUARE, "f32", "f16"))
    yield Case("cast-bf16-f32", cast(SQUARE, "bf16", "f32"))
    yield Case("bias", binary("add", SQUARE, SQUARE[1:], "f32"))
    yield Case("scale-rows", binary("mul", SQUARE, (SQUARE[0], 1), "f32"))


def rows():
    yield Case("softmax", along_rows("softmax", TALL, "f32"))
    yield Case("softmax-bf16", along_rows("softmax", TALL, "bf16"))
    yield Case("softmax-long", along_rows("softmax", (4096, 16384), "f32"))
    yield Case("log_softmax", along_rows("log_softmax", TALL, "f32"))
    yield Case("log_softmax-f16", along_rows("log_softmax", (16384, 512), "f16"))
    yield Case("softmax-backward", softmax_backward(TALL, "f32"))
    for operation in ("layer_norm", "rms_norm"):
        yield Case(operation, norm(operation, TALL, "f32"))
        yield Case(f"{operation}-backward", norm_backward(operation, TALL, "f32"))


def movement():
    yield Case("transpose-f32", transpose(SQUARE, (1, 0), "f32"))
    yield Case("transpose-bf16", transpose(SQUARE, (1, 0), "bf16"))
    yield Case("transpose-heads", transpose((64, 512, 16, 64), (0, 2, 1, 3), "f32"))
    yield Case("concat", concat([SQUARE, SQUARE], 1, "f32"))
    yield Case("pad", pad(SQUARE, (1, 0), (1, 0), "f32"))
    yield Case("pad-columns", pad(SQUARE, (0, 4), (0, 4), "f32"))


def sums():
    yield Case("sum-rows", reduce("reduce_sum", SQUARE, (1,), "f32"))
    yield Case("sum-few-rows", reduce("reduce_sum", (2048, 4096), (1,), "bf16"))
    yield Case("sum-columns", reduce("reduce_sum", (65536, 1024), (0,), "f32"))
    yield Case("sum-all", reduce("reduce_sum", (8192, 8192), (0, 1), "f32"))
    yield Case("max-rows", reduce("reduce_max", SQUARE, (1,), "f32"))
    yield Case("scan-rows", cumsum(SQUARE, 1, "f32"))
    yield Case("scan-columns", cumsum(SQUARE, 0, "f32"))
    yield Case("scan-few-columns", cumsum((4096, 4096, 3), 1, "f32"))


def contractions():
    yield Case("fma-f32", product(*SQUARE, 4096, "f32"))
    yield Case("fma-bf16", product(*SQUARE, 4096, "bf16"), "reproducible")
    yield Case("products-strict", product(*SQUARE, 4096, "bf16"))
    yield Case("products-bf16", product(*SQUARE, 4096, "bf16"), "fast")
    yield Case("products-small", product(1024, 1024, 1024, "bf16"), "fast")
    yield Case("products-bf16x6", product_by("bf16x6", *SQUARE, 4096))
    yield Case("products-f8", product(*SQUARE, 4096, "f8E4M3FN", "nt", "f32"))
    yield Case("products-f8-nn", product(*SQUARE, 4096, "f8E4M3FN", "nn", "f32"))
    yield Case("products-tf32", product(*SQUARE, 4096, "f32", "nt"), "fast,narrow")
    yield Case("products-tf32-nn", product(*SQUARE, 4096, "f32"), "fast,narrow")
    yield Case("products-i8", product(*SQUARE, 4096, "i8", "nt", "i32"))
    yield Case("products-i8-nn", product(*SQUARE, 4096, "i8", "nn", "i32"))


def named():
    return [*elementwise(), *rows(), *movement(), *sums(), *contractions()]


#===- Random variants ------------------------------------------------------===#

MIN_ELEMENTS = 1 << 23  # elements, so that all multiprocessors have work
FLOATS = ("f32", "bf16", "f16")
CHEAP = ("relu", "neg", "abs", "sqrt", "exp", "tanh", "sigmoid", "silu", "gelu")


KINDS = ("unary", "binary", "bias", "cast", "softmax", "log_softmax", "softmax-backward", "norm", "norm-backward",
         "transpose", "concat", "sum",
         "sum-columns", "sum-all", "arg", "scan", "product")
ROWS = (256, 512, 768, 1024, 1280)


def rows_and_length(rng, lengths):
    """Rows that are whole runs of every element type."""
    length = rng.choice(lengths)
    return (-(-MIN_ELEMENTS // length) + rng.randrange(64), length)


def variant(rng, number):
    element, kind = rng.choice(FLOATS), rng.choice(KINDS)
    wide = rows_and_length(rng, (512, 768, 1024, 1600, 4096, 5000))
    numerics = rng.choice(("", "fast", "reproducible"))
    if kind == "unary":
        text = unary(rng.choice(CHEAP), wide, element)
    elif kind == "binary":
        text = binary(rng.choice(("add", "mul", "max", "sub")), wide, wide, element)
    elif kind == "bias":
        text = binary(rng.choice(("add", "mul")), wide, wide[1:], element)
    elif kind == "cast":
        text = cast(wide, *rng.sample(("f32", "f16", "bf16", "f8E4M3FN", "i8"), 2))
    elif kind in ("softmax", "log_softmax"):
        text = along_rows(kind, rows_and_length(rng, ROWS), element)
    elif kind == "softmax-backward":
        text = softmax_backward(rows_and_length(rng, ROWS), element)
    elif kind in ("norm", "norm-backward"):
        make = norm if kind == "norm" else norm_backward
        text = make(rng.choice(("layer_norm", "rms_norm")), rows_and_length(rng, ROWS), element)
    elif kind == "transpose":
        text = transpose(tuple(128 * rng.randrange(20, 40) for _ in range(2)), (1, 0), element)
    elif kind == "concat":
        text = concat([wide, (wide[0], 512)], 1, element)
    elif kind == "sum":
        text = reduce(rng.choice(("reduce_sum", "reduce_max", "reduce_mean")), rows_and_length(rng, (256, 512, 1024)),
                      (1,), element)
    elif kind == "sum-columns":  # in two kernels
        text = reduce(rng.choice(("reduce_sum", "reduce_max", "reduce_mean")),
                      rows_and_length(rng, (64, 96, 256, 512, 1024)), (0,), element)
    elif kind == "sum-all":
        text = reduce("reduce_sum", (MIN_ELEMENTS + 4096 * rng.randrange(64),), (0,), element)
    elif kind == "arg":
        axis = rng.randrange(2)
        text = arg(rng.choice(("argmax", "argmin")), rows_and_length(rng, (64, 96, 256) if axis == 0 else (2048, 4096)),
                   axis, element)
    elif kind == "scan":
        text = cumsum(rows_and_length(rng, (1024, 2048, 4096)), rng.randrange(2), element)
    else:
        rows, columns, k = (256 * rng.randrange(8, 20) for _ in range(3))
        text, numerics = product(rows, columns, k, rng.choice(("bf16", "f16")),
                                 rng.choice(("nn", "nt", "tn", "tt"))), "fast"
    return Case(f"variant-{number}-{kind}", text, numerics, kind=f"{kind}-{element}")


def variants(rng, count):
    return [variant(rng, number) for number in range(count)]
