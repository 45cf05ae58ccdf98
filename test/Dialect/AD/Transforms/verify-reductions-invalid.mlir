// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions that an order joins although they cannot be joined: refused by the verifier and by both emitters.
//
// RUN: ad-opt %s --ad-verify-linalg --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-emit-cpu --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-emit-gpu --split-input-file --verify-diagnostics

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel @subtracts(%a: tensor<1x128xf32>, %c: tensor<1xf32>) -> tensor<1xf32> attributes
    {kernel_class = "row", order = #ad.order<block = 64>} {
  // expected-error @+1 {{'linalg.generic' op expected a reduction whose partial results can be joined, since the order #ad.order<block = 64> joins blocks of 128 elements, but 'arith.subf' does not join partial results; write blocks as long as the axis, or no order}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x128xf32>) outs(%c : tensor<1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.subf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  ad.yield %r : tensor<1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel @reads_twice(%a: tensor<1x128xf32>, %c: tensor<1xf32>) -> tensor<1xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  // expected-error @+1 {{since the order #ad.order<lanes = 64, chunk = 4096> joins lanes, but its body reads the accumulator more than once}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x128xf32>) outs(%c : tensor<1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.mulf %out, %out : f32
    %s = arith.addf %t, %x : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  ad.yield %r : tensor<1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel @reads_elsewhere(%a: tensor<1x?xf32>, %c: tensor<1xf32>) -> tensor<1xf32> attributes
    {kernel_class = "generic", order = #ad.order<block = 512>} {
  // expected-error @+1 {{joins blocks of an unknown number of elements, but its body reads the accumulator in 'arith.mulf', whose result it does not yield}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x?xf32>) outs(%c : tensor<1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.mulf %out, %x : f32
    %s = arith.addf %t, %x : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  ad.yield %r : tensor<1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel @yields_an_argument(%a: tensor<1x128xf32>, %c: tensor<1xf32>) -> tensor<1xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  // expected-error @+1 {{but its body yields a value that it does not compute}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x128xf32>) outs(%c : tensor<1xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<1xf32>
  ad.yield %r : tensor<1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel @ignores(%a: tensor<1x128xf32>, %c: tensor<1xf32>) -> tensor<1xf32> attributes
    {kernel_class = "row", order = #ad.order<lanes = 64, chunk = 4096>} {
  // expected-error @+1 {{but its body does not read the accumulator}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x128xf32>) outs(%c : tensor<1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  ad.yield %r : tensor<1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel @multiplies_the_accumulator(%a: tensor<1x128xf32>, %c: tensor<1xf32>) -> tensor<1xf32> attributes
    {kernel_class = "row", order = #ad.order<block = 64>} {
  // expected-error @+1 {{but its body multiplies the accumulator}}
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x128xf32>) outs(%c : tensor<1xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = math.fma %x, %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  ad.yield %r : tensor<1xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

ad.kernel @two_sums(%a: tensor<1x128xf32>, %c: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) attributes
    {kernel_class = "row", order = #ad.order<block = 64>} {
  // expected-error @+1 {{but it has several results, which one condition does not select}}
  %r:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x128xf32>) outs(%c, %c : tensor<1xf32>, tensor<1xf32>) {
  ^bb0(%x: f32, %sum: f32, %product: f32):
    %s = arith.addf %sum, %x : f32
    %p = arith.mulf %product, %x : f32
    linalg.yield %s, %p : f32, f32
  } -> (tensor<1xf32>, tensor<1xf32>)
  ad.yield %r#0, %r#1 : tensor<1xf32>, tensor<1xf32>
}
