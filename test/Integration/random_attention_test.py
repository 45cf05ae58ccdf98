#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random attention, forward and backward: the reference interpreter gives what NumPy gives from the whole matrix of
scores, gradients of f64 those of the formulas; the CPU with one thread and with several and the emulated GPU give the
bits of the reference, also where a call hides sizes that a compiler comes to know. Element types, shapes, heads,
masks, which keys count, chunks, and which sizes are open are drawn; often there are more queries or keys than in a
block."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import operations_attention  # noqa: E402
import oracle  # noqa: E402
import runner  # noqa: E402
from generator import Generator, tensor_type  # noqa: E402
from operations import CATALOGUE  # noqa: E402

COUNT = 60
EXACT = 1e-10  # of gradients, against the largest element


def drawn(rng, element, dynamic=None):
    open_sizes = float(rng.choice([0.0, 0.0, 0.5])) if dynamic is None else dynamic
    generator = Generator(rng, dynamic=open_sizes, constants=0.0, special=0.0)
    generator.long_axes = 0.4
    CATALOGUE["attention"][1](generator, element)
    return generator


def signature(generator):
    return ", ".join(f'{value}: {value.type} {{ad.name = "{value.name}"}}' for value, _ in generator.arguments)


def forward(rng):
    """(text, arguments, results, the operation)."""
    generator = drawn(rng, str(rng.choice(CATALOGUE["attention"][0])))
    op = generator.ops[-1]
    body = "\n  ".join(line for each in generator.ops for line in each.lines())
    text = (f'func.func @main({signature(generator)}) -> ({op.result.type} {{ad.name = "r"}}) {{\n  {body}\n'
            f"  return {op.result} : {op.result.type}\n}}\n")
    return text, generator.arguments, [("r", op.result.element)], op


def backward(rng, element):
    """The same of the gradients: of each operand of floats, with a random cotangent."""
    generator = drawn(rng, element)
    op = generator.ops[-1]
    body = "\n  ".join(line for each in generator.ops for line in each.lines())
    names = ", ".join(f"{value}: {value.type}" for value, _ in generator.arguments)
    wrt = [number for number, (value, _) in enumerate(generator.arguments) if value.element == element]
    cotangent = generator.argument(op.result.element, op.result.sizes, op.result.static)
    given = [value for value, _ in generator.arguments]
    types = ", ".join([op.result.type] + [given[number].type for number in wrt])
    results = ", ".join(f'{given[number].type} {{ad.name = "g{number}"}}' for number in wrt)
    text = (f"func.func private @f({names}) -> {op.result.type} {{\n  {body}\n  return {op.result} : {op.result.type}\n"
            f"}}\n"
            f"func.func @main({signature(generator)}) -> ({results}) {{\n"
            f"  %r:{len(wrt) + 1} = ad.vjp @f({', '.join(map(str, given[:-1]))}) cotangents({cotangent}) wrt {wrt} : "
            f"({', '.join(value.type for value in given)}) -> ({types})\n"
            f"  return {', '.join(f'%r#{place + 1}' for place in range(len(wrt)))} : "
            f"{', '.join(given[number].type for number in wrt)}\n}}\n")
    return text, generator.arguments, [(f"g{number}", element) for number in wrt], op


def opened(value):
    """Its type without the numbers of batches, queries and keys; a size of 1 may be one that repeats."""
    return tensor_type(value.element, [size if axis in (1, 3) or size == 1 else None
                                       for axis, size in enumerate(value.static)])


def through_a_call(rng):
    """Programs of one meaning: attention of static sizes, and in a function that knows few of them, which is called
    with the same tensors. Compiled targets come to know the sizes, the interpreter does not."""
    generator = drawn(rng, str(rng.choice(CATALOGUE["attention"][0])), dynamic=0.0)
    op, element = generator.ops[-1], generator.ops[-1].result.element
    given = [value for value, _ in generator.arguments]
    body = "\n  ".join(op.lines())
    result = f'-> ({op.result.type} {{ad.name = "r"}}) {{'
    end = f"\n  return {op.result} : {op.result.type}\n}}\n"
    plain = f"func.func @main({signature(generator)}) {result}\n  {body}{end}"
    for value in given:
        body = body.replace(value.type, opened(value))
    made = tensor_type(element, [given[0].static[0] if given[0].static[0] == 1 else None, op.result.static[1],
                                 op.result.static[2] if given[0].static[2] == 1 else None, *op.result.static[3:]])
    casts = "".join(f"  %c{value.name} = tensor.cast {value} : {value.type} to {opened(value)}\n" for value in given)
    types = ", ".join(map(opened, given))
    parameters = ", ".join(f"{value}: {opened(value)}" for value in given)
    called = (f"func.func private @f({parameters}) -> {made} {{\n  {body}\n  return {op.result} : {made}\n}}\n"
              f"func.func @main({signature(generator)}) {result}\n{casts}"
              f"  %open = func.call @f({', '.join(f'%c{value.name}' for value in given)}) : ({types}) -> {made}\n"
              f"  %y = tensor.cast %open : {made} to {op.result.type}\n  return %y : {op.result.type}\n}}\n")
    return plain, called, generator.arguments, [("r", element)]


