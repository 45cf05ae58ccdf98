// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=fast --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --ad-emit-gpu=chip=sm_90a | FileCheck %s

// The two blocks of a cluster compute tiles next to each other along M. Each loads its tile of A and half of the
// tile of B; the launch has whole clusters.
// CHECK: func.func private @dot_0({{.*}}) attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 256, persistent_blocks = 1, cluster_size = 2,
// CHECK-SAME: tensor_maps = [<operand = 0, box = 128x64, swizzle = 128>, <operand = 1, box = 64x64
// CHECK: gpu.func @dot_0({{.*}}%[[LEFT:[^ ,]+]]: !llvm.ptr, %[[RIGHT:[^ ,]+]]: !llvm.ptr) kernel
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>

// A stage is empty when four warpgroups, those of both blocks, have released it. No block uses mbarriers of the
// other one before they are initialized.
// CHECK: nvvm.mbarrier.init %{{.+}}, %c4_i32{{(_[0-9]+)?}} :
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait

// A block expects the bytes that both blocks load into its stage. It loads its tile of A and two of the four slabs of B.
// CHECK: nvvm.mbarrier.try_wait
// CHECK-NOT: scope = #nvvm.mem_scope<cluster>
// CHECK: %[[BYTES:.+]] = arith.constant 49152 : i32
// CHECK: nvvm.mbarrier.arrive.expect_tx %{{.+}}, %[[BYTES]]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[LEFT]]
// CHECK-NOT: multicast_mask
// CHECK: %[[BOTH:.+]] = arith.constant 3 : i16
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[RIGHT]], {{.+}} multicast_mask = %[[BOTH]]
// CHECK-NOT: nvvm.cp.async.bulk

// One thread of a warpgroup for each block of the cluster releases the stage there.
// CHECK: arith.cmpi ult
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: %[[BARRIER:.+]] = nvvm.mapa %{{.+}}, %{{.+}} : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT: nvvm.mbarrier.arrive %[[BARRIER]] : !llvm.ptr<7>
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvvm.mapa

// A block does not exit before the other one has arrived at its mbarriers for the last time.
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: gpu.return
func.func @large(%a: tensor<2048x1000xbf16>, %b: tensor<1000x4096xbf16>) -> tensor<2048x4096xbf16> {
  %0 = ad.dot %a, %b : (tensor<2048x1000xbf16>, tensor<1000x4096xbf16>) -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// -----

// B is K-major: one load takes half of its tile. Nine tiles along M are five clusters.
// CHECK: grid_size = 160, persistent_blocks = 1, cluster_size = 2,
// CHECK-SAME: tensor_maps = [<operand = 0, box = 128x64, swizzle = 128>, <operand = 1, box = 64x64
// CHECK: multicast_mask
// CHECK-NOT: multicast_mask
// CHECK: gpu.return
func.func @odd(%a: tensor<1100x256xf16>, %b: tensor<2000x256xf16>) -> tensor<1100x2000xf16> {
  %0 = ad.dot %a, %b batch [] x [] contract [1] x [1] : (tensor<1100x256xf16>, tensor<2000x256xf16>) -> tensor<1100x2000xf16>
  return %0 : tensor<1100x2000xf16>
}

// -----

// No clusters where many would have only one tile: one tile along M, three, and one per matrix of a batch.
// CHECK-NOT: cluster_size
// CHECK-NOT: nvvm.cluster
func.func @one_row(%a: tensor<128x64xbf16>, %b: tensor<64x32768xbf16>) -> tensor<128x32768xbf16> {
  %0 = ad.dot %a, %b : (tensor<128x64xbf16>, tensor<64x32768xbf16>) -> tensor<128x32768xbf16>
  return %0 : tensor<128x32768xbf16>
}
func.func @three_rows(%a: tensor<384x64xbf16>, %b: tensor<64x16384xbf16>) -> tensor<384x16384xbf16> {
  %0 = ad.dot %a, %b : (tensor<384x64xbf16>, tensor<64x16384xbf16>) -> tensor<384x16384xbf16>
  return %0 : tensor<384x16384xbf16>
}
func.func @batch(%a: tensor<200x128x64xbf16>, %b: tensor<200x64x256xbf16>) -> tensor<200x128x256xbf16> {
  %0 = ad.dot %a, %b batch [0] x [0] contract [2] x [1] : (tensor<200x128x64xbf16>, tensor<200x64x256xbf16>) -> tensor<200x128x256xbf16>
  return %0 : tensor<200x128x256xbf16>
}
// No clusters with a dynamic M.
func.func @unknown(%a: tensor<?x64xbf16>, %b: tensor<64x65536xbf16>) -> tensor<?x65536xbf16> {
  %0 = ad.dot %a, %b : (tensor<?x64xbf16>, tensor<64x65536xbf16>) -> tensor<?x65536xbf16>
  return %0 : tensor<?x65536xbf16>
}
