// RUN: ad-opt %s --verify-roundtrip | FileCheck %s --enable-var-scope

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x4x5x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x3xf32>, %m: tensor<1x4x1x7xi1>,
                     %b: tensor<2x1x5x7xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5xf32>) {
  // CHECK: ad.attention %{{.+}}, %{{.+}}, %{{.+}} : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  %y, %l = ad.attention %q, %k, %v : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>
  // CHECK: ad.attention %{{.+}}, %{{.+}}, %{{.+}} mask %{{.+}} causal window 3 scale 5.000000e-01 softcap 3.000000e+01 chunk 2 {allow = #ad.allow<mma>} : {{.+}}, tensor<1x4x1x7xi1>
  %z:2 = ad.attention %q, %k, %v mask %m causal window 3 scale 0.5 softcap 30.0 chunk 2 {allow = #ad.allow<mma>}
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<1x4x1x7xi1>
  // CHECK: ad.attention_grad {{.+}} mask %{{.+}} causal : {{.+}}, tensor<2x1x5x7xf32>
  %g:4 = ad.attention_grad %q, %k, %v, %l, %l, %y mask %b causal
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>,
        tensor<2x4x5x3xf32>, tensor<2x1x5x7xf32>
  // Without a mask of floats there are three results.
  // CHECK: %{{.+}}, %{{.+}}, %{{.+}} = ad.attention_grad
  %h:3 = ad.attention_grad %q, %k, %v, %l, %l, %y mask %m
      : tensor<2x4x5x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x3xf32>, tensor<2x4x5xf32>, tensor<2x4x5xf32>,
        tensor<2x4x5x3xf32>, tensor<1x4x1x7xi1>
  return %y, %l : tensor<2x4x5x3xf32>, tensor<2x4x5xf32>
}

// Sizes may be open, and logSum has the accumulator's type.
// CHECK-LABEL: func.func @open
func.func @open(%q: tensor<?x4x?x8xbf16>, %k: tensor<?x4x?x8xbf16>, %v: tensor<2x4x6x3xbf16>)
    -> (tensor<?x4x?x3xbf16>, tensor<?x4x?xf32>) {
  // CHECK: ad.attention %{{.+}} : tensor<?x4x?x8xbf16>, tensor<?x4x?x8xbf16>, tensor<2x4x6x3xbf16>
  %y, %l = ad.attention %q, %k, %v : tensor<?x4x?x8xbf16>, tensor<?x4x?x8xbf16>, tensor<2x4x6x3xbf16>
  return %y, %l : tensor<?x4x?x3xbf16>, tensor<?x4x?xf32>
}
