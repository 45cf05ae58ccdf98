# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Random configurations of operations that PyTorch has, too: arguments, and one function for each library, which gives a
list of results."""

import dataclasses
from collections.abc import Callable
from typing import Any

import adjoint
import adjoint.nn.functional as F
import adjoint.numpy as anp
import numpy as np
import torch
import torch.nn.functional as TF


@dataclasses.dataclass
class Case:
    dtype: Any
    arrays: list[np.ndarray]
    ours: Callable[..., list[Any]]
    theirs: Callable[..., list[torch.Tensor]]
    said: str
    constant: frozenset[int] = frozenset()  # arguments of floats that have no gradient

    def wanted(self):
        return [i for i, array in enumerate(self.arrays) if array.dtype == self.dtype and i not in self.constant]


class Draw:
    def __init__(self, rng):
        self.rng = rng
        self.dtype = [np.float32, np.float64][rng.integers(2)]

    def pick(self, *items):
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share):
        return self.rng.random() < share

    def size(self, low=1, high=9):
        return int(self.rng.integers(low, high + 1))

    def floats(self, *sizes):
        """No two are equal, so that each maximum is one element."""
        count = int(np.prod(sizes))
        made = (self.rng.permutation(count) - count / 2 + self.rng.uniform(0.1, 0.4)) * (4 / max(count, 1))
        return made.reshape(sizes).astype(self.dtype)

    def normals(self, *sizes):
        return self.rng.normal(size=sizes).astype(self.dtype)

    def integers(self, low, high, *sizes):
        return self.rng.integers(low, high, sizes)


def attention(draw):
    heads, size, width = draw.pick(1, 2, 4), draw.pick(1, 3, 8, 16, 33), draw.pick(1, 5, 8, 16)
    groups = draw.pick(1, 1, 2) if draw.chance(0.5) else 1
    # The gradient by a single key is 0, of which rounded numbers have no share.
    n, m = draw.pick(1, 2, 7, 16, 65), draw.pick(2, 3, 8, 64, 130)
    causal, window = draw.chance(0.4), draw.size(1, 20) if draw.chance(0.3) else None
    softcap, scale = 3.0 if draw.chance(0.3) else None, 0.3 if draw.chance(0.3) else None
    if causal or window:
        m = max(n, m) if draw.chance(0.5) else max(n, 2)
    batch = [draw.size(1, 3)] if draw.chance(0.7) else []
    q, k = draw.normals(*batch, heads * groups, n, size), draw.normals(*batch, heads, m, size)
    arrays = [q, k, draw.normals(*batch, heads, m, width)]
    kind = draw.pick("none", "none", "boolean", "additive")
    if kind != "none":
        shape = [draw.pick(1, heads * groups), draw.pick(1, n), m]
        mask = draw.rng.random(shape) < 0.7
        mask[mask.sum(-1) == 1] = True  # nor has that by a single key that is not hidden
        arrays.append(mask if kind == "boolean" else draw.normals(*shape))

    def ours(q, k, v, mask=None):
        return [F.scaled_dot_product_attention(q, k, v, mask, causal, scale, True, window=window, softcap=softcap)]

    def theirs(q, k, v, mask=None):
        k, v = (x.repeat_interleave(groups, dim=-3) for x in (k, v))
        scores = q @ k.transpose(-1, -2) * (scale or size**-0.5)
        if softcap:
            scores = softcap * torch.tanh(scores / softcap)
        if mask is not None and mask.dtype != torch.bool:
            scores = scores + mask
        rows, columns = torch.arange(n)[:, None], torch.arange(m)[None]
        hidden = (columns > rows) if causal else torch.zeros((n, m), dtype=torch.bool)
        if window:
            hidden = hidden | ((rows - columns).abs() >= window)
        if mask is not None and mask.dtype == torch.bool:
            hidden = hidden | ~mask
        scores = scores.masked_fill(hidden, -torch.inf)
        weights = torch.exp(scores - scores.amax(-1, keepdim=True).clamp_min(-1e30).detach())
        return [weights / weights.sum(-1, keepdim=True).clamp_min(1e-30) @ v]

    return Case(draw.dtype, arrays, ours, theirs, f"{causal=} {window=} {softcap=} {scale=} {groups=} {kind}")


def _windows(draw, rank):
    kernel = [draw.size(1, 4) for _ in range(rank)]
    options = {"stride": [draw.size(1, 3) for _ in kernel], "dilation": [draw.pick(1, 1, 2) for _ in kernel]}
    spans = [(size - 1) * step + 1 for size, step in zip(kernel, options["dilation"])]
    return kernel, options, spans


def _convolved(draw, name, arrays, outputs, options):
    """Some have a bias."""
    arrays += [draw.normals(outputs)] if draw.chance(0.5) else []
    call = lambda module: lambda x, w, b=None: [getattr(module, name)(x, w, b, **options)]
    return Case(draw.dtype, arrays, call(F), call(TF), f"{name} {options}")


def convolution(draw):
    rank, groups = draw.pick(1, 2, 2, 3), draw.pick(1, 1, 2, 4)
    kernel, options, spans = _windows(draw, rank)
    options["padding"] = [draw.pick(0, 1, 2) for _ in kernel]
    per_group = draw.pick(1, 2, 3, 8)
    inputs, outputs = groups * draw.pick(1, 1, 3, 4), groups * per_group
    sizes = [max(1, span - 2 * pad) + draw.size(0, 9) for span, pad in zip(spans, options["padding"])]
    arrays = [draw.normals(draw.size(1, 3), inputs, *sizes), draw.normals(outputs, inputs // groups, *kernel)]
    return _convolved(draw, f"conv{rank}d", arrays, outputs, {**options, "groups": groups})


def transposed_convolution(draw):
    rank, groups = draw.pick(1, 2, 2, 3), draw.pick(1, 1, 2)
    kernel, options, spans = _windows(draw, rank)
    options["padding"] = [draw.size(0, min(2, (span - 1) // 2)) for span in spans]
    options["output_padding"] = [draw.size(0, max(step, spread) - 1)
                                 for step, spread in zip(options["stride"], options["dilation"])]
    inputs, outputs = groups * draw.pick(1, 2, 3), groups * draw.pick(1, 2, 5)
    sizes = [draw.size(2, 6) for _ in kernel]
    arrays = [draw.normals(draw.size(1, 2), inputs, *sizes), draw.normals(inputs, outputs // groups, *kernel)]
    return _convolved(draw, f"conv_transpose{rank}d", arrays, outputs, {**options, "groups": groups})


def pooling(draw):
    rank, kind = draw.pick(1, 2, 2, 3), draw.pick("max", "avg")
    name = f"{kind}_pool{rank}d"
    kernel, options, spans = _windows(draw, rank)
    # Of windows that read nothing but padding, PyTorch's gradient is that of some element.
    options["padding"] = [draw.size(0, size // 2) if step == 1 else 0 for size, step in zip(kernel, options["dilation"])]
    options["ceil_mode"] = draw.chance(0.5)
    if kind == "avg":
        del options["dilation"]
        spans, options["count_include_pad"] = kernel, draw.chance(0.5)
    inside = kernel if name == "avg_pool3d" else [span - 2 * pad for span, pad in zip(spans, options["padding"])]
    sizes = [max(1, size) + draw.size(0, 9) for size in inside]
    x = draw.floats(draw.size(1, 2), draw.size(1, 3), *sizes)
    call = lambda module: lambda x: [getattr(module, name)(x, kernel, **options)]
    return Case(draw.dtype, [x], call(F), call(TF), f"{name} {kernel} {options}")


def take(draw):
    sizes = [draw.size() for _ in range(draw.size(1, 4))]
    axis = draw.size(0, len(sizes) - 1)
    where = draw.integers(-sizes[axis], sizes[axis], *[draw.size(0, 5) for _ in range(draw.size(0, 3))])

    def theirs(x, i):
        return [x.moveaxis(axis, 0)[i].movedim(tuple(range(i.ndim)), tuple(range(axis, axis + i.ndim)))]

    return Case(draw.dtype, [draw.normals(*sizes), where], lambda x, i: [anp.take(x, i, axis=axis)], theirs, f"{axis=}")


def take_along_axis(draw):
    sizes = [draw.size() for _ in range(draw.size(1, 4))]
    axis = draw.size(0, len(sizes) - 1)
    where = draw.integers(0, sizes[axis], *[draw.size() if i == axis else size for i, size in enumerate(sizes)])
    return Case(draw.dtype, [draw.normals(*sizes), where], lambda x, i: [anp.take_along_axis(x, i, axis=axis)],
                lambda x, i: [torch.take_along_dim(x, i, axis)], f"{axis=}")


def lookup(draw):
    """Indices of several axes, as in brackets."""
    sizes = [draw.size() for _ in range(draw.size(2, 4))]
    count, shape = draw.size(1, len(sizes)), [draw.size(0, 4) for _ in range(draw.size(1, 2))]
    where = [draw.integers(0, size, *shape) for size in sizes[:count]]
    return Case(draw.dtype, [draw.normals(*sizes), *where], lambda x, *i: [x[tuple(i)]], lambda x, *i: [x[tuple(i)]],
                f"of {count} axes")


def scatter(draw):
    """Updates of rows, of which several may be of one: sums, maxima and minima."""
    sizes = [draw.size() for _ in range(draw.size(1, 3))]
    axis, count = draw.size(0, len(sizes) - 1), draw.size(0, 12)
    kind = draw.pick("add", "max", "min")
    both = draw.floats(int(np.prod(sizes)) * (1 + count))
    updates = [count if i == axis else size for i, size in enumerate(sizes)]
    x, u = both[:int(np.prod(sizes))].reshape(sizes), both[both.size - int(np.prod(updates)):].reshape(updates)
    where = draw.integers(0, sizes[axis], count)
    key = (slice(None),) * axis

    def theirs(x, i, u):
        spread = i.reshape([-1 if a == axis else 1 for a in range(x.ndim)]).expand(u.shape)
        reduce = {"add": "sum", "max": "amax", "min": "amin"}[kind]
        return [x.scatter_reduce(axis, spread, u, reduce, include_self=True)]

    return Case(draw.dtype, [x, where, u], lambda x, i, u: [getattr(x.at[(*key, i)], kind)(u)], theirs, f"{kind} {axis=}")


def assignment(draw):
    """Each place is set once, since PyTorch leaves open which of several values stays."""
    sizes = [draw.size() for _ in range(draw.size(1, 3))]
    axis = draw.size(0, len(sizes) - 1)
    where = draw.rng.permutation(sizes[axis])[:draw.size(0, sizes[axis])]
    update = draw.normals(*[len(where) if i == axis else size for i, size in enumerate(sizes)])
    key = (slice(None),) * axis
    return Case(draw.dtype, [draw.normals(*sizes), where, update], lambda x, i, u: [x.at[(*key, i)].set(u)],
                lambda x, i, u: [x.index_copy(axis, i, u)], f"{axis=}")


def embedding(draw):
    rows = draw.size(1, 40)
    ids = draw.integers(0, rows, *[draw.size(0, 6) for _ in range(draw.size(0, 3))])
    padding = draw.size(0, rows - 1) if draw.chance(0.4) else None
    call = lambda module: lambda table, i: [module.embedding(i, table, padding_idx=padding)]
    return Case(draw.dtype, [draw.normals(rows, draw.size(1, 17)), ids], call(F), call(TF), f"{padding=}")


def _sorted_axis(draw):
    sizes = [draw.size() for _ in range(draw.size(1, 3))]
    axis = draw.size(0, len(sizes) - 1)
    sizes[axis] = draw.pick(1, 2, 7, 64, 100, 300)
    return draw.floats(*sizes), axis, draw.chance(0.5)


def sort(draw):
    x, axis, descending = _sorted_axis(draw)
    return Case(draw.dtype, [x], lambda x: [anp.sort(x, axis=axis, descending=descending)],
                lambda x: [torch.sort(x, dim=axis, descending=descending, stable=True).values], f"{axis=} {descending=}")


def argsort(draw):
    x, axis, descending = _sorted_axis(draw)
    x = np.round(x)  # several are equal
    return Case(draw.dtype, [x], lambda x: [anp.argsort(x, axis=axis, descending=descending)],
                lambda x: [torch.argsort(x, dim=axis, descending=descending, stable=True)], f"{axis=} {descending=}",
                frozenset([0]))


def top_k(draw):
    x, axis, largest = _sorted_axis(draw)
    k = draw.size(1, x.shape[axis])
    return Case(draw.dtype, [x], lambda x: [adjoint.ops.top_k(x, axis=axis, k=k, smallest=not largest)[0]],
                lambda x: [torch.topk(x, k, dim=axis, largest=largest).values], f"{axis=} {k=} {largest=}")


def rotary_embedding(draw):
    sizes = [draw.size(1, 3), draw.size(1, 9), 2 * draw.size(1, 9)]
    interleaved, base, start = draw.chance(0.5), draw.pick(10000.0, 500.0), draw.size(0, 50)

    def theirs(x, positions):
        half = x.shape[-1] // 2
        angles = positions[..., None].double() * base ** (-torch.arange(half).double() / half)
        a, b = (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
        parts = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
        return [torch.stack(parts, -1).flatten(-2) if interleaved else torch.cat(parts, -1)]

    return Case(draw.dtype, [draw.normals(*sizes), np.arange(start, start + sizes[1])],
                lambda x, p: [F.rotary_embedding(x, p, base, interleaved)], theirs, f"{interleaved=} {base=}")


def batch_norm(draw):
    """Of four elements or more: the gradient of two is a difference of nearly equal numbers."""
    channels, rest = draw.size(1, 5), [draw.size(1, 6) for _ in range(draw.size(0, 2))]
    arrays = [draw.normals(draw.size(4, 9), channels, *rest), draw.normals(channels), draw.normals(channels)]
    if draw.chance(0.4):
        arrays += [draw.normals(channels), draw.rng.uniform(0.5, 2, channels).astype(draw.dtype)]
        return Case(draw.dtype, arrays, lambda x, w, b, m, v: [F.batch_norm(x, m, v, w, b)],
                    lambda x, w, b, m, v: [TF.batch_norm(x, m, v, w, b)], "inference", frozenset([3, 4]))

    return Case(draw.dtype, arrays, lambda x, w, b: [adjoint.ops.batch_norm(x, w, b, axis=1, epsilon=1e-5)[0]],
                lambda x, w, b: [TF.batch_norm(x, None, None, w, b, training=True)], "training")


def group_norm(draw):
    groups = draw.size(1, 4)
    channels = groups * draw.size(1, 4)
    x = draw.normals(draw.size(1, 4), channels, draw.size(4, 9), *[draw.size(1, 5) for _ in range(draw.size(0, 1))])
    call = lambda module: lambda x, w, b: [module.group_norm(x, groups, w, b)]
    return Case(draw.dtype, [x, draw.normals(channels), draw.normals(channels)], call(F), call(TF), f"{groups=}")


def one_hot(draw):
    classes = draw.size(1, 12)
    labels = draw.integers(0, classes, *[draw.size(0, 6) for _ in range(draw.size(0, 3))])
    return Case(draw.dtype, [labels], lambda x: [F.one_hot(x, classes)], lambda x: [TF.one_hot(x, classes)], f"{classes=}")


def _scan(draw):
    sizes = [draw.size() for _ in range(draw.size(1, 3))]
    axis = draw.size(0, len(sizes) - 1)
    sizes[axis] = draw.pick(1, 2, 7, 33, 100)
    return sizes, axis


def cumulative_product(draw):
    sizes, axis = _scan(draw)
    x = 1 + 0.2 * draw.normals(*sizes)
    if draw.chance(0.3):
        x[draw.rng.random(sizes) < 0.1] = 0
    return Case(draw.dtype, [x.astype(draw.dtype)], lambda x: [adjoint.ops.cumprod(x, axis=axis)],
                lambda x: [torch.cumprod(x, axis)], f"{axis=}")


def cumulative_extremum(draw):
    sizes, axis = _scan(draw)
    kind = draw.pick("max", "min")
    return Case(draw.dtype, [draw.floats(*sizes)], lambda x: [getattr(adjoint.ops, f"cum{kind}")(x, axis=axis)],
                lambda x: [getattr(torch, f"cum{kind}")(x, axis).values], f"{kind} {axis=}")


def cumulative_sum(draw):
    sizes, axis = _scan(draw)
    return Case(draw.dtype, [draw.normals(*sizes)], lambda x: [adjoint.ops.cumsum(x, axis=axis)],
                lambda x: [torch.cumsum(x, axis)], f"{axis=}")


def logsumexp(draw):
    sizes = [draw.size() for _ in range(draw.size(1, 4))]
    axis = sorted({draw.size(0, len(sizes) - 1) for _ in range(2)})
    keep, x = draw.chance(0.5), 30 * draw.normals(*sizes)
    if draw.chance(0.3):
        x[draw.rng.random(sizes) < 0.2] = -np.inf
        x.reshape(-1)[0] = 1
    x = np.where(np.isneginf(x).all(axis=tuple(axis), keepdims=True), 0, x).astype(draw.dtype)
    return Case(draw.dtype, [x], lambda x: [F.logsumexp(x, tuple(axis), keep)],
                lambda x: [torch.logsumexp(x, axis, keep)], f"{axis=} {keep=}")


_DRAWN = [attention, convolution, transposed_convolution, pooling, take, take_along_axis, lookup, scatter, assignment,
          embedding, sort, argsort, top_k, rotary_embedding, batch_norm, group_norm, one_hot, cumulative_product,
          cumulative_extremum, cumulative_sum, logsumexp]
OPERATIONS = [one.__name__.replace("_", " ") for one in _DRAWN]


def draw(name, rng):
    return _DRAWN[OPERATIONS.index(name)](Draw(rng))
