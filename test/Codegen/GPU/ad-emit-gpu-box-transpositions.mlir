// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Transpositions in tiles of any extents, element by element (decision 0062).
// RUN: ad-opt %s --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// REMARK: transposition-class {{.*}} kernel=above, read-axes=0, through="shared memory", {{.*}}write-axes=1
// REMARK: transposition-class {{.*}} kernel=words, read-axes=0, through="shared memory"
// Axes that are adjacent in both tensors are one:
// REMARK: transposition-class {{.*}} kernel=merged, read-axes=1, through="shared memory", {{.*}}write-axes=2
// REMARK: transposition-class {{.*}} kernel=open, read-axes=0, through="shared memory"

// 1000 rows of 33 are 11 tiles of 96 whole rows: 3168 elements, with a thread for 16.
// CHECK: func.func private @above(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 2, grid_size = 11, threads_per_block = 224>}
// Squares of 64 are cut from long axes.
// CHECK: func.func private @words(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 2, grid_size = 110>}
// Of axes with 175 elements together 64, so that the fewest threads are outside of them.
// CHECK: func.func private @merged(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<block, axes = 4, grid_size = 18, threads_per_block = 224>}
// CHECK: func.func private @open({{.*}} attributes {ad.launch_config = #ad.launch_config<block, axes = 2, tile = 64x64>}

// Six rows of 33 at a time, and 33 is 1 modulo 32: with a pitch of 97, which is 1, too, adjacent threads are in adjacent banks.
// CHECK: llvm.mlir.global internal @above$tile() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<12804 x i8>
// CHECK-LABEL: gpu.func @above
// CHECK: gpu.barrier
// CHECK: scf.if
// All loads are before the first store: 96 lines, of 6 threads.
// CHECK-COUNT-16: llvm.load {{.*}} : !llvm.ptr -> f32
// CHECK-NOT: llvm.load
// CHECK-COUNT-16: llvm.store {{.*}} : f32, !llvm.ptr<3>
// CHECK: else
// CHECK: scf.if
// In the last tile, the first line of the thread in place of those that are not there.
// CHECK: arith.select
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.store {{.*}} : f32, !llvm.ptr
// CHECK: gpu.return
ad.kernel private @above(%a: tensor<1000x33xf32>) -> tensor<33x1000xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<33x1000xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<1000x33xf32>) outs(%e : tensor<33x1000xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<33x1000xf32>
  ad.yield %r : tensor<33x1000xf32>
}

// Elements of two lines are a word. They are read one by one from it.
// CHECK-LABEL: gpu.func @words
// CHECK: llvm.load {{.*}} : !llvm.ptr -> i16
// CHECK: llvm.load {{.*}} : !llvm.ptr -> i16
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK: llvm.store {{.*}} : i32, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load {{.*}} : !llvm.ptr<3> -> i16
// CHECK: llvm.store {{.*}} : i16, !llvm.ptr
// CHECK: gpu.return
ad.kernel private @words(%a: tensor<641x601xbf16>) -> tensor<601x641xbf16> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<601x641xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<641x601xbf16>) outs(%e : tensor<601x641xbf16>) {
  ^bb0(%x: bf16, %out: bf16):
    linalg.yield %x : bf16
  } -> tensor<601x641xbf16>
  ad.yield %r : tensor<601x641xbf16>
}

ad.kernel private @merged(%a: tensor<6x35x5x50xf32>) -> tensor<6x50x35x5xf32> attributes {kernel_class = "transposition"} {
  %e = tensor.empty() : tensor<6x50x35x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>,
                                        affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a : tensor<6x35x5x50xf32>) outs(%e : tensor<6x50x35x5xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<6x50x35x5xf32>
  ad.yield %r : tensor<6x50x35x5xf32>
}

// The host counts the tiles.
// CHECK-LABEL: gpu.func @open
// CHECK: gpu.return
ad.kernel private @open(%a: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {kernel_class = "transposition"} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = tensor.dim %a, %zero : tensor<?x?xf32>
  %columns = tensor.dim %a, %one : tensor<?x?xf32>
  %e = tensor.empty(%columns, %rows) : tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<?x?xf32>
  ad.yield %r : tensor<?x?xf32>
}
