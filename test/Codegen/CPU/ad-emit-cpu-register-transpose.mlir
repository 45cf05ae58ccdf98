// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu=vector-bytes=16 | FileCheck %s

// A matrix that is contiguous along K, times a vector: four columns load four steps of K each. Two rounds of shuffles
// transpose the block, whose vectors then take one step of the four chains each. The two vectors of columns alternate.
// Nothing is gathered.
#matrix = affine_map<(i, k) -> (i, k)>
#vector = affine_map<(i, k) -> (k)>
#out = affine_map<(i, k) -> (i)>
// CHECK-LABEL: func.func private @matrix_times_vector
// CHECK: scf.for %{{.+}} iter_args({{.+}}) -> (index, vector<4xf32>, index, vector<4xf32>)
// CHECK-COUNT-4: llvm.load %{{.+}} : !llvm.ptr -> vector<4xf32>
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [0, 4, 1, 5]
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [2, 6, 3, 7]
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [0, 1, 4, 5]
// CHECK: vector.shuffle %{{.+}}, %{{.+}} [2, 3, 6, 7]
// CHECK-COUNT-4: math.fma %{{.+}} : vector<4xf32>
// CHECK: scf.yield
// CHECK-NOT: gather
// CHECK: return
ad.kernel private @matrix_times_vector(%w: tensor<8x64xf32>, %x: tensor<64xf32>) -> tensor<8xf32>
    attributes {kernel_class = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#matrix, #vector, #out], iterator_types = ["parallel", "reduction"]}
      ins(%w, %x : tensor<8x64xf32>, tensor<64xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %t = math.fma %a, %b, %sum : f32
    linalg.yield %t : f32
  } -> tensor<8xf32>
  ad.yield %y : tensor<8xf32>
}

// Two products in one tile, both needed by the third result: the accumulators of the first wait on the stack while the
// second runs through K, and are loaded from there. The loads are volatile, or LLVM would keep the values in registers.
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#product = affine_map<(i, j, k) -> (i, j)>
#same = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func private @gated
// CHECK: scf.for %{{.+}} iter_args
// CHECK: math.fma
// CHECK: scf.yield
// CHECK: llvm.store %{{.+}} : vector<4xf32>, !llvm.ptr
// CHECK: scf.for %{{.+}} iter_args
// CHECK: math.fma
// CHECK: scf.yield
// CHECK: llvm.load volatile %{{.+}} : !llvm.ptr -> vector<4xf32>
// CHECK: arith.mulf
// CHECK: return
ad.kernel private @gated(%x: tensor<8x16xf32>, %v: tensor<16x8xf32>, %w: tensor<16x8xf32>) -> tensor<8x8xf32>
    attributes {kernel_class = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %v : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %t = math.fma %a, %b, %sum : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  %z = linalg.generic {indexing_maps = [#left, #right, #product], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xf32>, tensor<16x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %t = math.fma %a, %b, %sum : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}
      ins(%y, %z : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %t = arith.mulf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  ad.yield %p : tensor<8x8xf32>
}
