// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The option makes the promise as the attribute does: refinements with permissions break it. Other modes leave them.
// RUN: not ad-opt %s --ad-set-numerics=numerics=reproducible 2>&1 | FileCheck %s --implicit-check-not=error:
// RUN: not ad-opt %s --ad-to-cpu=numerics=reproducible 2>&1 | FileCheck %s --implicit-check-not=error:
// RUN: not ad-runner %s --cache=off --arg x=normal:1 --numerics reproducible 2>&1 | FileCheck %s --implicit-check-not=error:
// RUN: not ad-runner %s --cache=off --arg x=normal:1 --numerics reproducible --target reference 2>&1 | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics=numerics=fast | FileCheck %s --check-prefix=KEPT
// RUN: ad-opt %s --ad-set-numerics | not ad-opt --ad-set-numerics=numerics=reproducible 2>&1 | FileCheck %s --check-prefix=WRITTEN

// KEPT: ad.exp {{.*}}allow = #ad.allow<widen>
// KEPT: ad.tanh {{.*}}allow = #ad.allow<reorder|mma|approx>
func.func @main(%x: tensor<8xf32> {ad.name = "x"}) -> tensor<8xf32> {
  // CHECK: reproducible-option.mlir:[[#@LINE+2]]:{{.*}} error: 'ad.exp' op expected no permissions in a reproducible module, {{.*}} allow = #ad.allow<widen>
  // WRITTEN: 'ad.exp' op expected no permissions in a reproducible module, {{.*}} allow = #ad.allow<widen>
  %y = ad.exp %x {allow = #ad.allow<widen>} : tensor<8xf32>
  %z = func.call @refined(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
// CHECK: reproducible-option.mlir:[[#@LINE+2]]:1: error: 'func.func' op expected no permissions in a reproducible module, {{.*}} ad.numerics = #ad.numerics<strict, approx>
// WRITTEN: 'func.func' op expected no permissions in a reproducible module
func.func private @refined(%x: tensor<8xf32>) -> tensor<8xf32> attributes {ad.numerics = #ad.numerics<strict, approx>} {
  %y = ad.tanh %x : tensor<8xf32>
  return %y : tensor<8xf32>
}
