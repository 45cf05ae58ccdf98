// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @barrier(
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<?xi1>
func.func @barrier(%x: tensor<4xf32>, %y: tensor<?xi1>) -> (tensor<4xf32>, tensor<?xi1>) {
  // CHECK: ad.barrier %[[X]], %[[Y]] : tensor<4xf32>, tensor<?xi1>
  %a, %b = ad.barrier %x, %y : tensor<4xf32>, tensor<?xi1>
  return %a, %b : tensor<4xf32>, tensor<?xi1>
}

// CHECK-LABEL: func.func @stop_gradient(
// CHECK: ad.stop_gradient %{{.+}} : tensor<?xf32>
func.func @stop_gradient(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = ad.stop_gradient %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @feed(
// CHECK-SAME: %[[N:.+]]: index
func.func @feed(%n: index) {
  // CHECK: ad.feed "images" : tensor<32x64xf32>
  %x = ad.feed "images" : tensor<32x64xf32>
  // CHECK: ad.feed "more images"(%[[N]]) : tensor<?x64xi8>
  %y = ad.feed "more images"(%n) : tensor<?x64xi8>
  return
}

// CHECK-LABEL: func.func @receive(
// CHECK-SAME: %[[LOSS:.+]]: tensor<f32>
func.func @receive(%loss: tensor<f32>) {
  // CHECK: ad.receive "loss"(%[[LOSS]]) : tensor<f32>
  ad.receive "loss"(%loss) : tensor<f32>
  // CHECK: ad.receive "both"(%[[LOSS]], %[[LOSS]]) : tensor<f32>, tensor<f32>
  ad.receive "both"(%loss, %loss) : tensor<f32>, tensor<f32>
  return
}
