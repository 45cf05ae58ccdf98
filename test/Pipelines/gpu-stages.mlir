// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The stages one by one make what the pipeline makes; their options arrive; what one leaves is what the next expects.
// RUN: ad-opt %s --ad-to-gpu="chip=sm_90a numerics=reproducible" -o %t.whole
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-to-gpu-code --ad-to-gpu-binary=chip=sm_90a -o %t.stages
// RUN: cmp %t.whole %t.stages
// RUN: ad-opt %s --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-to-gpu-code --ad-to-gpu-binary=chip=sm_90a | FileCheck %s

// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-to-gpu-code | FileCheck %s --check-prefix=CODE
// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-to-gpu-code --ad-lower-to-emulator | FileCheck %s --check-prefix=EMULATED
// RUN: ad-opt %s --ad-to-gpu="fuse=single profile=true" | FileCheck %s --check-prefix=SINGLE
// RUN: not ad-opt %s --ad-to-gpu=chip=sm_70 2>&1 | FileCheck %s --check-prefix=CHIP

// CHECK: adrt.kernel_names = ["elementwise_0"]
// CHECK: llvm.func @adrt_entry_main
// CHECK: llvm.call @adrt_launch
// CHECK: gpu.binary @ad_kernels [#gpu.object<#nvvm.target<chip = "sm_90a"{{.*}}.entry elementwise_0

// CODE: llvm.func @adrt_entry_main
// CODE: gpu.module @ad_kernels
// CODE: llvm.func @elementwise_0({{.+}}) attributes {
// CODE-SAME: nvvm.kernel
// CODE-NOT: = arith.
// CODE-NOT: = gpu.

// EMULATED-DAG: llvm.func @adsim_kernel_elementwise_0
// EMULATED-DAG: llvm.mlir.global external constant @adsim_code_elementwise_0
// EMULATED-DAG: llvm.func @adrt_entry_main
// EMULATED-NOT: gpu.module

// SINGLE: adrt.kernel_names = ["elementwise_0", "elementwise_0_0"]
// SINGLE: llvm.call @adrt_kernel_begin

// CHIP: error: unknown chip 'sm_70', expected sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %e = ad.exp %x : tensor<?x4xf32>
  %y = ad.mul %e, %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
