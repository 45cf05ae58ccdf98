# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Tokens that nn.LlamaDecoderLayer reads with a cache have the bits that they have among all tokens, whatever the
capacity of the cache and the parts in which they are read; the cache is updated in place."""

import re

import ml_dtypes
import numpy as np
import pytest

import adjoint
from adjoint import nn

SIZE, CHUNK = 16, 256  # keys that attention sums at once


def layer_of(element, key_heads=2):
    return nn.LlamaDecoderLayer(SIZE, 24, 4, key_heads, key=1).astype(element)


def tokens(seed, length, element):
    x = np.random.default_rng(seed).standard_normal((1, length, SIZE))
    return x.astype({"f32": np.float32, "bf16": ml_dtypes.bfloat16}[element])


def bits(x):
    x = np.asarray(x)
    return x.view({2: np.int16, 4: np.int32}[x.itemsize])


def programs(element, target="cpu"):
    """The layer on all tokens, on one more, and on any number more."""
    options = {"target": target, "numerics": "reproducible"}
    extend = lambda layer, x, cache, position: layer.extend(x, cache, position)
    donating = {"donate_argnames": "cache", **options}
    specs = (None, adjoint.spec(f"1 length {SIZE}", element), None, None)
    return (adjoint.jit(lambda layer, x: layer(x), **options), adjoint.jit(extend, **donating),
            adjoint.jit(extend, specs=specs, **donating))


def read(layer, x, parts, capacity, one, many):
    """What the layer gives for all tokens, read in parts."""
    cache, made, position = layer.make_cache(1, capacity), [], 0
    for part in parts:
        given = x[:, position:position + part]
        result, cache = (one if part == 1 else many)(layer, given, cache, np.int32(position))
        made.append(np.asarray(result))
        position += part
    assert position == x.shape[1]
    return np.concatenate(made, axis=1)


def parts_of(random, length):
    parts = []
    while length:
        parts.append(int(min(length, random.choice([1, 1, random.integers(1, length + 1)]))))
        length -= parts[-1]
    return parts


@pytest.mark.parametrize("element, capacity, lengths", [
    ("f32", 1, [1]), ("f32", 40, [1, 7, 40]), ("bf16", 40, [3, 40]),
    # Around the chunks of keys.
    ("bf16", 300, [CHUNK + 1, 300]), ("f32", 601, [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 1, 601]),
])
def test_bits(element, capacity, lengths):
    layer, random = layer_of(element), np.random.default_rng(capacity)
    whole, one, many = programs(element)
    x = tokens(capacity, capacity, element)
    expected = bits(whole(layer, x))
    for length in lengths:
        for parts in ([length], [max(length - 3, 1)] + [1] * min(3, length - 1), parts_of(random, length)):
            made = bits(read(layer, x[:, :length], parts, capacity, one, many))
            assert (made == expected[:, :length]).all(), f"{length} tokens in {parts}"


@pytest.mark.parametrize("target", ["reference", "gpu-sim"])
def test_bits_on_targets(target):
    layer, x = layer_of("f32"), tokens(0, 5, "f32")
    expected = bits(programs("f32")[0](layer, x))
    whole, one, many = programs("f32", target)
    assert (bits(whole(layer, x)) == expected).all()
    assert (bits(read(layer, x, [3, 1, 1], 6, one, many)) == expected).all()


def test_the_rest_of_the_cache_does_not_count():
    """A cache that was used for another text, and what is NaN in it."""
    layer, x = layer_of("f32"), tokens(0, 20, "f32")
    whole, one, many = programs("f32")
    used = tuple(np.full_like(part, np.nan) for part in layer.make_cache(1, 40))
    made, cache = many(layer, x[:, :19], used, np.int32(0))
    last, _ = one(layer, x[:, 19:], cache, np.int32(19))
    assert (bits(np.concatenate([made, last], axis=1)) == bits(whole(layer, x))).all()


def test_batches_and_known_positions():
    layer, x = layer_of("f32", 4), np.concatenate([tokens(seed, 9, "f32") for seed in range(3)])
    whole = adjoint.jit(lambda layer, x: layer(x), numerics="reproducible")(layer, x)

    @adjoint.jit(numerics="reproducible")
    def twice(layer, x, cache):
        first, cache = layer.extend(x[:, :4], cache, 0)
        second, cache = layer.extend(x[:, 4:], cache, 4)
        return first, second

    first, second = twice(layer, x, layer.make_cache(3, 10))
    assert (bits(np.concatenate([first, second], axis=1)) == bits(whole)).all()


def test_outside_of_traced_functions():
    layer, x = layer_of("f32"), tokens(0, 3, "f32")
    first, cache = layer.extend(x[:, :2], layer.make_cache(1, 4), 0)
    last, _ = layer.extend(x[:, 2:], cache, 2)
    np.testing.assert_array_equal(np.concatenate([first, last], axis=1), layer(x))


def test_the_cache_is_updated_in_place():
    layer, x = layer_of("f32"), tokens(0, 1, "f32")
    _, one, _ = programs("f32")
    cache = layer.make_cache(1, 40)
    _, after = one(layer, x, cache, np.int32(3))
    assert after[0] is cache[0] and after[1] is cache[1]
    filled = np.abs(after[0]).sum((0, 1, 3))
    assert filled[3] > 0 and np.count_nonzero(filled) == 1
    # All launches that give a whole cache write into the memory of the argument that they read.
    kernels = one.trace(layer, x, cache, np.int32(3)).lowered("kernels")
    updates = [line for line in kernels.splitlines() if re.search(r"ad\.launch .* -> tensor<1x2x40x4xf32>$", line)]
    assert len(updates) == 2
    assert all(re.search(r"into\(%argument\d+\) {tied = array<i64: 0>}", line) for line in updates)


def test_messages():
    layer, x = layer_of("f32"), tokens(0, 3, "f32")
    _, _, many = programs("f32")
    for position in (-1, 38):  # three tokens
        with pytest.raises(adjoint.ProgramError, match="is outside of size 40"):
            many(layer, x, layer.make_cache(1, 40), np.int32(position))
    with pytest.raises(adjoint.OptionError, match="expected capacity as an int of at least 1, got 0"):
        layer.make_cache(1, 0)
    with pytest.raises(adjoint.OptionTypeError, match="expected batch_size as an int of at least 1, got '1'"):
        layer.make_cache("1", 5)
    for other in (layer.make_cache(2, 5), layer_of("f32", 4).make_cache(1, 5)):
        with pytest.raises(adjoint.TracingError, match="expected a cache of make_cache for a batch of 1 and 2 heads, got"):
            many(layer, x, other, np.int32(0))
