// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-runner %s --target reference --arg q=normal:1 --arg k=normal:2 --dim k.2=700
// RUN: ad-runner %s --target cpu --arg q=normal:1 --arg k=normal:2 --dim k.2=700
// RUN: ad-runner %s --target gpu-sim --arg q=normal:1 --arg k=normal:2 --dim k.2=700

// The number of keys is open, so that only the written chunk bounds one: the largest number there is counts as any
// other that is not below the number of keys. The GPU divides the keys of a query.
func.func @main(%q: tensor<1x1x1x16xf32> {ad.name = "q"}, %k: tensor<1x1x?x16xf32> {ad.name = "k"}) {
  %y, %l = ad.attention %q, %k, %k chunk 9223372036854775807 : tensor<1x1x1x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>
  %z, %m = ad.attention %q, %k, %k chunk 1024 : tensor<1x1x1x16xf32>, tensor<1x1x?x16xf32>, tensor<1x1x?x16xf32>
  check.expect_eq(%y, %z) : tensor<1x1x1x16xf32>
  check.expect_eq(%l, %m) : tensor<1x1x1xf32>
  return
}
