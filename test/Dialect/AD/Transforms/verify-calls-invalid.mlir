// RUN: ad-opt %s --split-input-file --verify-diagnostics --ad-differentiate

// Each call is a copy of its callee. The error comes before any copy is made, and names the chain of calls.
func.func private @f0(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @f1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f0(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f0(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f0(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @f2(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f1(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f1(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f1(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f1(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @f3(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f2(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f2(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f2(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f2(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @f4(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f3(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f3(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f3(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f3(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @f5(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f4(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f4(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f4(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f4(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @f6(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f5(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f5(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f5(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f5(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @f7(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f6(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f6(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f6(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f6(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
func.func private @f8(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = func.call @f7(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = func.call @f7(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = func.call @f7(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = func.call @f7(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}
// 4^8 operations are fewer than 100,000: the forward function alone would compile.
func.func private @loss(%x: tensor<4xf32>) -> tensor<f32> {
  %a = func.call @f8(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = ad.reduce_sum %a axes [0] : tensor<4xf32> -> tensor<f32>
  return %s : tensor<f32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ad.value_and_grad' op expected calls that make '@main' at most 100000 operations long, since each call is a copy of its callee, but got 131074 operations: @main calls @loss calls @f8 calls 4 times @f7 calls 4 times @f6 calls 4 times @f5 calls 4 times @f4 calls 4 times @f3 calls 4 times @f2 calls 4 times @f1 calls 4 times @f0; repeat a call by scf.for}}
  %l, %d = ad.value_and_grad @loss(%x) wrt [0] : (tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>)
  return %d : tensor<4xf32>
}
