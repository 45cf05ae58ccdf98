// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The sum of 256 elements per block: a shuffle tree in each warp, then the sums of the warps through shared memory. The
// kernel does this twice, so that the second round overwrites shared memory that the first round reads.
gpu.module @kernels {
  llvm.mlir.global internal @sums() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x f32>

  llvm.func @block_sum(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %two = llvm.mlir.constant(2 : i32) : i32
    %c256 = llvm.mlir.constant(256 : i32) : i32
    %five = llvm.mlir.constant(5 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %warp = llvm.lshr %tid, %five : i32
    %sums = llvm.mlir.addressof @sums : !llvm.ptr<3>
    %leads = llvm.icmp "eq" %lane, %zero : i32
    %mine = llvm.getelementptr %sums[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    llvm.br ^round(%zero : i32)
  ^round(%k: i32):
    %row = llvm.mul %block, %two : i32
    %r = llvm.add %row, %k : i32
    %base = llvm.mul %r, %c256 : i32
    %i = llvm.add %base, %tid : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %v = llvm.load %from : !llvm.ptr<1> -> f32
    %s = llvm.call @warp_sum(%v) : (f32) -> f32
    llvm.cond_br %leads, ^put, ^wait
  ^put:
    llvm.store %s, %mine : f32, !llvm.ptr<3>
    llvm.br ^wait
  ^wait:
    nvvm.barrier0
    %first = llvm.icmp "eq" %tid, %zero : i32
    llvm.cond_br %first, ^join, ^next
  ^join:
    %all = llvm.load %sums {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %upper = llvm.getelementptr %sums[4] : (!llvm.ptr<3>) -> !llvm.ptr<3>, f32
    %rest = llvm.load %upper {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %pairs = llvm.fadd %all, %rest : vector<4xf32>
    %init = llvm.mlir.constant(0.0 : f32) : f32
    %total = "llvm.intr.vector.reduce.fadd"(%init, %pairs) : (f32, vector<4xf32>) -> f32
    %to = llvm.getelementptr %y[%r] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %total, %to : f32, !llvm.ptr<1>
    llvm.br ^next
  ^next:
    nvvm.barrier0
    %k1 = llvm.add %k, %one : i32
    %more = llvm.icmp "ult" %k1, %two : i32
    llvm.cond_br %more, ^round(%k1 : i32), ^end
  ^end:
    llvm.return
  }

  llvm.func internal @warp_sum(%v: f32) -> f32 {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %clamp = llvm.mlir.constant(31 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %a = nvvm.shfl.sync bfly %all, %v, %c16, %clamp : f32 -> f32
    %b = llvm.fadd %v, %a : f32
    %c = nvvm.shfl.sync bfly %all, %b, %c8, %clamp : f32 -> f32
    %d = llvm.fadd %b, %c : f32
    %e = nvvm.shfl.sync bfly %all, %d, %c4, %clamp : f32 -> f32
    %f = llvm.fadd %d, %e : f32
    %g = nvvm.shfl.sync bfly %all, %f, %c2, %clamp : f32 -> f32
    %h = llvm.fadd %f, %g : f32
    %i = nvvm.shfl.sync bfly %all, %h, %c1, %clamp : f32 -> f32
    %j = llvm.fadd %h, %i : f32
    llvm.return %j : f32
  }
}
