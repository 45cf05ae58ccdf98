# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Numbers for which the order and the precision of a sum show in its bits, laid out as accumulation_kernels.py reads
them, and what may be said of results: whether they are sums at all, and whether they are those of a published model.

Random numbers; products that cancel in pairs; exponents far apart, so that aligned terms lose bits; one large product
or one large accumulator among small ones; sums that cancel the accumulator.
"""

import numpy as np

from accumulation_kernels import K, ROWS, SLOTS, STEPS, THREADS, image_bytes, shared_bytes

KINDS = ("random", "cancelling", "exponents", "large product", "large accumulator", "cancelled accumulator")
BITS, BIAS = 25, 127  # of a sum after the binary point, in the model; of exponents
RANGE = {"bf16": 30, "f16": 6}  # of exponents, so that no product overflows


def rounded(values, element):
    """Numbers of the type, in f64: to the nearest, but half of a unit upwards."""
    if element == "f16":
        return values.astype(np.float16).astype(np.float64)
    bits = values.astype(np.float32).view(np.uint32) + np.uint32(0x8000)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)


def bits_of(values, element):
    if element == "f16":
        return values.astype(np.float16).view(np.uint16)
    return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


class Problem:
    """Operands a (steps, rows, k) and b (steps, n, k), accumulators c (rows, n), all in f64."""

    def __init__(self, kind, element, n, seed):
        random = np.random.default_rng([seed, KINDS.index(kind), n])
        self.kind, self.element, self.n = kind, element, n
        a, b = random.standard_normal((STEPS, ROWS, K)), random.standard_normal((STEPS, n, K))
        c = random.standard_normal((ROWS, n)) if kind != "random" else np.zeros((ROWS, n))
        if kind == "exponents":
            far = RANGE[element]
            a, b = (x * np.exp2(random.integers(-far, far + 1, x.shape)) for x in (a, b))
        if kind == "large product":
            a[:, np.arange(ROWS), random.integers(0, K, ROWS)] *= 2.0 ** RANGE[element]
        if kind == "large accumulator":
            c *= 2.0 ** random.integers(10, 26, c.shape)
        a, b = rounded(a, element), rounded(b, element)
        if kind == "cancelling":  # all but a small rest
            order = random.permutation(K)
            a[:, :, order[: K // 2]] = -a[:, :, order[K // 2:]]
            b[:, :, order[: K // 2]] = rounded(b[:, :, order[K // 2:]] * (1 + 2.0**-6), element)
        if kind == "cancelled accumulator":
            c = -np.einsum("rk,nk->rn", a[0], b[0]) * (1 + 2.0**-20 * random.standard_normal((ROWS, n)))
        self.a, self.b, self.c = a, b, c.astype(np.float32).astype(np.float64)

    def image(self, major):
        """Shared memory of all steps: chunks of eight rows of 16 bytes, those with the same k after each other."""
        image = np.zeros(shared_bytes(self.n), np.uint8)
        for step in range(STEPS):
            a = bits_of(self.a[step], self.element).reshape(ROWS, K // 8, 8).transpose(1, 0, 2)
            b = bits_of(self.b[step], self.element)
            b = (b.reshape(self.n, K // 8, 8).transpose(1, 0, 2) if major == "k"
                 else b.reshape(self.n // 8, 8, K // 8, 8).transpose(2, 0, 3, 1))
            start = step * image_bytes(self.n)
            raw = np.concatenate([np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (a, b)])
            image[start:start + raw.size] = raw
        return image

    def fragments(self, swapped=False):
        """(A of each thread, B of each lane and group of columns) as words; `swapped`: in another order of k."""
        order = np.r_[K // 2:K, :K // 2] if swapped else np.arange(K)
        lane, thread = np.arange(32), np.arange(THREADS)
        pair = np.arange(2)
        words_a, words_b = [], []
        for step in range(STEPS):
            a, b = (bits_of(x[step], self.element)[:, order] for x in (self.a, self.b))
            row = (thread // 32 * 16 + thread % 32 // 4)[:, None, None] + 8 * (np.arange(4) % 2)[None, :, None]
            k = (thread % 4 * 2)[:, None, None] + 8 * (np.arange(4) // 2)[None, :, None] + pair
            words_a.append(a[row, k])
            column = 8 * np.arange(self.n // 8)[:, None, None, None] + (lane // 4)[None, :, None, None]
            k = (lane % 4 * 2)[None, :, None, None] + 8 * np.arange(2)[None, None, :, None] + pair
            words_b.append(b[column, k])
        return (np.ascontiguousarray(np.stack(words)).reshape(-1).view(np.uint32) for words in (words_a, words_b))

    def places(self):
        """(row, column) of the accumulators of each thread."""
        thread, number = np.arange(THREADS)[:, None], np.arange(self.n // 2)[None]
        row = thread // 32 * 16 + thread % 32 // 4 + (number >> 1 & 1) * 8
        return row, number // 4 * 8 + thread % 4 * 2 + (number & 1)

    def accumulators(self):
        return self.c[self.places()].astype(np.float32)

    def terms(self, slot, before):
        """Products (rows, n, k) in f64, which are exact, and the accumulator that a step adds them to; `before`: the
        results of the slot before, by row and column."""
        step = max(slot - 1, 0)
        c = np.zeros_like(self.c) if slot == 0 else self.c if slot == 1 else before
        return self.a[step][:, None, :] * self.b[step][None], c


def exponent(values):
    return np.frexp(values)[1] - 1


def modelled(products, a, b, c):
    """A step as two studies describe it for Hopper (arXiv 2511.10909, 2512.07004): terms are aligned to the largest
    exponent, that of a product is the sum of both, cut to 25 bits after the point, added, and cut to f32."""
    largest = np.where(products == 0, -10000, exponent(a)[:, None, :] + exponent(b)[None]).max(2)
    largest = np.maximum(largest, np.where(c == 0, -10000, exponent(c)))
    largest = np.maximum(largest, -BIAS + 1)
    unit = np.exp2((largest - BITS).astype(np.float64))
    total = np.trunc(products / unit[..., None]).sum(2) + np.trunc(c / unit)
    value = total * unit
    ulp = np.exp2(np.maximum(exponent(np.where(value == 0, 1, value)), -126) - 23.0)
    return (np.trunc(value / ulp) * ulp).astype(np.float32)


def by_place(problem, values):
    """(slots, threads, numbers) as (slots, rows, columns)."""
    matrix = np.zeros((SLOTS, ROWS, problem.n), np.float32)
    matrix[:, *problem.places()] = values
    return matrix


def is_sum(problem, slot, results, before):
    """Whether results are sums of the terms, within what any order in f32 may lose."""
    products, c = problem.terms(slot, before)
    bound = (np.abs(products).sum(2) + np.abs(c)) * 2.0**-18 + 2.0**-126
    return np.abs(results.astype(np.float64) - products.sum(2) - c) <= bound


def compare(problem, one, other):
    """What two instructions gave for a problem: counts, and the first place where they differ. Of the other's results,
    how many are the model's."""
    wgmma, mma = by_place(problem, one), by_place(problem, other)
    found = {"values": int(wgmma.size), "different": 0, "wrong": 0, "modelled": 0, "first": None}
    for slot in range(SLOTS):
        for results in (wgmma, mma):
            # Each chain is held against its own accumulator.
            found["wrong"] += int((~is_sum(problem, slot, results[slot], results[slot - 1].astype(np.float64))).sum())
        products, c = problem.terms(slot, mma[slot - 1].astype(np.float64))
        step = max(slot - 1, 0)
        model = modelled(products, problem.a[step], problem.b[step], c)
        found["modelled"] += int((model.view(np.uint32) == mma[slot].view(np.uint32)).sum())
        # Zeros of either sign differ, too: bits count.
        differs = wgmma[slot].view(np.uint32) != mma[slot].view(np.uint32)
        found["different"] += int(differs.sum())
        if differs.any() and not found["first"]:
            row, column = (int(i) for i in np.argwhere(differs)[0])
            found["first"] = {"kind": problem.kind, "n": problem.n, "slot": slot, "row": row, "column": column,
                              "a": problem.a[step][row].tolist(), "b": problem.b[step][column].tolist(),
                              "c": float(c[row, column]), "exact": float(products[row, column].sum() + c[row, column]),
                              **{name: values[slot, row, column].tobytes()[::-1].hex()
                                 for name, values in (("wgmma", wgmma), ("mma.sync", mma))}}
    return found
