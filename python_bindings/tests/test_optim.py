# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Optimizers of adjoint.text.optim and the same updates in f64."""

import adjoint
import numpy as np
import pytest
from adjoint.text.optim import SGD, Adam, AdamW, Storage, call_arguments, update_call, update_function

STEPS = 5
RATE = 0.01
SHAPE = (3, 4)
OPTIMIZERS = [
    SGD(),
    SGD(weight_decay=0.1),
    SGD(momentum=0.9),
    SGD(momentum=0.9, dampening=0.25),
    SGD(momentum=0.9, nesterov=True, weight_decay=0.01),
    Adam(),
    Adam(beta1=0.0, beta2=0.5, epsilon=1e-3, weight_decay=0.1),
    AdamW(),
    AdamW(weight_decay=0.5, beta2=0.99),
]
SCALARS = {"step": "i64", "key": "i64", "factor": "f32", "finite": "i1"}


def program(optimizer, storage, *, guarded=False, gradient=None, shape=SHAPE):
    """Applies an update to each gradient of a feed. Scalars of the update are feeds, but for the rate."""
    sizes = "".join(f"{size}x" for size in shape)
    kinds = [f"tensor<{sizes}{storage.element}>", *[f"tensor<{sizes}f32>" for _ in optimizer.states]]
    scalars = call_arguments(optimizer, storage, guarded)
    read = gradient or storage.read
    values = ["%p", "%g", *[f"%{state}" for state in optimizer.states], *[f"%{scalar}" for scalar in scalars]]
    names = ["%new", *[f"%new_{state}" for state in optimizer.states], *(["%copy"] if storage.copy else [])]
    options = {"storage": storage, "guarded": guarded, "gradient": gradient}
    fed = "".join(f'    %{s} = ad.feed "{s}" : tensor<{SCALARS[s]}>\n' for s in scalars if s != "rate")
    carried = ", ".join([f"%p = %w, {', '.join(f'%{s} = %zero' for s in optimizer.states)}".rstrip(", ")])
    copy = f'    ad.receive "copy"(%copy) : tensor<{sizes}{storage.copy}>\n' if storage.copy else ""
    return f"""
{update_function("update", optimizer, shape, **options)}
func.func @main(%w: {kinds[0]} {{ad.name = "w"}}) -> ({kinds[0]} {{ad.name = "w"}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {STEPS} : index
  %zero = ad.constant dense<0.0> : tensor<{sizes}f32>
  %rate = ad.constant dense<{RATE}> : tensor<f32>
  %r:{len(kinds)} = scf.for %i = %c0 to %steps step %c1 iter_args({carried}) -> ({", ".join(kinds)}) {{
    %g = ad.feed "g" : tensor<{sizes}{read}>
{fed}    {update_call("update", optimizer, shape, values, names, **options)}
{copy}    scf.yield {", ".join(names[: len(kinds)])} : {", ".join(kinds)}
  }}
  return %r#0 : {kinds[0]}
}}
"""


def expected_sgd(o, p, gradients):
    velocity = None
    for g in gradients:
        g = g + o.weight_decay * p
        if o.momentum:
            velocity = g if velocity is None else o.momentum * velocity + (1 - o.dampening) * g
            g = g + o.momentum * velocity if o.nesterov else velocity
        p = p - RATE * g
    return p


def expected_adam(o, p, gradients):
    m = v = np.zeros_like(p)
    for step, g in enumerate(gradients, 1):
        if isinstance(o, AdamW):
            p = p * (1 - RATE * o.weight_decay)
        else:
            g = g + o.weight_decay * p
        m, v = o.beta1 * m + (1 - o.beta1) * g, o.beta2 * v + (1 - o.beta2) * g * g
        p = p - RATE * (m / (1 - o.beta1**step)) / (np.sqrt(v / (1 - o.beta2**step)) + o.epsilon)
    return p


def expected(optimizer, p, gradients):
    update = expected_sgd if isinstance(optimizer, SGD) else expected_adam
    return update(optimizer, p.astype(np.float64), [g.astype(np.float64) for g in gradients])


def tensors(shape=SHAPE):
    random = np.random.default_rng(0)
    return (random.normal(size=shape).astype(np.float32), random.normal(size=(STEPS, *shape)).astype(np.float32))


