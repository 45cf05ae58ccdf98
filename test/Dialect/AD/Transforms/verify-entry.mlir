// RUN: ad-opt %s --ad-verify-entry=entry=results -o /dev/null
// RUN: ad-opt %s --ad-verify-entry=entry=receives -o /dev/null
// RUN: ad-opt %s --ad-verify-entry=entry=calls_one_that_receives -o /dev/null
// RUN: not ad-opt %s --ad-verify-entry=entry=silent 2>&1 | FileCheck %s
// RUN: not ad-opt %s --ad-verify-entry=entry=scalar 2>&1 | FileCheck %s --check-prefix=SCALAR
// RUN: not ad-opt %s --ad-verify-entry=entry=indices 2>&1 | FileCheck %s --check-prefix=INDICES

func.func @results(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @receives(%x: tensor<4xf32>) {
  %n = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    ad.receive "x"(%x) : tensor<4xf32>
  }
  return
}

func.func @calls_one_that_receives(%x: tensor<4xf32>) {
  call @receives(%x) : (tensor<4xf32>) -> ()
  return
}

// CHECK: error: entry '@silent' has neither results nor an ad.receive
func.func @silent() {
  return
}

// SCALAR: verify-entry.mlir:[[#@LINE+1]]:38: error: entry '@scalar' has an argument or result of type 'index'; expected ranked tensors of numbers, a scalar as one of rank 0, an index as i64
func.func @scalar(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// INDICES: verify-entry.mlir:[[#@LINE+1]]:20: error: entry '@indices' has an argument or result of type 'tensor<4xindex>'; expected ranked tensors of numbers, a scalar as one of rank 0, an index as i64
func.func @indices(%x: tensor<4xindex>) -> tensor<4xindex> {
  return %x : tensor<4xindex>
}
