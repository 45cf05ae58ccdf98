// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --convert-host-to-llvm=device=true --split-input-file --verify-diagnostics | FileCheck %s

// Arguments and constants are copied to the device, kernels are launched by number with operands in device memory, carries are
// copied there, and the element of the condition is read back. The host reads no tensor directly.
// CHECK: adrt.kernel_names = ["k"]
// CHECK: llvm.mlir.global internal constant @[[$BYTES:.+]](dense<8> : tensor<2xi32>)
// CHECK-NOT: func.func private @k
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK: %[[X:.+]] = llvm.call @adrt_argument(
// CHECK: ad.guard
// CHECK: llvm.call @adrt_constant(
// CHECK: ad.guard
// CHECK: %[[WIDTHS:.+]] = llvm.mlir.addressof @[[$BYTES]]
// CHECK: %[[STATUS:.+]] = llvm.call @adrt_launch(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}, %[[GRID:[^,]+]], %[[OPERANDS:[^,]+]], %[[WIDTHS]], %{{[^,]+}})
// CHECK: ad.guard %[[STATUS]]
// CHECK: llvm.call @adrt_read(%{{.+}}, %[[SLOT:.+]], %{{.+}}, %{{.+}})
// CHECK: ad.guard
// CHECK: llvm.load %[[SLOT]] : !llvm.ptr -> f32
// CHECK: llvm.call @adrt_copy(
// CHECK: return
// CHECK-NOT: llvm.intr.memcpy
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %b1 = ad.buffer <arena, offset = 64, bytes = 16>
  %c = ad.constant dense<1.0> : tensor<4xf32>
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  %c0 = arith.constant 0 : index
  %e = tensor.extract %y[%c0] : tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %p = arith.cmpf ogt, %e, %z : f32
  %s = arith.select %p, %y, %c : tensor<4xf32>
  %r = ad.copy %s into(%b1) : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A donated argument becomes the result where it is: nothing is read. Descriptions say that tensors are in device memory (1).
// CHECK-LABEL: func.func @adrt_entry_donated
// CHECK: %[[X:.+]] = llvm.call @adrt_argument(
// CHECK: llvm.call @adrt_launch(
// CHECK: arith.constant 2 : i32
// CHECK-NEXT: arith.constant 8 : i32
// CHECK-NEXT: %[[DEVICE:.+]] = arith.constant 1 : i32
// CHECK: %[[MEMORY:.+]] = llvm.getelementptr %{{.+}}[0, 4] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, i32, i32, i32)>
// CHECK-NEXT: llvm.store %[[DEVICE]], %[[MEMORY]] : i32, !llvm.ptr
// CHECK: llvm.call @adrt_receive(
// CHECK-NOT: llvm.call @adrt_read
// CHECK: llvm.call @adrt_donated_result(%{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}, %{{[^,]+}}, %[[X]], %{{[^,]+}})
// CHECK: ad.guard
// CHECK: return
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1>}
func.func @donated(%x: tensor<2x2xi32> {ad.donated = 0}) -> tensor<2x2xi32> {
  %b0 = ad.buffer <argument, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<2x2xi32>) -> tensor<2x2xi32>
  ad.receive "y"(%y) : tensor<2x2xi32>
  return %y : tensor<2x2xi32>
}

// -----

// A tensor map is described in the host's memory, by the operand and the tile, and follows the operands; threads and shared memory
// of a block are those of the launch configuration.
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK: %[[MAP:.+]] = llvm.alloca %{{.+}} x !llvm.array<128 x i8> {alignment = 64 : i64}
// CHECK: arith.constant 384 : index
// CHECK: arith.constant 1024 : i32
// CHECK: %[[C8:.+]] = arith.constant 8 : i32
// CHECK-NEXT: llvm.store %[[C8]]
// CHECK: %[[C64:.+]] = arith.constant 64 : i32
// CHECK-NEXT: llvm.store %[[C64]]
// CHECK: %[[SWIZZLE:.+]] = arith.constant 128 : i32
// CHECK: %[[AS_IS:.+]] = arith.constant 0 : i32
// CHECK: %[[STATUS:.+]] = llvm.call @adrt_tensor_map(%{{.+}}, %{{.+}}, %[[MAP]], %{{.+}}, %{{.+}}, %[[SWIZZLE]], %[[AS_IS]])
// CHECK: ad.guard %[[STATUS]]
// CHECK: llvm.store %[[MAP]]
// CHECK: llvm.call @adrt_launch
func.func private @k(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {
  ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 3, threads_per_block = 384, dynamic_shared_bytes = 1024, tensor_maps = [<operand = 0, box = 8x64, swizzle = 128>]>}
func.func @main(%x: tensor<40x72xbf16>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<40x72xbf16>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// One that rounds says so.
// CHECK-LABEL: func.func @adrt_entry_main
// CHECK: %[[SWIZZLE:.+]] = arith.constant 128 : i32
// CHECK: %[[ROUNDED:.+]] = arith.constant 1 : i32
// CHECK: llvm.call @adrt_tensor_map(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[SWIZZLE]], %[[ROUNDED]])
func.func private @k(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {
  ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 3, threads_per_block = 384, tensor_maps = [<operand = 0, box = 8x32, swizzle = 128, tf32 = true>]>}
func.func @main(%x: tensor<40x72xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<40x72xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Other elements are no tf32.
func.func private @k(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, tensor_maps = [<operand = 0, box = 8x8, swizzle = 128, tf32 = true>]>}
func.func @main(%x: tensor<4x8xbf16>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op expected tensor maps of its kernel to describe f32 elements where they round to tf32, but got 'bf16'}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4x8xbf16>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k(%a: !llvm.ptr, %y: !llvm.ptr, %begin: index, %end: index) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1>} {
  return
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op launches a kernel without code; run ad-emit-gpu first}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 2>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op expected the launch_config of its kernel to enumerate at most 1 axes of result 0, but got 2}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, tensor_maps = [<operand = 0, box = 8, swizzle = 128>]>}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op expected tensor maps of its kernel to describe all 2 axes of 'tensor<4x8xf32>', but got a box of 1}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4x8xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k(!llvm.ptr, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, tensor_maps = [<operand = 1, box = 8x8, swizzle = 128>]>}
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op expected tensor maps of its kernel to describe one of 1 operands, but got 1}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4x8xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A thread has four elements: a quarter of the threads, in whole warps, so that each SM has two blocks before blocks grow.
// CHECK-LABEL: func.func @adrt_entry_runs
// CHECK: %[[ANSWER:.+]] = llvm.call @adrt_sm_count(
// CHECK: %[[SM_COUNT:.+]] = arith.index_cast %[[ANSWER]] : i32 to index
// CHECK: %[[TWO_WARPS_PER_SM:.+]] = arith.muli %[[SM_COUNT]], %{{c64.*}}
// CHECK: %[[WARPS_PER_BLOCK:.+]] = arith.divui %[[THREADS:c1024.*]], %[[TWO_WARPS_PER_SM]]
// CHECK: %[[WARPS:.+]] = arith.maxui %[[WARPS_PER_BLOCK]], %{{c1.*}}
// CHECK: %[[WHOLE:.+]] = arith.muli %[[WARPS]], %{{c32.*}}
// CHECK: %[[BLOCK:.+]] = arith.minui %[[WHOLE]], %{{c256.*}}
// CHECK: %[[BLOCKS:.+]] = arith.ceildivui %[[THREADS]], %[[BLOCK]]
// CHECK: %[[LIMITED:.+]] = arith.minui %[[BLOCKS]], %{{c65535.*}}
// CHECK: arith.index_cast %[[LIMITED]] : index to i32
// CHECK: arith.index_cast %[[BLOCK]] : index to i32
// CHECK: llvm.call @adrt_launch
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, elements = 4>}
func.func @runs(%x: tensor<4096xf32>) -> tensor<4096xf32> {
  %b0 = ad.buffer <arena, bytes = 16384>
  %y = ad.launch @k(%x) into(%b0) : (tensor<4096xf32>) -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}

