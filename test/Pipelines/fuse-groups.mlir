// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups reach fusion through the passes before it: an operation of linalg that is raised, a product with casts, the
// decomposition of a softmax and its derivative have the group of what was written.
//
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion | FileCheck %s
// RUN: ad-opt %s --ad-to-gpu-frontend --ad-to-gpu-fusion | FileCheck %s
// RUN: sed -e 's/{ad.no_fuse}/{}/' %s | ad-opt - --ad-to-cpu-frontend --ad-to-cpu-fusion | FileCheck %s --check-prefix=FREE
// RUN: ad-opt %s --ad-to-cpu-frontend --mlir-print-debuginfo | ad-opt - --ad-to-cpu-fusion | FileCheck %s
// RUN: ad-runner %s --entry softmax --arg x=normal:1 --print --target cpu > %t.cpu
// RUN: sed -e 's/{ad.no_fuse}/{}/' %s > %t.mlir
// RUN: ad-runner %t.mlir --entry softmax --arg x=normal:1 --print --target cpu > %t.free
// RUN: diff %t.cpu %t.free

// CHECK-LABEL: @softmax
// FREE-LABEL: @softmax
func.func @softmax(%x: tensor<8x64xf32> {ad.name = "x"}) -> tensor<8x64xf32> {
  // CHECK: ad.fusion elementwise
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion
  // CHECK: ad.reduce_max
  // CHECK: ad.reduce_sum
  // CHECK: ad.fusion elementwise
  // CHECK-NEXT: ad.tanh
  // CHECK-NEXT: ad.yield
  // CHECK: return
  // FREE-COUNT-1: ad.fusion
  // FREE-NOT: ad.fusion
  // FREE: return
  %e = ad.exp %x : tensor<8x64xf32>
  %s = ad.softmax %e axis 1 {ad.no_fuse} : tensor<8x64xf32>
  %t = ad.tanh %s : tensor<8x64xf32>
  return %t : tensor<8x64xf32>
}

#map = affine_map<(d0) -> (d0)>
// CHECK-LABEL: @raised
// FREE-LABEL: @raised
func.func @raised(%x: tensor<64xf32>) -> tensor<64xf32> {
  // CHECK-COUNT-3: ad.fusion
  // CHECK-NOT: ad.fusion
  // CHECK: return
  // FREE-COUNT-1: ad.fusion
  // FREE-NOT: ad.fusion
  // FREE: return
  %a = ad.exp %x : tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
      ins(%a : tensor<64xf32>) outs(%empty : tensor<64xf32>) attrs = {ad.no_fuse} {
  ^bb0(%in: f32, %out: f32):
    %m = arith.mulf %in, %in : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  %c = ad.tanh %b : tensor<64xf32>
  return %c : tensor<64xf32>
}

func.func private @loss(%x: tensor<64xf32>) -> tensor<f32> {
  %a = ad.exp %x : tensor<64xf32>
  %b = ad.tanh %a {ad.no_fuse} : tensor<64xf32>
  %c = ad.sin %b : tensor<64xf32>
  %s = ad.reduce_sum %c axes [0] : tensor<64xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// CHECK-LABEL: @gradient
func.func @gradient(%x: tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>) {
  // CHECK: ad.fusion elementwise
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion elementwise
  // CHECK-NEXT: ad.tanh
  // CHECK-NEXT: ad.yield
  // CHECK: return
  %v, %g = ad.value_and_grad @loss(%x) wrt [0] : (tensor<64xf32>) -> (tensor<f32>, tensor<64xf32>)
  return %v, %g : tensor<f32>, tensor<64xf32>
}
