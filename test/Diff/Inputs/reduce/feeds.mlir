// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// A loop that reads a feed and a tensor of a narrow type.
func.func @main(%scale: tensor<8xbf16> {ad.name = "scale"}) -> (tensor<8xf32> {ad.name = "y"}) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 4 : index
  %start = ad.constant dense<0.0> : tensor<8xf32>
  %twice = ad.add %scale, %scale : tensor<8xbf16>
  %last = scf.for %i = %zero to %steps step %one iter_args(%state = %start) -> (tensor<8xf32>) {
    %batch = ad.feed "batch" : tensor<8xf32>
    %wide = ad.cast %twice : tensor<8xbf16> -> tensor<8xf32>
    %product = ad.mul %wide, %batch : tensor<8xf32>
    %curve = ad.tanh %product : tensor<8xf32>
    %next = ad.add %state, %curve : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  %y = ad.mul %last, %last : tensor<8xf32>
  return %y : tensor<8xf32>
}
