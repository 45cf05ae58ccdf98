// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// An elementwise kernel over a short last axis computes positions in its operands from the numbers of its elements:
// in 32 bits as long as these hold all numbers, in 64 bits from there on.
// RUN: ad-opt %s --ad-emit-cpu | FileCheck %s

#identity = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d0, 0)>
#row = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: func.func private @largest_of_32_bits
// CHECK-SAME: ad.units = {{\[\[}}0, array<i64: 1024, 0, 1>]]
// CHECK: %[[TWO:.+]] = arith.constant dense<2> : vector<16xi32>
// CHECK: arith.divui %{{.+}}, %[[TWO]] : vector<16xi32>
// CHECK: llvm.intr.masked.gather
// CHECK: arith.remui %{{.+}} : vector<16xi32>
// CHECK: llvm.intr.masked.gather
ad.kernel private @largest_of_32_bits(%a: tensor<1073741823x1xf32>, %b: tensor<1x2xf32>) -> tensor<1073741823x2xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<1073741823x2xf32>
  %r = linalg.generic {indexing_maps = [#column, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<1073741823x1xf32>, tensor<1x2xf32>) outs(%e : tensor<1073741823x2xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1073741823x2xf32>
  ad.yield %r : tensor<1073741823x2xf32>
}

// CHECK-LABEL: func.func private @more_than_32_bits
// CHECK-SAME: ad.units = {{\[\[}}0, array<i64: 1024, 0, 1>]]
// CHECK-NOT: xi32>
// CHECK: %[[TWO:.+]] = arith.constant dense<2> : vector<16xindex>
// CHECK: arith.divui %{{.+}}, %[[TWO]] : vector<16xindex>
// CHECK-NOT: xi32>
// CHECK: return
ad.kernel private @more_than_32_bits(%a: tensor<1073741824x1xf32>, %b: tensor<1x2xf32>) -> tensor<1073741824x2xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<1073741824x2xf32>
  %r = linalg.generic {indexing_maps = [#column, #row, #identity], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<1073741824x1xf32>, tensor<1x2xf32>) outs(%e : tensor<1073741824x2xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1073741824x2xf32>
  ad.yield %r : tensor<1073741824x2xf32>
}
