// RUN: ad-opt %s --ad-differentiate --verify-diagnostics

// The distance between the bounds is no 64-bit number.
func.func @far(%x: tensor<f64>) -> tensor<f64> {
  %low = arith.constant -9223372036854775808 : index
  %high = arith.constant 3 : index
  %one = arith.constant 1 : index
  // expected-error @below {{'scf.for' op has no reverse: expected fewer than 2^63 iterations, but got 9223372036854775811}}
  %y = scf.for %i = %low to %high step %one iter_args(%a = %x) -> tensor<f64> {
    %b = ad.mul %a, %x : tensor<f64>
    scf.yield %b : tensor<f64>
  }
  return %y : tensor<f64>
}

func.func @main(%x: tensor<f64>) -> tensor<f64> {
  // expected-note @below {{needed for this derivative}}
  %y, %dx = ad.value_and_grad @far(%x) wrt [0] : (tensor<f64>) -> (tensor<f64>, tensor<f64>)
  return %dx : tensor<f64>
}
