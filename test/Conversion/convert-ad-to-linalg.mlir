// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-ad-to-linalg --split-input-file | FileCheck %s

// Arithmetic on 16-bit floats happens in f32, with one rounding.
// CHECK-LABEL: func.func @add_f16
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: %[[LHS:.+]] = ad.convert %{{.+}} : f16 to f32
// CHECK: %[[RHS:.+]] = ad.convert %{{.+}} : f16 to f32
// CHECK: %[[SUM:.+]] = arith.addf %[[LHS]], %[[RHS]] : f32
// CHECK: ad.convert %[[SUM]] : f32 to f16
func.func @add_f16(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %z = ad.fusion elementwise (%a = %x, %b = %y) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16> {
    %0 = ad.add %a, %b : tensor<4xf16>
    ad.yield %0 : tensor<4xf16>
  }
  return %z : tensor<4xf16>
}

// -----

// The permission `approx` allows shorter forms of some functions, in the type of the computation.
// CHECK-LABEL: func.func @approximate
// CHECK: ad.elementary approximate tanh %{{.+}} : f32
// CHECK: ad.elementary tanh %{{.+}} : f32
// CHECK: ad.elementary exp %{{.+}} : f32
// CHECK: ad.elementary tanh %{{.+}} : f64
func.func @approximate(%x: tensor<4xbf16>, %y: tensor<4xf64>) -> (tensor<4xbf16>, tensor<4xf64>) {
  %z, %w = ad.fusion elementwise (%a = %x, %b = %y) : (tensor<4xbf16>, tensor<4xf64>) -> (tensor<4xbf16>, tensor<4xf64>) {
    %0 = ad.tanh %a {allow = #ad.allow<approx>} : tensor<4xbf16>
    %1 = ad.tanh %0 {allow = #ad.allow<reorder>} : tensor<4xbf16>
    %2 = ad.exp %1 {allow = #ad.allow<approx>} : tensor<4xbf16>
    %3 = ad.tanh %b {allow = #ad.allow<approx>} : tensor<4xf64>
    ad.yield %2, %3 : tensor<4xbf16>, tensor<4xf64>
  }
  return %z, %w : tensor<4xbf16>, tensor<4xf64>
}

// -----

// A contraction accumulates FMAs in f32 and rounds once, after the sum.
// CHECK-LABEL: func.func @dot_bf16
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: math.fma %{{.+}}, %{{.+}}, %{{.+}} : f32
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK: ad.convert %{{.+}} : f32 to bf16
func.func @dot_bf16(%x: tensor<4x8xbf16>, %y: tensor<8x2xbf16>) -> tensor<4x2xbf16> {
  %z = ad.fusion dot (%a = %x, %b = %y) {order = #ad.order<block = 512>}
    : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16> {
    %0 = ad.dot %a, %b {order = #ad.order<block = 512>} : (tensor<4x8xbf16>, tensor<8x2xbf16>) -> tensor<4x2xbf16>
    ad.yield %0 : tensor<4x2xbf16>
  }
  return %z : tensor<4x2xbf16>
}

// -----

// A reshape moves no data: it goes back to the host program.
// CHECK-LABEL: func.func @reshape
// CHECK-NOT: ad.fusion
// CHECK: ad.reshape
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %z = ad.fusion movement (%a = %x) : (tensor<4x6xf32>) -> tensor<24xf32> {
    %0 = ad.reshape %a : tensor<4x6xf32> -> tensor<24xf32>
    ad.yield %0 : tensor<24xf32>
  }
  return %z : tensor<24xf32>
}

// -----

// Whether an axis repeats is decided for each element if its size is dynamic.
// CHECK-LABEL: func.func @broadcast_unknown
// CHECK: %[[REPEATS:.+]] = arith.cmpi eq
// CHECK: %[[INDEX:.+]] = arith.select %[[REPEATS]]
// CHECK: tensor.extract %{{.+}}[%[[INDEX]]]
func.func @broadcast_unknown(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %z = ad.fusion movement (%a = %x, %m = %n) : (tensor<?xf32>, index) -> tensor<?xf32> {
    %0 = ad.broadcast %a(%m) : tensor<?xf32> -> tensor<?xf32>
    ad.yield %0 : tensor<?xf32>
  }
  return %z : tensor<?xf32>
}
