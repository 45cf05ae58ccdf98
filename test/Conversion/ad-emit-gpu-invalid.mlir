// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-gpu --split-input-file --verify-diagnostics
// RUN: not ad-opt %s --ad-emit-gpu=chip=sm_99 --split-input-file 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'sm_99', expected sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100

// expected-error @+1 {{'func.func' op has the name 'ad_kernels', which the module of the GPU's kernels gets; rename it}}
func.func @ad_kernels() {
  return
}
ad.kernel private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = #ad<kernel_class generic>} {
  ad.yield %a : tensor<4xf32>
}

// -----

ad.kernel private @k(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = #ad<kernel_class generic>} {
  // expected-error @+1 {{'arith.addf' op is not linalg on tensors}}
  %r = arith.addf %a, %a : tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

// -----

ad.kernel private @k(%a: tensor<4xf32>) -> tensor<2x4xf32> attributes {kernel_class = #ad<kernel_class generic>} {
  %e = tensor.empty() : tensor<2x4xf32>
  // expected-error @+1 {{'tensor.insert_slice' op changes the rank; the GPU emitter expects equal ranks}}
  %r = tensor.insert_slice %a into %e[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  ad.yield %r : tensor<2x4xf32>
}
