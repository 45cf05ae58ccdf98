// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Counts for about a minute, longer than the tests wait for it.
func.func @main(%start: tensor<f32> {ad.name = "start"}) -> (tensor<f32> {ad.name = "end"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 50000000 : index
  %step = ad.constant dense<1.0> : tensor<f32>
  %end = scf.for %i = %zero to %many step %one iter_args(%count = %start) -> tensor<f32> {
    %next = ad.add %count, %step : tensor<f32>
    ad.receive "count"(%next) : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %end : tensor<f32>
}
