// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass that makes host code of GPU kernels.

#ifndef ADJOINT_EMULATOR_PASSES
#define ADJOINT_EMULATOR_PASSES

include "mlir/Pass/PassBase.td"

def LowerToEmulatorPass : Pass<"ad-lower-to-emulator", "::mlir::ModuleOp"> {
  let summary = "Turn GPU modules into host code for the emulated GPU";
  let description = [{
    Where there is no GPU, its kernels run on the host, under checks that hardware does not make (`docs/emulator.md`).
    This pass takes each `gpu.module` in the LLVM and NVVM dialects, as `convert-gpu-to-nvvm` leaves it and before
    `convert-nvvm-to-llvm`, and moves it into the module around it as LLVM functions: shared variables get places in the
    CTA's shared memory, address spaces go away, each instruction of NVVM becomes a call of the machine, and a check
    stands in front of each access. A kernel `k` leaves two symbols: `adsim_kernel_k`, which runs one thread, and
    `adsim_code_k`, the `adsim::KernelCode` that a launch takes. What results needs `adsim::getSymbols()` to link.

    Before:
    ```mlir
    gpu.module @m {
      llvm.func @k(%a: !llvm.ptr<1>) attributes {nvvm.kernel} {
        nvvm.barrier0
        llvm.return
      }
    }
    ```
    After:
    ```mlir
    llvm.func internal @adsim_body_m_k(%self: !llvm.ptr, %a: !llvm.ptr) {
      %0 = llvm.call @adsim_barrier(%self, …) : (!llvm.ptr, i32, i32, i32, i32, i32) -> i32
      llvm.return
    }
    llvm.func @adsim_kernel_k(%arguments: !llvm.ptr) {…}
    llvm.mlir.global external constant @adsim_code_k() : !llvm.struct<(…)>
    ```
    Refuses, with the place, instructions that the machine does not have, assembly text, libdevice and other functions
    without a body, functions of the host's mathematical library, and operations of other dialects.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ADJOINT_EMULATOR_PASSES
