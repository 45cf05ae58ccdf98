// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions whose outs are no neutral fill: 128 zeros added to a start of 1, blocks of 64 and lanes; a chain of subtractions in one
// block; an accumulated product of 2048 steps; copies.
//
// RUN: ad-runner %s --cache=off
// RUN: ad-runner %s --cache=off --threads 2
// RUN: ad-runner %s --cache=off --target gpu-sim

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel private @lanes(%a: tensor<2x128xf32>, %c: tensor<2xf32>) -> tensor<2xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x128xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  ad.yield %r : tensor<2xf32>
}
ad.kernel private @blocks(%a: tensor<2x128xf32>, %c: tensor<2xf32>) -> tensor<2xf32> attributes
    {kernel_class = "generic", order = #ad.order<block = 32>} {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x128xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %x, %out : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  ad.yield %r : tensor<2xf32>
}
ad.kernel private @subtract(%a: tensor<2x128xf32>, %c: tensor<2xf32>) -> tensor<2xf32> attributes
    {kernel_class = "generic", order = #ad.order<block = 128>} {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x128xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.subf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  ad.yield %r : tensor<2xf32>
}
// The last element of each row.
ad.kernel private @last(%a: tensor<2x128xf32>, %c: tensor<2xf32>) -> tensor<2xf32> attributes
    {kernel_class = "generic"} {
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<2x128xf32>) outs(%c : tensor<2xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<2xf32>
  ad.yield %r : tensor<2xf32>
}
// Both results are block arguments; the second one is what is written over.
ad.kernel private @copies(%a: tensor<2x128xf32>, %c: tensor<2x128xf32>) -> (tensor<2x128xf32>, tensor<2x128xf32>) attributes
    {kernel_class = "elementwise"} {
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<2x128xf32>) outs(%a, %c : tensor<2x128xf32>, tensor<2x128xf32>) {
  ^bb0(%x: f32, %first: f32, %second: f32):
    linalg.yield %x, %second : f32, f32
  } -> (tensor<2x128xf32>, tensor<2x128xf32>)
  ad.yield %r#0, %r#1 : tensor<2x128xf32>, tensor<2x128xf32>
}
ad.kernel private @accumulate(%a: tensor<3x2048xf32>, %b: tensor<2048x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<3x2048xf32>, tensor<2048x5xf32>) outs(%c : tensor<3x5xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = math.fma %x, %y, %out : f32
    linalg.yield %s : f32
  } -> tensor<3x5xf32>
  ad.yield %r : tensor<3x5xf32>
}

func.func @main() -> tensor<2xf32> {
  %zeros = ad.constant dense<0.0> : tensor<2x128xf32>
  %ones = ad.constant dense<1.0> : tensor<2x128xf32>
  %start = ad.constant dense<1.0> : tensor<2xf32>
  %a = ad.barrier %zeros : tensor<2x128xf32>
  %o = ad.barrier %ones : tensor<2x128xf32>
  %c = ad.barrier %start : tensor<2xf32>
  %0 = ad.launch @lanes(%a, %c) : (tensor<2x128xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq(%0, %start) : tensor<2xf32>
  %1 = ad.launch @blocks(%a, %c) : (tensor<2x128xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq(%1, %start) : tensor<2xf32>
  // 1 - 128 times 1.
  %2 = ad.launch @subtract(%o, %c) : (tensor<2x128xf32>, tensor<2xf32>) -> tensor<2xf32>
  %less = ad.constant dense<-127.0> : tensor<2xf32>
  check.expect_eq(%2, %less) : tensor<2xf32>
  %3 = ad.launch @last(%a, %c) : (tensor<2x128xf32>, tensor<2xf32>) -> tensor<2xf32>
  %none = ad.constant dense<0.0> : tensor<2xf32>
  check.expect_eq(%3, %none) : tensor<2xf32>
  %4:2 = ad.launch @copies(%a, %o) : (tensor<2x128xf32>, tensor<2x128xf32>) -> (tensor<2x128xf32>, tensor<2x128xf32>)
  check.expect_eq(%4#0, %zeros) : tensor<2x128xf32>
  check.expect_eq(%4#1, %ones) : tensor<2x128xf32>
  // 3 + 2048 times 1 * 2.
  %left = ad.constant dense<1.0> : tensor<3x2048xf32>
  %right = ad.constant dense<2.0> : tensor<2048x5xf32>
  %sums = ad.constant dense<3.0> : tensor<3x5xf32>
  %l = ad.barrier %left : tensor<3x2048xf32>
  %m = ad.barrier %right : tensor<2048x5xf32>
  %n = ad.barrier %sums : tensor<3x5xf32>
  %5 = ad.launch @accumulate(%l, %m, %n) : (tensor<3x2048xf32>, tensor<2048x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %product = ad.constant dense<4099.0> : tensor<3x5xf32>
  check.expect_eq(%5, %product) : tensor<3x5xf32>
  return %0 : tensor<2xf32>
}
