// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// DEFINE: %{emit} = ad-opt %s --ad-to-cpu-frontend=numerics=strict --ad-to-gpu-fusion=optimize=0 --ad-to-gpu-kernels --remarks-filter=ad-gpu
// RUN: %{emit} --ad-emit-gpu=chip=sm_89 2> %t.89 | FileCheck %s
// RUN: FileCheck %s --check-prefix=NAMED < %t.89
// RUN: %{emit} --ad-emit-gpu=chip=sm_90a | FileCheck %s
// RUN: %{emit} --ad-emit-gpu=chip=sm_86 2> %t.86 | FileCheck %s --check-prefix=OLD
// RUN: FileCheck %s --check-prefix=WIDENED < %t.86
// RUN: ad-opt %s --ad-to-gpu="numerics=strict chip=sm_89" | FileCheck %s --check-prefix=PTX
// RUN: ad-opt %s --ad-to-gpu="numerics=reproducible chip=sm_89" | FileCheck %s --check-prefix=OLDER-PTX
// RUN: ad-opt %s --ad-to-gpu="numerics=strict chip=sm_86" | FileCheck %s --check-prefix=OF-F16

// A kernel has a newer PTX version only for its instruction.
// PTX: features = "+ptx84"{{.*}}mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// OLDER-PTX: features = "+ptx78"
// OF-F16: features = "+ptx74"{{.*}}mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

// NAMED: contraction-class{{.*}}instruction="mma.sync.m16n8k32.e4m3.e5m2, promoted to f32 every 128 of K, B transposed byte by byte"
// WIDENED: contraction-class{{.*}}instruction="mma.sync.m16n8k16.f16.f16 of widened 8-bit floats, promoted to f32 every 128 of K"

// Operand A is copied as it is, B is transposed in registers. Two K tiles of 64 are one step of promotion: the loop
// carries the sums of the step and those before it.
// CHECK-LABEL: gpu.func @dot_0
// CHECK: scf.for {{.*}} iter_args(
// CHECK: nvvm.cp.async.shared.global
// CHECK: llvm.store {{.*}} : i8, !llvm.ptr<3>
// CHECK: nvvm.ldmatrix
// CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"({{.*}}) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK: arith.remui %{{.+}}, %c128_i32{{(_[0-9]+)?}} : i32
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: } else {

// OLD-LABEL: gpu.func @dot_0
// OLD: ad.convert %{{.+}} : f8E4M3FN to f16
// OLD-NOT: call_intrinsic
// OLD: nvvm.mma.sync
// OLD-SAME: (vector<2xf16>, vector<2xf16>, f32)
func.func @main(%a: tensor<64x256xf8E4M3FN>, %b: tensor<256x64xf8E5M2>) -> tensor<64x64xf32> {
  %0 = ad.dot %a, %b : (tensor<64x256xf8E4M3FN>, tensor<256x64xf8E5M2>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
