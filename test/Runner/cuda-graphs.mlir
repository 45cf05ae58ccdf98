// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Iterations of loops in the calls of a driver that computes nothing. The commands of an iteration are launched one by one the first time,
// become a graph the second time, and are one call from then on. The host never waits in between.
// DEFINE: %{fake} = env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-cuda.so
// DEFINE: %{run} = ad-runner %s --target cuda --cache off --fuse single --arg x=normal:1
// DEFINE: %{exits} = %python %S/Inputs/exits.py

// RUN: %{fake} %{run} --entry straight 2>&1 | FileCheck %s --check-prefix=STRAIGHT --implicit-check-not=warning
// STRAIGHT: fake: cuMemcpyDtoDAsync
// STRAIGHT-NEXT: fake: cuLaunchKernel [[EXP:3 x 32 elementwise_.*]]
// STRAIGHT-NEXT: fake: cuLaunchKernel [[NEG:3 x 32 elementwise_.*]]
// STRAIGHT-NEXT: fake: cuLaunchKernel [[TANH:3 x 32 elementwise_.*]]
// STRAIGHT-NEXT: fake: cuGraphCreate
// STRAIGHT-NEXT: fake: cuGraphAddKernelNode 3 x 32
// STRAIGHT-NEXT: fake: cuGraphAddKernelNode 3 x 32
// STRAIGHT-NEXT: fake: cuGraphAddKernelNode 3 x 32
// STRAIGHT-NEXT: fake: cuGraphInstantiateWithFlags
// STRAIGHT-NEXT: fake: cuGraphLaunch 3 nodes, stream 1: [[EXP]]; [[NEG]]; [[TANH]]{{$}}
// STRAIGHT-NEXT: fake: cuGraphLaunch 3 nodes, stream 1: [[EXP]]; [[NEG]]; [[TANH]]{{$}}
// STRAIGHT-NEXT: fake: cuGraphLaunch 3 nodes, stream 1: [[EXP]]; [[NEG]]; [[TANH]]{{$}}
// STRAIGHT-NEXT: fake: cuGraphLaunch 3 nodes, stream 1: [[EXP]]; [[NEG]]; [[TANH]]{{$}}
// STRAIGHT-NEXT: fake: cuMemcpyDtoHAsync
// STRAIGHT: fake: cuGraphExecDestroy
// STRAIGHT-NEXT: fake: cuGraphDestroy
// STRAIGHT: fake: cuDevicePrimaryCtxRelease 0 left

// Commands are launched one by one with --no-replay, and when each kernel is watched or timed.
// RUN: %{fake} %{run} --entry straight --no-replay 2>&1 | FileCheck %s --check-prefix=SINGLE --implicit-check-not=cuGraph
// RUN: %{fake} %{run} --entry straight --timeout-kernel 100 2>&1 | FileCheck %s --check-prefix=SINGLE --implicit-check-not=cuGraphLaunch
// RUN: %{fake} %{run} --entry straight --report %t.json 2>&1 | FileCheck %s --check-prefix=SINGLE --implicit-check-not=cuGraph
// SINGLE-COUNT-15: fake: cuLaunchKernel 3 x 32
// SINGLE: fake: cuDevicePrimaryCtxRelease 0 left

// The number of the iteration is an argument of the kernel that reads a slice and adds to it. Two allocations alternate and
// have a graph each, so the third iteration is the first one for which a graph is changed.
// RUN: %{fake} %{run} --entry numbered 2>&1 | FileCheck %s --check-prefix=NUMBERED --implicit-check-not=warning
// NUMBERED: fake: cuLaunchKernel 3 x 32 [[SLICE:[a-z_0-9]+\(m[0-9]+\+0, m[0-9]+\+0]], 0, [[ROW:.*]]
// NUMBERED-NEXT: fake: cuLaunchKernel [[TANH:.*]]
// NUMBERED: fake: cuGraphLaunch 2 nodes, stream 1: 3 x 32 [[SLICE]], 1, [[ROW]]; [[TANH]]{{$}}
// NUMBERED: fake: cuGraphCreate
// NUMBERED: fake: cuGraphInstantiateWithFlags
// NUMBERED-NEXT: fake: cuGraphLaunch 2 nodes, stream 1: 3 x 32 [[SLICE]], 2, [[ROW]]; [[TANH]]{{$}}
// NUMBERED-NEXT: fake: cuGraphExecKernelNodeSetParams 3 x 32
// NUMBERED-NEXT: fake: cuGraphLaunch 2 nodes, stream 1: 3 x 32 [[SLICE]], 3, [[ROW]]; [[TANH]]{{$}}
// NUMBERED-NEXT: fake: cuGraphExecKernelNodeSetParams 3 x 32
// NUMBERED-NEXT: fake: cuGraphLaunch 2 nodes, stream 1: 3 x 32 [[SLICE]], 4, [[ROW]]; [[TANH]]{{$}}
// NUMBERED-NEXT: fake: cuMemcpyDtoHAsync
// NUMBERED: fake: cuDevicePrimaryCtxRelease 0 left

