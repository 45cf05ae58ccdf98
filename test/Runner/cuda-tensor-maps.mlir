// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The tensor maps of operands whose tiles a kernel loads, in the calls of a driver that computes nothing: bf16 (9), 128-byte
// swizzle (3), axes from the contiguous one with the elements of a tile, and the strides of the other axes in bytes.
// DEFINE: %{fake} = env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-cuda.so AD_FAKE_CUDA_CHIP=90
// DEFINE: %{run} = ad-runner %s --target cuda --numerics fast --cache off --arg a=normal:1 --arg b=normal:2
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// RUN: %{fake} %{run} 2>&1 | FileCheck %s
// CHECK: fake: image sm_90a
// CHECK: fake: cuTensorMapEncodeTiled type 9 swizzle 3 promotion 3 rest 0, map aligned, 72 by 64 step 1 40 by 64 step 1 3 by 1 step 1, strides 144 5760
// CHECK: fake: cuTensorMapEncodeTiled type 9 swizzle 3 promotion 3 rest 0, map aligned, 48 by 64 step 1 72 by 64 step 1 3 by 1 step 1, strides 96 6912
// CHECK: fake: cuFuncSetAttribute
// CHECK: fake: cuLaunchKernel 3 x 256, 73792 bytes

// Without a known chip, kernels are for the oldest one; --chip overrides this.
// RUN: %{fake} AD_FAKE_CUDA=cuDeviceGetAttribute %{run} 2>&1 | FileCheck %s --check-prefix=OLDEST
// RUN: %{fake} %{run} --chip sm_80 2>&1 | FileCheck %s --check-prefix=OLDEST
// OLDEST: fake: image sm_80
// OLDEST-NOT: cuTensorMapEncodeTiled
// OLDEST: fake: cuLaunchKernel

// A file may be for another machine: its content does not depend on the GPU of this machine.
// RUN: %{fake} ad-runner %s --target cuda --numerics fast --emit %t.cuda.adx
// RUN: grep -a '"chip": "sm_80"' %t.cuda.adx
// RUN: %{fake} adrt-run %t.cuda.adx --arg a=normal:1 --arg b=normal:2 2>&1 | FileCheck %s --check-prefix=OLDEST
// RUN: %{fake} ad-runner %s --target cuda --numerics fast --chip sm_90a --emit %t.cuda.adx
// RUN: %{fake} adrt-run %t.cuda.adx --arg a=normal:1 --arg b=normal:2 2>&1 | FileCheck %s

// RUN: ad-runner %s --target gpu-sim --numerics fast --arg a=normal:1 --arg b=normal:2 --print > %t.expected
// RUN: ad-runner %s --target gpu-sim --numerics fast --emit %t.sim.adx
// RUN: adrt-run %t.sim.adx --arg a=normal:1 --arg b=normal:2 --print > %t.sim
// RUN: cmp %t.expected %t.sim

// With other numbers of SMs on the emulated GPU, persistent blocks compute more tiles one after the other, or one block computes all. The bits
// are the same.
// RUN: ad-runner %s --target gpu-sim --numerics fast --arg a=normal:1 --arg b=normal:2 --print --sm-count 1 > %t.one
// RUN: cmp %t.expected %t.one
// RUN: adrt-run %t.sim.adx --arg a=normal:1 --arg b=normal:2 --print --sm-count 2 > %t.two
// RUN: cmp %t.expected %t.two
// RUN: ad-runner %s --entry rows --target gpu-sim --arg x=normal:1 --print > %t.expected
// RUN: ad-runner %s --entry rows --target gpu-sim --arg x=normal:1 --print --sm-count 3 > %t.three
// RUN: cmp %t.expected %t.three

// A chip of 16 SMs, with one persistent block of large tiles on each.
// RUN: %{fake} ad-runner %s --entry large --target cuda --numerics fast --cache off --arg a=zeros --arg b=zeros 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: fake: cuLaunchKernel 16 x 384

