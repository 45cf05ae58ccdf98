# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Numbers of Python in traced functions: they take the element types of the tensors that they meet, wherever they go."""

import pickle
import subprocess
import sys

import adjoint
import adjoint.numpy as anp
import numpy as np
import pytest
from adjoint import nn

X32, X64 = np.float32([1, 2, 3]), np.float64([1, 2, 3])


@pytest.mark.parametrize("x", [X32, X64])
@pytest.mark.parametrize("transform", [
    lambda f: adjoint.value_and_grad(f, 1),
    lambda f: lambda a, x: adjoint.vjp(lambda x: f(a, x), x)[0],
    lambda f: lambda a, x: adjoint.vjp(f, a, x)[0],
    lambda f: adjoint.jit(f),
    lambda f: lambda a, x: adjoint.cond(x[0] > 0, f, lambda a, x: x.sum() * 0, a, x),
    lambda f: lambda a, x: adjoint.fori_loop(0, 1, lambda i, v: f(v[0], x) * anp.ones(2), anp.asarray([a, a]))[0]
    if isinstance(a, float) else f(a, x),
], ids=["grad", "vjp-closure", "vjp", "jit", "cond", "loop"])
def test_numbers_stay_numbers_in_inner_functions(transform, x):
    made = adjoint.jit(transform(lambda a, x: (a * x).sum()))(0.1, x)
    value = made[0] if isinstance(made, tuple) else made
    assert value.dtype == x.dtype
    np.testing.assert_allclose(value, 0.6, rtol=1e-6 if x.dtype == np.float32 else 1e-15)


def test_numbers_in_trees_stay_numbers():
    def loss(rates, x):
        return adjoint.fori_loop(0, 3, lambda i, s: s * rates["a"], x).sum()

    gradient = adjoint.jit(lambda r, x: adjoint.grad(loss, 1)(r, x))({"a": 1.1}, X32)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, 1.1**3, rtol=1e-6)


# (what the loop begins with, a step, the values after three steps)
CARRIES = {
    "float by f64": (lambda: 0.0, lambda s, x: s + x.sum(), lambda x: 3 * x.sum()),
    "integer by floats": (lambda: 0, lambda s, x: s + x.sum(), lambda x: 3 * x.sum()),
    "integer by numbers": (lambda: 0, lambda s, x: s + 0.5, lambda x: np.float32(1.5)),
    "a tree": (lambda: (X64, 0.0), lambda s, x: (s[0] * 2, s[1] + s[0].sum()), lambda x: (X64 * 8, 7 * X64.sum())),
    "a chain": (lambda: (0, 0.0), lambda s, x: (s[0] + 1, s[1] * 1 + s[0] + x[0]), lambda x: (np.int32(3), 3 + 3 * x[0])),
    "a number that stays": (lambda: 1.5, lambda s, x: s * 1, lambda x: np.float32(1.5)),
    "integers": (lambda: 1, lambda s, x: s * 2, lambda x: np.int32(8)),
    "replaced by a number": (lambda: 2.0, lambda s, x: 1.0, lambda x: np.float32(1)),
    "replaced by a tensor": (lambda: 0.0, lambda s, x: x[1], lambda x: x[1]),
}


@pytest.mark.parametrize("x", [X32, X64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", CARRIES)
@pytest.mark.parametrize("loop", ["fori", "while", "scan"])
def test_carried_numbers_take_the_types_of_a_step(loop, name, x):
    begin, step, expected = CARRIES[name]

    def run(x):
        if loop == "fori":
            return adjoint.fori_loop(0, 3, lambda i, s: step(s, x), begin())
        if loop == "scan":
            return adjoint.scan(lambda s, _: (step(s, x), 0.0), begin(), length=3)[0]
        state = (0, begin())
        return adjoint.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, step(s[1], x)), state)[1]

    made = adjoint.jit(run)(x)
    for one, other in zip(adjoint.tree.leaves(made), adjoint.tree.leaves(expected(x)), strict=True):
        assert one.dtype == np.asarray(other).dtype, name
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_traced_number_is_carried_beside_tensors():
    made = adjoint.jit(lambda a, x: adjoint.fori_loop(0, 3, lambda i, s: (s[0], s[1] * s[0]), (a, x)))(1.1, X32)
    assert made[1].dtype == np.float32
    np.testing.assert_allclose(made[1], X32 * np.float32(1.1) ** 3, rtol=1e-6)


