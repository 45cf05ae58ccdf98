// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// One warp loads a tile of 8 by 32 words by a tensor map, from row 0 and column %at on. It copies the tile from shared
// memory to %y, or stores it by the same map.
gpu.module @kernels {
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<1024 x i8>
  llvm.mlir.global internal @barrier() {addr_space = 3 : i32, alignment = 8 : i64} : !llvm.array<8 x i8>

  llvm.func @tile_move(%map: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                       %y: !llvm.ptr, %at: i32, %back: i32) attributes {nvvm.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %bytes = llvm.mlir.constant(1024 : i32) : i32
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>
    %barrier = llvm.mlir.addressof @barrier : !llvm.ptr<3>
    %lane = nvvm.read.ptx.sreg.tid.x : i32
    %first = llvm.icmp "eq" %lane, %c0 : i32
    llvm.cond_br %first, ^load, ^all
  ^load:
    nvvm.mbarrier.init %barrier, %c1 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.mbarrier.arrive.expect_tx %barrier, %bytes : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %tile, %map, %barrier, box[%at, %c0] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    llvm.br ^all
  ^all:
    nvvm.barrier0
    llvm.br ^wait
  ^wait:
    %there = nvvm.mbarrier.try_wait %barrier, %c0 : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %there, ^ready, ^wait
  ^ready:
    %returns = llvm.icmp "ne" %back, %c0 : i32
    llvm.cond_br %returns, ^choose, ^row(%c0 : i32)
  ^choose:
    llvm.cond_br %first, ^return, ^end
  ^return:
    nvvm.cp.async.bulk.tensor.global.shared.cta %map, %tile, box[%at, %c0] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    llvm.br ^end
  ^row(%row: i32):
    %line = llvm.mul %row, %c32 : i32
    %word = llvm.add %line, %lane : i32
    %from = llvm.getelementptr %tile[%word] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %bits = llvm.load %from : !llvm.ptr<3> -> i32
    %to = llvm.getelementptr %y[%word] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store %bits, %to : i32, !llvm.ptr
    %next = llvm.add %row, %c1 : i32
    %more = llvm.icmp "ult" %next, %c8 : i32
    llvm.cond_br %more, ^row(%next : i32), ^end
  ^end:
    llvm.return
  }
}
