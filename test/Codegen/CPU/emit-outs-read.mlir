// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Parallel kernels that read several of their outs: in scalar code, by the terminator alone, and next to outs that nobody reads.
//
// RUN: ad-runner %s --cache=off
// RUN: ad-runner %s --cache=off --threads 2
// RUN: ad-runner %s --cache=off --target gpu-sim

#id = affine_map<(d0) -> (d0)>

ad.kernel private @both(%a: tensor<19xf32>, %b: tensor<19xf32>, %c: tensor<19xf32>) -> (tensor<19xf32>, tensor<19xf32>) attributes
    {kernel_class = "generic"} {
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<19xf32>) outs(%b, %c : tensor<19xf32>, tensor<19xf32>) {
  ^bb0(%x: f32, %first: f32, %second: f32):
    %s = arith.subf %x, %first : f32
    %t = arith.subf %second, %x : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<19xf32>, tensor<19xf32>)
  ad.yield %r#0, %r#1 : tensor<19xf32>, tensor<19xf32>
}
// The first and the third result only yield outs, in exchanged places; nobody reads the second.
ad.kernel private @exchanged(%a: tensor<19xf32>, %b: tensor<19xf32>, %c: tensor<19xf32>, %d: tensor<19xf32>)
    -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>) attributes {kernel_class = "elementwise"} {
  %r:3 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<19xf32>) outs(%b, %c, %d : tensor<19xf32>, tensor<19xf32>, tensor<19xf32>) {
  ^bb0(%x: f32, %first: f32, %second: f32, %third: f32):
    linalg.yield %third, %x, %first : f32, f32, f32
  } -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>)
  ad.yield %r#0, %r#1, %r#2 : tensor<19xf32>, tensor<19xf32>, tensor<19xf32>
}

func.func @main() -> tensor<19xf32> {
  %one = ad.constant dense<1.0> : tensor<19xf32>
  %four = ad.constant dense<4.0> : tensor<19xf32>
  %nine = ad.constant dense<9.0> : tensor<19xf32>
  %a = ad.barrier %one : tensor<19xf32>
  %b = ad.barrier %four : tensor<19xf32>
  %c = ad.barrier %nine : tensor<19xf32>
  %0:2 = ad.launch @both(%a, %b, %c) : (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>) -> (tensor<19xf32>, tensor<19xf32>)
  %less = ad.constant dense<-3.0> : tensor<19xf32>
  check.expect_eq(%0#0, %less) : tensor<19xf32>
  %more = ad.constant dense<8.0> : tensor<19xf32>
  check.expect_eq(%0#1, %more) : tensor<19xf32>
  %1:3 = ad.launch @exchanged(%a, %a, %b, %c) : (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>, tensor<19xf32>)
      -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>)
  check.expect_eq(%1#0, %nine) : tensor<19xf32>
  check.expect_eq(%1#1, %one) : tensor<19xf32>
  check.expect_eq(%1#2, %one) : tensor<19xf32>
  return %0#0 : tensor<19xf32>
}
