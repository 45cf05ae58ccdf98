// RUN: ad-opt %s --ad-simplify=max-rewrites=0 | FileCheck %s --check-prefix=NONE
// RUN: ad-opt %s --ad-simplify | FileCheck %s --check-prefix=ALL

// To bisect a difference, rewriting can be stopped early.
func.func @chain(%x: tensor<6xf32>) -> tensor<6xf32> {
  // NONE-COUNT-2: ad.reshape
  // ALL-NOT: ad.reshape
  %a = ad.reshape %x : tensor<6xf32> -> tensor<2x3xf32>
  %b = ad.reshape %a : tensor<2x3xf32> -> tensor<6xf32>
  return %b : tensor<6xf32>
}
