#!/usr/bin/env python3
# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Products of f32 in parts of bf16: random ad.dot and ad.gemm with batches, layouts, open sizes, alpha, beta and bias,
of adversarial numbers. In `reproducible` all targets have the bits of the reference interpreter, and in `strict` and
`fast` the CPU does. There GPUs use tensor cores: on the emulated one all chips and fusion policies have the bits that
NumPy computes. All results are within the bounds of docs/named-kernels.md, and so are sums of a model of NVIDIA's
tensor cores."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
sys.dont_write_bytecode = True
import numpy as np  # noqa: E402

import checks  # noqa: E402
import elements  # noqa: E402
import runner  # noqa: E402
import split_products as oracle  # noqa: E402
from elements import tensor  # noqa: E402

CHIPS = ("sm_80", "sm_89", "sm_90", "sm_90a", "sm_100")
SHARE = 0.02  # of special numbers
LARGEST = np.finfo(np.float32).max
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, LARGEST, -LARGEST, 1e-45], np.float32)


def numbers(rng, profile, shape, is_left):
    """f32 numbers: of like or of very different magnitude, of one sign (where truncation errs in one direction), small
    times large, so that low parts are subnormal, first parts that would overflow, and special ones."""
    x = rng.normal(size=shape)
    if profile == "positive":
        x = rng.random(shape)
    if profile == "mixed":
        x = x * np.exp2(rng.integers(-30, 30, shape))
    if profile == "subnormal parts":
        x = x * np.exp2(rng.integers(-135, -100, shape) if is_left else rng.integers(90, 110, shape))
    if profile == "largest":
        x = LARGEST * (1 - np.abs(x) * 2.0**-10) * np.sign(x) if is_left else x / (8 * max(shape))
    x = np.clip(x, -LARGEST, LARGEST).astype(np.float32)
    if profile == "special":
        x = np.where(rng.random(shape) < SHARE, rng.choice(SPECIAL, shape), x)
    return x


PROFILES = ("normal", "positive", "mixed", "subnormal parts", "largest", "special")


