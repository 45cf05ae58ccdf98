# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Sums over every number of blocks from 1 to 40, with sizes around each boundary: the CPU and the emulated GPU
give the bits of the reference interpreter, for every kind of reduction and contraction and both kinds of order.

One program of unknown sizes takes all sizes, one after the other, by cutting parts off its arguments: what is compiled
for known sizes takes part of the sizes once more."""

import functools
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import checks  # noqa: E402
import runner  # noqa: E402

BLOCKS = range(1, 41)
# An argument that is cut along an axis, and what is computed of the part: {p} is its type, {r} that of the result, {o}
# the order.
FORMS = {
    "all": ((None,), (), "ad.reduce_sum %p axes [0]{o} : {p} -> {r}"),
    "rows": ((3, None), (3,), "ad.reduce_sum %p axes [1]{o} : {p} -> {r}"),
    "columns": ((None, 5), (5,), "ad.reduce_sum %p axes [0]{o} : {p} -> {r}"),
    "middle": ((2, None, 3), (2, 3), "ad.reduce_sum %p axes [1]{o} : {p} -> {r}"),
    "outer and last": ((None, 3, 2), (3,), "ad.reduce_sum %p axes [0, 2]{o} : {p} -> {r}"),
    "products": ((None, 5), (5,), "ad.reduce_prod %p axes [0]{o} : {p} -> {r}"),
    "means": ((None, 17), (17,), "ad.reduce_mean %p axes [0]{o} : {p} -> {r}"),
    "numbers": ((None,), (), "ad.dot %p, %p batch [] x [] contract [0] x [0]{o} : ({p}, {p}) -> {r}"),
    "matrix": ((5, None), (5, 5), "ad.dot %p, %p batch [] x [] contract [1] x [1]{o} : ({p}, {p}) -> {r}"),
    "columns of both": ((None, 18), (18, 18), "ad.dot %p, %p batch [] x [] contract [0] x [0]{o} : ({p}, {p}) -> {r}"),
    "batches": ((2, None, 3), (2, 3, 3), "ad.dot %p, %p batch [0] x [0] contract [1] x [1]{o} : ({p}, {p}) -> {r}"),
}
# An order, its block or chunk, and the distance between the numbers of blocks: long chunks take long.
ORDERS = {"block = 8": (8, 1), "block = 24": (24, 3), "lanes = 16, chunk = 64": (64, 3)}


def tensor(shape, element):
    return f"tensor<{''.join(('?' if size is None else str(size)) + 'x' for size in shape)}{element}>"


def sizes_of(block, step):
    return sorted({max(block * blocks + rest, 0) for blocks in BLOCKS[::step] for rest in (-1, 0, 1, block // 2)}
                  | {0, 1})


class Form:
    """A function that gives the result for each of some sizes as a row."""

    def __init__(self, name, order, element, sizes):
        shape, self.result, self.text = FORMS[name]
        self.axis, self.element, self.sizes = shape.index(None), element, sizes
        self.order = f" {{order = #ad.order<{order}>}}"
        self.whole = tuple(max(sizes) if size is None else size for size in shape)
        self.part = shape

    def unknown(self):
        """All sizes in a loop."""
        count, e = len(self.sizes), self.element
        rows, row, result = (tensor(s, e) for s in ((count, *self.result), (1, *self.result), self.result))
        first, zeros = ", ".join(["%c0"] * len(self.whole)), "".join(", %c0" for _ in self.result)
        return f"""func.func @main(%x: {tensor(self.whole, e)} {{ad.name = "x"}}, %n: tensor<{count}xi64> {{ad.name = "n"}})
    -> ({rows} {{ad.name = "y"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant {count} : index
  %empty = ad.constant dense<0.0> : {rows}
  %y = scf.for %i = %c0 to %count step %c1 iter_args(%all = %empty) -> {rows} {{
    %n64 = tensor.extract %n[%i] : tensor<{count}xi64>
    %size = arith.index_cast %n64 : i64 to index
    %p = ad.dynamic_slice %x[{first}](%size) : {tensor(self.whole, e)} -> {tensor(self.part, e)}
    %r = {self.text.format(p=tensor(self.part, e), r=result, o=self.order)}
    %row = ad.reshape %r : {result} -> {row}
    %next = ad.dynamic_update_slice %all, %row[%i{zeros}] : {rows}, {row}
    scf.yield %next : {rows}
  }}
  return %y : {rows}
}}
"""

    def known(self):
        """A kernel for each size."""
        e, result = self.element, tensor(self.result, self.element)
        body, first = "", [0] * len(self.whole)
        for i, size in enumerate(self.sizes):
            p = tensor([size if n is None else n for n in self.part], e)
            body += f"  %p{i} = ad.slice %x {first} strides {[1] * len(first)} : {tensor(self.whole, e)} -> {p}\n"
            text = self.text.replace("%p", f"%p{i}").format(p=p, r=result, o=self.order)
            body += f"  %r{i} = {text}\n  %y{i} = ad.reshape %r{i} : {result} -> {tensor((1, *self.result), e)}\n"
        names = ", ".join(f"%y{i}" for i in range(len(self.sizes)))
        types = ", ".join([tensor((1, *self.result), e)] * len(self.sizes))
        rows = tensor((len(self.sizes), *self.result), e)
        return f"""func.func @main(%x: {tensor(self.whole, e)} {{ad.name = "x"}}, %n: tensor<{len(self.sizes)}xi64> {{ad.name = "n"}})
    -> ({rows} {{ad.name = "y"}}) {{
{body}  %y = ad.concat axis 0 {names} : {types}
  return %y : {rows}
}}
"""


def problem(form, text, targets, folder):
    random = np.random.default_rng(sum(form.whole))
    np.save(folder / "x.npy",
            random.uniform(0.9, 1.2, form.whole).astype({"f32": np.float32, "f64": np.float64}[form.element]))
    np.save(folder / "n.npy", np.array(form.sizes))
    results = [runner.run(text, [f"--arg={name}={folder}/{name}.npy" for name in "xn"], [("y", form.element)],
                          [f"--target={target}", "--numerics=reproducible"])["y"] for target in ("reference", *targets)]
    for target, result in zip(targets, results[1:]):
        wrong = [size for size, a, b in zip(form.sizes, results[0], result) if a.tobytes() != b.tobytes()]
        if wrong:
            return f"{target}: other bits than on the reference for sizes {wrong[:10]}"
    return None


def main():
    found = []
    for order, (block, step) in ORDERS.items():
        for name in FORMS:
            element = "f64" if name in ("products", "batches") else "f32"
            form = Form(name, order, element, sizes_of(block, step))
            found.append((f"{name}, {order}", functools.partial(problem, form, form.unknown(), ["cpu"])))
            few = Form(name, order, element, sizes_of(block, 6 * step))
            found.append((f"{name}, {order}, on the emulated GPU",
                          functools.partial(problem, few, few.unknown(), ["gpu-sim"])))
            if order == "block = 8":
                known = Form(name, order, element, [block * n + 1 for n in BLOCKS[:20]])
                found.append((f"{name}, {order}, known sizes",
                              functools.partial(problem, known, known.known(), ["cpu"])))
    return checks.run_checks("summation-blocks", checks.sample(found, 4))


if __name__ == "__main__":
    sys.exit(main())
