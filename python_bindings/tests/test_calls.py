# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""Calls: values against NumPy's, arguments by position and name, results."""

import copy
import pickle

import adjoint
import numpy as np
import programs
import pytest

DIVIDE = """
func.func @main(%a: tensor<2x?xf64> {ad.name = "a"}, %b: tensor<?xf64> {ad.name = "b"})
    -> (tensor<2x?xf64> {ad.name = "quotient"}, tensor<2xf64> {ad.name = "not a name"}) {
  %q = ad.div %a, %b : tensor<2x?xf64>, tensor<?xf64>
  %s = ad.reduce_sum %q axes [1] : tensor<2x?xf64> -> tensor<2xf64>
  return %q, %s : tensor<2x?xf64>, tensor<2xf64>
}
"""

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
B = np.array([4.0, 8.0, 16.0])


def test_results_are_those_of_numpy(target):
    quotient, sums = adjoint.compile(DIVIDE, target=target)(A, B)
    np.testing.assert_array_equal(quotient, A / B)
    np.testing.assert_array_equal(sums, (A / B).sum(axis=1))


def test_arguments_have_names():
    program = adjoint.compile(DIVIDE)
    for results in (program(A, b=B), program(b=B, a=A)):
        np.testing.assert_array_equal(results.quotient, A / B)


@pytest.mark.parametrize(
    ("arrays", "named", "message"),
    [
        ((A,), {}, r"argument 'b' of type tensor<\?xf64> is missing"),
        ((A, B, B), {}, r"expected 2 arguments \(a, b\), got 3"),
        ((A, B), {"b": B}, "argument 'b' is given twice"),
        ((A,), {"c": B}, "no argument 'c', its arguments are a, b"),
    ],
)
def test_arguments_that_do_not_add_up(arrays, named, message):
    with pytest.raises(adjoint.ArgumentTypeError, match=message):
        adjoint.compile(DIVIDE)(*arrays, **named)


def test_names_may_be_anything():
    source = """
    func.func @main(%a: tensor<f32> {ad.name = "self"}, %b: tensor<f32> {ad.name = "a b"})
        -> (tensor<f32> {ad.name = "class"}, tensor<f32> {ad.name = "count"}) {
      return %a, %b : tensor<f32>, tensor<f32>
    }"""
    results = adjoint.compile(source)(**{"self": 1.0, "a b": 2.0})
    assert results == (1, 2) and results.count == 2


def test_several_results_are_a_named_tuple():
    results = adjoint.compile(DIVIDE)(A, B)
    assert isinstance(results, tuple) and len(results) == 2
    assert results.quotient is results[0]
    assert results._fields == ("quotient", "_1")
    for twin in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results)):
        np.testing.assert_array_equal(twin.quotient, results.quotient)
        assert twin._fields == results._fields


def test_no_result_is_none(target):
    program = adjoint.compile(
        'func.func @main(%x: tensor<f32>) { ad.receive "x"(%x) : tensor<f32> return }', target=target
    )
    assert program(np.float32(1)) is None


def test_sizes_may_change_from_call_to_call(target):
    program = adjoint.compile(programs.SQUARE, target=target)
    for size in (3, 1, 1000, 0, 17):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(program(x), x * x)


def test_results_belong_to_the_caller(target):
    program = adjoint.compile(programs.SQUARE, target=target)
    first = program(np.array([2, 3], np.float32))
    assert first.flags.writeable and first.flags.c_contiguous
    first += 1
    second = program(np.array([5, 6], np.float32))
    np.testing.assert_array_equal(first, [5, 10])
    np.testing.assert_array_equal(second, [25, 36])


def test_results_outlive_the_program():
    result = adjoint.compile(programs.SQUARE)(np.full(100_000, 3, np.float32))
    assert (result == 9).all()


def test_numbers_stand_for_scalars():
    assert adjoint.compile(programs.identity("f32", ""))(0.1) == np.float32(0.1)
    assert adjoint.compile(programs.identity("f64", ""))(3) == 3.0
    assert adjoint.compile(programs.identity("i8", ""))(-128) == -128
    assert adjoint.compile(programs.identity("i1", ""))(True)
    for element_type, number in [("i8", 128), ("i32", 1.0), ("i32", True), ("f32", True), ("i1", 1), ("bf16", 1.0)]:
        with pytest.raises(adjoint.ArgumentTypeError, match=f"expected tensor<{element_type}>, got"):
            adjoint.compile(programs.identity(element_type, ""))(number)
    with pytest.raises(adjoint.ArgumentTypeError, match="got float, which is no array"):
        adjoint.compile(programs.identity("f32"))(0.1)


