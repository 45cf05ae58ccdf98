// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Too little memory is an error at the operation that needs it: for a tensor of dynamic size, for the
// arena, at the operation that writes its largest buffer, and for a result.
//
// DEFINE: %{entry} = open
// DEFINE: %{argument} = n=%t.npy
// DEFINE: %{run} = %python %S/Inputs/exits.py 4 ad-runner %s --cache=off --entry %{entry} --arg %{argument}
// RUN: %python -c "import numpy as np; np.save('%t.npy', np.int64(10**14))"
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: %{run} --target gpu-sim 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: %{run} --target gpu-sim 2>&1 | FileCheck %s --check-prefix=FREE
//
// REDEFINE: %{argument} = x=zeros
// REDEFINE: %{entry} = arena
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=ARENA
// RUN: %{run} --target gpu-sim 2>&1 | FileCheck %s --check-prefix=ARENA
// REDEFINE: %{entry} = result
// RUN: %{run} 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: %{run} --target gpu-sim 2>&1 | FileCheck %s --check-prefix=RESULT

// OPEN: out-of-memory.mlir:[[#@LINE+6]]:8: error: {{(the device has )?}}not enough memory for an intermediate tensor of 400000000000000 bytes
// FREE: error: the device has not enough memory for an intermediate tensor of 400000000000000 bytes: {{[0-9]+}} of {{[0-9]+}} bytes are free{{$}}
func.func @open(%n: tensor<i64> {ad.name = "n"}) -> tensor<f32> {
  %number = tensor.extract %n[] : tensor<i64>
  %size = arith.index_cast %number : i64 to index
  %one = arith.constant 1.0 : f32
  %y = ad.full %one(%size) : f32 -> tensor<?xf32>
  %kept = ad.barrier %y : tensor<?xf32>
  %sum = ad.reduce_sum %kept axes [0] : tensor<?xf32> -> tensor<f32>
  return %sum : tensor<f32>
}

// Four of the large tensors exceed the address space.
// ARENA: out-of-memory.mlir:[[#@LINE+4]]:12: error: {{(the device has )?}}not enough memory for the arena of intermediate tensors of 16{{[0-9]+}} bytes
func.func @arena(%x: tensor<f32> {ad.name = "x"}) -> tensor<f32> {
  %small = ad.exp %x : tensor<f32>
  %first = ad.barrier %small : tensor<f32>
  %large = ad.broadcast %first : tensor<f32> -> tensor<10000000000000xf32>
  %0 = ad.barrier %large : tensor<10000000000000xf32>
  %sin = ad.sin %0 : tensor<10000000000000xf32>
  %1 = ad.barrier %sin : tensor<10000000000000xf32>
  %cos = ad.cos %1 : tensor<10000000000000xf32>
  %2 = ad.barrier %cos : tensor<10000000000000xf32>
  %exp = ad.exp %2 : tensor<10000000000000xf32>
  %3 = ad.barrier %exp : tensor<10000000000000xf32>
  %4 = ad.fma %0, %1, %2 : tensor<10000000000000xf32>
  %5 = ad.mul %4, %3 : tensor<10000000000000xf32>
  %sum = ad.reduce_sum %5 axes [0] : tensor<10000000000000xf32> -> tensor<f32>
  return %sum : tensor<f32>
}

// RESULT: out-of-memory.mlir:{{[0-9]+}}:8: error: {{(the device has )?}}not enough memory for a result of 40000000000000 bytes
func.func @result(%x: tensor<f32> {ad.name = "x"})
    -> (tensor<10000000000000xf32>, tensor<10000000000000xf32>, tensor<10000000000000xf32>, tensor<10000000000000xf32>) {
  %0 = ad.broadcast %x : tensor<f32> -> tensor<10000000000000xf32>
  %1 = ad.sin %0 : tensor<10000000000000xf32>
  %2 = ad.cos %0 : tensor<10000000000000xf32>
  %3 = ad.exp %0 : tensor<10000000000000xf32>
  return %0, %1, %2, %3 : tensor<10000000000000xf32>, tensor<10000000000000xf32>, tensor<10000000000000xf32>, tensor<10000000000000xf32>
}
