# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random contractions and neural-network operations; see operations.py."""

import numpy as np

import elements
from elements import FLOATS, NUMBERS
from generator import common_static, tensor_type
from operations import CATALOGUE, _wide, long_operand, operation

MAX_PRODUCTS = 300_000
BYTE_FLOATS = ["f8E4M3FN", "f8E5M2"]


# Contraction.

def _shuffled(g, axes):
    """The axes [(role, size, static)] in random order, and where those of each role went, in their own order."""
    order = [int(i) for i in g.rng.permutation(len(axes))]
    place = {axes[old]["key"]: new for new, old in enumerate(order)}
    return [axes[old] for old in order], place


@operation("dot", NUMBERS)
def _dot(g, element):
    x = long_operand(g, element)
    axes = [int(a) for a in g.rng.permutation(x.rank)]
    batch = axes[:g.rank(0, min(1, x.rank - 1))]
    contract = axes[len(batch):][:g.rank(1 if len(axes) > len(batch) else 0, 2)]
    free = [a for a in range(x.rank) if a not in batch and a not in contract]
    own = [{"key": ("b", i), "size": x.sizes[a]} for i, a in enumerate(batch)]
    own += [{"key": ("k", i), "size": x.sizes[a]} for i, a in enumerate(contract)]
    budget = MAX_PRODUCTS // max(int(np.prod(x.sizes, dtype=np.int64)), 1)
    own += [{"key": ("f", i), "size": min(g.size(), max(budget, 1))} for i in range(g.rank(0, 4 - len(own)) % 3)]
    while np.prod([a["size"] for a in own if a["key"][0] == "f"], dtype=np.int64) > max(budget, 1):
        own.pop()
    placed, place = _shuffled(g, own)
    other = g.pick(BYTE_FLOATS) if element in BYTE_FLOATS else element
    y = g.argument(other, tuple(a["size"] for a in placed))
    right_batch = [place[("b", i)] for i in range(len(batch))]
    right_contract = [place[("k", i)] for i in range(len(contract))]
    right_free = [a for a in range(y.rank) if a not in right_batch and a not in right_contract]
    static = [common_static(x.static[a], y.static[b]) for a, b in zip(batch, right_batch)]
    static += [x.static[a] for a in free] + [y.static[a] for a in right_free]
    sizes = [x.sizes[a] for a in batch + free] + [y.sizes[a] for a in right_free]
    result = _wide(g, element)
    text = f"ad.dot {x}, {y} batch {batch} x {right_batch} contract {contract} x {right_contract} : " \
           f"({x.type}, {y.type}) -> {tensor_type(result, static)}"
    return g.add("dot", result, static, sizes, [x, y], text,
                 attributes={"batch": (batch, right_batch), "contract": (contract, right_contract)})


@operation("gemm", FLOATS)
def _gemm(g, element):
    x = long_operand(g, element) if g.chance(0.2) else g.operand(element, 2, 2)
    if x.rank != 2:
        x = g.argument(element, (g.size(), g.pick([3, 70, 513])))
    trans_a, trans_b = g.chance(0.4), g.chance(0.4)
    k = x.sizes[0 if trans_a else 1]
    n = min(g.size(), max(1, MAX_PRODUCTS // max(int(np.prod(x.sizes, dtype=np.int64)), 1)))
    y = g.argument(element, (n, k) if trans_b else (k, n))
    static = (x.static[1 if trans_a else 0], y.static[0 if trans_b else 1])
    sizes = (x.sizes[1 if trans_a else 0], n)
    result, operands = _wide(g, element), [x, y]
    parts = ["transA"] * trans_a + ["transB"] * trans_b
    alpha, beta = g.pick([1.0, 1.0, 0.5, -3.0, 0.3]), 1.0
    if g.chance(0.6):
        kind = g.pick([(), (sizes[1],), (1, sizes[1]), sizes, (sizes[0], 1)])
        operands.append(g.argument(element, kind))
        beta = g.pick([1.0, 2.0, 0.1])
    if alpha != 1.0:
        parts.append(f"alpha = {alpha} : f64")
    if beta != 1.0:
        parts.append(f"beta = {beta} : f64")
    braces = f" {{{', '.join(parts)}}}" if parts else ""
    text = f"ad.gemm {', '.join(map(str, operands))}{braces} : ({', '.join(v.type for v in operands)}) -> " \
           f"{tensor_type(result, static)}"
    return g.add("gemm", result, static, sizes, operands, text,
                 attributes={"transA": trans_a, "transB": trans_b, "alpha": alpha, "beta": beta})


# Neural networks.

def _softmax(mnemonic):
    def make(g, element):
        x = long_operand(g, element)
        axis = g.rank(0, x.rank - 1)
        return g.add(mnemonic, element, x.static, x.sizes, [x], f"ad.{mnemonic} {x} axis {axis} : {x.type}",
                     attributes={"axis": axis})
    return make


CATALOGUE["softmax"] = (FLOATS, _softmax("softmax"))
CATALOGUE["log_softmax"] = (FLOATS, _softmax("log_softmax"))


def _norm(mnemonic, parameters):
    def make(g, element):
        x = long_operand(g, element)
        static = g.static(x.sizes[-1:])
        operands = [x] + [g.argument(element, x.sizes[-1:], static) for _ in range(parameters)]
        if any(v.type != operands[1].type for v in operands[2:]):  # one of them became a constant
            operands[2:] = [operands[1]] * (parameters - 1)
        epsilon = g.pick([1e-5, 1e-3, 0.5])
        text = f"ad.{mnemonic} {', '.join(map(str, operands))} epsilon {epsilon:e} : {x.type}, {operands[1].type}"
        return g.add(mnemonic, element, x.static, x.sizes, operands, text, attributes={"epsilon": epsilon})
    return make


CATALOGUE["layer_norm"] = (FLOATS, _norm("layer_norm", 2))
CATALOGUE["rms_norm"] = (FLOATS, _norm("rms_norm", 1))


@operation("cross_entropy", FLOATS)
def _cross_entropy(g, element):
    x, ignored = long_operand(g, element), None
    if g.chance(0.5):
        labels = g.argument(element, x.sizes, array=elements.encode(element, g.rng.random(x.sizes)))
    else:
        rows = x.sizes[:-1]
        kind = g.pick(["i32", "i64"])
        # Any number may be the ignored one; without it, negative ones are.
        ignored = g.pick([None, None, None, -100, g.rank(0, max(x.sizes[-1] - 1, 0))])
        numbers = g.rng.integers(-1 if ignored is None else 0, x.sizes[-1], rows) if x.sizes[-1] else \
            np.full(rows, -1 if ignored is None else ignored)
        if ignored is not None:
            numbers = np.where(g.rng.random(rows) < 0.2, ignored, numbers)
        labels = g.argument(kind, rows, array=np.asarray(numbers).astype(elements.STORAGE[kind]))
    static, sizes = x.static[:-1], x.sizes[:-1]
    word = "" if ignored is None else f" ignored {ignored}"
    text = f"ad.cross_entropy {x}, {labels}{word} : {x.type}, {labels.type} -> {tensor_type(element, static)}"
    return g.add("cross_entropy", element, static, sizes, [x, labels], text, attributes={"ignored": ignored})
