// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Output of one debug type, of several, and none of other types: what each pass decided and why.
//
// REQUIRES: assertions
// RUN: ad-opt %s --ad-set-numerics --ad-fuse --debug-only=ad-fuse 2>&1 >/dev/null | FileCheck %s
// RUN: ad-opt %s --ad-set-numerics --ad-fuse --debug-only=ad-set-numerics,ad-fuse 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefixes=NUMERICS,CHECK
// RUN: ad-opt %s --ad-set-numerics --ad-fuse --debug-only=ad-simplify 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=OTHER --allow-empty
// RUN: ad-opt %s --ad-to-cpu --mlir-disable-threading \
// RUN:   --debug-only=ad-differentiate,ad-simplify,ad-select-kernels,ad-insert-shape-checks \
// RUN:   2>&1 >/dev/null | FileCheck %s --check-prefix=FRONT
// RUN: ad-opt %s --ad-to-cpu --mlir-disable-threading \
// RUN:   --debug-only=ad-outline-kernels,ad-plan-memory,ad-emit-cpu,convert-host-to-llvm,ad-expand-scalar-ops \
// RUN:   2>&1 >/dev/null | FileCheck %s --check-prefix=BACK
// RUN: ad-opt %s --ad-to-gpu --debug-only=ad-emit-gpu,ad-serialize-kernels 2>&1 >/dev/null \
// RUN:   | FileCheck %s --check-prefix=GPU
// NUMERICS: [ad-set-numerics{{.*}}the contract of the module is #ad.numerics<strict>
// NUMERICS: [ad-set-numerics{{.*}}ad.mul broadcasts operand 1 to tensor<4xf32>
// CHECK: [ad-fuse{{.*}}ad.exp joins a fusion of 1 operations
// OTHER-NOT: ad-fuse
// FRONT-DAG: [ad-differentiate{{.*}}ad.vjp of @chain becomes @chain__vjp_0
// FRONT-DAG: [ad-simplify{{.*}}round 0 ends after
// FRONT-DAG: [ad-insert-shape-checks{{.*}} at {{.*}} is checked at run time
// FRONT-DAG: [ad-select-kernels{{.*}}ad.fusion elementwise at {{.*}} has class elementwise
// BACK: [ad-outline-kernels{{.*}} becomes @elementwise_0
// BACK: [ad-plan-memory{{.*}}buffer 0 of {{.*}} for %
// BACK: [ad-emit-cpu{{.*}}@elementwise_0 runs over all elements
// BACK: [convert-host-to-llvm{{.*}}@elementwise_0 is called
// BACK: [ad-expand-scalar-ops{{.*}}expands {{.*}}ad.elementary exp
// GPU: [ad-emit-gpu{{.*}}@elementwise_0 has class elementwise
// GPU: [ad-emit-gpu{{.*}}@elementwise_0: {{[0-9]+}} threads per block
// GPU: [ad-serialize-kernels{{.*}} bytes of
func.func private @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = ad.constant dense<2.0> : tensor<f32>
  %0 = ad.exp %x : tensor<4xf32>
  %1 = ad.mul %0, %two : tensor<4xf32>, tensor<f32>
  return %1 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>, %g: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = ad.vjp @chain(%x) cotangents(%g) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
func.func @dynamic(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = ad.add %x, %y : tensor<?xf32>
  return %0 : tensor<?xf32>
}
