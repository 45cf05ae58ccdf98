// RUN: ad-runner %s --target reference --numerics reproducible
// RUN: ad-runner %s --target cpu --numerics reproducible

// The order that is written on an operation is the order in which it sums: 2^24 swallows single ones.

func.func @main() -> tensor<f32> {
  %head = ad.constant dense<[16777216.0]> : tensor<1xf32>
  %one = ad.constant dense<[1.0]> : tensor<1xf32>
  %ones = ad.broadcast %one : tensor<1xf32> -> tensor<7xf32>
  %written = ad.concat axis 0 %head, %ones : tensor<1xf32>, tensor<7xf32>
  %x = ad.barrier %written : tensor<8xf32>

  // One chain: each 1 is lost.
  %chain = ad.reduce_sum %x axes [0] {order = #ad.order<block = 8>} : tensor<8xf32> -> tensor<f32>
  %none = ad.constant dense<16777216.0> : tensor<f32>
  check.expect_eq(%chain, %none) : tensor<f32>

  // Blocks of four: the second keeps its four.
  %blocks = ad.reduce_sum %x axes [0] {order = #ad.order<block = 4>} : tensor<8xf32> -> tensor<f32>
  %four = ad.constant dense<16777220.0> : tensor<f32>
  check.expect_eq(%blocks, %four) : tensor<f32>

  // Two lanes: the odd one keeps its four, the even one loses three.
  %lanes = ad.reduce_sum %x axes [0] {order = #ad.order<lanes = 2, chunk = 8>} : tensor<8xf32> -> tensor<f32>
  check.expect_eq(%lanes, %four) : tensor<f32>

  // The canonical order has a lane for each: the tree over halves loses only the 1 that is added to the head.
  %canonical = ad.reduce_sum %x axes [0] : tensor<8xf32> -> tensor<f32>
  %six = ad.constant dense<16777222.0> : tensor<f32>
  check.expect_eq(%canonical, %six) : tensor<f32>

  // A contraction accumulates as it is written, too.
  %weights = ad.broadcast %one : tensor<1xf32> -> tensor<8xf32>
  %dot = ad.dot %x, %weights {order = #ad.order<block = 4>} : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  check.expect_eq(%dot, %four) : tensor<f32>
  return %dot : tensor<f32>
}