def feeds_of(optimizer, gradients, **scalars):
    feeds = {"g": gradients, **scalars}
    if optimizer.needs_step and "step" not in feeds:
        feeds["step"] = np.arange(1, STEPS + 1)
    return feeds


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=repr)
def test_updates_are_those_in_f64(optimizer, target):
    w, gradients = tensors()
    run = adjoint.compile(program(optimizer, Storage()), target=target)
    found = run(w, feeds=feeds_of(optimizer, gradients))
    np.testing.assert_allclose(found, expected(optimizer, w, gradients), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("shape", [(), (1,), (7,), (2, 3, 5)], ids=str)
@pytest.mark.parametrize("optimizer", [SGD(momentum=0.9), AdamW()], ids=repr)
def test_updates_of_any_rank(optimizer, shape):
    w, gradients = tensors(shape)
    run = adjoint.compile(program(optimizer, Storage(), shape=shape))
    found = run(w, feeds=feeds_of(optimizer, gradients))
    np.testing.assert_allclose(found, expected(optimizer, w, gradients), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=repr)
def test_a_step_that_is_not_finite_changes_nothing(optimizer, target):
    w, gradients = tensors()
    finite = np.array([True, True, False, True, False])
    numbers = np.maximum(np.cumsum(finite), 1) if finite[0] else None
    scaled = np.where(finite[:, None, None], gradients * 1024, np.float32(np.nan))
    run = adjoint.compile(program(optimizer, Storage(), guarded=True), target=target)
    feeds = feeds_of(optimizer, scaled, factor=np.full(STEPS, 1 / 1024, np.float32), finite=finite)
    if optimizer.needs_step:
        feeds["step"] = numbers
    found = run(w, feeds=feeds)
    np.testing.assert_allclose(found, expected(optimizer, w, gradients[finite]), rtol=2e-6, atol=2e-7)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("optimizer", [SGD(momentum=0.9), AdamW()], ids=repr)
def test_the_copy_is_the_rounded_master(optimizer, guarded, target):
    w, gradients = tensors()
    run = adjoint.compile(program(optimizer, Storage(copy="f16"), guarded=guarded), target=target)
    copies = []
    feeds = feeds_of(optimizer, gradients.astype(np.float16))
    if guarded:
        feeds |= {"factor": np.ones(STEPS, np.float32), "finite": np.ones(STEPS, bool)}
    found = run(w, feeds=feeds, receives={"copy": lambda value: copies.append(np.array(value))})
    assert len(copies) == STEPS
    np.testing.assert_array_equal(copies[-1], found.astype(np.float16))
    np.testing.assert_allclose(
        found, expected(optimizer, w, gradients.astype(np.float16)), rtol=2e-6, atol=2e-7
    )


def test_stochastic_rounding_keeps_small_changes_on_average(target):
    """Each change is 1/10 of an ulp of 1, which rounding to nearest loses."""
    shape, ulp = (64, 64), 2.0**-7
    storage = Storage(stochastic="bf16")
    run = adjoint.compile(program(SGD(), storage, gradient="f32", shape=shape), target=target)
    start = np.full(shape, 0x3F80, np.uint16).view(run.signature.results[0].dtype)
    gradients = np.full((STEPS, *shape), -ulp / 10 / RATE, np.float32)
    found = run(start, feeds={"g": gradients, "key": np.arange(STEPS)})
    values = (np.asarray(found).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    assert set(np.unique((values - 1) / ulp)) <= set(range(STEPS + 1))
    deviation = ulp * np.sqrt(0.1 * 0.9 * STEPS / values.size)
    assert abs(values.mean() - (1 + STEPS * ulp / 10)) < 5 * deviation
    again = run(start, feeds={"g": gradients, "key": np.arange(STEPS)})
    np.testing.assert_array_equal(np.asarray(again).view(np.uint16), np.asarray(found).view(np.uint16))


def test_an_update_is_one_kernel(tmp_path, run_script):
    """The masters, both moments and the copy are written by one kernel, with the select of skipped steps in it."""
    text = program(AdamW(), Storage(copy="bf16"), guarded=True)
    (tmp_path / "update.mlir").write_text(text)
    done = run_script(f"""
        import shutil, subprocess, sys
        tool = shutil.which("ad-opt")
        if not tool: print("skip"); sys.exit()
        print(subprocess.run([tool, {str(tmp_path / "update.mlir")!r}, "--ad-to-cpu-frontend", "--ad-to-cpu-fusion"],
                             capture_output=True, text=True, check=True).stdout)
    """)
    if done.stdout.strip() == "skip":
        pytest.skip("ad-opt is not on the path")
    assert done.returncode == 0, done.stderr
    kernels = [line for line in done.stdout.splitlines() if "ad.fusion" in line and "x4x" in line]
    assert len(kernels) == 1, done.stdout


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: SGD(momentum=1.5), "momentum in"),
        (lambda: SGD(momentum=0.5, dampening=float("nan")), "dampening as a finite number"),
        (lambda: SGD(nesterov=True), "nesterov needs"),
        (lambda: SGD(momentum=0.9, dampening=0.1, nesterov=True), "nesterov needs"),
        (lambda: SGD(weight_decay=-1), "weight_decay as a finite number of at least 0"),
        (lambda: Adam(beta1=1.0), "beta1 in"),
        (lambda: Adam(beta2=-0.1), "beta2 in"),
        (lambda: AdamW(epsilon=float("nan")), "eps as a finite number"),
        (lambda: Storage(copy="f8E4M3FN"), "expected bf16 or f16"),
        (lambda: Storage(copy="bf16", stochastic="bf16"), "has no copy"),
        (lambda: update_function("f", SGD(), (-1,)), "expected sizes"),
        (lambda: update_function("f", SGD(), ("?",), storage=Storage(stochastic="bf16")), "needs static sizes"),
        (lambda: update_call("f", SGD(), (2,), ["%p"], ["%q"]), "expected 3 values"),
        (lambda: update_call("f", SGD(), (2,), ["%p", "%g", "%rate"], []), "expected names of 1 results"),
    ],
)
def test_wrong_descriptions_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
