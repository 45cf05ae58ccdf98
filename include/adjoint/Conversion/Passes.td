// Part of Adjoint, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes from one dialect to another: ad to linalg, the host program to the C ABI, scalar code to arith, LLVM, NVVM.

#ifndef ADJOINT_CONVERSION_PASSES
#define ADJOINT_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ImportLinalgPass : Pass<"ad-import-linalg", "::mlir::ModuleOp"> {
  let summary = "Convert programs of linalg, tensor, arith and math on tensors to ad";
  let description = [{
    Replaces operations of upstream's dialects outside of kernels by operations of `ad` with the same meaning:
    `linalg` (named operations and `linalg.generic`), `tensor`, `arith` and `math` on tensors,
    `bufferization.alloc_tensor`, `cf.assert`, and control flow that host programs lack (`scf.forall`, `scf.parallel`,
    `scf.index_switch`, `scf.execute_region`, branches between blocks). docs/import.md lists what becomes what.

    Why: such a program is then simplified, differentiated, fused and executed by the reference interpreter like any
    other. The pass runs first in all pipelines. A program without such operations stays as it is, byte for byte.

    The scalar body of a `linalg.generic` becomes operations on tensors over its loops, one for each operation of
    `arith` and `math`. Reductions become contractions, convolutions, pooling or reductions, whose order is that of
    `ad`; other reductions become loops of the program, in the order of their iterations. An operand that is read at
    sums or multiples of loops becomes an `ad.gather`, unless it is that of a convolution.

    Refuses, in one error with a note for each further place, what has no equivalent: operations on memory, elements
    that `ad` does not have, results that are not written once for each point of the parallel loops.

    Before:
    ```mlir
    %e = tensor.empty() : tensor<4x2xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
    %r = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f : tensor<4x2xf32>) -> tensor<4x2xf32>
    ```
    After:
    ```mlir
    %r = ad.dot %x, %w : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::ad::ADDialect", "::mlir::ad::check::CheckDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::ub::UBDialect"];
}

def ConvertADToLinalgPass : Pass<"convert-ad-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Convert the bodies of fusions to linalg on tensors";
  let description = [{
    Converts each operation in an `ad.fusion` to `linalg.generic` (access maps and scalar code), `linalg.fill` or
    `tensor.insert_slice`.

    Why: the code generators read only linalg, so kernels that another compiler wrote have the same code path.
    Operations of any dialect are converted by their interfaces: ElementwiseOpInterface, ReductionOpInterface,
    FusableOpInterface, or LinalgLoweringOpInterface for code of their own.

    Orders and permissions stay on the fusion, since linalg has no attributes for them. A fusion that only reshapes is
    replaced by the reshape, which moves no data in the host program.

    Adjacent axes become one axis if each value has all of them in this order, is broadcast along all of them, or lacks
    them; the operands and results are reshaped. In a fusion with a contraction these are batch axes and the free axes
    of one operand: `x[8,16,32]` times `w[32,4,8]` becomes `[128,32]` times `[32,32]`, with the same order of each sum.
    In an elementwise fusion they are static axes, and are merged if the last axis is short and operands are broadcast
    along some axes.

    Refuses operations of `ad` that compute outside of a fusion, and operations that `ad-decompose` decomposes.

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
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def ConvertHostToLLVMPass : Pass<"convert-host-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert the planned host program to calls of the runtime in the LLVM dialect";
  let description = [{
    Converts every public function to an entry of the C ABI `adrt`, named `adrt_entry_<name>`. Bytes of the name other
    than letters, digits and underscores become `$` and two hexadecimal digits. Tensors become pointers into the buffers
    of the memory plan (`ad.buffer`). Launches become calls of kernels. Feeds, receives and checks become calls of the
    runtime, each with an `ad.guard` of its status. Code between operations on tensors stays in `scf`, `arith` and
    `func`. Every loop polls whether the host wants to stop.

    Why: a compiled program needs nothing but the runtime, which is a C library without LLVM.

    With `device`, kernels are those of `ad-emit-gpu`, launched by number (`adrt.kernel_names` of the module lists them).
    Tensors are in the memory of a device: the entry copies arguments and constants there, and reads back single
    elements that the host needs. Remarks of the category ad-host report each loop with launches. `loop-without-waits`:
    the host only enqueues work. `loop-waits`: the host reads a device value; the remark names the first such operation,
    and says `iterations=each`, or `iterations=some` if all such operations are in branches.

    Refuses functions without a plan (`ad-plan-memory`), and launches of kernels without code for the target. Relies on
    a plan that `ad-verify-memory-plan` accepts: the pass reads the buffer of each tensor, and does not check sizes,
    alignment, overlaps or donated arguments. `ad-plan-memory` ends with that proof; run `ad-verify-memory-plan` before
    this pass on a plan that was written or changed by hand. Kernels are code by now, so that this pass cannot prove
    which elements they read.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    func.func @adrt_entry_main(%context: !llvm.ptr, %arguments: !llvm.ptr, %results: !llvm.ptr) -> i32
    ```
  }];
  let options = [Option<"profile", "profile", "bool", "false", "Bracket each kernel with timing calls; for reports">,
                 Option<"device", "device", "bool", "false",
                        "Kernels run on a device with memory of its own (ad-emit-gpu)">];
  let dependentDialects = ["::mlir::ad::ADDialect", "::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

def LowerGuardsPass : Pass<"ad-lower-guards", "::mlir::func::FuncOp"> {
  let summary = "Lower guards to branches to the exit of the entry";
  let description = [{
    Lowers each `ad.guard` to a conditional branch that returns the status from the entry.

    Why: a guard leaves the function from inside of a loop, which structured control flow cannot express. So the pass
    needs blocks instead of `scf`.

    Refuses nothing.

    Before:
    ```mlir
    ad.guard %status
    ```
    After:
    ```mlir
    cf.cond_br %ok, ^continue, ^exit(%status : i32)
    ```
  }];
  let dependentDialects = ["::mlir::cf::ControlFlowDialect", "::mlir::arith::ArithDialect"];
}

def ExpandScalarOpsPass : Pass<"ad-expand-scalar-ops"> {
  let summary = "Expand elementary functions and conversions into arith operations";
  let description = [{
    Expands `ad.elementary` into the function of lib/Numerics/Math, and `ad.convert` into the integer code of
    lib/Numerics, on scalars and vectors. Conversions between f32 and 16-bit floats become operations of `arith` if the
    target has instructions for them.

    Why: compiled code and the reference interpreter give the same bits, since both use these functions. The pass runs
    last, so that earlier passes see one operation for each function.

    Refuses nothing.

    Before:
    ```mlir
    %y = ad.elementary exp %x : vector<16xf32>
    ```
    After: operations of `arith`, and an `scf.if` around code that few arguments need, such as the range reduction of
    large arguments of sin.
  }];
  let options = [Option<"remainders", "remainders", "bool", "false",
                        "Expand arith.remf on scalars too, for a target whose remainder is not exact">,
                 Option<"halfInstructions", "half-instructions", "bool", "false",
                        "The target converts between f16 and f32 (F16C, GPUs): use arith.extf and arith.truncf">,
                 Option<"bfloatInstructions", "bfloat-instructions", "bool", "false",
                        "The target rounds f32 to bf16 and keeps subnormals (GPUs, not AVX512_BF16): use arith.truncf">,
                 Option<"bytesByHalf", "bytes-by-half", "bool", "false",
                        "Widen 8-bit floats by way of f16; needs half-instructions">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerToLLVMPass : Pass<"ad-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Convert functions, their blocks and their scalar and vector code to the LLVM dialect";
  let description = [{
    Converts operations of `arith`, `cf`, `func`, `index`, `math` and `vector` by the patterns of upstream, in one walk.

    Why: upstream has one pass for each dialect, with casts between the types of different passes. One walk has no such
    casts, and needs a third of the time.

    Refuses operations of these dialects that upstream has no pattern for, such as functions on tensors. `scf` and the
    operations of `ad` are lowered before.

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
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

def LowerToNVVMPass : Pass<"ad-lower-to-nvvm", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Convert the kernels of a GPU to the LLVM and NVVM dialects";
  let description = [{
    Converts the functions of a `gpu.module`.

    Why: the pass of upstream calls libdevice, whose elementary functions give other bits. In this pipeline
    `ad-expand-scalar-ops` has expanded elementary functions before. The operations of `math` that are left have one
    correct result: fused multiply-adds, square roots and roundings. The pass needs blocks instead of `scf`.

    Refuses operations of `arith`, `cf`, `gpu`, `index` and `math` that upstream has no pattern for.

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
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def ConvertADToPlainPass : Pass<"convert-ad-to-plain", "::mlir::ModuleOp"> {
  let summary = "Convert programs in linalg to dialects of upstream alone";
  let description = [{
    Converts programs of `convert-ad-to-linalg`:

    - Reductions have the order of their fusion or kernel. Its parts and lanes are dimensions of partial results, each of
      which is a chain; then tensors of partial results are joined. Where parts do not divide a sequence, where it runs
      over several loops or its size is dynamic, each partial result is an `scf.for` in the body. Running reductions in
      nested chains are `scf.for` around scalar code.
    - Fusions and launches become the code of their kernels.
    - Conditions and the operations of `check` become `cf.assert`, whose message names no values.
    - Reshapes and constants become those of `tensor` and `arith`; a barrier disappears.
    - Divisions, shifts and conversions of scalars get guards, so that they have the same result for all operands on all
      targets.

    Why: compilers that know nothing of Adjoint take the result. Run as written, it has the bits of the reference
    interpreter in `reproducible`.

    Refuses feeds and receives, all of them, by their names, and operations that are not lowered to linalg. Elementary
    functions and conversions of scalars stay for `ad-expand-scalar-ops`.

    Before:
    ```mlir
    %0 = ad.fusion reduce (%a = %x) {order = #ad.order<block = 512>} : (tensor<1024xf32>) -> tensor<f32> {…}
    ```
    After:
    ```mlir
    %chains = linalg.generic {…} ins(%x, %steps : tensor<1024xf32>, tensor<512xf32>) outs(%zeros : tensor<2x1xf32>) {…}
    %even = tensor.extract_slice %chains…
    %odd = tensor.extract_slice %chains…
    %joined = linalg.generic {…} ins(%even, %odd : tensor<1xf32>, tensor<1xf32>) outs(%e : tensor<1xf32>) {…}
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def StripAttributesPass : Pass<"ad-strip-attributes", "::mlir::ModuleOp"> {
  let summary = "Remove the attributes of Adjoint from code that has no operation of it";
  let description = [{
    Removes the attributes whose names begin with `ad.` or `check.` from operations, and from arguments and results of
    functions.

    Why: tools of upstream do not know them. `mlir-opt` reads no `#ad.numerics`.

    Refuses nothing. Passes of Adjoint that come later do not find what earlier ones have written, so the pass is the last
    of its pipeline. Names for the runtime begin with `adrt.`, and stay.

    Before:
    ```mlir
    module attributes {ad.numerics = #ad.numerics<strict>} {}
    ```
    After:
    ```mlir
    module {}
    ```
  }];
}

def VerifyPlainPass : Pass<"ad-verify-plain", "::mlir::ModuleOp"> {
  let summary = "Verify that nothing of Adjoint is left";
  let description = [{
    Fails if the program has an operation, an attribute or a type of `ad` or `check`.

    Why: it is the contract of `--ad-to-plain-linalg`.

    Refuses such programs, with an error at each operation. It changes nothing.

    Refused:
    ```mlir
    %y = ad.exp %x : tensor<4xf32>
    ```
  }];
}

#endif // ADJOINT_CONVERSION_PASSES
