// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s
// RUN: ad-runner --target cpu -O0 %s
// RUN: ad-runner --target gpu-sim %s

// Zeros between the elements of a convolution's input take no part in its sums: infinities in the filter meet
// them at places 0 and 2 and make no NaN. Zeros of the padding are multiplied: there is a NaN where one meets an infinity.
func.func @main() {
  %x = ad.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %w = ad.constant dense<[0x7F800000, 3.0, 0x7F800000]> : tensor<3xf32>
  %input = ad.barrier %x : tensor<2xf32>
  %filter = ad.barrier %w : tensor<3xf32>
  %y = ad.conv %input, %filter dims "0,0->0" low [1] high [1] input_dilation [2] : (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>
  %expected = ad.constant dense<[3.0, 0x7F800000, 6.0]> : tensor<3xf32>
  check.expect_eq(%y, %expected) : tensor<3xf32>

  // No element of the filter takes part at the odd places.
  %one = ad.slice %filter [0] strides [1] : tensor<3xf32> -> tensor<1xf32>
  %z = ad.conv %input, %one dims "0,0->0" input_dilation [2] : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
  %apart = ad.constant dense<[0x7F800000, 0.0, 0x7F800000]> : tensor<3xf32>
  check.expect_eq(%z, %apart) : tensor<3xf32>

  %p = ad.conv %input, %one dims "0,0->0" low [2] input_dilation [2] : (tensor<2xf32>, tensor<1xf32>) -> tensor<5xf32>
  %padded = ad.constant dense<[0x7FC00000, 0.0, 0x7F800000, 0.0, 0x7F800000]> : tensor<5xf32>
  check.expect_eq(%p, %padded) : tensor<5xf32>
  return
}
