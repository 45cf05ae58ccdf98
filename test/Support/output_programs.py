# Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
"""The programs whose output is ended early: by output_kinds.py."""

RESULTS = """
func.func @main(%x: tensor<512x512xf32> {ad.name = "x"}, %s: tensor<f32> {ad.name = "s"})
    -> (tensor<512x512xf32> {ad.name = "y"}, tensor<512x512xf32> {ad.name = "LARGE"},
        tensor<512xf32> {ad.name = "rows"}, tensor<f32> {ad.name = "sum"}) {
  %y = ad.mul %x, %s : tensor<512x512xf32>, tensor<f32>
  %z = ad.exp %y : tensor<512x512xf32>
  %rows = ad.reduce_sum %z axes [1] : tensor<512x512xf32> -> tensor<512xf32>
  %sum = ad.reduce_sum %rows axes [0] : tensor<512xf32> -> tensor<f32>
  return %y, %z, %rows, %sum : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512xf32>, tensor<f32>
}
"""
# Each iteration sends a large and a small value, and computes.
STREAMS = """
func.func @main(%x: tensor<120x120xf32> {ad.name = "x"}) -> (tensor<120x120xf32> {ad.name = "last"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %inner = arith.constant 50 : index
  %n = arith.constant 200 : index
  %one = ad.constant dense<1.0> : tensor<f32>
  %zero = ad.constant dense<0.0> : tensor<f32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %k = %zero) -> (tensor<120x120xf32>, tensor<f32>) {
    %k1 = ad.add %k, %one : tensor<f32>
    %p = scf.for %j = %c0 to %inner step %c1 iter_args(%b = %a) -> (tensor<120x120xf32>) {
      %d = ad.dot %b, %x : (tensor<120x120xf32>, tensor<120x120xf32>) -> tensor<120x120xf32>
      %t = ad.tanh %d : tensor<120x120xf32>
      scf.yield %t : tensor<120x120xf32>
    }
    ad.receive "value"(%p) : tensor<120x120xf32>
    ad.receive "step"(%k1) : tensor<f32>
    scf.yield %p, %k1 : tensor<120x120xf32>, tensor<f32>
  }
  return %r#0 : tensor<120x120xf32>
}
"""
SAME = """
func.func @main(%x: tensor<?x120x120xf32> {ad.name = "x"}, %s: tensor<?xf32> {ad.name = "s"})
    -> (tensor<?x120x120xf32> {ad.name = "value"}, tensor<?xf32> {ad.name = "step"}) {
  %y = ad.neg %x : tensor<?x120x120xf32>
  %z = ad.neg %y : tensor<?x120x120xf32>
  %t = ad.neg %s : tensor<?xf32>
  %u = ad.neg %t : tensor<?xf32>
  return %z, %u : tensor<?x120x120xf32>, tensor<?xf32>
}
"""
TRACED = """
func.func @main(%w: tensor<64x64xf32> {ad.name = "w"}) -> (tensor<64x64xf32> {ad.name = "next"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 6 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %w) -> (tensor<64x64xf32>) {
    %y = ad.dot %a, %w : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %t = ad.tanh %y : tensor<64x64xf32>
    %s = ad.reduce_mean %t axes [0, 1] : tensor<64x64xf32> -> tensor<f32>
    ad.receive "loss"(%s) : tensor<f32>
    scf.yield %t : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
"""
PYTHON_TRACE = """
import sys
import adjoint
import numpy as np

try:
    program = adjoint.compile(open(sys.argv[1]).read())
    w = np.random.default_rng(1).normal(size=(64, 64)).astype(np.float32)
    adjoint.diff.trace(program, "out/trace", w, tensors="all")
except adjoint.Error as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""
