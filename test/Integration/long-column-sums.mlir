// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s

// Sums over several blocks: what all of their terms share is read in each block, and again after the sums.
func.func @main() -> tensor<8xf32> {
  %one = ad.constant dense<1.0> : tensor<600x8xf32>
  %numbers = ad.iota axis 0 : tensor<8xf32>
  %x, %b = ad.barrier %one, %numbers : tensor<600x8xf32>, tensor<8xf32>
  %terms = ad.mul %x, %b : tensor<600x8xf32>, tensor<8xf32>
  %sums = ad.reduce_sum %terms axes [0] : tensor<600x8xf32> -> tensor<8xf32>
  %y = ad.add %sums, %b : tensor<8xf32>
  %expected = ad.constant dense<[0.0, 601.0, 1202.0, 1803.0, 2404.0, 3005.0, 3606.0, 4207.0]> : tensor<8xf32>
  check.expect_eq(%y, %expected) : tensor<8xf32>
  return %y : tensor<8xf32>
}
