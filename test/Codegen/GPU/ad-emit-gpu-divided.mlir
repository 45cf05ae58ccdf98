// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --split-input-file --ad-to-cpu-frontend=numerics=reproducible --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-emit-gpu --remarks-filter=ad-gpu 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// What the grid shares, in the order of the functions; all others are one kernel.
// REMARK: divided-reduction | Category:ad-gpu | divided=always, kernel=reduce_0
// REMARK: divided-reduction | Category:ad-gpu | divided=always, kernel=reduce_0
// REMARK: divided-reduction | Category:ad-gpu | divided="by its sizes", kernel=reduce_0
// REMARK: divided-reduction | Category:ad-gpu | divided=always, kernel=reduce_0
// REMARK: divided-reduction | Category:ad-gpu | divided=always, kernel=reduce_0
// REMARK-NOT: divided-reduction

// Three leaves of 512. The host chooses the leaves of a node: 2048 threads for each SM, at most 8192 nodes of a result, rounded
// up to a power of two.
// CHECK-LABEL: func.func private @reduce_0$partial_sizes(
// CHECK-SAME: %[[SM_COUNT:[^:,]+]]: index) -> (index, index, index)
// CHECK: arith.muli %[[SM_COUNT]], %{{c2048.*}}
// CHECK: arith.ceildivui %{{.+}}, %{{c40.*}}
// CHECK: arith.minui %{{.+}}, %{{c8192.*}}
// CHECK: llvm.intr.ctlz
// CHECK: arith.shli
// CHECK: return
// CHECK: func.func private @reduce_0$partial(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<thread, axes = 0>}
// CHECK: func.func private @reduce_0$merge(!llvm.ptr, !llvm.ptr, !llvm.ptr, index) attributes {ad.launch_config = #ad.launch_config<warp, axes = 1>}
// CHECK: func.func private @reduce_0(!llvm.ptr, !llvm.ptr) attributes {{{.+}}ad.partial_reductions = "always"
// CHECK-NOT: gpu.func @reduce_0(

// A thread goes through a leaf by 64 steps at once, all of which it loads before its chain ascends, and then through the rest. A leaf past the end is the -0 that
// every sum keeps.
// CHECK: gpu.func @reduce_0$partial
// CHECK: %[[ABSENT:.+]] = arith.constant -0.0
// CHECK: scf.for
// CHECK: %[[STEPS:.+]] = scf.for %{{.+}} step %c64{{.*}} iter_args(%[[SUM:.+]] = %{{.+}}) -> (f32)
// CHECK: %[[FIRST:.+]] = llvm.load
// CHECK: %[[SECOND:.+]] = llvm.load
// CHECK-COUNT-62: llvm.load
// CHECK: %[[NEXT:.+]] = arith.addf %[[SUM]], %[[FIRST]]
// CHECK-NEXT: arith.addf %[[NEXT]], %[[SECOND]]
// CHECK: scf.yield
// CHECK: %[[LEAF:.+]] = scf.for %{{.+}} step %c1{{.*}} iter_args(%{{.+}} = %[[STEPS]])
// CHECK: arith.select %{{.+}}, %[[LEAF]], %[[ABSENT]]
// CHECK: llvm.store
// CHECK: gpu.return

// A warp joins all nodes in one iteration: eight nodes a thread, then by shuffles, adjacent threads first. One thread stores, and the
// operation after the sum is part of it.
// CHECK: gpu.func @reduce_0$merge
// CHECK: %[[PAST_END:.+]] = arith.constant -0.0
// CHECK-NOT: scf.while
// CHECK-COUNT-8: arith.select %{{.+}}, %{{.+}}, %[[PAST_END]]
// CHECK-COUNT-7: arith.addf
// CHECK: gpu.shuffle xor %{{.+}}, %c1_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c2_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c4_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c8_i32
// CHECK: gpu.shuffle xor %{{.+}}, %c16_i32
// CHECK: arith.negf
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK: llvm.store
// CHECK-NOT: llvm.store
// CHECK: gpu.return
func.func @columns(%x: tensor<1500x40xf32>) -> tensor<40xf32> {
  %s = ad.reduce_sum %x axes [0] : tensor<1500x40xf32> -> tensor<40xf32>
  %y = ad.neg %s : tensor<40xf32>
  return %y : tensor<40xf32>
}

// -----

