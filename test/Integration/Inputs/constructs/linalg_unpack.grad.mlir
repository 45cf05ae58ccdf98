func.func private @loss(%a0: tensor<2x3x2x3xf32>) -> tensor<f32> {
 %e = tensor.empty() : tensor<4x8xf32>
 %r = linalg.unpack %a0 inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e : tensor<2x3x2x3xf32> -> tensor<4x8xf32>
 %l = ad.reduce_sum %r axes [0,1] : tensor<4x8xf32> -> tensor<f32>
 return %l : tensor<f32>
}

func.func @main(%a0: tensor<2x3x2x3xf32> {ad.name="a0"}) -> (tensor<f32>, tensor<2x3x2x3xf32>) {
 %v, %g = ad.value_and_grad @loss(%a0) wrt [0] : (tensor<2x3x2x3xf32>) -> (tensor<f32>, tensor<2x3x2x3xf32>)
 return %v, %g : tensor<f32>, tensor<2x3x2x3xf32>
}
