// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// CHECK-LABEL: func.func private @transpose_a1__vjp_0(
// CHECK-SAME:    %[[G:[^ ,]+]]: tensor<3x4x2xf32>)
// CHECK:       ad.transpose %[[G]] [2, 0, 1] : tensor<3x4x2xf32>
func.func @transpose_a1(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32> {
  %y = ad.transpose %x [1, 2, 0] : tensor<2x3x4xf32>
  return %y : tensor<3x4x2xf32>
}

// Static sizes: one pad.
// CHECK-LABEL: func.func private @slice_a1__vjp_0(
// CHECK-SAME:    %[[G:[^ ,]+]]: tensor<4x3xf32>)
// CHECK:       ad.pad %[[G]], %{{.+}} low [0, 2] high [0, 3] interior [0, 1] : tensor<4x3xf32>, tensor<f32>
// CHECK-NOT:   ad.dynamic_update_slice
func.func @slice_a1(%x: tensor<4x10xf32>) -> tensor<4x3xf32> {
  %y = ad.slice %x [0, 2] strides [1, 2] : tensor<4x10xf32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// An unknown size: the cotangent is spread, then written into zeros.
// CHECK-LABEL: func.func private @slice_a1_dynamic__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<?x10xf32>, %[[G:.+]]: tensor<4x3xf32>)
// CHECK:       %[[SPREAD:.+]] = ad.pad %[[G]], %{{.+}} low [0, 0] high [0, 0] interior [0, 1] : tensor<4x3xf32>, tensor<f32>
// CHECK:       %[[ZEROS:.+]] = ad.full %{{.+}}(%{{.+}}) : f32 -> tensor<?x10xf32>
// CHECK:       ad.dynamic_update_slice %[[ZEROS]], %[[SPREAD]][{{.+}}] : tensor<?x10xf32>, tensor<4x5xf32>
func.func @slice_a1_dynamic(%x: tensor<?x10xf32>) -> tensor<4x3xf32> {
  %y = ad.slice %x [1, 2] strides [1, 2] : tensor<?x10xf32> -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func private @dynamic_update_slice_a1__vjp_0_1(
// CHECK-SAME:    %[[X:.+]]: tensor<4x10xf32>, %[[U:.+]]: tensor<1x10xf32>, %[[I:.+]]: index, %[[G:.+]]: tensor<4x10xf32>)
// The part is read before it is replaced, which can then be done in place.
// CHECK:       %[[DU:.+]] = ad.dynamic_slice %[[G]][%[[I]], %{{.+}}] : tensor<4x10xf32> -> tensor<1x10xf32>
// CHECK:       %[[ZEROS:.+]] = ad.constant dense<0.000000e+00> : tensor<1x10xf32>
// CHECK:       %[[DX:.+]] = ad.dynamic_update_slice %[[G]], %[[ZEROS]][%[[I]], %{{.+}}]
// CHECK:       return %{{.+}}, %[[DX]], %[[DU]]
func.func @dynamic_update_slice_a1(%x: tensor<4x10xf32>, %u: tensor<1x10xf32>, %i: index) -> tensor<4x10xf32> {
  %zero = arith.constant 0 : index
  %y = ad.dynamic_update_slice %x, %u[%i, %zero] : tensor<4x10xf32>, tensor<1x10xf32>
  return %y : tensor<4x10xf32>
}

// The value of a pad gets the sum of what is padding.
// CHECK-LABEL: func.func private @pad_a1__vjp_1(
// CHECK-SAME:    %[[G:[^ ,]+]]: tensor<4x8xf32>)
// CHECK:       %[[PADDING:.+]] = ad.pad %{{.+}}, %{{.+}} low [0, 1] high [0, 2] interior [0, 1] : tensor<4x3xi1>, tensor<i1>
// CHECK:       %[[KEPT:.+]] = ad.select %[[PADDING]], %[[G]], %{{.+}}
// CHECK:       ad.reduce_sum %[[KEPT]] axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
func.func @pad_a1(%x: tensor<4x3xf32>, %v: tensor<f32>) -> tensor<4x8xf32> {
  %y = ad.pad %x, %v low [0, 1] high [0, 2] interior [0, 1] : tensor<4x3xf32>, tensor<f32>
  return %y : tensor<4x8xf32>
}

// Offsets after an input of dynamic size are computed.
// CHECK-LABEL: func.func private @concat_a1__vjp_0_1(
// CHECK-SAME:    %[[A:.+]]: tensor<?xf32>, %[[B:.+]]: tensor<3xf32>, %[[G:.+]]: tensor<?xf32>)
// CHECK:       %[[DA:.+]] = ad.slice %[[G]] [0] strides [1](%{{.+}}) : tensor<?xf32> -> tensor<?xf32>
// CHECK:       %[[N:.+]] = tensor.dim %[[A]]
// CHECK:       %[[DB:.+]] = ad.dynamic_slice %[[G]][%[[N]]] : tensor<?xf32> -> tensor<3xf32>
// CHECK:       return %{{.+}}, %[[DA]], %[[DB]]
func.func @concat_a1(%a: tensor<?xf32>, %b: tensor<3xf32>) -> tensor<?xf32> {
  %y = ad.concat axis 0 %a, %b : tensor<?xf32>, tensor<3xf32>
  return %y : tensor<?xf32>
}

func.func @requests(%x: tensor<2x3x4xf32>, %gx: tensor<3x4x2xf32>, %m: tensor<4x10xf32>, %d: tensor<?x10xf32>,
                    %g: tensor<4x3xf32>, %u: tensor<1x10xf32>, %i: index, %v: tensor<f32>, %p: tensor<4x8xf32>,
                    %a: tensor<?xf32>, %b: tensor<3xf32>) {
  %transpose:2 = ad.vjp @transpose_a1(%x) cotangents(%gx) wrt [0]
    : (tensor<2x3x4xf32>, tensor<3x4x2xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>)
  %slice:2 = ad.vjp @slice_a1(%m) cotangents(%g) wrt [0]
    : (tensor<4x10xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x10xf32>)
  %dynamic:2 = ad.vjp @slice_a1_dynamic(%d) cotangents(%g) wrt [0]
    : (tensor<?x10xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<?x10xf32>)
  %update:3 = ad.vjp @dynamic_update_slice_a1(%m, %u, %i) cotangents(%m) wrt [0, 1]
    : (tensor<4x10xf32>, tensor<1x10xf32>, index, tensor<4x10xf32>)
      -> (tensor<4x10xf32>, tensor<4x10xf32>, tensor<1x10xf32>)
  %pad:2 = ad.vjp @pad_a1(%g, %v) cotangents(%p) wrt [1]
    : (tensor<4x3xf32>, tensor<f32>, tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<f32>)
  %concat:3 = ad.vjp @concat_a1(%a, %b) cotangents(%a) wrt [0, 1]
    : (tensor<?xf32>, tensor<3xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<3xf32>)
  return
}
