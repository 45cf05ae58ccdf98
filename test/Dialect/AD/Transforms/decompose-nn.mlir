// RUN: ad-opt %s --ad-decompose=ops=ad.softmax,ad.log_softmax,ad.layer_norm,ad.rms_norm,ad.cross_entropy,ad.clamp | FileCheck %s

// CHECK-LABEL: @softmax
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>
func.func @softmax(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: %[[M:.+]] = ad.reduce_max %[[X]] axes [1] keep_dims : tensor<4x3xf32> -> tensor<4x1xf32>
  // CHECK: %[[MW:.+]] = ad.broadcast %[[M]]
  // CHECK: %[[S:.+]] = ad.sub %[[X]], %[[MW]]
  // CHECK: %[[E:.+]] = ad.exp %[[S]]
  // CHECK: %[[Z:.+]] = ad.reduce_sum %[[E]] axes [1] keep_dims
  // CHECK: %[[ZW:.+]] = ad.broadcast %[[Z]]
  // CHECK: %[[Y:.+]] = ad.div %[[E]], %[[ZW]]
  // CHECK: return %[[Y]]
  %y = ad.softmax %x axis 1 : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// Narrow types: f32 throughout, one rounding at the end.
// CHECK-LABEL: @softmax_bf16
func.func @softmax_bf16(%x: tensor<4x3xbf16>) -> tensor<4x3xbf16> {
  // CHECK: ad.cast %{{.+}} : tensor<4x3xbf16> -> tensor<4x3xf32>
  // CHECK: ad.reduce_max {{.*}} : tensor<4x3xf32> -> tensor<1x3xf32>
  // CHECK-NOT: bf16
  // CHECK: %[[Y:.+]] = ad.div {{.*}} : tensor<4x3xf32>
  // CHECK: ad.cast %[[Y]] : tensor<4x3xf32> -> tensor<4x3xbf16>
  %y = ad.softmax %x axis 0 : tensor<4x3xbf16>
  return %y : tensor<4x3xbf16>
}

// CHECK-LABEL: @log_softmax
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf64>
func.func @log_softmax(%x: tensor<4x3xf64>) -> tensor<4x3xf64> {
  // CHECK: %[[M:.+]] = ad.reduce_max %[[X]]
  // CHECK: %[[MW:.+]] = ad.broadcast %[[M]]
  // CHECK: %[[S:.+]] = ad.sub %[[X]], %[[MW]]
  // CHECK: %[[E:.+]] = ad.exp %[[S]]
  // CHECK: %[[Z:.+]] = ad.reduce_sum %[[E]]
  // CHECK: %[[L:.+]] = ad.log %[[Z]]
  // CHECK: %[[LW:.+]] = ad.broadcast %[[L]]
  // CHECK: ad.sub %[[S]], %[[LW]]
  %y = ad.log_softmax %x axis 1 : tensor<4x3xf64>
  return %y : tensor<4x3xf64>
}

// CHECK-LABEL: @layer_norm
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[SCALE:.+]]: tensor<8xf32>, %[[BIAS:.+]]: tensor<8xf32>
func.func @layer_norm(%x: tensor<4x8xf32>, %scale: tensor<8xf32>, %bias: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[U:.+]] = ad.reduce_mean %[[X]] axes [1] keep_dims
  // CHECK: %[[UW:.+]] = ad.broadcast %[[U]]
  // CHECK: %[[D:.+]] = ad.sub %[[X]], %[[UW]]
  // CHECK: %[[Q:.+]] = ad.mul %[[D]], %[[D]]
  // CHECK: %[[V:.+]] = ad.reduce_mean %[[Q]] axes [1] keep_dims
  // CHECK: %[[EPSILON:.+]] = ad.constant dense<{{.*}}E-6> : tensor<4x1xf32>
  // CHECK: %[[A:.+]] = ad.add %[[V]], %[[EPSILON]]
  // CHECK: %[[R:.+]] = ad.rsqrt %[[A]]
  // CHECK: %[[RW:.+]] = ad.broadcast %[[R]]
  // CHECK: %[[N:.+]] = ad.mul %[[D]], %[[RW]]
  // CHECK: %[[SW:.+]] = ad.broadcast %[[SCALE]]
  // CHECK: %[[T:.+]] = ad.mul %[[N]], %[[SW]]
  // CHECK: %[[BW:.+]] = ad.broadcast %[[BIAS]]
  // CHECK: ad.add %[[T]], %[[BW]]
  %y = ad.layer_norm %x, %scale, %bias epsilon 1.0e-5 : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @rms_norm
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[SCALE:.+]]: tensor<8xf32>
func.func @rms_norm(%x: tensor<4x8xf32>, %scale: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[Q:.+]] = ad.mul %[[X]], %[[X]]
  // CHECK: %[[V:.+]] = ad.reduce_mean %[[Q]]
  // CHECK: %[[A:.+]] = ad.add %[[V]]
  // CHECK: %[[R:.+]] = ad.rsqrt %[[A]]
  // CHECK: %[[RW:.+]] = ad.broadcast %[[R]]
  // CHECK: %[[N:.+]] = ad.mul %[[X]], %[[RW]]
  // CHECK: %[[SW:.+]] = ad.broadcast %[[SCALE]]
  // CHECK: ad.mul %[[N]], %[[SW]]
  %y = ad.rms_norm %x, %scale epsilon 1.0e-5 : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: @cross_entropy_of_probabilities
