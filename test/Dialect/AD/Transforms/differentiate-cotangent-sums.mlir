// RUN: ad-opt %s --ad-differentiate | FileCheck %s
// RUN: ad-opt %s --ad-autocast --ad-differentiate | FileCheck %s --check-prefix=POLICY
// RUN: ad-opt %s --ad-differentiate --mlir-disable-threading --remarks-filter=ad-precision -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ad-opt %s --ad-differentiate --ad-write-numerics-report -o /dev/null | FileCheck %s --check-prefix=REPORT

// With ad.cotangent_sums, cotangents of a value of 8 or 16 bits are added in f32 and rounded once. Two are added in the
// type of the value, with the same bits.

// CHECK-LABEL: func.func private @three__vjp_0(
// CHECK-SAME:    ad.cotangent_sums = f32
// CHECK:         %[[A:.+]] = ad.cast %{{.+}} : tensor<4xbf16> -> tensor<4xf32>
// CHECK:         %[[B:.+]] = ad.cast %{{.+}} : tensor<4xbf16> -> tensor<4xf32>
// CHECK:         %[[AB:.+]] = ad.add %[[A]], %[[B]] : tensor<4xf32>
// CHECK:         %[[C:.+]] = ad.cast %{{.+}} : tensor<4xbf16> -> tensor<4xf32>
// CHECK:         %[[ABC:.+]] = ad.add %[[AB]], %[[C]] : tensor<4xf32>
// CHECK:         %[[D:.+]] = ad.cast %[[ABC]] : tensor<4xf32> -> tensor<4xbf16>
// CHECK:         return %{{.+}}, %[[D]]
// REMARK:      differentiate-cotangent-sums.mlir:[[#@LINE+5]]:18: remark: [Passed] cotangent-sum | Category:ad-precision | added-in=f32, cotangents=3, type=bf16
// REPORT:      "count": 1,
// REPORT:      "line": [[#@LINE+3]],
// REPORT-NEXT: "pattern": "ad-differentiate",
// REPORT-NEXT: "permission": "ad.cotangent_sums"
func.func @three(%v: tensor<4xbf16>, %k: tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>)
    attributes {ad.cotangent_sums = f32} {
  %a = ad.mul %v, %v : tensor<4xbf16>
  %b = ad.mul %v, %k : tensor<4xbf16>
  return %a, %b : tensor<4xbf16>, tensor<4xbf16>
}

// CHECK-LABEL: func.func private @two__vjp_0(
// CHECK-NOT:     ad.cast
// CHECK:         ad.add %{{.+}} : tensor<4xbf16>
func.func @two(%v: tensor<4xbf16>) -> tensor<4xbf16> attributes {ad.cotangent_sums = f32} {
  %a = ad.mul %v, %v : tensor<4xbf16>
  return %a : tensor<4xbf16>
}

// The loop carries the sum of what it captures in f32; the sum is rounded after it.
// CHECK-LABEL: func.func private @loop__vjp_0(
// CHECK:         %[[SUM:.+]] = scf.for %{{.+}} iter_args({{.+}}) -> (tensor<4xf16>, tensor<4xf32>)
// CHECK:         }
// CHECK-NOT:     ad.add
// CHECK:         ad.cast %{{.+}} : tensor<4xf32> -> tensor<4xf16>
func.func @loop(%v: tensor<4xf16>, %k: tensor<4xf16>) -> tensor<4xf16> attributes {ad.cotangent_sums = f32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %k) -> (tensor<4xf16>) {
    %b = ad.mul %a, %v : tensor<4xf16>
    scf.yield %b : tensor<4xf16>
  }
  return %r : tensor<4xf16>
}

// Types of 32 and 64 bits have nothing to convert.
// CHECK-LABEL: func.func private @wide__vjp_0(
// CHECK-NOT:     ad.cast
// CHECK:         return
func.func @wide(%v: tensor<4xf32>, %k: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ad.cotangent_sums = f32} {
  %a = ad.mul %v, %v : tensor<4xf32>
  %b = ad.mul %v, %k : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// A policy writes the attribute; that of the function itself stays without one.
// POLICY-LABEL: func.func private @policy__vjp_0(
// POLICY-SAME:    attributes {ad.cotangent_sums = f32}
// POLICY-LABEL: func.func @narrow(
// POLICY-NOT:     ad.cotangent_sums
// POLICY-SAME:    {
func.func @policy(%v: tensor<4xf32>) -> tensor<4xf32>
    attributes {ad.precision = #ad.precision<compute = bf16, accumulate = f32>} {
  %a = ad.mul %v, %v : tensor<4xf32>
  return %a : tensor<4xf32>
}
func.func @narrow(%v: tensor<4xf32>) -> tensor<4xf32> attributes {ad.precision = #ad.precision<bf16>} {
  return %v : tensor<4xf32>
}

func.func @requests(%v: tensor<4xbf16>, %h: tensor<4xf16>, %w: tensor<4xf32>) {
  %a, %b, %d = ad.vjp @three(%v, %v) cotangents(%v, %v) wrt [0]
      : (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
      -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  %e, %f = ad.vjp @two(%v) cotangents(%v) wrt [0] : (tensor<4xbf16>, tensor<4xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>)
  %l, %dl = ad.vjp @loop(%h, %h) cotangents(%h) wrt [0]
      : (tensor<4xf16>, tensor<4xf16>, tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>)
  %o, %p, %q = ad.vjp @wide(%w, %w) cotangents(%w, %w) wrt [0]
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %r, %s = ad.vjp @policy(%w) cotangents(%w) wrt [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}