def test_probes_leave_nothing_in_the_program():
    def body(i, s):
        return s + adjoint.grad(lambda y: (y * y).sum())(X64).sum()

    text = adjoint.jit(lambda x: adjoint.fori_loop(0, 3, body, 0.0) + x).trace(X64).text
    assert text.count("func.func") == 2  # main and the function of the gradient


@pytest.mark.parametrize("branches, expected", [
    ((lambda x: 1.0, lambda x: x.sum()), 1.0),
    ((lambda x: x.sum(), lambda x: 1), 6.0),
    ((lambda x: (x, 2), lambda x: (0 * x, 2.5)), None),
    ((lambda x: 1, lambda x: 2.0), 1.0),
])
@pytest.mark.parametrize("x", [X32, X64])
def test_branches_give_numbers_beside_tensors(branches, expected, x):
    made = adjoint.jit(lambda x: adjoint.cond(x[0] > 0, *branches, x))(x)
    if expected is None:
        np.testing.assert_array_equal(made[0], x)
        assert made[1] == 2 and made[1].dtype == np.float32
    else:
        assert made == expected


def test_branches_of_other_types_are_refused():
    with pytest.raises(adjoint.TracingError, match="differ in type"):
        adjoint.jit(lambda x: adjoint.cond(x[0] > 0, lambda: 1.5, lambda: x.astype("i32")[0]))(X32)


@pytest.mark.parametrize("number", [np.sqrt(64), np.float64(8), np.pi * np.float64(8) / np.pi])
def test_float64_of_numpy_is_a_number(number):
    assert adjoint.jit(lambda x: x / number)(X32).dtype == np.float32
    assert adjoint.jit(lambda x: x / np.float32(number))(X64).dtype == np.float64
    assert adjoint.jit(lambda x: x / np.array([8.0]))(X32).dtype == np.float64  # an array has a type


def test_arrays_of_numpy_meet_functions_of_adjoint():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    for name, arguments in {
        "zeros_like": (), "ones_like": (), "reshape": ((3, 2),), "expand_dims": (0,), "transpose": (), "swapaxes": (0, 1),
        "moveaxis": (0, 1), "flip": (), "tile": ((2, 1),), "repeat": (2,), "tril": (), "triu": (), "diff": (),
        "permute_dims": ((1, 0),), "pad": (1,), "squeeze": ((),), "sum": (0,), "cumsum": (), "roll": (1,),
    }.items():
        if name == "cumsum":
            made = adjoint.jit(lambda: anp.cumsum(a, axis=1))()
            np.testing.assert_array_equal(made, np.cumsum(a, 1))
            continue
        made = adjoint.jit(lambda name=name, arguments=arguments: getattr(anp, name)(a, *arguments), static_argnums=(0, 1))()
        np.testing.assert_array_equal(made, getattr(np, name)(a, *arguments), err_msg=name)
    np.testing.assert_array_equal(adjoint.jit(lambda: anp.astype(a, "f64"))(), a)


def test_functions_of_numpy_are_those_of_adjoint():
    x = np.arange(6, dtype=np.float64).reshape(2, 3)
    for function in (np.sum, np.mean, np.max, lambda x: np.sum(x, axis=0), lambda x: np.concatenate([x, x]), np.transpose,
                     lambda x: np.where(x > 2, x, 0), lambda x: np.einsum("ij->ji", x), lambda x: np.dot(x, x.T),
                     lambda x: np.stack([x, x], axis=1), lambda x: np.swapaxes(x, 0, 1)):
        np.testing.assert_allclose(adjoint.jit(function)(x), function(x), rtol=1e-15)
    with pytest.raises(adjoint.TracingError, match="no adjoint.numpy.median"):
        adjoint.jit(np.median)(x)


def test_an_array_of_numpy_is_indexed_as_a_tensor():
    table = np.arange(4.0)
    with pytest.raises(adjoint.TracingError, match=r"adjoint.numpy.asarray\(x\)\[i\]"):
        adjoint.jit(lambda: adjoint.fori_loop(0, 4, lambda i, s: s + table[i], 0.0))()
    assert adjoint.jit(lambda: adjoint.fori_loop(0, 4, lambda i, s: s + anp.asarray(table)[i], 0.0))() == 6


