func.func @main(%a0: tensor<2x3x2x3xf32> {ad.name="a0"}) -> tensor<4x8xf32> {
 %e = tensor.empty() : tensor<4x8xf32>
 %r = linalg.unpack %a0 inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e : tensor<2x3x2x3xf32> -> tensor<4x8xf32>
 return %r : tensor<4x8xf32>
}
