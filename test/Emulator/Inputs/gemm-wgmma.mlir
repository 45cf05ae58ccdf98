// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// C = A B^T in tiles of 64x16, A (m x k) and B (n x k) in bf16: a producer warpgroup loads K tiles by TMA into a
// pipeline of two stages, and a consumer warpgroup multiplies them with wgmma. Tensor maps: A in boxes of 64x64 and B in boxes of 16x64, swizzled by
// 128 bytes; C in boxes of 64x16. 24608 bytes of dynamic shared memory: two stages of 10240, the tile of C, four mbarriers.
gpu.module @kernels [#nvvm.target<chip = "sm_90a", features = "+ptx86", O = 3>] {
  llvm.mlir.global external @tiles() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

  llvm.func @gemm(%map_a: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                  %map_b: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant},
                  %map_c: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}, %k: i32)
      attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>, nvvm.minctasm = 1 : i32} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c2 = llvm.mlir.constant(2 : i32) : i32
    %c3 = llvm.mlir.constant(3 : i32) : i32
    %c5 = llvm.mlir.constant(5 : i32) : i32
    %c6 = llvm.mlir.constant(6 : i32) : i32
    %c8 = llvm.mlir.constant(8 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    %c31 = llvm.mlir.constant(31 : i32) : i32
    %c32 = llvm.mlir.constant(32 : i32) : i32
    %c64 = llvm.mlir.constant(64 : i32) : i32
    %c128 = llvm.mlir.constant(128 : i32) : i32
    %c512 = llvm.mlir.constant(512 : i32) : i32
    %c544 = llvm.mlir.constant(544 : i32) : i32
    %c8192 = llvm.mlir.constant(8192 : i32) : i32
    %c10240 = llvm.mlir.constant(10240 : i32) : i32
    %c20480 = llvm.mlir.constant(20480 : i32) : i32
    %c24576 = llvm.mlir.constant(24576 : i32) : i32
    %c24592 = llvm.mlir.constant(24592 : i32) : i32
    %shared = llvm.mlir.addressof @tiles : !llvm.ptr<3>
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %row0 = llvm.mul %by, %c64 : i32
    %col0 = llvm.mul %bx, %c16 : i32
    %steps = llvm.lshr %k, %c6 : i32
    %full = llvm.getelementptr %shared[%c24576] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %empty = llvm.getelementptr %shared[%c24592] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %out = llvm.getelementptr %shared[%c20480] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %first = llvm.icmp "eq" %tid, %c0 : i32
    llvm.cond_br %first, ^init, ^start
  ^init:
    %full1 = llvm.getelementptr %full[%c8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %full1, %c1 : !llvm.ptr<3>, i32
    %empty1 = llvm.getelementptr %empty[%c8] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    nvvm.mbarrier.init %empty, %c1 : !llvm.ptr<3>, i32
    nvvm.mbarrier.init %empty1, %c1 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    llvm.br ^start
  ^start:
    nvvm.barrier0
    %produces = llvm.icmp "ult" %tid, %c128 : i32
    llvm.cond_br %produces, ^producer, ^consumer
  ^producer:
    nvvm.setmaxregister decrease 40
    llvm.cond_br %first, ^fill(%c0, %c0, %c1 : i32, i32, i32), ^end
  ^fill(%p: i32, %ps: i32, %pp: i32):
    %pb = llvm.mul %ps, %c8 : i32
    %pfull = llvm.getelementptr %full[%pb] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %pempty = llvm.getelementptr %empty[%pb] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.br ^waitEmpty
  ^waitEmpty:
    %free = nvvm.mbarrier.try_wait %pempty, %pp : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %free, ^copy, ^waitEmpty
  ^copy:
    nvvm.mbarrier.arrive.expect_tx %pfull, %c10240 : !llvm.ptr<3>, i32
    %pk = llvm.mul %p, %c64 : i32
    %po = llvm.mul %ps, %c10240 : i32
    %pa = llvm.getelementptr %shared[%po] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %pbo = llvm.add %po, %c8192 : i32
    %pbt = llvm.getelementptr %shared[%pbo] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    nvvm.cp.async.bulk.tensor.shared.cluster.global %pa, %map_a, %pfull, box[%pk, %row0] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    nvvm.cp.async.bulk.tensor.shared.cluster.global %pbt, %map_b, %pfull, box[%pk, %col0] {isCTAOnly = true} : !llvm.ptr<3>, !llvm.ptr
    %p1 = llvm.add %p, %c1 : i32
    %ps1 = llvm.xor %ps, %c1 : i32
    %pwrap = llvm.icmp "eq" %ps1, %c0 : i32
    %pflip = llvm.zext %pwrap : i1 to i32
    %pp1 = llvm.xor %pp, %pflip : i32
    %pmore = llvm.icmp "ult" %p1, %steps : i32
    llvm.cond_br %pmore, ^fill(%p1, %ps1, %pp1 : i32, i32, i32), ^end
  ^consumer:
    nvvm.setmaxregister increase 232
    %local = llvm.sub %tid, %c128 : i32
    %leads = llvm.icmp "eq" %local, %c0 : i32
    // No leading offset, 1024 bytes between groups of eight rows, swizzle of 128 bytes.
    %layout = llvm.mlir.constant(4611686293305360384 : i64) : i64
    %four = llvm.mlir.constant(4 : i64) : i64
    %field = llvm.mlir.constant(16383 : i64) : i64
    %none = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    llvm.br ^use(%c0, %c0, %c0, %none : i32, i32, i32, !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>)
  ^use(%u: i32, %us: i32, %up: i32, %sum: !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>):
    %ub = llvm.mul %us, %c8 : i32
    %ufull = llvm.getelementptr %full[%ub] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %uempty = llvm.getelementptr %empty[%ub] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.br ^waitFull
  ^waitFull:
    %there = nvvm.mbarrier.try_wait %ufull, %up : !llvm.ptr<3>, i32 -> i1
    llvm.cond_br %there, ^multiply, ^waitFull
  ^multiply:
    %uo = llvm.mul %us, %c10240 : i32
    %ua = llvm.getelementptr %shared[%uo] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %ubo = llvm.add %uo, %c8192 : i32
    %ubt = llvm.getelementptr %shared[%ubo] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %ap = llvm.ptrtoint %ua : !llvm.ptr<3> to i64
    %aq = llvm.lshr %ap, %four : i64
    %af = llvm.and %aq, %field : i64
    %ad0 = llvm.or disjoint %af, %layout : i64
    %bp = llvm.ptrtoint %ubt : !llvm.ptr<3> to i64
    %bq = llvm.lshr %bp, %four : i64
    %bf = llvm.and %bq, %field : i64
    %bd0 = llvm.or disjoint %bf, %layout : i64
    %step1 = llvm.mlir.constant(2 : i64) : i64
    %ad1 = llvm.add %ad0, %step1 : i64
    %bd1 = llvm.add %bd0, %step1 : i64
    %step2 = llvm.mlir.constant(4 : i64) : i64
    %ad2 = llvm.add %ad0, %step2 : i64
    %bd2 = llvm.add %bd0, %step2 : i64
    %step3 = llvm.mlir.constant(6 : i64) : i64
    %ad3 = llvm.add %ad0, %step3 : i64
    %bd3 = llvm.add %bd0, %step3 : i64
    nvvm.wgmma.fence.aligned
    %sum0 = nvvm.wgmma.mma_async %ad0, %bd0, %sum, #nvvm.shape<m = 64, n = 16, k = 16>, D[#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>], A[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>], B[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %sum1 = nvvm.wgmma.mma_async %ad1, %bd1, %sum0, #nvvm.shape<m = 64, n = 16, k = 16>, D[#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>], A[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>], B[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %sum2 = nvvm.wgmma.mma_async %ad2, %bd2, %sum1, #nvvm.shape<m = 64, n = 16, k = 16>, D[#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>], A[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>], B[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %sum3 = nvvm.wgmma.mma_async %ad3, %bd3, %sum2, #nvvm.shape<m = 64, n = 16, k = 16>, D[#nvvm.wgmma_type<f32>, #nvvm.wgmma_scale_out<one>], A[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<row>], B[#nvvm.wgmma_type<bf16>, #nvvm.wgmma_scale_in<one>, #nvvm.mma_layout<col>] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    llvm.cond_br %leads, ^release, ^next
  ^release:
    nvvm.mbarrier.arrive %uempty : !llvm.ptr<3>
    llvm.br ^next
  ^next:
    %u1 = llvm.add %u, %c1 : i32
    %us1 = llvm.xor %us, %c1 : i32
    %uwrap = llvm.icmp "eq" %us1, %c0 : i32
    %uflip = llvm.zext %uwrap : i1 to i32
    %up1 = llvm.xor %up, %uflip : i32
    %umore = llvm.icmp "ult" %u1, %steps : i32
    llvm.cond_br %umore, ^use(%u1, %us1, %up1, %sum3 : i32, i32, i32, !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>), ^epilogue
  ^epilogue:
    // Rows of 16 accumulators are written to shared memory; one thread stores the tile by TMA.
    %w = llvm.lshr %local, %c5 : i32
    %lane = llvm.and %local, %c31 : i32
    %g = llvm.lshr %lane, %c2 : i32
    %t = llvm.and %lane, %c3 : i32
    %w16 = llvm.mul %w, %c16 : i32
    %row = llvm.add %w16, %g : i32
    %line = llvm.mul %row, %c64 : i32
    %t8 = llvm.mul %t, %c8 : i32
    %e0 = llvm.add %line, %t8 : i32
    %x0 = llvm.extractvalue %sum3[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %x1 = llvm.extractvalue %sum3[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %y0 = llvm.mlir.poison : vector<2xf32>
    %z0 = llvm.insertelement %x0, %y0[%c0 : i32] : vector<2xf32>
    %pair0 = llvm.insertelement %x1, %z0[%c1 : i32] : vector<2xf32>
    %to0 = llvm.getelementptr %out[%e0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %pair0, %to0 : vector<2xf32>, !llvm.ptr<3>
    %x2 = llvm.extractvalue %sum3[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %x3 = llvm.extractvalue %sum3[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %y2 = llvm.mlir.poison : vector<2xf32>
    %z2 = llvm.insertelement %x2, %y2[%c0 : i32] : vector<2xf32>
    %pair2 = llvm.insertelement %x3, %z2[%c1 : i32] : vector<2xf32>
    %e2 = llvm.add %e0, %c512 : i32
    %to2 = llvm.getelementptr %out[%e2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %pair2, %to2 : vector<2xf32>, !llvm.ptr<3>
    %x4 = llvm.extractvalue %sum3[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %x5 = llvm.extractvalue %sum3[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %y4 = llvm.mlir.poison : vector<2xf32>
    %z4 = llvm.insertelement %x4, %y4[%c0 : i32] : vector<2xf32>
    %pair4 = llvm.insertelement %x5, %z4[%c1 : i32] : vector<2xf32>
    %e4 = llvm.add %e0, %c32 : i32
    %to4 = llvm.getelementptr %out[%e4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %pair4, %to4 : vector<2xf32>, !llvm.ptr<3>
    %x6 = llvm.extractvalue %sum3[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %x7 = llvm.extractvalue %sum3[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %y6 = llvm.mlir.poison : vector<2xf32>
    %z6 = llvm.insertelement %x6, %y6[%c0 : i32] : vector<2xf32>
    %pair6 = llvm.insertelement %x7, %z6[%c1 : i32] : vector<2xf32>
    %e6 = llvm.add %e0, %c544 : i32
    %to6 = llvm.getelementptr %out[%e6] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %pair6, %to6 : vector<2xf32>, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier id = %c1 number_of_threads = %c128
    llvm.cond_br %leads, ^hand, ^end
  ^hand:
    nvvm.cp.async.bulk.tensor.global.shared.cta %map_c, %out, box[%col0, %row0] : !llvm.ptr, !llvm.ptr<3>
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    llvm.br ^end
  ^end:
    llvm.return
  }
}
