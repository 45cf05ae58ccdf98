// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Tools of upstream, which know nothing of ad, take the code of the pipelines: to an object of the host, and kernels to
// PTX. Kernels are internal functions, so that programs may be linked together.
// RUN: ad-opt %s --ad-to-cpu -o %t.cpu.mlir
// RUN: FileCheck %s --check-prefix=NONE --input-file %t.cpu.mlir
// RUN: mlir-opt %t.cpu.mlir | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=HOST
// RUN: mlir-translate --mlir-to-llvmir %t.cpu.mlir | llc -filetype=obj -o %t.cpu.o

// RUN: ad-opt %s --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-to-gpu-code=chip=sm_90a -o %t.gpu.mlir
// RUN: FileCheck %s --check-prefix=NONE --input-file %t.gpu.mlir
// RUN: mlir-opt %t.gpu.mlir --nvvm-attach-target="chip=sm_90a features=+ptx83" --gpu-module-to-binary=format=isa | FileCheck %s --check-prefix=PTX

// RUN: ad-opt %s --ad-to-gpu -o %t.binary.mlir
// RUN: FileCheck %s --check-prefix=NONE --input-file %t.binary.mlir
// RUN: mlir-opt %t.binary.mlir | mlir-translate --mlir-to-llvmir | llc -filetype=obj -o %t.gpu.o

// NONE-NOT: {{[^a-z]ad\.}}
// HOST: define internal void @dot_0(
// HOST: define i32 @adrt_entry_main(
// PTX: gpu.binary @ad_kernels {{.+}}#nvvm.target<chip = "sm_90a"{{.+}}.entry dot_0

module attributes {ad.numerics = #ad.numerics<reproducible>} {
  func.func @main(%x: tensor<40x80xf32> {ad.name = "x", ad.donated = 0 : i64}, %w: tensor<80x80xf32>) -> (tensor<40x80xf32> {ad.name = "y"}) {
    %p = ad.dot %x, %w : (tensor<40x80xf32>, tensor<80x80xf32>) -> tensor<40x80xf32>
    %y = ad.softmax %p axis 1 : tensor<40x80xf32>
    check.expect_finite(%y) : tensor<40x80xf32>
    return %y : tensor<40x80xf32>
  }
}
