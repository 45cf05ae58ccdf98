// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-plan-memory --split-input-file --verify-diagnostics

// What programs for other compilers hold: the advice is what to write, and not which pass to run.
func.func @constant(%x: tensor<4xf32>) {
  // expected-error @+1 {{'arith.constant' op is not supported in a program for this target; write ad.constant instead}}
  %y = arith.constant dense<1.0> : tensor<4xf32>
  return
}

// -----

func.func @empty(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.empty' op is not supported in a program for this target; write ad.full instead}}
  %y = tensor.empty() : tensor<4xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.extract_slice' op is not supported in a program for this target; write ad.slice instead}}
  %y = tensor.extract_slice %x[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return
}

// -----

func.func @insert(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.insert_slice' op is not supported in a program for this target; write ad.dynamic_update_slice instead}}
  %y = tensor.insert_slice %x into %x[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
  return
}

// -----

func.func @expand(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.expand_shape' op is not supported in a program for this target; write ad.reshape instead}}
  %y = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return
}

// -----

func.func @concat(%x: tensor<4xf32>) {
  // expected-error @+1 {{'tensor.concat' op is not supported in a program for this target; write ad.concat instead}}
  %y = tensor.concat dim(0) %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @add(%x: tensor<4xf32>) {
  // expected-error @+1 {{'arith.addf' op is not supported in a program for this target; write ad.add instead}}
  %y = arith.addf %x, %x : tensor<4xf32>
  return
}

// -----

func.func @print(%x: tensor<4xf32>) {
  %i = arith.constant 0 : index
  %e = tensor.extract %x[%i] : tensor<4xf32>
  // expected-error @+1 {{'vector.print' op is not supported in a program for this target; write operations of the ad dialect instead, or give the operation a kernel by FusableOpInterface if the dialect is yours}}
  vector.print %e : f32
  return
}

// -----

func.func @scalar_function(%x: tensor<4xf32>) {
  %i = arith.constant 0 : index
  %e = tensor.extract %x[%i] : tensor<4xf32>
  // expected-error @+1 {{'math.exp' op is not supported in a program for this target; write ad.exp instead}}
  %y = math.exp %e : f32
  return
}

// -----

func.func @assert(%x: tensor<4xf32>) {
  %true = arith.constant true
  // expected-error @+1 {{'cf.assert' op is not supported in a program for this target; write check.expect_eq on a tensor instead}}
  cf.assert %true, "holds"
  return
}

// -----

func.func @switch(%x: tensor<4xf32>) {
  %i = arith.constant 0 : index
  // expected-error @+1 {{'scf.index_switch' op is not supported in a program for this target; write scf.if instead}}
  scf.index_switch %i
  default {
    scf.yield
  }
  return
}

// -----

func.func @matmul(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'linalg.matmul' op is not supported in a program for this target; write ad.dot instead}}
  %y = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @parallel(%x: tensor<4xf32>) {
  // expected-error @+1 {{'scf.forall' op is not supported in a program for this target; write scf.for instead}}
  %y = scf.forall (%i) in (4) shared_outs(%o = %x) -> tensor<4xf32> {
    scf.forall.in_parallel {
    }
  }
  return
}

// -----

func.func @parallel_loop() {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' op is not supported in a program for this target; write scf.for instead}}
  scf.parallel (%i) = (%zero) to (%one) step (%one) {
    scf.reduce
  }
  return
}

// -----

// Also inside of what is supported.
func.func @nested(%x: tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %one step %one {
    // expected-error @+1 {{'tensor.pad' op is not supported in a program for this target; write ad.pad instead}}
    %y = tensor.pad %x low[0] high[1] {
    ^bb0(%j: index):
      %e = tensor.extract %x[%j] : tensor<4xf32>
      tensor.yield %e : f32
    } : tensor<4xf32> to tensor<5xf32>
  }
  return
}

// -----

// All that is foreign is named, not only what allocates for it.
func.func @several(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{'tensor.empty' op is not supported in a program for this target; write ad.full instead}}
  %init = tensor.empty() : tensor<4x4xf32>
  // expected-error @+1 {{'linalg.matmul' op is not supported in a program for this target; write ad.dot instead}}
  %y = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-error @+1 {{'arith.mulf' op is not supported in a program for this target; write ad.mul instead}}
  %z = arith.mulf %y, %y : tensor<4x4xf32>
  // expected-error @+1 {{'arith.cmpf' op is not supported in a program for this target; write ad.compare instead}}
  %c = arith.cmpf olt, %z, %y : tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
