# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Feeds and receivers: Python functions that a running program calls."""

import adjoint
import ml_dtypes
import numpy as np
import programs
import pytest

VALUES = np.arange(6, dtype=np.float32).reshape(3, 2)


def test_feeds_stream(target):
    program = adjoint.compile(programs.SUM, target=target)
    backwards = VALUES[:, ::-1].copy()[:, ::-1]
    for source in (VALUES, list(VALUES), iter(VALUES), (row for row in VALUES), backwards, VALUES.astype(">f4")):
        np.testing.assert_array_equal(program(3, feeds={"x": source}), [6, 9])


def test_functions_feed_what_is_asked_for(target):
    source = """
    func.func @main(%n: tensor<i64>) -> (tensor<?x3xi32>, tensor<bf16>) {
      %times = tensor.extract %n[] : tensor<i64>
      %size = arith.index_cast %times : i64 to index
      %x = ad.feed "x"(%size) : tensor<?x3xi32>
      %y = ad.feed "y" : tensor<bf16>
      return %x, %y : tensor<?x3xi32>, tensor<bf16>
    }"""
    shapes = []

    def feed(shape):
        shapes.append(shape)
        return np.full(shape, 7, np.int32)

    feeds = {"x": feed, "y": lambda shape: ml_dtypes.bfloat16(1.5)}
    x, y = adjoint.compile(source, target=target)(4, feeds=feeds)
    assert shapes == [(4, 3)] and (x == 7).all() and x.shape == (4, 3) and y == 1.5


def test_a_feed_that_is_used_up(target):
    program = adjoint.compile(programs.SUM, target=target, name="sum.mlir")
    with pytest.raises(adjoint.ProgramError, match="feed 'x': used up after 3 values") as caught:
        program(4, feeds={"x": VALUES})
    assert caught.value.location == "sum.mlir:9:10" and caught.value.operation == "ad.feed"
    with pytest.raises(adjoint.ProgramError, match="used up after 0 values"):
        program(1, feeds={"x": []})
    # An iterator continues where the previous call stopped.
    values = iter(VALUES)
    np.testing.assert_array_equal(program(1, feeds={"x": values}), [0, 1])
    np.testing.assert_array_equal(program(2, feeds={"x": values}), [6, 8])


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        (None, r"feed 'x' of type tensor<2xf32> has no source"),
        ({}, r"feed 'x' of type tensor<2xf32> has no source"),
        ({"x": VALUES, "z": VALUES}, "no feed 'z', its feeds are x"),
        ([VALUES], "expected feeds by name in a dict, got list"),
        ({"x": 5}, "feed 'x': expected a function, an iterable or an array, got int"),
    ],
)
def test_feeds_are_checked_before_the_run(feeds, message):
    with pytest.raises(adjoint.ArgumentTypeError, match=message):
        adjoint.compile(programs.SUM)(1, feeds=feeds)


def test_values_of_feeds_are_checked(target):
    program = adjoint.compile(programs.SUM, target=target, name="sum.mlir")
    with pytest.raises(
        adjoint.ArgumentShapeError, match=r"feed 'x': expected tensor<2xf32>, got .* shape \(3,\)"
    ) as caught:
        program(1, feeds={"x": [np.zeros(3, np.float32)]})
    with pytest.raises(
        adjoint.ArgumentTypeError,
        match=r"feed 'x': expected tensor<2xf32>, got an array of float64 .*; convert it with .astype\(numpy.float32\)",
    ):
        program(1, feeds={"x": np.zeros((1, 2))})
    if hasattr(caught.value, "__notes__"):
        assert caught.value.__notes__ == ["in ad.feed at sum.mlir:9:10"]


def test_receivers_get_arrays_of_their_own(target):
    received = []
    end = adjoint.compile(programs.COUNT, target=target)(5, receives={"count": received.append})
    assert end == 5 and received == [1, 2, 3, 4, 5]
    assert all(type(value) is np.ndarray and value.dtype == np.float32 for value in received)
    # A call needs no receivers.
    assert adjoint.compile(programs.COUNT, target=target)(5) == 5


def test_several_values_are_received_together(target):
    source = """
    func.func @main(%x: tensor<2xbf16>, %y: tensor<?xi8>) {
      ad.receive "pair"(%x, %y) : tensor<2xbf16>, tensor<?xi8>
      return
    }"""
    program = adjoint.compile(source, target=target)
    assert [spec.name for spec in program.signature.receives["pair"]] == ["pair.0", "pair.1"]
    received = []
    x, y = np.ones(2, ml_dtypes.bfloat16), np.arange(3, dtype=np.int8)
    program(x, y, receives={"pair": lambda *values: received.append(values)})
    ((first, second),) = received
    assert first.dtype == ml_dtypes.bfloat16 and (first == x).all() and (second == y).all()


def test_receivers_are_checked_before_the_run():
    program = adjoint.compile(programs.COUNT)
    with pytest.raises(adjoint.ArgumentTypeError, match="no receiver 'loss', its receivers are count"):
        program(1, receives={"loss": print})
    with pytest.raises(adjoint.ArgumentTypeError, match="receiver 'count': expected a function, got list"):
        program(1, receives={"count": []})


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, StopIteration, GeneratorExit])
def test_exceptions_of_callbacks_come_out(kind, target):
    program = adjoint.compile(programs.COUNT, target=target, name="count.mlir")
    raised = kind("enough")

    def receive(value):
        if value == 3:
            raise raised

    with pytest.raises(kind) as caught:
        program(10**9, receives={"count": receive})
    assert caught.value is raised
    if hasattr(raised, "__notes__"):
        assert raised.__notes__ == ["in ad.receive at count.mlir:11:5"]
    frames = [entry.name for entry in caught.traceback]
    assert frames[-1] == "receive"
    assert program(2) == 2


def test_exceptions_that_take_no_note_come_out():
    class Stubborn(Exception):
        def add_note(self, note):
            raise ValueError(note)

        def __str__(self):
            raise ValueError

    def receive(value):
        raise Stubborn

    with pytest.raises(Stubborn):
        adjoint.compile(programs.COUNT)(1, receives={"count": receive})


def test_callbacks_may_call_the_program(target):
    program = adjoint.compile(programs.COUNT, target=target)
    ends = []
    program(3, receives={"count": lambda value: ends.append(program(int(value)))})
    assert ends == [1, 2, 3]
