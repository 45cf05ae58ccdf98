#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random running reductions (decision 0046): the reference interpreter, the CPU with one thread and with several, and the
emulated GPU give the bits of nested chains that NumPy combines. Operations, shapes, axes, types, orders, what comes before and after, and
which sizes are open are drawn."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402

COUNT = 90
CANONICAL = (128, 128)
# Around the blocks and tiles of the canonical order, and the vectors and squares in which kernels sum them.
SHORT = (1, 2, 7, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 160, 255, 256, 257, 300, 384, 400, 512, 640, 1000, 2100)
LONG = (4000, 16383, 16384, 16385, 16512, 20000, 32768, 33000, 49153)
OTHERS = (1, 1, 2, 3, 4, 5, 6, 8, 10, 15, 16, 17, 31, 33, 40)
MAX_ELEMENTS = 150_000
ORDERS = ("#ad.order<chain>", "#ad.order<chain = {0}, chain = {1}, chain>")
BEFORE = {"": "", "%v = ad.mul %x, %x : {t}": "square", "%v = ad.neg %x : {t}": "negate"}
AFTER = {"": "", "%r = ad.sub %s, %x : {t}": "before the step", "%r = ad.neg %s : {t}": "negate", "%r = ad.add %s, %s : {t}": "twice"}


# What combines two values, and the value that a chain begins with.
COMBINERS = {"cumsum": (np.add, 0), "cumprod": (np.multiply, 1)}


def chain(values, combine, start):
    """The running reduction along the last axis. NumPy's accumulate goes in ascending order."""
    return combine.accumulate(np.concatenate([np.full_like(values[..., :1], start), values], axis=-1), axis=-1)[..., 1:]


def nested(values, lengths, combine, start):
    """Blocks of the first length are chains of their own; their totals have a running reduction in the other lengths."""
    if not lengths:
        return chain(values, combine, start)
    length, count = lengths[0], values.shape[-1]
    blocks = [chain(values[..., begin:begin + length], combine, start) for begin in range(0, count, length)]
    whole = [block[..., -1] for block in blocks if block.shape[-1] == length]
    if len(blocks) > 1:
        before = nested(np.stack(whole, axis=-1), lengths[1:], combine, start)
        blocks[1:] = [combine(before[..., number:number + 1], block) for number, block in enumerate(blocks[1:])]
    return np.concatenate(blocks, axis=-1)


def extremes(values, smallest):
    """The running maximum or minimum along the last axis. Floats are integers in their order: -0 < +0, and NaN is the last."""
    if values.dtype != np.float64:
        return (np.minimum if smallest else np.maximum).accumulate(values, axis=-1)
    turned = lambda bits: bits ^ (bits >> 63 & np.iinfo(np.int64).max)
    bits = (-values if smallest else values).view(np.int64)
    keys = np.where(np.isnan(values), np.iinfo(np.int64).max, turned(bits))
    found = turned(np.maximum.accumulate(keys, axis=-1)).view(np.float64)
    return -found if smallest else found


class Scan:
    def __init__(self, rng):
        self.operation = str(rng.choice(["cumsum", "cumsum", "cumprod", "cummax", "cummin"]))
        self.element = str(rng.choice(elements.NUMBERS))
        length = int(rng.choice(LONG if rng.random() < 0.35 else SHORT))
        others = [int(rng.choice(OTHERS)) for _ in range(rng.integers(0, 4))]
        while others and length * int(np.prod(others)) > MAX_ELEMENTS:
            others.pop()
        self.axis = int(rng.integers(0, len(others) + 1))
        self.shape = (*others[:self.axis], length, *others[self.axis:])
        self.is_open = [rng.random() < (0.5 if rng.random() < 0.4 else 0.0) for _ in self.shape]
        self.order = None if rng.random() < 0.6 else tuple(int(n) for n in (rng.choice([1, 3, 32, 64, 96, 128, 160, 512]),
                                                                              rng.choice([1, 2, 5, 64, 128, 200])))
        self.is_chain = self.order is not None and rng.random() < 0.2
        self.before, self.after = str(rng.choice(list(BEFORE))), str(rng.choice(list(AFTER)))
        self.mode = str(rng.choice(["reproducible", "strict"]))
        self.x = elements.random(rng, self.element, self.shape)
        if self.operation == "cumprod" and elements.is_float(self.element) and rng.random() < 0.8:
            # Products that neither vanish nor overflow.
            self.x = elements.encode(self.element, 1 + rng.normal(size=self.shape) / 16)

    def text(self):
        sizes = "x".join("?" if is_open else str(size) for size, is_open in zip(self.shape, self.is_open))
        kind = f"tensor<{sizes}x{self.element}>"
        order = ORDERS[not self.is_chain].format(*self.order) if self.order else ""
        attributes = f" {{order = {order}}}" if order else ""
        return (f'func.func @main(%x: {kind} {{ad.name = "x"}}) -> ({kind} {{ad.name = "r"}}) {{\n'
                f"  {self.before.format(t=kind)}\n"
                f"  %s = ad.{self.operation} {'%v' if self.before else '%x'} axis {self.axis}{attributes} : {kind}\n"
                f"  {self.after.format(t=kind)}\n  return {'%r' if self.after else '%s'} : {kind}\n}}\n")

    def steps(self):
        """Of a program that does nothing else."""
        values = np.ascontiguousarray(np.moveaxis(elements.decode(self.element, self.x), self.axis, -1))
        if self.operation in COMBINERS:
            values = values.astype(elements.STORAGE[elements.accumulator(self.element)])
            lengths = () if self.is_chain else self.order or CANONICAL
            with np.errstate(all="ignore"):
                found = nested(values, lengths, *COMBINERS[self.operation])
        else:
            found = extremes(values, self.operation == "cummin")
        return elements.encode(self.element, np.moveaxis(found, -1, self.axis))


def check(seed, folder):
    rng = np.random.default_rng(seed)
    scan = Scan(rng)
    if seed % 3 == 0:
        scan.before = scan.after = ""
    text, given, results = scan.text(), [("x", scan.element, scan.x)], [("r", scan.element)]
    for label, _, expected, found in runner.match_reference(folder, text, given, results, runner.everywhere(rng, scan.mode)):
        wrong = np.argwhere(~elements.same_bits(scan.element, expected, found))
        if len(wrong):
            yield f"{label}: other bits than the reference at {len(wrong)} places, first {wrong[0]}: {text}"
    if not scan.before and not scan.after and not elements.same_bits(scan.element, scan.steps(), expected).all():
        yield f"the reference has other bits than nested chains in NumPy: {text}"


if __name__ == "__main__":
    sys.exit(checks.run_seeds("random scans", check, COUNT))
