// RUN: split-file %s %t
// RUN: not ad-runner %t/broadcast.mlir --target reference 2>&1 | FileCheck %t/broadcast.mlir
// RUN: not ad-runner %t/bounds.mlir --target reference 2>&1 | FileCheck %t/bounds.mlir
// RUN: not ad-runner %t/carry.mlir --target reference 2>&1 | FileCheck %t/carry.mlir
// RUN: not ad-runner %t/dot.mlir --target reference 2>&1 | FileCheck %t/dot.mlir

// Errors at run time name the operation's location and the numbers.

//--- broadcast.mlir
func.func @main() -> tensor<?xf32> {
  %x = ad.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = ad.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = tensor.cast %x : tensor<3xf32> to tensor<?xf32>
  %b = tensor.cast %y : tensor<2xf32> to tensor<?xf32>
  // CHECK: broadcast.mlir:[[@LINE+1]]:8: error: 'ad.add' op broadcast: dimension 0 has sizes 3 and 2, neither is 1
  %c = ad.add %a, %b : tensor<?xf32>
  return %c : tensor<?xf32>
}

//--- bounds.mlir
func.func @main() -> tensor<2xf32> {
  %x = ad.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %i = arith.constant 2 : index
  // CHECK: bounds.mlir:[[@LINE+1]]:8: error: 'ad.dynamic_slice' op dimension 0: index 3 is outside of size 3
  %c = ad.dynamic_slice %x[%i] : tensor<3xf32> -> tensor<2xf32>
  return %c : tensor<2xf32>
}

//--- carry.mlir
func.func @main() -> tensor<?xf32> {
  %x = ad.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %a = tensor.cast %x : tensor<3xf32> to tensor<?xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  // CHECK: carry.mlir:[[@LINE+1]]:8: error: 'scf.for' op loop carry 0: dimension 0 changes from size 3 to 6
  %r = scf.for %i = %zero to %two step %one iter_args(%v = %a) -> tensor<?xf32> {
    %w = ad.concat axis 0 %v, %v : tensor<?xf32>, tensor<?xf32>
    scf.yield %w : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

//--- dot.mlir
func.func @main() -> tensor<f32> {
  %x = ad.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = ad.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %a = tensor.cast %x : tensor<3xf32> to tensor<?xf32>
  // CHECK: dot.mlir:[[@LINE+1]]:8: error: 'ad.dot' op dimension 0 must have size 3, but has 2
  %c = ad.dot %a, %y : (tensor<?xf32>, tensor<2xf32>) -> tensor<f32>
  return %c : tensor<f32>
}
