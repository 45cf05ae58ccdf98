// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// C = A B^T in tiles of 32x16 by two warps, A (m x k) and B (n x k) in bf16: mma.sync with a pipeline of three stages,
// filled by cp.async. A row of a stage has four 16-byte chunks. Chunk c of row r is stored at c ^ (r / 2 % 4), so that
// ldmatrix has no bank conflicts.
gpu.module @kernels {
  llvm.mlir.global internal @tiles() {addr_space = 3 : i32, alignment = 128 : i64} : !llvm.array<9216 x i8>

  llvm.func @gemm(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>, %n_all: i32, %k: i32) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 64>} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %c5 = llvm.mlir.constant(5 : i32) : i32
    %c7 = llvm.mlir.constant(7 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c15 = llvm.mlir.constant(15 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c2048 = llvm.mlir.constant(2048 : i32) : i32
    %c3072 = llvm.mlir.constant(3072 : i32) : i32
    %shared = llvm.mlir.addressof @tiles : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = nvvm.read.ptx.sreg.laneid : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %warp = llvm.lshr %tid, %c5 : i32
    %steps = llvm.lshr %k, %c5 : i32
    %row0 = llvm.mul %by, %c32 : i32
    %col0 = llvm.mul %bx, %c16 : i32
    // A thread copies two chunks of A, of rows r and r + 16, and one of B: chunk t mod 4 of row t / 4.
    %r = llvm.lshr %tid, %c2 : i32
    %chunk = llvm.and %tid, %c3 : i32
    %half = llvm.lshr %r, %c1 : i32
    %row_bits = llvm.and %half, %c3 : i32
    %swizzled = llvm.xor %chunk, %row_bits : i32
    %line = llvm.mul %r, %c64 : i32
    %column = llvm.mul %swizzled, %c16 : i32
    %to = llvm.add %line, %column : i32
    %ar = llvm.add %row0, %r : i32
    %ark = llvm.mul %ar, %k : i32
    %pk = llvm.mul %chunk, %c8 : i32
    %ai = llvm.add %ark, %pk : i32
    %br = llvm.add %col0, %r : i32
    %brk = llvm.mul %br, %k : i32
    %bi = llvm.add %brk, %pk : i32
    %below = llvm.mul %k, %c16 : i32
    // The row and the chunk whose address a lane gives to ldmatrix.
    %arow = llvm.and %lane, %c15 : i32
    %wrow = llvm.mul %warp, %c16 : i32
    %lr = llvm.add %wrow, %arow : i32
    %akp = llvm.lshr %lane, %c4 : i32
    %lrh = llvm.lshr %lr, %c1 : i32
    %aturn = llvm.and %lrh, %c3 : i32
    %aline = llvm.mul %lr, %c64 : i32
    %b7 = llvm.and %lane, %c7 : i32
    %b4 = llvm.lshr %lane, %c4 : i32
    %b8 = llvm.mul %b4, %c8 : i32
    %n = llvm.add %b7, %b8 : i32
    %b3 = llvm.lshr %lane, %c3 : i32
    %bkp = llvm.and %b3, %c1 : i32
    %nh = llvm.lshr %n, %c1 : i32
    %bturn = llvm.and %nh, %c3 : i32
    %bline = llvm.mul %n, %c64 : i32
    %bstart = llvm.add %bline, %c2048 : i32
    %zero = llvm.mlir.constant(0.0 : f32) : f32
    llvm.call @load(%a, %b, %ai, %bi, %below, %to, %shared, %c0, %c0, %steps) : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i32, i32, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.call @load(%a, %b, %ai, %bi, %below, %to, %shared, %c1, %c1, %steps) : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i32, i32, !llvm.ptr<3>, i32, i32, i32) -> ()
    llvm.br ^step(%c0, %zero, %zero, %zero, %zero, %zero, %zero, %zero, %zero : i32, f32, f32, f32, f32, f32, f32, f32, f32)
  ^step(%i: i32, %s0: f32, %s1: f32, %s2: f32, %s3: f32, %s4: f32, %s5: f32, %s6: f32, %s7: f32):
    nvvm.cp.async.wait.group 1
    nvvm.barrier0
    %ahead = llvm.add %i, %c2 : i32
    %next = llvm.urem %ahead, %c3 : i32
    %stage = llvm.urem %i, %c3 : i32
    llvm.call @load(%a, %b, %ai, %bi, %below, %to, %shared, %ahead, %next, %steps) : (!llvm.ptr<1>, !llvm.ptr<1>, i32, i32, i32, i32, !llvm.ptr<3>, i32, i32, i32) -> ()
    %base = llvm.mul %stage, %c3072 : i32
    %tile = llvm.getelementptr %shared[%base] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %ap0 = llvm.xor %akp, %aturn : i32
    %ab0 = llvm.mul %ap0, %c16 : i32
    %ao0 = llvm.add %aline, %ab0 : i32
    %aa0 = llvm.getelementptr %tile[%ao0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %bp0 = llvm.xor %bkp, %bturn : i32
    %bb0 = llvm.mul %bp0, %c16 : i32
    %bo0 = llvm.add %bstart, %bb0 : i32
    %ba0 = llvm.getelementptr %tile[%bo0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %am0 = nvvm.ldmatrix %aa0 {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %a0_0 = llvm.extractvalue %am0[0] : !llvm.struct<(i32, i32, i32, i32)>
    %a0_1 = llvm.extractvalue %am0[1] : !llvm.struct<(i32, i32, i32, i32)>
    %a0_2 = llvm.extractvalue %am0[2] : !llvm.struct<(i32, i32, i32, i32)>
    %a0_3 = llvm.extractvalue %am0[3] : !llvm.struct<(i32, i32, i32, i32)>
    %bm0 = nvvm.ldmatrix %ba0 {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %b0_0 = llvm.extractvalue %bm0[0] : !llvm.struct<(i32, i32, i32, i32)>
    %b0_1 = llvm.extractvalue %bm0[1] : !llvm.struct<(i32, i32, i32, i32)>
    %b0_2 = llvm.extractvalue %bm0[2] : !llvm.struct<(i32, i32, i32, i32)>
    %b0_3 = llvm.extractvalue %bm0[3] : !llvm.struct<(i32, i32, i32, i32)>
    %d00 = nvvm.mma.sync A[%a0_0, %a0_1, %a0_2, %a0_3] B[%b0_0, %b0_1] C[%s0, %s1, %s2, %s3] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d00_0 = llvm.extractvalue %d00[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d00_1 = llvm.extractvalue %d00[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d00_2 = llvm.extractvalue %d00[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d00_3 = llvm.extractvalue %d00[3] : !llvm.struct<(f32, f32, f32, f32)>
    %d01 = nvvm.mma.sync A[%a0_0, %a0_1, %a0_2, %a0_3] B[%b0_2, %b0_3] C[%s4, %s5, %s6, %s7] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d01_0 = llvm.extractvalue %d01[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d01_1 = llvm.extractvalue %d01[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d01_2 = llvm.extractvalue %d01[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d01_3 = llvm.extractvalue %d01[3] : !llvm.struct<(f32, f32, f32, f32)>
    %ak1 = llvm.add %akp, %c2 : i32
    %bk1 = llvm.add %bkp, %c2 : i32
    %ap1 = llvm.xor %ak1, %aturn : i32
    %ab1 = llvm.mul %ap1, %c16 : i32
    %ao1 = llvm.add %aline, %ab1 : i32
    %aa1 = llvm.getelementptr %tile[%ao1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %bp1 = llvm.xor %bk1, %bturn : i32
    %bb1 = llvm.mul %bp1, %c16 : i32
    %bo1 = llvm.add %bstart, %bb1 : i32
    %ba1 = llvm.getelementptr %tile[%bo1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %am1 = nvvm.ldmatrix %aa1 {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %a1_0 = llvm.extractvalue %am1[0] : !llvm.struct<(i32, i32, i32, i32)>
    %a1_1 = llvm.extractvalue %am1[1] : !llvm.struct<(i32, i32, i32, i32)>
    %a1_2 = llvm.extractvalue %am1[2] : !llvm.struct<(i32, i32, i32, i32)>
    %a1_3 = llvm.extractvalue %am1[3] : !llvm.struct<(i32, i32, i32, i32)>
    %bm1 = nvvm.ldmatrix %ba1 {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %b1_0 = llvm.extractvalue %bm1[0] : !llvm.struct<(i32, i32, i32, i32)>
    %b1_1 = llvm.extractvalue %bm1[1] : !llvm.struct<(i32, i32, i32, i32)>
    %b1_2 = llvm.extractvalue %bm1[2] : !llvm.struct<(i32, i32, i32, i32)>
    %b1_3 = llvm.extractvalue %bm1[3] : !llvm.struct<(i32, i32, i32, i32)>
    %d10 = nvvm.mma.sync A[%a1_0, %a1_1, %a1_2, %a1_3] B[%b1_0, %b1_1] C[%d00_0, %d00_1, %d00_2, %d00_3] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d10_0 = llvm.extractvalue %d10[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d10_1 = llvm.extractvalue %d10[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d10_2 = llvm.extractvalue %d10[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d10_3 = llvm.extractvalue %d10[3] : !llvm.struct<(f32, f32, f32, f32)>
    %d11 = nvvm.mma.sync A[%a1_0, %a1_1, %a1_2, %a1_3] B[%b1_2, %b1_3] C[%d01_0, %d01_1, %d01_2, %d01_3] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d11_0 = llvm.extractvalue %d11[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d11_1 = llvm.extractvalue %d11[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d11_2 = llvm.extractvalue %d11[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d11_3 = llvm.extractvalue %d11[3] : !llvm.struct<(f32, f32, f32, f32)>
    %i1 = llvm.add %i, %c1 : i32
    %more = llvm.icmp "ult" %i1, %steps : i32
    llvm.cond_br %more, ^step(%i1, %d10_0, %d10_1, %d10_2, %d10_3, %d11_0, %d11_1, %d11_2, %d11_3 : i32, f32, f32, f32, f32, f32, f32, f32, f32), ^store
  ^store:
    %g = llvm.lshr %lane, %c2 : i32
    %t = llvm.and %lane, %c3 : i32
    %t2 = llvm.mul %t, %c2 : i32
    %rw = llvm.add %row0, %wrow : i32
    %orow = llvm.add %rw, %g : i32
    %ocol = llvm.add %col0, %t2 : i32
    %line0 = llvm.mul %orow, %n_all : i32
    %o0 = llvm.add %line0, %ocol : i32
    %down = llvm.mul %n_all, %c8 : i32
    %o1 = llvm.add %o0, %down : i32
    %u0 = llvm.mlir.poison : vector<2xf32>
    %v0 = llvm.insertelement %d10_0, %u0[%c0 : i32] : vector<2xf32>
    %w0 = llvm.insertelement %d10_1, %v0[%c1 : i32] : vector<2xf32>
    %q0 = llvm.getelementptr %c[%o0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %w0, %q0 : vector<2xf32>, !llvm.ptr<1>
    %u2 = llvm.mlir.poison : vector<2xf32>
    %v2 = llvm.insertelement %d10_2, %u2[%c0 : i32] : vector<2xf32>
    %w2 = llvm.insertelement %d10_3, %v2[%c1 : i32] : vector<2xf32>
    %q2 = llvm.getelementptr %c[%o1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %w2, %q2 : vector<2xf32>, !llvm.ptr<1>
    %u4 = llvm.mlir.poison : vector<2xf32>
    %v4 = llvm.insertelement %d11_0, %u4[%c0 : i32] : vector<2xf32>
    %w4 = llvm.insertelement %d11_1, %v4[%c1 : i32] : vector<2xf32>
    %o01 = llvm.add %o0, %c8 : i32
    %q4 = llvm.getelementptr %c[%o01] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %w4, %q4 : vector<2xf32>, !llvm.ptr<1>
    %u6 = llvm.mlir.poison : vector<2xf32>
    %v6 = llvm.insertelement %d11_2, %u6[%c0 : i32] : vector<2xf32>
    %w6 = llvm.insertelement %d11_3, %v6[%c1 : i32] : vector<2xf32>
    %o11 = llvm.add %o1, %c8 : i32
    %q6 = llvm.getelementptr %c[%o11] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %w6, %q6 : vector<2xf32>, !llvm.ptr<1>
    llvm.return
  }

  // Starts the copies of one K tile into a stage. After the last K tile, only commits an empty group.
  llvm.func internal @load(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %ai: i32, %bi: i32, %below: i32, %to: i32, %shared: !llvm.ptr<3>, %step: i32, %stage: i32, %steps: i32) {
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %c1024 = llvm.mlir.constant(1024 : i32) : i32
    %c3072 = llvm.mlir.constant(3072 : i32) : i32
    %inside = llvm.icmp "ult" %step, %steps : i32
    llvm.cond_br %inside, ^copy, ^commit
  ^copy:
    %kk = llvm.mul %step, %c32 : i32
    %base = llvm.mul %stage, %c3072 : i32
    %at = llvm.add %base, %to : i32
    %i0 = llvm.add %ai, %kk : i32
    %i1 = llvm.add %i0, %below : i32
    %i2 = llvm.add %bi, %kk : i32
    %a0 = llvm.getelementptr %a[%i0] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, bf16
    %a1 = llvm.getelementptr %a[%i1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, bf16
    %b0 = llvm.getelementptr %b[%i2] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, bf16
    %s0 = llvm.getelementptr %shared[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %at1 = llvm.add %at, %c1024 : i32
    %s1 = llvm.getelementptr %shared[%at1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %at2 = llvm.add %at1, %c1024 : i32
    %s2 = llvm.getelementptr %shared[%at2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    nvvm.cp.async.shared.global %s0, %a0, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.shared.global %s1, %a1, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.shared.global %s2, %b0, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    llvm.br ^commit
  ^commit:
    nvvm.cp.async.commit.group
    llvm.return
  }
}
