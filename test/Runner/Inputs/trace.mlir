// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// A loop with a feed, a received value and a donated carry, and a dynamic size.
func.func @main(%w: tensor<8x4xf32> {ad.name = "w", ad.donated = 0 : i64},
                %n: tensor<?x8xf32> {ad.name = "n"})
    -> (tensor<8x4xf32> {ad.name = "next"}, tensor<?x4xf32> {ad.name = "odds"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %lr = ad.constant dense<0.1> : tensor<f32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %w) -> (tensor<8x4xf32>) {
    %b = ad.feed "batch" : tensor<8x8xf32>
    %y = ad.dot %b, %a : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %t = ad.tanh %y : tensor<8x4xf32>
    %s = ad.reduce_mean %t axes [0, 1] : tensor<8x4xf32> -> tensor<f32>
    ad.receive "loss"(%s) : tensor<f32>
    %st = ad.mul %t, %lr : tensor<8x4xf32>, tensor<f32>
    %u = ad.sub %a, %st : tensor<8x4xf32>
    scf.yield %u : tensor<8x4xf32>
  }
  %z = ad.dot %n, %r : (tensor<?x8xf32>, tensor<8x4xf32>) -> tensor<?x4xf32>
  %sm = ad.softmax %z axis 1 : tensor<?x4xf32>
  return %r, %sm : tensor<8x4xf32>, tensor<?x4xf32>
}
