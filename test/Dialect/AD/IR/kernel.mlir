// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @fusion
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>
func.func @fusion(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: ad.fusion elementwise (%[[A:.+]] = %[[X]]) : (tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.+]] = ad.exp %[[A]] : tensor<4xf32>
  // CHECK-NEXT: ad.yield %[[E]] : tensor<4xf32>
  // CHECK-NEXT: }
  %y = ad.fusion elementwise (%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %0 = ad.exp %a : tensor<4xf32>
    ad.yield %0 : tensor<4xf32>
  }
  // CHECK: ad.fusion elementwise (%[[A2:.+]] = %[[X]], %{{.+}} = %{{.+}}) {allow = #ad.allow<reorder>,
  // CHECK-SAME: kernel = "row", order = #ad.order<block = 512>} : (tensor<4xf32>, tensor<4xf32>) ->
  // CHECK-SAME: (tensor<4xf32>, tensor<4xf32>) {
  %z:2 = ad.fusion elementwise (%a = %x, %b = %y)
      {allow = #ad.allow<reorder>, order = #ad.order<block = 512>, kernel = "row"}
      : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    ad.yield %b, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %y, %z#0, %z#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @fusion_of_nothing
func.func @fusion_of_nothing() -> tensor<f32> {
  // CHECK: ad.fusion movement () : () -> tensor<f32> {
  %y = ad.fusion movement () : () -> tensor<f32> {
    %0 = ad.constant dense<1.0> : tensor<f32>
    ad.yield %0 : tensor<f32>
  }
  return %y : tensor<f32>
}

// CHECK: ad.kernel @k(%[[A:.+]]: tensor<?xf32>) -> tensor<?xf32> attributes {kernel_class = "elementwise"} {
// CHECK-NEXT: ad.yield %[[A]] : tensor<?xf32>
ad.kernel @k(%a: tensor<?xf32>) -> tensor<?xf32> attributes {kernel_class = "elementwise"} {
  ad.yield %a : tensor<?xf32>
}

// CHECK: ad.kernel private @m(%{{.+}}: memref<4xf32>, %{{.+}}: memref<4xf32>) attributes {kernel_class = "generic"} {
// CHECK-NEXT: ad.yield
ad.kernel private @m(%a: memref<4xf32>, %b: memref<4xf32>) attributes {kernel_class = "generic"} {
  ad.yield
}

// CHECK-LABEL: func.func @launch
func.func @launch(%x: tensor<?xf32>, %n: index, %a: memref<4xf32>, %b: memref<4xf32>) -> tensor<?xf32> {
  // CHECK: %[[POOL:.+]] = ad.buffer <pool, number = 1, bytes = 4>
  %pool = ad.buffer <pool, number = 1, bytes = 4>
  // CHECK: ad.launch @k(%{{.+}}) sizes(%{{.+}}) {tied = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  %y = ad.launch @k(%x) sizes(%n) {tied = array<i64: 0>} : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: ad.launch @k(%{{.+}}) sizes(%{{.+}}) into(%[[POOL]]) : (tensor<?xf32>) -> tensor<?xf32>
  %z = ad.launch @k(%x) sizes(%n) into(%pool) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: ad.launch @m(%{{.+}}, %{{.+}}) : (memref<4xf32>, memref<4xf32>) -> ()
  ad.launch @m(%a, %b) : (memref<4xf32>, memref<4xf32>) -> ()
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @scalars
func.func @scalars(%x: f32, %v: vector<16xf64>, %w: vector<4xi8>) -> (f32, vector<16xf64>, bf16, vector<4xf32>) {
  // CHECK: ad.elementary exp %{{.+}} : f32
  %a = ad.elementary exp %x : f32
  // CHECK: ad.elementary pow %{{.+}}, %{{.+}} : vector<16xf64>
  %b = ad.elementary pow %v, %v : vector<16xf64>
  // CHECK: ad.elementary approximate tanh %{{.+}} : f32
  %t = ad.elementary approximate tanh %x : f32
  // CHECK: ad.convert %{{.+}} : f32 to bf16
  %c = ad.convert %x : f32 to bf16
  // CHECK: ad.convert %{{.+}} : vector<4xi8> to vector<4xf32>
  %d = ad.convert %w : vector<4xi8> to vector<4xf32>
  return %a, %b, %c, %d : f32, vector<16xf64>, bf16, vector<4xf32>
}

// CHECK-LABEL: func.func @conditions
// CHECK-SAME: %[[OK:.+]]: i1, %[[N:.+]]: index, %[[STATUS:.+]]: i32
func.func @conditions(%ok: i1, %n: index, %status: i32) {
  // CHECK-NEXT: ad.require 1 %[[OK]](%[[N]], %[[N]]) "ad.dot"
  ad.require 1 %ok(%n, %n) "ad.dot"
  // CHECK-NEXT: ad.require 0 %[[OK]]() "ad.pad"
  ad.require 0 %ok() "ad.pad"
  // CHECK-NEXT: ad.guard %[[STATUS]]
  ad.guard %status
  return
}
