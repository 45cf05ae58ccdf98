// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass that compiles GPU kernels to host code.

#ifndef ADJOINT_EMULATOR_PASSES
#define ADJOINT_EMULATOR_PASSES

include "mlir/Pass/PassBase.td"

def LowerToEmulatorPass : Pass<"ad-lower-to-emulator", "::mlir::ModuleOp"> {
  let summary = "Turn GPU modules into host code for the emulated GPU";
  let description = [{
    Without a GPU, kernels run on the host, under checks that hardware does not make (`docs/emulator.md`). This pass
    lowers each `gpu.module` in the LLVM and NVVM dialects, after `convert-gpu-to-nvvm` and before
    `convert-nvvm-to-llvm`, to LLVM functions in the enclosing module. Shared variables become offsets in the CTA's
    shared memory, and pointers lose their address spaces. Each NVVM instruction becomes a call of the machine, and each
    access is preceded by a call that checks it. A kernel `k` becomes two symbols: `adsim_kernel_k`, which runs one
    thread, and `adsim_code_k`, the `adsim::KernelCode` that `adsim::launch` takes. The result links against
    `adsim::getSymbols()`.

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
    Refuses with located errors: instructions that the machine does not have, assembly text, libdevice and other
    functions without a body, functions of the host's mathematical library, and operations of other dialects.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ADJOINT_EMULATOR_PASSES
