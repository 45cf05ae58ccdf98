// RUN: ad-opt %s --ad-simplify --mlir-disable-threading --remarks-filter=ad-numerics -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ad-opt %s --ad-simplify --ad-write-numerics-report=file=%t.json -o /dev/null
// RUN: FileCheck %s --input-file=%t.json
// RUN: ad-opt %s --ad-write-numerics-report=file=%t.json -o /dev/null
// RUN: FileCheck %s --input-file=%t.json --check-prefix=EMPTY
// RUN: not ad-opt %s --ad-write-numerics-report=file=%t.json/no/such/folder.json 2>&1 | FileCheck %s --check-prefix=UNWRITABLE

// UNWRITABLE: error: {{.*}}cannot write
// EMPTY: []

// CHECK: "column": 8,
// CHECK-NEXT: "count": 1,
// CHECK-NEXT: "file": "{{.*}}numerics-report.mlir",
// CHECK-NEXT: "line": [[#DROP:]],
// CHECK-NEXT: "pattern": "drop-zero",
// CHECK-NEXT: "permission": "algebra"
// CHECK: "column": 8,
// CHECK: "line": [[#DROP+7]],
// CHECK-NEXT: "pattern": "contract-multiply-add",
// CHECK-NEXT: "permission": "contract"
// CHECK-NOT: "pattern"

func.func @plus_zero(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = ad.constant dense<0.0> : tensor<4xf32>
  // REMARK-DAG: numerics-report.mlir:[[#@LINE+1]]:8: remark: [Passed] drop-zero | Category:ad-numerics | permission=algebra
  %y = ad.add %x, %zero {allow = #ad.allow<algebra>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @multiply_add(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %p = ad.mul %x, %x {allow = #ad.allow<contract>} : tensor<4xf32>
  // REMARK-DAG: numerics-report.mlir:[[#@LINE+1]]:8: remark: [Passed] contract-multiply-add | Category:ad-numerics | permission=contract
  %y = ad.add %p, %z {allow = #ad.allow<contract>} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Bit-exact rewrites use no permission.
func.func @exact(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<4x4xf32> {
  %t = ad.transpose %y [1, 0] : tensor<4x3xf32>
  %d = ad.dot %x, %t {allow = #ad.allow<algebra>} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
