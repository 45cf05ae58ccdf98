// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Why memory is planned on tensors (docs/decisions/0003): upstream's One-Shot Bufferize refuses a loop that yields a new
// value, or allocates in each iteration, and neither hoisting nor deallocation moves the allocation out of the loop. The
// planner copies between two buffers.
//
// RUN: split-file %s %t
// RUN: not ad-opt %t/linalg.mlir --one-shot-bufferize="bufferize-function-boundaries" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REFUSED
// RUN: ad-opt %t/linalg.mlir --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" \
// RUN:   | FileCheck %s --check-prefixes=UPSTREAM,KEPT
// RUN: ad-opt %t/linalg.mlir --one-shot-bufferize="bufferize-function-boundaries allow-return-allocs-from-loops" \
// RUN:   --buffer-hoisting --buffer-loop-hoisting --buffer-deallocation-pipeline | FileCheck %s --check-prefixes=UPSTREAM,FREED
// RUN: ad-opt %t/ad.mlir --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-plan-memory="report=-" \
// RUN:   -o /dev/null | FileCheck %s --check-prefix=PLANNED

// REFUSED: error: Yield operand #0 is not equivalent to the corresponding iter bbArg
// UPSTREAM: scf.for
// UPSTREAM-NEXT: memref.alloc() {{.*}} : memref<256x256xf32>
// KEPT-NOT: memref.dealloc
// FREED: scf.if %{{.+}} {
// FREED-NEXT: memref.dealloc
// FREED: scf.yield
// FREED: bufferization.clone
// PLANNED: Using: 524288 out of 524288

//--- linalg.mlir
func.func @main(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c1000 step %c1 iter_args(%y = %x) -> (tensor<256x256xf32>) {
    %e = tensor.empty() : tensor<256x256xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
    %p = linalg.matmul ins(%y, %w : tensor<256x256xf32>, tensor<256x256xf32>)
                       outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
    scf.yield %p : tensor<256x256xf32>
  }
  return %r : tensor<256x256xf32>
}

//--- ad.mlir
func.func @main(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %r = scf.for %i = %c0 to %c1000 step %c1 iter_args(%y = %x) -> (tensor<256x256xf32>) {
    %p = ad.dot %y, %w : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    scf.yield %p : tensor<256x256xf32>
  }
  return %r : tensor<256x256xf32>
}
