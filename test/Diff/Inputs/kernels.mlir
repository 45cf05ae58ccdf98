// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// Operations that have several named kernels; ad.dot and ad.softmax occur twice.
func.func @main(%x: tensor<16x64xf32> {ad.name = "x"}, %w: tensor<64x64xf32> {ad.name = "w"},
                %b: tensor<64xf32> {ad.name = "b"}) -> (tensor<16xf32> {ad.name = "y"}) {
  %product = ad.dot %x, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %normal = ad.layer_norm %product, %b, %b epsilon 1.000000e-05 : tensor<16x64xf32>, tensor<64xf32>
  %first = ad.softmax %normal axis 1 : tensor<16x64xf32>
  %mixed = ad.dot %first, %w : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %second = ad.softmax %mixed axis 1 : tensor<16x64xf32>
  %logs = ad.log_softmax %mixed axis 0 : tensor<16x64xf32>
  %both = ad.mul %second, %logs : tensor<16x64xf32>
  %y = ad.reduce_sum %both axes [1] : tensor<16x64xf32> -> tensor<16xf32>
  return %y : tensor<16xf32>
}
