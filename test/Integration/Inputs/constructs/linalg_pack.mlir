func.func @main(%a0: tensor<4x8xf32> {ad.name="a0"}) -> tensor<2x3x2x3xf32> {
 %z = arith.constant 0.0 : f32
 %e = tensor.empty() : tensor<2x3x2x3xf32>
 %r = linalg.pack %a0 padding_value(%z : f32) inner_dims_pos = [0, 1] inner_tiles = [2, 3] into %e : tensor<4x8xf32> -> tensor<2x3x2x3xf32>
 return %r : tensor<2x3x2x3xf32>
}
