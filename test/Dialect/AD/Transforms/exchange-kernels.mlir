// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
// What named kernels are made of: operations without permissions, in explicit orders. The attribute of an operation takes
// precedence over the option.
// RUN: ad-opt %s --ad-set-numerics=numerics=fast --ad-exchange-kernels='kernels=reduce_sum=serial,layer_norm=welford' --remarks-filter='ad-numerics' 2>%t.remarks | FileCheck %s --enable-var-scope
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks
// RUN: ad-opt %s --ad-set-numerics=numerics=strict --ad-exchange-kernels | FileCheck %s --check-prefix=CORES
// RUN: ad-opt %s --ad-set-numerics=numerics=reproducible --ad-exchange-kernels | FileCheck %s --implicit-check-not=ad.instruction --check-prefix=EXACT
// RUN: ad-opt %s --ad-exchange-kernels | FileCheck %s --implicit-check-not=ad.instruction --check-prefix=EXACT

// REMARK-DAG: exchange-kernel{{.*}}kernel=serial, operation=ad.reduce_sum
// REMARK-DAG: exchange-kernel{{.*}}kernel=pairwise, operation=ad.reduce_sum
// REMARK-DAG: exchange-kernel{{.*}}kernel=bf16x3, operation=ad.dot
// REMARK-NOT: kernel=written

// CHECK-LABEL: @orders
func.func @orders(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: ad.reduce_sum %arg0 axes [1] {allow = #ad.allow<none>, order = #ad.order<chain>}
  %0 = ad.reduce_sum %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: ad.reduce_sum %arg0 axes [1] {allow = #ad.allow<none>, order = #ad.order<block = 1>}
  %1 = ad.reduce_sum %x axes [1] {ad.named_kernel = "pairwise"} : tensor<4x8xf32> -> tensor<4xf32>
  // The written one keeps its permissions.
  // CHECK: ad.reduce_sum %arg0 axes [1] {allow = #ad.allow<reorder|algebra{{.*}}>, order = #ad.order<lanes = 64, chunk = 4096>}
  %2 = ad.reduce_sum %x axes [1] {ad.named_kernel = "written"} : tensor<4x8xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @welford
// CHECK-SAME: (%[[X:.+]]: tensor<2x?xf16>
func.func @welford(%x: tensor<2x?xf16>, %s: tensor<?xf16>, %b: tensor<?xf16>) -> tensor<2x?xf16> {
  // CHECK: %[[WIDE:.+]] = ad.cast %[[X]] {allow = #ad.allow<none>} : tensor<2x?xf16> -> tensor<2x?xf32>
  // CHECK: ad.require
  // CHECK: scf.for %[[I:.+]] = {{.*}} iter_args({{.*}}) -> (tensor<i64>, tensor<2x1xf32>, tensor<2x1xf32>)
  // CHECK-NEXT: ad.dynamic_slice %[[WIDE]][{{.*}}, %[[I]]] {allow = #ad.allow<none>} : tensor<2x?xf32> -> tensor<2x1xf32>
  // CHECK: ad.div {{.*}}{allow = #ad.allow<none>}
  // CHECK: scf.yield
  // CHECK: ad.rsqrt
  // CHECK-NOT: ad.layer_norm
  // CHECK: return %{{.*}} : tensor<2x?xf16>
  %y = ad.layer_norm %x, %s, %b epsilon 1.0e-5 : tensor<2x?xf16>, tensor<?xf16>
  return %y : tensor<2x?xf16>
}

// CHECK-LABEL: @split
// CHECK-SAME: (%[[A:.+]]: tensor<4x8xf32>, %[[B:.+]]: tensor<8x2xf32>)
func.func @split(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[RAISED:.+]] = ad.max %[[A]], %{{.*}}
  // CHECK: %[[CLAMPED:.+]] = ad.min %[[RAISED]], %{{.*}}
  // CHECK: %[[A0:.+]] = ad.cast %[[CLAMPED]] {{.*}} -> tensor<4x8xbf16>
  // CHECK: %[[BACK:.+]] = ad.cast %[[A0]] {{.*}} -> tensor<4x8xf32>
  // CHECK: %[[REST:.+]] = ad.sub %[[A]], %[[BACK]]
  // CHECK: %[[A1:.+]] = ad.cast %[[REST]] {{.*}} -> tensor<4x8xbf16>
  // CHECK: %[[B0:.+]] = ad.cast {{.*}} -> tensor<8x2xbf16>
  // CHECK: %[[B1:.+]] = ad.cast {{.*}} -> tensor<8x2xbf16>
  // CHECK: %[[S:.+]] = ad.dot %[[A0]], %[[B1]] {ad.instruction = #ad.instruction<m = 16, n = 8, k = 16, promote = 128>, allow = #ad.allow<mma>, order = #ad.order<block = 512>} : {{.*}} -> tensor<4x2xf32>
  // CHECK: %[[T:.+]] = ad.dot %[[A1]], %[[B0]] {{.*}} -> tensor<4x2xf32>
  // CHECK: %[[U:.+]] = ad.add %[[S]], %[[T]] {allow = #ad.allow<none>}
  // CHECK: %[[V:.+]] = ad.dot %[[A0]], %[[B0]] {{.*}} -> tensor<4x2xf32>
  // CHECK: %[[W:.+]] = ad.add %[[U]], %[[V]]
  // CHECK: return %[[W]]
  %y = ad.dot %a, %b {ad.named_kernel = "bf16x3"} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// Tensor cores compute the products of parts where both permissions are there, and nothing of `tf32`. They cannot compute
// a product with a vector, over axes that are apart and read rarely, or in an order that the program writes.
// CORES-LABEL: @tensor_cores
// EXACT-LABEL: @tensor_cores
func.func @tensor_cores(%a: tensor<4x3x8xf32>, %b: tensor<3x8x2xf32>, %v: tensor<8xf32>, %m: tensor<4x8xf32>)
    -> (tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x3xf32>) {
  // CORES-COUNT-6: ad.dot {{.*}}ad.instruction = #ad.instruction<m = 16, n = 8, k = 16, promote = 128>, allow = #ad.allow<mma>
  // CORES-NOT: ad.instruction
  // EXACT-COUNT-6: ad.dot {{.*}}allow = #ad.allow<none>
  %0 = ad.dot %a, %b contract [1, 2] x [0, 1] {ad.named_kernel = "bf16x6"} : (tensor<4x3x8xf32>, tensor<3x8x2xf32>) -> tensor<4x2xf32>
  // CORES-COUNT-9: ad.dot {{.*}}allow = #ad.allow<none>
  %1 = ad.dot %a, %v contract [2] x [0] {ad.named_kernel = "bf16x9"} : (tensor<4x3x8xf32>, tensor<8xf32>) -> tensor<4x3xf32>
  // CORES-COUNT-6: ad.dot {{.*}}allow = #ad.allow<none>
  %2 = ad.dot %m, %m contract [1] x [1] {ad.named_kernel = "bf16x6", order = #ad.order<block = 8>} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // CORES: ad.dot {{.*}}allow = #ad.allow<none>
  %3 = ad.dot %m, %m contract [1] x [1] {ad.named_kernel = "tf32"} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // CORES-COUNT-3: ad.dot {{.*}}allow = #ad.allow<none>
  %4 = ad.dot %a, %a contract [0, 2] x [0, 2] {ad.named_kernel = "bf16x3"} : (tensor<4x3x8xf32>, tensor<4x3x8xf32>) -> tensor<3x3xf32>
  return %0, %1, %2, %3, %4 : tensor<4x2xf32>, tensor<4x3xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<3x3xf32>
}