def test_signature_says_what_the_program_wants():
    program = adjoint.compile(DIVIDE, numerics="reproducible")
    a, b = program.signature.arguments
    assert (a.name, a.shape, a.dtype, a.element_type, a.donated_to) == ("a", (2, None), np.float64, "f64", None)
    assert b.type == "tensor<?xf64>"
    assert [spec.name for spec in program.signature.results] == ["quotient", "not a name"]
    assert program.signature.entry == "main" and program.numerics == "reproducible"
    assert repr(program).startswith("<adjoint.Program @main(a: tensor<2x?xf64>, b: tensor<?xf64>) -> (quotient: ")


def test_a_policy_rounds_operands_of_products():
    source = """
    func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<f32> {
      %d = ad.dot %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
      return %d : tensor<f32>
    }"""
    x, y = np.array([1 + 2**-9, 1], np.float32), np.array([1, 1], np.float32)
    assert adjoint.compile(source)(x, y) == 2 + 2**-9
    assert adjoint.compile(source, precision="bf16", numerics="reproducible")(x, y) == 2


def test_kernels_are_exchanged_by_name():
    source = """
    func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<f32> {
      %d = ad.dot %x, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
      return %d : tensor<f32>
    }"""
    # tf32 has 11 significant bits.
    x, y = np.array([1 + 2**-12, 1], np.float32), np.array([1, 1], np.float32)
    assert adjoint.compile(source)(x, y) == 2 + 2**-12
    assert adjoint.compile(source, kernels={"dot": "tf32"})(x, y) == 2
    assert adjoint.compile(source, kernels={"dot": "bf16x6"})(x, y) == 2 + 2**-12


def test_both_targets_give_the_same_bits():
    source = """
    func.func private @f(%x: tensor<37x53xf32>, %w: tensor<53xf32>) -> tensor<f32> {
      %d = ad.dot %x, %w : (tensor<37x53xf32>, tensor<53xf32>) -> tensor<37xf32>
      %t = ad.tanh %d : tensor<37xf32>
      %e = ad.exp %t : tensor<37xf32>
      %s = ad.reduce_sum %e axes [0] : tensor<37xf32> -> tensor<f32>
      return %s : tensor<f32>
    }
    func.func @main(%x: tensor<37x53xf32>, %w: tensor<53xf32>) -> (tensor<f32>, tensor<37x53xf32>, tensor<53xf32>) {
      %s, %dx, %dw = ad.value_and_grad @f(%x, %w) wrt [0, 1]
          : (tensor<37x53xf32>, tensor<53xf32>) -> (tensor<f32>, tensor<37x53xf32>, tensor<53xf32>)
      return %s, %dx, %dw : tensor<f32>, tensor<37x53xf32>, tensor<53xf32>
    }"""
    random = np.random.default_rng(1)
    x, w = random.normal(size=(37, 53)).astype(np.float32), random.normal(size=53).astype(np.float32)
    compiled, interpreted = (
        adjoint.compile(source, target=target, numerics="reproducible")(x, w) for target in ("cpu", "reference")
    )
    for left, right in zip(compiled, interpreted):
        assert left.tobytes() == right.tobytes() and left.any()


def test_options_reach_the_compiler(tmp_path):
    file = tmp_path / "square.mlir"
    file.write_text(programs.SQUARE.replace("@main", "@square"))
    x = np.arange(5, dtype=np.float32)
    options = {"entry": "square", "cache": tmp_path / "cache"}
    assert adjoint.compile(file, **options).cache_use == "miss"
    program = adjoint.compile(str(file), **options)
    assert program.cache_use == "hit" and program.cpu
    np.testing.assert_array_equal(program(x), x * x)
    portable = adjoint.compile(file.read_bytes(), entry="square", cache="off", cpu="x86-64", threads=0, optimize=False)
    assert portable.cache_use == "off" and portable.cpu == "x86-64"
    np.testing.assert_array_equal(portable(x), x * x)


@pytest.mark.parametrize("source", [0, 3, None, 1.5])
def test_programs_are_text_or_paths(source):
    with pytest.raises(TypeError, match="expected str, bytes or os.PathLike object"):
        adjoint.compile(source)