class Case:
    """One product, by its arguments, its text, and its result in NumPy."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        self.name, self.profile = str(rng.choice(list(oracle.NAMES))), str(rng.choice(PROFILES))
        self.m, self.n, self.k = (int(rng.choice(sizes)) for sizes in (
            (1, 3, 8, 17, 40, 66), (1, 4, 9, 24, 70), (1, 2, 7, 16, 40, 127, 128, 130, 260, 515, 600)))
        self.is_gemm = bool(rng.random() < 0.4)
        self.batch = 0 if self.is_gemm else int(rng.choice([0, 0, 2]))
        outer = (self.batch,) if self.batch else ()
        self.a = numbers(rng, self.profile, outer + (self.m, self.k), True)
        self.b = numbers(rng, self.profile, outer + (self.k, self.n), False)
        self.arguments, self.dynamic = {}, rng.random() < 0.3
        self.alpha, self.beta, self.bias = 1, 0, np.float32(0)
        if self.is_gemm:
            self.alpha, self.beta, self.bias = 1.5, -0.5, rng.normal(size=self.n).astype(np.float32)
        self.text = self.gemm() if self.is_gemm else self.dot()

    def type(self, shape):
        return tensor("f32", ["?" if self.dynamic and size > 1 else size for size in shape])

    def function(self, line, divided=""):
        given = ", ".join(f'%{name}: {self.type(array.shape)} {{ad.name = "{name}"}}'
                          for name, array in self.arguments.items())
        free = [size for role, size in (("m", self.m), ("n", self.n))
                for size in ((2, size // 2) if role in divided else (size,))]
        result = self.type(self.shape()[:-2] + tuple(free))
        return f"func.func @main({given}) -> {result} {{\n  %0 = {line} -> {result}\n  return %0 : {result}\n}}\n"

    def shape(self):
        return ((self.batch,) if self.batch else ()) + (self.m, self.n)

    def types(self):
        return ", ".join(self.type(array.shape) for array in self.arguments.values())

    def dot(self):
        """Axes of the operands in any order. At times M, N or K is two axes, which count as one."""
        rng, names = self.rng, (["b"] if self.batch else [])
        divided = [role for role, size in (("m", self.m), ("n", self.n), ("k", self.k))
                   if size % 2 == 0 and rng.random() < 0.3 and not self.dynamic]
        places = {}
        for name, array, own in (("a", self.a, names + ["m", "k"]), ("b", self.b, names + ["k", "n"])):
            order = [int(i) for i in rng.permutation(len(own))]
            array, own = array.transpose(order), [own[i] for i in order]
            for role in set(divided) & set(own):
                at = own.index(role)
                array = array.reshape(array.shape[:at] + (2, array.shape[at] // 2) + array.shape[at + 1:])
                own = own[:at] + [role, role * 2] + own[at + 1:]
            self.arguments[name], places[name] = array, own
        axes = lambda roles: [[own.index(role) for role in roles] for own in places.values()]
        batch, contract = axes(names), axes(["k", "kk"] if "k" in divided else ["k"])
        return self.function(f'ad.dot %a, %b batch {batch[0]} x {batch[1]} contract {contract[0]} x {contract[1]} '
                             f'{{ad.named_kernel = "{self.name}"}} : ({self.types()})', divided)

    def gemm(self):
        left, right = (bool(flag) for flag in self.rng.integers(0, 2, 2))
        self.arguments = {"a": self.a.T if left else self.a, "b": self.b.T if right else self.b, "c": self.bias}
        flags = ["transA"] * left + ["transB"] * right
        return self.function(f'ad.gemm %a, %b, %c {{{", ".join(flags + ["alpha = 1.5", "beta = -0.5"])}, '
                             f'ad.named_kernel = "{self.name}"}} : ({self.types()})')

    def epilogue(self, product):
        with np.errstate(all="ignore"):
            if not self.is_gemm:
                return product
            return product * np.float32(self.alpha) + self.bias * np.float32(self.beta)

    def of_tensor_cores(self, sums=lambda a, b: oracle.chain_of(a, b, oracle.PROMOTE)):
        return self.epilogue(oracle.contract(self.name, self.a, self.b, sums))

    def outside(self, found, path):
        """The elements that are not within the bound."""
        a, b, u = self.a.astype(np.longdouble), self.b.astype(np.longdouble), oracle.UNIT
        finite = np.all(np.isfinite(a), axis=-1)[..., :, None] & np.all(np.isfinite(b), axis=-2)[..., None, :]
        a, b = (np.where(np.isfinite(x), x, 0) for x in (a, b))
        scale, exact = np.abs(a) @ np.abs(b), a @ b
        limit = oracle.bound(self.name, path, scale) + oracle.lost(self.name, a, b)
        if self.is_gemm:
            exact = self.alpha * exact + self.beta * self.bias
            limit = self.alpha * limit + 3 * u * (self.alpha * scale + np.abs(self.bias))
        is_sum = finite & (1.02 * self.alpha * scale + np.abs(self.bias) < LARGEST)  # others may overflow
        with np.errstate(all="ignore"):
            wrong = is_sum & ~(np.abs(found - exact) <= limit)
        return np.count_nonzero(wrong | (~finite & np.isfinite(found)))


def equal(left, right):
    return np.all(elements.same_bits("f32", left, right))


def check(seed, folder):
    case = Case(seed)
    for name, array in case.arguments.items():
        elements.save(folder / f"{name}.npy", "f32", array)
    given = [f"--arg={name}={folder / name}.npy" for name in case.arguments]
    rng, report, path = case.rng, folder / "report.json", oracle.tensor_core_path(case.k)
    where = f"{case.profile}, K = {case.k}\n{case.text}"

    def run(target, mode, *options):
        found = runner.run(case.text, given, [("res0", "f32")], [
            "--target", target, "--numerics", mode, "--numerics-report", report, *options])["res0"]
        return found.reshape(case.shape())

    reference = run("reference", "reproducible")
    for target, mode in (("cpu", "reproducible"), ("gpu-sim", "reproducible"), ("cpu", str(rng.choice(MODES)))):
        if not equal(run(target, mode), reference):
            yield f"{target}, {mode}: not the bits of the reference, {where}"
        if any(word in report.read_text() for word in ("tensor-cores", "dot-product-instruction")):
            yield f"{target}, {mode}: another instruction than FMA was used, {where}"
    if case.outside(reference, oracle.longest_path(case.k)):
        yield f"reproducible: outside of the bound, {where}"
    expected = case.of_tensor_cores()
    for policy in ("grow", "single"):
        options = [str(rng.choice(MODES)), "--chip", str(rng.choice(CHIPS)), "--fuse", policy]
        if not equal(run("gpu-sim", *options), expected):
            yield f"gpu-sim, {options}: not the bits of the order of tensor cores, {where}"
        if '"mma.sync.m16n8k16.bf16.bf16, promoted to f32 every 128 of K' not in report.read_text():
            yield f"gpu-sim, {options}: the report does not name the instruction, {where}"
    if case.outside(expected, path):
        yield f"tensor cores: outside of the bound, {where}"
    if case.profile != "special" and not case.batch:
        for block in (4, 8, 16):  # V100, A100, H100
            found = case.of_tensor_cores(lambda a, b: oracle.truncated(a, b, block))
            if case.outside(found, path):
                yield f"a chip that adds {block} products at once: outside of the bound, {where}"


MODES = ("strict", "fast")

if __name__ == "__main__":
    sys.exit(checks.run_seeds("split products", check, count=16))
