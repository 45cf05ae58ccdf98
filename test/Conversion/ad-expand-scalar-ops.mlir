// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-expand-scalar-ops | FileCheck %s
// RUN: ad-opt %s --ad-expand-scalar-ops=remainders=true | FileCheck %s --check-prefix=REMAINDERS
// RUN: ad-opt %s --ad-expand-scalar-ops=half-instructions=true | FileCheck %s --check-prefix=HALF
// RUN: ad-opt %s --ad-expand-scalar-ops=bfloat-instructions=true | FileCheck %s --check-prefix=BFLOAT
// RUN: ad-opt %s --ad-expand-scalar-ops="half-instructions=true bytes-by-half=true" | FileCheck %s --check-prefix=BYTES

// Elementary functions become arithmetic on scalars and on vectors; ad-math-emit-check holds the bits against the library.
// CHECK-LABEL: func.func @function
// CHECK-NOT: ad.elementary
// CHECK-NOT: math.exp
// CHECK-DAG: arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK-DAG: arith.mulf %{{.+}}, %{{.+}} : vector<16xf32>
// CHECK: return
func.func @function(%x: f32, %v: vector<16xf32>) -> (f32, vector<16xf32>) {
  %0 = ad.elementary exp %x : f32
  %1 = ad.elementary exp %v : vector<16xf32>
  return %0, %1 : f32, vector<16xf32>
}

// The shorter form is a quotient of polynomials; the exact one has none of this form's coefficients and ends in a select.
// CHECK-LABEL: func.func @approximate
// CHECK: arith.divf
// CHECK-NEXT: return
func.func @approximate(%x: f32) -> f32 {
  %0 = ad.elementary approximate tanh %x : f32
  return %0 : f32
}

// A conversion to bf16 works on the bits: no arith.truncf, which calls a library or flushes subnormals.
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: arith.truncf
// CHECK: arith.bitcast %{{.+}} : vector<16xf32> to vector<16xi32>
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @narrow(%v: vector<16xf32>) -> vector<16xbf16> {
  %0 = ad.convert %v : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}

// 8-bit floats widen by integer arithmetic too.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: arith.extf
// CHECK: arith.bitcast %{{.+}} : f8E5M2 to i8
// CHECK-NOT: arith.extf
// CHECK: return
func.func @wide(%x: f8E5M2) -> f32 {
  %0 = ad.convert %x : f8E5M2 to f32
  return %0 : f32
}

// A remainder is long division of the significands where the target has no exact one.
// CHECK-LABEL: func.func @remainder
// CHECK: arith.remf
// REMAINDERS-LABEL: func.func @remainder
// REMAINDERS-NOT: arith.remf
// REMAINDERS: scf.for
// REMAINDERS: arith.shli
// REMAINDERS: return
func.func @remainder(%x: f64, %y: f64) -> f64 {
  %0 = arith.remf %x, %y : f64
  return %0 : f64
}

// Where the CPU converts f16, so does one operation. From f64 there is no instruction, and two would round twice.
// CHECK-LABEL: func.func @half
// CHECK-NOT: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: return
// HALF-LABEL: func.func @half
// HALF: arith.extf %{{.+}} : vector<16xf16> to vector<16xf32>
// HALF: arith.truncf %{{.+}} : vector<16xf32> to vector<16xf16>
// HALF-NOT: arith.truncf
// HALF: return
func.func @half(%h: vector<16xf16>, %s: vector<16xf32>, %d: f64) -> (vector<16xf32>, vector<16xf16>, f16) {
  %0 = ad.convert %h : vector<16xf16> to vector<16xf32>
  %1 = ad.convert %s : vector<16xf32> to vector<16xf16>
  %2 = ad.convert %d : f64 to f16
  return %0, %1, %2 : vector<16xf32>, vector<16xf16>, f16
}

// GPUs round f32 to bf16. Back is a shift, and f64 is not rounded by way of f32.
// CHECK-LABEL: func.func @bfloat
// CHECK-NOT: arith.truncf
// CHECK: return
// BFLOAT-LABEL: func.func @bfloat
// BFLOAT-NOT: arith.extf
// BFLOAT: arith.shli
// BFLOAT: arith.truncf %{{.+}} : vector<16xf32> to vector<16xbf16>
// BFLOAT-NOT: arith.truncf
// BFLOAT: return
func.func @bfloat(%h: vector<16xbf16>, %s: vector<16xf32>, %d: f64) -> (vector<16xf32>, vector<16xbf16>, bf16) {
  %0 = ad.convert %h : vector<16xbf16> to vector<16xf32>
  %1 = ad.convert %s : vector<16xf32> to vector<16xbf16>
  %2 = ad.convert %d : f64 to bf16
  return %0, %1, %2 : vector<16xf32>, vector<16xbf16>, bf16
}

// An f8E5M2 is the upper half of an f16. The exponents of f8E4M3FN are 8 less, and its NaN would be a number.
// BYTES-LABEL: func.func @bytes
// BYTES: arith.bitcast %{{.+}} : vector<16xi16> to vector<16xf16>
// BYTES-NOT: f32
// BYTES: arith.extf %{{.+}} : f16 to f32
// BYTES: arith.mulf %{{.+}}, %{{.+}} : f32
// BYTES: arith.select
// BYTES: return
func.func @bytes(%a: vector<16xf8E5M2>, %b: f8E4M3FN) -> (vector<16xf16>, f32) {
  %0 = ad.convert %a : vector<16xf8E5M2> to vector<16xf16>
  %1 = ad.convert %b : f8E4M3FN to f32
  return %0, %1 : vector<16xf16>, f32
}
