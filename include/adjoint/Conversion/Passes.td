// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes from one dialect to another: ad to linalg, the host program to the C ABI, scalar code to arith, LLVM, NVVM.

#ifndef ADJOINT_CONVERSION_PASSES
#define ADJOINT_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertADToLinalgPass : Pass<"convert-ad-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Convert the bodies of fusions to linalg on tensors";
  let description = [{
    Each `ad` operation in an `ad.fusion` becomes `linalg.generic` (access maps and scalar code), `linalg.fill` or
    `tensor.insert_slice`. Orders and permissions stay on the fusion, since linalg cannot carry them. A fusion that only reshapes is
    dissolved: the reshape stays in the host program, where it costs nothing. In an elementwise fusion whose last axis
    is short, contiguous static axes that each value either has or is broadcast along become one; its operands and
    results are reshaped.

    Before:
    ```mlir
    %0 = ad.exp %a : tensor<4xf32>
    ```
    After:
    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %0 = linalg.generic {…} ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %1 = ad.elementary exp %in : f32
      linalg.yield %1 : f32
    } -> tensor<4xf32>
    ```
    Refuses operations outside of a fusion, which it would leave as they are, and those that have to be
    decomposed first (`ad-decompose`).
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ConvertHostToLLVMPass : Pass<"convert-host-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert the planned host program to calls of the runtime in the LLVM dialect";
  let description = [{
    Every public function becomes an entry of the C ABI `adrt` named `adrt_entry_<name>`. Bytes of the name other than
    letters, digits and underscores become `$` and two hexadecimal digits. Tensors become pointers into the buffers of the
    memory plan (`ad.buffer`), launches calls of kernels, and feeds, receives and checks calls of the runtime, each with an
    `ad.guard` of its status. Code between operations on tensors stays in `scf`, `arith` and `func`. Every loop polls
    whether the host wants to stop.

    With `device`, kernels are those of `ad-emit-gpu`, launched by number (`ad.kernel_names` of the module lists them), and
    tensors are in the memory of a device: the entry copies arguments and constants there, and reads back single elements
    that the host needs. Remarks of the category ad-host report each loop with launches. `loop-without-waits`: the host only
    enqueues work. `loop-waits`: the host reads a device value; the remark names the first such operation, and says
    `iterations=each`, or `iterations=some` if all such operations are in branches.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    func.func @adrt_entry_main(%context: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr) -> i32
    ```
    Refuses functions without a plan (`ad-plan-memory`), and launches of kernels without code for the target.
  }];
  let options = [Option<"profile", "profile", "bool", "false", "Bracket each kernel with timing calls; for reports">,
                 Option<"device", "device", "bool", "false", "Kernels run on a device with memory of its own (ad-emit-gpu)">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def LowerGuardsPass : Pass<"ad-lower-guards", "::mlir::func::FuncOp"> {
  let summary = "Turn guards into branches to the exit of the entry";
  let description = [{
    Runs after structured control flow has become blocks, since a guard leaves the function from inside a loop.

    Before:
    ```mlir
    ad.guard %status
    ```
    After:
    ```mlir
    cf.cond_br %ok, ^continue, ^exit(%status : i32)
    ```
    Refuses nothing.
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

def ExpandScalarOpsPass : Pass<"ad-expand-scalar-ops"> {
  let summary = "Expand elementary functions and conversions into arith operations";
  let description = [{
    `ad.elementary` becomes the text of lib/Numerics/Math, `ad.convert` the integer expansion of lib/Numerics, on scalars and vectors.
    Conversions between f16 and f32 stay operations of arith where the processor has instructions for them.
    Last, so that everything before sees one operation.

    Before:
    ```mlir
    %y = ad.elementary exp %x : vector<16xf32>
    ```
    After: arith operations, and an `scf.if` around what few arguments need, such as the reduction of large ones in sin.
    Refuses nothing.
  }];
  let options = [Option<"remainders", "remainders", "bool", "false",
                        "Expand arith.remf on scalars too, for a target whose own is not exact">,
                 Option<"halfInstructions", "half-instructions", "bool", "false",
                        "The processor converts between f16 and f32 (F16C): use arith.extf and arith.truncf there">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerToLLVMPass : Pass<"ad-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Turn functions, their blocks and their scalar and vector code into the LLVM dialect";
  let description = [{
    Why: upstream has a pass for each of these dialects. All their patterns together need one walk, no casts between types that two
    passes see differently, and a third of the time.

    Before:
    ```mlir
    func.func private @k(%begin: index) -> index {
      %one = arith.constant 1 : index
      %next = arith.addi %begin, %one : index
      return %next : index
    }
    ```
    After:
    ```mlir
    llvm.func @k(%begin: i64) -> i64 attributes {sym_visibility = "private"} {
      %one = llvm.mlir.constant(1 : index) : i64
      %next = llvm.add %begin, %one : i64
      llvm.return %next : i64
    }
    ```
    Refuses operations of `arith`, `cf`, `func`, `index`, `math` and `vector` that upstream has no pattern for, such as functions on
    tensors; `scf` and our own operations are lowered before.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerToNVVMPass : Pass<"ad-lower-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Turn the kernels of a GPU into the LLVM and NVVM dialects";
  let description = [{
    Why: upstream's pass calls a library of elementary functions whose bits are its own. Here scalar code was expanded before, and what
    is left has one right answer: fused multiply-adds, square roots, roundings. Control flow has become blocks before.

    Before:
    ```mlir
    gpu.module @ad_kernels {
      gpu.func @k(%y: !llvm.ptr) kernel { … gpu.thread_id x … }
    }
    ```
    After:
    ```mlir
    gpu.module @ad_kernels {
      llvm.func @k(%y: !llvm.ptr) attributes {nvvm.kernel} { … nvvm.read.ptx.sreg.tid.x … }
    }
    ```
    Refuses operations of `arith`, `cf`, `gpu`, `index` and `math` that upstream has no pattern for.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

#endif // ADJOINT_CONVERSION_PASSES
