// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-map-paths="prefix=/home/me/=" --mlir-print-debuginfo | FileCheck %s
// RUN: ad-opt %s --ad-to-cpu="path-prefix-map=/home/me=/src" | FileCheck %s --check-prefix=CODE
// RUN: ad-opt %s --ad-to-plain-linalg="path-prefix-map=/home/me=/src" | FileCheck %s --check-prefix=PLAIN
// RUN: not ad-opt %s --ad-map-paths=prefix=src 2>&1 | FileCheck %s --check-prefix=MAP

// Also inside of other locations; other files keep their names.
// CHECK-DAG: loc("model/main.mlir":3:8)
// CHECK-DAG: loc("other.mlir":4:1)
// CHECK-DAG: callsite(#{{.+}} at #{{.+}})
// CHECK-DAG: loc("model/caller.mlir":9:2)
// CHECK-NOT: /home/me
// CODE: /src/model/main.mlir:3:8
// CODE-NOT: /home/me
// PLAIN: cf.assert %{{.+}}, "/src/model/main.mlir:3:8: 'check.expect_finite' op failed: an element is not finite"
// MAP: error: expected a prefix map OLD=NEW, but got 'src'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ad.exp %x : tensor<4xf32> loc("other.mlir":4:1)
  check.expect_finite(%y) : tensor<4xf32> loc(callsite("/home/me/model/main.mlir":3:8 at "/home/me/model/caller.mlir":9:2))
  return %y : tensor<4xf32>
}
