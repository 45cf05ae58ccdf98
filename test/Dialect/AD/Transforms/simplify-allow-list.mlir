// RUN: ad-opt %s --ad-simplify | FileCheck %s

// Upstream's rewrites are exact on whole numbers and control flow; others could change bits.

// CHECK-LABEL: @functions_of_the_host_stay
func.func @functions_of_the_host_stay() -> (f32, f32) {
  // CHECK: math.exp
  // CHECK: math.powf
  %one = arith.constant 1.5 : f32
  %e = math.exp %one : f32
  %p = math.powf %one, %one : f32
  return %e, %p : f32, f32
}

// CHECK-LABEL: @chains_of_floats_stay
func.func @chains_of_floats_stay(%x: f32) -> f32 {
  // CHECK-COUNT-2: arith.addf
  %a = arith.constant 0.1 : f32
  %b = arith.constant 0.2 : f32
  %y = arith.addf %x, %a : f32
  %z = arith.addf %y, %b : f32
  return %z : f32
}

// CHECK-LABEL: @whole_numbers_fold
// CHECK-SAME: %[[N:.+]]: index
func.func @whole_numbers_fold(%n: index) -> (index, index) {
  // CHECK: %[[FIVE:.+]] = arith.constant 5 : index
  // CHECK-NEXT: %[[S:.+]] = arith.addi %[[N]], %[[FIVE]]
  // CHECK-NEXT: return %[[S]], %[[N]]
  %a = arith.constant 2 : index
  %b = arith.constant 3 : index
  %zero = arith.constant 0 : index
  %y = arith.addi %n, %a : index
  %z = arith.addi %y, %b : index
  %w = arith.addi %n, %zero : index
  return %z, %w : index, index
}

// An index of 8 bits is its sign extension. An index of 64 bits is itself.
// CHECK-LABEL: @casts_of_indices
// CHECK-SAME: %[[N:.+]]: index
func.func @casts_of_indices(%n: index) -> (index, index) {
  // CHECK-NEXT: %[[NARROW:.+]] = arith.index_cast %[[N]] : index to i8
  // CHECK-NEXT: %[[WIDE:.+]] = arith.index_cast %[[NARROW]] : i8 to index
  // CHECK-NEXT: return %[[WIDE]], %[[N]]
  %narrow = arith.index_cast %n : index to i8
  %a = arith.index_cast %narrow : i8 to index
  %same = arith.index_cast %n : index to i64
  %b = arith.index_cast %same : i64 to index
  return %a, %b : index, index
}

// CHECK-LABEL: @control_flow_folds
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @control_flow_folds(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[Y:.+]] = ad.exp %[[X]]
  // CHECK-NEXT: return %[[Y]]
  %true = arith.constant true
  %y = scf.if %true -> tensor<4xf32> {
    %e = ad.exp %x : tensor<4xf32>
    scf.yield %e : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// Reads of the host and writes to it stay, in order, used or not.
// CHECK-LABEL: @effects_stay
func.func @effects_stay() {
  // CHECK-COUNT-2: ad.feed "x"
  // CHECK-COUNT-2: ad.receive "y"
  %a = ad.feed "x" : tensor<2xf32>
  %b = ad.feed "x" : tensor<2xf32>
  ad.receive "y"(%a) : tensor<2xf32>
  ad.receive "y"(%a) : tensor<2xf32>
  return
}
