// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Two kernels that take seconds each on one thread, after a value that marks the start of the first.
!t = tensor<4608x4608xf64>
func.func @main(%a: !t {ad.name = "a"}) -> (!t {ad.name = "end"}) {
  %one = ad.constant dense<1.0> : tensor<f32>
  ad.receive "begun"(%one) : tensor<f32>
  %first = ad.dot %a, %a contract [1] x [0] : (!t, !t) -> !t
  %end = ad.dot %first, %a contract [1] x [0] : (!t, !t) -> !t
  return %end : !t
}
