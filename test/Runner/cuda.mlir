// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The calls of a driver that computes nothing, and the messages when a call fails.
// DEFINE: %{fake} = env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-cuda.so
// DEFINE: %{run} = ad-runner %s --target cuda --cache off --arg x=arange --dim x.0=300
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// RUN: %{fake} %{run} 2>&1 | FileCheck %s
// CHECK: fake: cuInit
// CHECK: fake: image sm_80
// CHECK: fake: cuModuleLoadDataEx
// CHECK: fake: cuModuleGetFunction
// CHECK: fake: cuMemcpyHtoDAsync
// 300 elements are 75 vectors of four elements; short work is distributed over many blocks.
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
// LAUNCH: cuda.mlir:[[#@LINE+13]]:8: error: {{.*}}cuLaunchKernel: CUDA_ERROR_FAKE (as the test wants it), after kernel 'elementwise_0'

// RUN: %{fake} AD_FAKE_CUDA=cuStreamSynchronize %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=LATER
// LATER: cuda.mlir:[[#@LINE+10]]:8: error: cuStreamSynchronize: CUDA_ERROR_FAKE (as the test wants it), after kernel 'elementwise_0'

// RUN: %{fake} ad-runner --env | FileCheck %s --check-prefix=ENV
// RUN: %{fake} adrt-run --env | FileCheck %s --check-prefix=ENV
// ENV: GPU driver: CUDA 13.1, {{/.*}}/libad-fake-cuda.so{{$}}
// ENV-NEXT: GPU 0: Fake GPU, sm_80, 16 SMs, 81920 MiB; a block has at most 1 threads, 12 registers and 97 bytes of shared memory
// RUN: env ADJOINT_LIBCUDA=/missing/libcuda.so ad-runner --env | FileCheck %s --check-prefix=NONE
// NONE: GPU: none: the driver cannot be loaded: /missing/libcuda.so

func.func @main(%x: tensor<?xf32> {ad.name = "x"}) -> (tensor<?xf32> {ad.name = "y"}) {
  %y = ad.add %x, %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// A folder means the driver in it, and may be one of the loader's. The driver loads its compiler of PTX by name, so the compiler is loaded
// from the same folder before.
// RUN: rm -rf %t.driver && mkdir %t.driver && cp %adjoint_lib/libad-fake-cuda.so %t.driver/libcuda.so.1
// RUN: cp %adjoint_lib/libad-fake-cuda.so %t.driver/libnvidia-ptxjitcompiler.so.1
// RUN: env ADJOINT_LIBCUDA=%t.driver LD_DEBUG=files adrt-run --env 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: file={{.*}}.driver/libnvidia-ptxjitcompiler.so.1 {{.*}}dynamically loaded
// FOLDER: GPU driver: CUDA 13.1, {{.*}}.driver/libcuda.so.1
// RUN: env -u ADJOINT_LIBCUDA LD_LIBRARY_PATH=%t.driver adrt-run --env 2>&1 | FileCheck %s --check-prefix=LOADER
// LOADER: GPU driver: CUDA 13.1, {{.*}}.driver/libcuda.so.1
// The message names a library that is no driver, or the folders without a driver.
// RUN: echo nothing > %t.driver/libcuda.so.1
// RUN: env ADJOINT_LIBCUDA=%t.driver adrt-run --env 2>&1 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: GPU: none: the driver cannot be loaded: {{.*}}.driver/libcuda.so.1: {{.*}}
// RUN: env ADJOINT_LIBCUDA=libc.so.6 adrt-run --env 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: GPU: none: '{{.*}}libc.so.6': it has no cuInit, a newer driver is needed
// RUN: env -u ADJOINT_LIBCUDA adrt-run --env 2>&1 | FileCheck %s --check-prefix=PLACES
// PLACES: GPU{{ driver: CUDA|: none: the driver cannot be loaded: there is no libcuda.so.1 in the loader's folders, /usr/lib/x86_64-linux-gnu, /usr/lib64, /usr/lib/wsl/lib, /usr/local/nvidia/lib64 and /usr/local/cuda/compat; if it is elsewhere, set ADJOINT_LIBCUDA to the library or its folder|: none: .*cuInit}}
