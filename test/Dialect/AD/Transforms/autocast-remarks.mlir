// RUN: ad-opt %s --ad-autocast --mlir-disable-threading --remarks-filter=ad-precision -o /dev/null 2>&1 | FileCheck %s
// RUN: ad-opt %s --ad-autocast --ad-write-numerics-report -o /dev/null | FileCheck %s --check-prefix=REPORT

// REPORT: "count": 2,
// REPORT: "line": [[#@LINE+13]],
// REPORT-NEXT: "pattern": "ad-autocast",
// REPORT-NEXT: "permission": "always"
// REPORT: "count": 1,
// REPORT: "pattern": "ad-autocast",
// REPORT-NEXT: "permission": "boundary"

module attributes {ad.precision = #ad.precision<bf16>} {
  func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> (tensor<4x2xf32>, tensor<4x8xf32>) {
    // CHECK: autocast-remarks.mlir:[[#@LINE+5]]:10: remark: [Analysis] not-listed | Category:ad-precision
    // CHECK-SAME: operation=arith.negf, policy=bf16, rule=never
    // CHECK-COUNT-2: autocast-remarks.mlir:[[#@LINE+2]]:10: remark: [Passed] cast | Category:ad-precision | from=f32, operation=ad.dot, policy=bf16, to=bf16, why=always
    // CHECK: autocast-remarks.mlir:[[#@LINE+3]]:5: remark: [Passed] cast | Category:ad-precision | from=bf16, operation=func.return, policy=bf16, to=f32, why=boundary
    %y = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %z = arith.negf %x : tensor<4x8xf32>
    return %y, %z : tensor<4x2xf32>, tensor<4x8xf32>
  }

  // What a policy cannot change is left as it is, and named.
  func.func @left_alone(%x: tensor<8xf32>, %y: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf16>) {
    // CHECK: autocast-remarks.mlir:[[#@LINE+1]]:12: remark: [Analysis] left-alone | Category:ad-precision | operation=ad.sort, policy=bf16, reason="its results have several types"
    %0:2 = ad.sort %x, %y axis 0 : tensor<8xf32>, tensor<8xf16>
    return %0#0, %0#1 : tensor<8xf32>, tensor<8xf16>
  }
}
