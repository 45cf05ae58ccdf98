// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// What stays the same in a loop is packed before it, in panels as wide as a tile of the result.
//
// RUN: ad-opt %s --ad-prepack-operands | FileCheck %s
// RUN: ad-opt %s --ad-prepack-operands="dot-products" | FileCheck %s --check-prefix=PAIRS
// RUN: ad-opt %s --ad-prepack-operands="vector-bytes=32" | FileCheck %s --check-prefix=HALF
// RUN: not ad-opt %s --ad-prepack-operands=tiles=tiny 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ad-opt %s --ad-prepack-operands=vector-bytes=-16 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// REFUSED: error: unknown table of tiles 'tiny', expected large or small
// NEGATIVE: error: expected 'vector-bytes' with a power of two from 8 to 1024, but got -16

#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#transposed = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-DAG: #[[$PANELS:.+]] = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
// CHECK-DAG: #[[$READ:.+]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK-DAG: #[[$TRANSPOSED:.+]] = affine_map<(d0, d1) -> (d0 floordiv 32, d1, d0 mod 32)>
// HALF: affine_map<(d0, d1) -> (d1 floordiv 16, d0, d1 mod 16)>
// PAIRS: affine_map<(d0, d1) -> (d0 floordiv 32, d1 floordiv 2, d0 mod 32, d1 mod 2)>

// Remaining columns have a panel of their own. The initial value of a carry is not invariant in the loop.
// CHECK-LABEL: func.func @nested
// CHECK: %[[PACKED:.+]] = ad.fusion movement (%{{.+}} = %arg0) {{.+}} -> tensor<3x72x32xf32> {
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[$PANELS]]], {{.+}} ins(%{{.+}} : tensor<72x70xf32>)
// CHECK: scf.for
// CHECK: scf.for
// CHECK: ad.fusion dot (%{{.+}} = %{{.+}}, %{{.+}} = %[[PACKED]])
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[$READ]], #{{.+}}]
func.func @nested(%w: tensor<72x70xf32>, %x: tensor<8x72xf32>, %start: tensor<8x70xf32>) -> tensor<8x70xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%outer = %start) -> (tensor<8x70xf32>) {
    %s = scf.for %j = %c0 to %c4 step %c1 iter_args(%sum = %outer) -> (tensor<8x70xf32>) {
      %y = ad.fusion dot (%a = %x, %b = %w, %c = %sum) {kernel = "contraction", order = #ad.order<block = 512>}
          : (tensor<8x72xf32>, tensor<72x70xf32>, tensor<8x70xf32>) -> tensor<8x70xf32> {
        %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
            ins(%a, %b : tensor<8x72xf32>, tensor<72x70xf32>) outs(%c : tensor<8x70xf32>) {
        ^bb0(%p: f32, %q: f32, %acc: f32):
          %next = math.fma %p, %q, %acc : f32
          linalg.yield %next : f32
        } -> tensor<8x70xf32>
        ad.yield %0 : tensor<8x70xf32>
      }
      scf.yield %y : tensor<8x70xf32>
    }
    scf.yield %s : tensor<8x70xf32>
  }
  return %r : tensor<8x70xf32>
}

// Packed in pairs where the CPU sums them, in single columns where it does not; two users share one.
// CHECK-LABEL: func.func @transposed
// CHECK: ad.fusion movement {{.+}} -> tensor<2x72x32xbf16> {
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[$TRANSPOSED]]]
// CHECK-NOT: ad.fusion movement
// CHECK: scf.for
// PAIRS-LABEL: func.func @transposed
// PAIRS: ad.fusion movement {{.+}} -> tensor<2x36x32x2xbf16> {
func.func @transposed(%w: tensor<64x72xbf16>, %x: tensor<8x72xbf16>, %start: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %start) -> (tensor<8x64xf32>) {
    %y = ad.fusion dot (%a = %x, %b = %w, %c = %sum) {kernel = "contraction", order = #ad.order<block = 512>}
        : (tensor<8x72xbf16>, tensor<64x72xbf16>, tensor<8x64xf32>) -> tensor<8x64xf32> {
      %0 = linalg.generic {indexing_maps = [#lhs, #transposed, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<8x72xbf16>, tensor<64x72xbf16>) outs(%c : tensor<8x64xf32>) attrs = {ad.allow = #ad.allow<mma>} {
      ^bb0(%p: bf16, %q: bf16, %acc: f32):
        %wide = ad.convert %p : bf16 to f32
        %other = ad.convert %q : bf16 to f32
        %next = math.fma %wide, %other, %acc : f32
        linalg.yield %next : f32
      } -> tensor<8x64xf32>
      %1 = linalg.generic {indexing_maps = [#lhs, #transposed, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<8x72xbf16>, tensor<64x72xbf16>) outs(%0 : tensor<8x64xf32>) attrs = {ad.allow = #ad.allow<mma>} {
      ^bb0(%p: bf16, %q: bf16, %acc: f32):
        %wide = ad.convert %p : bf16 to f32
        %other = ad.convert %q : bf16 to f32
        %next = math.fma %wide, %other, %acc : f32
        linalg.yield %next : f32
      } -> tensor<8x64xf32>
      ad.yield %1 : tensor<8x64xf32>
    }
    scf.yield %y : tensor<8x64xf32>
  }
  return %r : tensor<8x64xf32>
}

// Seven iterations are too few to pack for; an operand that changes in each iteration is not packed.
// CHECK-LABEL: func.func @few_iterations
// CHECK-NOT: ad.fusion movement
func.func @few_iterations(%w: tensor<64x72xf32>, %x: tensor<8x72xf32>, %start: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<72x72xf32>
  %r = scf.for %i = %c0 to %c7 step %c1 iter_args(%sum = %start) -> (tensor<64x72xf32>) {
    %y = ad.fusion dot (%a = %sum, %b = %e, %c = %sum) {kernel = "contraction", order = #ad.order<block = 512>}
        : (tensor<64x72xf32>, tensor<72x72xf32>, tensor<64x72xf32>) -> tensor<64x72xf32> {
      %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x72xf32>, tensor<72x72xf32>) outs(%c : tensor<64x72xf32>) {
      ^bb0(%p: f32, %q: f32, %acc: f32):
        %next = math.fma %p, %q, %acc : f32
        linalg.yield %next : f32
      } -> tensor<64x72xf32>
      ad.yield %0 : tensor<64x72xf32>
    }
    scf.yield %y : tensor<64x72xf32>
  }
  %s = scf.for %i = %c0 to %c9 step %c1 iter_args(%sum = %r) -> (tensor<64x72xf32>) {
    %e2 = tensor.empty() : tensor<72x72xf32>
    %y = ad.fusion dot (%a = %sum, %b = %e2, %c = %sum) {kernel = "contraction", order = #ad.order<block = 512>}
        : (tensor<64x72xf32>, tensor<72x72xf32>, tensor<64x72xf32>) -> tensor<64x72xf32> {
      %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%a, %b : tensor<64x72xf32>, tensor<72x72xf32>) outs(%c : tensor<64x72xf32>) {
      ^bb0(%p: f32, %q: f32, %acc: f32):
        %next = math.fma %p, %q, %acc : f32
        linalg.yield %next : f32
      } -> tensor<64x72xf32>
      ad.yield %0 : tensor<64x72xf32>
    }
    scf.yield %y : tensor<64x72xf32>
  }
  return %s : tensor<64x72xf32>
}
