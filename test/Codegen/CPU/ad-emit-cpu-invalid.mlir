// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu --split-input-file --verify-diagnostics

// What the emitter cannot compute is named, in kernels that other producers than ad-outline-kernels made.

ad.kernel private @left(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  // expected-error @+1 {{'ad.exp' op is not lowered to linalg; run --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels first}}
  %e = ad.exp %a : tensor<4xf32>
  ad.yield %e : tensor<4xf32>
}

// -----

// expected-error @+1 {{'ad.kernel' op holds a value that the CPU emitter cannot compute in place: %0 = "arith.constant"}}
ad.kernel private @constant(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  ad.yield %c : tensor<4xf32>
}

// -----

#identity = affine_map<(d0) -> (d0)>
ad.kernel private @branch(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %x, %zero : f32
    // expected-error @+1 {{'scf.if' op expected scalar code of arith}}
    %y = scf.if %p -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %y : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

ad.kernel private @no_such_axis(%a: tensor<?x4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  %two = arith.constant 2 : index
  // expected-error @+1 {{'tensor.dim' op asks for dimension 2 of rank 2}}
  %n = tensor.dim %a, %two : tensor<?x4xf32>
  %e = tensor.empty() : tensor<4xf32>
  ad.yield %e : tensor<4xf32>
}

// -----

ad.kernel private @size(%a: tensor<?x4xf32>, %i: index) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  // expected-error @+1 {{'tensor.dim' op asks for a size along an axis that is not a constant}}
  %n = tensor.dim %a, %i : tensor<?x4xf32>
  %e = tensor.empty() : tensor<4xf32>
  ad.yield %e : tensor<4xf32>
}

// -----

ad.kernel private @rank(%a: tensor<4xf32>) -> tensor<2x4xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<2x4xf32>
  // expected-error @+1 {{'tensor.insert_slice' op changes the rank; the CPU emitter expects equal ranks}}
  %r = tensor.insert_slice %a into %e[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  ad.yield %r : tensor<2x4xf32>
}

// -----

ad.kernel private @stride(%a: tensor<4xf32>, %s: index) -> tensor<64xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<64xf32>
  // expected-error @+1 {{'tensor.insert_slice' op has a dynamic stride along the vector axis}}
  %r = tensor.insert_slice %a into %e[0] [4] [%s] : tensor<4xf32> into tensor<64xf32>
  ad.yield %r : tensor<64xf32>
}

// -----

// expected-error @+1 {{'ad.kernel' op expected a registered kernel class, but got 'fast'; known are attention, attention_grad, contraction, elementwise, generic, row, scan, scatter, sort, transposition}}
ad.kernel private @unknown_class(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "fast"} {
  ad.yield %a : tensor<4xf32>
}
