// RUN: ad-opt %s --ad-verify-entry=entry=results -o /dev/null
// RUN: ad-opt %s --ad-verify-entry=entry=receives -o /dev/null
// RUN: ad-opt %s --ad-verify-entry=entry=calls_one_that_receives -o /dev/null
// RUN: not ad-opt %s --ad-verify-entry=entry=silent 2>&1 | FileCheck %s

func.func @results(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @receives(%x: tensor<4xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    ad.receive "x"(%x) : tensor<4xf32>
  }
  return
}

func.func @calls_one_that_receives(%x: tensor<4xf32>, %n: index) {
  call @receives(%x, %n) : (tensor<4xf32>, index) -> ()
  return
}

// CHECK: error: entry '@silent' has neither results nor an ad.receive
func.func @silent() {
  return
}
