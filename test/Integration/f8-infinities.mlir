// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner --target reference %s
// RUN: ad-runner --target cpu %s
// RUN: ad-runner --target cpu -O0 %s
// RUN: ad-runner --target cpu %s --entry folded

// An f8E5M2 infinity comes in from outside only. What computes gives the largest finite value for it, what moves elements keeps
// it. @folded is the same without the barrier: folders give these bits too.
func.func private @expect(%x: tensor<3xf8E5M2>, %like: tensor<3xf32>) {
  %computed = ad.constant dense<[57344.0, -57344.0, 1.0]> : tensor<3xf8E5M2>
  %magnitude = ad.constant dense<[57344.0, 57344.0, 1.0]> : tensor<3xf8E5M2>
  %negated = ad.constant dense<[-57344.0, 57344.0, -1.0]> : tensor<3xf8E5M2>
  %positive = ad.constant dense<[57344.0, 0.0, 1.0]> : tensor<3xf8E5M2>
  %kept = ad.constant dense<[0x7C, 0xFC, 0x3C]> : tensor<3xf8E5M2>

  %abs = ad.abs %x : tensor<3xf8E5M2>
  %neg = ad.neg %x : tensor<3xf8E5M2>
  %max = ad.max %x, %x : tensor<3xf8E5M2>
  %min = ad.min %x, %x : tensor<3xf8E5M2>
  %clamp = ad.clamp %x, %x, %x : tensor<3xf8E5M2>, tensor<3xf8E5M2>, tensor<3xf8E5M2>
  %floor = ad.floor %x : tensor<3xf8E5M2>
  %relu = ad.relu %x : tensor<3xf8E5M2>
  check.expect_eq(%abs, %magnitude) : tensor<3xf8E5M2>
  check.expect_eq(%neg, %negated) : tensor<3xf8E5M2>
  check.expect_eq(%max, %computed) : tensor<3xf8E5M2>
  check.expect_eq(%min, %computed) : tensor<3xf8E5M2>
  check.expect_eq(%clamp, %computed) : tensor<3xf8E5M2>
  check.expect_eq(%floor, %computed) : tensor<3xf8E5M2>
  check.expect_eq(%relu, %positive) : tensor<3xf8E5M2>
  %largest = ad.reduce_max %x axes [0] : tensor<3xf8E5M2> -> tensor<f8E5M2>
  %smallest = ad.reduce_min %x axes [0] : tensor<3xf8E5M2> -> tensor<f8E5M2>
  %top = ad.constant dense<57344.0> : tensor<f8E5M2>
  %bottom = ad.constant dense<-57344.0> : tensor<f8E5M2>
  check.expect_eq(%largest, %top) : tensor<f8E5M2>
  check.expect_eq(%smallest, %bottom) : tensor<f8E5M2>

  %finite = ad.is_finite %x : tensor<3xf8E5M2> -> tensor<3xi1>
  %only_last = ad.constant dense<[false, false, true]> : tensor<3xi1>
  check.expect_eq(%finite, %only_last) : tensor<3xi1>
  %selected = ad.select %finite, %x, %x : tensor<3xi1>, tensor<3xf8E5M2>, tensor<3xf8E5M2>
  %twice = ad.reverse %x axes [0] : tensor<3xf8E5M2>
  %moved = ad.reverse %twice axes [0] : tensor<3xf8E5M2>
  check.expect_eq(%selected, %kept) : tensor<3xf8E5M2>
  check.expect_eq(%moved, %kept) : tensor<3xf8E5M2>
  %wide = ad.cast %x : tensor<3xf8E5M2> -> tensor<3xf32>
  %back = ad.cast %wide : tensor<3xf32> -> tensor<3xf8E5M2>
  check.expect_eq(%wide, %like) : tensor<3xf32>
  check.expect_eq(%back, %computed) : tensor<3xf8E5M2>
  return
}

func.func @main() -> tensor<3xf8E5M2> {
  %raw = ad.constant dense<[0x7C, 0xFC, 0x3C]> : tensor<3xf8E5M2>
  %infinite = ad.constant dense<[0x7F800000, 0xFF800000, 0x3F800000]> : tensor<3xf32>
  %x, %like = ad.barrier %raw, %infinite : tensor<3xf8E5M2>, tensor<3xf32>
  call @expect(%x, %like) : (tensor<3xf8E5M2>, tensor<3xf32>) -> ()
  return %x : tensor<3xf8E5M2>
}

func.func @folded() -> tensor<3xf8E5M2> {
  %x = ad.constant dense<[0x7C, 0xFC, 0x3C]> : tensor<3xf8E5M2>
  %like = ad.constant dense<[0x7F800000, 0xFF800000, 0x3F800000]> : tensor<3xf32>
  call @expect(%x, %like) : (tensor<3xf8E5M2>, tensor<3xf32>) -> ()
  return %x : tensor<3xf8E5M2>
}
