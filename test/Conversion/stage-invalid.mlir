// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that work on fusions and kernels refuse what earlier passes were to put there, instead of leaving it.
// RUN: not ad-opt %s --convert-ad-to-linalg -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: not ad-opt %s --ad-select-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: not ad-opt %s --ad-fuse --ad-select-kernels --ad-outline-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOWERED
// RUN: not ad-opt %s --ad-fuse --ad-select-kernels --ad-prepack-operands -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOWERED
// RUN: not ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-emit-cpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=OUTLINED
// RUN: not ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg --ad-emit-gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=OUTLINED
// RUN: not ad-opt %s --ad-to-cpu-frontend --ad-to-cpu-fusion --ad-to-cpu-kernels --ad-lower-to-emulator -o /dev/null 2>&1 | FileCheck %s --check-prefix=EMITTED
// RUN: not ad-opt %s --ad-to-cpu-fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUSION
// RUN: not ad-opt %s --ad-to-gpu-fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=FUSION
// A reshape between kernels stays in the host program.
// RUN: ad-opt %s --ad-to-cpu | FileCheck %s --check-prefix=WHOLE

// WHOLE: llvm.func @adrt_entry_main
func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  // FUSED: stage-invalid.mlir:[[@LINE+5]]:8: error: 'ad.exp' op is not in an ad.fusion; run --ad-to-cpu-frontend --ad-to-cpu-fusion first, or for a GPU --ad-to-gpu-frontend --ad-to-gpu-fusion
  // LOWERED: stage-invalid.mlir:[[@LINE+4]]:8: error: 'ad.exp' op is not lowered to linalg; run --ad-to-cpu-frontend --ad-to-cpu-fusion --convert-ad-to-linalg first
  // OUTLINED: stage-invalid.mlir:[[@LINE+3]]:8: error: 'ad.fusion' op is not a kernel outside of the program yet; run {{.*}} --ad-to-cpu-kernels first
  // EMITTED: stage-invalid.mlir:[[@LINE+2]]:8: error: 'ad.kernel' op is a kernel without code; run --ad-to-gpu-frontend --ad-to-gpu-fusion --ad-to-gpu-kernels --ad-to-gpu-code first
  // FUSION: stage-invalid.mlir:[[@LINE+1]]:8: error: 'ad.exp' op has no permissions; run --ad-to-cpu-frontend first
  %y = ad.exp %x : tensor<4xf32>
  %z = ad.reshape %y : tensor<4xf32> -> tensor<2x2xf32>
  return %z : tensor<2x2xf32>
}
