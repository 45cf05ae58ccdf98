// Operations that a pass makes have permissions, orders and explicit broadcasts, if those of the program have them. What
// ad-verify-numerics accepts, no second run of ad-set-numerics changes.
// RUN: ad-opt %s --ad-set-numerics --ad-differentiate -o %t.differentiated
// RUN: ad-opt %t.differentiated --ad-set-numerics | diff - %t.differentiated
// RUN: ad-opt %t.differentiated --inline --ad-exchange-kernels --ad-verify-numerics -o %t.exchanged
// RUN: ad-opt %t.exchanged --ad-set-numerics | diff - %t.exchanged
// RUN: ad-opt %t.exchanged --ad-specialize-sizes --ad-decompose --ad-verify-numerics -o %t.decomposed
// RUN: ad-opt %t.decomposed --ad-set-numerics | diff - %t.decomposed
// RUN: FileCheck %s --input-file %t.decomposed
// Before ad-set-numerics passes write nothing.
// RUN: ad-opt %s --ad-differentiate --inline --ad-decompose | FileCheck %s --check-prefix=OPEN

// OPEN-NOT: {{allow|#ad.order}}

// CHECK-LABEL: func.func @norms
// CHECK: ad.reduce_sum {{.+}}allow = #ad.allow<reorder|mma>, order = #ad.order<lanes = 64, chunk = 4096>
func.func @norms(%x: tensor<4x?xf32>, %scale: tensor<?xf32>, %shift: tensor<?xf32>) -> tensor<4x?xf32> {
  %y = ad.rms_norm %x, %scale epsilon 1.0e-5 : tensor<4x?xf32>, tensor<?xf32>
  %z = ad.layer_norm %y, %scale, %shift epsilon 1.0e-5 : tensor<4x?xf32>, tensor<?xf32>
  %u = ad.softmax %z axis 1 {ad.named_kernel = "online"} : tensor<4x?xf32>
  return %u : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @clamps
// CHECK: ad.broadcast {{.+}}allow
// CHECK: ad.max {{.+}}allow
func.func @clamps(%x: tensor<4x8xf32>, %low: tensor<8xf32>, %high: tensor<f32>) -> tensor<4x8xf32> {
  %y = ad.clamp %x, %low, %high : tensor<4x8xf32>, tensor<8xf32>, tensor<f32>
  return %y : tensor<4x8xf32>
}

func.func private @loss(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xi64>) -> tensor<f32> {
  %y = ad.mul %x, %b : tensor<4x8xf32>, tensor<8xf32>
  %e = ad.cross_entropy %y, %c : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf32>
  %s = ad.reduce_mean %e axes [0] : tensor<4xf32> -> tensor<f32>
  return %s : tensor<f32>
}

// The broadcast of %b becomes a sum.
// CHECK-LABEL: func.func @gradients
// CHECK: ad.reduce_sum {{.+}} axes [0] {{.*}}allow = #ad.allow<reorder|mma>, order = #ad.order<block = 512>
func.func @gradients(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %c: tensor<4xi64>) -> tensor<8xf32> {
  %y, %db = ad.value_and_grad @loss(%x, %b, %c) wrt [1]
    : (tensor<4x8xf32>, tensor<8xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<8xf32>)
  return %db : tensor<8xf32>
}

// Sizes are compared at run time: a version for equal ones.
// CHECK-LABEL: func.func @sizes
// CHECK: ad.reshape {{.+}}allow = #ad.allow<reorder|mma>
func.func @sizes(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>, tensor<?xf32>
  return %z : tensor<?xf32>
}
