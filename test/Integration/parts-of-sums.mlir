// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Parts of a sum that end where blocks or chunks of its order end, joined by the tree, give the bits of the whole sum:
// the rules of docs/numerics.md for contractions of two axes, sums in lanes, and sums over two axes.
// RUN: ad-runner %s --target reference --numerics reproducible --arg tokens=normal:1 --arg losses=normal:2 --arg rows=normal:3
// RUN: ad-runner %s --target cpu --numerics reproducible --threads 2 --arg tokens=normal:1 --arg losses=normal:2 --arg rows=normal:3
// RUN: ad-runner %s --target cpu --numerics reproducible --tiles small --arg tokens=normal:1 --arg losses=normal:2 --arg rows=normal:3
// RUN: ad-runner %s --target gpu-sim --numerics reproducible --no-race-detection --arg tokens=normal:1 --arg losses=normal:2 --arg rows=normal:3

// 8 examples of 128 tokens: 4 of them are a block of the contraction.
func.func private @contraction(%tokens: tensor<8x128x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>) attributes {ad.numerics = #ad.numerics<reproducible>} {
  %first = ad.slice %tokens [0, 0, 0] strides [1, 1, 1] : tensor<8x128x3xf32> -> tensor<4x128x3xf32>
  %second = ad.slice %tokens [4, 0, 0] strides [1, 1, 1] : tensor<8x128x3xf32> -> tensor<4x128x3xf32>
  %whole = ad.dot %tokens, %tokens batch [] x [] contract [0, 1] x [0, 1] : (tensor<8x128x3xf32>, tensor<8x128x3xf32>) -> tensor<3x3xf32>
  %a = ad.dot %first, %first batch [] x [] contract [0, 1] x [0, 1] : (tensor<4x128x3xf32>, tensor<4x128x3xf32>) -> tensor<3x3xf32>
  %b = ad.dot %second, %second batch [] x [] contract [0, 1] x [0, 1] : (tensor<4x128x3xf32>, tensor<4x128x3xf32>) -> tensor<3x3xf32>
  %joined = ad.add %a, %b : tensor<3x3xf32>
  return %whole, %joined : tensor<3x3xf32>, tensor<3x3xf32>
}

// A sum of a vector is in lanes: its parts are chunks of 4096.
func.func private @lanes(%losses: tensor<9000xf32>) -> (tensor<f32>, tensor<f32>) attributes {ad.numerics = #ad.numerics<reproducible>} {
  %whole = ad.reduce_sum %losses axes [0] : tensor<9000xf32> -> tensor<f32>
  %0 = ad.slice %losses [0] strides [1] : tensor<9000xf32> -> tensor<4096xf32>
  %1 = ad.slice %losses [4096] strides [1] : tensor<9000xf32> -> tensor<4096xf32>
  %2 = ad.slice %losses [8192] strides [1] : tensor<9000xf32> -> tensor<808xf32>
  %a = ad.reduce_sum %0 axes [0] keep_dims : tensor<4096xf32> -> tensor<1xf32>
  %b = ad.reduce_sum %1 axes [0] keep_dims : tensor<4096xf32> -> tensor<1xf32>
  %c = ad.reduce_sum %2 axes [0] keep_dims : tensor<808xf32> -> tensor<1xf32>
  %stack = ad.concat axis 0 %a, %b, %c : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
  %joined = ad.reduce_sum %stack axes [0] {order = #ad.order<block = 1>} : tensor<3xf32> -> tensor<f32>
  return %whole, %joined : tensor<f32>, tensor<f32>
}

// A sum over two axes: the blocks are those of the first one.
func.func private @axes(%rows: tensor<1024x2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>) attributes {ad.numerics = #ad.numerics<reproducible>} {
  %first = ad.slice %rows [0, 0, 0] strides [1, 1, 1] : tensor<1024x2x3xf32> -> tensor<512x2x3xf32>
  %second = ad.slice %rows [512, 0, 0] strides [1, 1, 1] : tensor<1024x2x3xf32> -> tensor<512x2x3xf32>
  %whole = ad.reduce_sum %rows axes [0, 1] : tensor<1024x2x3xf32> -> tensor<3xf32>
  %a = ad.reduce_sum %first axes [0, 1] : tensor<512x2x3xf32> -> tensor<3xf32>
  %b = ad.reduce_sum %second axes [0, 1] : tensor<512x2x3xf32> -> tensor<3xf32>
  %joined = ad.add %a, %b : tensor<3xf32>
  return %whole, %joined : tensor<3xf32>, tensor<3xf32>
}

func.func @main(%tokens: tensor<8x128x3xf32> {ad.name = "tokens"}, %losses: tensor<9000xf32> {ad.name = "losses"},
                %rows: tensor<1024x2x3xf32> {ad.name = "rows"}) -> tensor<f32> {
  %0:2 = call @contraction(%tokens) : (tensor<8x128x3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>)
  %1:2 = call @lanes(%losses) : (tensor<9000xf32>) -> (tensor<f32>, tensor<f32>)
  %2:2 = call @axes(%rows) : (tensor<1024x2x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  check.expect_eq(%0#0, %0#1) : tensor<3x3xf32>
  check.expect_eq(%1#0, %1#1) : tensor<f32>
  check.expect_eq(%2#0, %2#1) : tensor<3xf32>
  return %1#0 : tensor<f32>
}
