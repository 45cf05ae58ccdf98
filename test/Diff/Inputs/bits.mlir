// The bits of numbers, as integers and as numbers again.
func.func @main(%x: tensor<4x3xf32> {ad.name = "x"}) -> (tensor<f32> {ad.name = "y"}) {
  %a = ad.mul %x, %x : tensor<4x3xf32>
  %b = ad.bitcast %x : tensor<4x3xf32> -> tensor<4x3xi32>
  %zero = ad.constant dense<0> : tensor<i32>
  %c = ad.compare gt %b, %zero : tensor<4x3xi32>, tensor<i32>
  %n = ad.neg %a : tensor<4x3xf32>
  %s = ad.select %c, %a, %n : tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>
  %y = ad.reduce_sum %s axes [0, 1] : tensor<4x3xf32> -> tensor<f32>
  return %y : tensor<f32>
}
