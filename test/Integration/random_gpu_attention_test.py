#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random attention and gradients of it on the emulated GPU, where a kernel has loops that short sequences leave out: chunks of more keys
than have scores in shared memory, more than a block of the order of products, and more than a chunk of the order of
sums; more elements of a query than a block; more columns than a tile; several heads of queries in a tile; several tiles
and blocks of queries; fragments of tensor cores; few queries, whose keys are divided over the machine. Bits are those of
the reference interpreter: in `reproducible`, in `strict` where tensor cores have no such type, and on tensor cores, too,
whose products the emulated GPU adds in ascending order. Elements include infinities and NaN."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402
from generator import tensor_type  # noqa: E402

COUNT = 48
ELEMENTS = ("f32", "f32", "f64", "bf16", "f16", "f8E4M3FN", "f8E5M2")
SHORT = ("bf16", "f16")
KINDS = ("keys", "depth", "width", "heads", "queries", "tensor cores", "few queries", "few queries on tensor cores")
STRICT = ("f32", "f64")
MANY_KEYS = 500
LONGEST = 2**63 - 1  # of written chunks


def sizes_of(rng, kind):
    """(batch, heads, groups, queries, keys, depth, width, chunk)."""
    pick = lambda *choices: int(rng.choice(choices))
    batch, heads, groups, depth, width = pick(1, 2), *[(1, 1), (2, 1), (4, 2)][pick(0, 1, 2)], pick(1, 4, 7), pick(1, 5, 16)
    queries, keys, chunk = pick(1, 2, 9), pick(1, 63, 64, 65, 257), None
    if kind.startswith("few"):
        return few_queries(rng, kind)
    if kind == "keys":
        queries, keys, depth, width = 1, pick(511, 512, 513, 1100, 4097, 9000), pick(1, 3), pick(1, 4)
        chunk = pick(0, 300, 513, 1025, 4100) or None
        batch, (heads, groups) = 1, [(64, 1), (130, 1)][pick(0, 1)]
    elif kind == "depth":
        depth, keys = pick(33, 130, 512, 513, 1030), pick(3, 70)
    elif kind == "width":
        width = pick(17, 64, 100, 129, 260)
    elif kind == "heads":
        batch, heads, groups = pick(1, 3), *[(12, 1), (40, 2), (64, 1)][pick(0, 1, 2)]
        queries = pick(1, 3)
    elif kind == "tensor cores":
        queries, keys, depth, width = pick(1, 15, 140, 300), pick(1, 64, 70, 256, 300), pick(16, 48, 64, 128), pick(16, 80, 128)
        heads, groups = [(1, 1), (2, 1), (4, 2), (6, 2)][pick(0, 1, 2, 3)]
        chunk = None if queries > 128 or keys < 257 else pick(50, 64, 130, 200, 256)
    else:
        queries, keys = pick(17, 64, 65, 255, 257, 513), pick(5, 300)
        batch, heads, groups = 1, *[(1, 1), (2, 1)][pick(0, 1)]
    return batch, heads, groups, queries, keys, depth, width, chunk


