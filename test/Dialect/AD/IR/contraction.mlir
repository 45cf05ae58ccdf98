// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @dot_of_matrices
func.func @dot_of_matrices(%a: tensor<4x?xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<4x?xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  %c = ad.dot %a, %b : (tensor<4x?xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %c : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @dot_of_vectors
func.func @dot_of_vectors(%a: tensor<8xf32>, %b: tensor<8x2xf32>, %c: tensor<3x4x8xf32>, %d: tensor<5x8x2xf32>)
    -> (tensor<f32>, tensor<2xf32>, tensor<3x4xf32>, tensor<5x2xf32>) {
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %0 = ad.dot %a, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<8xf32>, tensor<8x2xf32>) -> tensor<2xf32>
  %1 = ad.dot %a, %b : (tensor<8xf32>, tensor<8x2xf32>) -> tensor<2xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<3x4x8xf32>, tensor<8xf32>) -> tensor<3x4xf32>
  %2 = ad.dot %c, %a : (tensor<3x4x8xf32>, tensor<8xf32>) -> tensor<3x4xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<8xf32>, tensor<5x8x2xf32>) -> tensor<5x2xf32>
  %3 = ad.dot %a, %d : (tensor<8xf32>, tensor<5x8x2xf32>) -> tensor<5x2xf32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<2xf32>, tensor<3x4xf32>, tensor<5x2xf32>
}

// A stack of matrices times one matrix, and a stack of the same rank: the lists of matmul are left out.
// CHECK-LABEL: func.func @dot_of_stacks
func.func @dot_of_stacks(%a: tensor<5x4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<5x8x2xf32>)
    -> (tensor<5x4x2xf32>, tensor<5x4x2xf32>) {
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<5x4x8xf32>, tensor<8x2xf32>)
  %0 = ad.dot %a, %b : (tensor<5x4x8xf32>, tensor<8x2xf32>) -> tensor<5x4x2xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} : (tensor<5x4x8xf32>, tensor<5x8x2xf32>)
  %1 = ad.dot %a, %c batch [0] x [0] contract [2] x [1]
      : (tensor<5x4x8xf32>, tensor<5x8x2xf32>) -> tensor<5x4x2xf32>
  return %0, %1 : tensor<5x4x2xf32>, tensor<5x4x2xf32>
}

// CHECK-LABEL: func.func @dot_with_axes
func.func @dot_with_axes(%a: tensor<5x4x8xf32>, %e: tensor<5x2x8xf32>, %f: tensor<8x4xf32>)
    -> (tensor<5x4x2xf32>, tensor<5xf32>) {
  // CHECK: ad.dot %{{.+}}, %{{.+}} batch [0] x [0] contract [2] x [2] {allow = #ad.allow<reorder>} : (tensor<5x4x8xf32>
  %0 = ad.dot %a, %e batch [0] x [0] contract [2] x [2] {allow = #ad.allow<reorder>}
      : (tensor<5x4x8xf32>, tensor<5x2x8xf32>) -> tensor<5x4x2xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [2, 1] x [0, 1] : (tensor<5x4x8xf32>
  %1 = ad.dot %a, %f contract [2, 1] x [0, 1] : (tensor<5x4x8xf32>, tensor<8x4xf32>) -> tensor<5xf32>
  return %0, %1 : tensor<5x4x2xf32>, tensor<5xf32>
}

// Nothing is contracted: the outer product, elementwise along batch axes.
// CHECK-LABEL: func.func @dot_without_contraction
func.func @dot_without_contraction(%a: tensor<4xf32>, %b: tensor<2xf32>, %s: tensor<f32>)
    -> (tensor<4x2xf32>, tensor<4xf32>, tensor<f32>) {
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [] x [] : (tensor<4xf32>, tensor<2xf32>)
  %0 = ad.dot %a, %b contract [] x [] : (tensor<4xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} batch [0] x [0] contract [] x [] : (tensor<4xf32>, tensor<4xf32>)
  %1 = ad.dot %a, %a batch [0] x [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: ad.dot %{{.+}}, %{{.+}} contract [] x [] : (tensor<f32>, tensor<f32>)
  %2 = ad.dot %s, %s contract [] x [] : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0, %1, %2 : tensor<4x2xf32>, tensor<4xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @dot_element_types
func.func @dot_element_types(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x2xf8E5M2>, %i: tensor<4x8xi8>, %j: tensor<8x2xi8>,
                             %h: tensor<4x8xbf16>, %k: tensor<8x2xbf16>)
    -> (tensor<4x2xf32>, tensor<4x2xf8E5M2>, tensor<4x2xi32>, tensor<4x2xi8>, tensor<4x2xf32>) {
  %0 = ad.dot %a, %b : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>) -> tensor<4x2xf32>
  %1 = ad.dot %a, %b : (tensor<4x8xf8E4M3FN>, tensor<8x2xf8E5M2>) -> tensor<4x2xf8E5M2>
  %2 = ad.dot %i, %j : (tensor<4x8xi8>, tensor<8x2xi8>) -> tensor<4x2xi32>
  %3 = ad.dot %i, %j : (tensor<4x8xi8>, tensor<8x2xi8>) -> tensor<4x2xi8>
  // CHECK: ad.dot %{{.+}}, %{{.+}} {order = #ad.order<block = 512>} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xf32>
  %4 = ad.dot %h, %k {order = #ad.order<block = 512>} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xf32>
  return %0, %1, %2, %3, %4
      : tensor<4x2xf32>, tensor<4x2xf8E5M2>, tensor<4x2xi32>, tensor<4x2xi8>, tensor<4x2xf32>
}

// CHECK-LABEL: func.func @gemm
func.func @gemm(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>, %b: tensor<2xf32>, %v: tensor<8x2xf32>)
    -> (tensor<4x2xf32>, tensor<8x8xf32>) {
  // CHECK: ad.gemm %{{.+}}, %{{.+}}, %{{.+}} {transB} : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %y = ad.gemm %x, %w, %b {transB} : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK: ad.gemm %{{.+}}, %{{.+}} {alpha = 5.000000e-01 : f64, transA, transB} : (tensor<2x8xf32>, tensor<8x2xf32>)
  %z = ad.gemm %w, %v {alpha = 0.5 : f64, transA, transB} : (tensor<2x8xf32>, tensor<8x2xf32>) -> tensor<8x8xf32>
  return %y, %z : tensor<4x2xf32>, tensor<8x8xf32>
}
