// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Softmax of rows of 1024 bf16 into f32, a row to a block of 128 threads: eight contiguous elements in the registers of each,
// maximum and sum by shuffles and through shared memory.
gpu.module @kernels {
  llvm.mlir.global internal @parts() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4 x f32>

  llvm.func @softmax(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c5 = llvm.mlir.constant(5 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c7 = llvm.mlir.constant(7 : i32) : i32
    %row_size = llvm.mlir.constant(1024 : i32) : i32
    %log2e = llvm.mlir.constant(1.44269504 : f32) : f32
    %one = llvm.mlir.constant(1.0 : f32) : f32
    %three = llvm.mlir.constant(3 : i32) : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = nvvm.read.ptx.sreg.ctaid.x : i32
    %start = llvm.mul %row, %row_size : i32
    %column = llvm.shl %tid, %three : i32
    %i = llvm.add %start, %column : i32
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, bf16
    %short = llvm.load %from {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    %v = llvm.fpext %short : vector<8xbf16> to vector<8xf32>
    %v0 = llvm.extractelement %v[%c0 : i32] : vector<8xf32>
    %v1 = llvm.extractelement %v[%c1 : i32] : vector<8xf32>
    %v2 = llvm.extractelement %v[%c2 : i32] : vector<8xf32>
    %v3 = llvm.extractelement %v[%c3 : i32] : vector<8xf32>
    %v4 = llvm.extractelement %v[%c4 : i32] : vector<8xf32>
    %v5 = llvm.extractelement %v[%c5 : i32] : vector<8xf32>
    %v6 = llvm.extractelement %v[%c6 : i32] : vector<8xf32>
    %v7 = llvm.extractelement %v[%c7 : i32] : vector<8xf32>
    %m1 = llvm.intr.maxnum(%v0, %v1) : (f32, f32) -> f32
    %m2 = llvm.intr.maxnum(%m1, %v2) : (f32, f32) -> f32
    %m3 = llvm.intr.maxnum(%m2, %v3) : (f32, f32) -> f32
    %m4 = llvm.intr.maxnum(%m3, %v4) : (f32, f32) -> f32
    %m5 = llvm.intr.maxnum(%m4, %v5) : (f32, f32) -> f32
    %m6 = llvm.intr.maxnum(%m5, %v6) : (f32, f32) -> f32
    %m7 = llvm.intr.maxnum(%m6, %v7) : (f32, f32) -> f32
    %max = llvm.call @block_max(%m7) : (f32) -> f32
    %d0 = llvm.fsub %v0, %max : f32
    %t0 = llvm.fmul %d0, %log2e : f32
    %e0 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t0) : (f32) -> f32
    %d1 = llvm.fsub %v1, %max : f32
    %t1 = llvm.fmul %d1, %log2e : f32
    %e1 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t1) : (f32) -> f32
    %d2 = llvm.fsub %v2, %max : f32
    %t2 = llvm.fmul %d2, %log2e : f32
    %e2 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t2) : (f32) -> f32
    %d3 = llvm.fsub %v3, %max : f32
    %t3 = llvm.fmul %d3, %log2e : f32
    %e3 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t3) : (f32) -> f32
    %d4 = llvm.fsub %v4, %max : f32
    %t4 = llvm.fmul %d4, %log2e : f32
    %e4 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t4) : (f32) -> f32
    %d5 = llvm.fsub %v5, %max : f32
    %t5 = llvm.fmul %d5, %log2e : f32
    %e5 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t5) : (f32) -> f32
    %d6 = llvm.fsub %v6, %max : f32
    %t6 = llvm.fmul %d6, %log2e : f32
    %e6 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t6) : (f32) -> f32
    %d7 = llvm.fsub %v7, %max : f32
    %t7 = llvm.fmul %d7, %log2e : f32
    %e7 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%t7) : (f32) -> f32
    %a1 = llvm.fadd %e0, %e1 : f32
    %a2 = llvm.fadd %a1, %e2 : f32
    %a3 = llvm.fadd %a2, %e3 : f32
    %a4 = llvm.fadd %a3, %e4 : f32
    %a5 = llvm.fadd %a4, %e5 : f32
    %a6 = llvm.fadd %a5, %e6 : f32
    %a7 = llvm.fadd %a6, %e7 : f32
    %sum = llvm.call @block_sum(%a7) : (f32) -> f32
    %scale = llvm.fdiv %one, %sum : f32
    %o0 = llvm.fmul %e0, %scale : f32
    %o1 = llvm.fmul %e1, %scale : f32
    %o2 = llvm.fmul %e2, %scale : f32
    %o3 = llvm.fmul %e3, %scale : f32
    %o4 = llvm.fmul %e4, %scale : f32
    %o5 = llvm.fmul %e5, %scale : f32
    %o6 = llvm.fmul %e6, %scale : f32
    %o7 = llvm.fmul %e7, %scale : f32
    %h0 = llvm.mlir.poison : vector<4xf32>
    %h00 = llvm.insertelement %o0, %h0[%c0 : i32] : vector<4xf32>
    %h01 = llvm.insertelement %o1, %h00[%c1 : i32] : vector<4xf32>
    %h02 = llvm.insertelement %o2, %h01[%c2 : i32] : vector<4xf32>
    %h03 = llvm.insertelement %o3, %h02[%c3 : i32] : vector<4xf32>
    %h1 = llvm.mlir.poison : vector<4xf32>
    %h10 = llvm.insertelement %o4, %h1[%c0 : i32] : vector<4xf32>
    %h11 = llvm.insertelement %o5, %h10[%c1 : i32] : vector<4xf32>
    %h12 = llvm.insertelement %o6, %h11[%c2 : i32] : vector<4xf32>
    %h13 = llvm.insertelement %o7, %h12[%c3 : i32] : vector<4xf32>
    %to = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    %to4 = llvm.getelementptr %to[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    llvm.store %h03, %to {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.store %h13, %to4 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }

  llvm.func internal @block_max(%v: f32) -> f32 {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c5 = llvm.mlir.constant(5 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %p0 = nvvm.shfl.sync bfly %all, %v, %c16, %c31 : f32 -> f32
    %w0 = llvm.intr.maxnum(%v, %p0) : (f32, f32) -> f32
    %p1 = nvvm.shfl.sync bfly %all, %w0, %c8, %c31 : f32 -> f32
    %w1 = llvm.intr.maxnum(%w0, %p1) : (f32, f32) -> f32
    %p2 = nvvm.shfl.sync bfly %all, %w1, %c4, %c31 : f32 -> f32
    %w2 = llvm.intr.maxnum(%w1, %p2) : (f32, f32) -> f32
    %p3 = nvvm.shfl.sync bfly %all, %w2, %c2, %c31 : f32 -> f32
    %w3 = llvm.intr.maxnum(%w2, %p3) : (f32, f32) -> f32
    %p4 = nvvm.shfl.sync bfly %all, %w3, %c1, %c31 : f32 -> f32
    %w4 = llvm.intr.maxnum(%w3, %p4) : (f32, f32) -> f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %warp = llvm.lshr %tid, %c5 : i32
    %parts = llvm.mlir.addressof @parts : !llvm.ptr<3>
    %mine = llvm.getelementptr %parts[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %leads = llvm.icmp "eq" %lane, %c0 : i32
    llvm.cond_br %leads, ^put, ^wait
  ^put:
    llvm.store %w4, %mine : f32, !llvm.ptr<3>
    llvm.br ^wait
  ^wait:
    nvvm.barrier0
    %four = llvm.load %parts {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %x0 = llvm.extractelement %four[%c0 : i32] : vector<4xf32>
    %x1 = llvm.extractelement %four[%c1 : i32] : vector<4xf32>
    %x2 = llvm.extractelement %four[%c2 : i32] : vector<4xf32>
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %x3 = llvm.extractelement %four[%c3 : i32] : vector<4xf32>
    %y0 = llvm.intr.maxnum(%x0, %x1) : (f32, f32) -> f32
    %y1 = llvm.intr.maxnum(%x2, %x3) : (f32, f32) -> f32
    %y = llvm.intr.maxnum(%y0, %y1) : (f32, f32) -> f32
    nvvm.barrier0
    llvm.return %y : f32
  }

  llvm.func internal @block_sum(%v: f32) -> f32 {
    %all = llvm.mlir.constant(-1 : i32) : i32
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c5 = llvm.mlir.constant(5 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %p0 = nvvm.shfl.sync bfly %all, %v, %c16, %c31 : f32 -> f32
    %w0 = llvm.fadd %v, %p0 : f32
    %p1 = nvvm.shfl.sync bfly %all, %w0, %c8, %c31 : f32 -> f32
    %w1 = llvm.fadd %w0, %p1 : f32
    %p2 = nvvm.shfl.sync bfly %all, %w1, %c4, %c31 : f32 -> f32
    %w2 = llvm.fadd %w1, %p2 : f32
    %p3 = nvvm.shfl.sync bfly %all, %w2, %c2, %c31 : f32 -> f32
    %w3 = llvm.fadd %w2, %p3 : f32
    %p4 = nvvm.shfl.sync bfly %all, %w3, %c1, %c31 : f32 -> f32
    %w4 = llvm.fadd %w3, %p4 : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %warp = llvm.lshr %tid, %c5 : i32
    %parts = llvm.mlir.addressof @parts : !llvm.ptr<3>
    %mine = llvm.getelementptr %parts[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %leads = llvm.icmp "eq" %lane, %c0 : i32
    llvm.cond_br %leads, ^put, ^wait
  ^put:
    llvm.store %w4, %mine : f32, !llvm.ptr<3>
    llvm.br ^wait
  ^wait:
    nvvm.barrier0
    %four = llvm.load %parts {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    %x0 = llvm.extractelement %four[%c0 : i32] : vector<4xf32>
    %x1 = llvm.extractelement %four[%c1 : i32] : vector<4xf32>
    %x2 = llvm.extractelement %four[%c2 : i32] : vector<4xf32>
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %x3 = llvm.extractelement %four[%c3 : i32] : vector<4xf32>
    %y0 = llvm.fadd %x0, %x1 : f32
    %y1 = llvm.fadd %x2, %x3 : f32
    %y = llvm.fadd %y0, %y1 : f32
    nvvm.barrier0
    llvm.return %y : f32
  }
}
