// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// Each permission, policy and kernel that bisect_causes_test.py names changes the bits of one operation.
func.func @main(%x: tensor<16x64xf32> {ad.name = "x"}, %w: tensor<64x64xf32> {ad.name = "w"},
                %b: tensor<64xf32> {ad.name = "b"}) -> (tensor<16xf32> {ad.name = "y"}) {
  %product = ad.dot %x, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %third = ad.constant dense<0.333333343> : tensor<16x64xf32>
  %scaled = ad.mul %product, %third : tensor<16x64xf32>
  %seventh = ad.constant dense<0.142857149> : tensor<16x64xf32>
  %again = ad.mul %scaled, %seventh : tensor<16x64xf32>
  %normal = ad.layer_norm %again, %b, %b epsilon 1.000000e-05 : tensor<16x64xf32>, tensor<64xf32>
  %curve = ad.tanh %normal : tensor<16x64xf32>
  %short = ad.cast %curve : tensor<16x64xf32> -> tensor<16x64xbf16>
  %long = ad.cast %short : tensor<16x64xbf16> -> tensor<16x64xf32>
  %clipped = ad.abs %long : tensor<16x64xf32>
  %root = ad.sqrt %clipped : tensor<16x64xf32>
  %distance = ad.sub %root, %curve : tensor<16x64xf32>
  %whole = ad.add %distance, %normal : tensor<16x64xf32>
  %y = ad.reduce_sum %whole axes [1] : tensor<16x64xf32> -> tensor<16xf32>
  return %y : tensor<16xf32>
}