def problems_of_a_call(rng, folder):
    plain, called, arguments, results = through_a_call(rng)
    given = [(value.name, value.element, array) for value, array in arguments]
    yield from runner.other_bits(folder, called, given, results, runner.everywhere(rng))
    targets = {"the static form": ["--target=reference"]}
    first = next(iter(runner.match_reference(folder, called, given, results, targets)))[2]
    second = next(iter(runner.match_reference(folder, plain, given, results, targets)))[2]
    if not elements.same_bits(results[0][1], first, second).all():
        yield f"open sizes change bits: {called}"


def gradients(op, arrays, cotangent):
    """Those of query, key, value and the mask in f64, from the whole matrix of scores."""
    attributes = op.attributes
    q, k, v = (arrays[value.name] for value in op.operands[:3])
    mask = arrays[op.operands[3].name] if len(op.operands) > 3 else None
    shared = q.shape[1] // k.shape[1]
    wide = lambda x: np.repeat(x, shared, axis=1)
    narrow = lambda x: x.reshape(x.shape[0], k.shape[1], shared, *x.shape[2:]).sum(2)
    with np.errstate(all="ignore"):
        s, _ = operations_attention.scores(attributes, q, k, mask, 0.0)
        shift = np.max(s, axis=3, keepdims=True, initial=-np.inf)
        weights = np.exp(s - np.where(np.isneginf(shift), 0.0, shift))
    p = weights / np.where((total := weights.sum(3, keepdims=True)) == 0, 1.0, total)
    if attributes["number"]:  # of the logarithm of the sum
        d, dv = p * cotangent[..., None], np.zeros_like(v)
    else:
        dp = np.einsum("bhie,bhje->bhij", cotangent, wide(v))
        d = p * (dp - (p * dp).sum(3, keepdims=True))
        dv = narrow(np.einsum("bhij,bhie->bhje", p, cotangent))
    scale, cap = attributes["scale"] or 1 / np.sqrt(q.shape[3]), attributes["softcap"]
    u = d
    if cap:
        raw = np.einsum("bhid,bhjd->bhij", q, wide(k)) * scale
        u = d * (1 - np.tanh(raw / cap) ** 2)
    dq = np.einsum("bhij,bhjd->bhid", u, wide(k)) * scale
    dk = narrow(np.einsum("bhij,bhid->bhjd", u, q)) * scale
    made = [dq, dk, dv]
    if mask is not None and mask.dtype != bool:
        made.append(d.sum(tuple(axis for axis in range(4) if mask.shape[axis] == 1), keepdims=True))
    return made


def wrong_gradients(op, arguments, results, found):
    """Of each argument, the sum over the operands that it is."""
    arrays = {value.name: array for value, array in arguments}
    made = gradients(op, arrays, arguments[-1][1])
    for name, _ in results:
        value = arguments[int(name[1:])][0]
        expected = sum(gradient for operand, gradient in zip(op.operands, made) if operand.name == value.name)
        error = np.abs(found[name] - expected).max(initial=0)
        if not error <= EXACT * max(np.abs(expected).max(initial=0), 1e-3):
            yield f"the gradient of {value} is off by {error}"


def check(seed, folder):
    rng = np.random.default_rng(seed)
    kind = str(rng.choice(["forward", "f64", "narrow", "call"]))
    if kind == "call":
        yield from problems_of_a_call(rng, folder)
        return
    if kind == "forward":
        text, arguments, results, op = forward(rng)
    else:
        narrow = [element for element in CATALOGUE["attention"][0] if element != "f64"]
        text, arguments, results, op = backward(rng, "f64" if kind == "f64" else str(rng.choice(narrow)))
    given = [(value.name, value.element, array) for value, array in arguments]
    expected = {}
    for label, name, reference, found in runner.match_reference(folder, text, given, results, runner.everywhere(rng)):
        expected[name] = reference
        wrong = np.argwhere(~elements.same_bits(dict(results)[name], reference, found))
        if len(wrong):
            yield (f"{label}: {name} has other bits than the reference at {len(wrong)} of {reference.size} places, "
                   f"first {wrong[0]}: {text}")
    arrays = {value.name: array for value, array in arguments}
    if kind == "forward" and len(oracle.differences(op, [arrays[value.name] for value in op.operands], expected["r"])):
        yield f"the reference has other values than NumPy: {text}"
    if kind == "f64":
        yield from (f"{problem}: {text}" for problem in wrong_gradients(op, arguments, results, expected))


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random attention", check, COUNT))
