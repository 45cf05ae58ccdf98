// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A step that is left out where its gradient is not finite.

func.func @main(%w: tensor<3xf32> {ad.name = "w"}, %g: tensor<3xf32> {ad.name = "g"})
    -> (tensor<3xf32> {ad.name = "w"}) {
  %finite = ad.is_finite %g : tensor<3xf32> -> tensor<3xi1>
  %as_numbers = ad.cast %finite : tensor<3xi1> -> tensor<3xi32>
  %all = ad.reduce_min %as_numbers axes [0] : tensor<3xi32> -> tensor<i32>
  %flag = tensor.extract %all[] : tensor<i32>
  %c1 = arith.constant 1 : i32
  %good = arith.cmpi eq, %flag, %c1 : i32
  %next = scf.if %good -> tensor<3xf32> {
    %new = ad.sub %w, %g : tensor<3xf32>
    scf.yield %new : tensor<3xf32>
  } else {
    scf.yield %w : tensor<3xf32>
  }
  return %next : tensor<3xf32>
}
