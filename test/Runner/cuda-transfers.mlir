// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Feeds and received values of a program on a GPU, in the calls of a driver that computes nothing. A feed is copied while the
// kernels of the previous step may still run: the host does not wait between a launch and the next feed, and copies have streams of their own.
// The host waits only for a slot that is used again, for the third value.
// RUN: env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-cuda.so ad-runner %s --target cuda --cache off --feed f=normal:1 --out-dir %t 2>&1 | FileCheck %s
// CHECK: fake: cuMemcpyHtoDAsync stream 2
// CHECK-NEXT: fake: cuEventRecord stream 2
// CHECK-NEXT: fake: cuStreamWaitEvent stream 1
// CHECK-NEXT: fake: cuMemcpyDtoDAsync
// CHECK-NEXT: fake: cuEventRecord stream 1
// CHECK-NOT: Synchronize
// CHECK: fake: cuLaunchKernel
// CHECK-NOT: Synchronize
// CHECK: fake: cuMemcpyDtoHAsync stream 3
// CHECK-NOT: Synchronize
// CHECK: fake: cuMemcpyHtoDAsync stream 2
// CHECK-NOT: Synchronize
// CHECK: fake: cuLaunchKernel
// CHECK-NOT: Synchronize
// CHECK: fake: cuMemcpyDtoHAsync stream 3
// CHECK: fake: cuEventSynchronize
// CHECK: fake: cuMemcpyHtoDAsync stream 2
// CHECK: fake: cuDevicePrimaryCtxRelease 0 left

func.func @main() {
  %zero = ad.constant dense<0.0> : tensor<300xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%v = %zero) -> tensor<300xf32> {
    %f = ad.feed "f" : tensor<300xf32>
    %n = ad.add %v, %f : tensor<300xf32>
    ad.receive "sum"(%n) : tensor<300xf32>
    scf.yield %n : tensor<300xf32>
  }
  return
}
