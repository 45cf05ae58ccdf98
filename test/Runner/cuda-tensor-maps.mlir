// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What the driver is told of operands whose tiles a kernel has brought, with a library in the driver's place: bf16 (9), lines of 128
// bytes swizzled (3), axes from the contiguous one with the elements of a tile, and the distances of the others in bytes.
// DEFINE: %{fake} = env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-cuda.so AD_FAKE_CUDA_CHIP=90
// DEFINE: %{run} = ad-runner %s --target cuda --numerics fast --cache off --arg a=normal:1 --arg b=normal:2
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// RUN: %{fake} %{run} 2>&1 | FileCheck %s
// CHECK: fake: image sm_90a
// CHECK: fake: cuTensorMapEncodeTiled type 9 swizzle 3 promotion 3 rest 0, map aligned, 72 by 64 step 1 40 by 64 step 1 3 by 1 step 1, strides 144 5760
// CHECK: fake: cuTensorMapEncodeTiled type 9 swizzle 3 promotion 3 rest 0, map aligned, 48 by 64 step 1 72 by 64 step 1, strides 96
// CHECK: fake: cuFuncSetAttribute
// CHECK: fake: cuLaunchKernel 3 x 256, 73792 bytes

// The kernels of a chip of which none is known are for the oldest one, and --chip decides otherwise.
// RUN: %{fake} AD_FAKE_CUDA=cuDeviceGetAttribute %{run} 2>&1 | FileCheck %s --check-prefix=OLDEST
// RUN: %{fake} %{run} --chip sm_80 2>&1 | FileCheck %s --check-prefix=OLDEST
// OLDEST: fake: image sm_80
// OLDEST-NOT: cuTensorMapEncodeTiled
// OLDEST: fake: cuLaunchKernel

// A file may be for another machine: what it holds does not depend on the GPU that is here.
// RUN: %{fake} ad-runner %s --target cuda --numerics fast --emit %t.cuda.adx
// RUN: grep -a '"chip": "sm_80"' %t.cuda.adx
// RUN: %{fake} adrt-run %t.cuda.adx --arg a=normal:1 --arg b=normal:2 2>&1 | FileCheck %s --check-prefix=OLDEST
// RUN: %{fake} ad-runner %s --target cuda --numerics fast --chip sm_90a --emit %t.cuda.adx
// RUN: %{fake} adrt-run %t.cuda.adx --arg a=normal:1 --arg b=normal:2 2>&1 | FileCheck %s

// RUN: ad-runner %s --target gpu-sim --numerics fast --arg a=normal:1 --arg b=normal:2 --print > %t.expected
// RUN: ad-runner %s --target gpu-sim --numerics fast --emit %t.sim.adx
// RUN: adrt-run %t.sim.adx --arg a=normal:1 --arg b=normal:2 --print > %t.sim
// RUN: cmp %t.expected %t.sim

// RUN: %{fake} AD_FAKE_CUDA=cuTensorMapEncodeTiled %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: cuda-tensor-maps.mlir:[[#@LINE+4]]:8: error: {{.*}}cuTensorMapEncodeTiled: CUDA_ERROR_FAKE (as the test wants it)

func.func @main(%a: tensor<3x40x72xbf16> {ad.name = "a"}, %b: tensor<72x48xbf16> {ad.name = "b"})
    -> (tensor<3x40x48xbf16> {ad.name = "y"}) {
  %y = ad.dot %a, %b batch [] x [] contract [2] x [0] : (tensor<3x40x72xbf16>, tensor<72x48xbf16>) -> tensor<3x40x48xbf16>
  return %y : tensor<3x40x48xbf16>
}
