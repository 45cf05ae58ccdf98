// RUN: ad-opt %s --verify-roundtrip | FileCheck %s

// CHECK: module attributes {ad.numerics = #ad.numerics<fast, narrow|finite>}
module attributes {ad.numerics = #ad.numerics<fast, narrow|finite>} {
  // CHECK: func.func @train(
  // CHECK-SAME: %{{.+}}: tensor<4xf32> {ad.donated = 0 : i64, ad.name = "w", ad.parameter}
  // CHECK-SAME: -> (tensor<4xf32> {ad.name = "w"})
  // CHECK-SAME: attributes {ad.adjoint_numerics = #ad.numerics<reproducible>, ad.numerics = #ad.numerics<strict, contract>}
  func.func @train(%w: tensor<4xf32> {ad.name = "w", ad.donated = 0 : i64, ad.parameter})
      -> (tensor<4xf32> {ad.name = "w"})
      attributes {ad.numerics = #ad.numerics<strict, contract>, ad.adjoint_numerics = #ad.numerics<reproducible>} {
    // CHECK: ad.exp %{{.+}} {allow = #ad.allow<none>}
    %y = ad.exp %w {allow = #ad.allow<none>} : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
