// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The number of the step as a value of the computation: x + 1/1 + 1/2 + ... + 1/n.

func.func @main(%x: tensor<2xf32> {ad.name = "x"}) -> (tensor<2xf32> {ad.name = "sum"}) {
  %c1 = arith.constant 1 : index
  %end = arith.constant 6 : index
  %sum = scf.for %i = %c1 to %end step %c1 iter_args(%before = %x) -> tensor<2xf32> {
    // An index becomes an integer, a float, and a tensor of rank 0.
    %integer = arith.index_cast %i : index to i64
    %float = arith.sitofp %integer : i64 to f32
    %n = ad.full %float : f32 -> tensor<f32>
    %term = ad.recip %n : tensor<f32>
    %after = ad.add %before, %term : tensor<2xf32>, tensor<f32>
    scf.yield %after : tensor<2xf32>
  }
  return %sum : tensor<2xf32>
}
