// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions may have any name in MLIR, but not for linkers and PTX: programs run and are compiled ahead of time with any names of functions
// and kernels, also with names that the compiler makes itself.
// DEFINE: %{entry} = 'a@b"q[0]{}; ünïx'
// DEFINE: %{target} = cpu
// DEFINE: %{check} = ad-runner %s --entry %{entry} --target reference --arg x=arange --print > %t.expected \
// DEFINE: && ad-runner %s --entry %{entry} --target %{target} --arg x=arange --print > %t.run && cmp %t.expected %t.run \
// DEFINE: && ad-runner %s --entry %{entry} --target %{target} --emit %t.adx \
// DEFINE: && adrt-run %t.adx --arg x=arange --print > %t.ahead && cmp %t.expected %t.ahead

// RUN: %{check}
// REDEFINE: %{entry} = adrt_entry_doubled
// RUN: %{check}
// REDEFINE: %{entry} = doubled
// RUN: %{check}
// REDEFINE: %{entry} = ad_kernels
// RUN: %{check}
// REDEFINE: %{entry} = adrt_arena
// RUN: %{check}
// REDEFINE: %{target} = gpu-sim
// RUN: %{check}
// REDEFINE: %{entry} = doubled
// RUN: %{check}
// REDEFINE: %{entry} = ad_kernels
// RUN: %{check}
// REDEFINE: %{entry} = 'a@b"q[0]{}; ünïx'
// RUN: %{check}

// The interpreter knows no kernels.
// DEFINE: %{kernel} = --entry launched --arg x=arange --print
// RUN: ad-runner %s %{kernel} | FileCheck %s
// RUN: ad-runner %s %{kernel} --target gpu-sim | FileCheck %s
// RUN: ad-runner %s --entry launched --emit %t.cpu.adx
// RUN: adrt-run %t.cpu.adx --arg x=arange --print | FileCheck %s
// RUN: ad-runner %s --entry launched --target gpu-sim --emit %t.sim.adx
// RUN: adrt-run %t.sim.adx --arg x=arange --print | FileCheck %s
// CHECK: res0: tensor<4xf32> = {{.*}}0. 16. 32. 48.]

func.func @"a@b\22q[0]{}; ünïx"(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = func.call @"private@1"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func private @"private@1"(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @ad_kernels(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = ad.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @doubled(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = ad.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @adrt_entry_doubled(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = ad.mul %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @adrt_arena(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %y = ad.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

#identity = affine_map<(d0) -> (d0)>
ad.kernel private @"my kernel@1"(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}
ad.kernel private @memcpy(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}
ad.kernel private @adrt_result(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}
ad.kernel private @ad_data_0(%a: tensor<4xf32>) -> tensor<4xf32> attributes {kernel_class = "elementwise"} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#identity, #identity], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  ad.yield %r : tensor<4xf32>
}

func.func @launched(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<4xf32> {
  %0 = ad.launch @"my kernel@1"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = ad.launch @memcpy(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = ad.launch @adrt_result(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = ad.launch @ad_data_0(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %one = ad.constant dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf32>
  %scaled = ad.mul %3, %one : tensor<4xf32>
  return %scaled : tensor<4xf32>
}

// RUN: ad-runner %s --cache off --entry ad_check_gradients --check-gradients --arg x=normal:1 | FileCheck %s --check-prefix=GRADIENTS
// GRADIENTS: gradient of 'x': 4 elements checked
func.func @ad_check_gradients(%x: tensor<4xf32> {ad.name = "x"}) -> tensor<f32> {
  %y = ad.mul %x, %x : tensor<4xf32>
  %z = ad.reduce_sum %y axes [0] : tensor<4xf32> -> tensor<f32>
  return %z : tensor<f32>
}
