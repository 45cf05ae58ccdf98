// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// RUN: ad-opt %s --ad-serialize-kernels=chip=sm_90a | FileCheck %s
// RUN: not ad-opt %s --ad-serialize-kernels=chip=sm_35 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not ad-opt %s --ad-serialize-kernels=format=elf 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: env ADJOINT_PTXAS=/missing/ptxas not ad-opt %s --ad-serialize-kernels=format=bin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: not ad-opt %s --ad-serialize-kernels="format=bin code-for=sm_80" 2>&1 | FileCheck %s --check-prefix=CODE-FOR
// RUN: not ad-opt %s --ad-serialize-kernels="format=fatbin code-for=sm_80,sm_7" 2>&1 | FileCheck %s --check-prefix=CODE-FOR-CHIP
// RUN: env ADJOINT_PTXAS=/bin/true ADJOINT_FATBINARY=/missing/fatbinary not ad-opt %s --ad-serialize-kernels=format=fatbin 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FATBINARY

// CHIP: error: unknown chip 'sm_35', expected sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100
// FORMAT: error: unknown format 'elf', expected isa, bin or fatbin
// CODE-FOR-CHIP: error: unknown chip 'sm_7' in code-for, expected sm_80, sm_86, sm_89, sm_90, sm_90a or sm_100
// CODE-FOR: error: code-for=sm_80 is for format=fatbin, but the format is bin
// FATBINARY: error: '/missing/fatbinary' failed
// PTXAS: ad-serialize-kernels.mlir:[[#@LINE+14]]:{{[0-9]+}}: error: '/missing/ptxas' failed

// The sum of a product is two operations that round, a fused multiply-add is one; division and square root are those of IEEE 754,
// and subnormals stay.
// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a", features = "+ptx80">, assembly = "
// CHECK-SAME: .target sm_90a
// CHECK-SAME: .entry k(
// CHECK-SAME: .maxntid 256
// CHECK-SAME: mul.rn.f32
// CHECK-SAME: add.rn.f32
// CHECK-SAME: fma.rn.f32
// CHECK-SAME: div.rn.f32
// CHECK-SAME: sqrt.rn.f32
// CHECK-NOT: ftz
gpu.module @kernels {
  llvm.func @k(%y: !llvm.ptr) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256>} {
    %x = llvm.load %y : !llvm.ptr -> f32
    %m = llvm.fmul %x, %x : f32
    %a = llvm.fadd %m, %x : f32
    %f = llvm.intr.fma(%a, %x, %x) : (f32, f32, f32) -> f32
    %d = llvm.fdiv %f, %x : f32
    %s = llvm.intr.sqrt(%d) : (f32) -> f32
    llvm.store %s, %y : f32, !llvm.ptr
    llvm.return
  }
}