def test_parameters_are_chosen_by_number():
    scaled = adjoint.jit(lambda x, name: x * {"two": 2}[name], static_argnums=1)
    np.testing.assert_array_equal(scaled(X32, "two"), X32 * 2)
    donated = adjoint.jit(lambda x, y: x + y, donate_argnums=(0,))
    x = X32.copy()
    assert donated(x, X32) is x
    with pytest.raises(adjoint.OptionError, match="has 1 parameters, and no number 3"):
        adjoint.jit(lambda x: x, static_argnums=3)


@pytest.mark.parametrize("find, message", [
    (lambda: anp.linalg, "matmul"), (lambda: anp.nothing, "array-api.md"), (lambda: anp.put, r"x.at\[key\].set"),
    (lambda: anp.index_select, "take"), (lambda: adjoint.nn.EmbeddingBag, "rows of nn.Embedding"),
    (lambda: adjoint.nn.Dropout, "takes a key"), (lambda: adjoint.nn.Nothing, "Linear"),
])
def test_missing_names_say_what_to_use(find, message):
    with pytest.raises(AttributeError, match=message):
        find()


def test_a_function_without_results_is_refused():
    with pytest.raises(adjoint.TracingError, match="return the results"):
        adjoint.jit(lambda x: None)(X32)
    got = []
    adjoint.jit(lambda x: adjoint.receive("x", x))(X32, receives={"x": got.append})
    np.testing.assert_array_equal(got, [X32])


def test_random_numbers_are_drawn_outside_of_functions():
    key, other = adjoint.random.split(adjoint.random.key(3))
    eager = adjoint.random.normal(key, (4,))
    np.testing.assert_array_equal(eager, adjoint.jit(lambda key: adjoint.random.normal(key, (4,)))(key))
    assert (adjoint.random.uniform(other, (100,), minval=2.0, maxval=3.0) >= 2).all()
    assert set(adjoint.random.randint(key, (200,), 1, 4)) == {1, 2, 3}
    traced = adjoint.jit(lambda key, low: adjoint.random.uniform(key, (5,), minval=low))(key, np.float32(0))
    np.testing.assert_array_equal(traced, adjoint.random.uniform(key, (5,)))


