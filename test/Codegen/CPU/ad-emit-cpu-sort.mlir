// RUN: ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-emit-cpu | FileCheck %s --enable-var-scope

// A row is a unit of work. f32 is the element type 1 of the runtime.
// CHECK: llvm.func @adrt_argsort(!llvm.ptr, !llvm.ptr, i64, i64, i64, i32, i32)
// CHECK-LABEL: func.func private @movement_0(
// CHECK-SAME:    %[[X:.+]]: !llvm.ptr, %[[N:.+]]: index, %[[P:.+]]: !llvm.ptr, %{{.+}}: index, %[[BEGIN:.+]]: index, %[[END:.+]]: index)
// CHECK-SAME:    ad.units = {{\[}}[0, array<i64: 1, 0>, array<i64: 1, 1>]]
// CHECK-DAG:   %[[FIRST:.+]] = arith.index_cast %[[BEGIN]] : index to i64
// CHECK-DAG:   %[[LAST:.+]] = arith.index_cast %[[END]] : index to i64
// CHECK-DAG:   %[[LENGTH:.+]] = arith.index_cast %[[N]] : index to i64
// CHECK-DAG:   %[[TYPE:.+]] = arith.constant 1 : i32
// CHECK:       llvm.call @adrt_argsort(%[[X]], %[[P]], %[[FIRST]], %[[LAST]], %[[LENGTH]], %[[TYPE]], %{{.+}})
func.func @main(%x: tensor<4x3x?xf32>) -> tensor<4x3x?xi64> {
  %p = ad.argsort %x axis 2 descending : tensor<4x3x?xf32>
  return %p : tensor<4x3x?xi64>
}
