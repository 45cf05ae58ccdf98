// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-emit-cpu | FileCheck %s --check-prefixes=CHECK,LARGE
// RUN: ad-opt %s --ad-emit-cpu=tiles=small | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: not ad-opt %s --ad-emit-cpu=tiles=tiny 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ad-opt %s --ad-emit-cpu=vector-bytes=-16 2>&1 | FileCheck %s --check-prefix=NEGATIVE

// REFUSED: error: unknown table of tiles 'tiny', expected large or small
// NEGATIVE: error: expected 'vector-bytes' with a power of two from 8 to 1024, but got -16

#element = affine_map<(d0, d1) -> (d0, d1)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#panels = affine_map<(i, j, k) -> (j floordiv 256, k, j mod 256)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>

// Small tiles pack an operand that large ones read without packing.
// CHECK-LABEL: func.func private @product
// LARGE-NOT: llvm.alloca
// SMALL: llvm.alloca %{{.+}} x f32
// LARGE: return
ad.kernel private @product(%a: tensor<24x64xf32>, %b: tensor<64x64xf32>) -> tensor<24x64xf32> attributes
    {kernel_class = "row", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x64xf32>) -> tensor<24x64xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<24x64xf32>, tensor<64x64xf32>) outs(%f : tensor<24x64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<24x64xf32>
  ad.yield %r : tensor<24x64xf32>
}

// An operand beyond the caches is packed if the number of rows is dynamic, and read in place if there are fewer rows
// than a tile has.
// CHECK-LABEL: func.func private @unknown_rows
// CHECK: llvm.alloca %{{.+}} x f32
// LARGE: arith.cmpi uge, %{{.+}}, %c8
// LARGE: scf.if
// LARGE: math.fma
// LARGE: llvm.store %{{.+}} : vector<16xf32>
// LARGE: } else {
// LARGE-NOT: llvm.alloca
// LARGE: math.fma
ad.kernel private @unknown_rows(%a: tensor<?x512xf32>, %b: tensor<512x1024xf32>) -> tensor<?x1024xf32> attributes
    {kernel_class = "row", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x512xf32>
  %e = tensor.empty(%n) : tensor<?x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x512xf32>, tensor<512x1024xf32>) outs(%f : tensor<?x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<?x1024xf32>
  ad.yield %r : tensor<?x1024xf32>
}

