// Kernels of convolutions on CPUs pad their input while they read it. Others have a kernel that pads.
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=target=cpu | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse=target=gpu | FileCheck %s --check-prefix=GPU

// CHECK-LABEL: @columns_are_channels
// GPU-LABEL: @columns_are_channels
func.func @columns_are_channels(%x: tensor<2x9x9x16xf32>, %w: tensor<3x3x16xf32>) -> tensor<2x9x9x16xf32> {
  // CHECK: ad.fusion dot
  // CHECK: ad.pad
  // CHECK-NEXT: ad.conv
  // CHECK-NOT: ad.fusion
  // CHECK: return
  // GPU: ad.fusion movement
  // GPU: ad.fusion dot
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.pad %x, %zero low [0, 1, 1, 0] high [0, 1, 1, 0] interior [0, 0, 0, 0] : tensor<2x9x9x16xf32>, tensor<f32>
  %1 = ad.conv %0, %w dims "b01c,01c->b01c" : (tensor<2x11x11x16xf32>, tensor<3x3x16xf32>) -> tensor<2x9x9x16xf32>
  return %1 : tensor<2x9x9x16xf32>
}

// CHECK-LABEL: @sums_over_channels
func.func @sums_over_channels(%x: tensor<2x9x9x16xf32>, %w: tensor<3x3x16x8xf32>) -> tensor<2x9x9x8xf32> {
  // CHECK: ad.fusion dot
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.pad %x, %zero low [0, 1, 1, 0] high [0, 1, 1, 0] interior [0, 0, 0, 0] : tensor<2x9x9x16xf32>, tensor<f32>
  %1 = ad.conv %0, %w dims "b01c,01co->b01o" : (tensor<2x11x11x16xf32>, tensor<3x3x16x8xf32>) -> tensor<2x9x9x8xf32>
  return %1 : tensor<2x9x9x8xf32>
}

// Vectors would run along the padded axis.
// CHECK-LABEL: @channels_first
func.func @channels_first(%x: tensor<2x16x9x9xf32>, %w: tensor<8x16x3x3xf32>) -> tensor<2x8x9x9xf32> {
  // CHECK: ad.fusion movement
  // CHECK: ad.fusion dot
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.pad %x, %zero low [0, 0, 1, 1] high [0, 0, 1, 1] interior [0, 0, 0, 0] : tensor<2x16x9x9xf32>, tensor<f32>
  %1 = ad.conv %0, %w dims "bc01,oc01->bo01" : (tensor<2x16x11x11xf32>, tensor<8x16x3x3xf32>) -> tensor<2x8x9x9xf32>
  return %1 : tensor<2x8x9x9xf32>
}

// The innermost loop of a gradient of the filter runs along the padded axis: each step would ask for itself.
// CHECK-LABEL: @gradient_of_the_filter
func.func @gradient_of_the_filter(%x: tensor<2x9x9x16xf32>, %g: tensor<2x9x9x8xf32>) -> tensor<3x3x16x8xf32> {
  // CHECK: ad.fusion movement
  // CHECK: ad.fusion dot
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.pad %x, %zero low [0, 1, 1, 0] high [0, 1, 1, 0] interior [0, 0, 0, 0] : tensor<2x9x9x16xf32>, tensor<f32>
  %1 = ad.conv %0, %g dims "b01c,b01o->01co" : (tensor<2x11x11x16xf32>, tensor<2x9x9x8xf32>) -> tensor<3x3x16x8xf32>
  return %1 : tensor<3x3x16x8xf32>
}

// The padded tensor is a result: it is there already.
// CHECK-LABEL: @padded_for_others
func.func @padded_for_others(%x: tensor<2x9x9x16xf32>, %w: tensor<3x3x16xf32>) -> (tensor<2x9x9x16xf32>, tensor<2x11x11x16xf32>) {
  // CHECK: ad.fusion movement
  // CHECK: ad.fusion dot
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.pad %x, %zero low [0, 1, 1, 0] high [0, 1, 1, 0] interior [0, 0, 0, 0] : tensor<2x9x9x16xf32>, tensor<f32>
  %1 = ad.conv %0, %w dims "b01c,01c->b01c" : (tensor<2x11x11x16xf32>, tensor<3x3x16xf32>) -> tensor<2x9x9x16xf32>
  return %1, %0 : tensor<2x9x9x16xf32>, tensor<2x11x11x16xf32>
}

// Phases of a convolution read parts of one padded input.
// CHECK-LABEL: @phases
func.func @phases(%x: tensor<2x9x9x16xf32>, %w: tensor<2x2x16xf32>, %v: tensor<2x1x16xf32>) -> (tensor<2x9x9x16xf32>, tensor<2x9x9x16xf32>) {
  // CHECK-NOT: ad.fusion movement
  // CHECK: ad.slice {{.*}} -> tensor<2x10x9x16xf32>
  // CHECK-NOT: ad.fusion movement
  // CHECK: return
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.pad %x, %zero low [0, 0, 0, 0] high [0, 1, 1, 0] interior [0, 0, 0, 0] : tensor<2x9x9x16xf32>, tensor<f32>
  %1 = ad.conv %0, %w dims "b01c,01c->b01c" : (tensor<2x10x10x16xf32>, tensor<2x2x16xf32>) -> tensor<2x9x9x16xf32>
  %2 = ad.slice %0 [0, 0, 0, 0] strides [1, 1, 1, 1] : tensor<2x10x10x16xf32> -> tensor<2x10x9x16xf32>
  %3 = ad.conv %2, %v dims "b01c,01c->b01c" : (tensor<2x10x9x16xf32>, tensor<2x1x16xf32>) -> tensor<2x9x9x16xf32>
  return %1, %3 : tensor<2x9x9x16xf32>, tensor<2x9x9x16xf32>
}

// Two kernels would find out for rows of three elements what is padding.
// CHECK-LABEL: @short_rows
func.func @short_rows(%x: tensor<2x9x9x3xf32>, %w: tensor<2x2x3xf32>, %v: tensor<2x2x3xf32>) -> (tensor<2x9x9x3xf32>, tensor<2x5x5x3xf32>) {
  // CHECK: ad.fusion movement
  // CHECK: ad.fusion dot
  // CHECK: ad.fusion dot
  %zero = ad.constant dense<0.0> : tensor<f32>
  %0 = ad.pad %x, %zero low [0, 0, 0, 0] high [0, 1, 1, 0] interior [0, 0, 0, 0] : tensor<2x9x9x3xf32>, tensor<f32>
  %1 = ad.conv %0, %w dims "b01c,01c->b01c" : (tensor<2x10x10x3xf32>, tensor<2x2x3xf32>) -> tensor<2x9x9x3xf32>
  %2 = ad.conv %0, %v dims "b01c,01c->b01c" strides [2, 2] : (tensor<2x10x10x3xf32>, tensor<2x2x3xf32>) -> tensor<2x5x5x3xf32>
  return %1, %2 : tensor<2x9x9x3xf32>, tensor<2x5x5x3xf32>
}