// A loop in a loop: the iterations of the inner one repeat first. Its last iteration is one list with the commands that follow it.
// RUN: %{fake} %{run} --entry nested 2>&1 | FileCheck %s --check-prefix=NESTED --implicit-check-not=warning
// NESTED-COUNT-2: fake: cuLaunchKernel 3 x 32
// NESTED-NEXT: fake: cuGraphCreate
// NESTED: fake: cuGraphLaunch 2 nodes
// NESTED-NEXT: fake: cuLaunchKernel
// NESTED-COUNT-2: fake: cuGraphLaunch 2 nodes
// NESTED-NEXT: fake: cuGraphCreate
// NESTED: fake: cuGraphLaunch 3 nodes
// NESTED-NEXT: fake: cuMemcpyDtoDAsync
// NESTED-NEXT: fake: cuGraphLaunch 2 nodes
// NESTED-NEXT: fake: cuGraphLaunch 2 nodes
// NESTED-NEXT: fake: cuGraphLaunch 3 nodes
// NESTED-NEXT: fake: cuMemcpyDtoHAsync
// NESTED: fake: cuDevicePrimaryCtxRelease 0 left

// Sent values alternate between two slots: two graphs. The host does not wait before the third value needs the slot of the first.
// RUN: %{fake} %{run} --entry sends --out-dir %t.out 2>&1 | FileCheck %s --check-prefix=SENDS --implicit-check-not=warning
// SENDS-COUNT-4: fake: cuLaunchKernel
// SENDS-NOT: Synchronize
// SENDS: fake: cuEventSynchronize
// SENDS: fake: cuGraphCreate
// SENDS: fake: cuGraphAddMemcpyNode 1200 bytes
// SENDS: fake: cuGraphCreate
// SENDS: fake: cuGraphLaunch 3 nodes
// SENDS: fake: cuGraphLaunch 3 nodes
// SENDS-NOT: cuStreamSynchronize
// SENDS: fake: cuMemcpyDtoHAsync stream 3
// SENDS-NOT: cuLaunchKernel
// SENDS: fake: cuDevicePrimaryCtxRelease 0 left

// Kernels and copies, with the values of all arguments, are the same in the same order with and without graphs,
// also if an argument changes that is not of the first kernel.
// DEFINE: %{commands} = grep -oE '[0-9]+ x [0-9]+ [a-z0-9_]+\([^)]*\)|copy\([^)]*\)'
// RUN: %{fake} %{run} --entry straight --out-dir %t.out --no-replay 2>&1 | %{commands} > %t.single
// RUN: %{fake} %{run} --entry straight --out-dir %t.out 2>&1 | %{commands} | diff %t.single -
// RUN: %{fake} %{run} --entry numbered --out-dir %t.out --no-replay 2>&1 | %{commands} > %t.single
// RUN: %{fake} %{run} --entry numbered --out-dir %t.out 2>&1 | %{commands} | diff %t.single -
// RUN: %{fake} %{run} --entry late --out-dir %t.out --no-replay 2>&1 | %{commands} > %t.single
// RUN: %{fake} %{run} --entry late --out-dir %t.out 2>&1 | %{commands} | diff %t.single -
// RUN: %{fake} %{run} --entry nested --out-dir %t.out --no-replay 2>&1 | %{commands} > %t.single
// RUN: %{fake} %{run} --entry nested --out-dir %t.out 2>&1 | %{commands} | diff %t.single -
// RUN: %{fake} %{run} --entry sends --out-dir %t.out --no-replay 2>&1 | %{commands} > %t.single
// RUN: %{fake} %{run} --entry sends --out-dir %t.out 2>&1 | %{commands} | diff %t.single -
// RUN: FileCheck %s --input-file %t.single --check-prefix=REQUESTED
// REQUESTED-COUNT-6: copy(m{{[0-9]+\+[0-9]+, m[0-9]+\+[0-9]+}}, 1200)

