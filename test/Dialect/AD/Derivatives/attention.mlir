// RUN: ad-opt %s --ad-differentiate | FileCheck %s

// delta is the sum of the cotangent times the result, less the cotangent of logSum.
// CHECK-LABEL: func.func private @attention_a1__vjp_0_1_2_3(
// CHECK-SAME:    %[[Q:.+]]: tensor<2x4x5x8xbf16>, %[[K:.+]]: tensor<2x2x7x8xbf16>, %[[V:.+]]: tensor<2x2x7x3xbf16>, %[[M:.+]]: tensor<1x1x5x7xbf16>, %[[G:.+]]: tensor<2x4x5x3xbf16>, %[[GL:.+]]: tensor<2x4x5xf32>)
// CHECK:       %[[Y:.+]], %[[L:.+]] = ad.attention %[[Q]], %[[K]], %[[V]] mask %[[M]] causal scale 5.000000e-01
// CHECK:       %[[GF:.+]] = ad.cast %[[G]] : tensor<2x4x5x3xbf16> -> tensor<2x4x5x3xf32>
// CHECK:       %[[YF:.+]] = ad.cast %[[Y]] : tensor<2x4x5x3xbf16> -> tensor<2x4x5x3xf32>
// CHECK:       %[[P:.+]] = ad.mul %[[GF]], %[[YF]]
// CHECK:       %[[S:.+]] = ad.reduce_sum %[[P]] axes [3]
// CHECK:       %[[D:.+]] = ad.sub %[[S]], %[[GL]]
// CHECK:       %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]], %[[DM:.+]] = ad.attention_grad %[[Q]], %[[K]], %[[V]], %[[L]], %[[D]], %[[G]] mask %[[M]] causal scale 5.000000e-01
// CHECK:       return %[[Y]], %[[L]], %[[DQ]], %[[DK]], %[[DV]], %[[DM]]
func.func @attention_a1(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>, %v: tensor<2x2x7x3xbf16>,
                        %m: tensor<1x1x5x7xbf16>) -> (tensor<2x4x5x3xbf16>, tensor<2x4x5xf32>) {
  %y, %l = ad.attention %q, %k, %v mask %m causal scale 0.5
      : tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x3xbf16>, tensor<1x1x5x7xbf16>
  return %y, %l : tensor<2x4x5x3xbf16>, tensor<2x4x5xf32>
}

func.func @main(%q: tensor<2x4x5x8xbf16>, %k: tensor<2x2x7x8xbf16>, %v: tensor<2x2x7x3xbf16>, %m: tensor<1x1x5x7xbf16>,
                %g: tensor<2x4x5x3xbf16>, %l: tensor<2x4x5xf32>) -> tensor<2x4x5x8xbf16> {
  %r:6 = ad.vjp @attention_a1(%q, %k, %v, %m) cotangents(%g, %l) wrt [0, 1, 2, 3]
      : (tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x3xbf16>, tensor<1x1x5x7xbf16>, tensor<2x4x5x3xbf16>,
         tensor<2x4x5xf32>)
      -> (tensor<2x4x5x3xbf16>, tensor<2x4x5xf32>, tensor<2x4x5x8xbf16>, tensor<2x2x7x8xbf16>, tensor<2x2x7x3xbf16>,
          tensor<1x1x5x7xbf16>)
  return %r#2 : tensor<2x4x5x8xbf16>
}