// -----

// Sixteen threads share a row.
// CHECK-LABEL: func.func @adrt_entry_groups
// CHECK: arith.divui %{{c1048576.*}}, %{{.+}}
// CHECK: llvm.call @adrt_launch
func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, threads_per_element = 16>}
func.func @groups(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %b0 = ad.buffer <arena, bytes = 262144>
  %y = ad.launch @k(%x) into(%b0) : (tensor<65536xf32>) -> tensor<65536xf32>
  return %y : tensor<65536xf32>
}

// -----

// Persistent blocks: two for each SM, and no more than there are tiles.
// CHECK-LABEL: func.func @adrt_entry_resident
// CHECK: %[[ANSWER:.+]] = llvm.call @adrt_sm_count(
// CHECK: %[[SM_COUNT:.+]] = arith.index_cast %[[ANSWER]] : i32 to index
// CHECK: %[[ROOM:.+]] = arith.muli %[[SM_COUNT]], %{{c2.*}}
// CHECK: %[[BLOCKS:.+]] = arith.minui %[[ROOM]], %{{c1000.*}}
// CHECK: arith.index_cast %[[BLOCKS]] : index to i32
// CHECK: llvm.call @adrt_launch
func.func private @k(!llvm.ptr, !llvm.ptr)
    attributes {ad.launch_config = #ad.launch_config<block, axes = 0, grid_size = 1000, persistent_blocks = 2>}
func.func @resident(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The host counts the tiles of a result of dynamic size.
// CHECK-LABEL: func.func @adrt_entry_tiles
// CHECK: %[[ROWS:.+]] = arith.ceildivui %{{.+}}, %{{c64.*}} : index
// CHECK: %[[TILES:.+]] = arith.muli %[[ROWS]], %{{c3.*}} : index
// CHECK: %[[LIMITED:.+]] = arith.minui %[[TILES]], %{{c65535.*}} : index
// CHECK: %[[BLOCKS:.+]] = arith.maxui %[[LIMITED]], %{{c1.*}} : index
// CHECK: arith.index_cast %[[BLOCKS]] : index to i32
// CHECK: llvm.call @adrt_launch
func.func private @k(!llvm.ptr, index, !llvm.ptr, index) attributes {
  ad.launch_config = #ad.launch_config<block, axes = 2, tile = 64x128>}
func.func @tiles(%x: tensor<?x300xf32>) -> tensor<?x300xf32> {
  %b0 = ad.buffer <pool, number = 1, bytes = 1200>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x300xf32>
  %y = ad.launch @k(%x) sizes(%n) into(%b0) : (tensor<?x300xf32>) -> tensor<?x300xf32>
  return %y : tensor<?x300xf32>
}

// -----

func.func private @k(!llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, result = 1, axes = 1>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  // expected-error @+1 {{'ad.launch' op expected the launch_config of its kernel to name one of 1 results, but got 1}}
  %y = ad.launch @k(%x) into(%b0) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @k(f32, !llvm.ptr, !llvm.ptr) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1, tensor_maps = [<operand = 0, box = 8>]>}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %b0 = ad.buffer <arena, bytes = 16>
  %s = arith.constant 1.0 : f32
  // expected-error @+1 {{'ad.launch' op expected tensor maps of its kernel to describe tensors, but got 'f32'}}
  %y = ad.launch @k(%s) into(%b0) : (f32) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
