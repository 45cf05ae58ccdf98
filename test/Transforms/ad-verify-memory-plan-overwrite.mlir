// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-verify-memory-plan --split-input-file --verify-diagnostics
//
// Which kernels may write over an argument: the checker finds it out without what the planner knows.

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Each element only where it is written.
func.func @points() {
  %b0 = ad.buffer <arena, bytes = 64>
  %a = ad.feed "a" into(%b0) : tensor<4x4xf32>
  %b = ad.launch @kernel(%a) into(%b0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @kernel(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "generic"} {
  %w = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#point, #point, #point], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%w : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %t = arith.mulf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum of a row, before its first element is written.
func.func @rows() {
  %b0 = ad.buffer <arena, bytes = 64>
  %a = ad.feed "a" into(%b0) : tensor<4x4xf32>
  %b = ad.launch @kernel(%a) into(%b0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @kernel(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %w = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#point, #row, #point], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%w : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %t = arith.mulf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Sums in another order are not computed row by row.
func.func @rows_in_blocks() {
  %b0 = ad.buffer <arena, bytes = 64>
  %a = ad.feed "a" into(%b0) : tensor<4x4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b = ad.launch @kernel(%a) into(%b0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @kernel(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "generic", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %w = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#point, #row, #point], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%w : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %t = arith.mulf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum of a column holds what other rows have written over.
func.func @columns() {
  %b0 = ad.buffer <arena, bytes = 64>
  %a = ad.feed "a" into(%b0) : tensor<4x4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b = ad.launch @kernel(%a) into(%b0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @kernel(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %w = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#point, #row, #point], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%w : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %t = arith.mulf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum of another row: the map of the factor exchanges them.
func.func @other_rows() {
  %b0 = ad.buffer <arena, bytes = 64>
  %a = ad.feed "a" into(%b0) : tensor<4x4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b = ad.launch @kernel(%a) into(%b0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @kernel(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#point, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.addf %out, %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %w = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#point, affine_map<(d0, d1) -> (d1)>, #point], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%w : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %t = arith.mulf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

// -----

#point = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The first element of a row is written before the others are computed from it.
func.func @first_of_row() {
  %b0 = ad.buffer <arena, bytes = 64>
  %a = ad.feed "a" into(%b0) : tensor<4x4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b = ad.launch @kernel(%a) into(%b0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  ad.receive "b"(%b) : tensor<4x4xf32>
  return
}
ad.kernel private @kernel(%a: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {kernel_class = "row", order = #ad.order<lanes = 16, chunk = 4096>} {
  %w = tensor.empty() : tensor<4x4xf32>
  %r = linalg.generic {indexing_maps = [#point, affine_map<(d0, d1) -> (d0, 0)>, #point], iterator_types = ["parallel", "parallel"]}
      ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%w : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %t = arith.mulf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  ad.yield %r : tensor<4x4xf32>
}

// -----

// Another result of the kernel, in a nest of its own, comes from elements that are written over by then.
func.func @other_result() {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 8>
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b, %c = ad.launch @kernel(%a) into(%b0, %b1) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>)
  ad.receive "b"(%b, %c) : tensor<4xf32>, tensor<2xf32>
  return
}
ad.kernel private @kernel(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>) attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %t = arith.mulf %x, %x : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  %s = tensor.extract_slice %a[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  ad.yield %r, %s : tensor<4xf32>, tensor<2xf32>
}

// -----

// Elements of another size have other offsets than the elements that they are computed from.
func.func @other_type() {
  %b0 = ad.buffer <arena, bytes = 32>
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %b = ad.launch @kernel(%a) into(%b0) : (tensor<4xf32>) -> tensor<4xf64>
  ad.receive "b"(%b) : tensor<4xf64>
  return
}
ad.kernel private @kernel(%a: tensor<4xf32>) -> tensor<4xf64> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf64>) {
  ^bb0(%x: f32, %out: f64):
    %t = arith.extf %x : f32 to f64
    linalg.yield %t : f64
  } -> tensor<4xf64>
  ad.yield %r : tensor<4xf64>
}

// -----

// Slices go into what is there already, unless something else looks at it.
func.func @inserted(%x: tensor<2xf32>) {
  %b0 = ad.buffer <arena, bytes = 16>
  %a = ad.feed "a" into(%b0) : tensor<4xf32>
  %b = ad.launch @once(%a, %x) into(%b0) {tied = array<i64: 0>} : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'ad.launch' op memory plan is wrong: the kernel overwrites operand 0, which it reads elsewhere}}
  %c = ad.launch @read(%b) into(%b0) {tied = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  ad.receive "c"(%c) : tensor<4xf32>
  return
}
ad.kernel private @once(%a: tensor<4xf32>, %x: tensor<2xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  %r = tensor.insert_slice %x into %a[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}
ad.kernel private @read(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "generic"} {
  %x = tensor.extract_slice %a[0] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %r = tensor.insert_slice %x into %a[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}
