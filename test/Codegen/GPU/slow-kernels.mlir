// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The remark about kernels that the generic class runs badly: slow_kernels_test.py wants none of them in programs.
//
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu -o /dev/null 2>&1 | FileCheck %s

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, d1)>
#sum = affine_map<(d0, d1) -> (d0)>
#other = affine_map<(d0, d1) -> (d1)>

// CHECK: slow-kernel | Category:ad-gpu | kernel=two_products, reason="each thread reads its operands for 33 products per element"
ad.kernel private @two_products(%a: tensor<16x33xf32>, %b: tensor<33x16xf32>) -> tensor<16x16xf32>
    attributes {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %x = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<16x33xf32>, tensor<33x16xf32>) outs(%f : tensor<16x16xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %next = math.fma %u, %v, %s : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  %y = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<16x33xf32>, tensor<33x16xf32>) outs(%x : tensor<16x16xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %next = math.fma %u, %v, %s : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  ad.yield %y : tensor<16x16xf32>
}

// A short product, and a sum whose operands are each read once, are not slow.
// CHECK-NOT: slow-kernel {{.*}}kernel=short_product
ad.kernel private @short_product(%a: tensor<16x32xf32>, %b: tensor<32x16xf32>) -> tensor<16x16xf32>
    attributes {kernel_class = "generic", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %x = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<16x32xf32>, tensor<32x16xf32>) outs(%f : tensor<16x16xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %next = math.fma %u, %v, %s : f32
    linalg.yield %next : f32
  } -> tensor<16x16xf32>
  ad.yield %x : tensor<16x16xf32>
}
// CHECK-NOT: slow-kernel {{.*}}kernel=sum_of_columns
ad.kernel private @sum_of_columns(%a: tensor<9000x16xf32>) -> tensor<16xf32>
    attributes {kernel_class = "generic", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %x = linalg.generic {indexing_maps = [#row, #other], iterator_types = ["reduction", "parallel"]}
      ins(%a : tensor<9000x16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%u: f32, %s: f32):
    %next = arith.addf %u, %s : f32
    linalg.yield %next : f32
  } -> tensor<16xf32>
  ad.yield %x : tensor<16xf32>
}

// One warp sums a row and writes it. Where a kernel writes sums alone, several blocks divide them.
// CHECK: slow-kernel | Category:ad-gpu | kernel=long_rows, reason="each warp sums a row of 9000 elements"
ad.kernel private @long_rows(%a: tensor<16x9000xf32>, %c: tensor<16x9000xf32>) -> tensor<16x9000xf32>
    attributes {kernel_class = "generic", order = #ad.order<lanes = 64, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %x = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<16x9000xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%u: f32, %s: f32):
    %next = arith.addf %u, %s : f32
    linalg.yield %next : f32
  } -> tensor<16xf32>
  %o = tensor.empty() : tensor<16x9000xf32>
  %y = linalg.generic {indexing_maps = [#sum, #row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c : tensor<16xf32>, tensor<16x9000xf32>) outs(%o : tensor<16x9000xf32>) {
  ^bb0(%u: f32, %v: f32, %old: f32):
    %next = arith.subf %v, %u : f32
    linalg.yield %next : f32
  } -> tensor<16x9000xf32>
  ad.yield %y : tensor<16x9000xf32>
}