// In a loop, a tensor at the same address is described once: the carried one, and the operand that does not change.
// RUN: %{fake} ad-runner %s --entry steps --target cuda --numerics fast --cache off --arg a=normal:1 --arg b=normal:2 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS-COUNT-2: fake: cuTensorMapEncodeTiled
// STEPS-NOT: cuTensorMapEncodeTiled
// STEPS: fake: cuDevicePrimaryCtxRelease 0 left

// Bytes are copied (0), f32 that become tf32 are rounded (11).
// RUN: %{fake} ad-runner %s --entry bytes --target cuda --cache off --arg a=zeros --arg b=zeros 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: fake: cuTensorMapEncodeTiled type 0 swizzle 3 promotion 3 rest 0, map aligned, 144 by 128 step 1 40 by 64 step 1, strides 144
// BYTES: fake: cuTensorMapEncodeTiled type 0 swizzle 3 promotion 3 rest 0, map aligned, 144 by 128 step 1 48 by 64 step 1, strides 144
// RUN: %{fake} ad-runner %s --entry words --target cuda --numerics fast,narrow --cache off --arg a=zeros --arg b=zeros 2>&1 | FileCheck %s --check-prefix=WORDS
// WORDS-COUNT-2: fake: cuTensorMapEncodeTiled type 11 swizzle 3 promotion 3 rest 0, map aligned, 72 by 32 step 1 40 by 64 step 1, strides 288

// RUN: %{fake} AD_FAKE_CUDA=cuTensorMapEncodeTiled %{exits} 4 %{run} 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: cuda-tensor-maps.mlir:[[#@LINE+4]]:8: error: {{.*}}cuTensorMapEncodeTiled: CUDA_ERROR_FAKE (as the test wants it)

func.func @main(%a: tensor<3x40x72xbf16> {ad.name = "a"}, %b: tensor<3x72x48xbf16> {ad.name = "b"})
    -> (tensor<3x40x48xbf16> {ad.name = "y"}) {
  %y = ad.dot %a, %b : (tensor<3x40x72xbf16>, tensor<3x72x48xbf16>) -> tensor<3x40x48xbf16>
  return %y : tensor<3x40x48xbf16>
}

func.func @large(%a: tensor<2048x64xbf16> {ad.name = "a"}, %b: tensor<64x4096xbf16> {ad.name = "b"}) -> tensor<2048x4096xbf16> {
  %y = ad.dot %a, %b : (tensor<2048x64xbf16>, tensor<64x4096xbf16>) -> tensor<2048x4096xbf16>
  return %y : tensor<2048x4096xbf16>
}

func.func @steps(%a: tensor<64x64xbf16> {ad.name = "a"}, %b: tensor<64x64xbf16> {ad.name = "b"}) -> tensor<64x64xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%v = %a) -> tensor<64x64xbf16> {
    %y = ad.dot %v, %b : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>
    scf.yield %y : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

func.func @bytes(%a: tensor<40x144xi8> {ad.name = "a"}, %b: tensor<48x144xi8> {ad.name = "b"}) -> tensor<40x48xi32> {
  %y = ad.dot %a, %b batch [] x [] contract [1] x [1] : (tensor<40x144xi8>, tensor<48x144xi8>) -> tensor<40x48xi32>
  return %y : tensor<40x48xi32>
}

func.func @words(%a: tensor<40x72xf32> {ad.name = "a"}, %b: tensor<40x72xf32> {ad.name = "b"}) -> tensor<40x40xf32> {
  %y = ad.dot %a, %b batch [] x [] contract [1] x [1] : (tensor<40x72xf32>, tensor<40x72xf32>) -> tensor<40x40xf32>
  return %y : tensor<40x40xf32>
}

func.func @rows(%x: tensor<40x3000xf32> {ad.name = "x"}) -> (tensor<40x3000xf32>, tensor<3000x40xf32>) {
  %s = ad.softmax %x axis 1 : tensor<40x3000xf32>
  %t = ad.transpose %s [1, 0] : tensor<40x3000xf32>
  return %s, %t : tensor<40x3000xf32>, tensor<3000x40xf32>
}
