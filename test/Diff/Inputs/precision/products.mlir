// A small bound needs the first two products in f32: each alone leaves the error of the other.
func.func @main(%x: tensor<4x8xf32> {ad.name = "x"}, %v: tensor<8x4xf32> {ad.name = "v"},
                %w: tensor<8x4xf32> {ad.name = "w"}) -> (tensor<4x4xf32> {ad.name = "y"}) {
  %small = ad.constant dense<1.0e-3> : tensor<f32>
  %p = ad.dot %x, %v : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %q = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  %r = ad.dot %q, %q : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %s = ad.mul %r, %small : tensor<4x4xf32>, tensor<f32>
  %sum = ad.add %p, %q : tensor<4x4xf32>
  %y = ad.add %sum, %s : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
