// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-emit-cpu=vector-bytes=64 | FileCheck %s

// Units of work: an axis of size 1 never hides the others.

// Rows along several axes, until there are 256.
// CHECK: func.func private @{{.*}} attributes {ad.k = 700 : i64, ad.nanoseconds = {{[0-9]+}} : i64, ad.units = {{\[\[}}0, array<i64: 1, 1>, array<i64: 1, 2>]]}
func.func @rows(%x: tensor<1x8x50x700xf32>) -> tensor<1x8x50x700xf32> {
  %y = ad.softmax %x axis 3 : tensor<1x8x50x700xf32>
  return %y : tensor<1x8x50x700xf32>
}

// -----

// One row: parts of the vectors' axis.
// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 1024, 1>]]}
func.func @one_row(%x: tensor<1x100000xf32>, %b: tensor<1x1xf32>) -> tensor<1x100000xf32> {
  %y = ad.add %x, %b : tensor<1x100000xf32>, tensor<1x1xf32>
  return %y : tensor<1x100000xf32>
}

// -----

// Columns of one row, which fill a cache; heads, blocks of columns and tiles of rows of others.
// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 256, 1>]]}
func.func @vector_times_matrix(%x: tensor<1x2048xf32>, %w: tensor<2048x8192xf32>) -> tensor<1x8192xf32> {
  %y = ad.dot %x, %w : (tensor<1x2048xf32>, tensor<2048x8192xf32>) -> tensor<1x8192xf32>
  return %y : tensor<1x8192xf32>
}

// -----

// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 1, 0>, array<i64: 8, 1>]]}
func.func @heads(%x: tensor<1x8x64x64xf32>, %w: tensor<1x8x64x64xf32>) -> tensor<1x8x64x64xf32> {
  %y = ad.dot %x, %w batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<1x8x64x64xf32>, tensor<1x8x64x64xf32>) -> tensor<1x8x64x64xf32>
  return %y : tensor<1x8x64x64xf32>
}

// -----

// 128 heads of one tile of rows: halves of the columns make 256 units.
// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 1, 0>, array<i64: 2048, 2>]]}
func.func @few_rows_of_many_heads(%x: tensor<128x8x64xf32>, %w: tensor<128x64x4096xf32>) -> tensor<128x8x4096xf32> {
  %y = ad.dot %x, %w batch [0] x [0] contract [2] x [1] : (tensor<128x8x64xf32>, tensor<128x64x4096xf32>) -> tensor<128x8x4096xf32>
  return %y : tensor<128x8x4096xf32>
}

// -----

