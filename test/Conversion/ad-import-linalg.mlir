// RUN: ad-opt --ad-import-linalg --split-input-file %s | FileCheck %s

// A destination of zeros adds nothing.
// CHECK-LABEL: func.func @matmul(
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[W:.+]]: tensor<8x2xf32>)
// CHECK-NEXT: %[[R:.+]] = ad.dot %[[X]], %[[W]] :
// CHECK-NEXT: return %[[R]]
func.func @matmul(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// -----

// Another destination is added to the sum before it is rounded.
// CHECK-LABEL: func.func @narrow_matmul(
// CHECK: %[[P:.+]] = ad.dot {{.*}} -> tensor<4x2xf32>
// CHECK: %[[C:.+]] = ad.cast %{{.+}} : tensor<4x2xbf16> -> tensor<4x2xf32>
// CHECK: %[[S:.+]] = ad.add %[[C]], %[[P]] : tensor<4x2xf32>
// CHECK: ad.cast %[[S]] : tensor<4x2xf32> -> tensor<4x2xbf16>
func.func @narrow_matmul(%x: tensor<4x8xbf16>, %w: tensor<8x2xbf16>, %y: tensor<4x2xbf16>) -> tensor<4x2xbf16> {
  %r = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x2xbf16>) outs(%y : tensor<4x2xbf16>) -> tensor<4x2xbf16>
  return %r : tensor<4x2xbf16>
}

// -----

// Operands that are extended to the accumulator's type are those of the contraction.
// CHECK-LABEL: func.func @extended_dot(
// CHECK-SAME: %[[X:.+]]: tensor<8xi8>, %[[Y:.+]]: tensor<8xi8>, %[[Z:.+]]: tensor<i32>)
// CHECK-NEXT: %[[P:.+]] = ad.dot %[[X]], %[[Y]] : (tensor<8xi8>, tensor<8xi8>) -> tensor<i32>
// CHECK-NEXT: ad.add %[[Z]], %[[P]]
func.func @extended_dot(%x: tensor<8xi8>, %y: tensor<8xi8>, %z: tensor<i32>) -> tensor<i32> {
  %r = linalg.dot ins(%x, %y : tensor<8xi8>, tensor<8xi8>) outs(%z : tensor<i32>) -> tensor<i32>
  return %r : tensor<i32>
}

// -----

#rows = affine_map<(d0, d1) -> (d0)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#both = affine_map<(d0, d1) -> (d0, d1)>
// Operands broadcast, and one operation of the body is one on tensors.
// CHECK-LABEL: func.func @body(
// CHECK-SAME: %[[X:.+]]: tensor<4x8xf32>, %[[Y:.+]]: tensor<4xf32>)
// CHECK-DAG: %[[C:.+]] = ad.reshape %[[Y]] : tensor<4xf32> -> tensor<4x1xf32>
// CHECK-DAG: %[[S:.+]] = ad.add %[[X]], %[[C]] : tensor<4x8xf32>, tensor<4x1xf32>
// CHECK: %[[M:.+]] = ad.max %[[S]], %{{.+}} : tensor<4x8xf32>, tensor<f32>
// CHECK: ad.transpose %[[M]] [1, 0]
func.func @body(%x: tensor<4x8xf32>, %y: tensor<4xf32>) -> tensor<8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4xf32>
  %r = linalg.generic {indexing_maps = [#both, #rows, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// The largest window ends before the last element of the input.
// CHECK-LABEL: func.func @strided_conv(
// CHECK: ad.conv %{{.+}}, %{{.+}} dims "a0,0->a0" strides [2] low [0] high [-2]
func.func @strided_conv(%x: tensor<3x9xf32>, %w: tensor<3xf32>, %y: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>,
                                        affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x9xf32>, tensor<3xf32>) outs(%y : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}

// -----

// CHECK-LABEL: func.func @pooling(
// CHECK: ad.reduce_window max %{{.+}} window [1, 2, 2, 1] strides [1, 2, 2, 1] dilation [1, 1, 1, 1]
func.func @pooling(%x: tensor<1x4x4x3xf32>, %y: tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32> {
  %w = tensor.empty() : tensor<2x2xf32>
  %r = linalg.pooling_nhwc_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%x, %w : tensor<1x4x4x3xf32>, tensor<2x2xf32>) outs(%y : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  return %r : tensor<1x2x2x3xf32>
}

// -----

// An index is an i64, also in the signature.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: %[[X:.+]]: tensor<5x4xf32>, %[[I:.+]]: tensor<3x1xi64>)
// CHECK: ad.gather %[[X]][%{{.+}}] axes [0] slices [1]
func.func @gather(%x: tensor<5x4xf32>, %i: tensor<3x1xindex>) -> tensor<3x4xf32> {
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<5x4xf32>, tensor<3x1xindex>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @blocks(
// CHECK: scf.if
// CHECK-NOT: {{ }}cf.
func.func @blocks(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  cf.cond_br %c, ^then, ^last(%x : tensor<4xf32>)
^then:
  %y = math.exp %x : tensor<4xf32>
  cf.br ^last(%y : tensor<4xf32>)
^last(%r: tensor<4xf32>):
  return %r : tensor<4xf32>
}

// -----

// A combiner that is none of ad: a loop of the program, in the order of the iterations.
// CHECK-LABEL: func.func @other_reduction(
// CHECK-SAME: %[[X:.+]]: tensor<3x8xf32>, %[[Y:.+]]: tensor<3xf32>)
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[C:.+]] = %[[Y]]) -> (tensor<3xf32>) {
// CHECK: %[[S:.+]] = ad.dynamic_slice %[[X]][%{{.+}}, %[[I]]] : tensor<3x8xf32> -> tensor<3x1xf32>
// CHECK: %[[D:.+]] = ad.div %[[S]], %{{.+}} : tensor<3x1xf32>
// CHECK: scf.yield %{{.+}} : tensor<3xf32>
func.func @other_reduction(%x: tensor<3x8xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<3x8xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.divf %a, %o : f32
    linalg.yield %d : f32
  } -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// Nothing of other dialects, not even dead code is changed.
// CHECK-LABEL: func.func @untouched(
// CHECK: ad.constant dense<2.000000e+00> : tensor<4xf32>
func.func @untouched(%x: tensor<4xf32>) -> tensor<4xf32> {
  %dead = ad.constant dense<2.0> : tensor<4xf32>
  %one = ad.constant dense<1.0> : tensor<4xf32>
  %r = ad.add %x, %one : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Constants of arith are a reason to import a program, too: targets know those of ad.
// CHECK-LABEL: @constants_beside_ad
func.func @constants_beside_ad(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xi32>) {
  // CHECK: ad.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
  // CHECK: ad.constant dense<7>
  // CHECK-NOT: arith.constant
  // CHECK: return
  %w = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = arith.constant dense<7> : tensor<2xi32>
  %y = ad.mul %x, %w : tensor<3xf32>
  return %y, %c : tensor<3xf32>, tensor<2xi32>
}
