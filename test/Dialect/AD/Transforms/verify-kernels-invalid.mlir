// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Linalg that no emitter compiles as linalg defines it: refused by the verifier and by both emitters.
//
// RUN: ad-opt %s --ad-verify-linalg --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-emit-cpu --split-input-file --verify-diagnostics
// RUN: ad-opt %s --ad-emit-gpu --split-input-file --verify-diagnostics

ad.kernel @writes_again(%a: tensor<4x8xf32>, %c: tensor<4xf32>) -> tensor<4xf32> attributes
    {kernel_class = "generic"} {
  // expected-error @+1 {{'linalg.generic' op expected every parallel loop in the map of result 0, but d1 is missing, so that elements are written more than once}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

ad.kernel @writes_steps(%a: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> attributes
    {kernel_class = "generic"} {
  // expected-error @+1 {{expected parallel loops in the map of result 0, but d1 is a reduction loop}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  ad.yield %r : tensor<4x8xf32>
}

// -----

ad.kernel @writes_a_column(%a: tensor<4xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> attributes
    {kernel_class = "generic"} {
  // expected-error @+1 {{expected size 1 where the map of result 0 is constant, but axis 1 of 'tensor<4x8xf32>' has elements that are not written}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, 0)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  ad.yield %r : tensor<4x8xf32>
}

// -----

ad.kernel @two_maps(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes
    {kernel_class = "generic"} {
  // expected-error @+1 {{expected one map for all results, but that of result 1 is another one; write an operation for each}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>],
      iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x4xf32>) outs(%c, %c : tensor<4x4xf32>, tensor<4x4xf32>) {
  ^bb0(%x: f32, %out: f32, %transposed: f32):
    linalg.yield %x, %x : f32, f32
  } -> (tensor<4x4xf32>, tensor<4x4xf32>)
  ad.yield %r#0, %r#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

ad.kernel @computes_panels(%x: tensor<96x96xf32>) -> tensor<3x96x32xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<3x96x32xf32>
  // expected-error @+1 {{expected a copy of a matrix where the map of the result divides loops}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<96x96xf32>) outs(%e : tensor<3x96x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<3x96x32xf32>
  ad.yield %r : tensor<3x96x32xf32>
}

// -----

ad.kernel @reads_nothing(%a: tensor<4x8xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{expected outs that have been written, but reads the tensor.empty of result 0; fill it first}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

ad.kernel @scan_is_read(%a: tensor<4x8xf32>, %c: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) attributes
    {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @+1 {{expected the steps of a running reduction to be a result of the kernel and nothing else to be read of it}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%e, %c : tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %step: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s, %s : f32, f32
  } -> (tensor<4x8xf32>, tensor<4xf32>)
  ad.yield %r#0, %r#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// Twice the same loop: a diagonal.
ad.kernel @writes_a_diagonal(%a: tensor<4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> attributes
    {kernel_class = "generic"} {
  // expected-error @+1 {{expected the map of result 0 to be a projected permutation, or panels that its type has room for, but got (d0) -> (d0, d0)}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0, d0)>],
      iterator_types = ["parallel"]} ins(%a : tensor<4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

// -----

ad.kernel @named(%a: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "generic"} {
  // expected-error @+1 {{'linalg.matmul' op expected linalg.generic or linalg.fill in a kernel; run --linalg-generalize-named-ops first}}
  %m = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.yield %m : tensor<4x4xf32>
}

// -----

ad.kernel @row(%a: tensor<4x4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  // expected-error @+1 {{'tensor.extract_slice' op expected a slice with all axes of its source, but drops some; drop them in the map of the operation that reads it}}
  %r = tensor.extract_slice %a[1, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

// expected-error @+1 {{'ad.kernel' op expected tensors of integers or floats in a kernel, but got 'tensor<4xindex>'; cast indices to i64}}
ad.kernel @indices(%a: tensor<4xindex>) -> tensor<4xindex> attributes {kernel_class = "generic"} {
  ad.yield %a : tensor<4xindex>
}

// -----

ad.kernel @index_inside(%a: tensor<4xi64>) -> tensor<4xi64> attributes {kernel_class = "generic"} {
  // expected-error @+1 {{'tensor.empty' op expected tensors of integers or floats in a kernel, but got 'tensor<4xindex>'; cast indices to i64}}
  %e = tensor.empty() : tensor<4xindex>
  ad.yield %a : tensor<4xi64>
}