// A sum of everything has one result, and parts: the nodes of its tree above 16 chunks.
// CHECK: func.func private @[[SUM:.+]](%{{.*}}) attributes {{{.*}}ad.partial_reductions{{.*}}ad.units = {{\[\[}}0]]}
// CHECK: func.func private @[[SUM]]$partial_sizes(%{{.*}}) -> (index, index)
// CHECK: arith.constant 65536 : index
// CHECK: func.func private @[[SUM]]$partial(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: index, %{{.*}}: index)
// CHECK: func.func private @[[SUM]]$merge(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: index, %{{.*}}: index)
func.func @sum(%x: tensor<1x1000000xf32>) -> tensor<f32> {
  %y = ad.reduce_sum %x axes [0, 1] : tensor<1x1000000xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// So do sums of columns.
// CHECK: func.func private @{{.*}}ad.partial_reductions
func.func @columns(%x: tensor<65536x256xf32>) -> tensor<256xf32> {
  %y = ad.reduce_sum %x axes [0] : tensor<65536x256xf32> -> tensor<256xf32>
  return %y : tensor<256xf32>
}

// -----

// Strips of square blocks of a transposition.
// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 64, 1>]]}
func.func @transposed(%x: tensor<512x1x384xf32>) -> tensor<1x384x512xf32> {
  %y = ad.transpose %x [1, 2, 0] : tensor<512x1x384xf32>
  return %y : tensor<1x384x512xf32>
}

// -----

// Lines of a running sum: as many as a vector has lanes.
// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 16, 2>]]}
func.func @running(%x: tensor<1x512x384xf32>) -> tensor<1x512x384xf32> {
  %y = ad.cumsum %x axis 1 : tensor<1x512x384xf32>
  return %y : tensor<1x512x384xf32>
}

// -----

// Few running sums that are long: their tiles, from four threads for each of them on.
// CHECK: func.func private @[[RUNNING:.+]](%{{.*}}) attributes {{{.*}}ad.partial_reductions = 12 : i64
// CHECK: func.func private @[[RUNNING]]$partial(
// CHECK: func.func private @[[RUNNING]]$merge(%{{.*}}) attributes {ad.units = {{\[\[}}0, array<i64: 1, 0>, array<i64: 16384, 1>]]}
func.func @long_running(%x: tensor<3x40000xf32>) -> tensor<3x40000xf32> {
  %y = ad.cumsum %x axis 1 : tensor<3x40000xf32>
  return %y : tensor<3x40000xf32>
}

// -----

// The first long axis of a concatenation.
// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 1, 1>]]}
func.func @together(%x: tensor<1x300x384xf32>) -> tensor<1x600x384xf32> {
  %y = ad.concat axis 1 %x, %x : tensor<1x300x384xf32>, tensor<1x300x384xf32>
  return %y : tensor<1x600x384xf32>
}

// -----

// A short kernel is one unit.
// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0]]}
func.func @short(%x: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %y = ad.mul %x, %x : tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}

// -----

// If sizes are dynamic, a function says how long all units take, and every axis has units.
// CHECK: func.func private @[[OPEN:.+]](%{{.*}}) attributes {ad.units = {{\[\[}}0, array<i64: 1024, 0, 1>]]}
// CHECK: func.func private @[[OPEN]]$nanoseconds(%{{.*}}) -> index
func.func @open(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = ad.mul %x, %x : tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// -----

// CHECK: func.func private @{{.*}} ad.units = {{\[\[}}0, array<i64: 1, 0>, array<i64: 16, 1>]]}
func.func @open_lines(%x: tensor<?x?x100xf32>) -> tensor<?x?x100xf32> {
  %y = ad.cumsum %x axis 2 : tensor<?x?x100xf32>
  return %y : tensor<?x?x100xf32>
}

// -----

// A deep contraction: its tiles would read the operands from memory again, so one thread gains from partial results too.
// Its time is 16 ps for each of 64 x 64 x 65536 FMAs, 12 ps for each byte of the operands and 200 ps for each result.
// CHECK: func.func private @[[DEEP:.+]](%{{.*}}) attributes {{{.*}}ad.nanoseconds = 4698439 : i64, ad.partial_reductions = 1 : i64
// CHECK: func.func private @[[DEEP]]$partial(
// CHECK: func.func private @[[DEEP]]$merge(
func.func @deep(%x: tensor<65536x64xf32>, %w: tensor<65536x64xf32>) -> tensor<64x64xf32> {
  %y = ad.dot %x, %w batch [] x [] contract [0] x [0] : (tensor<65536x64xf32>, tensor<65536x64xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// One with few tiles, whose operands stay in the caches.
// CHECK: func.func private @{{.*}} attributes {{{.*}}ad.partial_reductions = 2 : i64
func.func @few_tiles(%x: tensor<2048x16xf32>, %w: tensor<2048x32xf32>) -> tensor<16x32xf32> {
  %y = ad.dot %x, %w batch [] x [] contract [0] x [0] : (tensor<2048x16xf32>, tensor<2048x32xf32>) -> tensor<16x32xf32>
  return %y : tensor<16x32xf32>
}

// -----

// The right operand is transposed, once for all tiles of rows: K is not divided.
// CHECK-NOT: ad.partial_reductions
func.func @transposed_operand(%x: tensor<64x65536xf32>, %w: tensor<64x65536xf32>) -> tensor<64x64xf32> {
  %y = ad.dot %x, %w batch [] x [] contract [1] x [1] : (tensor<64x65536xf32>, tensor<64x65536xf32>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// One row times a large matrix: long parts of its rows are read one after another, with accumulators in memory.
// CHECK: func.func private @{{.*}} attributes {ad.k = 2048 : i64, {{.*}}ad.partial_reductions = 1 : i64
func.func @one_row(%x: tensor<1x2048xf32>, %w: tensor<2048x8192xf32>) -> tensor<1x8192xf32> {
  %y = ad.dot %x, %w batch [] x [] contract [1] x [0] : (tensor<1x2048xf32>, tensor<2048x8192xf32>) -> tensor<1x8192xf32>
  return %y : tensor<1x8192xf32>
}

// -----

// Nothing is divided where there is no column.
// CHECK-NOT: ad.partial_reductions
func.func @no_column(%x: tensor<600x1xf32>, %w: tensor<1x0xf32>) -> tensor<600x0xf32> {
  %y = ad.dot %x, %w batch [] x [] contract [1] x [0] : (tensor<600x1xf32>, tensor<1x0xf32>) -> tensor<600x0xf32>
  return %y : tensor<600x0xf32>
}