def test_models_and_optimizers_run_outside_of_functions():
    model, x = adjoint.nn.Linear(3, 2, key=1), np.float32([[1, 2, 3]])
    np.testing.assert_allclose(model(x), x @ model.weight.T + model.bias, rtol=1e-6)
    for optimizer in (adjoint.optim.SGD(0.5), adjoint.optim.Masters(adjoint.optim.Adam(0.1))):
        state = optimizer.init(model)
        made = optimizer.update(model, model, state)
        expected = adjoint.jit(lambda m, s: optimizer.update(m, m, s))(model, state)  # noqa: B023
        for one, other in zip(adjoint.tree.leaves(made), adjoint.tree.leaves(expected), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("state, found", [({}, "none"), (adjoint.optim.SGD().init(np.ones(3)), "step"), (3, "Tensor")])
def test_states_of_other_optimizers_are_refused(state, found):
    x = np.ones(3, np.float32)
    with pytest.raises(adjoint.OptionError, match=f"state of Adam with step, first, second.*got {found}"):
        adjoint.jit(lambda x, s: adjoint.optim.Adam().update(x, x, s))(x, state)


@pytest.mark.parametrize("use, message", [
    (lambda x: f"{x[0]:.2f}", "receive"), (lambda x: anp.zeros((-3,)), "not negative"),
    (lambda x: adjoint.random.normal((3,)), "expected a key"),
    (lambda x: adjoint.random.normal(adjoint.random.key(0), (-3,)), "expected a shape"),
])
def test_wrong_values_are_named(use, message):
    with pytest.raises(adjoint.TracingError, match=message):
        adjoint.jit(lambda x: use(x) and x)(X32)


def test_functions_of_elements_pickle():
    for name in ("subtract", "floor", "bitwise_xor", "exp", "take", "where"):
        function = getattr(anp, name)
        assert pickle.loads(pickle.dumps(function)) is function


WITHOUT_ML_DTYPES = """
import sys
sys.modules["ml_dtypes"] = None
import adjoint, adjoint.numpy as anp, numpy as np
x = np.float32([1, 2, -1])
print(adjoint.jit(lambda x: anp.where(x > 0, x.astype("bf16") * 2.5 + 1, -anp.inf).astype("f32"))(x))
print(adjoint.jit(lambda x: anp.clip(x.astype("f8E4M3FN"), min=-1, max=0.3).astype("f32"))(x))
"""


def test_numbers_beside_narrow_floats_need_no_package():
    done = subprocess.run([sys.executable, "-c", WITHOUT_ML_DTYPES], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[ 3.5  6.  -inf]", "[ 0.3125  0.3125 -1.    ]"], done.stderr


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_inverse_hyperbolic_functions_of_large_and_small_numbers(dtype):
    x = np.array([0, -0.0, 1e-3, -0.5, 300, -300, 1e4, 6e4, np.inf, -np.inf, np.nan], dtype)
    tolerance = 4 * np.finfo(dtype).eps
    made = adjoint.jit(anp.asinh)(x)
    np.testing.assert_allclose(made, np.arcsinh(x.astype(np.float64)), rtol=tolerance)
    assert np.signbit(made[1]) and not np.signbit(made[0])
    np.testing.assert_allclose(adjoint.jit(anp.acosh)(abs(x) + dtype(1)), np.arccosh((abs(x) + dtype(1)).astype("f8")),
                               rtol=tolerance, atol=0)
    x = np.array([0, 0.5, -3, 1e3, 2e4], dtype)
    gradient = adjoint.jit(adjoint.grad(lambda x: anp.asinh(x).sum()))(x)
    np.testing.assert_allclose(gradient, 1 / np.hypot(1, x.astype("f8")), rtol=1e-2 if dtype == np.float16 else 1e-5)
    if dtype != np.float16:
        assert adjoint.grad(anp.asinh)(dtype(-1e20)) == pytest.approx(1e-20)
        assert adjoint.grad(anp.acosh)(dtype(1e20)) == pytest.approx(1e-20)


@pytest.mark.parametrize("target", ["cpu", "reference", "gpu-sim"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_integers_by_zero(target, dtype):
    least = np.iinfo(dtype).min
    a = np.array([5, -5, 0, least], dtype)
    quotient, rest, ratio = adjoint.jit(lambda a, b: (a // b, a % b, a / b), target=target)(a, np.zeros(4, dtype))
    assert quotient.tolist() == [0, -1, 0, -1] and rest.tolist() == [5, -5, 0, least]
    assert ratio.dtype == np.float32 and repr(ratio.tolist()) == "[inf, -inf, nan, -inf]"


def test_finite_numbers_by_infinities():
    a = np.float32([-2.5, 2.5, 0.5, -0.5, 0, 7])
    for b in (np.inf, -np.inf, 2):
        np.testing.assert_array_equal(adjoint.jit(lambda a: a // np.float32(b))(a), a // np.float32(b))  # noqa: B023


@pytest.mark.parametrize("use, message", [
    (lambda: adjoint.random.key(1.5), "an integer as a seed"),
    (lambda: adjoint.random.fold_in(adjoint.random.key(1), 1.5), "an integer as data"),
    (lambda: adjoint.random.randint(adjoint.random.key(0), (3,), 5, 2), "minval below maxval"),
    (lambda: adjoint.random.randint(adjoint.random.key(0), (3,), 0, 2**40),
     "maxval from -2147483647 to 2147483648 for integers of i32, got 1099511627776"),
    (lambda: adjoint.random.randint(adjoint.random.key(0), (3,), 0, 1000, "i8"), "from -127 to 128 for integers of i8"),
    (lambda: adjoint.random.randint(adjoint.random.key(0), (3,), -129, 9, "i8"), "minval from -128 to 127 .* got -129"),
    (lambda: adjoint.random.uniform(adjoint.random.key(0), (3,), minval=3, maxval=1), "minval of at most maxval"),
    (lambda: adjoint.random.normal(adjoint.random.key(0), (2,), "i32"), "randint gives integers"),
    (lambda: adjoint.spec(3), "a shape as a text, such as 'b 512', or a tuple of sizes, got 3"),
    (lambda: adjoint.spec((2.5,)), r"numbers and names of sizes, got 2.5 in \(2.5,\)"),
    (lambda: adjoint.grad(lambda m, x: m(x).sum())(adjoint.nn.Sequential(adjoint.nn.ReLU()), X32),
     "nothing to differentiate by: expected tensors of floats in the arguments argnums=0"),
    (lambda: adjoint.optim.Adam(-1), "lr as a finite"), (lambda: adjoint.optim.SGD("a"), "lr as a finite"),
    (lambda: adjoint.Trainer(None, 1e-3), "expected an optimizer"),
    (lambda: adjoint.Trainer(None, adjoint.optim.Adam), "expected an optimizer"),
    (lambda: adjoint.Trainer(None, adjoint.optim.Adam(), steps_per_call=1.5), "an int of at least 1"),
    (lambda: adjoint.Trainer(None, adjoint.optim.Adam(), clip_norm=-1), "above 0"),
    (lambda: adjoint.Trainer(abs, adjoint.optim.Adam()).fit(X32, [X32], -1), "steps as an int"),
    (lambda: adjoint.Trainer(None, adjoint.optim.Adam()), "loss as a function"),
])
def test_wrong_arguments_are_refused(use, message):
    with pytest.raises(adjoint.Error, match=message):
        use()


def of_half(function):
    """The function of half of a size, beside a tensor."""
    return lambda x: function(x.shape[0] / 2, x)


OF_SIZES = {
    "size": lambda x: x.shape[0], "half": lambda x: x.shape[0] / 2, "power": lambda x: x.shape[0] ** 0.5,
    "root": lambda x: anp.sqrt(x.shape[0]) * x, "log": lambda x: anp.log10(x.shape[0]), "remainder": lambda x: x.shape[0] % 2,
    "largest": lambda x: anp.maximum(x.shape[0], 2), "pow": lambda x: anp.pow(2.0, x.shape[0]) * x,
    "array": of_half(lambda n, x: anp.asarray(n) * x), "list": of_half(lambda n, x: anp.asarray([n, 1.0])),
    "full": of_half(lambda n, x: anp.full((2,), n)), "stack": of_half(lambda n, x: anp.stack([anp.asarray(n), anp.asarray(n + 1)])),
    "expand": of_half(lambda n, x: anp.expand_dims(n, axis=0)), "sum": of_half(lambda n, x: anp.sum(n)),
    "where": of_half(lambda n, x: anp.where(n > 1, n, 3)), "where_tensor": of_half(lambda n, x: anp.where(x > 0, n, 0)),
    "abs": of_half(lambda n, x: anp.abs(n) * x), "sign": of_half(lambda n, x: anp.sign(n)), "sine": of_half(lambda n, x: anp.sin(n) * x),
    "clip": of_half(lambda n, x: anp.clip(n / 7, 0, 1) * x), "hypot": of_half(lambda n, x: anp.hypot(n, 2) * x),
    "floor": of_half(lambda n, x: n // 1), "softplus": of_half(lambda n, x: nn.functional.softplus(n) * x),
    "operation": of_half(lambda n, x: adjoint.ops.add(n, x)), "of_number": of_half(lambda n, x: adjoint.ops.exp(n)),
    "branch": of_half(lambda n, x: adjoint.cond(x[0] > 0, lambda: n, lambda: 2) * x),
    "branch_alone": of_half(lambda n, x: adjoint.cond(x[0] > 0, lambda: n, lambda: 1.0)),
    "loop": of_half(lambda n, x: adjoint.fori_loop(0, 3, lambda i, c: c + n, 0.0)),
    "call": of_half(lambda n, x: adjoint.jit(lambda a: a / 2)(n) * x),
    "slope": of_half(lambda n, x: adjoint.grad(lambda a, b: (a * b).sum(), 1)(n, x)),
}  # fmt: skip


# Operations take no floats beside integers, and integers have no slopes.
OF_FLOATS = ("slope", "operation")
CASES = [(name, one) for name in OF_SIZES for one in ("f16", "f32", "f64", "i32") if one != "i32" or name not in OF_FLOATS]


@pytest.mark.parametrize("name, element", CASES)
def test_numbers_of_sizes_are_the_same_for_static_and_dynamic_sizes(name, element):
    function, x = OF_SIZES[name], np.array([1, 2, 3]).astype(adjoint.spec("", element).dtype)
    known = adjoint.jit(function)(x)
    found = adjoint.jit(function, specs=(adjoint.spec("n", element),))(x)
    assert known.dtype == found.dtype
    np.testing.assert_array_equal(known, found)
    if not name.startswith(("where_tensor", "operation")) and known.ndim == 0:
        assert known.dtype in (np.float32, np.int32)