// What a product is combined with is prefetched in its loop over K, if it comes from memory: vector number K of the
// tile, none beyond its last one.
// CHECK-LABEL: func.func private @combined
// LARGE: math.fma
// LARGE: %[[LAST:.+]] = arith.minui
// LARGE: arith.divui %[[LAST]], %[[COLUMNS:.+]] : index
// LARGE: arith.remui %[[LAST]], %[[COLUMNS]] : index
// LARGE: llvm.getelementptr %arg2
// LARGE: "llvm.intr.prefetch"(%{{.+}}) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}>
ad.kernel private @combined(%a: tensor<2048x64xf32>, %b: tensor<64x1152xf32>, %c: tensor<2048x1152xf32>) -> tensor<2048x1152xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x1152xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x1152xf32>) -> tensor<2048x1152xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2048x64xf32>, tensor<64x1152xf32>) outs(%f : tensor<2048x1152xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<2048x1152xf32>
  %t = linalg.generic {indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%r, %c : tensor<2048x1152xf32>, tensor<2048x1152xf32>) outs(%e : tensor<2048x1152xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %next = arith.addf %x, %y : f32
    linalg.yield %next : f32
  } -> tensor<2048x1152xf32>
  ad.yield %t : tensor<2048x1152xf32>
}
// From the last-level cache it arrives in time.
// CHECK-LABEL: func.func private @combined_in_cache
// LARGE: math.fma
// LARGE-NOT: "llvm.intr.prefetch"
// LARGE: scf.yield
ad.kernel private @combined_in_cache(%a: tensor<2048x64xf32>, %b: tensor<64x512xf32>, %c: tensor<2048x512xf32>) -> tensor<2048x512xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x512xf32>) -> tensor<2048x512xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2048x64xf32>, tensor<64x512xf32>) outs(%f : tensor<2048x512xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<2048x512xf32>
  %t = linalg.generic {indexing_maps = [#element, #element, #element], iterator_types = ["parallel", "parallel"]}
      ins(%r, %c : tensor<2048x512xf32>, tensor<2048x512xf32>) outs(%e : tensor<2048x512xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %next = arith.addf %x, %y : f32
    linalg.yield %next : f32
  } -> tensor<2048x512xf32>
  ad.yield %t : tensor<2048x512xf32>
}

// Products with a large K have narrow blocks of columns, so tiles of rows are short: each prefetches the rows of the
// next tile, 8 rows further down, into the second-level cache.
// CHECK-LABEL: func.func private @deep_product
// LARGE: math.fma
// LARGE: %[[ROW:.+]] = arith.remui %[[K:.+]], %c8
// LARGE: arith.remui %[[K]], %c16
// LARGE: arith.addi %{{.+}}, %[[ROW]]
// LARGE: arith.muli %{{.+}}, %c2048
// LARGE: llvm.getelementptr %arg0
// LARGE: "llvm.intr.prefetch"(%{{.+}}) <{cache = 1 : i32, hint = 2 : i32, rw = 0 : i32}>
ad.kernel private @deep_product(%a: tensor<256x2048xf32>, %b: tensor<2048x64xf32>) -> tensor<256x64xf32> attributes
    {kernel_class = "row", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x64xf32>) -> tensor<256x64xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<256x2048xf32>, tensor<2048x64xf32>) outs(%f : tensor<256x64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<256x64xf32>
  ad.yield %r : tensor<256x64xf32>
}

// A row times panels that were packed before the kernel: each panel is read in place, vector by vector.
// CHECK-LABEL: func.func private @row_of_panels
// CHECK-NOT: gather
// CHECK: return
ad.kernel private @row_of_panels(%a: tensor<1x1024xf32>, %b: tensor<4x1024x256xf32>) -> tensor<1x1024xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x1024xf32>, tensor<4x1024x256xf32>) outs(%f : tensor<1x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1x1024xf32>
  ad.yield %r : tensor<1x1024xf32>
}

// One row times a matrix whose rows are pages apart: in tiles of columns if the matrix fits the last-level cache,
// else streamed from memory. Rows at other distances are streamed too, and so are two rows times the same matrix.
// CHECK-LABEL: func.func private @row_in_tiles$partial(
// LARGE: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>
ad.kernel private @row_in_tiles(%a: tensor<1x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1x1024xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<1x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1x1024xf32>
  ad.yield %r : tensor<1x1024xf32>
}

// CHECK-LABEL: func.func private @row_streamed$partial(
// LARGE-NOT: -> (vector<16xf32>
// CHECK: return
ad.kernel private @row_streamed(%a: tensor<1x4096xf32>, %b: tensor<4096x1024xf32>) -> tensor<1x1024xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1024xf32>) -> tensor<1x1024xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x4096xf32>, tensor<4096x1024xf32>) outs(%f : tensor<1x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1x1024xf32>
  ad.yield %r : tensor<1x1024xf32>
}

// CHECK-LABEL: func.func private @row_streamed_elsewhere$partial(
// LARGE-NOT: -> (vector<16xf32>
// CHECK: return
ad.kernel private @row_streamed_elsewhere(%a: tensor<1x1024xf32>, %b: tensor<1024x1000xf32>) -> tensor<1x1000xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1x1024xf32>, tensor<1024x1000xf32>) outs(%f : tensor<1x1000xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1x1000xf32>
  ad.yield %r : tensor<1x1000xf32>
}

// CHECK-LABEL: func.func private @two_rows_streamed$partial(
// LARGE-NOT: -> (vector<16xf32>
// CHECK: return
ad.kernel private @two_rows_streamed(%a: tensor<2x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<2x1024xf32> attributes
    {kernel_class = "contraction", order = #ad.order<block = 512>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x1024xf32>) -> tensor<2x1024xf32>
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<2x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %next = math.fma %x, %y, %sum : f32
    linalg.yield %next : f32
  } -> tensor<2x1024xf32>
  ad.yield %r : tensor<2x1024xf32>
}
