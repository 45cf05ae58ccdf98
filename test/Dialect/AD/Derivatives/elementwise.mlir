// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// The forward result is used where the formula has it.
// CHECK-LABEL: func.func private @tanh_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[G:.+]]: tensor<4xf32>)
// CHECK-NEXT:  %[[Y:.+]] = ad.tanh %[[X]] : tensor<4xf32>
// CHECK-NEXT:  %[[SQUARE:.+]] = ad.mul %[[Y]], %[[Y]] : tensor<4xf32>
// CHECK:       %[[SLOPE:.+]] = ad.sub %{{.+}}, %[[SQUARE]] : tensor<f32>, tensor<4xf32>
// CHECK-NEXT:  %[[DX:.+]] = ad.mul %[[G]], %[[SLOPE]] : tensor<4xf32>
// CHECK-NEXT:  return %[[Y]], %[[DX]]
func.func @tanh_a1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// The cotangent multiplies between powers of a quarter of x where e^x may leave the range.
// CHECK-LABEL: func.func private @exp_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[G:.+]]: tensor<4xf32>)
// CHECK:       %[[CLAMPED:.+]] = ad.clamp %[[X]],
// CHECK:       %[[NORMAL:.+]] = ad.compare le %{{.+}}, %{{.+}} : tensor<4xf32>, tensor<f32>
// CHECK:       %[[QUARTER:.+]] = ad.mul %[[CLAMPED]], %{{.+}} : tensor<4xf32>, tensor<f32>
// CHECK:       %[[CHOSEN:.+]] = ad.select %[[NORMAL]], %[[CLAMPED]], %[[QUARTER]]
// CHECK:       %[[POWER:.+]] = ad.exp %[[CHOSEN]] : tensor<4xf32>
// CHECK:       %[[AGAIN:.+]] = ad.select %[[NORMAL]], %{{.+}}, %[[POWER]] : tensor<4xi1>, tensor<f32>, tensor<4xf32>
// CHECK:       %[[FIRST:.+]] = ad.mul %[[G]], %[[POWER]] : tensor<4xf32>
// CHECK:       ad.mul %[[FIRST]], %[[AGAIN]] : tensor<4xf32>
func.func @exp_a1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// 16-bit types compute in f32 and round once.
// CHECK-LABEL: func.func private @sigmoid_a1_narrow__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4xbf16>, %[[G:.+]]: tensor<4xbf16>)
// CHECK:       %[[WIDE_X:.+]] = ad.cast %[[X]] : tensor<4xbf16> -> tensor<4xf32>
// CHECK:       %[[H:.+]] = ad.exp %{{.+}} : tensor<4xf32>
// CHECK:       %[[ROOT:.+]] = ad.div %[[H]], %{{.+}} : tensor<4xf32>
// CHECK:       %[[WIDE_G:.+]] = ad.cast %[[G]] : tensor<4xbf16> -> tensor<4xf32>
// CHECK:       %[[HALF:.+]] = ad.mul %[[WIDE_G]], %[[ROOT]] : tensor<4xf32>
// CHECK:       %[[WIDE_DX:.+]] = ad.mul %[[HALF]], %[[ROOT]] : tensor<4xf32>
// CHECK:       ad.cast %[[WIDE_DX]] : tensor<4xf32> -> tensor<4xbf16>
func.func @sigmoid_a1_narrow(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = ad.sigmoid %x : tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// CHECK-LABEL: func.func private @relu_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[G:.+]]: tensor<4xf32>)
// CHECK:       %[[ABOVE:.+]] = ad.compare gt %[[X]], %{{.+}} : tensor<4xf32>, tensor<f32>
// CHECK:       ad.select %[[ABOVE]], %[[G]], %{{.+}} : tensor<4xi1>, tensor<4xf32>, tensor<f32>
func.func @relu_a1(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// A float that goes through an integer has no derivative there: the gradient is an explicit zero.
// CHECK-LABEL: func.func private @cast_a1_integer__vjp_0(
// CHECK:       %[[ZERO:.+]] = ad.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK:       return %{{.+}}, %[[ZERO]]
func.func @cast_a1_integer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %i = ad.cast %x : tensor<4xf32> -> tensor<4xi32>
  %y = ad.cast %i : tensor<4xi32> -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func private @cast_a1_float__vjp_0(
// CHECK-SAME:    %[[G:[^ ,]+]]: tensor<4xf16>)
// CHECK:       ad.cast %[[G]] : tensor<4xf16> -> tensor<4xf32>
func.func @cast_a1_float(%x: tensor<4xf32>) -> tensor<4xf16> {
  %y = ad.cast %x : tensor<4xf32> -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// Equal shapes: no sum.
// CHECK-LABEL: func.func private @mul_a1__vjp_0_1(
// CHECK-SAME:    %[[X:.+]]: tensor<?x3xf32>, %[[Y:.+]]: tensor<3xf32>, %[[G:.+]]: tensor<?x3xf32>)
// CHECK:       %[[DX:.+]] = ad.mul %[[G]], %[[Y]] : tensor<?x3xf32>, tensor<3xf32>
// CHECK:       %[[PRODUCT:.+]] = ad.mul %[[G]], %[[X]] : tensor<?x3xf32>
// CHECK:       %[[DY:.+]] = ad.sum_to_shape %[[PRODUCT]] : tensor<?x3xf32> -> tensor<3xf32>
// CHECK:       return %{{.+}}, %[[DX]], %[[DY]]
func.func @mul_a1(%x: tensor<?x3xf32>, %y: tensor<3xf32>) -> tensor<?x3xf32> {
  %z = ad.mul %x, %y : tensor<?x3xf32>, tensor<3xf32>
  return %z : tensor<?x3xf32>
}

// Unknown sizes, either of which may be 1 at run time.
// CHECK-LABEL: func.func private @add_a1_dynamic__vjp_0_1(
// CHECK-SAME:    %[[X:[^ ,]+]]: tensor<?xf32>, %[[Y:[^ ,]+]]: tensor<?xf32>, %[[G:[^ ,]+]]: tensor<?xf32>)
// CHECK:       %[[N:.+]] = tensor.dim %[[X]]
// CHECK:       %[[DX:.+]] = ad.sum_to_shape %[[G]](%[[N]]) : tensor<?xf32> -> tensor<?xf32>
// CHECK:       %[[M:.+]] = tensor.dim %[[Y]]
// CHECK:       %[[DY:.+]] = ad.sum_to_shape %[[G]](%[[M]]) : tensor<?xf32> -> tensor<?xf32>
// CHECK:       return %{{.+}}, %[[DX]], %[[DY]]
func.func @add_a1_dynamic(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = ad.add %x, %y : tensor<?xf32>, tensor<?xf32>
  return %z : tensor<?xf32>
}

// Half of the cotangent to each of two equal operands.
// CHECK-LABEL: func.func private @max_a1__vjp_0(
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32>, %[[Y:.+]]: tensor<4xf32>, %[[G:.+]]: tensor<4xf32>)
// CHECK:       %[[TIE:.+]] = ad.compare eq %[[X]], %[[Y]] : tensor<4xf32>
// CHECK:       %[[HALF:.+]] = ad.mul %[[G]], %{{.+}} : tensor<4xf32>, tensor<f32>
// CHECK:       %[[TIED:.+]] = ad.select %[[TIE]], %[[HALF]], %{{.+}} : tensor<4xi1>, tensor<4xf32>, tensor<f32>
// CHECK:       %[[WINS:.+]] = ad.compare gt %[[X]], %[[Y]] : tensor<4xf32>
// CHECK:       ad.select %[[WINS]], %[[G]], %[[TIED]]
func.func @max_a1(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %z = ad.max %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

func.func @requests(%x: tensor<4xf32>, %b: tensor<4xbf16>, %h: tensor<4xf16>, %m: tensor<?x3xf32>, %r: tensor<3xf32>,
                    %d: tensor<?xf32>) {
  %tanh:2 = ad.vjp @tanh_a1(%x) cotangents(%x) wrt [0]
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %exp:2 = ad.vjp @exp_a1(%x) cotangents(%x) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %sigmoid:2 = ad.vjp @sigmoid_a1_narrow(%b) cotangents(%b) wrt [0]
    : (tensor<4xbf16>, tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>)
  %relu:2 = ad.vjp @relu_a1(%x) cotangents(%x) wrt [0]
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %integer:2 = ad.vjp @cast_a1_integer(%x) cotangents(%x) wrt [0]
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %float:2 = ad.vjp @cast_a1_float(%x) cotangents(%h) wrt [0]
    : (tensor<4xf32>, tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf32>)
  %mul:3 = ad.vjp @mul_a1(%m, %r) cotangents(%m) wrt [0, 1]
    : (tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>)
  %add:3 = ad.vjp @add_a1_dynamic(%d, %d) cotangents(%d) wrt [0, 1]
    : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
  %max:2 = ad.vjp @max_a1(%x, %x) cotangents(%x) wrt [0]
    : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
