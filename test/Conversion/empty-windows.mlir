// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// linalg refuses maps whose first or last index leaves a tensor, also where no iteration is. Windows without places,
// results and filters are filled tensors.
// RUN: ad-opt %s --ad-to-linalg | FileCheck %s
// RUN: ad-opt %s --ad-to-cpu -o /dev/null

// CHECK-LABEL: @no_results(
// CHECK: linalg.fill {{.+}} -> tensor<1x0xi64>
func.func @no_results(%x: tensor<4x2xf64>) -> tensor<1x0xi64> {
  %y = ad.arg_reduce_window min %x window [4, 3] dilation [1, 2] low [0, 0] : tensor<4x2xf64>
  return %y : tensor<1x0xi64>
}

// CHECK-LABEL: @no_filter(
// CHECK: linalg.fill ins(%{{.+}} : f32) outs(%{{.+}} : tensor<{{.+}}xf32>)
// CHECK-NOT: math.fma
func.func @no_filter(%x: tensor<5x1x3x8xf8E5M2>, %w: tensor<3x1x0xf8E5M2>) -> tensor<37x8x1xf8E5M2> {
  %y = ad.conv %x, %w dims "01ab,a01->0b1" strides [1, 5] input_dilation [9, 2] : (tensor<5x1x3x8xf8E5M2>, tensor<3x1x0xf8E5M2>) -> tensor<37x8x1xf8E5M2>
  return %y : tensor<37x8x1xf8E5M2>
}