// If the driver fails to make a graph, a warning says why, and commands are launched one by one. An old driver has no graphs.
// RUN: %{fake} AD_FAKE_CUDA=cuGraphInstantiateWithFlags %{run} --entry straight 2>&1 | FileCheck %s --check-prefix=REFUSED --implicit-check-not=cuGraphLaunch
// REFUSED-COUNT-3: fake: cuLaunchKernel
// REFUSED: warning: {{.*}}cuda-graphs.mlir:[[#@LINE+25]]:10: kernels are launched one by one: cuGraphInstantiateWithFlags: CUDA_ERROR_FAKE
// REFUSED-COUNT-12: fake: cuLaunchKernel
// REFUSED: fake: cuDevicePrimaryCtxRelease 0 left
// RUN: env ADJOINT_LIBCUDA=%adjoint_lib/libad-fake-old-cuda.so %{run} --entry straight 2>&1 | FileCheck %s --check-prefix=SINGLE --implicit-check-not=warning

// If the launch of a graph fails, the error has the location of its last kernel.
// RUN: %{fake} AD_FAKE_CUDA=cuGraphLaunch %{exits} 4 %{run} --entry straight 2>&1 | FileCheck %s --check-prefix=FAILS
// FAILS: cuda-graphs.mlir:[[#@LINE+18]]:10: error: cuGraphLaunch: CUDA_ERROR_FAKE (as the test wants it), after kernel 'elementwise_{{[0-9_]+}}', the last of 3 commands of a graph

// RUN: %{exits} 2 ad-runner %s --entry straight --target cuda --emit %t.adx --no-replay 2>&1 | FileCheck %s --check-prefix=EMIT
// EMIT: error: --emit runs nothing: give --no-replay to adrt-run
// RUN: %{exits} 2 ad-runner %s --entry straight --no-replay 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: --no-replay is about kernels on a GPU, target 'cpu' has none
// RUN: ad-runner %s --entry straight --emit %t.adx
// RUN: %{exits} 2 adrt-run %t.adx --arg x=normal:1 --no-replay 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: ad-runner %s --entry straight --target cuda --fuse single --emit %t.adx
// RUN: %{fake} adrt-run %t.adx --arg x=normal:1 --no-replay 2>&1 | FileCheck %s --check-prefix=SINGLE --implicit-check-not=cuGraph

func.func @straight(%x: tensor<300xf32> {ad.name = "x"}) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %x) -> tensor<300xf32> {
    %a = ad.exp %v : tensor<300xf32>
    %b = ad.neg %a : tensor<300xf32>
    %c = ad.tanh %b : tensor<300xf32>
    scf.yield %c : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}

func.func @numbered(%x: tensor<5x300xf32> {ad.name = "x"}) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = ad.constant dense<0.0> : tensor<300xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %zero) -> tensor<300xf32> {
    %row = ad.dynamic_slice %x[%i, %c0] : tensor<5x300xf32> -> tensor<1x300xf32>
    %flat = ad.reshape %row : tensor<1x300xf32> -> tensor<300xf32>
    %sum = ad.add %v, %flat : tensor<300xf32>
    %next = ad.tanh %sum : tensor<300xf32>
    scf.yield %next : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}

func.func @late(%x: tensor<5x300xf32> {ad.name = "x"}) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = ad.constant dense<0.0> : tensor<300xf32>
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %zero) -> tensor<300xf32> {
    %tanh = ad.tanh %v : tensor<300xf32>
    %row = ad.dynamic_slice %x[%i, %c0] : tensor<5x300xf32> -> tensor<1x300xf32>
    %flat = ad.reshape %row : tensor<1x300xf32> -> tensor<300xf32>
    %sum = ad.add %tanh, %flat : tensor<300xf32>
    scf.yield %sum : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}

func.func @nested(%x: tensor<300xf32> {ad.name = "x"}) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %x) -> tensor<300xf32> {
    %inner = scf.for %j = %c0 to %c3 step %c1 iter_args(%w = %v) -> tensor<300xf32> {
      %a = ad.exp %w : tensor<300xf32>
      %b = ad.neg %a : tensor<300xf32>
      scf.yield %b : tensor<300xf32>
    }
    %c = ad.tanh %inner : tensor<300xf32>
    scf.yield %c : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}

func.func @sends(%x: tensor<300xf32> {ad.name = "x"}) -> tensor<300xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%v = %x) -> tensor<300xf32> {
    %a = ad.exp %v : tensor<300xf32>
    %b = ad.neg %a : tensor<300xf32>
    ad.receive "b"(%b) : tensor<300xf32>
    scf.yield %b : tensor<300xf32>
  }
  return %r : tensor<300xf32>
}
