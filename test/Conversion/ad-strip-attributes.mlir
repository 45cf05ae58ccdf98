// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-strip-attributes | FileCheck %s

// CHECK: module attributes {adrt.kernel_names = ["k"]}
module attributes {ad.numerics = #ad.numerics<strict>, adrt.kernel_names = ["k"]} {
  // CHECK: func.func @f(%{{.+}}: tensor<4xf32> {tensor.name}, %{{.+}}: tensor<4xf32>) -> tensor<4xf32> attributes {kept = 1 : i64} {
  func.func @f(%x: tensor<4xf32> {ad.name = "x", tensor.name}, %z: tensor<4xf32> {ad.donated = 0 : i64})
      -> (tensor<4xf32> {ad.name = "y"}) attributes {ad.numerics = #ad.numerics<fast>, kept = 1 : i64} {
    // CHECK: arith.addf %{{.+}}, %{{.+}} : tensor<4xf32>
    %y = arith.addf %x, %z {ad.k = 3 : i64} : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
