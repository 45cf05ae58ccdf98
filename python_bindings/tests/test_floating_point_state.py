# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The floating-point state of the host: each function gives the bits of a process with the usual state, whatever the
state is at entry or a callback leaves, and the host finds its own state again."""

import ctypes
import platform
import threading

import adjoint
import adjoint.diff
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the states are those of x86-64")

# MXCSR and the control word of the x87. 0x8000: results are flushed to zero; 0x0040: so are operands; 0x6000: rounding.
STATES = {
    "flush-to-zero": (0x9F80, 0x037F),
    "denormals-are-zero": (0x1FC0, 0x037F),
    "both": (0x9FC0, 0x037F),
    "down": (0x3F80, 0x037F),
    "up": (0x5F80, 0x037F),
    "toward zero": (0x7F80, 0x037F),
    "x87 of 24 bits": (0x1F80, 0x007F),
    "x87 up": (0x1F80, 0x0B7F),
    "all": (0xFFC0, 0x0C7F),
    "x87 with traps": (0x1F80, 0x0340),
}
USUAL = (0x1F80, 0x037F)
CONTROL = 0xFFC0  # of MXCSR, without the flags of exceptions

_LIBM = ctypes.CDLL("libm.so.6")
_BYTES = 32  # fenv_t: the x87 environment, which begins with the control word, and MXCSR at 28


def get_state():
    buffer = ctypes.create_string_buffer(_BYTES)
    _LIBM.fegetenv(buffer)
    return int.from_bytes(buffer.raw[28:32], "little") & CONTROL, int.from_bytes(buffer.raw[:2], "little")


def set_state(state):
    buffer = ctypes.create_string_buffer(_BYTES)
    _LIBM.fegetenv(buffer)
    raw = bytearray(buffer.raw)
    raw[28:32] = state[0].to_bytes(4, "little")
    raw[:2] = state[1].to_bytes(2, "little")
    _LIBM.fesetenv(ctypes.create_string_buffer(bytes(raw), _BYTES))


@pytest.fixture(params=STATES, autouse=True)
def state(request):
    yield STATES[request.param]
    set_state(USUAL)


FOLDS = """
func.func @main() -> (tensor<4xf32> {ad.name = "y"}, tensor<2xf32> {ad.name = "z"}, tensor<2xf64> {ad.name = "w"}) {
  %c = ad.constant dense<[0.1, 0.7, 1.3, 2.9]> : tensor<4xf32>
  %d = ad.constant dense<[3.3, 1.7, 0.3, 9.9]> : tensor<4xf32>
  %q = ad.div %c, %d : tensor<4xf32>
  %y = ad.tanh %q : tensor<4xf32>
  %s = ad.constant dense<[1.0e-38, 2.0e-38]> : tensor<2xf32>
  %h = ad.constant dense<[0.25, 0.125]> : tensor<2xf32>
  %z = ad.mul %s, %h : tensor<2xf32>
  %v = ad.constant dense<[1.0e-308, 0.7]> : tensor<2xf64>
  %r = ad.constant dense<[3.0e-2, 0.3]> : tensor<2xf64>
  %w = ad.div %v, %r : tensor<2xf64>
  return %y, %z, %w : tensor<4xf32>, tensor<2xf32>, tensor<2xf64>
}
"""
FED = """
func.func @main(%x: tensor<2001xf32> {ad.name = "x"}) -> (tensor<2001xf32> {ad.name = "y"}, tensor<f32> {ad.name = "s"}) {
  %f = ad.feed "f" : tensor<2001xf32>
  %p = ad.mul %x, %f : tensor<2001xf32>
  ad.receive "r"(%p) : tensor<2001xf32>
  %e = ad.exp %f : tensor<2001xf32>
  %q = ad.mul %e, %p : tensor<2001xf32>
  %y = ad.add %q, %p : tensor<2001xf32>
  %s = ad.reduce_sum %y axes [0] : tensor<2001xf32> -> tensor<f32>
  return %y, %s : tensor<2001xf32>, tensor<f32>
}
"""
SCALAR = """
func.func @main(%x: tensor<f32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "y"}) {
  %y = ad.add %x, %x : tensor<f32>
  return %y : tensor<f32>
}
"""
TINY = (np.arange(1, 2002, dtype=np.float64) * 1.3e-41).astype(np.float32)
FACTORS = (np.arange(2001, dtype=np.float64) / 701).astype(np.float32)


def bits(values):
    return [np.asarray(value).tobytes() for value in values]


def run_fed(program, feed=lambda shape: FACTORS, receive=lambda value: None):
    return bits(program(TINY, feeds={"f": feed}, receives={"r": receive}))


def same_in(state, action):
    """The action in the usual state and in this one; the host keeps this one."""
    usual = action()
    set_state(state)
    got, left = action(), get_state()
    set_state(USUAL)
    assert got == usual
    assert left == (state[0] & CONTROL, state[1])


def test_programs_are_compiled(state, target):
    set_state(state)
    compiled = adjoint.compile(FOLDS, target=target, cache="off")
    set_state(USUAL)
    assert bits(compiled()) == bits(adjoint.compile(FOLDS, target=target, cache="off")())


def test_the_cache_keeps_no_other_bits(state, tmp_path):
    set_state(state)
    adjoint.compile(FOLDS, cache=str(tmp_path / "a"))
    set_state(USUAL)
    cached = adjoint.compile(FOLDS, cache=str(tmp_path / "a"))
    assert cached.cache_use == "hit"
    assert bits(cached()) == bits(adjoint.compile(FOLDS, cache="off")())


@pytest.mark.parametrize("numerics", ["strict", "reproducible"])
def test_calls(state, target, numerics):
    program = adjoint.compile(FED, target=target, numerics=numerics, threads=2)
    same_in(state, lambda: run_fed(program))


@pytest.mark.parametrize("which", ["feed", "receive"])
def test_callbacks_leave_a_state(state, target, which):
    program = adjoint.compile(FED, target=target)
    usual = run_fed(program)

    def leave(*_):
        set_state(state)
        return FACTORS

    got, left = run_fed(program, **{which: leave}), get_state()
    set_state(USUAL)
    assert got == usual
    assert left == (state[0] & CONTROL, state[1])  # it is the host's


def test_callbacks_run_in_the_state_of_the_host(state, target):
    program, seen = adjoint.compile(FED, target=target), []
    set_state(state)
    run_fed(program, lambda shape: (seen.append(get_state()), FACTORS)[1], lambda value: seen.append(get_state()))
    set_state(USUAL)
    assert seen == [(state[0] & CONTROL, state[1])] * 2


def test_calls_inside_of_callbacks(state):
    program, inner = adjoint.compile(FED), adjoint.compile(FED, target="reference")
    usual, got = run_fed(program), []

    def feed(_):
        got.append(run_fed(inner))
        set_state(state)
        got.append(run_fed(inner))
        return FACTORS

    got.append(run_fed(program, feed))
    set_state(USUAL)
    assert got == [usual] * 3


def test_threads_of_the_host(state, target):
    program, results = adjoint.compile(FED, target=target, threads=2), []

    def work():
        set_state(state)
        results.append(run_fed(program))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [run_fed(program)] * 2


def test_numbers_of_python(state):
    program = adjoint.compile(SCALAR)
    same_in(state, lambda: bits([program(number) for number in (1e-40, 0.1, 1 / 3, 16777217.0)]))


def test_comparisons(state):
    left, right = TINY, np.nextafter(TINY, np.float32(1))
    doubles = np.array([0.1, 1 / 3, 5e-324, 2.5e-308])
    integers = np.array([2**63 - 1, 2**62 + 1])
    same_in(state, lambda: [
        adjoint.diff.fingerprint(left),
        str(adjoint.diff.max_diff(left, right)),
        str(adjoint.diff.max_diff(doubles, doubles * 2, hist=True)),
        str(adjoint.diff.max_diff(integers, integers - 1)),
        adjoint.diff.string_type([left, doubles], with_min_max=True),
    ])


@pytest.mark.parametrize("examination", ["nan", "shadow", "precision"])
def test_examinations(state, examination):
    program = adjoint.compile(FED)
    options = {"shadow": {}, "nan": {}, "precision": {"policy": "bf16", "bound": {"l2": 1e-2}}}[examination]
    function = getattr(adjoint.diff, examination)
    same_in(state, lambda: function(program, TINY, feeds={"f": lambda shape: FACTORS}, **options).text)


@pytest.mark.long
def test_traces(state, tmp_path):
    program = adjoint.compile(FED)
    counts = iter(range(2))

    def traced():
        folder = tmp_path / str(next(counts))
        adjoint.diff.trace(program, folder, TINY, feeds={"f": lambda shape: FACTORS})
        replayed = adjoint.diff.replay(str(folder), target="reference")
        return [(folder / "records.tsv").read_text(), bits(replayed.results)]

    same_in(state, traced)
