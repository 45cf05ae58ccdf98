// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the runner asks of a driver, and what it says when that refuses, with a library in the driver's place: nothing is computed.
// DEFINE: %{fake} = env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-cuda.so
// DEFINE: %{run} = ad-runner %s --target cuda --cache off --arg x=arange --dim x.0=300
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// RUN: %{fake} %{run} 2>&1 | FileCheck %s
// CHECK: fake: cuInit
// CHECK: fake: image sm_80
// CHECK: fake: cuModuleLoadDataEx
// CHECK: fake: cuModuleGetFunction
// CHECK: fake: cuMemcpyHtoDAsync
// 300 elements are 75 runs of four; short work is spread over many blocks.
// CHECK: fake: cuLaunchKernel 3 x 32
// CHECK: fake: cuMemcpyDtoHAsync
// CHECK: fake: cuStreamSynchronize
// CHECK: fake: cuMemFree
// CHECK: fake: cuModuleUnload
// CHECK: fake: cuDevicePrimaryCtxRelease 0 left

// RUN: %{fake} AD_FAKE_CUDA=cuInit %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=INIT
// INIT: error: target 'cuda' is not available: cuInit: CUDA_ERROR_FAKE (as the test wants it); targets are

// RUN: %{fake} AD_FAKE_CUDA=cuDeviceGetCount %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: target 'cuda' is not available: the driver finds no GPU; targets are

// RUN: %{fake} AD_FAKE_CUDA=cuModuleLoadDataEx %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=LOAD
// LOAD: error: cuModuleLoadDataEx: CUDA_ERROR_FAKE (as the test wants it): line 1: no

// RUN: %{fake} AD_FAKE_CUDA=cuLaunchKernel %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: cuda.mlir:[[#@LINE+13]]:8: error: {{.*}}cuLaunchKernel: CUDA_ERROR_FAKE (as the test wants it), behind kernel 'elementwise_0'

// RUN: %{fake} AD_FAKE_CUDA=cuStreamSynchronize %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=LATER
// LATER: cuda.mlir:[[#@LINE+10]]:8: error: cuStreamSynchronize: CUDA_ERROR_FAKE (as the test wants it), behind kernel 'elementwise_0'

// RUN: %{fake} ad-runner --env | FileCheck %s --check-prefix=ENV
// RUN: %{fake} adrt-run --env | FileCheck %s --check-prefix=ENV
// ENV: GPU driver: CUDA 13.1
// ENV-NEXT: GPU 0: Fake GPU, sm_80, 16 multiprocessors, 81920 MiB; a block has at most 1 threads, 12 registers and 97 bytes of shared memory
// RUN: env ADJOINT_LIBCUDA=/missing/libcuda.so ad-runner --env | FileCheck %s --check-prefix=NONE
// NONE: GPU: none: the driver cannot be loaded: /missing/libcuda.so

func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %y = ad.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}