// Half a warp takes nodes of a row, whose lanes it reads by 16 bytes; more nodes than a warp joins at once are a tree of iterations.
// CHECK-LABEL: func.func private @reduce_0$partial_sizes(
// CHECK: arith.muli %{{.+}}, %{{c128.*}}
// CHECK: func.func private @reduce_0$partial({{.+}}) attributes {ad.launch_config = #ad.launch_config<thread, {{.+}}, threads_per_element = 16>}
// CHECK: gpu.func @reduce_0$partial
// CHECK: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: gpu.shuffle xor %{{.+}}, %c8_i32
// CHECK-NOT: gpu.barrier
// CHECK: gpu.func @reduce_0$merge
// CHECK: scf.for %{{.+}} step %c256
func.func @all(%x: tensor<67108864xf32>) -> tensor<f32> {
  %y = ad.reduce_sum %x axes [0] : tensor<67108864xf32> -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// Dynamic sizes decide at run time: few results, of several leaves each.
// CHECK-LABEL: func.func private @reduce_0$partial_sizes(
// CHECK-SAME: %{{[^:]+}}: !llvm.ptr, %[[ROWS:[^:]+]]: index, %[[COLUMNS:[^:]+]]: index, %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: index, %[[SM_COUNT:[^:]+]]: index)
// CHECK: %[[LONG:.+]] = arith.cmpi ugt, %[[ROWS]], %{{c768.*}}
// CHECK: %[[FEW:.+]] = arith.cmpi ult
// CHECK: %[[DIVIDES:.+]] = arith.andi %[[FEW]], %[[LONG]]
// CHECK: %[[LEAVES:.+]] = arith.select %[[DIVIDES]]
// CHECK: return %[[LEAVES]]
// CHECK: func.func private @reduce_0({{.+}}) attributes {ad.launch_config = #ad.launch_config<thread, axes = 1>, ad.partial_reductions = "sizes"}
// CHECK: gpu.func @reduce_0$partial
// CHECK: gpu.func @reduce_0$merge
// CHECK: gpu.func @reduce_0(
func.func @open(%x: tensor<?x?xf64>) -> tensor<?xf64> {
  %y = ad.reduce_prod %x axes [0] : tensor<?x?xf64> -> tensor<?xf64>
  return %y : tensor<?xf64>
}

// -----

// Of many results a thread joins the nodes.
// CHECK-LABEL: func.func private @reduce_0$partial_sizes(
// CHECK: func.func private @reduce_0$merge({{.+}}#ad.launch_config<thread,
// CHECK: gpu.func @reduce_0$merge
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.return
func.func @many(%x: tensor<2000x10000xbf16>) -> tensor<10000xbf16> {
  %y = ad.reduce_max %x axes [0] : tensor<2000x10000xbf16> -> tensor<10000xbf16>
  return %y : tensor<10000xbf16>
}

// -----

// The first of equal keys is kept: of two parts the right one by a better key only, with its index.
// CHECK-LABEL: func.func private @reduce_0$partial_sizes(
// CHECK: gpu.func @reduce_0$merge
// CHECK: %[[BETTER:.+]] = arith.cmpi sgt, %[[RIGHT:[^,]+]], %[[LEFT:.+]] : i64
// CHECK: arith.select %[[BETTER]], %[[RIGHT]], %[[LEFT]]
// CHECK: arith.select %[[BETTER]]
// CHECK: gpu.return
func.func @selection(%x: tensor<3x50000xf32>) -> tensor<3xi64> {
  %y = ad.argmax %x axis 1 : tensor<3x50000xf32>
  return %y : tensor<3xi64>
}

// -----

// Little more than one leaf, as many chunks as the groups of a block, many results, a chain of steps, sums of sums, and rows next to their sums.
// CHECK-LABEL: func.func private @reduce_0_3(
// CHECK-NOT: $partial
// CHECK: gpu.module @ad_kernels
// CHECK-NOT: $partial
func.func @short(%x: tensor<768x40xf32>) -> tensor<40xf32> {
  %y = ad.reduce_sum %x axes [0] : tensor<768x40xf32> -> tensor<40xf32>
  return %y : tensor<40xf32>
}
func.func @block(%x: tensor<2x65536xf32>) -> tensor<2xf32> {
  %y = ad.reduce_sum %x axes [1] : tensor<2x65536xf32> -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @wide(%x: tensor<1024x70000xf32>) -> tensor<70000xf32> {
  %y = ad.reduce_sum %x axes [0] : tensor<1024x70000xf32> -> tensor<70000xf32>
  return %y : tensor<70000xf32>
}
func.func @chain(%x: tensor<5000x4xf32>) -> tensor<5000x4xf32> {
  %y = ad.cumsum %x axis 0 : tensor<5000x4xf32>
  return %y : tensor<5000x4xf32>
}
func.func @rows(%x: tensor<40x900000xf32>) -> tensor<40x900000xf32> {
  %y = ad.softmax %x axis 1 : tensor<40x900000xf32>
  return %y : tensor<40x900000xf32>
}
