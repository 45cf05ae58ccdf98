# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""nn.functional.scaled_dot_product_attention against its formula in NumPy, and against PyTorch where it is installed:
ranks, batches that repeat, shared heads, masks, open sizes, gradients."""

import numpy as np
import pytest

import adjoint
from adjoint import nn

attend = nn.functional.scaled_dot_product_attention


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def formula(q, k, v, mask=None, causal=False, scale=None, window=None, softcap=None):
    if q.ndim > 2 and q.shape[-3] != k.shape[-3] and k.shape[-3] > 1:  # shared heads
        k, v = (np.repeat(x, q.shape[-3] // k.shape[-3], axis=-3) for x in (k, v))
    scores = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    i, j = np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])
    counts = (j <= i if causal else True) & (np.abs(i - j) < window if window else True)
    if mask is not None:
        counts, scores = (counts & mask, scores) if mask.dtype == bool else (counts, scores + mask)
    weights = np.where(counts, np.exp(scores - scores.max(-1, keepdims=True)), 0)
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ v


SHAPES = [
    ((5, 4), (7, 4), (7, 3)),
    ((2, 5, 4), (2, 7, 4), (2, 7, 3)),
    ((3, 2, 5, 4), (3, 2, 7, 4), (3, 2, 7, 3)),
    ((3, 2, 5, 4), (1, 1, 7, 4), (2, 7, 3)),  # batches and heads that repeat
    ((2, 1, 3, 2, 5, 4), (2, 1, 3, 2, 7, 4), (2, 1, 3, 2, 7, 3)),
    ((5, 4), (0, 4), (0, 3)),
]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("options", [{}, {"is_causal": True, "scale": 0.3}, {"window": 2, "softcap": 1.5}])
def test_shapes(shapes, options):
    q, k, v = (draw(*shape) for shape in shapes)
    made = adjoint.jit(lambda q, k, v: attend(q, k, v, **options))(q, k, v)
    if k.size:
        words = {name.removeprefix("is_"): value for name, value in options.items()}
        np.testing.assert_allclose(made, formula(q, k, v, **words), atol=1e-12)
    else:
        assert made.shape == (5, 3) and not made.any()


@pytest.mark.parametrize("shape", [(5, 7), (1, 1, 5, 7), (3, 1, 1, 7), (2, 5, 7), (3, 2, 5, 1)])
@pytest.mark.parametrize("kind", [bool, float])
def test_masks(shape, kind):
    q, k, v = (draw(*each) for each in SHAPES[2])
    mask = draw(*shape, seed=1) > -0.5 if kind is bool else draw(*shape, seed=1)
    made = adjoint.jit(lambda q, k, v, mask: attend(q, k, v, mask))(q, k, v, mask)
    np.testing.assert_allclose(made, formula(q, k, v, mask), atol=1e-12)


def test_mask_of_flat_batches():
    q, k, v = (draw(2, 3, *shape) for shape in SHAPES[2])
    mask = draw(2, 1, 1, 1, 5, 7) > 0
    made = adjoint.jit(lambda *operands: attend(*operands))(q, k, v, mask)
    np.testing.assert_allclose(made, formula(q, k, v, mask), atol=1e-12)


def test_shared_heads():
    q, k, v = draw(2, 6, 5, 4), draw(2, 2, 7, 4), draw(2, 2, 7, 3)
    function = adjoint.jit(lambda q, k, v: attend(q, k, v, enable_gqa=True))
    np.testing.assert_allclose(function(q, k, v), formula(q, k, v), atol=1e-12)
    np.testing.assert_allclose(function(q[0], k[0], v[0]), formula(q[0], k[0], v[0]), atol=1e-12)


def test_open_sizes():
    specs = tuple(adjoint.spec(f"batch 2 {length} 4", "f64") for length in ("queries", "keys", "keys"))
    function = adjoint.jit(lambda q, k, v: attend(q, k, v, is_causal=True), specs=specs)
    for queries, keys in ((5, 7), (1, 1), (260, 3)):
        q, k, v = draw(3, 2, queries, 4), draw(3, 2, keys, 4), draw(3, 2, keys, 4)
        np.testing.assert_allclose(function(q, k, v), formula(q, k, v, causal=True), atol=1e-12)


def test_long_sequences_and_gradients():
    """More queries and keys than a block."""
    q, k, v = (draw(1, 2, 300, 4, seed=seed) for seed in range(3))
    loss = lambda q, k, v: (attend(q, k, v, is_causal=True, window=200) * v).sum()
    made = adjoint.jit(adjoint.grad(loss, argnums=(0, 1, 2)))(q, k, v)
    step = 1e-6
    for number, gradient in enumerate(made):
        direction = draw(1, 2, 300, 4, seed=7)
        moved = [[x + sign * step * direction if place == number else x for place, x in enumerate((q, k, v))]
                 for sign in (1, -1)]
        of_formula = lambda q, k, v: (formula(q, k, v, causal=True, window=200) * v).sum()
        difference = (of_formula(*moved[0]) - of_formula(*moved[1])) / (2 * step)
        np.testing.assert_allclose((gradient * direction).sum(), difference, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("chunk", [100, 3000])
def test_written_chunks_do_not_see_hidden_keys_at_the_end(chunk):
    """Nor other queries. A chunk of 3000 keys is summed in several blocks and lanes."""
    q, k, v = (draw(1, 2, length, 4).astype(np.float32) for length in (3, 5000, 5000))
    long = adjoint.jit(lambda *x: attend(*x, chunk=chunk), numerics="reproducible")
    specs = tuple(adjoint.spec(f"1 2 {length} 4") for length in ("queries", "keys", "keys"))
    short = adjoint.jit(lambda *x: attend(*x, chunk=chunk), numerics="reproducible", specs=specs)
    for keys in (1, 99, 513, 1537, 4100):
        made = short(q[:, :, :1], k[:, :, :keys], v[:, :, :keys])
        np.testing.assert_allclose(made, formula(q[:, :, :1], k[:, :, :keys], v[:, :, :keys]), atol=1e-5)
        expected = long(q, k, v, np.arange(5000) < keys)[:, :, :1]
        assert (made.view(np.int32) == expected.view(np.int32)).all()


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("kind", ["f64", "f32"])
def test_pytorch(kind, is_causal):
    torch = pytest.importorskip("torch")
    dtype, tolerance = (np.float64, 1e-10) if kind == "f64" else (np.float32, 1e-5)
    arrays = [draw(2, 3, length, 8, seed=seed).astype(dtype) for seed, length in enumerate((260, 270, 270, 260))]
    *inputs, cotangent = (torch.tensor(x, requires_grad=True) for x in arrays)
    expected = torch.nn.functional.scaled_dot_product_attention(*inputs, is_causal=is_causal)
    gradients = torch.autograd.grad(expected, inputs, cotangent.detach())

    @adjoint.jit
    def forward_and_back(q, k, v, g):
        result, pullback = adjoint.vjp(lambda *x: attend(*x, is_causal=is_causal), q, k, v)
        return result, pullback(g)

    made, back = forward_and_back(*arrays)
    for ours, theirs in zip([made, *back], [expected, *gradients]):
        scale = theirs.abs().max().item()
        np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=0, atol=tolerance * scale)


def test_messages():
    x = draw(2, 5, 4)
    with pytest.raises(adjoint.TracingError, match="expected query, key and value of rank 2 or more, got"):
        adjoint.jit(lambda x: attend(x[0, 0], x, x))(x)
    with pytest.raises(adjoint.Error, match="expected one number of elements of a query and a key, but got 4 in"):
        adjoint.jit(lambda x: attend(x, x[..., :3], x))(x)
    with pytest.raises(adjoint.Error, match="expected window as an int of at least 1, got 0"):
        adjoint.jit(lambda x: attend(x, x, x, window=0))(x)
    with pytest.raises(adjoint.Error, match="expected chunk as an int of at least 1, got 0"):
        adjoint.jit(lambda x: attend(x, x, x, chunk=0))(x)
    with pytest.raises(adjoint.OptionError, match="expected softcap as a number above 0, got 0"):
        adjoint.jit(lambda x: attend(x, x, x, softcap=0))(x)
    with pytest.raises(adjoint.TracingError, match="expected attn_mask with at most the rank of the query, got"):
        adjoint.jit(lambda x: attend(x, x, x, x[None, None]))(x)


def test_scales_that_are_arrays():
    x = draw(2, 5, 4).astype(np.float32)
    made = adjoint.jit(lambda x, scale: attend(x, x, x, scale=scale))(x, np.array(0.3))
    np.testing.assert_allclose(made, formula(x, x, x, scale=0.3), atol=1e-6)


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_sizes_that_differ(target):
    """Sizes that types leave open are compared when the program runs, each by itself: equal numbers of elements are not
    enough."""
    specs = tuple(adjoint.spec(f"b{i} 2 n{i} 4", "f64") for i in range(3)) + (adjoint.spec("c 2 i j", "f64"),)
    function = adjoint.jit(lambda q, k, v, mask: attend(q, k, v, mask), specs=specs, target=target)
    q, k, v, mask = draw(2, 2, 5, 4), draw(2, 2, 7, 4), draw(2, 2, 7, 4), draw(2, 2, 5, 7)
    np.testing.assert_allclose(function(q, k, v, mask), formula(q, k, v, mask), atol=1e-12)
    for operands, message in [
        ((q, draw(7, 2, 2, 4), v, mask), "operand 1 must have size 2 in dimension 0, .* but has 7"),
        ((q, k, draw(2, 2, 8, 4), mask), "operand 2 must have size 7 in dimension 2, .* but has 8"),
        ((q, k, v, draw(2, 2, 7, 5)), "operand 3 must have size 5 in dimension 2, .* but has 7"),
        ((q, k, v, draw(1, 2, 5, 7)), "operand 3 must have size 2 in dimension 0, .* but has 1"),
    ]:
        with pytest.raises(adjoint.ProgramError, match=f"'ad.attention' op {message}"):
            function(*operands)