// CHECK-SAME: %[[X:.+]]: tensor<4x3xf32>, %[[LABELS:.+]]: tensor<4x3xf32>
func.func @cross_entropy_of_probabilities(%x: tensor<4x3xf32>, %labels: tensor<4x3xf32>) -> tensor<4xf32> {
  // CHECK: %[[L:.+]] = ad.sub
  // CHECK: %[[L:.+]] = ad.sub
  // CHECK: %[[P:.+]] = ad.mul %[[LABELS]], %[[L]]
  // CHECK: %[[S:.+]] = ad.reduce_sum %[[P]] axes [1] : tensor<4x3xf32> -> tensor<4xf32>
  // CHECK: ad.neg %[[S]]
  %y = ad.cross_entropy %x, %labels : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @cross_entropy_of_class_numbers
// CHECK-SAME: %[[X:.+]]: tensor<?x3xf32>, %[[LABELS:.+]]: tensor<?xi32>
func.func @cross_entropy_of_class_numbers(%x: tensor<?x3xf32>, %labels: tensor<?xi32>) -> tensor<?xf32> {
  // CHECK: %[[ROWS:.+]] = ad.reshape %[[LABELS]](%{{.+}}) : tensor<?xi32> -> tensor<?xi32>
  // CHECK: %[[LARGEST:.+]] = ad.reduce_max %[[ROWS]] axes [0]
  // CHECK: %[[NUMBER:.+]] = tensor.extract %[[LARGEST]][]
  // CHECK: ad.require 13
  // CHECK: ad.exp
  // CHECK: %[[L:.+]] = ad.sub
  // CHECK: %[[COLUMN:.+]] = ad.reshape %[[ROWS]](%{{.+}}) : tensor<?xi32> -> tensor<?x1xi32>
  // CHECK: %[[INDEX:.+]] = ad.iota axis 1{{ *}}(%{{.+}}) : tensor<?x3xi32>
  // CHECK: %[[LABELW:.+]] = ad.broadcast %[[COLUMN]]
  // CHECK: %[[CHOSEN:.+]] = ad.compare{{ +}}eq %[[INDEX]], %[[LABELW]]
  // CHECK: %[[PICKED:.+]] = ad.select %[[CHOSEN]], %[[L]]
  // CHECK: %[[S:.+]] = ad.reduce_sum %[[PICKED]] axes [1]
  // CHECK: ad.neg %[[S]]
  %y = ad.cross_entropy %x, %labels : tensor<?x3xf32>, tensor<?xi32> -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: @clamp
// CHECK-SAME: %[[X:.+]]: tensor<4xf32>, %[[LOW:.+]]: tensor<f32>, %[[HIGH:.+]]: tensor<f32>
func.func @clamp(%x: tensor<4xf32>, %low: tensor<f32>, %high: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %[[RAISED:.+]] = ad.max %[[X]], %[[LOW]]
  // CHECK: ad.min %[[RAISED]], %[[HIGH]]
  %y = ad.clamp %x, %low, %high : tensor<4xf32>, tensor<f32>, tensor<f32>
  return %y : tensor<4xf32>
}

// Every step has what the operation had.
// CHECK-LABEL: @permissions_and_order
func.func @permissions_and_order(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK: ad.reduce_max {{.*}} {allow = #ad.allow<approx>, order = #ad.order<block = 7>}
  // CHECK: ad.broadcast {{.*}} {allow = #ad.allow<approx>}
  // CHECK: ad.sub {{.*}} {allow = #ad.allow<approx>}
  // CHECK: ad.exp {{.*}} {allow = #ad.allow<approx>}
  // CHECK: ad.reduce_sum {{.*}} {allow = #ad.allow<approx>, order = #ad.order<block = 7>}
  // CHECK: ad.div {{.*}} {allow = #ad.allow<approx>}
  %y = ad.softmax %x axis 1 {allow = #ad.allow<approx>, order = #ad.order<block = 7>} : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
