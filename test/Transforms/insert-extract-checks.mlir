// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Conditions of `tensor.extract` in kernels of another compiler: none where ranges decide, on the host where it knows
// the index, and else by a kernel that looks for the first iteration outside.
//
// RUN: split-file %s %t
// RUN: ad-opt %t/checks.mlir --ad-insert-shape-checks | FileCheck %t/checks.mlir
// RUN: not ad-opt %t/accumulator.mlir --ad-insert-shape-checks 2>&1 | FileCheck %t/accumulator.mlir

//--- checks.mlir
#row = affine_map<(i, j) -> (i)>
#point = affine_map<(i, j) -> (i, j)>

// Loop indices, and arithmetic on them that stays inside: 2 * 7 + 1, a remainder, a byte with 128 added.
// CHECK-LABEL: func.func @inside
// CHECK-NOT: ad.require
// CHECK-NOT: ad.fusion
// CHECK: ad.launch
ad.kernel private @inside_kernel(%t: tensor<16x256xf32>, %b: tensor<8xi8>) -> tensor<8x4xf32> attributes {kernel_class = "generic"} {
  %two = arith.constant 2 : index
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#row, #point], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<8xi8>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: i8, %o: f32):
    %i = linalg.index 0 : index
    %double = arith.muli %i, %two : index
    %odd = arith.addi %double, %one : index
    %wide = arith.extsi %x : i8 to i32
    %shift = arith.constant 128 : i32
    %natural = arith.addi %wide, %shift : i32
    %c = arith.index_cast %natural : i32 to index
    %v = tensor.extract %t[%odd, %c] : tensor<16x256xf32>
    linalg.yield %v : f32
  } -> tensor<8x4xf32>
  ad.yield %r : tensor<8x4xf32>
}
func.func @inside(%t: tensor<16x256xf32>, %b: tensor<8xi8>) -> tensor<8x4xf32> {
  %r = ad.launch @inside_kernel(%t, %b) : (tensor<16x256xf32>, tensor<8xi8>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// A loop of dynamic size, along an axis of another dynamic size.
// CHECK-LABEL: func.func @loop
// CHECK-SAME: %[[T:.+]]: tensor<?xf32>, %[[X:.+]]: tensor<?xf32>
// CHECK-NOT: ad.fusion
// CHECK: ad.require 2 %{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}) "tensor.extract"
// CHECK-NEXT: ad.launch
ad.kernel private @loop_kernel(%t: tensor<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> attributes {kernel_class = "generic"} {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %v = tensor.extract %t[%i] : tensor<?xf32>
    %s = arith.addf %a, %v : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  ad.yield %r : tensor<?xf32>
}
func.func @loop(%t: tensor<?xf32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?xf32>
  %r = ad.launch @loop_kernel(%t, %x) sizes(%n) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The search runs over the loop that the index depends on, which the result's other loop is not.
// CHECK-LABEL: func.func @gather
// CHECK: %[[FIRST:.+]] = ad.fusion reduce
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: arith.minsi
// CHECK: ad.yield
// CHECK: tensor.extract %[[FIRST]][]
// CHECK: scf.if
// CHECK: %[[INDEX:.+]] = ad.fusion reduce ({{.+}} = %[[FIRST]])
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: arith.addi
// CHECK: ad.yield
// CHECK: tensor.extract %[[INDEX]][]
// CHECK: ad.require 2 %{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}) "tensor.extract"
// CHECK-NEXT: }
// CHECK-NEXT: ad.launch
ad.kernel private @gather_kernel(%t: tensor<10x4xf32>, %k: tensor<3xi64>) -> tensor<3x4xf32> attributes {kernel_class = "generic"} {
  %e = tensor.empty() : tensor<3x4xf32>
  %r = linalg.generic {indexing_maps = [#row, #point], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<3xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%x: i64, %o: f32):
    %c = arith.index_cast %x : i64 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%c, %j] : tensor<10x4xf32>
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  ad.yield %r : tensor<3x4xf32>
}
func.func @gather(%t: tensor<10x4xf32>, %k: tensor<3xi64>) -> tensor<3x4xf32> {
  %r = ad.launch @gather_kernel(%t, %k) : (tensor<10x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

//--- accumulator.mlir
ad.kernel private @chain(%t: tensor<10xi64>, %k: tensor<3xi64>) -> tensor<i64> attributes {kernel_class = "generic"} {
  %z = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %f = linalg.fill ins(%z : i64) outs(%e : tensor<i64>) -> tensor<i64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%k : tensor<3xi64>) outs(%f : tensor<i64>) {
  ^bb0(%x: i64, %o: i64):
    %c = arith.index_cast %o : i64 to index
    // CHECK: accumulator.mlir:[[@LINE+1]]:10: error: 'tensor.extract' op expected indices that can be tested before the kernel runs, but one depends on an accumulator; compute it in a kernel before this one
    %v = tensor.extract %t[%c] : tensor<10xi64>
    linalg.yield %v : i64
  } -> tensor<i64>
  ad.yield %r : tensor<i64>
}
func.func @main(%t: tensor<10xi64>, %k: tensor<3xi64>) -> tensor<i64> {
  %r = ad.launch @chain(%t, %k) : (tensor<10xi64>, tensor<3xi64>) -> tensor<i64>
  return %r : tensor<i64>
}