def few_queries(rng, kind):
    """1 to 40 queries of up to 20000 keys, of which many have few rows: the time of the emulated GPU is bounded."""
    pick = lambda *choices: int(rng.choice(choices))
    heads, groups = [(1, 1), (2, 1), (4, 2), (7, 1), (3, 3)][pick(0, 1, 2, 3, 4)]
    queries = pick(1, 1, 1, 2, 3, 5, 16, 40) if heads // groups < 4 else pick(1, 2, 9)
    depth, width = pick(1, 4, 7, 16, 20, 64), pick(1, 5, 16, 33, 64)
    if kind == "few queries":
        depth, width = (pick(130, 513, 600), width) if pick(0, 0, 0, 1) else (depth, pick(130, width, width))
    else:
        depth, width = pick(16, 48, 64, 160, 512), pick(16, 64, 80, 144)
    most = max(200, 2_000_000 // (heads * queries * (depth + width)))
    keys = pick(1, 64, 127, 129, 512, 513, 1000, 4096, 4097, 9000, int(rng.integers(1, 20001)))
    chunk = pick(0, 0, 64, 100, 128, 256, 600, 5000, LONGEST) or None
    return pick(1, 2), heads, groups, queries, min(keys, most), depth, width, chunk


def drawn(rng, element, shape):
    array = (rng.normal(size=shape) * rng.choice([1.0, 3.0])).astype(np.float64)
    if rng.random() < 0.2:
        array.flat[rng.integers(0, array.size, 2)] = rng.choice([np.inf, -np.inf, np.nan, -0.0], 2)
    return elements.encode(element, array)


def operands(rng, element, sizes, is_few):
    """(shapes, their element types, shapes of the types, words) of the operands that both operations have."""
    batch, heads, groups, queries, keys, depth, width, chunk = sizes
    shapes = {"q": (batch, heads, queries, depth), "k": (batch, groups, keys, depth), "v": (batch, groups, keys, width)}
    types = {name: element for name in shapes}
    if rng.random() < 0.3:
        full = (batch, heads, queries, keys)
        shapes["m"] = tuple(1 if rng.random() < 0.4 else size for size in full)
        types["m"] = str(rng.choice(["i1", element]))
    is_open = rng.random() < 0.4
    # Few queries have kernels of their own if the numbers of queries and batches are known.
    opens = lambda axis, size: size != 1 and is_open and axis in (() if is_few else (0, 2))
    shown = {name: tuple(None if opens(axis, size) else size for axis, size in enumerate(shape[:3])) + (shape[3],)
             for name, shape in shapes.items()}
    if is_open and "m" in shapes and shapes["m"][3] != 1:
        shown["m"] = (*shown["m"][:3], None)
    if is_few and is_open:
        for name in "kv":
            shown[name] = (*shown[name][:2], None, shown[name][3])
    elif keys > MANY_KEYS and not is_few:  # an open number of batches counts as many: the kernel has long chunks, too
        for name in "qkv":
            shown[name] = (None, *shown[name][1:])
    words = {"causal": rng.random() < 0.4, "window": rng.random() < 0.3 and int(rng.integers(1, keys + 1)),
             "softcap": rng.random() < 0.2 and 2.0, "chunk": chunk}
    text = "".join(f" {name}" if value is True else f" {name} {value}" for name, value in words.items() if value)
    return shapes, types, shown, text


def program(rng, element, sizes, is_few, is_gradient):
    """(text, arguments, results)."""
    shapes, types, shown, words = operands(rng, element, sizes, is_few)
    wide = "f64" if element == "f64" else "f32"
    row = shown["q"][:3]
    if is_gradient:
        of_rows = {"l": wide, "d": wide, "g": element}
        mask = {name: table.pop("m") for name, table in (("shape", shapes), ("type", types), ("shown", shown)) if "m" in table}
        for name, kind in of_rows.items():
            last = (sizes[6],) if name == "g" else ()
            shapes[name], types[name], shown[name] = (*shapes["q"][:3], *last), kind, (*row, *last)
        if mask:
            shapes["m"], types["m"], shown["m"] = mask["shape"], mask["type"], mask["shown"]
        values = [("dq", element, shown["q"]), ("dk", element, shown["k"]), ("dv", element, shown["v"])]
        if types.get("m") == element:  # that one has loops
            values.append(("dm", element, shown["m"]))
        wanted = [values[:3], values[:3], values[:1], values[1:2], values[2:3], values[::2]][int(rng.integers(0, 6))]
    else:
        values = [("y", element, (*row, sizes[6])), ("l2", wide, row)]
        wanted = [values, values[:1], values[1:]][int(rng.choice([0, 0, 1, 2]))]
    tensor = {name: tensor_type(types[name], shown[name]) for name in shapes}
    # A number that is repeated, as the zeros that nothing gives to the cotangent.
    closed = [name for name, kind in tensor.items() if "?" not in kind and types[name] != "i1"]
    number = str(rng.choice(closed)) if closed and rng.random() < 0.2 else None
    arguments = ", ".join(f'%{name}: {kind} {{ad.name = "{name}"}}' for name, kind in tensor.items() if name != number)
    constant = f"%{number} = ad.constant dense<0.25> : {tensor[number]}\n  " if number else ""
    results = [(name, kind, tensor_type(kind, shape)) for name, kind, shape in wanted]
    body = (f"func.func @main({arguments}) -> (" + ", ".join(f'{kind} {{ad.name = "{name}"}}' for name, _, kind in results)
            + ") {\n  " + constant + ", ".join(f"%{name}" for name, *_ in values) + f" = ad.attention{'_grad' * is_gradient} "
            + ", ".join(f"%{name}" for name in shapes if name != "m") + (" mask %m" if "m" in shapes else "") + words + " : "
            + ", ".join(tensor.values()) + "\n  return " + ", ".join(f"%{name}" for name, *_ in results) + " : "
            + ", ".join(kind for *_, kind in results) + "\n}\n")
    arrays = [(name, types[name], rng.random(shape) < 0.6 if types[name] == "i1" else drawn(rng, types[name], shape))
              for name, shape in shapes.items() if name != number]
    return body, arrays, [(name, kind) for name, kind, _ in results]


def check(seed, folder):
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    element = str(rng.choice(SHORT if kind.endswith("tensor cores") else ELEMENTS))
    is_few = kind.startswith("few")
    is_gradient = not is_few and seed // len(KINDS) % 2 == 1
    sizes = sizes_of(rng, kind)
    text, arguments, results = program(rng, element, sizes, is_few, is_gradient)
    modes = ["reproducible", "strict"] if element in STRICT else ["reproducible"]
    if kind == "few queries on tensor cores":
        modes = ["strict"]
    elif kind == "tensor cores":
        modes = ["strict"] if "?" in text else ["strict", "fast"]  # open queries may have loops, with shorter functions
        if "?" in text and sizes[1] // sizes[2] > 2:  # and with longer chains of rows
            modes = ["reproducible"]
    chip = str(rng.choice(["sm_80", "sm_90a", "sm_100"]))
    targets = {f"gpu-sim {mode}": ["--target=gpu-sim", f"--chip={chip}", f"--numerics={mode}"] for mode in modes}
    yield from runner.other_bits(folder, text, arguments, results, targets)


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random attention of a GPU", check, COUNT))
