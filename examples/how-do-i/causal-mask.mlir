// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Attention in which each position sees itself and what comes before it.

func.func @main(%q: tensor<6x4xf32> {ad.name = "q"}, %k: tensor<6x4xf32> {ad.name = "k"},
                %v: tensor<6x4xf32> {ad.name = "v"}) -> (tensor<6x4xf32> {ad.name = "y"}) {
  %scale = ad.constant dense<0.5> : tensor<f32>
  %product = ad.dot %q, %k contract [1] x [1] : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x6xf32>
  %scores = ad.mul %product, %scale : tensor<6x6xf32>, tensor<f32>
  // Row i and column j of each element; a score stays where j <= i, elsewhere it is so small that softmax gives 0.
  %row = ad.iota axis 0 : tensor<6x6xi32>
  %column = ad.iota axis 1 : tensor<6x6xi32>
  %seen = ad.compare le %column, %row : tensor<6x6xi32>
  %never = ad.constant dense<-1.0e30> : tensor<f32>
  %masked = ad.select %seen, %scores, %never : tensor<6x6xi1>, tensor<6x6xf32>, tensor<f32>
  %weights = ad.softmax %masked axis 1 : tensor<6x6xf32>
  %y = ad.dot %weights, %v : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
