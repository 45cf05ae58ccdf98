// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Operations share kernels with those of their group alone.
//
// RUN: ad-opt %s --ad-fuse | FileCheck %s
// RUN: ad-opt %s --ad-fuse=policy=layers | FileCheck %s --check-prefix=CHECK
// RUN: ad-opt %s --ad-keep-fuse-groups --ad-fuse | FileCheck %s --implicit-check-not=ad.fuse_group --implicit-check-not=ad.no_fuse
// RUN: ad-opt %s --ad-keep-fuse-groups --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: ad-opt %s --ad-fuse --mlir-disable-threading --remarks-filter=ad-fuse -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @chain
// LOC-LABEL: @chain
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.exp
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.tanh
  // CHECK-NEXT: ad.neg
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.sin
  // CHECK-NEXT: ad.yield
  // CHECK-NOT: ad.fusion
  // CHECK: return
  // LOC: ad.exp %{{.*}} loc([[WRITTEN:#.*]])
  // LOC: ad.tanh %{{.*}} loc([[A:#.*]])
  // REMARK-DAG: fuse-groups.mlir:[[#@LINE+2]]:8: remark: [Analysis] fuse-group | Category:ad-fuse | group=middle, kernels=1
  %a = ad.exp %x : tensor<4x8xf32>
  %b = ad.tanh %a {ad.fuse_group = "middle"} : tensor<4x8xf32>
  %c = ad.neg %b {ad.fuse_group = "middle"} : tensor<4x8xf32>
  %d = ad.sin %c : tensor<4x8xf32>
  return %d : tensor<4x8xf32>
}

// CHECK-LABEL: @alone
func.func @alone(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-COUNT-3: ad.fusion
  // CHECK-NOT: ad.fusion
  // CHECK: return
  // REMARK-DAG: fuse-groups.mlir:[[#@LINE+1]]:8: remark: [Missed] producer-stays-outside | Category:ad-fuse | operation=ad.exp, reason="it is in another fuse group"
  %a = ad.exp %x : tensor<4x8xf32>
  %b = ad.tanh %a {ad.no_fuse} : tensor<4x8xf32>
  %c = ad.neg %b : tensor<4x8xf32>
  return %c : tensor<4x8xf32>
}

// Two that are alone are not side by side in one kernel either; those of one group are.
// CHECK-LABEL: @siblings
func.func @siblings(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  // CHECK-COUNT-3: ad.fusion
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %a = ad.exp %x {ad.no_fuse} : tensor<4x8xf32>
  %b = ad.tanh %x {ad.fuse_group = "sides"} : tensor<4x8xf32>
  %c = ad.neg %x {ad.no_fuse} : tensor<4x8xf32>
  %d = ad.sin %x {ad.fuse_group = "sides"} : tensor<4x8xf32>
  return %a, %b, %c, %d : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// A broadcast and a cast are copied into the kernels that read them, but not out of their group.
// CHECK-LABEL: @free_views
func.func @free_views(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.broadcast
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.add
  // CHECK-NEXT: ad.yield
  %b = ad.broadcast %x {ad.no_fuse} : tensor<8xf32> -> tensor<4x8xf32>
  %s = ad.add %b, %y : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// CHECK-LABEL: @casts
func.func @casts(%x: tensor<4x8xbf16>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.cast
  // CHECK-NEXT: ad.yield
  // CHECK: ad.fusion
  // CHECK-NEXT: ad.add
  // CHECK-NEXT: ad.yield
  %w = ad.cast %x {ad.fuse_group = "casts"} : tensor<4x8xbf16> -> tensor<4x8xf32>
  %s = ad.add %w, %y : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// A number costs nothing, whatever group it has.
// CHECK-LABEL: @numbers
func.func @numbers(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK-COUNT-1: ad.fusion
  // CHECK-NOT: ad.fusion
  // CHECK: return
  %two = ad.constant dense<2.0> : tensor<4x8xf32>
  %s = ad.mul %x, %two {ad.no_fuse} : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// LOC-DAG: [[A]] = loc(fused<{ad.fuse_group = "middle"}>[{{.*}}])
// LOC-DAG: fused<{ad.fuse_group = distinct[0]<>}>
